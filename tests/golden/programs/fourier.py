"""Fourier transforms: nodes, shapes, values, gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden.programs.registry import Outcome, Run, program, runs, values


def _complex(tf: Any, x: Any) -> Any:
    return tf.complex(x, 0.5 * x)


@program("O1: fft, ifft of one to three dimensions")
def complex_transforms(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [2, 3, 5, 7], name="x")
    z = _complex(tf, x)
    made = [f(z) for f in (tf.fft, tf.ifft, tf.fft2d, tf.ifft2d, tf.fft3d, tf.ifft3d)]
    for y in list(made[:6]):
        made += tf.gradients(tf.abs(y), [x])
    return runs(Run(made, {x: values("x", 2, 3, 5, 7)}, rtol=1e-4, atol=1e-3))


@program("O1: rfft, irfft of one to three dimensions, with and without fft_length")
def real_transforms(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [2, 3, 6, 7], name="x")
    z = _complex(tf, x)
    s = tf.signal
    made = [
        s.rfft(x),
        s.rfft(x, [5]),
        s.rfft(x, [10], name="padded"),
        s.rfft2d(x),
        s.rfft2d(x, [4, 9]),
        s.rfft3d(x),
        s.irfft(z),
        s.irfft(z, [5]),
        s.irfft(z, [15]),
        s.irfft2d(z),
        s.irfft2d(z, [7, 9]),
        s.irfft3d(z),
        s.rfft(tf.cast(x, tf.float64)),
    ]
    return runs(Run(made, {x: values("x", 2, 3, 6, 7)}, rtol=1e-4, atol=1e-4))


@program("O1: gradients of rfft and irfft")
def real_gradients(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [2, 6, 7], name="x")
    z = _complex(tf, x)
    s = tf.signal
    made: list[Any] = []
    for y in (s.rfft(x), s.rfft(x, [10]), s.rfft2d(x), s.rfft2d(x, [6, 8])):
        made += tf.gradients(tf.real(y) + 2 * tf.imag(y), [x])
    for y in (s.irfft(z), s.irfft(z, [13]), s.irfft2d(z), s.irfft2d(z, [6, 13])):
        made += tf.gradients(y * y, [x])
    return runs(Run(made, {x: values("x", 2, 6, 7)}, rtol=1e-4, atol=1e-3))


@program("O1: transforms of signals of unknown lengths")
def unknown_lengths(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [None, None], name="x")
    n = tf.placeholder(tf.int32, [1], name="n")
    z = _complex(tf, x)
    s = tf.signal
    made = [s.rfft(x), s.rfft(x, n), s.rfft(x, [9]), s.rfft2d(x), s.irfft(z), s.irfft(z, n), s.irfft2d(z)]
    made += tf.gradients(tf.real(made[1]), [x]) + tf.gradients(made[4], [x])
    return runs(Run(made, {x: values("x", 3, 5), n: np.array([8], np.int32)}, rtol=1e-4, atol=1e-4))


@program("O1: cosine transforms, cut and filled up, of known and unknown lengths")
def cosine_transforms(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [3, 5], name="x")
    y = tf.placeholder(tf.float32, [None, None], name="y")
    s = tf.signal
    made = [s.dct(x), s.dct(x, norm="ortho"), s.dct(x, type=1), s.dct(x, type=3), s.dct(x, type=3, norm="ortho")]
    made += [s.dct(x, n=4), s.dct(x, n=7, name="filled"), s.idct(x), s.idct(x, type=3, norm="ortho")]
    made += [s.dct(y), s.dct(y, n=7), s.dct(y, n=4, type=3), s.dct(y, type=1), s.dct(y, norm="ortho"), s.idct(y)]
    made += tf.gradients(made[1] * made[1], [x]) + tf.gradients(made[4] * made[4], [x])
    given = values("x", 3, 5)
    return runs(Run(made, {x: given, y: given}, rtol=1e-4, atol=1e-4))
