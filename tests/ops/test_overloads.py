"""Python's operators and indexing on tensors: node for node as TensorFlow makes them, and their errors."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import tfexp as tf


def nodes(graph: tf.Graph) -> list[str]:
    return [f"{op.name}={op.type}" for op in graph.get_operations() if op.type != "Placeholder"]


@pytest.mark.parametrize(
    ("apply", "expected"),
    [
        (lambda x: x + 1, ["add/y=Const", "add=AddV2"]),
        (lambda x: 1 + x, ["add/x=Const", "add=AddV2"]),
        (lambda x: x - 1, ["sub/y=Const", "sub=Sub"]),
        (lambda x: 2 * x, ["mul/x=Const", "mul=Mul"]),
        (lambda x: x / 2, ["truediv/y=Const", "truediv=RealDiv"]),
        (lambda x: 2 // x, ["floordiv/x=Const", "floordiv=FloorDiv"]),
        (lambda x: x % 2, ["mod/y=Const", "mod=FloorMod"]),
        (lambda x: x**2, ["pow/y=Const", "pow=Pow"]),
        (lambda x: x @ x, ["matmul=MatMul"]),
        (lambda x: -x, ["Neg=Neg"]),
        (lambda x: abs(x), ["Abs=Abs"]),
        (lambda x: x < 1, ["Less/y=Const", "Less=Less"]),
        (lambda x: x > 1, ["Greater/y=Const", "Greater=Greater"]),
        (lambda x: x >= 1, ["GreaterEqual/y=Const", "GreaterEqual=GreaterEqual"]),
        (lambda x: np.ones((3, 3), np.float32) + x, ["add/x=Const", "add=AddV2"]),
        (lambda x: tf.add(x, 1), ["Add/y=Const", "Add=AddV2"]),
        (lambda x: tf.multiply(x, 2), ["Mul/y=Const", "Mul=Mul"]),
        (lambda x: tf.div(x, 2), ["div/y=Const", "div=RealDiv"]),
        (lambda x: tf.divide(x, 2), ["truediv/y=Const", "truediv=RealDiv"]),
        (lambda x: tf.scalar_mul(2, x), ["scalar=Const", "Mul=Mul"]),
    ],
)
def test_operator_makes_these_nodes(apply, expected) -> None:
    with tf.Graph().as_default() as graph:
        apply(tf.placeholder(tf.float32, [3, 3]))
        assert nodes(graph) == expected


def test_operators_on_integers_and_bools() -> None:
    with tf.Graph().as_default() as graph:
        i = tf.placeholder(tf.int32, [3])
        i / 2
        assert nodes(graph) == ["truediv/y=Const", "truediv/Cast=Cast", "truediv/Cast_1=Cast", "truediv=RealDiv"]
    with tf.Graph().as_default() as graph:
        b = tf.placeholder(tf.bool, [3])
        True & b
        b ^ b
        ~b  # noqa: B018
        assert nodes(graph) == [
            "and/x=Const", "and=LogicalAnd", "xor/LogicalOr=LogicalOr", "xor/LogicalAnd=LogicalAnd",
            "xor/LogicalNot=LogicalNot", "xor=LogicalAnd", "LogicalNot=LogicalNot",
        ]  # fmt: skip
    with tf.Graph().as_default():
        i = tf.placeholder(tf.int32, [3])
        with pytest.raises(TypeError, match="has type int32 that does not match expected type of bool"):
            i & 1
        with pytest.raises(TypeError, match="has type int32 that does not match expected type of bool"):
            ~i  # noqa: B018


@pytest.mark.parametrize(
    ("function", "other", "error", "text"),
    [
        (operator.add, np.int32([1]), None, ""),
        (operator.add, "a", TypeError, "Input 'y' of 'AddV2' Op has type string that does not match type float32"),
        (operator.add, None, ValueError, "None values not supported."),
        (operator.add, np.zeros((2, 5), np.float32), ValueError, "Dimensions must be equal, but are 3 and 5"),
        (operator.and_, True, TypeError, "does not match expected type of bool"),
    ],
)
def test_operands_that_do_not_fit(function, other, error, text) -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [3])
        if error is None:
            assert function(x, other).dtype == tf.float32
        else:
            with pytest.raises(error, match=text):
                function(x, other)


def test_python_float_beside_an_integer_tensor() -> None:
    with tf.Graph().as_default():
        i = tf.constant([1, 2])
        with pytest.raises(TypeError, match="has type float32 that does not match type int32"):
            i + 1.5
        with pytest.raises(TypeError):
            1.5 + i


X = np.arange(5 * 7 * 11, dtype=np.float32).reshape(5, 7, 11)
MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")


@pytest.mark.parametrize(
    ("key", "masks"),
    [
        (1, (0, 0, 0, 0, 1)),
        ((slice(1, None), None, Ellipsis), (0, 1, 4, 2, 0)),
        ((slice(None, None, 2), Ellipsis, -1), (1, 1, 2, 0, 4)),
        ((slice(None), slice(None, None, -1)), (3, 3, 0, 0, 0)),
        (Ellipsis, (0, 0, 1, 0, 0)),
        ((slice(-3, -1), 2, slice(10, 3, -3)), (0, 0, 0, 0, 2)),
        (np.int64(3), (0, 0, 0, 0, 1)),
    ],
)
def test_indexing_is_one_strided_slice(key, masks) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        node = tf.constant(X)[key]
        assert (node.op.type, node.op.name) == ("StridedSlice", "strided_slice")
        assert tuple(node.op.get_attr(m) for m in MASKS) == masks
        assert node.shape.as_list() == list(X[key].shape)
        np.testing.assert_array_equal(session.run(node), X[key])


def test_indexing_with_tensors() -> None:
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x, i = tf.constant(X), tf.constant(2)
        before = len(graph.get_operations())
        row, part = x[i], x[1:i]
        assert nodes(graph)[before:] == [
            "add/y=Const", "add=AddV2", "strided_slice/stack=Pack", "strided_slice/stack_1=Pack",
            "strided_slice/stack_2=Const", "strided_slice=StridedSlice", "Const_2=Const",
            "strided_slice_1/stack=Const", "strided_slice_1/stack_1=Pack", "strided_slice_1/stack_2=Pack",
            "strided_slice_1=StridedSlice",
        ]  # fmt: skip
        np.testing.assert_array_equal(session.run(row), X[2])
        np.testing.assert_array_equal(session.run(part), X[1:2])
        wide = x[tf.constant(1, tf.int64) :]
        assert wide.op.get_attr("Index") == tf.int64
        np.testing.assert_array_equal(session.run(wide), X[1:])
        np.testing.assert_array_equal(session.run(x[x > 380]), X[X > 380])


@pytest.mark.parametrize("key", [1.5, "a", np.array([1, 2]), slice(0.5, None)])
def test_indices_of_other_kinds_are_refused(key) -> None:
    with tf.Graph().as_default(), pytest.raises(TypeError, match="are valid indices, got"):
        tf.constant(X)[key]


def test_index_errors_name_the_dimension() -> None:
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="slice index 9 of dimension 0 out of bounds"):
            tf.constant(X)[9]
        with pytest.raises(ValueError, match="Index out of range using input dim 3; input has only 3 dims"):
            tf.constant(X)[1, 1, 1, 1]


def test_the_names_of_operators() -> None:
    assert {"__add__", "__radd__", "__getitem__", "__neg__", "__lt__", "__eq__"} <= tf.Tensor.OVERLOADABLE_OPERATORS
    assert all(callable(getattr(tf.Tensor, name)) for name in tf.Tensor.OVERLOADABLE_OPERATORS)
