"""Master and worker as what they are: functions of events. Events are lost, repeated and reordered here."""

from __future__ import annotations

import itertools
import random
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tensorboard.compat.proto import config_pb2

import tfexp as tf
from tfexp.core import errors
from tfexp.distributed import events as ev
from tfexp.distributed import master_steps
from tfexp.distributed import messages as m
from tfexp.distributed.master import Master
from tfexp.distributed.master_steps import OURS
from tfexp.distributed.worker import Worker

PS, WORKER = "/job:ps/replica:0/task:0", "/job:worker/replica:0/task:0"
TASKS = {PS: "a:1", WORKER: "b:2"}


def _device(task: str) -> m.Device:
    return m.Device(f"{task}/device:CPU:0", "CPU", 1 << 28, 7, OURS)


def _numbers() -> Callable[[], int]:
    counter = itertools.count(1)
    return lambda: next(counter) << 8


def _graph() -> Any:
    with tf.Graph().as_default() as graph:
        with tf.device("/job:ps"):
            a = tf.placeholder(tf.float32, [], name="a")
            b = tf.multiply(a, 2.0, name="b")
        with tf.device("/job:worker"):
            c = tf.add(b, 1.0, name="c")
        with tf.device("/job:ps"):
            tf.multiply(c, b, name="d")
    return graph.as_graph_def()


def _answer(request: Any) -> Any:
    """What an obliging task says."""
    if isinstance(request, m.GetStatus):
        return m.Status((_device(PS),))
    if isinstance(request, m.RegisterGraph):
        return m.GraphRegistered("graph")
    if isinstance(request, m.RunGraph):
        return m.GraphRun({key: np.float32(1.0) for key in request.wanted})
    return m.Done()


class _Driver:
    """Answers what the machine asks for, in an order of its own choosing."""

    def __init__(self, seed: int = 0):
        self.master = Master(WORKER, [_device(WORKER)], TASKS, _numbers())
        self.random = random.Random(seed)
        self.outcome: dict[int, Any] = {}
        self.asks: list[ev.Ask] = []
        self.abandoned: list[int] = []

    def feed(self, event: Any) -> None:
        for command in self.master.handle(event):
            if isinstance(command, ev.Respond | ev.Refuse):
                assert command.call not in self.outcome, "a call is answered once"
                self.outcome[command.call] = command
            elif isinstance(command, ev.Ask):
                self.asks.append(command)
            elif isinstance(command, ev.Abandon):
                self.abandoned.append(command.ask)

    def settle(self, repeat: bool = False) -> None:
        while self.asks:
            ask = self.asks.pop(self.random.randrange(len(self.asks)))
            for _ in range(1 + repeat):
                self.feed(ev.Answered(ask.ask, _answer(ask.request)))

    def session(self, config: Any = None) -> str:
        self.feed(ev.Asked(1, m.CreateSession(_graph(), config or config_pb2.ConfigProto())))
        self.settle()
        created = self.outcome[1].reply
        assert isinstance(created, m.SessionCreated)
        return created.session


def _step(session: str) -> m.RunStep:
    return m.RunStep(session, (("a:0", np.float32(3.0)),), ("d:0", "c:0"), ())


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("repeat", [False, True])
def test_answers_in_any_order_and_twice(seed: int, repeat: bool) -> None:
    driver = _Driver(seed)
    session = driver.session()
    calls = range(10, 14)
    for call in calls:
        driver.feed(ev.Asked(call, _step(session)))
    driver.settle(repeat)
    for call in calls:
        assert isinstance(driver.outcome[call], ev.Respond)
        assert driver.outcome[call].reply.values == (1.0, 1.0)


