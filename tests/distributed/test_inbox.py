"""Inboxes: a waiting thread hears of everything, and what it works on never keeps the rest waiting."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.distributed.clusters import running
from tfexp.core import op as registry
from tfexp.core.op import define_op
from tfexp.core.shape import TensorShape
from tfexp.distributed.inbox import Inbox

_came = threading.Event()

# One op waits for the other, which waits for another task's value.
awaits = define_op("TestAwaits() -> (y: float) #stateful")
comes = define_op("TestComes(x: float) -> (y: float) #stateful")


@awaits.shape
def _() -> TensorShape:
    return TensorShape([])


@awaits.kernel("CPU")
def _(ctx: Any) -> Any:
    assert _came.wait(5), "the other op did not run"
    return np.float32(7)


@comes.shape
def _(x: TensorShape) -> TensorShape:
    return x


@comes.kernel("CPU")
def _(ctx: Any, x: Any) -> Any:
    _came.set()
    return x


for _op in (awaits, comes):
    del registry._OPS[_op.name]


@pytest.mark.parametrize("lanes", ["on", "off"])
def test_nodes_of_one_step_may_wait_for_each_other(lanes: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TFEXP_LANES", lanes)
    for op in (awaits, comes):
        monkeypatch.setitem(registry._OPS, op.name, op)
    with running(ps=1, worker=1) as servers, tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            v = tf.Variable(3.0)
            doubled = v * 2.0
        with tf.device("/job:worker/task:0"):
            w = tf.Variable(1.0)
            fetches = [awaits(), comes(doubled + w)]
        for master in servers.values():
            with tf.Session(master.target) as sess:
                sess.run(tf.global_variables_initializer())
                for _ in range(4):  # every tier of the executor
                    _came.clear()
                    assert sess.run(fetches) == [7.0, 7.0]


class Pipe:
    """A source that tells its inbox's owner what came."""

    def __init__(self, inbox: Inbox):
        self.reader, self.writer = socket.socketpair()
        self._inbox = inbox

    def fileno(self) -> int:
        return self.reader.fileno()

    def ready(self) -> None:
        self._inbox.put(self.reader.recv(10))


def test_others_read_while_the_owner_works() -> None:
    inbox = Inbox()
    before, during = Pipe(inbox), Pipe(inbox)
    with before.reader, before.writer, during.reader, during.writer:
        inbox.watch(before)
        before.writer.send(b"before")
        heard: list[Any] = []

        def work() -> None:
            # What the owner works on may wait for what these bring.
            heard.append(inbox._items.get(timeout=5))
            other = threading.Thread(target=inbox.watch, args=[during])
            other.start()
            other.join(5)
            during.writer.send(b"during")
            heard.append(inbox._items.get(timeout=5))

        inbox.put(work)
        inbox.get()()
        assert heard == [b"before", b"during"]


def test_an_owner_hears_of_items_and_of_input() -> None:
    inbox = Inbox()
    with contextlib.ExitStack() as stack:
        pipes = [Pipe(inbox) for _ in range(3)]
        for pipe in pipes:
            stack.enter_context(pipe.reader)
            stack.enter_context(pipe.writer)
            inbox.watch(pipe)
        pipes[1].writer.send(b"one")
        assert inbox.get() == b"one"
        inbox.put("item")
        assert inbox.get() == "item"
        got: list[Any] = []
        owner = threading.Thread(target=lambda: got.extend([inbox.get(), inbox.get()]))
        owner.start()
        inbox.put("woken")  # whether it polls already or not
        pipes[0].writer.send(b"zero")
        owner.join(5)
        assert sorted(map(str, got)) == ["b'zero'", "woken"]


def test_what_an_owner_leaves_is_done_by_others() -> None:
    inbox = Inbox()
    done = threading.Semaphore(0)
    pipe, late = Pipe(inbox), Pipe(inbox)
    pipe.ready = late.ready = done.release  # type: ignore[method-assign]
    with pipe.reader, pipe.writer, late.reader, late.writer:
        inbox.put(done.release)
        inbox.watch(pipe)
        inbox.close()
        inbox.put(done.release)
        inbox.watch(late)
        for _ in range(4):
            assert done.acquire(timeout=5)


def test_a_source_that_is_entrusted_while_the_owner_polls_is_dealt_with_once() -> None:
    """A thread that watches may find the owner at work just before that one comes back."""
    inbox, called, polls, read = Inbox(), [], threading.Event(), threading.Event()
    near, far = socket.socketpair()

    class Reading:
        def fileno(self) -> int:
            polls.set()
            return near.fileno()

        def ready(self) -> None:
            called.append(near.recv(1))
            read.set()

    got: list[Any] = []
    with near, far:
        inbox.watch(Reading())
        owner = threading.Thread(target=lambda: got.append(inbox.get()))
        owner.start()
        assert polls.wait(5)
        inbox._entrust()
        far.send(b"x")
        inbox.put("item")
        owner.join(5)
        assert got == ["item"]
        assert read.wait(5)
    assert called == [b"x"]
