"""Smaller functions: repeats, batches of gathers, searches in sorted rows, texts printed, fingerprints, swish,
fractional pooling."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden.programs.registry import Outcome, Run, program, raised, runs, values


@program("O1: tf.repeat of known and unknown shapes, by one number and by many")
def repeats(tf: Any) -> Outcome:
    x, y = tf.placeholder(tf.float32, [3, 5]), tf.placeholder(tf.float32, None)
    n, m = tf.placeholder(tf.int32, None), tf.placeholder(tf.int32, [1])
    made = [
        *(tf.repeat(x, 3, axis=1), tf.repeat(x, [1, 0, 2], axis=0, name="rows"), tf.repeat(x, 2), tf.repeat(x, m, axis=-1)),
        *(tf.repeat(x, [2, 1, 0, 3, 1], axis=1), tf.repeat(y, n, axis=0), tf.repeat(tf.constant(4), [3])),
        *(tf.repeat(x, tf.constant([2], tf.int64), axis=0), tf.repeat(x, tf.constant([1, 0, 2], tf.int64), axis=0)),
    ]
    made.append(tf.gradients(made[1], x)[0])
    feeds = {x: values("x", 3, 5), y: values("y", 2, 2), n: np.int32([2, 1]), m: np.int32([2])}
    refused = [
        raised(lambda: tf.repeat(x, [1, 2], axis=0)),
        raised(lambda: tf.repeat(x, [[1]], axis=0)),
        raised(lambda: tf.repeat(x, 1, axis=2)),
    ]
    return runs(Run(made, feeds), refused=refused)


@program("O1: tf.batch_gather, tf.unravel_index")
def by_index(tf: Any) -> Outcome:
    x, y = tf.placeholder(tf.float32, [2, 3, 5]), tf.placeholder(tf.float32, [None, None, 5])
    i, j = tf.constant([[2, 0], [1, 1]]), tf.placeholder(tf.int64, [None, 2])
    made = [
        tf.batch_gather(x, i),
        tf.batch_gather(y, j, name="named"),
        tf.batch_gather(x, tf.constant([[[4], [0], [2]]] * 2)),
    ]
    made += tf.gradients(made[0], x)
    made += [tf.unravel_index([7, 0, 14], [3, 5]), tf.unravel_index(tf.constant(8, tf.int64), tf.constant([3, 5], tf.int64))]
    feeds = {x: values("x", 2, 3, 5), y: values("y", 2, 3, 5), j: np.array([[1, 0], [2, 2]])}
    return runs(Run(made, feeds))


@program("O1: tf.searchsorted")
def places(tf: Any) -> Outcome:
    rows, wanted = tf.placeholder(tf.float32, [2, 3]), tf.placeholder(tf.float32, [2, 5])
    line, few = tf.placeholder(tf.int32, None), tf.placeholder(tf.int32, [None])
    made = [
        tf.searchsorted(rows, wanted),
        tf.searchsorted(rows, wanted, side="right", out_type=tf.int64, name="named"),
        tf.searchsorted(line, few),
    ]
    feeds = {
        rows: np.sort(values("r", 2, 3)),
        wanted: values("w", 2, 5),
        line: np.int32([1, 3, 3, 7]),
        few: np.int32([3, 0, 9]),
    }
    return runs(Run(made, feeds))


@program("O1: tf.nn.swish and its gradient; tf.grad_pass_through")
def swish(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    y = tf.nn.swish(x)
    through = tf.grad_pass_through(tf.sign)(x)
    made = [y, *tf.gradients(y, x), through, *tf.gradients(through, x)]
    return runs(Run(made, {x: values("x", 2, 3)}))


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
