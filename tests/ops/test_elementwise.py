"""Rows of the element-wise families of one and of two arguments."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, Like, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError

FLOATS = ["float32", "float64", "float16"]
NUMBERS = ["float32", "float64", "int32", "int64", "complex64"]
COMPLEX = [*FLOATS, "complex64", "complex128"]
NO_INTEGERS = [Error([(2,)], TypeError, "not in list of allowed values", dtype="int32")]
BROADCAST = [
    Error([(2, 3), (5,)], ValueError, "Dimensions must be equal, but are 3 and 5"),
    Error([(2, 3), (2, 5, 3)], ValueError, "Dimensions must be equal, but are 2 and 5"),
    Error([(2, 3), np.zeros(3, np.float16)], TypeError, "that does not match type "),
]


def unary(op, reference, low=-2.0, high=2.0, dtypes=None, **options):
    return OpCase(op, [(2, 3, 5)], reference, dtypes=dtypes or COMPLEX, low=low, high=high, **options)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


UNARY = [
    unary("Neg", lambda x: 0 - x, dtypes=NUMBERS),
    unary("Abs", lambda x: np.where(x < 0, -x, x), dtypes=["float32", "int32", "int64", "float16"], low=0.1),
    unary("Abs", lambda x: np.where(x < 0, -x, x), dtypes=["float32", "int32"], high=-0.1, label="negative"),
    unary("Sign", lambda x: (x > 0).astype(x.dtype) - (x < 0), dtypes=["float32", "int32"], low=0.1, second=False),
    OpCase("Sign", [np.float32([-0.0, 0.0, np.nan, -np.inf, 7])], np.float32([0, 0, np.nan, -1, 1]), label="special"),
    OpCase("Sign", [np.complex64([3 + 4j, 0])], np.complex64([0.6 + 0.8j, 0]), label="complex"),
    unary("Square", lambda x: x * x, dtypes=NUMBERS),
    unary("Sqrt", lambda x: x**0.5, low=0.1, errors=NO_INTEGERS),
    unary("Rsqrt", lambda x: x**-0.5, low=0.1, errors=NO_INTEGERS),
    OpCase("Rsqrt", [np.float32([-1, 0])], np.float32([np.nan, np.inf]), label="special"),
    unary("Reciprocal", lambda x: 1 / x, low=0.5),
    unary("Exp", lambda x: math.e**x),
    OpCase("Exp", [np.float32([-np.inf, 200, np.nan])], np.float32([0, np.inf, np.nan]), label="special"),
    unary("Expm1", lambda x: math.e**x - 1, tolerance=2e-3),
    OpCase("Expm1", [np.float64([1e-12])], np.float64([1e-12]), label="small"),
    unary("Log", lambda x: np.log2(x) * math.log(2), low=0.1),
    OpCase("Log", [np.float32([0, -1])], np.float32([-np.inf, np.nan]), label="special"),
    unary("Log1p", lambda x: np.log(x + 1), low=-0.5, tolerance=4e-3),
    OpCase("Log1p", [np.float64([1e-12])], np.float64([1e-12]), label="small"),
    unary("Tanh", lambda x: (np.exp(2 * x) - 1) / (np.exp(2 * x) + 1), low=-1.0, high=1.0, tolerance=4e-3),
    unary("Sigmoid", sigmoid),
    OpCase("Sigmoid", [np.float32([-1000, -100, 0, 100])], np.float32([0, 0, 0.5, 1]), label="far"),
    unary("Sin", lambda x: ((np.exp(1j * x) - np.exp(-1j * x)) / 2j).real, dtypes=FLOATS, tolerance=2e-3),
    unary("Cos", lambda x: ((np.exp(1j * x) + np.exp(-1j * x)) / 2).real, dtypes=FLOATS, tolerance=2e-3),
    unary("Tan", lambda x: np.sin(x) / np.cos(x), low=-1.0, high=1.0),
    unary("Asin", lambda x: np.arctan2(x, np.sqrt(1 - x * x)), dtypes=FLOATS, low=-0.7, high=0.7, tolerance=2e-3),
    unary("Acos", lambda x: np.arctan2(np.sqrt(1 - x * x), x), dtypes=FLOATS, low=-0.7, high=0.7, tolerance=2e-3),
    unary("Atan", lambda x: np.arctan2(x, 1.0), dtypes=FLOATS, tolerance=2e-3),
    unary("Sinh", lambda x: (np.exp(x) - np.exp(-x)) / 2, tolerance=4e-3),
    unary("Cosh", lambda x: (np.exp(x) + np.exp(-x)) / 2, tolerance=4e-3),
    unary("Floor", lambda x: np.trunc(x) - (x < np.trunc(x)), dtypes=FLOATS, gradient=()),
    unary("Ceil", lambda x: np.trunc(x) + (x > np.trunc(x)), dtypes=FLOATS, gradient=()),
    OpCase("Rint", [np.float32([-2.5, -1.5, -0.4, 0.5, 1.5, 2.6])], np.float32([-2, -2, 0, 0, 2, 3]), gradient=()),
    OpCase("Round", [np.float32([-2.5, -1.5, -0.4, 0.5, 1.5, 2.6])], np.float32([-2, -2, 0, 0, 2, 3]), gradient=()),
    OpCase("Round", [np.int32([-3, 5])], np.int32([-3, 5]), gradient=(), label="integers"),
]
SPECIAL = np.float32([np.nan, np.inf, -np.inf, 0.0, 3e38])
UNARY += [
    OpCase("IsNan", [SPECIAL], np.array([True, False, False, False, False]), gradient=()),
    OpCase("IsInf", [SPECIAL], np.array([False, True, True, False, False]), gradient=()),
    OpCase("IsFinite", [SPECIAL], np.array([False, False, False, True, True]), gradient=()),
]


def of_y(op, reference, **options):
    """The `…Grad` ops: of the forward op's result and the gradient of it."""
    options = {"low": 0.2, "high": 0.8, "dtypes": ["float32", "float64", "complex64"], **options}
    errors = [Error([(2, 3), (5, 3)], ValueError, "Dimension 0 in both shapes must be equal, but are 2 and 5")]
    return OpCase(op, [(2, 3), (2, 3)], reference, errors=errors, **options)


