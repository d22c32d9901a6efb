"""Rows of partitioning and stitching, and of dense tensors made of coordinates."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, Like, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError

ANY = ["float32", "int32", "string"]
I = np.int32  # noqa: E741
STITCHED = [[I([4, 0]), I([[1, 2], [3, 0]])], [(2, 3), (2, 2, 3)]]


def stitch(indices, data):
    result = np.zeros((5, 3), data[0].dtype)
    for index, values in zip(indices, data, strict=True):
        for position in np.ndindex(index.shape):
            result[index[position]] = values[position]
    return result


CASES = [
    OpCase(
        "DynamicPartition",
        [(5, 3), I([2, 0, 2, 0, 0])],
        lambda x, parts: [x[[1, 3, 4]], x[:0], x[[0, 2]]],
        attrs={"num_partitions": 3},
        dtypes=ANY,
        errors=[
            Error([(2, 3), I([0, 3])], InvalidArgumentError, "partitions[1] = 3 is not in [0, 3)"),
            Error([(2, 3), I([0, 1, 2])], ValueError, "Dimensions must be equal, but are 2 and 3"),
            Error([(2, 3), I([0, 1, 2])], InvalidArgumentError, "data.shape must start with partitions.shape"),
        ],
    ),
    # Row 0 comes twice: its first occurrence gets the gradient too, as in TensorFlow, so that no numeric one agrees.
    OpCase("DynamicStitch", STITCHED, stitch, dtypes=["float32", "int32"], numeric=False, static_shape=[(None, 3)]),
    OpCase(
        "DynamicStitch",
        [[I([2, 0]), I([1])], [(2, 3), (1, 3)]],
        lambda indices, data: np.stack([data[0][1], data[1][0], data[0][0]]),
        label="permutation",
        static_shape=[(None, 3)],
        errors=[
            Error([[I([0, 1])], [(3, 2)]], ValueError, "Dimensions must be equal, but are 3 and 2"),
            Error(
                [[I([0, 1]), I([2])], [(2, 3), (1, 5)]], InvalidArgumentError, "data[1].shape must be indices[1].shape + [3]"
            ),
            Error([[I([-2, -3])], [(2, 3)]], InvalidArgumentError, "indices[0] is out of range"),
            Error([[I([0, -1])], [(2, 3)]], InvalidArgumentError, "indices[1] is out of range"),
        ],
    ),
    OpCase("ParallelDynamicStitch", STITCHED, stitch, dtypes=["float32", "int32"], numeric=False, static_shape=[(None, 3)]),
    OpCase(
        "SparseToDense",
        [I([[0, 1], [2, 0]]), I([3, 2]), (2,), Like(7)],
        lambda indices, shape, values, default: np.array([[7, values[0]], [7, 7], [values[1], 7]], values.dtype),
        dtypes=["float32", "int32"],
        errors=[
            Error([I([3, 1]), I([5]), (2,), Like(0)], InvalidArgumentError, "indices[1] = [1] is out of order"),
            Error([I([1, 1]), I([5]), (2,), Like(0)], InvalidArgumentError, "indices[1] = [1] is repeated"),
            Error([I([1, 7]), I([5]), (2,), Like(0)], InvalidArgumentError, "indices[1] = [7] is out of bounds"),
            Error(
                [I([1, 3]), I([5]), (3,), Like(0)],
                InvalidArgumentError,
                "sparse_values has incorrect shape [3], should be [] or [2]",
            ),
        ],
    ),
    OpCase(
        "SparseToDense",
        [np.int64(2), np.array([5]), Like(3), Like(1)],
        lambda indices, shape, values, default: np.array([1, 1, 3, 1, 1], values.dtype),
        label="scalar",
    ),
    OpCase(
        "SparseToDense",
        [np.zeros((0, 0), np.int64), np.zeros(0, np.int64), np.zeros(0, np.int32), Like(7)],
        lambda indices, shape, values, default: default,
        dtypes=["int32"],
        label="without dimensions",
    ),
    OpCase(
        "SparseToDense",
        [I([[2, 1], [0, 1]]), I([3, 2]), (2,), Like(0)],
        lambda indices, shape, values, default: np.array([[0, values[1]], [0, 0], [0, values[0]]], values.dtype),
        dtypes=["float32"],
        attrs={"validate_indices": False},
        label="in any order",
        errors=[
            Error([I([0, 5]), I([5]), (2,), Like(0)], InvalidArgumentError, "not valid (out of bounds).  Shape: [5]"),
            Error([I([-1]), I([5]), (1,), Like(0)], InvalidArgumentError, "not valid (out of bounds).  Shape: [5]"),
        ],
    ),
    OpCase(
        "SparseToDense",
        [np.zeros((2, 0), np.int64), np.zeros(0, np.int64), np.int32([3, 4]), Like(7)],
        lambda indices, shape, values, default: values[1],
        dtypes=["int32"],
        attrs={"validate_indices": False},
        label="without dimensions, twice",
    ),
]
test_rows = op_tests(CASES)


def test_the_gradient_of_dynamic_partition_goes_back_to_the_rows() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(np.ones((5, 2)))
        parts = tf.dynamic_partition(x, [1, 0, 1, 1, 0], 2)
        (grad,) = tf.gradients([parts[0] * 2.0, parts[1] * 3.0], x)
        assert session.run(grad)[:, 0].tolist() == [3, 2, 3, 3, 2]


def test_negative_indices_are_refused_when_the_node_runs() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        stitched = tf.dynamic_stitch([[-2]], [[1.0]])
        assert stitched.shape.as_list() == [1]
        with pytest.raises(InvalidArgumentError, match=r"indices\[0\] is out of range"):
            session.run(stitched)