def test_stages_follow_the_data_and_graphs_are_registered_once() -> None:
    driver = _Driver()
    session = driver.session()
    driver.feed(ev.Asked(2, _step(session)))
    registered = [ask for ask in driver.asks if isinstance(ask.request, m.RegisterGraph)]
    assert [ask.task for ask in registered] == [PS, WORKER, PS]
    borders = [node for ask in registered for node in ask.request.graph_def.node if node.op in ("_Send", "_Recv")]
    # TensorFlow's workers name these nodes in errors.
    assert all(node.experimental_debug_info.original_node_names for node in borders)
    sent = [node.experimental_debug_info.original_node_names for node in borders if node.op == "_Send"]
    assert sorted(name for names in sent for name in names) == ["b", "b", "c", "c", "d"]
    ran = []
    while driver.asks:
        ask = driver.asks.pop(0)
        if isinstance(ask.request, m.RunGraph):
            ran.append((ask.task, len(ask.request.sends), len(ask.request.wanted)))
        driver.feed(ev.Answered(ask.ask, _answer(ask.request)))
    # b stays at ps between its two stages; c is both sent there and fetched.
    assert ran == [(PS, 1, 1), (WORKER, 1, 2), (PS, 1, 1)]
    driver.feed(ev.Asked(3, _step(session)))
    assert [type(ask.request) for ask in driver.asks] == [m.RunGraph]


@pytest.mark.parametrize("at", range(3))
def test_one_failure_ends_the_step_and_nothing_else(at: int) -> None:
    driver = _Driver()
    session = driver.session()
    driver.feed(ev.Asked(2, _step(session)))
    for _ in range(3):
        driver.feed(ev.Answered((ask := driver.asks.pop(0)).ask, _answer(ask.request)))
    for _ in range(at):
        driver.feed(ev.Answered((ask := driver.asks.pop(0)).ask, _answer(ask.request)))
    failing = driver.asks.pop(0)
    driver.feed(ev.Failed(failing.ask, errors.OutOfRangeError(None, None, "empty")))
    assert isinstance(driver.outcome[2].error, errors.OutOfRangeError)
    assert driver.outcome[2].error.message == f"From {failing.task}:\nempty"
    assert {type(ask.request) for ask in driver.asks} == {m.CleanupGraph}
    driver.feed(ev.Failed(failing.ask, errors.OutOfRangeError(None, None, "again")))
    driver.settle()
    driver.feed(ev.Asked(3, _step(session)))
    driver.settle()
    assert isinstance(driver.outcome[3], ev.Respond)


@pytest.mark.parametrize("lost", range(6))
def test_a_lost_answer_is_overcome_by_cancelling(lost: int) -> None:
    driver = _Driver()
    session = driver.session()
    driver.feed(ev.Asked(2, _step(session)))
    for _ in range(lost):
        driver.feed(ev.Answered((ask := driver.asks.pop(0)).ask, _answer(ask.request)))
    late = list(driver.asks)
    driver.feed(ev.Cancelled(2, errors.DeadlineExceededError(None, None, "too long")))
    assert isinstance(driver.outcome[2].error, errors.DeadlineExceededError)
    driver.feed(ev.Cancelled(2, errors.DeadlineExceededError(None, None, "too long")))
    for ask in late:
        driver.feed(ev.Answered(ask.ask, _answer(ask.request)))
    driver.settle()
    driver.feed(ev.Asked(3, _step(session)))
    driver.settle()
    assert isinstance(driver.outcome[3], ev.Respond)


def test_a_failed_registration_is_tried_again() -> None:
    driver = _Driver()
    session = driver.session()
    driver.feed(ev.Asked(2, _step(session)))
    driver.feed(ev.Failed(driver.asks.pop(0).ask, errors.UnavailableError(None, None, "gone")))
    assert isinstance(driver.outcome[2].error, errors.UnavailableError)
    driver.asks.clear()
    driver.feed(ev.Asked(3, _step(session)))
    assert len(driver.asks) == 3
    driver.settle()
    assert isinstance(driver.outcome[3], ev.Respond)


def _forgotten(asks: list[ev.Ask]) -> list[tuple[str, str]]:
    """What tasks are told to forget: (task, graph)."""
    return [(ask.task, ask.request.graph) for ask in asks if isinstance(ask.request, m.DeregisterGraph)]


def _fetching(session: str, name: str) -> m.RunStep:
    return m.RunStep(session, (("a:0", np.float32(3.0)),), (name,), ())


