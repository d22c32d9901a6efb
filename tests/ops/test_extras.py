"""Rows of searches, coordinates, fingerprints, prints and of what passes constants on."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError, NotFoundError


def searched(side):
    return lambda rows, wanted: np.stack([np.searchsorted(r, w, side) for r, w in zip(rows, wanted)]).astype(np.int32)


ROWS = np.sort(np.random.default_rng(3).integers(0, 9, (3, 11)))
WANTED = np.random.default_rng(5).integers(-1, 11, (3, 7))
TEXTS = np.array([[b"a", b"c", b"d"]], object)
SEARCH_ERRORS = [
    Error([(3, 5), (2, 7)], InvalidArgumentError, "Leading dim_size of both tensors must match."),
    Error([(5,), (2, 7)], ValueError, "Shape must be rank 2 but is rank 1"),
]
CASES = [
    OpCase(op, [rows, wanted], searched(side), errors=SEARCH_ERRORS, label=label)
    for op, side in (("LowerBound", "left"), ("UpperBound", "right"))
    for label, rows, wanted in (
        ("integers", ROWS, WANTED),
        ("floats", ROWS / 2, WANTED / 2),
        ("one row", ROWS[:1], WANTED[:1]),
        ("texts", TEXTS, np.array([[b"b", b"c", b"z", b""]], object)),
        ("empty rows", ROWS[:, :0], WANTED),
    )
]
CASES += []
test_rows = op_tests(CASES)


def test_weights_of_unigrams_from_a_file(tmp_path) -> None:
    (tmp_path / "words.csv").write_text("a,1\nb,2.5\nc,3\n")
    true = np.array([[1, 2], [0, 1]])
    with tf.Graph().as_default(), tf.Session() as session:
        sample = tf.nn.fixed_unigram_candidate_sampler
        made = sample(true, 2, 4, False, 4, vocab_file=str(tmp_path / "words.csv"), seed=3, num_reserved_ids=1)
        sampled, expected, _ = session.run(made)
        np.testing.assert_allclose(expected, [[4 / 6.5, 10 / 6.5], [0, 4 / 6.5]], rtol=1e-6)
        assert set(sampled.tolist()) <= {1, 2, 3}
        for problem, more in (
            ("range is 4 must be equal to weights size  3", {"unigrams": [1.0, 2.0, 3.0]}),
            ("Must provide either vocab_file or unigrams.", {}),
            ("Must only provide one", {"unigrams": [1.0], "vocab_file": "x"}),
        ):
            with pytest.raises(InvalidArgumentError, match=problem):
                session.run(sample(true, 2, 4, False, 4, seed=3, **more))
        with pytest.raises(NotFoundError):
            session.run(sample(true, 2, 4, False, 4, vocab_file=str(tmp_path / "none"), seed=3))
