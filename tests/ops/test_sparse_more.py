"""Rows of the reductions, the element-wise ops and the splitting of sparse tensors, and of edit distances."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InternalError, InvalidArgumentError
from tfexp.ops.sparse import sparse_reshape
from tfexp.ops.sparse_values import sparse_merge

I = np.int64([[0, 1], [1, 0], [1, 2]])  # noqa: E741
TWICE = np.concatenate([I, I[:1]])
OTHER = np.int64([[0, 1], [2, 3]])
DIMS = np.int64([3, 4])
NUMBERS = ["float32", "float64", "int32", "complex64", "float16", "bfloat16"]
REAL = ["float32", "float64", "int32", "float16", "bfloat16"]


def dense(indices, values, dims):
    result = np.zeros(tuple(dims), values.dtype)
    for index, value in zip(indices, values, strict=True):
        result[tuple(index)] += value
    return result


def reduced(function, indices, values, dims, axes, keep):
    """{place along the axes that stay: reduced value}, by a plain loop."""
    rank = len(dims)
    gone = {int(a) % rank for a in np.ravel(axes)}
    groups = {}
    for index, value in zip(indices.tolist(), values, strict=True):
        place = tuple(0 if d in gone else c for d, c in enumerate(index) if keep or d not in gone)
        groups[place] = function(groups[place], value) if place in groups else value
    shape = [1 if d in gone else int(n) for d, n in enumerate(dims) if keep or d not in gone]
    return groups, shape


def reduced_dense(function, keep):
    def reference(indices, values, dims, axes):
        groups, shape = reduced(function, indices, values, dims, axes, keep)
        result = np.zeros(shape, values.dtype)
        for place, value in groups.items():
            result[place] = value
        return result

    return reference


def reduced_sparse(function, keep):
    def reference(indices, values, dims, axes):
        groups, shape = reduced(function, indices, values, dims, axes, keep)
        places = sorted(groups)
        found = np.array([groups[p] for p in places], values.dtype)
        return np.array(places, np.int64).reshape(len(places), len(shape)), found, np.int64(shape)

    return reference


def softmax(indices, values, dims):
    wide = values.astype(np.float64)
    prefixes = [tuple(index[:-1]) for index in indices.tolist()]
    sums = {p: sum(np.exp(w) for q, w in zip(prefixes, wide, strict=True) if q == p) for p in prefixes}
    return np.array([np.exp(w) / sums[p] for p, w in zip(prefixes, wide, strict=True)]).astype(values.dtype)


def met(indices, dense_side, dims):
    whole = np.broadcast_to(dense_side, tuple(dims))
    return np.array([whole[tuple(i)] for i in indices], dense_side.dtype)


def pairs(function):
    def reference(a, x, dims, b, y, dims_b):
        places = sorted({tuple(map(int, i)) for i in [*a, *b]})
        ours, theirs = dense(a, x, dims), dense(b, y, dims)
        return np.int64(places), np.array([function(ours[p], theirs[p]) for p in places], x.dtype)

    return reference


CASES = [
    OpCase(
        op,
        [TWICE, (4,), DIMS, np.int32(axes)],
        (reduced_dense if op in ("SparseReduceSum", "SparseReduceMax") else reduced_sparse)(function, keep),
        attrs={"keep_dims": keep},
        dtypes=dtypes,
        label=f"{axes} {keep}",
        gradient=None if op == "SparseReduceSum" else (),
        static_shape=None if op in ("SparseReduceSum", "SparseReduceMax") else [None] * 3,
        errors=[
            Error(
                [I, (3,), DIMS, np.int32([2])], InvalidArgumentError, "Invalid reduction dimension 2, for input with 2 dim"
            ),
            Error([np.int64([[0, 9]]), (1,), DIMS, np.int32([])], InternalError, "is outside of [3,4]"),
        ],
    )
    for op, function, dtypes in (
        ("SparseReduceSum", np.add, ["float32", "float64", "int32", "complex64"]),
        ("SparseReduceMax", np.maximum, REAL),
        ("SparseReduceSumSparse", np.add, ["float32", "float64", "int32", "complex64"]),
        ("SparseReduceMaxSparse", np.maximum, REAL),
    )
    for axes, keep in (([1], False), ([-2], True), ([0, 1], False), ([], False))
]
CASES += [
    *[
        OpCase(
            f"SparseDenseCwise{name}",
            [TWICE, (4,), DIMS, shape],
            lambda i, v, s, d, function=function: function(v, met(i, d, s)).astype(v.dtype),
            dtypes=["float32", "float64", "complex64", "float16", "bfloat16"] if name == "Div" else NUMBERS,
            low=0.5,
            label=f"{shape}",
            # The gradient of a sum is not defined; that for a dense scalar fails in TensorFlow too.
            gradient=() if name == "Add" else None,
            refuses=NotImplementedError if name == "Add" else None,
            errors=[
                Error([I, (3,), DIMS, (3, 5)], InvalidArgumentError, "got incompatible shapes: [3,4] vs. [3,5]"),
                Error([I, (3,), DIMS, (1, 3, 4)], InvalidArgumentError, "got incompatible shapes: [3,4] vs. [1,3,4]"),
                Error([np.int64([[0, 9]]), (1,), DIMS, (3, 4)], InvalidArgumentError, "indices[0] = [0,9]"),
            ],
        )
        for name, function in (("Add", np.add), ("Mul", np.multiply), ("Div", np.divide))
        for shape in ((3, 4), (3, 1), (4,))
    ],
    *[
        OpCase(
            f"SparseSparse{name}",
            [I, (3,), DIMS, OTHER, (2,), DIMS],
            pairs(function),
            dtypes=REAL,
            gradient=(),
            static_shape=[[None, None], [None]],
            errors=[
                Error(
                    [I, (3,), DIMS, OTHER, (2,), np.int64([3, 5])],
                    InvalidArgumentError,
                    "Operands' shapes do not match: got 4 and 5 for dimension 1",
                )
            ],
        )
        for name, function in (("Maximum", max), ("Minimum", min))
    ],
]


def levenshtein(a, b):
    costs = list(range(len(b) + 1))
    for i, x in enumerate(a):
        previous, costs = costs, [i + 1]
        for j, y in enumerate(b):
            costs.append(min(previous[j + 1] + 1, costs[j] + 1, previous[j] + (x != y)))
    return costs[-1]


def distances(normalize):
    def reference(i, v, dims, j, w, dims_b):
        shape = tuple(np.maximum(dims, dims_b)[:-1])
        result = np.zeros(shape, np.float32)
        for place in itertools.product(*map(range, shape)):
            ours, theirs = ([y for x, y in zip(p, q, strict=True) if tuple(x[:-1]) == place] for p, q in ((i, v), (j, w)))
            count = levenshtein(ours, theirs)
            if normalize:
                count = np.float32(count) / np.float32(len(theirs)) if count else 0
            result[place] = count
        return result

    return reference


def test_merging_and_its_errors() -> None:
    with tf.Graph().as_default():
        x = tf.SparseTensor(I, [1.0, 2.0, 3.0], DIMS)
        for ids, sizes, kind, text in (
            ([x], [5, 6], ValueError, "sp_ids and vocab_size have to have equal lengths"),
            (3, 5, TypeError, "sp_ids has to be a SparseTensor or list thereof"),
            (x, [5], TypeError, "vocab_size has to be a Tensor or Python int"),
        ):
            with pytest.raises(kind, match=text):
                sparse_merge(ids, x, sizes)
        with pytest.raises(ValueError, match="At most one dimension can be inferred"):
            sparse_reshape(x, [-1, -1])


OURS = np.int64([[0, 0], [0, 1], [0, 2], [0, 3], [1, 0], [1, 1], [4, 0]])
THEIRS = np.int64([[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2], [2, 0]])
CASES += [
    OpCase(
        "EditDistance",
        [OURS, (7,), np.int64([5, 4]), THEIRS, (7,), np.int64([3, 5])],
        distances(normalize),
        attrs={"normalize": normalize},
        dtypes=["int32", "string", "float32", "bool"],
        gradient=(),
        static_shape=[None],
        label=str(normalize),
        errors=[
            Error(
                [OURS, (7,), np.int64([5, 4]), np.int64([[0]]), (1,), np.int64([3])],
                InvalidArgumentError,
                "Expected matching hypothesis and truth ranks, got [5,4] and [3]",
            ),
            Error(
                [np.int64([[9, 0]]), (1,), np.int64([5, 4]), THEIRS, (7,), np.int64([3, 5])],
                InvalidArgumentError,
                "hypothesis_indices[0] = [9,0] is outside of [5] sequences",
            ),
            Error(
                [OURS, (6,), np.int64([5, 4]), THEIRS, (7,), np.int64([3, 5])],
                ValueError,
                "Number of elements in index (7) and values (6) do not match.",
            ),
            Error(
                [OURS, (7,), np.int64([5, 4]), THEIRS, (7,), np.int64([3, 5, 2])],
                ValueError,
                "Index rank (2) and shape rank (3) do not match.",
            ),
        ],
    )
    for normalize in (True, False)
]
test_rows = op_tests(CASES)


def test_a_variable_is_read_where_it_is_the_values() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.SparseTensor([[0, 0]], tf.Variable([1.0], use_resource=False), [2, 3])
        assert (x.values.name, x.dtype) == ("Variable/read:0", tf.float32)
        session.run(tf.global_variables_initializer())
        assert session.run(tf.sparse_tensor_to_dense(x)).tolist() == [[1, 0, 0], [0, 0, 0]]


def test_a_reshaped_tensor_has_a_known_shape_only_where_its_old_one_is_known() -> None:
    with tf.Graph().as_default():
        indices, values = tf.placeholder(tf.int64, [None, 2]), tf.placeholder(tf.float32, [None])
        fed = tf.SparseTensor(indices, values, tf.placeholder(tf.int64, [2]))
        assert sparse_reshape(fed, [3, 2]).dense_shape.op.type == "SparseReshape"
        known = tf.SparseTensor(indices, values, [2, 3])
        assert sparse_reshape(known, [3, -1]).get_shape().as_list() == [3, 2]
