"""`tf.signal` against NumPy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import tfexp as tf

X = np.random.default_rng(3).normal(size=(2, 23))


@pytest.fixture
def session() -> Iterator[tf.Session]:
    with tf.Graph().as_default(), tf.Session() as one:
        yield one


def frames(x: np.ndarray, length: int, step: int) -> np.ndarray:
    count = max(0, 1 + (x.shape[-1] - length) // step)
    return np.stack([x[..., i * step : i * step + length] for i in range(count)], axis=-2)


@pytest.mark.parametrize("known", [True, False])
def test_frames(known: bool, session: tf.Session) -> None:
    x = tf.placeholder_with_default(X, X.shape if known else [None, None])
    made = [tf.signal.frame(x, 5, 3), tf.signal.frame(x, 5, 4, pad_end=True, pad_value=9), tf.signal.frame(x, 29, 3)]
    made.append(tf.signal.frame(tf.transpose(x), 5, 3, axis=0))
    cut, padded, none, along = session.run(made)
    np.testing.assert_array_equal(cut, frames(X, 5, 3))
    np.testing.assert_array_equal(padded, frames(np.pad(X, [[0, 0], [0, 2]], constant_values=9), 5, 4))
    assert none.shape == (2, 0, 29)
    np.testing.assert_array_equal(along, frames(X, 5, 3).transpose(1, 2, 0))
    if known:
        assert made[0].shape.as_list() == [2, 7, 5]


@pytest.mark.parametrize("step", [2, 5, 7])
def test_overlap_and_add(step: int, session: tf.Session) -> None:
    given = np.random.default_rng(5).normal(size=(2, 4, 5))
    wanted = np.zeros((2, 3 * step + 5))
    for i in range(4):
        wanted[:, i * step : i * step + 5] += given[:, i]
    x = tf.constant(given)
    y = tf.signal.overlap_and_add(x, step)
    np.testing.assert_allclose(session.run(y), wanted)
    np.testing.assert_array_equal(session.run(tf.gradients(y, x)[0]), np.ones_like(given))


def test_windows(session: tf.Session) -> None:
    hann, hamming = tf.signal.hann_window, tf.signal.hamming_window
    made = [hann(6, dtype=tf.float64), hann(6, periodic=False), hamming(6), hann(1), hann(5)]
    found = session.run(made)
    # Periodic windows of odd length are the symmetric ones, as in TensorFlow.
    for a, b in zip(found, [np.hanning(7)[:-1], np.hanning(6), np.hamming(7)[:-1], [1], np.hanning(5)], strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)
    with pytest.raises(ValueError, match="floating point"):
        hann(5, dtype=tf.int32)


@pytest.mark.parametrize("length", [1, 5, 6])
def test_windows_of_fed_lengths_and_kinds(session: tf.Session, length: int) -> None:
    size, periodic = tf.placeholder(tf.int32, []), tf.placeholder(tf.bool, [])
    window = tf.signal.hann_window(size, periodic)
    for kind in (True, False):
        wanted = session.run(tf.signal.hann_window(length, kind))
        np.testing.assert_array_equal(session.run(window, {size: length, periodic: kind}), wanted)


def test_spectra_of_frames_of_fed_lengths(session: tf.Session) -> None:
    x, length = tf.constant(X), tf.placeholder(tf.int32, [])
    spectra = tf.signal.stft(x, length, tf.constant(3))
    wanted, found = session.run([tf.signal.stft(x, 6, 3), spectra], {length: 6})
    np.testing.assert_allclose(found, wanted)
    back = tf.signal.inverse_stft(spectra, length, 3, tf.constant(8), window_fn=None)
    np.testing.assert_allclose(
        session.run(back, {length: 6}), session.run(tf.signal.inverse_stft(wanted, 6, 3, window_fn=None))
    )
    assert session.run(tf.signal.inverse_stft(wanted, tf.constant(9), 3, 8, window_fn=None)).shape[-1] == (
        9 + 3 * (wanted.shape[-2] - 1)
    )


def test_short_time_fourier_transforms_and_back(session: tf.Session) -> None:
    x = tf.constant(X)
    spectra = tf.signal.stft(x, 6, 3)
    wanted = np.fft.rfft(frames(X, 6, 3) * np.hanning(7)[:-1], 8)
    np.testing.assert_allclose(session.run(spectra), wanted, atol=1e-9)
    plain = tf.signal.stft(x, 5, 2, fft_length=16, window_fn=None, pad_end=True)
    np.testing.assert_allclose(session.run(plain)[:, :3], np.fft.rfft(frames(X, 5, 2), 16)[:, :3], atol=1e-9)
    whole = tf.signal.stft(x, 8, 2)
    back = tf.signal.inverse_stft(whole, 8, 2, window_fn=tf.signal.inverse_stft_window_fn(2))
    np.testing.assert_allclose(session.run(back)[:, 6:-6], X[:, 6:16], atol=1e-9)
    (gradient,) = tf.gradients(tf.abs(spectra), x)
    assert np.isfinite(session.run(gradient)).all()


@pytest.mark.parametrize("norm", [None, "ortho"])
@pytest.mark.parametrize("kind", [1, 2, 3])
def test_cosine_transforms(kind: int, norm: str | None, session: tf.Session) -> None:
    if kind == 1 and norm:
        with pytest.raises(ValueError, match="not supported for the Type-I"):
            tf.signal.dct(X, type=1, norm=norm)
        return
    n = X.shape[1]
    x = tf.constant(X)  # an array would be single precision, as in TensorFlow 1.15
    forward, back, longer, whole = (
        tf.signal.dct(x, type=kind, norm=norm),
        tf.signal.idct(tf.signal.dct(x, type=kind, norm=norm), type=kind, norm=norm),
        tf.signal.dct(x[:, :5], type=kind, norm=norm, n=7),
        tf.signal.dct(tf.pad(x[:, :5], [[0, 0], [0, 2]]), kind, norm=norm),
    )
    found, again, filled, same = session.run([forward, back, longer, whole])
    factor = 1 if norm else 2 * (n - 1) if kind == 1 else 2 * n
    np.testing.assert_allclose(again / factor, X, atol=1e-9)
    np.testing.assert_allclose(filled, same)
    if norm:  # an orthogonal matrix keeps lengths
        np.testing.assert_allclose((found**2).sum(-1), (X**2).sum(-1))
    else:
        first = {1: X[:, 0] + X[:, -1] + 2 * X[:, 1:-1].sum(-1), 2: 2 * X.sum(-1)}
        if kind in first:
            np.testing.assert_allclose(found[:, 0], first[kind])


def test_what_cosine_transforms_refuse() -> None:
    for arguments, text in (
        ({"type": 4}, "Only Types I, II and III"),
        ({"norm": "x"}, "Unknown normalization"),
        ({"n": 0}, "n should be a positive integer"),
    ):
        with tf.Graph().as_default(), pytest.raises(ValueError, match=text):
            tf.signal.dct(X, **arguments)


def test_shifts_and_mel_scales(session: tf.Session) -> None:
    five = X[:, :5]
    made = [tf.signal.fftshift(X), tf.signal.ifftshift(X), tf.signal.ifftshift(tf.signal.fftshift(five, axes=[1]), axes=1)]
    for a, b in zip(session.run(made), [np.fft.fftshift(X), np.fft.ifftshift(X), five], strict=True):
        np.testing.assert_array_equal(a, b)
    weights = session.run(tf.signal.linear_to_mel_weight_matrix(20, 129, 8000, 125.0, 3800.0))
    assert weights.shape == (129, 20)
    assert not weights[:4].any()  # 0 to 125 Hertz
    assert (weights[5:120].sum(1) <= 1 + 1e-6).all()
    assert (np.diff(weights.argmax(0)) >= 0).all()
    computed = tf.signal.linear_to_mel_weight_matrix(20, tf.constant(129), tf.constant(8000), 125.0, 3800.0)
    np.testing.assert_allclose(session.run(computed), weights, atol=1e-5)
    with pytest.raises(ValueError, match="Nyquist"):
        tf.signal.linear_to_mel_weight_matrix(upper_edge_hertz=4001)
    cepstra = session.run(tf.signal.mfccs_from_log_mel_spectrograms(X))
    np.testing.assert_allclose(cepstra[:, 0], X.sum(-1) * 2 / np.sqrt(46))


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.signal.frame(tf.constant(1.0), 2, 2),
        lambda: tf.signal.frame([1.0, 2.0], [2], 2),
        lambda: tf.signal.frame([1.0, 2.0], 2, [2]),
        lambda: tf.signal.hann_window([4]),
        lambda: tf.signal.rfft([1.0, 2.0], [5, 6]),
    ],
)
def test_lengths_are_scalars_and_signals_are_not(make):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=r"rank|incompatible"):
        make()


def test_frames_of_signals_whose_rank_is_not_known(session: tf.Session) -> None:
    x = tf.placeholder(tf.float64)
    wanted = frames(X, 5, 3)
    np.testing.assert_array_equal(session.run(tf.signal.frame(x, 5, 3), {x: X}), wanted)
    np.testing.assert_array_equal(session.run(tf.signal.frame(x, 5, 3, axis=1), {x: X[:, :, None]}), wanted[..., None])


def test_frames_along_an_axis_that_is_a_tensor(session: tf.Session) -> None:
    wanted = frames(X, 5, 3)
    axis = tf.placeholder(tf.int32, [])
    assert tf.signal.frame(X, 5, 3, axis=tf.constant(-1)).shape.as_list() == list(wanted.shape)
    for i in (-1, 1):
        np.testing.assert_array_equal(session.run(tf.signal.frame(X, 5, 3, axis=axis), {axis: i}), wanted)


def test_frames_along_an_axis_that_is_there(session: tf.Session) -> None:
    with pytest.raises(ValueError, match="axis 2 of frame is not one of the 2"):
        tf.signal.frame(X, 2, 1, axis=2)
    x = tf.constant(X[0])
    (gradient,) = tf.gradients(tf.signal.frame(x, 3, 2), x)
    assert session.run(gradient).tolist() == [1.0, 1.0, *[2.0, 1.0] * 10, 1.0][:23]


def test_frames_overlap_by_a_whole_number() -> None:
    with pytest.raises(ValueError, match="frame_step must be an integer"):
        tf.signal.overlap_and_add(X, 1.0)


def test_cepstra_of_as_many_bins_as_a_run_has(session: tf.Session) -> None:
    fed = tf.placeholder(tf.float32)
    found = session.run(tf.signal.mfccs_from_log_mel_spectrograms(fed), {fed: X})
    np.testing.assert_allclose(found, session.run(tf.signal.mfccs_from_log_mel_spectrograms(X)), rtol=1e-6)


def test_mel_weights_of_a_sample_rate_that_is_a_tensor(session: tf.Session) -> None:
    weights = tf.signal.linear_to_mel_weight_matrix(4, 5, tf.constant(8000), 10.0, 3800.0, tf.float64)
    expected = tf.signal.linear_to_mel_weight_matrix(4, 5, 8000, 10.0, 3800.0, tf.float64)
    np.testing.assert_allclose(*session.run([weights, expected]), atol=1e-6)


def test_frames_are_filled_up_with_one_number(session: tf.Session) -> None:
    with pytest.raises(ValueError, match=r"Shape \(1,\) must have rank 0"):
        tf.signal.frame(tf.ones([8]), 3, 2, pad_end=True, pad_value=[1.0])
