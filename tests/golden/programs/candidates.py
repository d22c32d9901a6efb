"""Candidate samplers: their graphs, and TensorFlow's numbers for its seeds, from run to run."""

from __future__ import annotations

from typing import Any

from tests.golden.programs.registry import Outcome, Run, program, runs


@program("O10: candidate samplers")
def samplers(tf: Any) -> Outcome:
    tf.set_random_seed(11)
    true = tf.constant([[1, 3], [2, 0], [5, 2]], tf.int64)
    made = []
    for unique in (False, True):
        for sampler in (
            tf.nn.uniform_candidate_sampler,
            tf.nn.log_uniform_candidate_sampler,
            tf.nn.learned_unigram_candidate_sampler,
        ):
            for classes in (7, 8, 1000003):
                made.append(sampler(true, 2, 5, unique, classes, seed=classes % 13))
            made.append(sampler(true, 2, 97, unique, 101, name="many"))
    made.append(tf.nn.uniform_candidate_sampler(true, 2, 53, False, 2**62 + 2**61, seed=1))
    made.append(tf.nn.all_candidate_sampler(true, 2, 6, True))
    hits = tf.nn.compute_accidental_hits(true, tf.constant([2, 5, 3, 9, 2], tf.int64), 2)
    flat = [t for one in made for t in one]
    return runs(
        *[Run([*flat, *hits], rtol=3e-7, atol=0.0)] * 3,
        shapes=[str(t.shape) for t in (*made[0], *hits)],
        fields=[list(made[0]._fields), list(hits._fields)],
    )
