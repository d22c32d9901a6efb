"""Assert, Print, CheckNumerics: what they let pass, what they say."""

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, Like, OpCase, op_tests
from tfexp.ops.check import summarize_array

CASES = [
    OpCase(
        "CheckNumerics",
        [(2, 3)],
        lambda x: x,
        attrs={"message": "weights"},
        dtypes=["float16", "bfloat16", "float32", "float64"],
        errors=[
            Error(
                [Like([1.0, np.nan])],
                tf.errors.InvalidArgumentError,
                "weights : Tensor had NaN values",
                {"message": "weights"},
            ),
            Error([Like([np.inf, 1.0])], tf.errors.InvalidArgumentError, "m : Tensor had Inf values", {"message": "m"}),
            Error([Like([-np.inf, np.nan])], tf.errors.InvalidArgumentError, "Inf and NaN values", {"message": "m"}),
        ],
    ),
]
test_rows = op_tests(CASES)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def test_assert_passes_or_prints_its_data():
    flag = tf.placeholder(tf.bool, [])
    check = tf.Assert(flag, ["numbers", tf.constant([[1.5, 2.0], [3.0, 4.0]]), [True, False]], summarize=3, name="check")
    with tf.Session() as session:
        session.run(check, {flag: True})
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"assertion failed: \[numbers\] \[\[1.5 2\]\[3\.\.\.\]\.\.\.\] \[1 0\]"
        ):
            session.run(check, {flag: False})


def test_assert_wants_a_scalar_condition():
    with pytest.raises(ValueError, match="rank 0"):
        tf.Assert([True, False], ["text"])


def test_print_writes_to_stderr_and_passes_its_input_on(capfd):
    x = tf.placeholder(tf.float32, [2])
    printed = tf.Print(x, [x, tf.constant(["a", "b"])], "values: ", first_n=2)
    with tf.Session() as session:
        for _ in range(3):
            assert session.run(printed, {x: [1.0, 2.5]}).tolist() == [1.0, 2.5]
        (grad,) = session.run(tf.gradients(printed * 3.0, x), {x: [0.0, 0.0]})
    assert capfd.readouterr().err == "values: [1 2.5][a b]\n" * 2
    assert grad.tolist() == [3.0, 3.0]


@pytest.mark.parametrize(
    ("value", "limit", "text"),
    [
        (np.float32(0.1), 3, "0.1"),
        (np.arange(5), 3, "0 1 2..."),
        (np.arange(5), -1, "0 1 2 3 4"),
        (np.arange(4).reshape(2, 2), 3, "[0 1][2...]..."),
        (np.arange(4).reshape(2, 2), 2, "[0 1]..."),
        (np.array([b"x", b"y"], dtype=object), 3, "x y"),
        (np.array([True, False]), 3, "1 0"),
        (np.zeros([0], np.float32), 3, ""),
    ],
)
def test_summarized_values(value, limit, text):
    assert summarize_array(value, limit) == text
