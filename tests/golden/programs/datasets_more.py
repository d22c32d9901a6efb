"""tf.data.experimental: groups, mixtures, buckets, counters, random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden.programs.datasets_elements import fetched
from tests.golden.programs.registry import Outcome, Run, program, runs


def _lengths(tf: Any) -> Any:
    return tf.data.Dataset.from_tensor_slices([1, 5, 2, 9, 4, 3, 7, 1, 6, 8]).map(lambda n: tf.fill([n], n))


@program("D6: sample_from_datasets with weights and a seed")
def sampled(tf: Any) -> Outcome:
    parts = [tf.data.Dataset.from_tensors(n).repeat() for n in (1, 2, 3)]
    return fetched(tf, tf.data.experimental.sample_from_datasets(parts, [0.5, 0.2, 0.3], seed=7), 12)


@program("D6: sample_from_datasets with weights that come from a data set, or none")
def sampled_anew(tf: Any) -> Outcome:
    sample = tf.data.experimental.sample_from_datasets
    parts = [tf.data.Dataset.range(n).repeat() for n in (3, 2)]
    weights = tf.data.Dataset.from_tensors([0.25, 0.75]).repeat()
    return fetched(tf, tf.data.Dataset.zip((sample(parts, weights, seed=3), sample(parts, seed=4))), 9)


@program("D6: choose_from_datasets")
def chosen(tf: Any) -> Outcome:
    parts = [tf.data.Dataset.from_tensors(text).repeat(3) for text in ("a", "b", "c")]
    return fetched(tf, tf.data.experimental.choose_from_datasets(parts, tf.data.Dataset.range(3).repeat()), 9)


@program("D6: choose_from_datasets ends where one does, or leaves it out")
def chosen_uneven(tf: Any) -> Outcome:
    parts = [tf.data.Dataset.range(2), tf.data.Dataset.range(10, 15)]
    order = tf.data.Dataset.from_tensor_slices(np.array([0, 0, 1, 0, 1, 1], np.int64))
    return fetched(tf, tf.data.experimental.choose_from_datasets(parts, order), 5)


@program("D6: Counter and unique")
def counter(tf: Any) -> Outcome:
    experimental = tf.data.experimental
    counted = experimental.Counter(10, -3)
    different = tf.data.Dataset.from_tensor_slices(["b", "a", "b", "c", "a"]).apply(experimental.unique())
    small = experimental.Counter(start=1, step=2, dtype=tf.int32)
    return fetched(tf, tf.data.Dataset.zip((counted, different, small)), 3)


@program("D6: cardinality of chains")
def cardinality(tf: Any) -> Outcome:
    data = tf.data.Dataset.range(10)
    chains = [
        data,
        data.batch(3),
        data.batch(3, drop_remainder=True),
        data.repeat(),
        data.repeat(3).skip(4).take(7),
        data.filter(lambda v: v > 3),
        data.flat_map(tf.data.Dataset.from_tensors),
        tf.data.Dataset.zip((data, data.repeat())),
        data.concatenate(data.shard(3, 1)),
        data.prefetch(1).cache().shuffle(3),
        data.padded_batch(4, []),
        data.window(3, shift=2, drop_remainder=True),
        tf.data.TextLineDataset("a"),
    ]
    counts = [tf.data.experimental.cardinality(chain) for chain in chains]
    return runs(Run(counts))


@program("D6: RandomDataset")
def random_numbers(tf: Any) -> Outcome:
    return fetched(tf, tf.data.experimental.RandomDataset(seed=5), 4)


@program("D6: rejection_resample")
def resampled(tf: Any) -> Outcome:
    classes = tf.data.Dataset.range(200).map(lambda v: tf.cast(v % 5 > 0, tf.int32)).repeat()
    known = tf.data.experimental.rejection_resample(lambda c: c, [0.5, 0.5], initial_dist=[0.2, 0.8], seed=9)
    return fetched(tf, classes.apply(known), 6)


@program("D6: rejection_resample that estimates the distribution")
def resampled_unknown(tf: Any) -> Outcome:
    classes = tf.data.Dataset.range(200).map(lambda v: (tf.cast(v % 5 > 0, tf.int32), v)).repeat()
    resample = tf.data.experimental.rejection_resample(lambda c, v: c, [0.5, 0.5], seed=9)
    return fetched(tf, classes.apply(resample), 6)


@program("D6: enumerate, shuffle_and_repeat, map_and_batch, unbatch")
def together(tf: Any) -> Outcome:
    experimental = tf.data.experimental
    data = tf.data.Dataset.range(7).apply(experimental.shuffle_and_repeat(3, 2, seed=4))
    data = data.apply(experimental.map_and_batch(lambda v: v * 3, 4, drop_remainder=True))
    return fetched(tf, data.apply(experimental.unbatch()).apply(experimental.enumerate_dataset(5)), 9)


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
    chosen.experimental_optimization.map_fusion = True
    chosen.experimental_threading.private_threadpool_size = 2
    data = tf.data.Dataset.range(5).map(lambda v: v + 1).with_options(chosen).batch(2)
    return fetched(tf, data, 1, kept=data.options().experimental_optimization.map_fusion)
