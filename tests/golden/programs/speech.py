"""What speech is told apart by: spectrograms and their coefficients."""

from __future__ import annotations

from typing import Any

from tests.golden.programs.registry import Outcome, Run, program, runs, values


@program("issue 4.1: AudioSpectrogram and Mfcc")
def features(tf: Any) -> Outcome:
    raw = tf.raw_ops
    sound = tf.placeholder(tf.float32, [None, 2], name="sound")
    made = [
        raw.AudioSpectrogram(input=sound, window_size=size, stride=stride, magnitude_squared=squared)
        for size, stride, squared in ((16, 80, False), (100, 137, True), (3, 70, True), (480, 20, True), (2000, 7, True))
    ]
    for spectrogram, rate, options in (
        (made[3], 16000, {}),
        (made[3], 8000, {}),
        (made[1], 16000, {"filterbank_channel_count": 7, "dct_coefficient_count": 7, "upper_frequency_limit": 7000.0}),
        (made[2], 16000, {"lower_frequency_limit": 100.0, "filterbank_channel_count": 3, "dct_coefficient_count": 2}),
    ):
        made.append(raw.Mfcc(spectrogram=spectrogram, sample_rate=rate, **options))
    return runs(Run(made, {sound: values("sound", 500, 2)}, rtol=1e-4, atol=1e-5))
