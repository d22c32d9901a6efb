"""Quantisation: integers of few bits for floats, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden.programs.registry import Outcome, Run, program, runs

X = np.float32([-1.3, -0.5, 0, 0.3, 0.77, 2.5, 4])


@program("issue 4.1: quantize, dequantize")
def there_and_back(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [7], name="x")
    made = []
    for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED"):
        for kind in (tf.quint8, tf.qint8, tf.quint16, tf.qint16):
            numbers, low, high = tf.quantize(x, -1.0, 3.0, kind, mode=mode)
            made += [tf.bitcast(numbers, {1: tf.int8, 2: tf.int16}[kind.size]), low, high]
            made.append(tf.quantization.dequantize(numbers, low, high, mode=mode))
    even = tf.quantization.quantize(x, 0.0, 3.0, tf.quint8, "SCALED", "HALF_TO_EVEN")
    return runs(Run([*made, *even[1:], tf.dequantize(*even, mode="SCALED")], {x: X}))


@program("issue 4.1: quantize_and_dequantize and its gradient")
def both_at_once(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [7], name="x")
    both = tf.quantization.quantize_and_dequantize
    made = [
        both(x, 0.0, 0.0),
        both(x, -1.0, 3.0, range_given=True),
        both(x, 0.0, 0.0, signed_input=False),
        both(x, 0.0, 3.0, signed_input=False, range_given=True, name="named"),
        both(x, -1.0, 3.0, num_bits=4, range_given=True, narrow_range=True),
        both(x, 0.0, 0.0, num_bits=3, round_mode="HALF_UP"),
    ]
    return runs(Run([*made, *tf.gradients(made, x)], {x: X}))
