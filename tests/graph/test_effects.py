"""What running a node may change."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import tfexp as tf
from tfexp.graph.effects import written_by


@pytest.fixture(autouse=True)
def graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def test_of_references_those_that_the_node_takes_as_such() -> None:
    one, other = (tf.Variable([1.0, 2.0], use_resource=False)._ref() for _ in range(2))
    assert written_by(tf.raw_ops.Assign(ref=one, value=other).op) == [one]
    assert written_by(tf.raw_ops.ScatterAdd(ref=one, indices=[0], updates=other[:1]).op) == [one]
    assert written_by(tf.identity(one).op) == []


def test_of_resources_those_that_the_node_or_a_function_of_it_writes() -> None:
    one, other = (tf.Variable(1.0, use_resource=True) for _ in range(2))
    assert written_by(tf.raw_ops.AssignVariableOp(resource=one.handle, value=other)) == [one.handle]
    assert written_by(other.value().op) == []
    call = tf.contrib.eager.defun(lambda: one.assign_add(other).value())().op
    assert {one.handle, other.handle} <= {*call.inputs}
    assert written_by(call) == [one.handle]
