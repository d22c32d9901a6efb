"""Sessions that nobody closed, and nobody has any more."""

import gc
import threading
import weakref

import pytest

import tfexp as tf


@pytest.mark.usefixtures("only_new_garbage")
def test_a_forgotten_session_is_collected():
    with tf.Graph().as_default():
        a = tf.Variable(2.0)
        session = tf.Session()
    for _ in range(4):
        session.run(a.initializer)
    gone = weakref.ref(session)
    backend = weakref.ref(session._backend)
    del session
    gc.collect()
    assert gone() is None
    assert backend() is None


@pytest.mark.usefixtures("only_new_garbage")
def test_a_forgotten_session_is_collected_while_its_data_is_waited_for():
    asked, given = threading.Event(), threading.Event()

    def numbers():
        yield 1
        asked.set()
        given.wait()

    with tf.Graph().as_default():
        iterator = tf.data.Dataset.from_generator(numbers, tf.int32).prefetch(1).make_initializable_iterator()
        sessions = [tf.Session()]
        sessions[0].run(iterator.initializer)
        assert sessions[0].run(iterator.get_next()) == 1
        assert asked.wait(30)

    def collect():
        sessions.clear()
        gc.collect()

    collecting = threading.Thread(target=collect, daemon=True)
    collecting.start()
    collecting.join(30)
    assert not collecting.is_alive()
    given.set()
