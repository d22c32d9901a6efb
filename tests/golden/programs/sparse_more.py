"""Sparse tensors: reductions, element-wise ops, splitting, other shapes, identity, merging, and sparse embeddings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.golden.programs.registry import Outcome, Run, program, raised, register, runs, values

SOURCE = "O2"
INDICES = [[0, 1], [1, 0], [1, 2]]

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "reduce_max": lambda tf, x, w: tf.sparse_reduce_max(x, 1),
    "reduce_max_kept": lambda tf, x, w: tf.sparse_reduce_max(x, keepdims=True),
    "reduce_sum_sparse": lambda tf, x, w: tf.sparse_reduce_sum_sparse(x, 1),
    "reduce_sum_sparse_all": lambda tf, x, w: tf.sparse_reduce_sum_sparse(x),
    "reduce_max_sparse": lambda tf, x, w: tf.sparse_reduce_max_sparse(x, 0, keepdims=True),
    "softmax": lambda tf, x, w: tf.sparse_softmax(x),
    "maximum": lambda tf, x, w: tf.sparse_maximum(x, _other(tf)),
    "minimum": lambda tf, x, w: tf.sparse_minimum(x, _other(tf)),
    "times": lambda tf, x, w: x * tf.slice(w, [0, 0], [3, 4]),
    "times_column": lambda tf, x, w: x * tf.slice(w, [0, 0], [3, 1]),
    "times_scalar": lambda tf, x, w: x * 2.0,
    "over": lambda tf, x, w: x / tf.slice(w, [0, 0], [1, 4]),
    "over_row": lambda tf, x, w: x / w[0, :4],
    "reset_shape": lambda tf, x, w: tf.sparse_reset_shape(x),
    "reset_shape_given": lambda tf, x, w: tf.sparse_reset_shape(x, [5, 5]),
    "expand_dims": lambda tf, x, w: tf.sparse.expand_dims(x, 1),
    "expand_dims_last": lambda tf, x, w: tf.sparse.expand_dims(x),
    "merge": lambda tf, x, w: tf.sparse_merge(_ids(tf), x, 5),
    "merge_sorted": lambda tf, x, w: tf.sparse_merge(_ids(tf), x, 5, already_sorted=True),
    "merge_list": lambda tf, x, w: tf.sparse_merge([_ids(tf), _ids(tf)], x, [5, 6]),
    "matmul_alias": lambda tf, x, w: tf.sparse.sparse_dense_matmul(x, w),
    "embeddings_weighted": lambda tf, x, w: tf.nn.embedding_lookup_sparse(w, _ids(tf), x, combiner="sum"),
    "embeddings_weighted_mean": lambda tf, x, w: tf.nn.embedding_lookup_sparse(w, _ids(tf), x, combiner="mean"),
    "embeddings_weighted_sqrtn": lambda tf, x, w: tf.nn.embedding_lookup_sparse(w, _ids(tf), x, combiner="sqrtn"),
    "embeddings_safe": lambda tf, x, w: tf.nn.safe_embedding_lookup_sparse(w, _ids(tf), x, default_id=1),
    "embeddings_safe_sum": lambda tf, x, w: tf.nn.safe_embedding_lookup_sparse(w, _ids(tf), x, combiner="sum"),
}
# Those of embeddings are in tests/ops/test_embedding_sparse.py: TensorFlow knows more of their shapes.
# What is not differentiable, and embeddings: of their gradients' shapes TensorFlow knows more (test_embedding_sparse.py).
WITHOUT_GRADIENTS = ("reduce_max", "reduce_sum_sparse", "maximum", "minimum", "times_scalar", "embeddings")


def _sparse(tf: Any, indices: Any, elements: Any, dims: Any) -> Any:
    return tf.SparseTensor(tf.constant(indices, tf.int64), tf.constant(elements), tf.constant(dims, tf.int64))


def _other(tf: Any) -> Any:
    return _sparse(tf, [[0, 1], [2, 2]], [-1.0, 5.0], [3, 4])


def _ids(tf: Any) -> Any:
    return tf.SparseTensor(tf.constant(INDICES, tf.int64), tf.constant([1, 2, 0], tf.int64), tf.constant([3, 4], tf.int64))


def _parts(tf: Any, x: Any) -> list[Any]:
    return [x.indices, x.values, x.dense_shape] if isinstance(x, tf.SparseTensor) else [x]


def _build(tf: Any, name: str, function: Callable[..., Any]) -> Outcome:
    elements = tf.constant([1.0, 2.0, 3.0], name="elements")
    w = tf.constant(values("spar", 4, 5), name="w")
    y = function(tf, tf.SparseTensor(tf.constant(INDICES, tf.int64), elements, tf.constant([3, 4], tf.int64)), w)
    known = y.get_shape().as_list() if y.get_shape().ndims is not None else None
    if name.startswith("expand_dims"):
        known = None  # TensorFlow knows less
    gradients = []
    if not name.startswith(WITHOUT_GRADIENTS):
        target = y.values if isinstance(y, tf.SparseTensor) else y
        gradients = [g for g in tf.gradients(target, [elements, w]) if g is not None]
    return runs(Run([*_parts(tf, y), *gradients]), shape=known, gradients=len(gradients))


for _name, _function in FUNCTIONS.items():
    register("sparse_more", _name, SOURCE, lambda tf, n=_name, f=_function: _build(tf, n, f))


@program(SOURCE)
def identities(tf: Any) -> Outcome:
    made = [tf.sparse.eye(3, 4), tf.sparse.eye(3, dtype=tf.int32, name="e")]
    return runs(Run([part for x in made for part in _parts(tf, x)]), shapes=[x.get_shape().as_list() for x in made])


@program(SOURCE)
def indicators(tf: Any) -> Outcome:
    return runs(Run(tf.sparse_to_indicator(_ids(tf), 5)))


@program(SOURCE)
def integers_over_integers(tf: Any) -> Outcome:
    x = _sparse(tf, INDICES, [3, -7, 9], [3, 4])
    y, z = x / tf.constant(2), x.__div__(tf.constant([2, 3, -2, 1]))
    return runs(Run([y.values, z.values]))


@program(SOURCE)
def shapes_known_in_the_run(tf: Any) -> Outcome:
    x = tf.sparse_placeholder(tf.float32, name="x")
    shape = tf.placeholder(tf.int64, [None], name="shape")
    y = tf.sparse_reset_shape(x, shape)
    feeds = {x.indices: [[0, 1]], x.values: [2.0], x.dense_shape: [2, 2], shape: [2, 7]}
    bad = raised(lambda: tf.sparse_reset_shape(_sparse(tf, INDICES, [1.0, 2.0, 3.0], [3, 4]), [1, 1]))
    return runs(Run([*_parts(tf, y), tf.sparse_reduce_max(x)], feeds), bad=bad)


@program(SOURCE)
def distances(tf: Any) -> Outcome:
    ours = _sparse(tf, [[0, 0, 0], [1, 0, 0], [1, 0, 1]], ["a", "b", "c"], [2, 1, 2])
    theirs = _sparse(tf, [[0, 1, 0], [1, 0, 0], [1, 0, 1], [1, 1, 0]], ["a", "b", "c", "a"], [2, 2, 2])
    x = _sparse(tf, [[0, 0], [0, 1], [0, 2], [0, 3], [1, 0], [1, 1]], [1, 2, 3, 4, 1, 2], [2, 4])
    y = _sparse(tf, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]], [2, 3, 5, 2, 1, 2], [2, 3])
    found = [tf.edit_distance(ours, theirs), tf.edit_distance(ours, theirs, normalize=False), tf.edit_distance(x, y)]
    return runs(Run(found), bad=raised(lambda: tf.edit_distance(3, x)))


@program(SOURCE)
def products_of_matrices_with_many_zeros(tf: Any) -> Outcome:
    a, b = tf.constant(values("spma", 3, 5), name="a"), tf.constant(values("spmb", 5, 2), name="b")
    plain = tf.sparse_matmul(a, tf.nn.relu(b), b_is_sparse=True)
    turned = tf.sparse_matmul(tf.transpose(a), tf.transpose(b), transpose_a=True, transpose_b=True)
    mixed = tf.sparse_matmul(tf.cast(a, tf.bfloat16), b, a_is_sparse=True)
    gradients = tf.gradients([plain, turned], [a, b])
    behind_relu = tf.gradients(tf.nn.relu(tf.sparse_matmul(a, b, a_is_sparse=True)), [a, b])
    return runs(Run([plain, mixed, *gradients, *behind_relu], rtol=1e-3))
