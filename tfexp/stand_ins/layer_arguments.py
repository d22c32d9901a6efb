"""`tensorflow.python.layers.utils`: what layers make of their arguments, and ask of tensors. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.contributed.smart_cond import smart_cond as smart_cond
from tfexp.contributed.smart_cond import smart_constant_value
from tfexp.graph.operation import Operation
from tfexp.keras.layers.window_args import checked_data_format, checked_padding, normalized
from tfexp.ops.variable_base import Variable
from tfexp.stand_ins import keras_tensors
from tfexp.stand_ins.keras_weights_and_specs import object_list_uid as object_list_uid


def normalize_tuple(value: Any, n: int, name: str) -> tuple[int, ...]:
    return normalized(value, n, name)


def normalize_data_format(value: str) -> str:
    return checked_data_format(value)


def normalize_padding(value: str) -> str:
    return checked_padding(value)


def convert_data_format(data_format: str, ndim: int) -> str:
    """`NHWC` and its kin for `channels_last` and so many dimensions. ValueError for what there is none."""
    layouts = {3: "W", 4: "HW", 5: "DHW"}
    if data_format not in ("channels_last", "channels_first"):
        raise ValueError("Invalid data_format:", data_format)
    if ndim not in layouts:
        raise ValueError("Input rank not supported:", ndim)
    return f"N{layouts[ndim]}C" if data_format == "channels_last" else f"NC{layouts[ndim]}"


def conv_output_length(
    input_length: int | None, filter_size: int, padding: str, stride: int, dilation: int = 1
) -> int | None:
    """The length that a convolution leaves of `input_length`; None of None."""
    if input_length is None:
        return None
    if padding not in ("same", "valid", "full"):
        raise ValueError(f"padding must be same, valid or full, not {padding!r}")
    reach = dilation * (filter_size - 1)
    length = input_length + {"same": 0, "valid": -reach, "full": reach}[padding]
    return (length + stride - 1) // stride


def conv_input_length(output_length: int | None, filter_size: int, padding: str, stride: int) -> int | None:
    """The length that a convolution made `output_length` of; None of None."""
    if output_length is None:
        return None
    pad = {"same": filter_size // 2, "valid": 0, "full": filter_size - 1}[padding]
    return (output_length - 1) * stride - 2 * pad + filter_size


def deconv_output_length(input_length: int | None, filter_size: int, padding: str, stride: int) -> int | None:
    """The length that a transposed convolution makes of `input_length`; None of None."""
    if input_length is None:
        return None
    extra = {"valid": max(filter_size - stride, 0), "full": -(stride + filter_size - 2), "same": 0}[padding]
    return input_length * stride + extra


def constant_value(pred: Any) -> bool | None:
    """The bool that is known of `pred` (a bool, 0 or 1, a tensor); None of a variable. TypeError for anything else."""
    return None if isinstance(pred, Variable) else smart_constant_value(pred)


def static_shape(x: Any) -> tuple[int | None, ...] | None:
    """The sizes that are known of a tensor; None where their number is not."""
    shape = x.get_shape()
    return None if shape.rank is None else tuple(shape.as_list())


def get_reachable_from_inputs(inputs: Any, targets: Any = None) -> set[Any]:
    """The inputs and all tensors computed from them; the walk ends once `targets` are found."""
    found = keras_tensors.get_reachable_from_inputs(inputs, targets)
    return {one for one in found if not isinstance(one, Operation)}
