"""Smaller functions: repeats, batches of gathers, searches in sorted rows, texts printed, fingerprints, swish,
fractional pooling."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden.programs.registry import Outcome, Run, program, runs, values


@program("O1: tf.batch_gather")
def by_index(tf: Any) -> Outcome:
    x, y = tf.placeholder(tf.float32, [2, 3, 5]), tf.placeholder(tf.float32, [None, None, 5])
    i, j = tf.constant([[2, 0], [1, 1]]), tf.placeholder(tf.int64, [None, 2])
    made = [
        tf.batch_gather(x, i),
        tf.batch_gather(y, j, name="named"),
        tf.batch_gather(x, tf.constant([[[4], [0], [2]]] * 2)),
    ]
    made += tf.gradients(made[0], x)
    feeds = {x: values("x", 2, 3, 5), y: values("y", 2, 3, 5), j: np.array([[1, 0], [2, 2]])}
    return runs(Run(made, feeds))


@program("O12: fixed_unigram_candidate_sampler")
def unigrams(tf: Any) -> Outcome:
    true = tf.constant([[1, 2], [3, 4]], tf.int64)
    weights = [float(i + 1) for i in range(9)]
    sample = tf.random.fixed_unigram_candidate_sampler
    made = [
        sample(true, 2, 4, True, 9, unigrams=weights, seed=3),
        sample(true, 2, 40, False, 9, unigrams=weights, distortion=0.5, seed=5, name="named"),
        tf.nn.fixed_unigram_candidate_sampler(
            true, 2, 7, False, 5, unigrams=weights, num_reserved_ids=1, num_shards=2, seed=7
        ),
    ]
    return runs(Run([one for several in made for one in several]))
