"""Sparse tensors that are stored: serialized, in the maps behind the queues of `tf.train.batch`; and sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.golden.programs.registry import Outcome, Run, program, register, runs

SOURCE = "O2"
INDICES = [[0, 1], [1, 0], [1, 2]]


def _sparse(tf: Any, indices: Any, elements: Any, dims: Any) -> Any:
    return tf.SparseTensor(tf.constant(indices, tf.int64), tf.constant(elements), tf.constant(dims, tf.int64))


def _parts(*tensors: Any) -> list[Any]:
    return [part for x in tensors for part in (x.indices, x.values, x.dense_shape)]


@program(SOURCE)
def in_a_map(tf: Any) -> Outcome:
    x = _sparse(tf, INDICES, [1.0, 2.0, 3.0], [3, 4])
    add, take = tf.raw_ops.AddManySparseToTensorsMap, tf.raw_ops.TakeManySparseFromTensorsMap
    numbers = add(sparse_indices=x.indices, sparse_values=x.values, sparse_shape=x.dense_shape, shared_name="m")
    return runs(Run(list(take(sparse_handles=numbers, dtype=tf.float32, shared_name="m"))))


def _row(tf: Any) -> Any:
    return _sparse(tf, [[0], [2]], [1.0, 2.0], [4])


BATCHES: dict[str, Callable[..., Any]] = {
    "batch": lambda tf, x: tf.train.batch([_row(tf), tf.constant(3)], 2),
    "batch_dict": lambda tf, x: tf.train.batch({"x": _row(tf), "y": tf.constant(3)}, 2)["x"],
    "batch_one": lambda tf, x: tf.train.batch([_row(tf)], 2),
    "batch_many": lambda tf, x: tf.train.batch([x, tf.constant([3, 4, 5])], 2, enqueue_many=True),
    "batch_join": lambda tf, x: tf.train.batch_join([[_row(tf)], [_row(tf)]], 2),
    "shuffle_batch": lambda tf, x: tf.train.shuffle_batch([x, tf.constant([3, 4, 5])], 2, 20, 4, enqueue_many=True),
    "maybe_batch": lambda tf, x: tf.train.maybe_batch([_row(tf), tf.constant(3)], True, 2),
}


def _batch(tf: Any, make: Callable[..., Any]) -> Outcome:
    made = make(tf, _sparse(tf, INDICES, [1.0, 2.0, 3.0], [3, 4]))
    batch = made[0] if isinstance(made, list) else made
    return runs(names=[part.name for part in _parts(batch)], shape=batch.get_shape().as_list())


for _name, _make in BATCHES.items():
    register("sparse_stored", _name, SOURCE, lambda tf, m=_make: _batch(tf, m))
