"""`tf.quantization`: fake quantization."""

from tfexp.core.gone import missing_from
from tfexp.ops.fake_quant import fake_quant_with_min_max_args as fake_quant_with_min_max_args
from tfexp.ops.fake_quant import fake_quant_with_min_max_args_gradient as fake_quant_with_min_max_args_gradient
from tfexp.ops.fake_quant import fake_quant_with_min_max_vars as fake_quant_with_min_max_vars
from tfexp.ops.fake_quant import fake_quant_with_min_max_vars_gradient as fake_quant_with_min_max_vars_gradient
from tfexp.ops.fake_quant import fake_quant_with_min_max_vars_per_channel as fake_quant_with_min_max_vars_per_channel
from tfexp.ops.fake_quant import (
    fake_quant_with_min_max_vars_per_channel_gradient as fake_quant_with_min_max_vars_per_channel_gradient,
)
from tfexp.ops.quantize import dequantize as dequantize
from tfexp.ops.quantize import quantize as quantize
from tfexp.ops.quantize import quantize_and_dequantize as quantize_and_dequantize
from tfexp.ops.quantized_elements import quantized_concat as quantized_concat

__getattr__ = missing_from("tf.quantization")
