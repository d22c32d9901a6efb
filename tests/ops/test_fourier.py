"""Rows of the Fourier transforms, against the sums that define them."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError


def transform(x, axis, sign=-1):
    n = x.shape[axis]
    k = np.arange(n)
    matrix = np.exp(sign * 2j * np.pi * np.outer(k, k) / n)
    return np.moveaxis(np.tensordot(x.astype(np.complex128), matrix, (axis, 0)), -1, axis)


def forward(rank):
    def reference(x):
        y = x
        for axis in range(-rank, 0):
            y = transform(y, axis)
        return y.astype(x.dtype)

    return reference


def backward(rank):
    def reference(x):
        y = x
        for axis in range(-rank, 0):
            y = transform(y, axis, +1) / x.shape[axis]
        return y.astype(x.dtype)

    return reference


def real_forward(rank):
    def reference(x, length):
        y = x[(..., *[slice(0, n) for n in length])]
        for axis in range(-rank, 0):
            y = transform(y, axis)
        wide = np.complex128 if x.dtype == np.float64 else np.complex64
        return y[..., : length[-1] // 2 + 1].astype(wide)

    return reference


def real_backward(rank):
    def reference(x, length):
        y = x[(..., *[slice(0, n) for n in [*length[:-1], length[-1] // 2 + 1]])].astype(np.complex128)
        for axis in range(-rank, -1):
            y = transform(y, axis, +1) / y.shape[axis]
        n = length[-1]
        inner = y[..., 1 : (n + 1) // 2]
        y = np.concatenate([y, np.conj(inner[..., ::-1])], -1)
        # Of the first value, and of the last of an even length, only the real parts count.
        y[..., 0] = y[..., 0].real
        if n % 2 == 0:
            y[..., n // 2] = y[..., n // 2].real
        narrow = np.float64 if x.dtype == np.complex128 else np.float32
        return (transform(y, -1, +1) / n).real.astype(narrow)

    return reference


COMPLEX = ["complex64", "complex128"]
SHAPES = {1: (2, 5), 2: (2, 3, 5), 3: (2, 3, 5, 2)}
CASES = [
    case
    for rank, suffix in ((1, ""), (2, "2D"), (3, "3D"))
    for case in (
        OpCase(
            f"FFT{suffix}",
            [SHAPES[rank]],
            forward(rank),
            dtypes=COMPLEX,
            tolerance=1e-5,
            errors=[
                Error([()], ValueError, f"Shape must be at least rank {rank} but is rank 0"),
                Error([(2,)], TypeError, "not in list of allowed values", dtype="float32"),
            ],
        ),
        OpCase(f"IFFT{suffix}", [SHAPES[rank]], backward(rank), dtypes=COMPLEX, tolerance=1e-5),
    )
]
REAL = [
    OpCase(
        f"RFFT{suffix}",
        [SHAPES[rank], np.int32(length)],
        real_forward(rank),
        attrs={"Tcomplex": tf.complex64},
        numeric=False,
        gradient=(),
        label=label,
        tolerance=1e-5,
        errors=[
            Error([SHAPES[rank], np.int32([4] * (rank + 1))], ValueError, f"Dimension must be {rank} but is {rank + 1}"),
            Error([SHAPES[rank], np.int32([9] * rank)], InvalidArgumentError, "must have length of at least 9"),
        ],
    )
    for rank, suffix, length, label in (
        (1, "", [5], ""),
        (1, "", [4], "cut"),
        (2, "2D", [3, 5], ""),
        (2, "2D", [2, 4], "cut"),
        (3, "3D", [3, 5, 2], ""),
    )
]
INVERSE = [
    OpCase(
        f"IRFFT{suffix}",
        [SHAPES[rank], np.int32(length)],
        real_backward(rank),
        dtypes=["complex64"],
        attrs={"Treal": tf.float32},
        numeric=False,
        gradient=(),
        label=label,
        tolerance=1e-5,
        errors=[Error([SHAPES[rank], np.int32([20] * rank)], InvalidArgumentError, "must have length of at least")],
    )
    for rank, suffix, length, label in (
        (1, "", [8], ""),
        (1, "", [9], "odd"),
        (1, "", [5], "cut"),
        (2, "2D", [3, 8], ""),
        (3, "3D", [3, 5, 2], ""),
    )
]
test_rows = op_tests(CASES + REAL + INVERSE)


def numeric_gradient(function, x, step=1e-6):
    result = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[index] += step
        down[index] -= step
        result[index] = (function(up) - function(down)) / (2 * step)
    return result


TRANSFORMS = {
    "fft": lambda x: tf.fft(tf.complex(x, 2 * x)),
    "ifft2d": lambda x: tf.ifft2d(tf.complex(x, 2 * x)),
    "fft3d": lambda x: tf.fft3d(tf.complex(x, 2 * x)),
    "rfft": tf.signal.rfft,
    "rfft, even": lambda x: tf.signal.rfft(x, [6]),
    "rfft2d": tf.signal.rfft2d,
    "irfft": lambda x: tf.signal.irfft(tf.complex(x, 2 * x)),
    "irfft, odd": lambda x: tf.signal.irfft(tf.complex(x, 2 * x), [9]),
    "irfft2d": lambda x: tf.signal.irfft2d(tf.complex(x, 2 * x)),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_gradients(name) -> None:
    value = np.random.default_rng(3).uniform(-1, 1, (2, 3, 5))
    x = tf.placeholder(tf.float64, value.shape)
    y = TRANSFORMS[name](x)
    weight = np.random.default_rng(5).uniform(0.5, 1.5, y.shape.as_list())
    both = tf.real(y) + 2 * tf.imag(y) if y.dtype.is_complex else y
    loss = tf.reduce_sum(both * weight)
    (grad,) = tf.gradients(loss, [x])
    with tf.Session() as session:
        numeric = numeric_gradient(lambda v: session.run(loss, {x: v}), value)
        np.testing.assert_allclose(session.run(grad, {x: value}), numeric, rtol=1e-6, atol=1e-6)


def test_lengths_of_the_functions() -> None:
    x = np.float32([[1, 2, 3, 4, 5]])
    unknown = tf.placeholder(tf.float32, [None, None])
    with tf.Session() as session:
        for length in ([3], [5], [8]):
            wanted = np.fft.rfft(x, length[0])
            np.testing.assert_allclose(session.run(tf.signal.rfft(x, length)), wanted, rtol=1e-5)
            np.testing.assert_allclose(session.run(tf.signal.rfft(unknown, length), {unknown: x}), wanted, rtol=1e-5)
            back = session.run(tf.signal.irfft(wanted.astype(np.complex64), length))
            np.testing.assert_allclose(back, np.fft.irfft(wanted, length[0]), atol=1e-5)
    assert tf.signal.rfft(tf.zeros([2, 6])).shape.as_list() == [2, 4]
    assert tf.spectral.irfft(tf.zeros([2, 4], tf.complex64)).shape.as_list() == [2, 6]


def test_dtypes_that_are_refused() -> None:
    with pytest.raises(ValueError, match=r"RFFT requires tf.float32 or tf.float64 inputs"):
        tf.signal.rfft(tf.zeros([4], tf.int32))
    with pytest.raises(ValueError, match=r"IRFFT requires tf.complex64 or tf.complex128 inputs"):
        tf.signal.irfft(tf.zeros([4]))
