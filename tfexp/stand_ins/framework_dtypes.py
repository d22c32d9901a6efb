"""The tables of `tensorflow.python.framework.dtypes`: types by name and by NumPy type. Source: TF 1.15."""

from __future__ import annotations

from tfexp.core.dtypes import DType, as_dtype

TYPE_TO_STRING = {enum: dtype.name for enum, dtype in DType._by_enum.items()}
_TYPE_TO_STRING = TYPE_TO_STRING
_STRING_TO_TF = {dtype.name: dtype for dtype in DType._by_enum.values()}
_TF_TO_NP = {enum: dtype.as_numpy_dtype for enum, dtype in DType._by_enum.items()}
_NP_TO_TF = {
    np_type: as_dtype(np_type)
    for np_type in dict.fromkeys(dtype.as_numpy_dtype for dtype in DType._by_enum.values() if dtype.is_numpy_compatible)
}
