"""Rows of the sparse ops, and what sparse tensors are in a session."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError

I = np.int64([[0, 1], [1, 0], [1, 2]])  # noqa: E741
OTHER = np.int64([[0, 1], [2, 3]])
DIMS = np.int64([3, 4])
NUMBERS = ["float32", "float64", "int32", "complex64", "float16", "bfloat16"]


def dense(indices, values, dims):
    result = np.zeros(tuple(dims), values.dtype)
    for index, value in zip(indices, values, strict=True):
        result[tuple(index)] += value
    return result


def summed(a, x, dims, b, y, dims_b, thresh):
    places = sorted({tuple(map(int, i)) for i in [*a, *b]})
    total = dense(a, x, dims) + dense(b, y, dims)
    return np.int64(places), np.array([total[p] for p in places], x.dtype), dims


def product(indices, values, dims, b):
    return dense(indices, values, dims) @ b


MISMATCH = "Number of elements in indices (3) and values (2) do not match"
CASES = [
    OpCase(
        "SparseReorder",
        [I[[2, 0, 1]], (3,), DIMS],
        lambda i, v, s: (I, v[[1, 2, 0]]),
        dtypes=[*NUMBERS, "string"],
        errors=[
            Error([I, (2,), DIMS], InvalidArgumentError, MISMATCH),
            Error([I[0], (3,), DIMS], ValueError, "Shape must be rank 2 but is rank 1"),
        ],
    ),
    OpCase(
        "SparseReshape",
        [np.zeros((3, 0), np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64)],
        [np.zeros((3, 0), np.int64), np.zeros(0, np.int64)],
        label="scalar",
    ),
    OpCase(
        "SparseReshape",
        [I, DIMS, np.int64([2, -1])],
        lambda i, s, n: (np.int64([[0, 1], [0, 4], [1, 0]]), np.int64([2, 6])),
        errors=[
            Error([I, DIMS, np.int64([5, 3])], InvalidArgumentError, "with 12 dense values, but the requested shape has 15"),
            Error([I, DIMS, np.int64([5, -1])], InvalidArgumentError, "the requested shape requires a multiple of 5"),
            Error([I[0], DIMS, DIMS], InvalidArgumentError, "Input indices should be a matrix but received shape [2]"),
            Error([I, DIMS[:, None], DIMS], InvalidArgumentError, "Input shape should be a vector but received shape [2,1]"),
            Error([I, DIMS, DIMS[None]], InvalidArgumentError, "Target shape should be a vector but received shape [1,2]"),
            Error([I[:, :1], DIMS, DIMS], InvalidArgumentError, "Input tensor rank must match input shape length."),
            Error(
                [I, DIMS, np.int64([-1, -1])], InvalidArgumentError, "only one output dimension may be -1, not both 0 and 1"
            ),
            Error([I, DIMS, np.int64([-2, 6])], InvalidArgumentError, "size 0 must be non-negative, not -2"),
            Error([I, np.int64([2, 2]), np.int64([4])], InvalidArgumentError, "is out of bounds"),
            Error([I, DIMS, np.int64([5, 3])], ValueError, "Cannot reshape a tensor with 12 elements", constants=True),
        ],
    ),
    OpCase(
        "SparseConcat",
        [[I, OTHER], [(3,), (2,)], [DIMS, np.int64([3, 4])]],
        lambda i, v, s: (
            np.int64([[0, 1], [0, 5], [1, 0], [1, 2], [2, 7]]),
            np.concatenate(v)[[0, 3, 1, 2, 4]],
            np.int64([3, 8]),
        ),
        attrs={"concat_dim": -1},
        dtypes=[*NUMBERS, "string"],
        gradient=(),
        static_shape=[[5, 2], [5], [2]],
        errors=[
            Error(
                [[I, OTHER], [(3,), (2,)], [DIMS, np.int64([5, 4])]],
                InvalidArgumentError,
                "Input shapes must match: expected 3 for dimension 0 but got 5 at position 1",
            ),
            Error(
                [[I, OTHER], [(3,), (2,)], [DIMS, DIMS]],
                InvalidArgumentError,
                "Concat dimension must be in range [-2, 2), got 5",
                attrs={"concat_dim": 5},
            ),
        ],
    ),
    OpCase(
        "SparseAdd",
        [I, (3,), DIMS, OTHER, (2,), DIMS, np.float64(0)],
        summed,
        dtypes=["float64"],
        second=False,
        errors=[
            Error(
                [I, (3,), DIMS, OTHER, (2,), np.int64([3, 5]), np.float64(0)],
                InvalidArgumentError,
                "Operands' shapes do not match: got 4 and 5 for dimension 1",
            ),
            Error(
                [I, (2,), DIMS, OTHER, (2,), DIMS, np.float64(0)],
                InvalidArgumentError,
                "Expected 3 and 2 non-empty input values, got 2 and 2",
            ),
        ],
    ),
    OpCase(
        "SparseAddGrad",
        [(2,), I, np.int64([[2, 2]]), np.int64([[1, 0], [2, 2]])],
        lambda g, a, b, s: (np.array([0, g[0], 0], g.dtype), g[1:]),
        dtypes=NUMBERS,
        gradient=(),
        errors=[Error([(2,), I, I, I], InvalidArgumentError, "(#nnz of sum): got 2 and 3")],
    ),
    OpCase(
        "SparseTensorDenseAdd",
        [np.concatenate([I, I[:1]]), (4,), DIMS, (3, 4)],
        lambda i, v, s, b: (dense(i, v, s) + b).astype(b.dtype),
        dtypes=NUMBERS,
        errors=[
            Error(
                [I, (3,), DIMS, (3, 5)],
                InvalidArgumentError,
                "Dimension 1 does not equal (no broadcasting is supported): sparse side 4 vs dense side 5",
            ),
            Error([I, (3,), DIMS, (3,)], InvalidArgumentError, "Two operands have different ranks; received: 2 and 1"),
            Error(
                [np.int64([[0, 9]]), (1,), DIMS, (3, 4)],
                InvalidArgumentError,
                "invalid index on dimension 1: a_indices(0,1) = 9, dense tensor shape: 3 4",
            ),
        ],
    ),
    OpCase(
        "SparseTensorDenseMatMul",
        [I, (3,), DIMS, (4, 5)],
        product,
        dtypes=NUMBERS,
        static_shape=[[None, 5]],
        errors=[
            Error(
                [np.int64([[0, 9]]), (1,), DIMS, (4, 5)], InvalidArgumentError, "k (9) from index[0,1] out of bounds (>=4)"
            ),
            Error(
                [np.int64([[7, 1]]), (1,), DIMS, (4, 5)], InvalidArgumentError, "m (7) from index[0,0] out of bounds (>=3)"
            ),
            Error([I, (3,), DIMS, (5, 2)], InvalidArgumentError, "inner dimension does not match: 4 vs. 5."),
            Error([I, (3,), np.int64([3, 4, 5]), (5, 2)], InvalidArgumentError, "Tensor 'a_shape' must have 2 elements"),
            Error([I, (3,), DIMS, (4,)], InvalidArgumentError, "Tensor 'b' is not a matrix"),
        ],
    ),
]
CASES += [
    OpCase(
        "SparseTensorDenseMatMul",
        [I, (3,), DIMS, shape],
        lambda i, v, s, b, adjoint_a=adjoint_a, adjoint_b=adjoint_b: (
            (dense(i, v, s).conj().T if adjoint_a else dense(i, v, s)) @ (b.conj().T if adjoint_b else b)
        ),
        attrs={"adjoint_a": adjoint_a, "adjoint_b": adjoint_b},
        dtypes=["float32", "complex128"],
        static_shape=[[None, 5]],
        label=f"{adjoint_a} {adjoint_b}",
    )
    for adjoint_a, adjoint_b, shape in ((True, False, (3, 5)), (False, True, (5, 4)), (True, True, (5, 3)))
]
test_rows = op_tests(CASES)


def test_the_threshold_is_for_elements_of_both() -> None:
    nan = float("nan")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.SparseTensor([[0, 1], [1, 0], [1, 2]], [1.0, nan, nan], [3, 4])
        y = tf.SparseTensor([[0, 1], [1, 2], [2, 3]], [-0.5, 1.0, 0.5], [3, 4])
        assert session.run(tf.sparse_add(x, y, 1.0)).indices.tolist() == [[1, 0], [2, 3]]
        assert session.run(tf.sparse_add(x, y)).indices.tolist() == [[0, 1], [1, 0], [2, 3]]


def test_feeding_and_fetching() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.sparse_placeholder(tf.float32)
        given = tf.SparseTensorValue(np.array([[1, 0], [0, 2]]), np.float32([1, 2]), np.array([2, 3]))
        for feed in (given, tuple(given)):
            found = session.run({"x": [x, tf.sparse_reorder(x)]}, {x: feed})["x"]
            assert all(isinstance(value, tf.SparseTensorValue) for value in found)
            np.testing.assert_array_equal(found[0].indices, given.indices)
            np.testing.assert_array_equal(found[1].indices, [[0, 2], [1, 0]])
            np.testing.assert_array_equal(found[1].values, [2, 1])
        assert session.run(tf.sparse.to_dense(tf.sparse_reorder(x)), {x: given}).tolist() == [[0, 0, 2], [1, 0, 0]]
        constant = tf.SparseTensor([[0, 0]], [3.0], [1, 1])
        assert constant.eval(session=session).values.tolist() == [3.0]


def test_what_is_sparse() -> None:
    with tf.Graph().as_default():
        value = tf.SparseTensorValue([[0, 1]], [1.0], [2, 2])
        x = tf.convert_to_tensor_or_sparse_tensor(value)
        assert isinstance(x, tf.SparseTensor)
        assert x.get_shape().as_list() == [2, 2]
        assert isinstance(tf.convert_to_tensor_or_sparse_tensor([1.0]), tf.Tensor)
        with pytest.raises(RuntimeError, match=r"Sparse dtype mismatch\. Requested: int32"):
            tf.convert_to_tensor_or_sparse_tensor(x, tf.int32)
        with pytest.raises(TypeError, match="Input must be a SparseTensor"):
            tf.sparse_reorder(tf.constant([1.0]))
        with pytest.raises(TypeError, match="At least one input should be SparseTensor"):
            tf.sparse_add(tf.constant([1.0]), tf.constant([1.0]))
        with pytest.raises(TypeError, match="Neither a SparseTensor nor SparseTensorValue"):
            tf.SparseTensor.from_value(3)
        for indices, dims, text in (
            ([0, 1], [2, 2], "must have rank 2"),
            ([[0, 1]], [2, 2, 2], "Dimensions 2 and 3 are not compatible"),
            ([[0, 1], [1, 1]], [2, 2], "Dimensions 2 and 1 are not compatible"),
        ):
            with pytest.raises(ValueError, match=text):
                tf.SparseTensor(indices, [1.0], dims)


def test_casting_changes_the_values_only() -> None:
    cast = tf.cast(tf.SparseTensor([[0, 1], [1, 0]], [1.5, 2.5], [2, 3]), tf.int32)
    assert isinstance(cast, tf.SparseTensor)
    with tf.Session() as sess:
        found = sess.run(cast)
    assert found.values.tolist() == [1, 2]
    assert found.values.dtype == np.int32
    assert found.indices.tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize("axis", [-3, 2])
def test_axes_of_reductions_are_checked_by_the_run(axis: int) -> None:
    total = tf.sparse_reduce_sum(tf.SparseTensor([[0, 1]], [1.0], [2, 2]), axis)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=f"Invalid reduction dimension {axis}"):
        session.run(total)
