"""The op For; its answers are TensorFlow's."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tfexp.core.errors import InvalidArgumentError
from tfexp.ops.defun import Defun


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


def test_what_a_loop_takes_is_said_when_it_runs():
    twice = Defun(tf.int32, tf.float32)(lambda turn, x: [x, x])
    with tf.Graph().as_default(), tf.Session() as session:
        for numbers, named in (([0], 3, 1), "start"), ((0, [3], 1), "limit"), ((0, 3, [1]), "delta"):
            start, limit, delta = numbers
            loop = tf.raw_ops.For(start=start, limit=limit, delta=delta, input=[1.0], body=twice)
            with pytest.raises(InvalidArgumentError, match=rf"{named} must be a scalar, but \[1\]"):
                session.run(loop)
        loop = tf.raw_ops.For(start=0, limit=3, delta=1, input=[1.0], body=twice)
        with pytest.raises(InvalidArgumentError, match="For loop body returned 2 arguments"):
            session.run(loop)
