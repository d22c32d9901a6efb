"""The driver of master and worker: cancellation reaches whatever a call has begun, or is about to begin."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest
from tensorboard.compat.proto import config_pb2

import tfexp as tf
from tests.distributed import waiting
from tfexp.core import errors
from tfexp.distributed import messages as m
from tfexp.distributed.task import Task
from tfexp.distributed.transport import Transport

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
    for name in ("_calls", "_nested", "_sub_call", "_remote", "_owners", "_states", "_partial"):
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


def test_a_call_that_is_cancelled_while_it_begins_ends(task: Task) -> None:
    """Between the moment in which the master asks for a stage and that in which the stage begins."""
    session = _session(task)
    with pytest.raises(errors.DeadlineExceededError):  # the graph is registered by then
        task.call(m.RunStep(session, *STEP), timeout=0.1)
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
            thread.join(5)
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
