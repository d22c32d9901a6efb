"""tf.data.Dataset of sparse tensors and of structures, states that are structures, generators."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden.programs.registry import Outcome, Run, program, runs


def fetched(tf: Any, dataset: Any, count: int, *more: Run, **facts: Any) -> Outcome:
    """Runs that take `count` elements from an initializable iterator."""
    iterator = tf.data.make_initializable_iterator(dataset)
    parts = leaves(iterator.get_next())
    return runs(Run([iterator.initializer]), *(Run(parts) for _ in range(count)), *more, **facts)


def leaves(element: Any) -> list[Any]:
    """The tensors of an element, three for a sparse one."""
    if isinstance(element, dict):
        return [leaf for key in sorted(element) for leaf in leaves(element[key])]
    if isinstance(element, tuple):
        return [leaf for part in element for leaf in leaves(part)]
    if hasattr(element, "dense_shape"):
        return [element.indices, element.values, element.dense_shape]
    return [element]


def _sparse(tf: Any, rows: int = 4) -> Any:
    places = [[0, 0], [1, 2], [2, 1], [2, 2], [3, 0]]
    return tf.SparseTensor(places, [1.0, 2.0, 3.0, 4.0, 5.0], [rows, 3])


@program("D6: a sparse tensor as one element")
def sparse_whole(tf: Any) -> Outcome:
    data = tf.data.Dataset.from_tensors(_sparse(tf)).repeat(2).batch(2)
    return fetched(tf, data, 1, classes=str([data.output_types, data.output_shapes]))


@program("D6: slices of a sparse tensor, mapped and in batches")
def sparse_slices(tf: Any) -> Outcome:
    data = tf.data.Dataset.from_tensor_slices((_sparse(tf), np.arange(4)))
    data = data.map(lambda s, i: (tf.SparseTensor(s.indices, s.values * 2.0, s.dense_shape), i + 1)).batch(3)
    return fetched(tf, data, 2)


@program("D6: sparse tensors through filter, flat_map and zip")
def sparse_chain(tf: Any) -> Outcome:
    data = tf.data.Dataset.from_tensor_slices(_sparse(tf))
    data = data.batch(2).flat_map(tf.data.Dataset.from_tensor_slices).filter(lambda s: tf.reduce_sum(s.values) > 1.5)
    return fetched(tf, tf.data.Dataset.zip((data, {"n": tf.data.Dataset.range(9)})), 3)


@program("D6: a window of structures of sparse and dense parts")
def windows(tf: Any) -> Outcome:
    data = tf.data.Dataset.from_tensor_slices({"s": _sparse(tf), "d": np.arange(4)}).window(2)
    data = data.flat_map(lambda w: tf.data.Dataset.zip((w["d"], w["s"].batch(2))))
    return fetched(tf, data, 2)


@program("D6: reduce and scan with structures")
def states(tf: Any) -> Outcome:
    data = tf.data.Dataset.range(5)
    total = data.reduce({"a": np.int64(0), "b": np.float32(1.0)}, lambda s, v: {"a": s["a"] + v, "b": s["b"] * 2.0})
    scanned = data.apply(tf.data.experimental.scan((np.int64(1), 0.5), lambda s, v: ((s[0] + v, s[1] * 2.0), (s[1], v))))
    return fetched(tf, scanned, 3, Run([total["a"], total["b"]]))


@program("D6: from_generator")
def generated(tf: Any) -> Outcome:
    def rows(count: Any) -> Any:
        for number in range(count):
            yield number, {"text": "x" * number, "row": [1.5] * number}

    types = (tf.int64, {"text": tf.string, "row": tf.float32})
    data = tf.data.Dataset.from_generator(rows, types, ([], {"text": [], "row": [None]}), args=(3,)).repeat(2)
    plain = tf.data.Dataset.from_generator(lambda: range(9), tf.int32)
    return fetched(tf, tf.data.Dataset.zip((data, plain)), 5)
