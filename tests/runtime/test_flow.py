"""Nodes that wait for others: what runs meanwhile, who wakes them, what is left when they give up."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.runtime.asleep import Asleep, Background, soon
from tfexp.core.errors import CancelledError, DeadlineExceededError, InvalidArgumentError
from tfexp.core.waiting import Promise
from tfexp.runtime import flow, waiting
from tfexp.runtime.flow import Flow, Started
from tfexp.runtime.step import StepState


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as g:
        yield g


@pytest.fixture
def asleep(monkeypatch: pytest.MonkeyPatch) -> Asleep:
    return Asleep(monkeypatch)


def queue(capacity: int = 5, name: str = "q") -> Any:
    return tf.FIFOQueue(capacity, [tf.float32], [[]], name=name)


def test_a_step_may_feed_itself() -> None:
    """The dequeue comes first in the graph, and has to wait for the enqueue of the same step."""
    q = queue()
    taken = q.dequeue() * 2.0
    given = q.enqueue(5.0)
    with tf.Session() as session:
        for _ in range(3):  # interpreted, then generated code
            assert session.run([taken, given]) == [10.0, None]
        assert session.run(q.size()) == 0


def test_a_step_may_feed_itself_in_a_circle() -> None:
    a, b = queue(name="a"), queue(name="b")
    there = b.enqueue(a.dequeue() + 1.0)
    back = b.dequeue() * 10.0
    start = a.enqueue(4.0)
    with tf.Session() as session:
        for _ in range(3):
            assert session.run([back, there, start])[0] == 50.0


def test_what_needs_not_wait_does_not(asleep: Asleep) -> None:
    q, done = queue(), tf.Variable(0.0)
    taken = tf.sqrt(q.dequeue())
    meanwhile = done.assign_add(1.0)
    other = queue(name="other")
    passed_on = other.enqueue(done + 1.0)
    give, look = q.enqueue(9.0), other.dequeue()
    with tf.Session() as session:
        session.run(done.initializer)
        for number in range(3):
            step = Background(lambda: session.run([taken, meanwhile, passed_on]))
            asleep.wait()
            assert session.run(done) == number + 1.0
            assert session.run(look) >= 1.0
            session.run(give)
            assert step.result()[0] == 3.0


def test_control_edges_hold_while_a_node_waits(asleep: Asleep) -> None:
    q, done = queue(), tf.Variable(0.0)
    taken = q.dequeue()
    with tf.control_dependencies([taken]), tf.control_dependencies([tf.no_op()]):
        after = done.assign_add(1.0)
    free = queue(name="free").enqueue(1.0)
    give = q.enqueue(1.0)
    with tf.Session() as session:
        session.run(done.initializer)
        for number in range(3):
            step = Background(lambda: session.run([after, free]))
            asleep.wait()
            assert session.run(done) == number
            session.run(give)
            assert step.result()[0] == number + 1


def test_a_failure_elsewhere_takes_nothing_from_the_queue(asleep: Asleep) -> None:
    q, other = queue(), queue(name="other")
    step = [q.dequeue(), tf.check_numerics(other.dequeue(), "not finite")]
    give, poison, drain = q.enqueue(1.0), other.enqueue(np.inf), q.dequeue_many(1)
    with tf.Session() as session:
        for _ in range(3):
            failing = Background(lambda: session.run(step))
            asleep.wait()
            session.run(poison)
            with pytest.raises(InvalidArgumentError, match="not finite"):
                failing.result()
            session.run(give)
            assert session.run(drain).tolist() == [1.0]


def test_a_branch_that_is_not_taken_does_not_wait() -> None:
    q = queue()
    wanted = tf.placeholder(tf.bool, [])
    value = tf.cond(wanted, lambda: q.dequeue(), lambda: tf.constant(-1.0))
    give = q.enqueue(7.0)
    with tf.Session() as session:
        for _ in range(3):
            assert session.run(value, {wanted: False}) == -1.0
            assert session.run([value, give], {wanted: True})[0] == 7.0


def test_waiting_in_a_loop(asleep: Asleep) -> None:
    q = queue()
    total = tf.while_loop(lambda i, _: i < 3, lambda i, s: (i + 1, s + q.dequeue()), [0, 0.0])[1]
    give = q.enqueue_many([[1.0, 2.0, 4.0]])
    with tf.Session() as session:
        for _ in range(3):
            step = Background(lambda: session.run(total))
            asleep.wait()
            session.run(give)
            assert step.result() == 7.0


def test_a_loop_that_waits_lets_others_go_on(asleep: Asleep) -> None:
    """What it waits for comes from another loop of the same step."""
    q = queue(1)
    total = tf.while_loop(lambda i, _: i < 5, lambda i, s: (i + 1, s + q.dequeue()), [0, 0.0])[1]

    def give(i: Any) -> Any:
        with tf.control_dependencies([q.enqueue(tf.to_float(i))]):
            return i + 1

    given = tf.while_loop(lambda i: i < 5, give, [0])
    with tf.Session() as session:
        for _ in range(3):
            assert session.run([total, given]) == [10.0, 5]
        for _ in range(2):
            with pytest.raises(DeadlineExceededError):
                session.run([total, q.size()], options=tf.RunOptions(timeout_in_ms=50))
            with pytest.raises(InvalidArgumentError, match="not finite"):
                session.run([total, tf.check_numerics(tf.constant(1.0) / 0.0, "not finite")])
        assert session.run([total, given]) == [10.0, 5]


def test_feeding_what_would_wait() -> None:
    taken = queue().dequeue()
    with tf.Session() as session:
        for _ in range(3):
            assert session.run(taken + 1.0, {taken: 5.0}) == 6.0


def test_many_nodes_wait_in_one_thread(asleep: Asleep) -> None:
    q = queue(1)
    taken = [q.dequeue() for _ in range(20)]
    give = q.enqueue_many([np.arange(20, dtype=np.float32)])
    with tf.Session() as session:
        for _ in range(3):
            before = threading.active_count()
            step = Background(lambda: session.run(taken))
            asleep.wait()
            assert threading.active_count() == before + 1
            session.run(give)
            assert sorted(step.result()) == list(range(20))


def test_traces_tell_how_long_a_node_waited(asleep: Asleep) -> None:
    q = queue()
    step, give = [q.dequeue(), tf.constant(1.0) + 1.0], q.enqueue(1.0)
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    with tf.Session() as session:
        traced = Background(lambda: session.run(step, options=options, run_metadata=metadata))
        asleep.wait()
        session.run(give)
        traced.result()
    (device,) = metadata.step_stats.dev_stats
    assert "q_Dequeue" in [node.node_name for node in device.node_stats]


# --- giving up ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("together", [False, True], ids=["alone", "beside others"])
def test_time_is_up(together: bool) -> None:
    q = queue()
    step: list[Any] = [q.dequeue()] + ([q.enqueue(1.0), q.dequeue()] if together else [])
    fill, size = q.enqueue(8.0), q.size()
    with tf.Session() as session:
        for _ in range(3):
            with pytest.raises(DeadlineExceededError, match=r"Timed out waiting for notification.* ms; it waited for an el"):
                soon(session, step)
        left = session.run(size)
        session.run(fill)
        assert session.run(size) == left + 1


def test_every_step_of_a_session_may_have_a_time_limit() -> None:
    q = queue()
    with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=100)) as session:
        for _ in range(3):
            with pytest.raises(DeadlineExceededError, match=r"{{node q"):
                session.run(q.dequeue())
        # The step's own limit goes before the session's: a busy machine may well take longer than that one.
        patient = tf.RunOptions(timeout_in_ms=60_000)
        session.run(q.enqueue(1.0), options=patient)
        assert session.run(q.dequeue(), options=patient) == 1.0


@pytest.mark.parametrize("together", [False, True], ids=["alone", "beside others"])
def test_closing_the_session_wakes_its_steps(asleep: Asleep, together: bool) -> None:
    q = queue()
    fetches = [q.dequeue(), q.dequeue()] if together else q.dequeue()
    session = tf.Session()
    steps = [Background(lambda: session.run(fetches)) for _ in range(3)]
    asleep.wait(3)
    session.close()
    for step in steps:
        with pytest.raises(CancelledError, match="Dequeue operation was cancelled"):
            step.result()


@pytest.mark.parametrize("when", ["start", "resume"])
def test_a_step_that_is_cancelled_while_its_last_node_begins_to_wait_ends(when: str) -> None:
    """Whoever cancels it finds nothing that waits, and the step looks whether it is cancelled only before it runs a node."""
    state = StepState()

    def promised(position: int) -> Started:
        return Started(position, Promise(lambda: "nothing", Promise.fail), [], 0.0)

    class Runner:
        """One node, then another. The step is cancelled as the second starts, or as the first goes on to its second part."""

        plan: Any = SimpleNamespace(
            inter_op=1,
            steps=[
                SimpleNamespace(waits=True, own_thread=False, behind=behind, name="n", origin=None)
                for behind in (frozenset(), {0})
            ],
        )

        def start(self, position: int) -> Started:
            state.cancel(CancelledError(None, None, "not wanted"))
            return promised(position)

        def resume(self, started: Started) -> Started | None:
            started.waiting.result()
            return self.start(started.position) if when == "resume" else None

    first = promised(0)
    first.waiting.keep(None)  # type: ignore[attr-defined]
    step = Background(lambda: Flow(Runner(), [0, 1], state).run(first))  # type: ignore[arg-type]
    with pytest.raises(CancelledError, match="not wanted"):
        step.result()


def test_the_keyboard_interrupts_a_step_that_waits(asleep: Asleep) -> None:
    q = queue()
    with tf.Session() as session:

        def interrupt() -> None:
            asleep.wait()
            os.kill(os.getpid(), signal.SIGINT)  # which wakes the main thread, as the keyboard's does

        interrupting = Background(interrupt)
        with pytest.raises(KeyboardInterrupt):
            session.run(q.dequeue())
        interrupting.result()
        session.run(q.enqueue(4.0))
        assert session.run(q.dequeue()) == 4.0


def test_the_main_thread_sees_a_signal_that_came_before_it_slept() -> None:
    def first_sleep() -> float:
        slept: list[float] = []

        def arrived(seconds: float) -> bool:
            slept.append(seconds)
            return len(slept) == 2

        waiting.sleep_until(arrived, None, None)
        return slept[0]

    assert first_sleep() <= 1  # then it looks for signals
    assert Background(first_sleep).result() == threading.TIMEOUT_MAX


class _Deaf(Promise):
    """Its first callback is not taken down: Ctrl-C comes before."""

    __slots__ = ("_heard",)

    def on_settled(self, callback: Callable[[], None]) -> None:
        if not hasattr(self, "_heard"):
            self._heard = True
            raise KeyboardInterrupt
        super().on_settled(callback)


@pytest.mark.parametrize("when", ["parked", "settled"])
def test_a_step_gives_up_wherever_the_keyboard_interrupts_it(when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a node is about to be heard of, or when it was heard that one has settled that nobody has taken yet."""

    def interrupted(arrived: Callable[[float], bool], *_: Any) -> None:
        assert arrived(0.0)
        raise KeyboardInterrupt

    monkeypatch.setattr(flow, "sleep_until", interrupted)
    promise = (_Deaf if when == "parked" else Promise)(lambda: "nothing", Promise.fail)
    if when == "settled":
        promise.keep(None)
    runner: Any = SimpleNamespace(
        plan=SimpleNamespace(inter_op=1, steps=[SimpleNamespace(waits=True, own_thread=False, name="n", origin=None)])
    )
    step = Background(lambda: Flow(runner, [0], None).run(Started(0, promise, [], 0.0)))
    with pytest.raises(KeyboardInterrupt):
        step.result()