# Those of Tanh and Sigmoid are given y conjugated already; the others conjugate it themselves.
GRADS = [
    of_y("SqrtGrad", lambda y, dy: dy / (2 * np.conj(y))),
    of_y("RsqrtGrad", lambda y, dy: -dy / 2 * np.conj(y) ** 3),
    of_y("ReciprocalGrad", lambda y, dy: -dy * np.conj(y) ** 2),
    of_y("TanhGrad", lambda y, dy: dy * (1 - y**2)),
    of_y("SigmoidGrad", lambda y, dy: dy * y * (1 - y)),
]


def binary(op, reference, shapes=((2, 3), (3,)), dtypes=None, errors=BROADCAST, **options):
    return OpCase(op, list(shapes), reference, dtypes=dtypes or NUMBERS, errors=errors, **options)


BINARY = []
for _op, _reference in (
    ("Add", lambda x, y: x - (-y)),
    ("AddV2", lambda x, y: x - (-y)),
    ("Sub", lambda x, y: x + (-y)),
    ("Mul", lambda x, y: np.einsum("...,...->...", *np.broadcast_arrays(x, y))),
):
    BINARY += [
        binary(_op, _reference),
        binary(_op, _reference, ((2, 3), (2, 3)), label="same"),
        binary(_op, _reference, ((), (2, 3)), label="scalar"),
        binary(_op, _reference, ((2, 1, 5), (3, 1)), label="both"),
        binary(_op, _reference, ((2, 0), (1, 1)), label="empty", dtypes=["int32"]),
    ]
