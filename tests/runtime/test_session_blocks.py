"""Sessions as blocks and as defaults, and when they are closed."""

import pytest

import tfexp as tf
from tfexp.core import errors


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_closed_sessions(graph):
    a = tf.constant(2.0)
    session = tf.Session(graph=graph)
    assert session.run(a) == 2.0
    session.close()
    session.close()
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"Attempted to use a closed Session\."):
            session.run(a)


def test_the_block_sets_defaults_and_closes(graph):
    a = tf.constant(2.0)
    with tf.Graph().as_default():
        with tf.Session(graph=graph) as session:
            assert tf.get_default_graph() is graph
            assert tf.get_default_session() is session
            assert a.eval() == 2.0
            with session.as_default():
                pass
            assert a.eval() == 2.0
        assert tf.get_default_session() is None
    with pytest.raises(RuntimeError):
        session.run(a)
    with pytest.raises(ValueError, match="No default session is registered"):
        a.eval()


def test_as_default_does_not_close(graph):
    a = tf.constant(2.0)
    session = tf.Session(graph=graph)
    with session.as_default():
        assert a.eval() == 2.0
    assert a.eval(session=session) == 2.0
    session.close()


def test_a_new_default_graph_while_an_interactive_session_is_open():
    """As cells of notebooks do it. The session stays that of its own graph."""
    tf.reset_default_graph()
    session = tf.InteractiveSession()
    try:
        x = tf.constant(3.0)
        tf.reset_default_graph()
        assert tf.get_default_graph() is not session.graph and x.eval() == 3
        with pytest.raises(ValueError, match="the tensor's graph is different from the session's graph"):
            tf.constant(5.0).eval()
    finally:
        session.close()


def test_interactive_session(graph):
    a = tf.constant(2.0)
    session = tf.InteractiveSession()
    try:
        assert a.eval() == 2.0
        with pytest.warns(UserWarning, match="An interactive session is already active"):
            second = tf.InteractiveSession()
        second.close()
        assert tf.get_default_session() is session
    finally:
        session.close()
    assert tf.get_default_session() is None


def test_reset_closes_local_sessions(graph):
    a = tf.Variable(2.0)
    session = tf.Session(graph=graph)
    session.run(a.initializer)
    tf.Session.reset("")
    with pytest.raises((errors.CancelledError, errors.FailedPreconditionError)):
        session.run(a)
    session.close()


def test_a_session_block_is_entered_once():
    with tf.Graph().as_default() as graph, tf.Session() as session:
        with pytest.raises(RuntimeError, match="Session context managers are not re-entrant"), session:
            pass
        with session.as_default(), session.as_default():
            assert tf.constant(2.0).eval() == 2.0
        assert tf.get_default_graph() is graph
    assert tf.get_default_session() is None