def test_a_step_that_came_to_its_end_keeps_what_it_took() -> None:
    """Its deadline passes while the last node runs: the element would be lost otherwise."""
    state = StepState(timeout_in_ms=1)
    promise = Promise(lambda: "x", lambda p, reason: p.fail(reason))
    promise.keep(3)
    state.expire()
    assert promise.now() == 3


# --- hints -------------------------------------------------------------------------------------------------------------


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self, arrives_at: float):
        self.now = 100.0
        self.arrives_at = self.now + arrives_at

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> bool:
        self.now = min(self.now + seconds, self.arrives_at)
        return self.now >= self.arrives_at


def test_a_hint_comes_once_after_a_while() -> None:
    hints: list[float] = []
    clock = Clock(arrives_at=3600.0)
    waiting.sleep_until(clock.sleep, None, lambda: hints.append(clock.now), clock)
    assert hints == [100.0 + waiting.HINT_AFTER]


def test_no_hint_for_a_short_wait() -> None:
    hints: list[float] = []
    clock = Clock(arrives_at=waiting.HINT_AFTER - 0.1)
    waiting.sleep_until(clock.sleep, None, lambda: hints.append(clock.now), clock)
    assert hints == []


def test_a_deadline_cancels_the_step() -> None:
    clock = Clock(arrives_at=7.0)
    state = StepState(timeout_in_ms=1)
    state.deadline = 102.0
    waiting.sleep_until(clock.sleep, state, None, clock)
    assert isinstance(state.reason, DeadlineExceededError)


def test_a_forgotten_start_is_hinted_at(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    names = tf.train.string_input_producer(["a", "b"], shuffle=False)
    taken = names.dequeue()
    with tf.Session() as session, caplog.at_level(logging.WARNING, "tensorflow"):
        monkeypatch.setattr(waiting, "HINT_AFTER", 0.01)
        waits = Background(lambda: session.run(taken))
        while not caplog.records:
            assert waits.running
            threading.Event().wait(0.001)
        (record,) = caplog.records
        assert "FIFOQueue '_" in record.getMessage() and "_input_producer' (0 of 32 elements" in record.getMessage()
        assert (
            "Nothing fills the queues input_producer: was tf.train.start_queue_runners() forgotten?" in record.getMessage()
        )
        caplog.clear()
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coord)
        assert waits.result() == b"a"
        coord.request_stop()
        coord.join(threads)
    assert not caplog.records
