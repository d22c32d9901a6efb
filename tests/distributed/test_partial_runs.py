"""Partial runs on servers: as TensorFlow's own were seen to be, on several tasks, and with what goes wrong."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest

import tfexp as tf
from tests.distributed import shared_partial, waiting
from tests.distributed.clusters import leave_nothing, running
from tests.runtime.asleep import Background
from tfexp.distributed import messages as m

PS, WORKER = shared_partial.PARTS


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, tf.train.Server]]:
    with running(ps=1, worker=1) as servers:
        yield servers


@pytest.fixture(autouse=True)
def _graph(servers: dict[str, tf.train.Server]) -> Iterator[None]:
    with tf.Graph().as_default():
        yield
    tf.Session.reset(servers["worker:0"].target)
    leave_nothing(servers)


@pytest.mark.parametrize("master", ["ps:0", "worker:0"])
def test_partial_runs_are_what_tensorflow_makes_of_them(servers: dict[str, tf.train.Server], master: str) -> None:
    assert shared_partial.use(tf, servers[master].target) == shared_partial.EXPECTED


def test_a_part_that_waits_does_not_keep_the_others(servers: dict[str, tf.train.Server]) -> None:
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    with tf.device(PS):
        queue = tf.FIFOQueue(3, tf.float32, [[]])
        give, taken = queue.enqueue(a), queue.dequeue()
        put = queue.enqueue(b)
    with tf.device(WORKER):
        doubled = a * 2.0
    with tf.Session(servers["worker:0"].target) as session:
        # The dequeue begins with the first part, and waits for what the last one brings.
        handle = session.partial_run_setup([doubled, taken, put], [a, b])
        assert session.partial_run(handle, doubled, {a: 3.0}) == 6.0
        assert session.partial_run(handle, [taken, put], {b: 4.0}) == [4.0, None]
        session.run(give, {a: 1.0})


def test_a_call_may_wait_for_what_another_brings(servers: dict[str, tf.train.Server]) -> None:
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    with tf.device(PS):
        queue = tf.FIFOQueue(3, tf.float32, [[]])
        taken = queue.dequeue() + b
        with tf.control_dependencies([queue.enqueue(a)]):
            given = a * 2.0
    with tf.Session(servers["worker:0"].target) as session:
        handle = session.partial_run_setup([given, taken], [a, b])
        first = Background(lambda: session.partial_run(handle, taken, {b: 1.0}))
        assert session.partial_run(handle, given, {a: 3.0}) == 6.0
        assert first.result() == 4.0


def test_operations_run_when_their_feeds_have_come_and_are_waited_for_at_the_end(
    servers: dict[str, tf.train.Server],
) -> None:
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    with tf.device(PS):
        v, w = tf.Variable(0.0), tf.Variable(0.0)
        first, second = tf.assign_add(v, a).op, tf.assign_add(w, b).op
    with tf.Session(servers["worker:0"].target) as session:
        session.run([v.initializer, w.initializer])
        # As TensorFlow's clients have it, which cannot ask for operations later on.
        doubled, trebled = a * 2.0, b * 3.0
        partial = session._backend.begin_partial([doubled, trebled], [first, second], [a, b])
        assert partial.run([doubled], {a: np.float32(2.0)}) == [4.0]
        assert partial.run([trebled], {b: np.float32(5.0)}) == [15.0]
        assert session.run([v, w]) == [2.0, 5.0]


def test_fed_and_fetched(servers: dict[str, tf.train.Server]) -> None:
    a = tf.placeholder(tf.float32, [None])
    with tf.Session(servers["worker:0"].target) as session:
        handle = session.partial_run_setup([a, a + 1.0], [a])
        with pytest.raises(tf.errors.InvalidArgumentError, match="can't be computed"):
            session.partial_run(handle, a)
        np.testing.assert_array_equal(session.partial_run(handle, a, {a: [1.0, 2.0]}), [1.0, 2.0])


def test_what_nobody_finishes_ends_with_its_session(servers: dict[str, tf.train.Server]) -> None:
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    with tf.device(PS):
        waits = waiting.wait(a)
        kept = a + 1.0
    with tf.device(WORKER):
        late = kept + b
    outcome: list[type[Exception]] = []
    with tf.Session(servers["worker:0"].target) as session:
        unfinished = session.partial_run_setup([kept, late], [a, b])
        assert session.partial_run(unfinished, kept, {a: 1.0}) == 2.0
        handle = session.partial_run_setup([waits, late], [a, b])

        def part() -> None:
            try:
                session.partial_run(handle, waits, {a: 1.0})
            except tf.errors.CancelledError as error:
                outcome.append(type(error))

        thread = threading.Thread(target=part)
        thread.start()
        assert waiting.started.acquire(timeout=60)
    thread.join(60)
    assert outcome == [tf.errors.CancelledError]


def test_what_fails_between_two_calls_is_said_to_the_next(servers: dict[str, tf.train.Server]) -> None:
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    with tf.device(WORKER):
        fine = a + 1.0
    with tf.device(PS):
        bad = tf.check_numerics(fine, "no number", name="bad")  # begins when the first call is answered
    with tf.device(WORKER):
        more = bad + b
    with tf.Session(servers["worker:0"].target) as session:
        handle = session.partial_run_setup([fine, more], [a, b])
        session.partial_run(handle, fine, {a: float("nan")})
        with pytest.raises(tf.errors.InvalidArgumentError, match="From /job:ps/replica:0/task:0:\nno number"):
            session.partial_run(handle, more, {b: 1.0})
        with pytest.raises(tf.errors.InvalidArgumentError, match="Must run PartialRunSetup"):
            session.partial_run(handle, more, {b: 1.0})


def test_what_was_not_set_up(servers: dict[str, tf.train.Server]) -> None:
    task = servers["worker:0"]._task
    a = tf.placeholder(tf.float32, [], name="a")
    tf.no_op(name="n")
    with tf.Session(servers["worker:0"].target) as session:
        session.run(a, {a: 1.0})
        handle = session._backend.session()
        with pytest.raises(tf.errors.InvalidArgumentError, match="at least one target"):
            task.call(m.PartialRunSetup(handle, ("a:0",), (), ()))
        with pytest.raises(tf.errors.NotFoundError, match="nothing"):
            task.call(m.PartialRunSetup(handle, ("a:0",), ("nothing:0",), ()))
        with pytest.raises(tf.errors.AbortedError, match="not found"):
            task.call(m.PartialRunSetup("0", ("a:0",), ("a:0",), ()))
        ready = task.call(m.PartialRunSetup(handle, ("a:0",), ("a:0",), ()))
        assert isinstance(ready, m.PartialRunReady)
        with pytest.raises(tf.errors.InvalidArgumentError, match="The target n was not specified"):
            task.call(m.RunStep(handle, (), (), ("n",), None, ready.handle))
        # The handle of a step is none of another session's.
        with tf.Session(servers["worker:0"].target) as other:
            other.run(a, {a: 1.0})
            with pytest.raises(tf.errors.InvalidArgumentError, match="Must run PartialRunSetup"):
                task.call(m.RunStep(other._backend.session(), (), ("a:0",), (), None, ready.handle))