@pytest.mark.parametrize("running", [False, True])
def test_of_too_many_steps_the_first_that_nobody_runs_is_forgotten_by_all(
    running: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(master_steps, "_MAX_STEPS", 2)
    driver = _Driver()
    session = driver.session()
    for call, name in enumerate(("b:0", "c:0"), 2):
        driver.feed(ev.Asked(call, _fetching(session, name)))
        driver.settle()
    if running:
        driver.feed(ev.Asked(4, _fetching(session, "b:0")))
    driver.feed(ev.Asked(5, _fetching(session, "d:0")))
    assert _forgotten(driver.asks) == ([(PS, "graph"), (WORKER, "graph")] if running else [(PS, "graph")])
    driver.settle()
    driver.feed(ev.Asked(6, _fetching(session, "c:0")))
    driver.settle()
    assert all(isinstance(answer, ev.Respond) for answer in driver.outcome.values())


def test_of_the_placements_of_too_many_steps_the_first_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(master_steps, "_MAX_STEPS", 2)
    driver = _Driver()
    session = driver.session(config_pb2.ConfigProto(placement_period=1))
    for call, name in enumerate(("b:0", "c:0", "d:0"), 2):
        driver.feed(ev.Asked(call, _fetching(session, name)))
        driver.settle()
    assert [signature.fetches for signature in driver.master._sessions[session].trials] == [("c:0",), ("d:0",)]


def test_of_a_step_that_one_task_cannot_take_the_others_forget_their_parts() -> None:
    driver = _Driver()
    session = driver.session()
    driver.feed(ev.Asked(2, _step(session)))
    before, failing, after = driver.asks
    driver.asks = []
    driver.feed(ev.Answered(before.ask, m.GraphRegistered("before")))
    driver.feed(ev.Failed(failing.ask, errors.UnavailableError(None, None, "gone")))
    assert _forgotten(driver.asks) == [(PS, "before")]
    driver.asks = []
    driver.feed(ev.Answered(after.ask, m.GraphRegistered("after")))
    assert _forgotten(driver.asks) == [(PS, "after")]


def test_a_session_that_one_task_refuses_ends_on_the_others() -> None:
    driver = _Driver()
    driver.feed(ev.Asked(1, m.CreateSession(_graph(), config_pb2.ConfigProto())))
    driver.feed(ev.Answered((ask := driver.asks.pop(0)).ask, _answer(ask.request)))
    taking, refusing = driver.asks
    driver.asks = []
    driver.feed(ev.Answered(taking.ask, m.Done()))
    driver.feed(ev.Failed(refusing.ask, errors.InvalidArgumentError(None, None, "another cluster")))
    assert isinstance(driver.outcome[1], ev.Refuse)
    deleted = m.DeleteWorkerSession(taking.request.session)
    assert sorted((ask.task, ask.request) for ask in driver.asks) == [(PS, deleted), (WORKER, deleted)]


def _key(task: str, name: str, incarnation: int = 7) -> str:
    return f"{task}/device:CPU:0;{incarnation:016x};{WORKER}/device:CPU:0;{name};0:0"


class _Program:
    def __init__(self, receives: tuple[str, ...], sends: tuple[str, ...], needs: tuple[frozenset[str], ...]):
        self.receives, self.sends, self.needs = receives, sends, needs


def _worker_with(program: _Program) -> Worker:
    worker = Worker(PS, [_device(PS)], TASKS, _numbers())
    (load,) = worker.handle(ev.Asked(1, m.RegisterGraph("", None)))  # type: ignore[arg-type]
    assert isinstance(load, ev.Load)
    worker.handle(ev.Answered(load.ask, program))
    return worker


HANDLE = f"{1:016x}"


def test_a_tensor_may_be_asked_for_before_and_after_it_is_made() -> None:
    early, late = _key(PS, "early"), _key(PS, "late")
    worker = _worker_with(_Program((), (early, late), (frozenset(),)))
    assert worker.handle(ev.Asked(2, m.RecvTensor(5, early))) == []
    (run,) = worker.handle(ev.Asked(3, m.RunGraph("", HANDLE, 5)))
    assert isinstance(run, ev.Execute)
    given, ended = worker.handle(ev.Answered(run.ask, ({early: 1.0, late: 2.0}, None)))
    assert given == ev.Respond(2, m.TensorReceived(1.0))  # type: ignore[arg-type]
    assert ended == ev.Respond(3, m.GraphRun({}))
    assert worker.handle(ev.Answered(run.ask, ({early: 1.0, late: 2.0}, None))) == []
    assert worker.handle(ev.Asked(4, m.RecvTensor(5, late))) == [ev.Respond(4, m.TensorReceived(2.0))]  # type: ignore[arg-type]


def test_parts_run_as_what_they_need_arrives() -> None:
    x, y, out = _key(WORKER, "x"), _key(WORKER, "y"), _key(PS, "out")
    worker = _worker_with(_Program((x, y), (out,), (frozenset(), frozenset([x]), frozenset([x, y]))))
    commands = worker.handle(ev.Asked(2, m.RunGraph("", HANDLE, 5)))
    fetches = {c.request.key: c.ask for c in commands if isinstance(c, ev.Ask)}
    (first,) = [c for c in commands if isinstance(c, ev.Execute)]
    assert first.parts == {0}
    assert worker.handle(ev.Answered(fetches[y], m.TensorReceived(1.0))) == []  # type: ignore[arg-type]
    (rest,) = worker.handle(ev.Answered(fetches[x], m.TensorReceived(1.0)))  # type: ignore[arg-type]
    assert isinstance(rest, ev.Execute)
    assert rest.parts == {1, 2}
    assert worker.handle(ev.Answered(first.ask, ({}, None))) == []
    assert worker.handle(ev.Answered(rest.ask, ({out: 3.0}, None))) == [ev.Respond(2, m.GraphRun({}))]


def test_a_failed_step_fails_for_everybody() -> None:
    out = _key(PS, "out")
    worker = _worker_with(_Program((), (out,), (frozenset(),)))
    worker.handle(ev.Asked(2, m.RecvTensor(5, out)))
    (run,) = worker.handle(ev.Asked(3, m.RunGraph("", HANDLE, 5)))
    error = errors.OutOfRangeError(None, None, "end")
    assert isinstance(run, ev.Execute)
    refused = worker.handle(ev.Failed(run.ask, error))
    assert {(type(c), c.call) for c in refused if isinstance(c, ev.Refuse)} == {(ev.Refuse, 2), (ev.Refuse, 3)}
    (late,) = worker.handle(ev.Asked(4, m.RecvTensor(5, out)))
    assert isinstance(late, ev.Refuse)
    assert (type(late.error), late.error.message) == (errors.OutOfRangeError, "end")


def test_of_a_step_that_failed_the_error_itself_is_not_kept() -> None:
    """Its traceback has the step's values."""
    worker = _worker_with(_Program((), (), (frozenset(),)))
    (run,) = worker.handle(ev.Asked(2, m.RunGraph("", HANDLE, 5)))
    error = errors.OutOfRangeError(None, None, "end")
    assert isinstance(run, ev.Execute)
    worker.handle(ev.Failed(run.ask, error))
    kept = weakref.ref(error)
    del error
    assert kept() is None


def test_cleaning_up_aborts_who_waits() -> None:
    out = _key(PS, "out")
    worker = _worker_with(_Program((), (out,), (frozenset(),)))
    worker.handle(ev.Asked(2, m.RecvTensor(5, out)))
    refused, let_go, done = worker.handle(ev.Asked(3, m.CleanupGraph(5)))
    assert let_go == ev.LetGo(5)
    assert isinstance(refused, ev.Refuse)
    assert isinstance(refused.error, errors.AbortedError)
    assert done == ev.Respond(3, m.Done())


@pytest.mark.parametrize("isolated", [False, True])
def test_a_session_is_isolated_by_what_it_was_created_with(isolated: bool) -> None:
    """TensorFlow's masters do not say it again with the graphs."""
    worker = Worker(PS, [_device(PS)], TASKS, _numbers())
    worker.handle(ev.Asked(1, m.CreateWorkerSession("s", "ps", 0, {}, isolate=isolated)))
    (load,) = worker.handle(ev.Asked(2, m.RegisterGraph("s", None)))  # type: ignore[arg-type]
    assert isinstance(load, ev.Load)
    assert load.isolated is isolated


def test_a_partial_run_of_another_master_is_refused() -> None:
    worker = _worker_with(_Program((), (), ()))
    (refused,) = worker.handle(ev.Asked(2, m.RunGraph("", HANDLE, 5, partial=True)))
    assert isinstance(refused, ev.Refuse)
    assert isinstance(refused.error, errors.UnimplementedError)


def test_an_old_incarnation_is_aborted() -> None:
    worker = _worker_with(_Program((), (), ()))
    (refused,) = worker.handle(ev.Asked(2, m.RecvTensor(5, _key(PS, "out", incarnation=6))))
    assert isinstance(refused, ev.Refuse)
    assert isinstance(refused.error, errors.AbortedError)
    assert "incarnation" in refused.error.message


def test_a_graph_runs_once_in_a_step_however_often_it_is_asked_for() -> None:
    out = _key(PS, "out")
    worker = _worker_with(_Program((), (out,), (frozenset(),)))
    (run,) = worker.handle(ev.Asked(2, m.RunGraph("", HANDLE, 5, {}, (out,))))
    assert isinstance(run, ev.Execute)
    (early,) = worker.handle(ev.Asked(3, m.RunGraph("", HANDLE, 5, {}, (out,))))
    assert worker.handle(ev.Answered(run.ask, ({out: 1.0}, None))) == [ev.Respond(2, m.GraphRun({out: 1.0}))]  # type: ignore[dict-item]
    (late,) = worker.handle(ev.Asked(4, m.RunGraph("", HANDLE, 5, {}, (out,))))
    for refused in (early, late):
        assert isinstance(refused, ev.Refuse)
        assert isinstance(refused.error, errors.AbortedError)
    (other,) = worker.handle(ev.Asked(5, m.RunGraph("", HANDLE, 6, {}, (out,))))
    assert isinstance(other, ev.Execute)


def _session_with(handle: str, other: int, master: str = WORKER, own: int = 7) -> m.CreateWorkerSession:
    """A session of this server and another task, whose incarnation is `other`."""
    known = {f"{PS}/device:CPU:0": own, "/job:ps/replica:0/task:1/device:CPU:0": other}
    return m.CreateWorkerSession(handle, "ps", 0, {}, master, 1, False, known)


def test_a_graph_that_is_not_wanted_any_more_is_unloaded_unless_it_runs() -> None:
    program = _Program((), (), (frozenset(),))
    worker = _worker_with(program)
    (execute,) = worker.handle(ev.Asked(2, m.RunGraph("", HANDLE, 5, {}, ())))
    assert isinstance(execute, ev.Execute)
    assert worker.handle(ev.Asked(3, m.DeregisterGraph("", HANDLE))) == [ev.Respond(3, m.Done())]
    idle = _worker_with(program)
    expected = [ev.Unload("", program), ev.Respond(3, m.Done())]
    assert idle.handle(ev.Asked(3, m.DeregisterGraph("", HANDLE))) == expected


def test_a_session_ends_when_a_newer_one_knows_that_another_of_its_tasks_was_started_again() -> None:
    out = _key(PS, "out")
    worker = Worker(PS, [_device(PS)], TASKS, _numbers())
    for number, handle in enumerate(("old", "unconcerned")):
        request = _session_with(handle, 20) if handle == "old" else m.CreateWorkerSession(handle, "ps", 0, {}, "/job:x", 1)
        assert worker.handle(ev.Asked(number, request)) == [ev.Respond(number, m.Done())]
        (load,) = worker.handle(ev.Asked(10, m.RegisterGraph(handle, None)))  # type: ignore[arg-type]
        assert isinstance(load, ev.Load)
        worker.handle(ev.Answered(load.ask, _Program((), (out,), (frozenset(),))))
    (run,) = worker.handle(ev.Asked(11, m.RunGraph("old", HANDLE, 5)))
    assert isinstance(run, ev.Execute)
    given_up, refused, forgotten, done = worker.handle(ev.Asked(12, _session_with("new", 21, "/job:worker/task:1")))
    assert isinstance(given_up, ev.Abandon)
    assert isinstance(refused, ev.Refuse)
    assert (refused.call, type(refused.error)) == (11, errors.AbortedError)
    assert (forgotten, done) == (ev.Forget("old"), ev.Respond(12, m.Done()))
    (refused,) = worker.handle(ev.Asked(13, m.RunGraph("old", HANDLE, 6)))
    assert isinstance(refused, ev.Refuse)
    assert "Possibly this worker" in refused.error.message
    (run,) = worker.handle(ev.Asked(14, m.RunGraph("unconcerned", f"{2:016x}", 7)))
    assert isinstance(run, ev.Execute)


def test_a_session_that_was_meant_for_a_former_process_is_aborted() -> None:
    worker = Worker(PS, [_device(PS)], TASKS, _numbers())
    (refused,) = worker.handle(ev.Asked(1, _session_with("s", 20, own=6)))
    assert isinstance(refused, ev.Refuse)
    assert isinstance(refused.error, errors.AbortedError)
