"""The driver of master and worker: cancellation reaches whatever a call has begun, or is about to begin."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest
from tensorboard.compat.proto import config_pb2, graph_pb2

import tfexp as tf
from tests.distributed import waiting
from tfexp.core import errors
from tfexp.core.errors import OpError
from tfexp.distributed import events as ev
from tfexp.distributed import master_steps
from tfexp.distributed import messages as m
from tfexp.distributed.task import Task
from tfexp.distributed.transport import Transport
from tfexp.runtime.step import StepState

OWN = "/job:local/replica:0/task:0"


def _refuse(address: str) -> Transport:
    raise AssertionError(f"no peers here: {address}")


@pytest.fixture
def task() -> Iterator[Task]:
    task = Task(OWN, {OWN: "localhost:0"}, _refuse)
    yield task
    task.close()


def _session(task: Task) -> str:
    with tf.Graph().as_default() as graph:
        waiting.wait(tf.placeholder(tf.float32, [], name="w"), name="waits")
        tf.identity(tf.placeholder(tf.float32, [], name="x"), name="y")
    created = task.call(m.CreateSession(graph.as_graph_def(), config_pb2.ConfigProto()))
    assert isinstance(created, m.SessionCreated)
    return created.session


def _nothing_is_left(task: Task) -> None:
    for name in ("_calls", "_nested", "_sub_call", "_remote", "_owners", "_states"):
        assert not getattr(task, name), name
    assert not task._worker._steps


STEP = ((("w:0", np.float32(1)),), ("waits:0",), ())


def test_a_call_that_is_cancelled_before_it_runs_ends(task: Task) -> None:
    session = _session(task)
    number = task.begin()
    task.cancel(number, errors.CancelledError(None, None, "not wanted"))
    with pytest.raises(errors.CancelledError, match="not wanted"):
        task.run(number, m.RunStep(session, *STEP))
    _nothing_is_left(task)
    reply = task.call(m.RunStep(session, (("x:0", np.float32(3)),), ("y:0",), ()))
    assert isinstance(reply, m.StepRun)
    assert reply.values == (3.0,)


def test_quantized_values_leave_as_what_their_tensors_are(task: Task) -> None:
    """An array of theirs is one of integers; a TensorFlow that takes it for these fails."""
    kinds = (tf.qint8, tf.quint8, tf.qint16, tf.quint16, tf.qint32)
    with tf.Graph().as_default() as graph:
        for kind in kinds:
            tf.identity(tf.placeholder(kind, [2], name=f"{kind.name}_fed"), name=kind.name)
    created = task.call(m.CreateSession(graph.as_graph_def(), config_pb2.ConfigProto()))
    assert isinstance(created, m.SessionCreated)
    feeds = tuple((f"{kind.name}_fed:0", m.declared(np.array([3, 5], kind.as_numpy_dtype), kind)) for kind in kinds)
    reply = task.call(m.RunStep(created.session, feeds, tuple(kind.name for kind in kinds), ()))
    assert isinstance(reply, m.StepRun)
    assert [m.as_proto(value).dtype for value in reply.values] == [kind.as_datatype_enum for kind in kinds]
    assert [m.as_array(value).tolist() for value in reply.values] == [[3, 5]] * len(kinds)


def test_a_callable_runs_with_the_options_it_was_made_with(task: Task) -> None:
    session = _session(task)

    def run(fetch: str, feed: str, **options: int) -> m.StepRun:
        wanted = config_pb2.CallableOptions(feed=[feed], fetch=[fetch], run_options=config_pb2.RunOptions(**options))
        made = task.call(m.MakeCallable(session, wanted))
        assert isinstance(made, m.CallableMade)
        reply = task.call(m.RunCallable(session, made.handle, (np.float32(3),)))
        assert isinstance(reply, m.StepRun)
        return reply

    traced = run("y:0", "x:0", trace_level=config_pb2.RunOptions.FULL_TRACE)
    assert traced.metadata is not None
    assert traced.metadata.step_stats.dev_stats
    assert run("y:0", "x:0").metadata is None
    with pytest.raises(errors.DeadlineExceededError):
        run("waits:0", "w:0", timeout_in_ms=20)


def test_a_loop_that_another_master_has_cut_is_refused(task: Task) -> None:
    """Else its rounds would be waited for, for ever."""
    graph_def = graph_pb2.GraphDef()
    graph_def.node.add(name="x", op="Placeholder").attr["dtype"].type = tf.float32.as_datatype_enum
    enter = graph_def.node.add(name="enter", op="Enter", input=["x"])
    enter.attr["T"].type, enter.attr["frame_name"].s = tf.float32.as_datatype_enum, b"rounds"
    send = graph_def.node.add(name="send", op="_Send", input=["enter"])
    send.attr["T"].type, send.attr["tensor_name"].s = tf.float32.as_datatype_enum, b"edge_1_enter"
    send.attr["send_device"].s = send.attr["recv_device"].s = f"{OWN}/device:CPU:0".encode()
    send.attr["send_device_incarnation"].i = 1
    with pytest.raises(
        errors.UnimplementedError, match="edge_1_enter crosses to another task in every round of the loop rounds"
    ):
        task.call(m.RegisterGraph("", graph_def, config_pb2.ConfigProto()))


def test_a_call_that_is_cancelled_while_it_begins_ends(task: Task) -> None:
    """Between the moment in which the master asks for a stage and that in which the stage begins."""
    session = _session(task)
    for seconds in waiting.until_started():  # the graph is registered then
        with pytest.raises(errors.DeadlineExceededError):
            task.call(m.RunStep(session, *STEP), timeout=seconds)
    for attribute in ("_ask_own_worker", "_hand_over"):
        number = task.begin()
        original = getattr(task, attribute)

        def cancelled_first(*args: object, number: int = number, original: object = original, at: str = attribute) -> None:
            setattr(task, at, original)
            task.cancel(number, errors.CancelledError(None, None, "not wanted"))
            original(*args)  # type: ignore[operator]

        setattr(task, attribute, cancelled_first)
        with pytest.raises(errors.CancelledError, match="not wanted"):
            task.run(number, m.RunStep(session, *STEP))
        _ended_soon(task)


def _ended_soon(task: Task) -> None:
    for thread in threading.enumerate():
        if thread.name == "tfexp-task":
            thread.join(60)
    _nothing_is_left(task)


def test_a_graph_that_is_loaded_too_late_is_dropped(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    session = _session(task)
    original = task._load

    def load_late(command: object) -> None:
        task.call(m.DeleteWorkerSession(session))
        original(command)  # type: ignore[arg-type]

    monkeypatch.setattr(task, "_load", load_late)
    with pytest.raises(errors.AbortedError, match="was closed while its graph was loaded"):
        task.call(m.RunStep(session, (("x:0", np.float32(3)),), ("y:0",), ()))
    assert not task._programs
    assert not task._sessions


def test_answers_that_come_while_a_task_moves_do_not_disturb_it(task: Task) -> None:
    """Requests end without the lock that is held meanwhile."""
    given_up: list[OpError] = []

    class Pending:
        """Another one is answered while somebody looks at this one."""

        give_up = given_up.append

        @property
        def peer(self) -> str:
            task._remote.pop((task._worker, 2), None)
            return "/job:ps/replica:0/task:0"

    for number in range(3):
        task._remote[task._worker, number] = Pending()  # type: ignore[assignment]
    task.moved("/job:ps/replica:0/task:0", "localhost:1")
    assert len(given_up) == 3
    task._remote.clear()


def test_no_transport_is_opened_after_the_end(task: Task) -> None:
    task._tasks["/job:worker/replica:0/task:0"] = "localhost:1"
    task._connect = lambda address: pytest.fail(f"{address} was connected to")  # nobody would close it
    task.close()
    with pytest.raises(errors.UnavailableError, match="The server was stopped"):
        task._transport("/job:worker/replica:0/task:0")


def _executed(task: Task, program: object, run: object, part: int) -> None:
    task._states[part] = StepState()
    task._execute(ev.Execute(part, -1, program, run, {}, frozenset([part])))


def test_a_run_whose_last_part_is_started_is_begun_no_second_time(task: Task) -> None:
    """Else what its first part has done were done again."""
    begun = []
    program = SimpleNamespace(begin=lambda step: begun.append(step) or SimpleNamespace(run=lambda *_: ({}, None)))
    run = SimpleNamespace(step=5, parts=set(), begun=None)
    _executed(task, program, run, 0)
    _executed(task, program, run, 1)
    assert begun == [5]
    _executed(task, program, SimpleNamespace(step=6, parts=set(), begun=None), 2)
    assert begun == [5, 6]


def test_parts_that_start_at_once_have_one_beginning(task: Task) -> None:
    begun = []
    run = SimpleNamespace(step=5, parts=set(), begun=None)
    other = threading.Thread(target=lambda: _executed(task, program, run, 1))

    def begin(step: int) -> object:
        begun.append(step)
        if len(begun) == 1:
            other.start()
            other.join(0.05)  # it would have begun by then
        return SimpleNamespace(run=lambda *_: ({}, None))

    program = SimpleNamespace(begin=begin)
    _executed(task, program, run, 0)
    other.join(30)
    assert begun == [5]


def test_of_a_step_that_is_forgotten_nothing_is_kept(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(master_steps, "_MAX_STEPS", 1)
    session = _session(task)
    for targets in ((), ("y",), ("y", "y"), ()):
        reply = task.call(m.RunStep(session, (("x:0", np.float32(3)),), ("y:0",), targets))
        assert isinstance(reply, m.StepRun)
        assert reply.values == (3.0,)
        assert len(task._programs[session]) == 1
