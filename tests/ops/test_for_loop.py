"""The op For; its answers are TensorFlow's."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tfexp.core.errors import InvalidArgumentError
from tfexp.ops.defun import Defun
from tfexp.runtime.eager import eager_mode
from tfexp.stand_ins import functional_nodes


def body(turn, x, count):
    return x * 2.0 + tf.cast(turn, tf.float32), count + 1


def loop(session, start, limit, delta):
    function = Defun(tf.int32, tf.float32, tf.int32)(body)
    made = tf.raw_ops.For(start=start, limit=limit, delta=delta, input=[tf.constant([1.0, 2.0]), 0], body=function)
    return session.run(made)


@pytest.mark.parametrize(
    ("numbers", "expected", "turns"),
    [((1, 7, 2), [23, 31], 3), ((5, 0, -2), [35, 43], 3), ((3, 3, 1), [1, 2], 0)],
)
def test_a_body_is_called_for_each_number(numbers, expected, turns):
    with tf.Graph().as_default(), tf.Session() as session:
        for _ in range(2):
            value, count = loop(session, *numbers)
            np.testing.assert_array_equal(value, expected)
            assert count == turns


@pytest.mark.parametrize("numbers", [(0, 5, 0), (0, 5, -1), (5, 0, 1)])
def test_a_loop_that_does_not_end_is_refused(numbers):
    message = "Invalid start/limit/delta: {} {} {}".format(*numbers)
    with tf.Graph().as_default(), tf.Session() as session, pytest.raises(InvalidArgumentError, match=message):
        loop(session, *numbers)


def test_a_body_is_a_function_of_the_library():
    with pytest.raises(TypeError, match=r"Don't know how to convert .* to a func for argument body"):
        tf.raw_ops.For(start=0, limit=1, delta=1, input=[1.0], body=len)
    with tf.Graph().as_default(), tf.Session() as session:
        function = Defun(tf.int32, tf.float32, func_name="twice")(lambda turn, x: 2 * x)
        function.add_to_graph(tf.get_default_graph())
        assert session.run(tf.raw_ops.For(start=0, limit=3, delta=1, input=[1.0], body="twice")) == [8]


@pytest.mark.parametrize(
    ("start", "made", "message"),
    [
        ([1, 2], body, r"start must be a scalar, but \[2\]"),
        (1, lambda turn, x, count: x, "returned 1 arguments. Expected: 2"),
    ],
)
def test_loops_that_cannot_run(start, made, message):
    with tf.Graph().as_default(), tf.Session() as session:
        function = Defun(tf.int32, tf.float32, tf.int32)(made)
        results = tf.raw_ops.For(start=start, limit=3, delta=1, input=[[1.0, 2.0], 0], body=function)
        with pytest.raises(InvalidArgumentError, match=message):
            session.run(results)


@pytest.mark.parametrize("by_while", [False, True])
def test_functions_of_loops_use_what_is_around_them(by_while):
    with tf.Graph().as_default() as graph, tf.Session() as session:
        around = tf.Variable(3.0, use_resource=True)
        session.run(around.initializer)
        grows = Defun(tf.int32, tf.float32, func_name="grows")(lambda i, x: x + around * tf.cast(i, tf.float32))
        nothing = Defun(tf.int32)(lambda i: None)
        assert functional_nodes.For(1, 4, 1, [], nothing, rewrite_with_while=by_while) == []
        result = functional_nodes.For(1, 10, 2, [0.5], grows, rewrite_with_while=by_while, name="loop")
        assert session.run(result) == [75.5]
        assert graph.get_operation_by_name("loop").type == ("While" if by_while else "For")
        names = {function.signature.name for function in graph.as_graph_def().library.function}
        assert ({"grows_Cond", "grows_Body", "grows_Body_Wrapper"} if by_while else {"grows_BodyWrapper"}) < names


def test_gradients_of_a_function():
    with tf.Graph().as_default(), tf.Session() as session:
        function = Defun(tf.float32, tf.float32)(lambda x, y: (2 * x * y, x + y))
        found = functional_nodes.Gradient([3.0, 5.0, 1.0, 10.0], function)
        assert session.run(found) == [20, 16]


def test_loops_and_branches_run_at_once_in_eager_execution():
    with eager_mode():
        add, double = (Defun(tf.float32)(f) for f in (lambda x: x + 1, lambda x: 2 * x))
        below = Defun(tf.float32)(lambda x: x < 50)
        for _ in range(2):
            chosen = [
                tf.raw_ops.Case(branch_index=i, input=[5.0], Tout=[tf.float32], branches=[add, double]) for i in (0, 1)
            ]
            assert [float(result) for (result,) in chosen] == [6, 10]
            assert float(functional_nodes.While([3.0], below, double)[0]) == 96
            assert float(functional_nodes.If(False, [3.0], add, double)[0]) == 6
