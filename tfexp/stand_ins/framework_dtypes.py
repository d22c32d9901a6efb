"""The tables of `tensorflow.python.framework.dtypes`: types by name and by NumPy type. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType, as_dtype

TYPE_TO_STRING = {enum: dtype.name for enum, dtype in DType._by_enum.items()}
_TYPE_TO_STRING = TYPE_TO_STRING
_STRING_TO_TF = {dtype.name: dtype for dtype in DType._by_enum.values()}
_TF_TO_NP = {enum: dtype.as_numpy_dtype for enum, dtype in DType._by_enum.items()}
_NP_TO_TF = {
    np_type: as_dtype(np_type)
    for np_type in dict.fromkeys(dtype.as_numpy_dtype for dtype in DType._by_enum.values() if dtype.is_numpy_compatible)
}
_INTERN_TABLE = dict(DType._by_enum)
_PYTHON_TO_TF = {float: dtypes.float32, bool: dtypes.bool, object: dtypes.string}
_ANY_TO_TF: dict[Any, DType] = {**_INTERN_TABLE, **_STRING_TO_TF, **_PYTHON_TO_TF, **_NP_TO_TF}

# What images of a type hold.
dtype_range: dict[Any, tuple[Any, Any]] = {
    np.bool_: (False, True),
    **{
        kind: (np.iinfo(kind).min, np.iinfo(kind).max)
        for kind in (np.uint8, np.uint16, np.uint32, np.uint64, np.int8, np.int16, np.int32, np.int64)
    },
    np.float32: (-1, 1),
    np.float64: (-1, 1),
}

TF_VALUE_DTYPES = set(DType._by_enum.values())
np_resource = np.dtype([("resource", np.ubyte)])
