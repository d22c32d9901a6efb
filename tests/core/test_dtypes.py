"""DType: names, conversions, limits."""

import copy
import pickle

import ml_dtypes
import numpy as np
import pytest

from tfexp.core import dtypes
from tfexp.core.dtypes import DType, as_dtype


@pytest.mark.parametrize("dtype", sorted(DType._by_enum.values(), key=int), ids=lambda d: d.name)
def test_every_type_is_found_by_name_and_number(dtype):
    assert as_dtype(dtype.name) is dtype
    assert as_dtype(int(dtype)) is dtype
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    assert copy.deepcopy(dtype) is dtype
    assert dtype.base_dtype.name == dtype.name.removesuffix("_ref")
    assert dtype.is_compatible_with(dtype.base_dtype) or dtype._is_ref_dtype


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float32, dtypes.float32),
        (np.dtype("int64"), dtypes.int64),
        (float, dtypes.float32),
        (bool, dtypes.bool),
        (object, dtypes.string),
        (np.int32(1), dtypes.float32),
        ("float", dtypes.float32),
        ("double_ref", dtypes.float64._as_ref),
        (np.dtype("S3"), dtypes.string),
        (ml_dtypes.bfloat16, dtypes.bfloat16),
    ],
)
def test_conversions(value, expected):
    assert as_dtype(value) is expected


@pytest.mark.parametrize("value", [None, "flaot32", 999, object(), int, str, bytes, complex, list, "int", "i4", np.number])
def test_what_is_no_type_is_refused(value):
    with pytest.raises(TypeError, match="Cannot convert"):
        as_dtype(value)


def test_comparison_with_numpy_types():
    assert dtypes.float32 == np.float32
    assert dtypes.float32 != np.float64
    assert dtypes.float32 not in (dtypes.int32, "double")
    assert (dtypes.float32 == None) is False  # noqa: E711 (what is tested)


def test_references_accept_and_are_accepted():
    ref = dtypes.float32._as_ref
    assert ref.name == "float32_ref"
    assert dtypes.float32.is_compatible_with(ref)
    assert not ref.is_compatible_with(dtypes.float32)


def test_printing():
    assert str(dtypes.float32) == "<dtype: 'float32'>"
    assert repr(dtypes.float32) == "tf.float32"


def test_limits():
    assert dtypes.int8.min == -128
    assert dtypes.uint16.max == 65535
    assert dtypes.float32.limits == (0, 1)
    assert dtypes.int8.limits == (0, 127)
    assert dtypes.bool.max is True
    with pytest.raises(TypeError, match="minimum"):
        _ = dtypes.string.min


def test_kinds():
    assert dtypes.bfloat16.is_floating
    assert dtypes.qint8.is_quantized
    assert not dtypes.qint8.is_integer
    assert dtypes.uint8.is_unsigned
    assert dtypes.complex64.real_dtype is dtypes.float32
    assert dtypes.string.size == 1
