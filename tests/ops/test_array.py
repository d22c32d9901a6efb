"""Rows of identities, shapes, reshaping, filling and ranges, and what their functions add to the ops."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, Like, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError

ANY = ["float32", "int32", "bool", "string", "complex64"]


def same(x):
    return x


CASES = [
    OpCase("Identity", [(2, 3)], same, dtypes=ANY),
    OpCase(
        "IdentityN",
        [[(2, 3), (5,)]],
        lambda xs: xs,
        static_shape=[(2, 3), (5,)],
        errors=[Error([[]], ValueError, "Attr 'T' of 'IdentityN' Op passed list of length 0 less than minimum 1.")],
    ),
    OpCase("StopGradient", [(2, 3)], same, dtypes=ANY, gradient=()),
    OpCase("PlaceholderWithDefault", [(2, 3)], same, attrs={"shape": [None, 3]}, static_shape=[(None, 3)]),
    OpCase(
        "EnsureShape",
        [(2, 3)],
        same,
        attrs={"shape": [None, 3]},
        errors=[
            Error([(2, 5)], ValueError, "Dimension 1 in both shapes must be equal, but are 3 and 5"),
            Error([(2, 5)], InvalidArgumentError, "Shape of tensor [2,5] is not compatible with expected shape [?,3]."),
        ],
    ),
    OpCase("Shape", [(2, 3, 5)], lambda x: np.int32([2, 3, 5]), dtypes=ANY, gradient=(), static_shape=[(3,)]),
    OpCase(
        "Shape",
        [(2, 3)],
        lambda x: np.int64([2, 3]),
        attrs={"out_type": tf.int64},
        gradient=(),
        label="int64",
        static_shape=[(2,)],
    ),
    OpCase("ShapeN", [[(2, 3), (5,)]], lambda xs: [np.int32([2, 3]), np.int32([5])], gradient=(), static_shape=[(2,), (1,)]),
    OpCase("Size", [(2, 3, 5)], lambda x: np.int32(30), gradient=()),
    OpCase("Rank", [(2, 3, 5)], lambda x: np.int32(3), gradient=()),
    OpCase(
        "Reshape",
        [(2, 15), np.int32([3, -1, 5])],
        lambda x, dims: x.reshape(3, 2, 5),
        dtypes=ANY,
        errors=[
            Error(
                [(2, 3), np.int32([7])],
                ValueError,
                "Cannot reshape a tensor with 6 elements to shape [7] (7 elements)",
                constants=True,
            ),
            Error(
                [(2, 3), np.int32([5, -1])],
                ValueError,
                "Dimension size must be evenly divisible by 5 but is 6",
                constants=True,
            ),
            Error([(2, 3), np.int32([7])], InvalidArgumentError, "tensor with 6 values, but the requested shape has 7"),
            Error([(2, 3), np.int32([5, -1])], InvalidArgumentError, "requires a multiple of 5"),
            Error([(2, 3), np.int32([-1, -1])], InvalidArgumentError, "Only one input size may be -1, not both 0 and 1"),
            Error([(2, 3), np.int32([-2, 3])], InvalidArgumentError, "Size 0 must be non-negative, not -2"),
        ],
    ),
    OpCase(
        "ExpandDims",
        [(2, 3), np.int32(-1)],
        lambda x, axis: x[:, :, None],
        dtypes=ANY,
        errors=[
            Error([(2, 3), np.int32(5)], InvalidArgumentError, "Tried to expand dim index 5 for tensor with 2 dimensions")
        ],
    ),
    OpCase("ExpandDims", [(2, 3), np.int64(0)], lambda x, axis: x[None], label="front"),
    OpCase(
        "Squeeze",
        [(1, 3, 1, 5)],
        lambda x: x.reshape(3, 1, 5),
        attrs={"squeeze_dims": [0]},
        dtypes=ANY,
        errors=[
            Error([(2, 3)], ValueError, "Can not squeeze dim[0], expected a dimension of 1, got 2"),
            Error([()], ValueError, "Tried to squeeze dim index 0 for tensor with 0 dimensions"),
        ],
    ),
    OpCase("Squeeze", [(1, 3, 1, 5)], lambda x: x.reshape(3, 5), label="all"),
    OpCase(
        "Fill",
        [np.int32([2, 3]), ()],
        lambda dims, value: np.full((2, 3), value),
        dtypes=ANY,
        errors=[
            Error([np.int32([-1]), ()], ValueError, "Fill dimensions must be >= 0", constants=True),
            Error([np.int32([-1]), ()], InvalidArgumentError, "Dimension -1 must be >= 0"),
            Error([np.int32([2]), (3,)], ValueError, "Shape must be rank 0 but is rank 1"),
        ],
    ),
    OpCase("ZerosLike", [(2, 3)], np.zeros_like, dtypes=["float32", "int32", "bool"], gradient=()),
    OpCase("ZerosLike", [(2, 3)], lambda x: np.full((2, 3), b"", object), dtypes=["string"], label="string"),
    OpCase("OnesLike", [(2, 3)], np.ones_like, dtypes=["float32", "int32", "bool"], gradient=()),
    OpCase(
        "Range",
        [Like(3), Like(18), Like(5)],
        lambda start, limit, delta: np.arange(start, limit, delta, dtype=start.dtype),
        dtypes=["float32", "float64", "int32", "int64"],
        gradient=(),
        errors=[
            Error([Like(5), Like(1), Like(1)], InvalidArgumentError, "Requires start <= limit when delta > 0: 5.0/1.0"),
            Error([Like(1), Like(5), Like(-1)], InvalidArgumentError, "Requires start >= limit when delta < 0"),
            Error([Like(1), Like(5), Like(0)], InvalidArgumentError, "Requires delta != 0"),
            Error([Like(5), Like(1), Like(1)], ValueError, "Requires start <= limit", constants=True),
        ],
    ),
    OpCase(
        "Range",
        [np.int32(7), np.int32(0), np.int32(-3)],
        lambda start, limit, delta: np.int32([7, 4, 1]),
        gradient=(),
        label="downwards",
    ),
    OpCase(
        "LinSpace",
        [Like(1), Like(7), np.int32(5)],
        lambda start, stop, num: np.array([1, 2.5, 4, 5.5, 7], start.dtype),
        dtypes=["float32", "float64"],
        gradient=(),
        errors=[Error([Like(1), Like(7), np.int32(0)], InvalidArgumentError, "Requires num > 0: 0")],
    ),
    OpCase(
        "OneHot",
        [np.int64([2, 0, -1, 7]), np.int32(3), Like(5), Like(1)],
        lambda indices, depth, on, off: np.array([[1, 1, 5], [5, 1, 1], [1, 1, 1], [1, 1, 1]], on.dtype),
        dtypes=["float32", "int32"],
        gradient=(),
    ),
    OpCase(
        "OneHot",
        [np.int32([[2, 0]]), np.int32(3), Like(1), Like(0)],
        lambda indices, depth, on, off: np.float32([[[0, 1], [0, 0], [1, 0]]]),
        attrs={"axis": 1},
        gradient=(),
        label="axis",
    ),
    OpCase(
        "BroadcastTo",
        [(3, 1), np.int32([2, 3, 5])],
        lambda x, dims: np.broadcast_to(x, (2, 3, 5)),
        dtypes=["float32", "int32", "string"],
        errors=[
            Error([(3, 2), np.int32([2, 3, 5])], InvalidArgumentError, "Incompatible shapes: [3,2] vs. [2,3,5]"),
            Error([(3, 2), np.int32([2, 3, 5])], ValueError, "Dimensions must be equal, but are 2 and 5", constants=True),
        ],
    ),
]
test_rows = op_tests(CASES)


def test_an_unfed_placeholder_says_which() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        with pytest.raises(InvalidArgumentError, match=r"placeholder tensor 'x' with dtype float and shape \[\?,3\]"):
            session.run(tf.identity(x))


def test_a_placeholder_with_default_may_be_fed() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder_with_default([[1.0, 2.0]], [None, 2])
        assert session.run(x).tolist() == [[1, 2]]
        assert session.run(x, {x: [[3, 4], [5, 6]]}).tolist() == [[3, 4], [5, 6]]


def test_shape_functions_fold_what_is_known() -> None:
    with tf.Graph().as_default():
        known, unknown = tf.placeholder(tf.float32, [2, 3]), tf.placeholder(tf.float32, [None, 3])
        types = [f(x).op.type for x in (known, unknown) for f in (tf.shape, tf.size, tf.rank)]
        assert types == ["Const", "Const", "Const", "Shape", "Size", "Const"]
        assert {f(known, out_type=None).dtype for f in (tf.shape, tf.size)} == {tf.int32}
        with pytest.raises(TypeError, match="optimize"):
            tf.shape(known, optimize=False)
        assert tf.reshape(unknown, [tf.shape(unknown)[0], 1, 3]).shape.as_list() == [None, 1, 3]


def test_margins_are_known_one_by_one() -> None:
    x, n = tf.placeholder(tf.float32, [2, 3, 5, None]), tf.placeholder(tf.int32, [])
    assert tf.pad(x, [[0, n], [1, 2], tf.constant([0, 1]), [0, 0]]).shape.as_list() == [None, 6, 6, None]
    assert tf.pad(x, [[0, 1], tf.stack([n, n]), [0, 0], [1, 1]]).shape.as_list() == [3, None, 5, None]
    assert tf.pad(tf.placeholder(tf.float32), [[0, n]]).shape.as_list() == [None]


def test_zeros_and_ones_are_constants_only_while_small() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        assert tf.zeros([9, 111]).op.type == "Const"
        assert tf.zeros([10, 100]).op.type == "Fill"
        assert tf.ones_like(tf.placeholder(tf.float32, [None, 3])).op.type == "Fill"
        assert session.run(tf.zeros([2], tf.string)).tolist() == [b"", b""]
        assert session.run(tf.ones([2], tf.bool)).tolist() == [True, True]


def test_one_hot_takes_its_dtype_from_its_values() -> None:
    with tf.Graph().as_default():
        assert tf.one_hot([1], 3).dtype is tf.float32
        assert tf.one_hot([1], 3, on_value=2).dtype is tf.int32
        with pytest.raises(TypeError, match="dtype float32 of on_value does not match dtype parameter int32"):
            tf.one_hot([1], 3, on_value=1.0, dtype=tf.int32)
        with pytest.raises(TypeError, match="on_value"):
            tf.one_hot([1], 3, on_value=2, off_value=tf.constant(0.5))


def test_both_spellings_of_an_argument_are_refused() -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match="Cannot specify both 'dim' and 'axis'"):
        tf.expand_dims([1.0], axis=0, dim=0)


def test_python_values_keep_their_own_type_where_the_op_takes_it() -> None:
    """The default of a type attribute decides only for values that the op would refuse."""
    with tf.Graph().as_default():
        one_hot = tf.one_hot([2, 0], 3)
        assert one_hot.op.inputs[0].dtype is tf.int32  # although the attribute's default is int64
        scalar = tf.reshape(3.0, [])
        assert scalar.op.inputs[1].dtype is tf.int32  # an empty list is float32, which no shape can be


@pytest.mark.parametrize(
    ("dims", "target", "expected"),
    [
        ((2, 0), [-1, 0], (2, 0)),
        ((3, 0, 2), [-1, 0], (6, 0)),
        ((0,), [0, -1], (0, 1)),
        ((0, 3), [-1, 3], (0, 3)),
        ((0, 3), [-1, 0, 2], (1, 0, 2)),
        ((2, 0), [0, -1, 5], (0, 0, 5)),
    ],
)
def test_the_missing_size_of_an_empty_tensor(dims: tuple[int, ...], target: list[int], expected: tuple[int, ...]) -> None:
    """As TensorFlow's kernel finds it: from the sizes that are not zero."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32)
        assert session.run(tf.reshape(x, target), {x: np.zeros(dims)}).shape == expected
        assert session.run(tf.reshape(tf.zeros(dims), target)).shape == expected
        with pytest.raises(tf.errors.InvalidArgumentError, match="cannot infer the missing input size"):
            session.run(tf.reshape(x, [0, -1]), {x: [1.0]})
        with pytest.raises(ValueError, match=r"Cannot reshape a tensor with 5 elements to shape \[0,\?\] \(0 elements\)"):
            tf.reshape(tf.zeros([5]), [0, -1])


def test_false_is_no_dtype_for_zeros_of_a_known_shape():
    with tf.Graph().as_default():
        assert tf.zeros_like(tf.constant([[1.0, 2.0]]), False).dtype == tf.float32
        with pytest.raises(TypeError, match="Cannot convert value False to a TensorFlow DType"):
            tf.zeros_like(tf.placeholder(tf.float32, [None]), False)
