"""The global step: found, made, checked."""

from __future__ import annotations

import pytest

import tfexp as tf
from tfexp.runtime.eager import eager_mode
from tfexp.train.global_step import global_step_read


def test_made_once() -> None:
    assert tf.train.get_global_step() is None
    step = tf.train.get_or_create_global_step()
    assert step.op.name == "global_step" and step.dtype.base_dtype is tf.int64 and not step.trainable
    assert tf.train.get_or_create_global_step() is step is tf.train.get_global_step()
    assert step in tf.global_variables()
    with pytest.raises(ValueError, match='"global_step" already exists'):
        tf.train.create_global_step()
    with tf.Session() as session:
        session.run(step.initializer)
        assert tf.train.global_step(session, step) == 0


def test_in_another_graph_and_scope() -> None:
    other = tf.Graph()
    with tf.name_scope("scope"):
        step = tf.train.get_or_create_global_step(other)
    assert step.graph is other and step.op.name == "global_step"
    assert tf.train.get_global_step() is None


def test_found_by_name() -> None:
    own = tf.Variable(3, name="global_step", trainable=False)
    assert tf.train.get_global_step() is own._ref()
    with tf.Graph().as_default():
        constant = tf.constant(1, name="global_step")
        assert tf.train.get_or_create_global_step() is constant


def test_found_twice(caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(2):
        tf.add_to_collection(tf.GraphKeys.GLOBAL_STEP, tf.Variable(0))
    assert tf.train.get_global_step() is None
    assert "Multiple tensors in global_step collection" in caplog.text


@pytest.mark.parametrize(("value", "text"), [(1.0, "does not have integer type"), ([1], "is not scalar")])
def test_what_is_no_step(value: object, text: str) -> None:
    tf.Variable(value, name="global_step")
    with pytest.raises(TypeError, match=text):
        tf.train.get_global_step()
    with pytest.raises(TypeError, match="must be a Variable or Tensor"):
        tf.train.assert_global_step("x")


def test_a_read_that_is_made_once():
    with tf.Graph().as_default():
        assert global_step_read() is None
        assert tf.get_default_graph().get_operations() == []
        tf.train.create_global_step()
        assert global_step_read() is global_step_read()


def test_eager_execution_finds_it_too():
    with eager_mode():
        assert tf.train.get_global_step() is None
        step = tf.train.get_or_create_global_step()
        assert tf.train.get_or_create_global_step() is step is tf.train.get_global_step()
        with pytest.raises(ValueError, match='"global_step" already exists'):
            tf.train.create_global_step()

        assert int(step.assign_add(2)) == tf.train.global_step(None, step) == 2
        with tf.Graph().as_default():
            assert tf.train.get_global_step() is None
    assert tf.train.get_global_step() is None
