"""Rows of slices and padding."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError

ANY = ["float32", "int32", "string"]
I = np.int32  # noqa: E741


def zeros_but(shape, index, dy):
    result = np.zeros(shape, dy.dtype)
    result[index] = dy
    return result


CASES = [
    OpCase(
        "Slice",
        [(5, 7), I([1, 2]), I([-1, 3])],
        lambda x, begin, size: x[1:, 2:5],
        dtypes=ANY,
        errors=[
            Error([(5, 7), I([1, 2]), I([5, 3])], InvalidArgumentError, "Expected size[0] in [0, 4], but got 5"),
            Error([(5, 7), I([6, 2]), I([1, 3])], InvalidArgumentError, "Expected begin[0] in [0, 5], but got 6"),
            Error([(5, 7), I([1]), I([1])], ValueError, "Shape must be rank 1 but is rank 2"),
        ],
    ),
    OpCase(
        "StridedSlice",
        [(5, 7, 3), I([1, 6, 0]), I([5, 1, 3]), I([2, -2, 1])],
        lambda x, *bounds: x[1:5:2, 6:1:-2, 0:3],
        dtypes=ANY,
        errors=[
            Error([(5, 7), I([1, 1]), I([2, 2]), I([1, 0])], InvalidArgumentError, "strides[1] must be non-zero"),
            Error([(5,), I([1, 1]), I([2, 2]), I([1, 1])], InvalidArgumentError, "Index out of range using input dim 1"),
        ],
    ),
    OpCase(
        "StridedSlice",
        [(5, 7, 3), I([4, 1, 0, 1]), I([5, 5, 0, 2]), I([1, 1, 1, 1])],
        lambda x, *bounds: x[4, ..., None, 1:2],
        attrs={"shrink_axis_mask": 1, "ellipsis_mask": 2, "new_axis_mask": 4},
        label="masks",
        errors=[
            Error([(5, 7, 3), I([9]), I([10]), I([1])], InvalidArgumentError, "slice index 9 of dimension 0 out of bounds."),
            Error(
                [(5, 7, 3), I([9]), I([10]), I([1])],
                ValueError,
                "slice index 9 of dimension 0 out of bounds.",
                constants=True,
            ),
            Error(
                [(5, 7, 3), I([1]), I([0]), I([-1])], InvalidArgumentError, "only stride 1 allowed on non-range indexing."
            ),
            Error(
                [(5, 7, 3), I([1, 1]), I([2, 2]), I([1, 1])],
                InvalidArgumentError,
                "Multiple ellipses in slice spec not allowed",
                attrs={"ellipsis_mask": 3, "shrink_axis_mask": 0, "new_axis_mask": 0},
            ),
        ],
    ),
    OpCase(
        "StridedSlice",
        [(5, 7), I([3, 3]), I([0, 0]), I([1, 1])],
        lambda x, *bounds: x[:, 3:],
        attrs={"begin_mask": 1, "end_mask": 3},
        label="open",
    ),
    OpCase(
        "StridedSliceGrad",
        [I([5, 7]), I([1, 6]), I([5, 1]), I([2, -2]), (2, 3)],
        lambda shape, begin, end, strides, dy: zeros_but((5, 7), np.s_[1:5:2, 6:1:-2], dy),
        errors=[
            Error(
                [I([5, 7]), I([1, 6]), I([5, 1]), I([2, -2]), (2, 2)],
                InvalidArgumentError,
                "shape of dy was [2,2] instead of [2,3]",
            )
        ],
    ),
    OpCase(
        "Pad",
        [(2, 3), I([[1, 0], [2, 5]])],
        lambda x, margins: np.pad(x, margins),
        dtypes=["float32", "int32"],
        errors=[
            Error([(2, 3), I([[1, 1]])], ValueError, "Shape must be rank 1 but is rank 2"),
            Error([(2, 3), I([[1, 1], [-1, 0]])], ValueError, "Paddings must be non-negative", constants=True),
            Error([(2, 3), I([[1, 1], [-1, 0]])], InvalidArgumentError, "Paddings must be non-negative: -1 0"),
        ],
    ),
    OpCase("Pad", [(), np.zeros((0, 2), np.int32)], lambda x, margins: x, label="scalar"),
    OpCase(
        "PadV2",
        [(2, 3), I([[1, 0], [2, 5]]), ()],
        lambda x, margins, value: np.pad(x, margins, constant_values=value),
        dtypes=["float32", "int32"],
        gradient=[0],
    ),
    OpCase(
        "MirrorPad",
        [(2, 3), I([[1, 0], [2, 1]])],
        lambda x, margins: np.concatenate([x[1:], x])[:, [2, 1, 0, 1, 2, 1]],
        attrs={"mode": "REFLECT"},
        dtypes=ANY,
        errors=[Error([(2, 3), I([[2, 0], [0, 0]])], InvalidArgumentError, "paddings must be less than the dimension size")],
    ),
    OpCase(
        "MirrorPad",
        [(2, 3), I([[2, 1], [3, 1]])],
        lambda x, margins: x[[1, 0, 0, 1, 1]][:, [2, 1, 0, 0, 1, 2, 2]],
        attrs={"mode": "SYMMETRIC"},
        label="symmetric",
        errors=[
            Error([(2, 3), I([[3, 0], [0, 0]])], InvalidArgumentError, "paddings must be no greater than the dimension size")
        ],
    ),
    OpCase(
        "MirrorPadGrad",
        [(3, 6), I([[1, 0], [2, 1]])],
        lambda x, margins: np.stack([[row[2], row[1] + row[3] + row[5], row[0] + row[4]] for row in (x[1], x[0] + x[2])]),
        attrs={"mode": "REFLECT"},
    ),
]
test_rows = op_tests(CASES)


def test_pad_modes() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([[1, 2, 3]])
        kinds = [
            tf.pad(x, [[0, 0], [1, 1]], mode, constant_values=v)
            for mode, v in (("constant", 0), ("CONSTANT", 7), ("reflect", 0))
        ]
        assert [k.op.type for k in kinds] == ["Pad", "PadV2", "MirrorPad"]
        assert [v.tolist() for v in session.run(kinds)] == [[[0, 1, 2, 3, 0]], [[7, 1, 2, 3, 7]], [[2, 1, 2, 3, 2]]]
        with pytest.raises(ValueError, match="Unknown padding mode: WRAP"):
            tf.pad(x, [[0, 0], [1, 1]], "wrap")


def test_a_lone_string_padded_or_sliced_is_one_still() -> None:
    text, none = tf.placeholder_with_default("text", []), tf.zeros([0, 2], tf.int32)
    each = [tf.pad(text, none), tf.pad(text, none, constant_values="-"), tf.slice(text, none[:, 0], none[:, 0])]
    with tf.Session() as session:
        assert list(map(type, session.run(each))) == [bytes] * 3
        assert session.run([tf.strings.join([one, "s"]) for one in each]) == [b"texts"] * 3
        assert session.run([tf.strings.length(one) for one in each]) == [4] * 3


def test_slices_of_unknown_bounds_have_the_rank_only() -> None:
    with tf.Graph().as_default():
        x, i = tf.placeholder(tf.float32, [None, 7, 3]), tf.placeholder(tf.int32, [])
        assert x[i].shape.as_list() == [7, 3]
        assert x[1:, i:, ::-1].shape.as_list() == [None, None, 3]
        assert x[:, 2:5].shape.as_list() == [None, 3, 3]
        assert tf.slice(x, [0, 0, i], [2, 7, -1]).shape.as_list() == [2, 7, None]
        assert tf.slice(x, [i, 0, 0], [2, 7, -1]).shape.as_list() == [2, 7, 3]


def test_only_slices_of_variables_can_be_assigned() -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match="only supported for variables"):
        tf.strided_slice([1, 2, 3], [0], [1]).assign([5])


def test_the_gradient_of_mirroring_a_scalar() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(2.5)
        padded = tf.pad(x, np.zeros((0, 2), np.int32), mode="SYMMETRIC")
        assert session.run([padded, tf.gradients(padded, x)[0]]) == [2.5, 1.0]


def test_a_slice_of_full_size_behind_the_beginning_is_refused():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [2, 3])
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected size\[1\] in \[0, 1\], but got 3"):
            session.run(tf.slice(x, [0, 2], [2, 3]), {x: [[1, 2, 3], [4, 5, 6]]})


def test_constant_rows_of_paddings_tell_the_sizes_along_their_axes() -> None:
    with tf.Graph().as_default():
        x, n = tf.placeholder(tf.float32, [None, 2, 3]), tf.placeholder(tf.int32, [])
        assert tf.pad(x, tf.stack([[0, 1], [n, 1], [2, 5]])).shape.as_list() == [None, None, 10]
        assert tf.pad(x, [[0, 0], [1, n], [0, 2]], "REFLECT").shape.as_list() == [None, None, 5]
        with pytest.raises(ValueError, match="Shape must be rank 2 but is rank 1"):
            tf.pad(x, [1, 2, 3])


def test_slices_whose_values_are_unknown_tell_how_many_dimensions():
    x, sizes, b = tf.placeholder(tf.float32, [None, 5]), tf.placeholder(tf.int32, [3]), tf.placeholder(tf.int32, [])
    for shape, rank in (
        (tf.shape(x)[0][tf.newaxis], 1),
        (sizes[...], 3),
        (tf.placeholder(tf.int32, [3, 2])[:, 0], 3),
        (sizes[:b], None),
    ):
        assert tf.fill(shape, 0.0).shape.ndims == tf.reshape(x, shape).shape.ndims == rank
