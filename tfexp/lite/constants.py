"""`tf.lite.constants`: types of tensors, and formats that a converter is asked for."""

from tfexp.core import dtypes as _dtypes
from tfexp.core.gone import missing_from

FLOAT = _dtypes.float32
FLOAT16 = _dtypes.float16
INT32 = _dtypes.int32
INT64 = _dtypes.int64
STRING = _dtypes.string
QUANTIZED_UINT8 = _dtypes.uint8
INT8 = _dtypes.int8
TFLITE = 2
GRAPHVIZ_DOT = 3

__getattr__ = missing_from("tf.lite.constants")
