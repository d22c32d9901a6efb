"""Assert, CheckNumerics, Print, and the assertions that are made of them."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError
from tfexp.graph.constant_value import constant_value
from tfexp.ops.check import summarize_array
from tfexp.runtime.eager import eager_mode

CASES = [
    OpCase(
        "CheckNumerics",
        [(2, 3)],
        lambda x: x,
        attrs={"message": "bad x"},
        dtypes=["float32", "float16"],
        errors=[
            Error([np.float32([1, np.nan])], InvalidArgumentError, "bad x : Tensor had NaN values"),
            Error([np.float32([1, -np.inf])], InvalidArgumentError, "bad x : Tensor had Inf values"),
            Error([np.float32([np.nan, np.inf])], InvalidArgumentError, "bad x : Tensor had Inf and NaN values"),
        ],
    ),
]
test_rows = op_tests(CASES)


@pytest.mark.parametrize(
    ("value", "limit", "text"),
    [
        (np.int32(7), 3, "7"),
        (np.int32([1, 2]), 3, "1 2"),
        (np.int32([1, 2, 3, 4]), 3, "1 2 3..."),
        (np.float32([[-1.5, 0, 2], [3, 4, 5]]), 3, "[-1.5 0 2]..."),
        (np.float32([[-1.5, 0, 2], [3, 4, 5]]), 4, "[-1.5 0 2][3...]..."),
        (np.float32([[-1.5, 0, 2], [3, 4, 5]]), 2, "[-1.5 0...]..."),
        (np.float32([[-1.5, 0, 2], [3, 4, 5]]), -1, "[-1.5 0 2][3 4 5]"),
        (np.array([b"ab", b"c"], object), 3, "ab c"),
        (np.array([True, False]), 3, "1 0"),
    ],
)
def test_values_in_messages(value, limit: int, text: str) -> None:
    """Recorded from TensorFlow's own messages."""
    assert summarize_array(value, limit) == text


def test_assert() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        condition, numbers = tf.placeholder(tf.bool, []), tf.constant([[1, 2, 3], [4, 5, 6]])
        plain = tf.Assert(condition, ["numbers", numbers])
        guarded = tf.Assert(condition, [tf.cast(numbers, tf.float32)], summarize=4)
        assert plain.type == "Assert"
        assert guarded.type == "Merge"  # data that may be elsewhere is fetched only when the condition fails
        session.run([plain, guarded], {condition: True})
        with pytest.raises(InvalidArgumentError, match=re.escape("assertion failed: [numbers] [[1 2 3]...]")):
            session.run(plain, {condition: False})
        with pytest.raises(InvalidArgumentError, match=re.escape("assertion failed: [[1 2 3][4...]...]")):
            session.run(guarded, {condition: False})


def test_print_writes_at_most_so_often(capsys: pytest.CaptureFixture[str]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([1.0, 2.0])
        printed = tf.Print(x, [x, "text"], message="x: ", first_n=2)
        (grad,) = tf.gradients(printed * 3.0, x)
        for _ in range(3):
            assert session.run(printed).tolist() == [1, 2]
        assert session.run(grad).tolist() == [3, 3]
    assert capsys.readouterr().err == "x: [1 2][text]\n" * 2


@pytest.mark.parametrize(
    ("assertion", "good", "bad", "sign"),
    [
        (tf.assert_equal, ([1, 2], [1, 2]), ([1, 2], [1, 3]), "=="),
        (tf.assert_less, ([1, 2], [3]), ([1, 3], [3]), "<"),
        (tf.assert_less_equal, ([1, 3], [3]), ([4], [3]), "<="),
        (tf.assert_greater, ([4], [3]), ([3], [3]), ">"),
        (tf.assert_greater_equal, ([3], [3]), ([2], [3]), ">="),
    ],
)
def test_comparisons(assertion, good, bad, sign: str) -> None:
    text = re.escape(f"Condition x {sign} y did not hold element-wise:")
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.int32, [None])
        checked = assertion(x, y, message="mine")
        session.run([checked, assertion(*good)], {x: good[0], y: good[1]})
        with pytest.raises(InvalidArgumentError, match=rf"\[mine\] \[{text}\]"):
            session.run(checked, {x: bad[0], y: bad[1]})
        with pytest.raises(InvalidArgumentError, match=text):
            assertion(*bad)  # known while building


@pytest.mark.parametrize(
    ("assertion", "good", "bad"),
    [
        (tf.assert_positive, [1], [0]),
        (tf.assert_non_negative, [0], [-1]),
        (tf.assert_negative, [-1], [0]),
        (tf.assert_non_positive, [0], [1]),
    ],
)
def test_against_zero(assertion, good, bad) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.int32, [None])
        checked = assertion(x)
        session.run(checked, {x: good})
        with pytest.raises(InvalidArgumentError, match="0 did not hold element-wise"):
            session.run(checked, {x: bad})