BINARY += [
    OpCase(
        "Add", [np.array([b"ab", b""], object), np.array(b"c", object)], np.array([b"abc", b"c"], object), label="strings"
    ),
    OpCase("Add", [np.array(b"ab", object), np.array(b"c", object)], np.array(b"abc", object), label="two strings"),
    OpCase("AddV2", [np.int8([100]), np.int8([100])], np.int8([-56]), label="overflow"),
    OpCase(
        "AddV2",
        [(2, 3), (2, 3)],
        lambda x, y: x + y,
        label="runtime",
        errors=[Error([(2, 3), (2,)], InvalidArgumentError, "Incompatible shapes: [2,3] vs. [2]")],
    ),
    binary("SquaredDifference", lambda x, y: (x - y) * np.conj(x - y)),
    binary("SquaredDifference", lambda x, y: (x - y) * np.conj(x - y), ((2, 3), (2, 3)), label="same"),
    binary("Maximum", lambda x, y: np.where(x > y, x, y), dtypes=["float32", "int32", "int64"]),
    binary("Minimum", lambda x, y: np.where(x < y, x, y), dtypes=["float32", "int32", "int64"]),
    OpCase("Maximum", [np.float32([np.nan, 1]), np.float32([1, np.nan])], np.float32([np.nan, np.nan]), label="nan"),
    OpCase("Minimum", [np.float32([np.nan, 1]), np.float32([1, np.nan])], np.float32([np.nan, np.nan]), label="nan"),
    binary("Pow", lambda x, y: np.exp(y * np.log(x)), dtypes=["float32", "float64"], low=0.5, tolerance=1e-5),
    OpCase(
        "Pow",
        [np.int32([2, 3, -2]), np.int32([10, 0, 3])],
        np.int32([1024, 1, -8]),
        label="integers",
        errors=[
            Error(
                [np.int32([2]), np.int32([-1])], InvalidArgumentError, "Integers to negative integer powers are not allowed"
            )
        ],
    ),
    *[
        OpCase(
            "Pow",
            [(2, 3), Like(p)],
            lambda x, y, p=p: np.exp(p * np.log(x)),
            low=0.5,
            label=f"to {p}",
            tolerance=1e-5,
            dtypes=["float32"],
        )
        for p in (2.0, 1.0, 0.5, -1.0, 3.0)
    ],
    binary("Atan2", lambda y, x: np.angle(x + 1j * y), dtypes=["float32", "float64"], low=0.5),
]
SUMS = [
    OpCase(
        "AddN",
        [[(2, 3)] * n],
        lambda xs: np.sum(np.stack(xs), axis=0, dtype=xs[0].dtype),
        dtypes=["float32", "int32", "complex64"],
        label=f"{n}",
        errors=[
            Error([[(2, 3), (5, 3)]], ValueError, "Dimension 0 in both shapes must be equal, but are "),
            Error([[(2, 3), (3,)]], ValueError, "Shapes must be equal rank, but are "),
        ],
    )
    for n in (1, 2, 3, 5)
]
SUMS.append(
    OpCase(
        "AddN",
        [[(2, 3), (2, 3)]],
        lambda xs: xs[0] + xs[1],
        label="runtime",
        errors=[
            Error(
                [[(2, 3), (2,)]], InvalidArgumentError, "must have the same size and shape.  Input 0: [2,3] != input 1: [2]"
            )
        ],
    )
)

test_unary = op_tests(UNARY)
test_grads = op_tests(GRADS)
test_binary = op_tests(BINARY)
test_sums = op_tests(SUMS)


@pytest.mark.parametrize(("function", "slope"), [(tf.tanh, lambda y: 1 - y * y), (tf.sigmoid, lambda y: y * (1 - y))])
def test_complex_gradients_are_conjugated_once(function, slope):
    """TensorFlow's gradient of a holomorphic f is grad * conj(f'(x))."""
    x, grad = 0.3 - 0.4j, 1.0 + 2.0j
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(tf.complex128, [])
        y = function(fed)
        value, found = session.run([y, tf.gradients(y, fed, grad_ys=[tf.constant(grad, tf.complex128)])[0]], {fed: x})
    assert found == pytest.approx(grad * np.conj(slope(value)))


def test_second_gradients_of_complex_roots() -> None:
    y, dy, grad = (np.array(x) for x in (0.5 + 0.25j, 2 - 1j, 1 + 3j))
    inputs = [tf.constant(y), tf.constant(dy)]
    z = tf.raw_ops.SqrtGrad(y=inputs[0], dy=inputs[1])
    with tf.Session() as session:
        of_y, of_dy, value = session.run([*tf.gradients(z, inputs, tf.constant(grad)), z])
    np.testing.assert_allclose(of_y, -np.conj(grad / y) * value)
    np.testing.assert_allclose(of_dy, 0.5 * grad / y)
