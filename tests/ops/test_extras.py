"""Candidates drawn by weights of a file."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tfexp.core.errors import InvalidArgumentError, NotFoundError


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
