"""Ragged tensors against what their nested lists say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.runtime.eager import eager_mode
from tfexp.stand_ins.modules import stand_for

ROWS = [[1, 2], [], [3]]
DEEP = [[[1, 2], [3]], [], [[4, 5, 6]]]


def rows() -> Any:
    return tf.ragged.constant(ROWS)


def deep() -> Any:
    return tf.ragged.constant(DEEP)


def floats() -> Any:
    return tf.ragged.constant([[1.0, 2.0], [], [3.0]])


def as_lists(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [as_lists(one) for one in value]
    return value.to_list() if isinstance(value, tf.ragged.RaggedTensorValue) else np.asarray(value).tolist()


# What is made -> the nested lists that it is.
CASES: dict[str, tuple[Callable[[], Any], Any]] = {
    "constants": (lambda: [rows(), deep(), tf.ragged.constant([["a"], []])], [ROWS, DEEP, [[b"a"], []]]),
    "even rows inside": (lambda: tf.ragged.constant([[[1, 2], [3, 4]], []], ragged_rank=1), [[[1, 2], [3, 4]], []]),
    "from splits": (lambda: tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 2, 3]), ROWS),
    "from lengths": (lambda: tf.RaggedTensor.from_row_lengths([1, 2, 3], [2, 0, 1]), ROWS),
    "from starts": (lambda: tf.RaggedTensor.from_row_starts([1, 2, 3], [0, 2, 2]), ROWS),
    "from limits": (lambda: tf.RaggedTensor.from_row_limits([1, 2, 3], [2, 2, 3]), ROWS),
    "from numbers of rows": (lambda: tf.RaggedTensor.from_value_rowids([1, 2, 3], [0, 0, 2]), ROWS),
    "with rows after the last": (lambda: tf.RaggedTensor.from_value_rowids([1], [0], nrows=2), [[1], []]),
    "nested lengths": (lambda: tf.RaggedTensor.from_nested_row_lengths([1, 2, 3], [[2, 0], [1, 2]]), [[[1], [2, 3]], []]),
    "nested numbers of rows": (
        lambda: tf.RaggedTensor.from_nested_value_rowids([1, 2, 3], [[0, 0], [0, 1, 1]], [2, None]),
        [[[1], [2, 3]], []],
    ),
    "from a tensor": (lambda: tf.RaggedTensor.from_tensor([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
    "from a padded tensor": (lambda: tf.RaggedTensor.from_tensor([[1, 0, 2, 0], [0] * 4], padding=0), [[1, 0, 2], []]),
    "from a tensor by lengths": (lambda: tf.RaggedTensor.from_tensor([[1, 2, 0], [3, 0, 0]], lengths=[2, 1]), [[1, 2], [3]]),
    "from a deep tensor": (
        lambda: tf.RaggedTensor.from_tensor(np.arange(12).reshape(2, 3, 2), ragged_rank=2),
        np.arange(12).reshape(2, 3, 2).tolist(),
    ),
    "by nested lengths": (
        lambda: tf.RaggedTensor.from_tensor(np.arange(12).reshape(2, 3, 2), lengths=([1, 2], [2, 0, 1])),
        [[[0, 1]], [[], [8]]],
    ),
    "by way of a sparse tensor": (lambda: tf.RaggedTensor.from_sparse(rows().to_sparse()), ROWS),
    "to tensors": (
        lambda: [rows().to_tensor(), deep().to_tensor(-1)],
        [[[1, 2], [0, 0], [3, 0]], [[[1, 2, -1], [3, -1, -1]], [[-1] * 3] * 2, [[4, 5, 6], [-1] * 3]]],
    ),
    "of what its rows are": (
        lambda: [
            rows().row_lengths(),
            rows().value_rowids(),
            rows().nrows(),
            deep().bounding_shape(),
            deep().row_lengths(2),
        ],
        [[2, 0, 1], [0, 0, 2], 3, [3, 2, 3], [[2, 1], [], [3]]],
    ),
    "splits and numbers of rows": (
        lambda: [
            tf.ragged.row_splits_to_segment_ids([0, 2, 2, 3]),
            tf.ragged.segment_ids_to_row_splits([0, 0, 2], 4),
            tf.ragged.segment_ids_to_row_splits([1, 0, 3, 1], 3, out_type=tf.int32),  # neither sorted nor all of them
        ],
        [[0, 0, 2], [0, 2, 2, 3, 3], [0, 1, 3, 3]],
    ),
    "operators": (
        lambda: [rows() + 1, 2 - rows(), rows() * rows(), -rows(), rows() < 2, abs(-rows()), rows() // 2, rows() % 2],
        [
            *([[2, 3], [], [4]], [[1, 0], [], [-1]], [[1, 4], [], [9]], [[-1, -2], [], [-3]]),
            *([[True, False], [], [False]], ROWS, [[0, 1], [], [1]], [[1, 0], [], [1]]),
        ],
    ),
    "functions of elements": (
        lambda: [
            *(tf.square(rows()), tf.add(rows(), rows()), tf.cast(rows(), tf.bool)),
            tf.strings.upper(tf.ragged.constant([["a"]])),
        ],
        [[[1, 4], [], [9]], [[2, 4], [], [6]], [[True, True], [], [True]], [[b"A"]]],
    ),
    "a column for the rows": (lambda: rows() * tf.constant([[1], [2], [3]]), [[1, 2], [], [9]]),
    "mapped": (lambda: tf.ragged.map_flat_values(tf.one_hot, rows(), 3), [[[0, 1, 0], [0, 0, 1]], [], [[0, 0, 0]]]),
    "sums": (
        lambda: (
            [tf.reduce_sum(rows(), axis) for axis in (None, 0, 1, [0, 1])] + [tf.reduce_sum(deep(), a) for a in (0, 1, -1)]
        ),
        [6, [4, 2], [3, 0, 3], 6, [[5, 7, 6], [3]], [[4, 2], [], [4, 5, 6]], [[3, 3], [], [15]]],
    ),
    "of several axes": (
        lambda: [tf.reduce_sum(deep(), [0, 1]), tf.reduce_max(deep(), [1, 2])],
        [[8, 7, 6], [3, -(2**31), 6]],
    ),
    "other reductions": (
        lambda: [
            tf.reduce_prod(rows(), 1),
            tf.reduce_any(rows() > 2, 1),
            tf.reduce_all(rows() > 2, 1),
            tf.reduce_min(rows(), 0),
        ],
        [[2, 1, 3], [False, False, True], [False, True, True], [1, 2]],
    ),
    "a mean is of elements": (lambda: tf.reduce_mean(tf.ragged.constant([[[1.0], [3.0, 5.0]]]), [1, 2]), [3.0]),
    "gathered": (lambda: [tf.gather(rows(), [2, 0]), tf.gather(deep(), [[2], [1]])], [[[3], [1, 2]], [[[[4, 5, 6]]], [[]]]]),
    "a tensor gathered raggedly": (lambda: tf.gather(tf.constant([5, 6, 7, 8]), rows()), [[6, 7], [], [8]]),
    "joined": (
        lambda: [tf.concat([rows(), [[7, 8]]], 0), tf.concat([rows(), rows() + 10], 1), tf.concat([deep(), deep()], -1)],
        [[*ROWS, [7, 8]], [[1, 2, 11, 12], [], [3, 13]], [[[1, 2, 1, 2], [3, 3]], [], [[4, 5, 6, 4, 5, 6]]]],
    ),
    "stacked": (
        lambda: [tf.stack([rows(), rows()]), tf.ragged.stack([rows(), rows()], axis=1), tf.ragged.stack([[1, 2], [3]])],
        [[ROWS, ROWS], [[[1, 2], [1, 2]], [[], []], [[3], [3]]], [[1, 2], [3]]],
    ),
    "expanded": (
        lambda: [tf.expand_dims(rows(), axis) for axis in (0, 1, -1)],
        [[ROWS], [[[1, 2]], [[]], [[3]]], [[[1], [2]], [], [[3]]]],
    ),
    "items": (
        lambda: [rows()[0], rows()[-1], rows()[1:], rows()[::-1], rows()[:, :1], rows()[:, -1:], rows()[None]],
        [[1, 2], [3], [[], [3]], [[3], [], [1, 2]], [[1], [], [3]], [[2], [], [3]], [ROWS]],
    ),
    "deep items": (
        lambda: [deep()[2, 0], deep()[2, 0, 1], deep()[..., :1], deep()[:, :, 1:], deep()[0, :, 1:]],
        [[4, 5, 6], 5, [[[1], [3]], [], [[4]]], [[[2], []], [], [[5, 6]]], [[2], []]],
    ),
    "masked": (
        lambda: [
            tf.ragged.boolean_mask([[1, 2, 3], [4, 5, 6]], [[True, False, True], [False] * 3]),
            tf.ragged.boolean_mask(rows(), tf.ragged.constant([[True, False], [], [True]])),
            tf.boolean_mask(rows(), [True, False, True]),
        ],
        [[[1, 3], []], [[1], [], [3]], [[1, 2], [3]]],
    ),
    "ranges": (
        lambda: [tf.ragged.range([3, 0, 2]), tf.ragged.range([1, 2], [5, 9], 3), tf.ragged.range([2.0], [0.5], -0.5)],
        [[[0, 1, 2], [], [0, 1]], [[1, 4], [2, 5, 8]], [[2.0, 1.5, 1.0]]],
    ),
    "partitioned": (lambda: tf.ragged.stack_dynamic_partitions([1, 2, 3, 4], [1, 0, 1, 3], 5), [[2], [1, 3], [], [4], []]),
    "sizes": (lambda: [tf.size(rows()), tf.rank(deep())], [3, 3]),
    "one of two": (lambda: tf.cond(tf.constant(False), rows, lambda: rows() + 1), [[2, 3], [], [4]]),
    "nothing": (lambda: tf.ragged.constant([[], []], dtype=tf.int32).to_tensor(), [[], []]),
}


@pytest.mark.parametrize("name", CASES)
def test_a_ragged_tensor_is_its_nested_lists(name: str) -> None:
    make, wanted = CASES[name]
    with tf.Graph().as_default(), tf.Session() as session:
        assert as_lists(session.run(make())) == wanted


def test_shapes_are_known_as_far_as_rows_are_even() -> None:
    with tf.Graph().as_default():
        assert [x.shape.as_list() for x in (rows(), deep())] == [[3, None], [3, None, None]]
        assert tf.ragged.constant([[[1, 2]]], ragged_rank=1).shape.as_list() == [1, None, 2]
        assert (deep().ragged_rank, deep().dtype, deep().row_splits.dtype) == (2, tf.int32, tf.int64)
        assert tf.ragged.constant([[1]], row_splits_dtype=tf.int32).row_splits.dtype is tf.int32


def test_to_sparse() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(deep().to_sparse())
        dense = session.run(tf.sparse.to_dense(tf.ragged.constant([[[1, 2]], []], ragged_rank=1).to_sparse()))
    assert found.indices.tolist() == [[0, 0, 0], [0, 0, 1], [0, 1, 0], [2, 0, 0], [2, 0, 1], [2, 0, 2]]
    assert (found.values.tolist(), found.dense_shape.tolist()) == ([1, 2, 3, 4, 5, 6], [3, 2, 3])
    assert dense.tolist() == [[[1, 2]], [[0, 0]]]


def test_placeholders_are_fed_with_values() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.ragged.placeholder(tf.int32, 2)
        value = tf.ragged.constant_value(DEEP, dtype=np.int32)
        assert (value.ragged_rank, value.shape, value.to_list()) == (2, (3, None, None), DEEP)
        assert session.run(fed + 1, {fed: value}).to_list() == [[[2, 3], [4]], [], [[5, 6, 7]]]
        with pytest.raises(TypeError, match="ragged_rank 2"):
            session.run(fed + 1, {fed: tf.ragged.constant_value(ROWS)})


def test_gradients_are_those_of_the_values() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = floats()
        results = [
            tf.square(x).to_tensor(),
            tf.reduce_sum(x * x, 1),
            tf.reduce_mean(x, 0),
            tf.concat([x, x], 1).values,
            x[0],
        ]
        found = session.run([tf.gradients(y, x.flat_values)[0] for y in results])
    for actual, wanted in zip(found, ([2, 4, 6], [2, 4, 6], [0.5, 1, 0.5], [2, 2, 2], [1, 1, 0]), strict=True):
        dense = np.zeros(3)
        if hasattr(actual, "indices"):
            np.add.at(dense, actual.indices, actual.values)
        np.testing.assert_allclose(dense if hasattr(actual, "indices") else actual, wanted)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: tf.ragged.constant([[1], 2]), ValueError, "same nesting depth"),
        (lambda: tf.ragged.constant([1], ragged_rank=1), ValueError, "ragged_rank=1"),
        (lambda: tf.RaggedTensor.from_row_splits([1], [[0, 1]]), ValueError, "rank"),
        (lambda: tf.RaggedTensor.from_row_lengths([1], tf.constant([1.0])), ValueError, "int32 or int64"),
        (lambda: rows() + tf.ragged.constant([[1], [2], [3]]), tf.errors.InvalidArgumentError, "identical ragged splits"),
        (lambda: tf.ragged.map_flat_values(tf.add, rows(), deep()), ValueError, "identical ragged splits"),
        (lambda: rows()[0:, 1], ValueError, "Cannot index into an inner ragged dimension"),
        (lambda: tf.reduce_sum(rows(), 1, keepdims=True), ValueError, "keepdims"),
        (lambda: tf.concat([rows(), rows()], 2), ValueError, "out of bounds"),
        (lambda: tf.matmul(rows(), rows()), TypeError, "RaggedTensor"),
        (lambda: tf.RaggedTensor.from_tensor([[1]], lengths=[1], padding=0), ValueError, "not both"),
    ],
)
def test_what_cannot_be_is_refused(make: Callable[[], Any], error: type[Exception], text: str) -> None:
    with tf.Graph().as_default(), pytest.raises(error, match=text):
        make()


def test_bad_rows_fail_in_the_run() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        splits = tf.placeholder(tf.int64, [None])
        made = tf.RaggedTensor.from_row_splits([1, 2, 3], splits)
        assert session.run(made, {splits: [0, 2, 3]}).to_list() == [[1, 2], [3]]
        with pytest.raises(tf.errors.InvalidArgumentError, match="valid RaggedTensor"):
            session.run(tf.RaggedTensor.from_row_splits([1, 2], [0, 1]))
        for bad in ([1, 3], [0, 2, 1, 3], [0, 2]):
            with pytest.raises(tf.errors.InvalidArgumentError, match="valid RaggedTensor"):
                session.run(made, {splits: bad})


@pytest.mark.parametrize(
    ("rank", "axis", "ragged_rank", "shape"),
    [
        (0, 0, 0, [2]),
        (1, 0, 1, [2, None]),
        (1, 1, 0, [3, 2]),
        (2, 0, 2, [2, None, None]),
        (2, 1, 0, [3, 2, 5]),
        (3, 3, 0, [3, 5, 7, 2]),
        (4, 2, 3, [3, None, None, None, 11]),
    ],
)
def test_tensors_stacked_along_inner_dimensions_are_a_tensor(rank, axis, ragged_rank, shape) -> None:
    x = tf.zeros([3, 5, 7, 11][:rank])
    stacked = tf.ragged.stack([x, x], axis=axis)
    assert (getattr(stacked, "ragged_rank", 0), stacked.shape.as_list()) == (ragged_rank, shape)


def test_row_splits_are_vectors_of_known_rank() -> None:
    fed = tf.placeholder_with_default(np.array([0, 2, 3]), None)
    assert tf.RaggedTensor.from_row_splits([1, 2, 3], fed).row_splits.shape.as_list() == [None]
    with pytest.raises(ValueError, match="must have dtype int32 or int64; got int16"):
        tf.ragged.constant([[1]], row_splits_dtype=tf.int16)
    with pytest.raises(TypeError, match="segment_ids must be an integer tensor"):
        tf.ragged.segment_ids_to_row_splits([0.0])
    with tf.Graph().as_default():
        ids, count = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.int32, [])
        made = [tf.ragged.segment_ids_to_row_splits(*given) for given in ([ids], [[0, 1], count], [[0, 1], 2])]
        assert [splits.dtype for splits in made] == [tf.int32, tf.int32, tf.int64]
        assert tf.ragged.segment_ids_to_row_splits(ids, 3).shape.as_list() == [4]


def test_what_is_reduced_or_gathered_to_a_tensor() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.ragged.constant([[1, 4], [2, 3]])
        total, mean, each = tf.reduce_sum(x), tf.reduce_mean(x), tf.reduce_all(x > 1)
        assert [node.name for node in (total, mean, each)] == [
            "RaggedReduceSum:0",
            "RaggedReduceMean/truediv:0",
            "RaggedReduceAll/Cast_1:0",
        ]
        assert mean.dtype == tf.float64 and session.run([total, mean, each]) == [10, 2.5, False]
        with pytest.raises(ValueError, match="keepdims=True is not supported"):
            tf.reduce_mean(x, [0, 1], keepdims=True)
        picked = tf.batch_gather(x, [[1], [0]])
        assert picked.shape.as_list() == [2, 1] and session.run(picked).tolist() == [[4], [2]]


def test_inner_dimensions_of_no_values() -> None:
    empty = tf.ragged.constant([[], []], ragged_rank=1, inner_shape=(2,))
    assert (empty.flat_values.shape.as_list(), empty.dtype) == ([0, 2], tf.float32)
    assert tf.ragged.constant([[]], tf.string, inner_shape=(2,), ragged_rank=1).dtype == tf.string


def test_functions_of_each_element_that_were_the_last_to_take_rows() -> None:
    whole, halves = tf.ragged.constant([[1, 2], []]), tf.ragged.constant([[0.5], [1.0, -2.0]])
    numbers = tf.complex(halves, tf.ragged.constant([[1.0], [0.0, 2.0]]))
    found = [
        tf.bitwise.invert(whole),
        tf.bitwise.left_shift(whole, 2),
        tf.bitwise.right_shift(8, whole),
        tf.math.real(numbers),
        tf.math.imag(tf.math.conj(numbers)),
        tf.cast(tf.math.angle(numbers) * 100, tf.int32),
        tf.cast(tf.math.log_sigmoid(halves) * 100, tf.int32),
        tf.io.decode_compressed(tf.ragged.constant([["a"], []])),
    ]
    with tf.Session() as session:
        assert [value.to_list() for value in session.run(found)] == [
            [[-2, -3], []],
            [[4, 8], []],
            [[4, 2], []],
            [[0.5], [1.0, -2.0]],
            [[-1.0], [0.0, -2.0]],
            [[110], [0, 235]],
            [[-47], [-31, -212]],
            [[b"a"], []],
        ]


def test_logical_operators_are_of_booleans_alone() -> None:
    flags, whole = tf.ragged.constant([[True, False], [True]]), tf.ragged.constant([[1, 2], [3]])
    with tf.Session() as session:
        found = [value.to_list() for value in session.run([~flags, flags & True, False | flags, flags ^ flags])]
    given = [[True, False], [True]]
    assert found == [[[False, True], [False]], given, given, [[False, False], [False]]]
    for use in (lambda: ~whole, lambda: whole & 1, lambda: 1 | whole, lambda: whole ^ whole):
        with pytest.raises(TypeError, match="int32 that does not match expected type of bool"):
            use()


def test_functions_that_take_ragged_tensors_are_listed() -> None:
    dispatch = stand_for("tensorflow.python.ops.ragged.ragged_dispatch")
    first, second = dispatch.ragged_op_list(), dispatch.ragged_op_list(tf_version=2)
    assert "* `tf.math.add`(**x**, **y**, name=`None`)" in first
    assert "* `tf.cast`(**x**, dtype, name=`None`)" in second
    assert "`tf.batch_gather`" in first and "`tf.batch_gather`" not in second
    with pytest.raises(ValueError, match="version 1 or 2"):
        dispatch.ragged_op_list(3)


@eager_mode()
def test_where_ops_run_at_once_they_have_rows() -> None:
    value = deep()
    assert repr(value) == str(value) == f"<tf.RaggedTensor {DEEP}>"
    assert [row.to_list() for row in value] == DEEP
    assert [row.numpy().tolist() for row in rows()] == ROWS
    with tf.Graph().as_default(), pytest.raises(TypeError, match="not iterable in a graph"):
        iter(rows())
