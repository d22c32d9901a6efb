"""tf.data: data sets, iterators, and what comes out of them, in TensorFlow's order for its seeds."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden.programs.registry import Outcome, Run, program, runs


def _elements(tf: Any, dataset: Any, count: int, *more: Run) -> Outcome:
    iterator = tf.data.make_initializable_iterator(dataset)
    element = iterator.get_next()
    parts = [element] if hasattr(element, "dtype") else _flat(element)
    return runs(Run([iterator.initializer]), *(Run(parts) for _ in range(count)), *more, names=[p.name for p in parts])


def _flat(element: Any) -> list[Any]:
    if isinstance(element, dict):
        return [leaf for key in sorted(element) for leaf in _flat(element[key])]
    if isinstance(element, tuple):
        return [leaf for part in element for leaf in _flat(part)]
    return [element]


@program("D6: shuffled, mapped, in batches, prefetched")
def pipeline(tf: Any) -> Outcome:
    data = tf.data.Dataset.from_tensor_slices(np.arange(23, dtype=np.float32))
    data = data.shuffle(7, seed=5).map(lambda v: (v * 2.0, tf.cast(v, tf.int32))).batch(4).prefetch(2)
    return _elements(tf, data, 6)


@program("D6: shuffled again and again, and always the same way")
def shuffles(tf: Any) -> Outcome:
    tf.set_random_seed(11)
    numbers = tf.data.Dataset.range(6)
    again = numbers.shuffle(4).repeat(2)
    same = numbers.shuffle(6, seed=3, reshuffle_each_iteration=False).repeat(2)
    return _elements(tf, tf.data.Dataset.zip((again, {"same": same})), 12)


@program("D6: from_tensors, from_tensor_slices, structures")
def structures(tf: Any) -> Outcome:
    data = tf.data.Dataset
    first = data.from_tensors((1, {"b": 2.0, "a": tf.constant([3, 4])})).repeat(3)
    second = data.from_tensor_slices({"b": np.arange(3), "a": (np.ones([3, 2], np.float32), ["x", "y", "z"])})
    return _elements(tf, data.zip((first, second)), 3)


@program("D6: concatenate, take, skip, shard, cache, repeat")
def choices(tf: Any) -> Outcome:
    numbers = tf.data.Dataset.range(3, 11, 2).concatenate(tf.data.Dataset.range(20, 31))
    return _elements(tf, numbers.skip(1).take(11).shard(3, 1).cache().repeat(), 9)


@program("D6: interleave and flat_map, the sequences of the source")
def interleaving(tf: Any) -> Outcome:
    data = tf.data.Dataset
    turns = data.range(1, 6).interleave(lambda v: data.from_tensors(v).repeat(6), cycle_length=2, block_length=4)
    flat = data.range(5).flat_map(lambda v: data.from_tensors(v).repeat(v))
    return _elements(tf, data.zip((turns, flat.repeat())), 30)


@program("D6: parallel map and interleave")
def parallel(tf: Any) -> Outcome:
    data = tf.data.Dataset
    mapped = data.range(7).map(lambda v: tf.reverse(tf.stack([v, v * v]), [0]), num_parallel_calls=3)
    turns = data.range(1, 4).interleave(lambda v: data.from_tensors(v).repeat(2), 2, 1, num_parallel_calls=2)
    return _elements(tf, data.zip((mapped, turns)), 6)


@program("D6: filter, padded_batch, window, reduce")
def groups(tf: Any) -> Outcome:
    data = tf.data.Dataset
    padded = data.range(1, 6).filter(lambda v: v > 1).map(lambda v: (tf.fill([v], v), "s")).padded_batch(2, ([None], []))
    windows = data.range(7).window(3, shift=2, drop_remainder=True).flat_map(lambda w: w.batch(3))
    total = data.range(5).reduce(np.int64(7), lambda a, b: a + b)
    return _elements(tf, data.zip((padded, windows)), 2, Run([total]))


@program("D6: scan and random numbers in a map")
def functions(tf: Any) -> Outcome:
    sums = tf.data.Dataset.range(9).apply(tf.data.experimental.scan(np.int64(1), lambda s, v: (s + v, s * v)))
    drawn = tf.data.Dataset.range(9).map(lambda v: tf.random_uniform([], maxval=1000, dtype=tf.int32, seed=3))
    return _elements(tf, tf.data.Dataset.zip((sums, drawn)), 4)


@program("D6: a map that captures a placeholder and a variable")
def captures(tf: Any) -> Outcome:
    added, factor = tf.placeholder(tf.float32, [], name="added"), tf.Variable(3.0, name="factor")
    data = tf.data.Dataset.range(3).map(lambda v: tf.cast(v, tf.float32) * factor + added)
    iterator = tf.data.make_initializable_iterator(data, shared_name="numbers")
    element = iterator.get_next(name="element")
    begin = Run([iterator.initializer], feeds={added: 0.5})
    return runs(Run([tf.global_variables_initializer()]), begin, Run([element]), Run([element]), names=[element.name])


@program("D6: the four kinds of iterators")
def iterators(tf: Any) -> Outcome:
    data = tf.data.Dataset
    one = tf.data.make_one_shot_iterator(data.range(3).map(lambda v: v + tf.constant(10, tf.int64)))
    again = tf.data.Iterator.from_structure(tf.int64, [])
    begins = [again.make_initializer(data.range(n), name=f"begin_{n}") for n in (2, 5)]
    handle = tf.placeholder(tf.string, [], name="handle")
    fed = tf.data.Iterator.from_string_handle(handle, tf.int64, [])
    values = [one.get_next(), again.get_next(), fed.get_next()]
    steps = [Run([begins[0]]), Run(values[:2]), Run(values[:2]), Run([begins[1]]), Run(values[:2])]
    return runs(*steps, names=[v.name for v in values], texts=[one.string_handle().name, fed.string_handle("named").name])


@program("D6: lines, TFRecords and records of one length")
def files(tf: Any) -> Outcome:
    data = tf.data
    lines = data.TextLineDataset(["a.txt", "b.txt"]).skip(1)
    records = data.TFRecordDataset(tf.placeholder(tf.string, [None]), compression_type="GZIP")
    fixed = data.FixedLengthRecordDataset("c.bin", 5, header_bytes=2)
    iterator = data.make_initializable_iterator(data.Dataset.zip((lines, records, fixed)))
    return runs(names=[part.name for part in iterator.get_next()])
