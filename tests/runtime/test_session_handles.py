"""Tensors that stay in the session: handles fetched, fed and deleted."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import tfexp as tf
from tfexp.core import errors


@pytest.fixture(autouse=True)
def session() -> Iterator[tf.Session]:
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_a_tensor_goes_from_step_to_step(session: tf.Session) -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    handle = session.run(tf.get_session_handle(x * 2.0), {x: [1.0, 2.0]})
    assert handle.handle == f"GetSessionHandle;0;{handle.handle.split(';')[2]}" and handle.handle.endswith("CPU:0")
    assert str(handle) == handle.get_raw_handle() == handle.handle
    holder, value = tf.get_session_tensor(handle.handle, tf.float32)
    for _ in range(2):
        np.testing.assert_array_equal(session.run(value + 1.0, {holder: handle.handle}), [3.0, 5.0])
    np.testing.assert_array_equal(handle.eval(), [2.0, 4.0])
    # It may stand where an array would.
    np.testing.assert_array_equal(session.run(x + 10.0, {x: handle}), [12.0, 14.0])


def test_what_is_kept_does_not_change(session: tf.Session) -> None:
    v = tf.Variable([1.0, 2.0])
    kept, added = tf.get_session_handle(v.value()), v.assign_add([1.0, 1.0])
    session.run(v.initializer)
    handles = [session.run([kept, {"added": added}])[0] for _ in range(3)]
    assert len({handle.handle for handle in handles}) == 3
    assert [handle.eval()[0] for handle in handles] == [1.0, 2.0, 3.0]


def test_deleted_tensors_are_gone(session: tf.Session) -> None:
    handle = session.run(tf.get_session_handle(tf.constant(5)))
    holder, deleted = tf.delete_session_tensor(handle.handle)
    session.run(deleted, {holder: handle.handle})
    with pytest.raises(errors.InvalidArgumentError, match="is not in the session store"):
        handle.eval()
    other = session.run(tf.get_session_handle(tf.constant(["a"])))
    assert other.eval().tolist() == [b"a"]
    other.delete()
    with pytest.raises(errors.InvalidArgumentError, match="is not in the session store"):
        other.delete()


def test_misuse(session: tf.Session) -> None:
    with pytest.raises(TypeError, match="`data` must be of type Tensor"):
        tf.get_session_handle(1.0)
    handle = session.run(tf.get_session_handle(tf.constant(5)))
    holder, value = tf.get_session_tensor(handle.handle, tf.float32)
    with pytest.raises(errors.InvalidArgumentError, match="is of int32, not float32"):
        session.run(value, {holder: handle.handle})
    with tf.Session() as other, pytest.raises(errors.InvalidArgumentError, match="is not in the session store"):
        other.run(value, {holder: handle.handle})


def test_many_handles_need_one_reader(session: tf.Session) -> None:
    kept = tf.get_session_handle(tf.constant(1))
    handles = [session.run(kept) for _ in range(3)]
    handles[0].eval()
    count = len(tf.get_default_graph().get_operations())
    assert [handle.eval() for handle in handles] == [1, 1, 1]
    assert len(tf.get_default_graph().get_operations()) == count
