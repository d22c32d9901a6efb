"""Stacks: last in first out, bounded."""

import pytest

import tfexp as tf
from tfexp.core.op import get_op

stack, push, pop = (get_op(name) for name in ("StackV2", "StackPushV2", "StackPopV2"))


def run(fetches):
    with tf.Session() as session:
        return session.run(fetches)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def pushed(handle, *values):
    last = []
    for value in values:
        with tf.control_dependencies(last):
            last = [push(handle, value)]
    return last


def test_last_in_first_out():
    handle = stack(-1, elem_type=tf.float32)
    with tf.control_dependencies(pushed(handle, [1.0], [2.0, 3.0])):
        first = pop(handle, elem_type=tf.float32)
    with tf.control_dependencies([first]):
        second = pop(handle, elem_type=tf.float32)
    a, b = run([first, second])
    assert (a.tolist(), b.tolist()) == ([2.0, 3.0], [1.0])


def test_errors_name_the_stack():
    bounded = stack(1, elem_type=tf.int32, stack_name="small")
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Stack\[small\] overflowed its max_size \(1\)"):
        run(pushed(bounded, 1, 2))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Stack\[small\] is empty when calling Pop"):
        run(pop(bounded, elem_type=tf.int32))
