"""Sums of sparse tensors, and sparse tensors that are merged, reshaped or made of variables."""

from __future__ import annotations

import numpy as np

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InternalError, InvalidArgumentError
from tfexp.ops.sparse import sparse_reshape

I = np.int64([[0, 1], [1, 0], [1, 2]])  # noqa: E741
TWICE = np.concatenate([I, I[:1]])
DIMS = np.int64([3, 4])


def sums(indices, values, dims, axes, keep):
    """{place along the axes that stay: sum of its values}, by a plain loop."""
    rank = len(dims)
    gone = {int(a) % rank for a in np.ravel(axes)}
    groups = {}
    for index, value in zip(indices.tolist(), values, strict=True):
        place = tuple(0 if d in gone else c for d, c in enumerate(index) if keep or d not in gone)
        groups[place] = groups[place] + value if place in groups else value
    shape = [1 if d in gone else int(n) for d, n in enumerate(dims) if keep or d not in gone]
    return groups, shape


def summed(keep):
    def reference(indices, values, dims, axes):
        groups, shape = sums(indices, values, dims, axes, keep)
        result = np.zeros(shape, values.dtype)
        for place, value in groups.items():
            result[place] = value
        return result

    return reference


CASES = [
    OpCase(
        "SparseReduceSum",
        [TWICE, (4,), DIMS, np.int32(axes)],
        summed(keep),
        attrs={"keep_dims": keep},
        dtypes=["float32", "float64", "int32", "complex64"],
        label=f"{axes} {keep}",
        errors=[
            Error(
                [I, (3,), DIMS, np.int32([2])], InvalidArgumentError, "Invalid reduction dimension 2, for input with 2 dim"
            ),
            Error([np.int64([[0, 9]]), (1,), DIMS, np.int32([])], InternalError, "is outside of [3,4]"),
        ],
    )
    for axes, keep in (([1], False), ([-2], True), ([0, 1], False), ([], False))
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