def test_ranks_and_types() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        known, unknown = tf.zeros([2, 3]), tf.placeholder(tf.float32)
        assert tf.assert_rank(known, 2).type == "NoOp"
        for check, text in (
            (tf.assert_rank(unknown, 1), "must have rank] [1]"),
            (tf.assert_rank_at_least(unknown, 3), "must have rank at least] [3]"),
        ):
            with pytest.raises(InvalidArgumentError, match=re.escape(text)):
                session.run(check, {unknown: np.ones((2, 3))})
        with pytest.raises(ValueError, match=r"must have rank 1\.  Received rank 2"):
            tf.assert_rank(known, 1)
        with pytest.raises(ValueError, match="must have rank at least 3"):
            tf.assert_rank_at_least(known, 3)
        with pytest.raises(TypeError, match="integer type"):
            tf.assert_integer(known)
        with pytest.raises(ValueError, match="Expected scalar shape"):
            tf.assert_scalar(known)


def test_checks_of_whole_graphs() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [2])
        tf.log(x, name="logarithm")
        everything = tf.add_check_numerics_ops()
        finite = tf.verify_tensor_all_finite(x, "not finite")
        session.run(everything, {x: [1, 2]})
        with pytest.raises(InvalidArgumentError, match="logarithm:0 : Tensor had Inf"):
            session.run(everything, {x: [1, 0]})
        with pytest.raises(InvalidArgumentError, match="not finite : Tensor had NaN"):
            session.run(finite, {x: [1, np.nan]})


def test_ranks_that_are_no_scalars_and_kinds_of_values() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x, ranks = tf.placeholder(tf.int32), tf.placeholder(tf.int32)
        node = tf.assert_rank(x, ranks)
        session.run(node, {x: [1], ranks: 1})
        with pytest.raises(InvalidArgumentError, match="Rank must be a scalar"):
            session.run(node, {x: [1], ranks: [[1, 2]]})


def test_texts_of_a_failed_assertion_are_escaped() -> None:
    node = tf.Assert(False, [tf.constant("it's \n \u00e9")])
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        session.run(node)
    assert r"assertion failed: [it\'s \n \303\251]" in str(caught.value)


@pytest.mark.parametrize("check", [tf.assert_equal, tf.assert_less, tf.assert_greater_equal])
def test_a_message_stands_in_front_of_data_that_were_given(check) -> None:
    with tf.Graph().as_default() as graph:
        check(tf.placeholder(tf.float32), tf.placeholder(tf.float32), data=["what", 2.0], message="why")
        (node,) = [op for op in graph.get_operations() if op.type == "Assert"]
        assert [constant_value(part) for part in node.inputs[1:]] == [b"why", b"what", 2.0]


def test_what_fails_eagerly_is_shown():
    expected = r"Expected 'tf.Tensor\(False, shape=\(\), dtype=bool\)' to be true. Summarized data: b'x'"
    with eager_mode(), pytest.raises(InvalidArgumentError, match=expected):
        tf.Assert(tf.constant(False), ["x"])


_ONE = ["Indices of first 1 different values:", "[[1]]", "Corresponding x values:", "[2]", "Corresponding y values:", "[3]"]


@pytest.mark.parametrize(
    ("call", "lines"),
    [
        (
            lambda: tf.assert_equal([1, 2], [1, 3], message="said"),
            [
                "said",
                "Condition x == y did not hold.",
                *_ONE,
                "First 2 elements of x:",
                "[1 2]",
                "First 2 elements of y:",
                "[1 3]",
            ],
        ),
        (
            lambda: tf.assert_less_equal([1, 2, 5, 6, 7], [1, 3, 4, 4, 4], summarize=2),
            [
                "Condition x <= y did not hold.",
                "Indices of first 2 different values:",
                "[[2]",
                " [3]]",
                "Corresponding x values:",
                "[5 6]",
                "Corresponding y values:",
                "[4 4]",
                "First 2 elements of x:",
                "[1 2]",
                "First 2 elements of y:",
                "[1 3]",
            ],
        ),
        (
            lambda: tf.assert_positive([-1.0, -2.0, -3.0, -4.0]),
            [
                "",
                "Condition x > 0 did not hold element-wise:",
                "x (shape=(4,) dtype=float32) = ",
                "['-1.0', '-2.0', '-3.0', '...']",
            ],
        ),
        (
            lambda: tf.assert_less(1, 0, data=["text", tf.constant([1, 2]), tf.constant(5)], summarize=-1),
            ["text", "['1', '2']", "5"],
        ),
    ],
)
def test_what_is_told_where_ops_run_at_once(call, lines):
    with eager_mode(), pytest.raises(InvalidArgumentError) as caught:
        call()
    assert caught.value.message == "\n".join(lines)


def test_what_holds_gives_nothing_where_ops_run_at_once():
    with eager_mode():
        assert tf.assert_equal([1, 2], [1, 2]) is tf.assert_less(1, 2, data=["x"]) is tf.assert_positive(1) is None


def test_data_that_are_no_list_are_refused() -> None:
    holds = tf.constant(1.0) > 0
    with pytest.raises(TypeError, match="Expected list for 'data' argument to 'Assert' Op, not x"):
        tf.Assert(holds, "x")
    for data in (tf.constant([1.0]), 5):
        with pytest.raises(TypeError, match="values must be a sequence"):
            tf.Assert(holds, data)
