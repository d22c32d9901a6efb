"""Queue runners: their threads, how they end, how they are kept in files."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from typing import Any

import pytest

import tfexp as tf
from tfexp.core import errors


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as g:
        yield g


def counting_queue(limit: int, threads: int = 1) -> tuple[Any, tf.train.QueueRunner]:
    """A queue of the numbers below `limit`, and its runner."""
    queue = tf.FIFOQueue(3, [tf.int64], [[]], name="numbers")
    counter = tf.Variable(0, dtype=tf.int64, name="counter")
    return queue, tf.train.QueueRunner(queue, [queue.enqueue(counter.count_up_to(limit))] * threads)


def drain(session: Any, take: Any) -> list[int]:
    found: list[int] = []
    while True:
        try:
            found.append(int(session.run(take)))
        except errors.OutOfRangeError:
            return found


@pytest.mark.parametrize("with_coordinator", [False, True])
def test_the_last_thread_closes_the_queue(with_coordinator: bool) -> None:
    queue, runner = counting_queue(50, threads=4)
    take = queue.dequeue()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        coord = tf.train.Coordinator() if with_coordinator else None
        threads = runner.create_threads(session, coord, start=True)
        assert len(threads) == 4 + with_coordinator
        assert runner.create_threads(session, coord) == []  # they run
        assert sorted(drain(session, take)) == list(range(50))
        if coord is not None:
            coord.request_stop()
            coord.join()
        for thread in threads:
            thread.join()
    assert runner.exceptions_raised == []


def test_a_stop_lets_nobody_wait_for_room() -> None:
    queue = tf.FIFOQueue(3, [tf.float32], [[]])
    runner = tf.train.QueueRunner(queue, [queue.enqueue(1.0)] * 3)
    with tf.Session() as session:
        coord = tf.train.Coordinator()
        threads = runner.create_threads(session, coord, daemon=True, start=True)
        assert all(t.daemon for t in threads)
        assert {t.name for t in threads} == {
            "QueueRunnerThread-fifo_queue-fifo_queue_enqueue",
            "QueueRunnerThread-fifo_queue-close_on_stop",
        }
        assert session.run(queue.dequeue()) == 1.0
        coord.request_stop()
        # What was under way ends with CancelledError, which the coordinator may have been told of too late to matter.
        coord.join(threads, stop_grace_period_secs=20)
        with pytest.raises(errors.CancelledError):
            session.run(queue.enqueue(1.0))


def test_a_failure_reaches_the_joiner() -> None:
    queue = tf.FIFOQueue(3, [tf.float32], [[]])
    bad = tf.check_numerics(tf.log(tf.placeholder_with_default(-1.0, [])), "logarithm")
    runner = tf.train.QueueRunner(queue, [queue.enqueue(1.0), queue.enqueue(bad)])
    with tf.Session() as session:
        coord = tf.train.Coordinator()
        runner.create_threads(session, coord, start=True)
        with pytest.raises(errors.InvalidArgumentError, match="logarithm"):
            coord.join()


def test_a_failure_without_coordinator(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(threading, "excepthook", lambda args: None)
    queue = tf.FIFOQueue(3, [tf.float32], [[]])
    runner = tf.train.QueueRunner(queue, [queue.enqueue(tf.check_numerics(tf.constant(1.0) / 0.0, "division"))])
    with tf.Session() as session, caplog.at_level(logging.ERROR, "tensorflow"):
        (thread,) = runner.create_threads(session, start=True)
        thread.join()
    (error,) = runner.exceptions_raised
    assert isinstance(error, errors.InvalidArgumentError)
    assert "Exception in QueueRunner" in caplog.text


def test_other_ends_than_that_of_the_input() -> None:
    queue = tf.FIFOQueue(3, [tf.float32], [[]])
    ends = tf.check_numerics(tf.constant(1.0) / 0.0, "end")
    types = (errors.OutOfRangeError, errors.InvalidArgumentError)
    runner = tf.train.QueueRunner(queue, [queue.enqueue(ends)], queue_closed_exception_types=types)
    with tf.Session() as session:
        (thread,) = runner.create_threads(session, start=True)
        thread.join()
        assert session.run(queue.is_closed())
    for bad in (ValueError, (ValueError,), ()):
        with pytest.raises(TypeError, match=r"must be a tuple of tf\.error types"):
            tf.train.QueueRunner(queue, [queue.enqueue(1.0)], queue_closed_exception_types=bad)  # type: ignore[arg-type]


def test_sessions_have_threads_of_their_own() -> None:
    queue, runner = counting_queue(5)
    take = queue.dequeue()
    for _ in range(2):
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            threads = runner.create_threads(session, start=True)
            assert drain(session, take) == [0, 1, 2, 3, 4]
            threads[0].join()


def test_what_a_runner_needs() -> None:
    queue = tf.FIFOQueue(3, [tf.float32], [[]])
    with pytest.raises(ValueError, match="Must provide queue and enqueue_ops"):
        tf.train.QueueRunner(queue)
    with pytest.raises(ValueError, match="mutually exclusive"):
        tf.train.QueueRunner(queue, queue_runner_def=tf.train.QueueRunnerDef())
    no_op = tf.no_op()
    runner = tf.train.QueueRunner(queue, [queue.enqueue(1.0)], close_op=no_op, cancel_op=no_op)
    assert runner.queue is queue and runner.close_op is no_op and runner.cancel_op is no_op
    assert runner.queue_closed_exception_types == (errors.OutOfRangeError,)


def test_protos_are_tensorflow_s() -> None:
    with tf.name_scope("input"):
        _, runner = counting_queue(5, threads=2)
    proto = runner.to_proto()
    assert proto.queue_name == "input/numbers"
    assert list(proto.enqueue_op_name) == ["input/numbers_enqueue"] * 2
    assert (proto.close_op_name, proto.cancel_op_name) == ("input/numbers_Close", "input/numbers_Close_1")
    assert list(proto.queue_closed_exception_types) == [errors.OUT_OF_RANGE]
    # As TensorFlow writes it.
    assert proto.SerializeToString() == (
        b"\n\rinput/numbers\x12\x15input/numbers_enqueue\x12\x15input/numbers_enqueue"
        b'\x1a\x13input/numbers_Close"\x15input/numbers_Close_1*\x01\x0b'
    )
    back = tf.train.QueueRunner.from_proto(proto)
    assert back.name == runner.name and back.enqueue_ops == runner.enqueue_ops
    assert runner.to_proto("input").queue_name == "numbers"
    assert runner.to_proto("elsewhere") is None
    assert tf.train.QueueRunner.from_proto(runner.to_proto("input"), import_scope="input").cancel_op is runner.cancel_op


def test_a_graph_in_a_file_has_its_runners() -> None:
    queue, runner = counting_queue(4)
    queue.dequeue(name="take")
    tf.train.add_queue_runner(runner)
    saved = tf.train.export_meta_graph()
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(saved)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            coord = tf.train.Coordinator()
            tf.train.start_queue_runners(session, coord)
            assert drain(session, graph.get_tensor_by_name("take:0")) == [0, 1, 2, 3]
            coord.request_stop()
            coord.join()


def test_starting_all_runners(caplog: pytest.LogCaptureFixture) -> None:
    queue, runner = counting_queue(4)
    take = queue.dequeue()
    tf.train.add_queue_runner(runner, collection="mine")
    with pytest.raises(ValueError, match="No default session is registered"):
        tf.train.start_queue_runners()
    with pytest.raises(TypeError, match=r"sess must be a `tf\.Session` object"):
        tf.train.start_queue_runners("session")
    with tf.Session() as session, caplog.at_level(logging.WARNING, "tensorflow"):
        session.run(tf.global_variables_initializer())
        assert tf.train.start_queue_runners() == []
        assert "no queue runners were defined" in caplog.text
        (thread,) = tf.train.start_queue_runners(collection="mine", start=False)
        assert thread.daemon and not thread.is_alive()
        thread.start()
        assert drain(session, take) == [0, 1, 2, 3]
        thread.join()


def test_a_protos_exceptions_have_names() -> None:
    with tf.Graph().as_default():
        queue = tf.FIFOQueue(3, tf.float32)
        ends = (errors.OutOfRangeError, errors.CancelledError)
        proto = tf.train.QueueRunner(queue, [queue.enqueue(1.0)], queue_closed_exception_types=ends).to_proto()
    assert str(proto).endswith("queue_closed_exception_types: OUT_OF_RANGE\nqueue_closed_exception_types: CANCELLED\n")
