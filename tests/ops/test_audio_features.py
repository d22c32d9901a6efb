"""Rows of the ops for speech; tests/golden/programs/speech.py has TensorFlow's numbers."""

from __future__ import annotations

import numpy as np

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError


def spectrogram(x, size=5, stride=3, length=8):
    """By the transform's definition, window by window."""
    times = np.arange(size)
    taper = np.sin(np.pi * times / size) ** 2
    waves = np.exp(-2j * np.pi / length * np.outer(times, np.arange(length // 2 + 1)))
    windows = [x[i : i + size].T * taper for i in range(0, len(x) - size + 1, stride)]
    return np.abs(np.stack([window @ waves for window in windows], 1)).astype(np.float32)


SIZES = {"window_size": 5, "stride": 3}
TOO_MANY = {"dct_coefficient_count": 41}
ONE_BAND = {
    "filterbank_channel_count": 1,
    "dct_coefficient_count": 1,
    "lower_frequency_limit": 0.1,
    "upper_frequency_limit": 0.5,
}
FAILED = "Mfcc initialization failed for channel count 5, sample rate"
CASES = [
    OpCase(
        "AudioSpectrogram",
        [(23, 2)],
        spectrogram,
        SIZES,
        gradient=(),
        errors=[
            Error([(23, 2)], ValueError, "window size must be > 1, got 1", {**SIZES, "window_size": 1}),
            Error([(23, 2)], ValueError, "stride must be strictly positive, got 0", {**SIZES, "stride": 0}),
            Error([(23,)], ValueError, "Shape must be rank 2 but is rank 1"),
        ],
    ),
    # A band so narrow that no frequency is in it has the lowest energy.
    OpCase(
        "Mfcc",
        [np.ones((2, 3, 2), np.float32), np.int32(2)],
        np.full((2, 3, 1), np.log(np.float32(1e-12)) * np.sqrt(2), np.float32),
        {
            "filterbank_channel_count": 1,
            "dct_coefficient_count": 1,
            "upper_frequency_limit": 0.5,
            "lower_frequency_limit": 0.1,
        },
        gradient=(),
        errors=[
            Error([(2, 3, 5), np.int32(16000)], InvalidArgumentError, FAILED, TOO_MANY),
            Error([(2, 3, 5), np.int32(16000)], InvalidArgumentError, FAILED, {"upper_frequency_limit": float("inf")}),
            Error([(2, 3, 5), np.int32(0)], InvalidArgumentError, FAILED),
            Error([(2, 3, 5), np.int32([1, 2])], ValueError, "Shape must be rank 0 but is rank 1"),
            Error([(2, 3), np.int32(16000)], ValueError, "Shape must be rank 3 but is rank 2"),
        ],
    ),
]
test_rows = op_tests(CASES)


def test_a_tone_is_loudest_in_its_band():
    """At 16 kHz, 1 kHz is 1000 mel: of 40 bands up to 4 kHz (2146 mel) from 20 Hz (32 mel), numbers 17 and 18 hold it."""
    sound = np.sin(2 * np.pi * 1000 / 16000 * np.arange(4000)).astype(np.float32)[:, None]
    with tf.Session() as session:
        tone = tf.raw_ops.AudioSpectrogram(input=sound, window_size=480, stride=160, magnitude_squared=True)
        made = session.run(tf.raw_ops.Mfcc(spectrogram=tone, sample_rate=16000, dct_coefficient_count=40))
    waves = np.cos(np.pi / 40 * np.outer(np.arange(40) + 0.5, np.arange(40))) * np.sqrt(2 / 40)
    bands = made @ np.linalg.inv(waves)
    assert set(bands.argmax(-1).ravel().tolist()) <= {17, 18}
