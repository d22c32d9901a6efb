"""The row of SkipGramGenerateCandidates, and numbers that TensorFlow 1.15 draws."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError
from tfexp.ops.skip_grams import skip_gram_op

WORDS = np.array([b"a", b"b", b"c", b"d", b"e"], object)


def given(least: int, most: int, start: int = 0, limit: int = -1, itself: bool = False) -> list[object]:
    return [WORDS, np.int32(least), np.int32(most), np.int32(start), np.int32(limit), np.bool_(itself)]


CASES = [
    OpCase(
        "SkipGramGenerateCandidates",
        given(1, 1, 1, 3, True),
        (np.array(list("bbcccdd"), "S").astype(object), np.array(list("bcbcdcd"), "S").astype(object)),
        static_shape=[[None]] * 2,
        errors=[
            Error(given(-1, 1), InvalidArgumentError, "must be >= 0"),
            Error(given(2, 1), InvalidArgumentError, "min_skips must be <= max_skips"),
            Error(given(1, 1, 6), InvalidArgumentError, "start must be in [0, 5], not 6"),
            Error([WORDS[None], *given(1, 1)[1:]], ValueError, "Shape must be rank 1 but is rank 2"),
        ],
    ),
    OpCase(
        "SkipGramGenerateCandidates",
        given(0, 3, limit=0),
        (np.empty(0, object), np.empty(0, object)),
        static_shape=[[None]] * 2,
        label="none",
    ),
]
test_rows = op_tests(CASES)


@pytest.mark.parametrize(
    ("least", "most", "runs"),
    [
        (0, 7, [[7, 7, 4, 0, 7, 4, 0, 0, 1, 5, 2, 0], [5, 2, 7, 0, 6, 5, 5, 7, 4, 5, 5, 4]]),
        (0, 2, [[2, 1, 1, 2, 2, 2, 2, 1, 1, 2, 0, 2], [2, 0, 2, 0, 2, 1, 1, 0, 0, 1, 0, 1]]),
    ],
)
def test_numbers_are_those_of_tensorflow(least: int, most: int, runs: list[list[int]]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        made = skip_gram_op(np.arange(12, dtype=np.int32), least, most, 0, -1, False, seed=87654321, seed2=3)
        for far in runs:
            tokens, labels = session.run(made)
            assert [int(abs(labels[tokens == i] - i).max(initial=0)) for i in range(12)] == far
