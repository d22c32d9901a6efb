"""Rows of gathering and scattering by index."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError

ANY = ["float32", "int32", "string"]
I = np.int32  # noqa: E741


def added(shape, index, updates, start=0, sign=1):
    result = np.zeros(shape, updates.dtype) + start
    for row, update in zip(index, updates, strict=True):
        result[tuple(row)] += sign * update
    return result


def updated(x, index, updates):
    result = x.copy()
    for row, update in zip(index, updates, strict=True):
        result[tuple(row)] = update
    return result


CASES = [
    OpCase(
        "GatherV2",
        [(5, 3), I([[4, 0], [4, 2]]), I(0)],
        lambda x, rows, axis: np.stack([np.stack([x[4], x[0]]), np.stack([x[4], x[2]])]),
        dtypes=ANY,
        errors=[
            Error([(3, 2), I([9]), I(0)], InvalidArgumentError, "indices[0] = 9 is not in [0, 3)"),
            Error([(3, 2), I([[0, 1], [2, -1]]), I(0)], InvalidArgumentError, "indices[1,1] = -1 is not in [0, 3)"),
            Error([(), I([0]), I(0)], ValueError, "Shape must be at least rank 1 but is rank 0", constants=True),
        ],
    ),
    OpCase("GatherV2", [(2, 5, 3), I([4, 0, 4]), I(1)], lambda x, rows, axis: x[:, [4, 0, 4]], dtypes=ANY, label="axis"),
    OpCase("GatherV2", [(2, 5), I(3), I(-1)], lambda x, rows, axis: x[:, 3], label="scalar"),
    OpCase(
        "GatherV2",
        [(2, 5, 3), I([[4, 0], [1, 1]]), I(1)],
        lambda x, rows, axis: np.stack([x[0][[4, 0]], x[1][[1, 1]]]),
        attrs={"batch_dims": 1},
        label="batch",
        errors=[Error([(2, 5), I([[0]]), I(1)], InvalidArgumentError, "should be equal to indices.shape")],
    ),
    OpCase(
        "Gather",
        [(5, 3), I([4, 0, 4])],
        lambda x, rows: x[[4, 0, 4]],
        dtypes=ANY,
        errors=[Error([(3, 2), I([3])], InvalidArgumentError, "indices[0] = 3 is not in [0, 3)")],
    ),
    OpCase(
        "GatherNd",
        [(2, 3, 5), I([[0, 1], [1, 2], [0, 1]])],
        lambda x, rows: np.stack([x[0, 1], x[1, 2], x[0, 1]]),
        dtypes=ANY,
        errors=[
            Error([(2, 3), I([[0, 3]])], InvalidArgumentError, "indices[0] = [0, 3] does not index into param shape [2,3]"),
            Error([(2, 3), I([[0, 1, 2]])], ValueError, "indices.shape[-1] must be <= params.rank"),
        ],
    ),
    OpCase("GatherNd", [(3, 5), I([[2], [0]])], lambda x, rows: x[[2, 0]], label="rows"),
    OpCase("GatherNd", [(3, 5), np.zeros((2, 0), np.int32)], lambda x, rows: np.stack([x, x]), label="whole"),
    OpCase(
        "ScatterNd",
        [I([[1], [4], [1]]), (3, 2), I([5, 2])],
        lambda index, updates, shape: added((5, 2), index, updates),
        dtypes=["float32", "int32"],
        errors=[
            Error(
                [I([[1], [7]]), (2, 3), I([5, 3])], InvalidArgumentError, "indices[1] = [7] does not index into shape [5,3]"
            ),
            Error(
                [I([[1], [2]]), (2, 3), I([5, 7])],
                ValueError,
                "The inner 1 dimensions of output.shape=[5,7] must match",
                constants=True,
            ),
            Error([I([[1], [2]]), (2, 3), I([5, 7])], InvalidArgumentError, "Must have updates.shape = indices.shape[:-1]"),
        ],
    ),
]
test_rows = op_tests(CASES)


def test_the_gradient_of_gathered_rows_is_sparse() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(np.zeros((5, 3), np.float32))
        (grad,) = tf.gradients(tf.gather(x, [4, 0, 4]), x)
        assert isinstance(grad, tf.IndexedSlices)
        values, indices, shape = session.run([grad.values, grad.indices, grad.dense_shape])
    assert values.tolist() == [[1] * 3] * 3
    assert indices.tolist() == [4, 0, 4]
    assert shape.tolist() == [5, 3]


def test_batched_gather_nd() -> None:
    x = np.arange(30.0).reshape(2, 3, 5)
    with tf.Graph().as_default(), tf.Session() as session:
        picked = session.run(tf.gather_nd(x, [[[1], [0]], [[2], [2]]], batch_dims=1))
        with pytest.raises(ValueError, match="batch_dims = 3 must be less"):
            tf.gather_nd(x, [[[1]]], batch_dims=3)
    np.testing.assert_array_equal(picked, np.stack([x[0][[1, 0]], x[1][[2, 2]]]))


@pytest.mark.parametrize("values", [[[2.0, 3.0, 5.0], [7.0, 11.0, 13.0]], [[b"a", b"b", b"c"], [b"d", b"e", b"f"]]])
def test_one_row_of_indices_gives_memory_of_its_own(values: list[list[object]]) -> None:
    """NumPy's indexing gives a view there, which a later update of the variable would change."""
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(values)
        row, element = tf.gather_nd(v, [1]), tf.gather_nd(v, [1, 2])
        with tf.control_dependencies([row, element]):
            update = tf.assign(v, tf.identity(v)[::-1])
        with tf.control_dependencies([update]):
            after = [tf.identity(row), tf.identity(element)]
        session.run(v.initializer)
        kept_row, kept_element = session.run(after)
    assert kept_row.tolist() == values[1]
    assert kept_element == values[1][2]


