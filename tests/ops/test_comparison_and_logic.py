"""Rows of comparisons, logic, bits, conversion and complex numbers."""

from __future__ import annotations

import numpy as np

from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core import dtypes
from tfexp.core.errors import InvalidArgumentError, UnimplementedError

BROADCAST = [Error([(2, 3), (5,)], ValueError, "Dimensions must be equal, but are 3 and 5")]
ORDERED = ["float32", "float64", "int32", "int64", "uint8"]
TWO = [(2, 3), (3,)]


def sign(x, y):
    return np.sign(x.astype(np.float64) - y)


COMPARISONS = [
    OpCase(op, TWO, reference, dtypes=ORDERED, low=-1.4, high=1.4, gradient=(), errors=BROADCAST)
    for op, reference in (
        ("Less", lambda x, y: sign(x, y) == -1),
        ("LessEqual", lambda x, y: sign(x, y) != 1),
        ("Greater", lambda x, y: sign(x, y) == 1),
        ("GreaterEqual", lambda x, y: sign(x, y) != -1),
        ("Equal", lambda x, y: sign(x, y) == 0),
        ("NotEqual", lambda x, y: sign(x, y) != 0),
    )
]
STRINGS = [np.array([b"a", b"b"], object), np.array(b"a", object)]
COMPARISONS += [
    OpCase("Equal", STRINGS, np.array([True, False]), label="strings"),
    OpCase("NotEqual", STRINGS, np.array([False, True]), label="strings"),
    OpCase("Equal", [np.float32(np.nan), np.float32(np.nan)], np.array(False), label="nan"),
    OpCase("Equal", [np.zeros(2), np.zeros(3)], np.array(False), {"incompatible_shape_error": False}, label="shapes"),
    OpCase("NotEqual", [np.zeros(2), np.zeros(3)], np.array(True), {"incompatible_shape_error": False}, label="shapes"),
    OpCase(
        "Equal",
        TWO,
        np.equal,
        label="runtime",
        errors=[Error([(2, 3), (5,)], InvalidArgumentError, "Incompatible shapes: [2,3] vs. [5]")],
    ),
]
NOT_BOOL = [Error([(2,)] * 2, TypeError, "has type float32 that does not match expected type of bool", dtype="float32")]
LOGIC = [
    OpCase("LogicalAnd", TWO, lambda x, y: x * y, dtypes=["bool"], errors=NOT_BOOL),
    OpCase("LogicalOr", TWO, lambda x, y: (x + y) > 0, dtypes=["bool"], errors=NOT_BOOL),
    OpCase("LogicalNot", [(2, 3)], lambda x: x == 0, dtypes=["bool"]),
]


def bits(values, width=8):
    return (values.astype(np.int64)[..., np.newaxis] >> np.arange(width)) & 1


def number(digits, like):
    return np.sum(digits << np.arange(digits.shape[-1]), axis=-1).astype(like.dtype)


INTEGERS = ["int32", "int64", "uint8", "int8", "uint16"]
LOGIC += []


def cast(source, target, label, inputs=None, expected=None, **options):
    to = dtypes.as_dtype(target)
    reference = (lambda x: x.astype(to.as_numpy_dtype)) if expected is None else expected
    given = [(2, 3)] if inputs is None else inputs
    return OpCase("Cast", given, reference, {"DstT": to}, dtypes=[source], label=label, low=-3, high=3, **options)


CASTS = [
    cast("float32", "float64", "widen"),
    cast("float64", "float32", "narrow", numeric=False),
    cast("float32", "int32", "towards zero", [np.float32([1.9, -1.9, 2.5])], np.int32([1, -1, 2])),
    cast("float32", "bool", "truth", [np.float32([0, np.nan, 2])], np.array([False, True, True])),
    cast("bool", "float32", "of truth"),
    cast("int64", "int8", "wrap", [np.int64([300, -1])], np.int8([44, -1])),
    cast("complex64", "float32", "real part", [np.complex64([1 + 2j])], np.float32([1])),
    cast("float32", "complex64", "to complex"),
    cast("float32", "bfloat16", "bfloat16", numeric=False),
    OpCase(
        "Cast",
        [(2, 3)],
        lambda x: x.astype(np.float64),
        {"DstT": dtypes.float64},
        label="errors",
        errors=[Error([np.array(b"a", object)], UnimplementedError, "Cast string to float64 is not supported")],
    ),
]
COMPLEX = [
    OpCase("Complex", TWO, lambda x, y: x + 1j * y, {"Tout": dtypes.complex64}, dtypes=["float32"], numeric=False),
    OpCase(
        "Real",
        [(2, 3)],
        lambda x: (x + np.conj(x)).real / 2,
        {"Tout": dtypes.float32},
        dtypes=["complex64"],
        errors=[Error([(2, 3)], ValueError, "Real of complex64 is float32, not float64", {"Tout": dtypes.float64})],
    ),
    OpCase("Imag", [(2, 3)], lambda x: ((x - np.conj(x)) / 2j).real, {"Tout": dtypes.float32}, dtypes=["complex64"]),
    OpCase("ComplexAbs", [(2, 3)], lambda x: np.hypot(x.real, x.imag), {"Tout": dtypes.float32}, dtypes=["complex64"]),
    OpCase("Conj", [(2, 3)], lambda x: x.real - 1j * x.imag, dtypes=["complex64", "complex128"]),
]
test_comparisons = op_tests(COMPARISONS)
test_logic = op_tests(LOGIC)
test_casts = op_tests(CASTS)
test_complex = op_tests(COMPLEX)
