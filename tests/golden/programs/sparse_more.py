"""Sparse tensors: products with matrices, and sparse embeddings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.golden.programs.registry import Outcome, Run, register, runs, values

SOURCE = "O2"
INDICES = [[0, 1], [1, 0], [1, 2]]

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "matmul_alias": lambda tf, x, w: tf.sparse.sparse_dense_matmul(x, w),
    "embeddings_weighted": lambda tf, x, w: tf.nn.embedding_lookup_sparse(w, _ids(tf), x, combiner="sum"),
    "embeddings_weighted_mean": lambda tf, x, w: tf.nn.embedding_lookup_sparse(w, _ids(tf), x, combiner="mean"),
    "embeddings_weighted_sqrtn": lambda tf, x, w: tf.nn.embedding_lookup_sparse(w, _ids(tf), x, combiner="sqrtn"),
}
# Embeddings: of their gradients' shapes TensorFlow knows more (test_embedding_sparse.py).
WITHOUT_GRADIENTS = ("embeddings",)


def _sparse(tf: Any, indices: Any, elements: Any, dims: Any) -> Any:
    return tf.SparseTensor(tf.constant(indices, tf.int64), tf.constant(elements), tf.constant(dims, tf.int64))


def _ids(tf: Any) -> Any:
    return tf.SparseTensor(tf.constant(INDICES, tf.int64), tf.constant([1, 2, 0], tf.int64), tf.constant([3, 4], tf.int64))


def _parts(tf: Any, x: Any) -> list[Any]:
    return [x.indices, x.values, x.dense_shape] if isinstance(x, tf.SparseTensor) else [x]


def _build(tf: Any, name: str, function: Callable[..., Any]) -> Outcome:
    elements = tf.constant([1.0, 2.0, 3.0], name="elements")
    w = tf.constant(values("spar", 4, 5), name="w")
    y = function(tf, tf.SparseTensor(tf.constant(INDICES, tf.int64), elements, tf.constant([3, 4], tf.int64)), w)
    known = y.get_shape().as_list() if y.get_shape().ndims is not None else None
    gradients = []
    if not name.startswith(WITHOUT_GRADIENTS):
        target = y.values if isinstance(y, tf.SparseTensor) else y
        gradients = [g for g in tf.gradients(target, [elements, w]) if g is not None]
    return runs(Run([*_parts(tf, y), *gradients]), shape=known, gradients=len(gradients))


for _name, _function in FUNCTIONS.items():
    register("sparse_more", _name, SOURCE, lambda tf, n=_name, f=_function: _build(tf, n, f))
