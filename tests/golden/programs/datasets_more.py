"""tf.data.experimental: several transformations in one node, options; random numbers of data sets used twice."""

from __future__ import annotations

from typing import Any

from tests.golden.programs.datasets_elements import fetched
from tests.golden.programs.registry import Outcome, program


@program("D6: shuffle_and_repeat, map_and_batch")
def together(tf: Any) -> Outcome:
    experimental = tf.data.experimental
    data = tf.data.Dataset.range(7).apply(experimental.shuffle_and_repeat(3, 2, seed=4))
    data = data.apply(experimental.map_and_batch(lambda v: v * 3, 4, drop_remainder=True))
    return fetched(tf, data, 3)


@program("D6: map_and_batch in parallel")
def map_and_batch(tf: Any) -> Outcome:
    experimental = tf.data.experimental
    calls = experimental.map_and_batch(lambda v: (v, v * 3), 4, num_parallel_calls=2)
    batches = experimental.map_and_batch(lambda v: v + 1, 2, num_parallel_batches=3, drop_remainder=True)
    data = tf.data.Dataset.range(10)
    return fetched(tf, tf.data.Dataset.zip((data.apply(calls), data.apply(batches))), 3)


@program("D6: parallel_interleave, sloppy or not")
def parallel_interleave(tf: Any) -> Outcome:
    experimental = tf.data.experimental
    data = tf.data.Dataset.range(1, 5)
    steady = data.apply(experimental.parallel_interleave(lambda v: tf.data.Dataset.from_tensors(v).repeat(3), 2, 2))
    sloppy = data.apply(
        experimental.parallel_interleave(tf.data.Dataset.from_tensors, 1, sloppy=True, buffer_output_elements=1)
    )
    return fetched(tf, tf.data.Dataset.zip((steady, sloppy)), 4)


@program("D6: the same shuffled data set twice in one zip")
def shuffled_pair(tf: Any) -> Outcome:
    x = tf.data.Dataset.range(9).shuffle(5, seed=2)
    drawn = tf.data.Dataset.range(9).map(lambda v: tf.random_uniform([], maxval=1000, dtype=tf.int32, seed=3))
    fixed = tf.data.Dataset.range(9).shuffle(5, seed=2, reshuffle_each_iteration=False)
    return fetched(tf, tf.data.Dataset.zip((x, x, drawn, drawn, fixed, fixed)).repeat(2), 14)


@program("D6: options")
def options(tf: Any) -> Outcome:
    chosen = tf.data.Options()
    chosen.experimental_deterministic = False
    chosen.experimental_threading.private_threadpool_size = 2
    data = tf.data.Dataset.range(5).map(lambda v: v + 1).with_options(chosen).batch(2)
    return fetched(tf, data, 1, kept=data.options().experimental_threading.private_threadpool_size)
