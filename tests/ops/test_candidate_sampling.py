"""Candidate samplers: what they promise of their draws, and errors. Their numbers: tests/golden/programs/candidates.py."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import get_op

TRUE = np.array([[1, 3], [2, 0], [5, 2]])

CASES = [
    OpCase(
        "ComputeAccidentalHits",
        [TRUE, np.array([2, 5, 3, 9, 2])],
        (np.int32([0, 1, 2, 2]), np.array([2, 4, 1, 4]), np.full(4, np.finfo(np.float32).min)),
        attrs={"num_true": 2},
        static_shape=[[None]] * 3,
        errors=[
            Error([TRUE, np.array([2])], InvalidArgumentError, "must be a batch_size * num_true matrix", {"num_true": 3}),
            Error([np.array([1]), np.array([2])], ValueError, "Shape must be rank 2 but is rank 1", {"num_true": 1}),
        ],
    ),
    OpCase(
        "ComputeAccidentalHits",
        [np.zeros((0, 2), np.int64), np.zeros(0, np.int64)],
        (np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.float32)),
        attrs={"num_true": 2},
        static_shape=[[None]] * 3,
        label="empty",
    ),
]
test_rows = op_tests(CASES)

SAMPLERS = ("Uniform", "LogUniform", "LearnedUnigram")


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as g:
        yield g


def sampler(kind: str, true: Any = TRUE, **attrs: Any) -> Any:
    given = {"num_true": 2, "num_sampled": 97, "unique": False, "range_max": 101, "seed": 3, "seed2": 5, **attrs}
    return get_op(f"{kind}CandidateSampler")(true, **given)


@pytest.mark.parametrize("kind", SAMPLERS)
def test_unique(kind: str) -> None:
    made = sampler(kind, unique=True)
    with tf.Session() as session:
        for _ in range(3):
            sampled, of_true, of_sampled = session.run(made)
            assert len(set(sampled.tolist())) == 97
            assert 0 <= sampled.min() <= sampled.max() < 101
            assert of_true.shape == (3, 2)
            assert ((of_sampled > 0) & (of_sampled <= 1)).all()


@pytest.mark.parametrize("kind", SAMPLERS)
def test_expected_counts_are_those_of_the_draws(kind: str) -> None:
    made = sampler(kind, np.arange(14).reshape(7, 2), num_sampled=140000, range_max=14)
    with tf.Session() as session:
        session.run(made)  # a learned distribution is no longer uniform after this
        sampled, expected, _ = session.run(made)
    counts = np.bincount(sampled, minlength=14)
    np.testing.assert_allclose(counts, expected.ravel(), atol=5 * np.sqrt(140000 / 14 * 3))
    assert expected.sum() == pytest.approx(140000, rel=1e-5)


def test_the_learned_distribution_follows_the_true_classes() -> None:
    made = sampler("LearnedUnigram", [[3, 3]], num_sampled=4, range_max=5)
    with tf.Session() as session:
        expected = [session.run(made)[1][0, 0] for _ in range(3)]
    np.testing.assert_allclose(expected, [4 / 5, 4 * 3 / 7, 4 * 5 / 9], rtol=1e-6)


@pytest.mark.parametrize("kind", SAMPLERS)
@pytest.mark.parametrize(
    ("true", "attrs", "text"),
    [
        (TRUE, {"unique": True, "num_sampled": 103}, "Sampler's range is too small."),
        (TRUE, {"num_true": 3}, "true_classes must have num_true columns, expected: 2 was: 3"),
        ([1, 2], {}, "true_classes must be a matrix"),
        ([[1, 101]], {}, "`true_candidate` out of range [0, 101), received 101"),
        ([[1, -1]], {}, "`true_candidate` out of range [0, 101), received -1"),
    ],
)
def test_what_cannot_be_sampled(kind: str, true: Any, attrs: dict[str, Any], text: str) -> None:
    fed = tf.placeholder(tf.int64)
    made = sampler(kind, fed, **attrs)
    with tf.Session() as session, pytest.raises(InvalidArgumentError) as caught:
        session.run(made, {fed: true})
    assert text in str(caught.value)
