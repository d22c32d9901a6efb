"""Loops that are built node by node, without LoopCond: values recorded from TensorFlow 1.15."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.graph.control_flow import merge
from tfexp.graph.while_context import enter, leave, loop_switch, next_iteration


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def variable(start, frame):
    entered = enter(start, frame)
    return merge([entered, entered])


def count(start, limit, frame, step=1):
    """The first of `start`, `start + step`, … that is not below `limit`."""
    merged = variable(start, frame)
    left, going = loop_switch(merged, tf.less(merged, enter(limit, frame, is_constant=True)))
    merged.op._update_input(1, next_iteration(going + enter(tf.constant(step), frame, is_constant=True)))
    return leave(left)


def test_a_loop_runs_on_what_decides_its_switches():
    limit = tf.placeholder(tf.int32, [])
    counted = count(tf.constant(0), limit, "loop", step=2)
    with tf.Session() as session:
        assert [session.run(counted, {limit: value}) for value in (5, 8, -7)] == [6, 8, 0]


def test_one_loop_after_another():
    with tf.Session() as session:
        assert session.run(count(count(tf.constant(0), tf.constant(5), "first"), tf.constant(8), "second")) == 8


def test_variables_of_one_condition():
    number, power = variable(tf.constant(0), "loop"), variable(tf.constant(1.0), "loop")
    decided = tf.less(number, enter(tf.constant(10), "loop", is_constant=True))
    last, going = loop_switch(number, decided)
    result, base = loop_switch(power, decided)
    number.op._update_input(1, next_iteration(going + enter(tf.constant(1), "loop", is_constant=True)))
    doubled = base * enter(tf.constant(2.0), "loop", is_constant=True)
    power.op._update_input(1, next_iteration(doubled + tf.cast(going, tf.float32)))
    with tf.Session() as session:
        assert session.run([leave(last), leave(result)]) == [10, 2037.0]


def test_a_variable_that_decides_by_itself():
    merged = variable(tf.constant(True), "loop")
    left, going = loop_switch(merged, merged)
    merged.op._update_input(1, next_iteration(tf.logical_not(going)))
    with tf.Session() as session:
        assert session.run(leave(left)) is np.False_


def test_a_frame_that_two_conditions_decide_is_refused():
    first, second = variable(tf.constant(True), "loop"), variable(tf.constant(True), "loop")
    results = []
    for merged in (first, second):
        left, going = loop_switch(merged, merged)
        merged.op._update_input(1, next_iteration(tf.logical_and(going, tf.logical_not(going))))
        results.append(leave(left))
    with tf.Session() as session, pytest.raises(tf.errors.UnimplementedError, match=r"frame 'loop'.*0 LoopCond nodes"):
        session.run(results)
