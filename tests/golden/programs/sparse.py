"""Sparse tensors: what their functions make of known and unknown shapes, and their gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.golden.programs.registry import Outcome, Run, program, register, runs, values

SOURCE = "O2"
INDICES = [[0, 1], [1, 0], [1, 2]]

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "reorder": lambda tf, x, w: tf.sparse_reorder(x),
    "add": lambda tf, x, w: tf.sparse_add(x, x),
    "add_dense": lambda tf, x, w: tf.sparse_add(x, tf.slice(w, [0, 0], [3, 4])),
    "matmul": lambda tf, x, w: tf.sparse_tensor_dense_matmul(x, w),
    "matmul_adjoint_a": lambda tf, x, w: tf.sparse_tensor_dense_matmul(x, tf.slice(w, [0, 0], [3, 4]), adjoint_a=True),
    "matmul_adjoint_b": lambda tf, x, w: tf.sparse_tensor_dense_matmul(x, tf.transpose(w), adjoint_b=True),
    "matmul_adjoints": lambda tf, x, w: tf.sparse_tensor_dense_matmul(x, tf.slice(w, [0, 0], [4, 3]), True, True),
    "reduce_sum": lambda tf, x, w: tf.sparse_reduce_sum(x, 1),
    "reduce_sum_all": lambda tf, x, w: tf.sparse_reduce_sum(x),
    "reduce_sum_kept": lambda tf, x, w: tf.sparse_reduce_sum(x, [-1], keepdims=True),
    "to_dense": lambda tf, x, w: tf.sparse_tensor_to_dense(x),
}


def _build(tf: Any, function: Callable[..., Any]) -> Outcome:
    elements = tf.constant([1.0, 2.0, 3.0], name="elements")
    w = tf.constant(values("spar", 4, 5), name="w")
    x = tf.SparseTensor(tf.constant(INDICES, tf.int64), elements, tf.constant([3, 4], tf.int64))
    y = function(tf, x, w)
    parts = [y.indices, y.values, y.dense_shape] if isinstance(y, tf.SparseTensor) else [y]
    known = y.get_shape().as_list() if y.get_shape().ndims is not None else None
    target = y.values if isinstance(y, tf.SparseTensor) else y
    gradients = [g for g in tf.gradients(target, [elements, w]) if g is not None]
    return runs(Run([*parts, *gradients]), shape=known, gradients=len(gradients))


for _name, _function in FUNCTIONS.items():
    register("sparse", _name, SOURCE, lambda tf, f=_function: _build(tf, f))


def _sparse(tf: Any, indices: Any, elements: Any, dims: Any) -> Any:
    return tf.SparseTensor(tf.constant(indices, tf.int64), tf.constant(elements), tf.constant(dims, tf.int64))


@program(SOURCE)
def made_of_lists(tf: Any) -> Outcome:
    x = tf.SparseTensor([[0, 1], [2, 0]], [1.5, 2.5], [3, 2])
    y = tf.SparseTensor(indices=[[0, 1]], values=tf.constant(["a"]), dense_shape=[3, 2])
    return runs(Run([x.indices, x.values, x.dense_shape]), shape=x.get_shape().as_list(), dtype=y.dtype.name, text=str(x))


@program(SOURCE)
def placeholders(tf: Any) -> Outcome:
    x = tf.sparse_placeholder(tf.float32, name="x")
    y = tf.sparse_placeholder(tf.float32, [2, 3], name="y")
    fetches = [tf.sparse_tensor_to_dense(x), tf.sparse_reduce_sum(y, 0), tf.sparse_reorder(y).indices]
    feeds = {
        x.indices: [[0, 1]],
        x.values: [2.0],
        x.dense_shape: [2, 2],
        y.indices: [[1, 2], [0, 1]],
        y.values: [3.0, 4.0],
    }
    return runs(Run(fetches, feeds), unknown=x.get_shape().ndims is None, known=y.get_shape().as_list())


@program(SOURCE)
def sums_above_a_threshold(tf: Any) -> Outcome:
    x = _sparse(tf, INDICES, [1.0, float("nan"), 3.0], [3, 4])
    y = _sparse(tf, [[0, 1], [2, 3]], [-1.0, 0.5], [3, 4])
    sums = [tf.sparse_add(x, y), tf.sparse_add(x, y, 1.0)]
    return runs(Run([part for z in sums for part in (z.indices, z.values, z.dense_shape)]))