def test_strings_that_are_scattered_to_one_place_are_joined() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        result = session.run(tf.scatter_nd([[1], [3], [1]], ["a", "b", "c"], [5]))
    assert result.tolist() == [b"", b"ac", b"", b"b", b""]


def test_nothing_is_scattered_into_an_empty_shape() -> None:
    indices, updates = np.zeros((2, 2, 2), np.int32), np.zeros((2, 2, 2), np.int32)
    with pytest.raises(ValueError, match="Indices and updates specified for empty output shape"):
        tf.scatter_nd(indices, updates, [0, 3, 2])
    fed = [tf.placeholder(tf.int32) for _ in range(3)]
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="Indices and updates specified for empty output"):
            session.run(tf.scatter_nd(*fed), dict(zip(fed, (indices, updates, [0, 3, 2]), strict=True)))
        assert session.run(tf.scatter_nd(np.zeros(0, np.int32), np.zeros(0), np.zeros(1, np.int32))).size == 0


@pytest.mark.parametrize("scatter", [tf.scatter_nd, lambda i, u, s: tf.scatter_nd_add(tf.Variable(tf.zeros(s)), i, u)])
def test_updates_of_other_shapes_are_refused_in_the_words_of_1_15(scatter: Callable[..., tf.Tensor]) -> None:
    with pytest.raises(ValueError, match=r"The outer \d+ dimensions of indices\.shape="):
        scatter(np.zeros((3, 2, 2), np.int32), np.zeros((2, 2, 2), np.float32), [2, 2, 2])
    with pytest.raises(ValueError, match=r"The inner \d+ dimensions of (input|output)\.shape="):
        scatter(np.zeros((2, 2, 1), np.int32), np.zeros((2, 2), np.float32), [2, 2, 2])
    with pytest.raises(ValueError, match=r"The outer \d+ dimensions of indices\.shape="):
        tf.scatter_nd(np.zeros((3, 2, 2), np.int32), np.zeros((2, 2, 2), np.float32), tf.placeholder(tf.int32))


def test_batch_dimensions_are_counted_from_the_end_where_the_axis_is_fed() -> None:
    x, axis = np.arange(30.0).reshape(2, 5, 3), tf.placeholder(tf.int32, [])
    picked = tf.raw_ops.GatherV2(params=x, indices=[4, 0, 4], axis=axis, batch_dims=-1)
    assert picked.shape.as_list() == [None] * 3
    with tf.Session() as session:
        assert session.run(picked, {axis: 1}).tolist() == x[:, [4, 0, 4]].tolist()


def test_a_batch_is_as_long_as_its_parameters_where_its_indices_do_not_say() -> None:
    with tf.Graph().as_default():
        picked = tf.batch_gather(tf.zeros([2, 3, 5]), tf.placeholder(tf.int32, [None, None]))
        assert picked.shape.as_list() == [2, None, 5]
