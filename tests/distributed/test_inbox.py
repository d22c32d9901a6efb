"""Inboxes: a waiting thread hears of everything, and what it works on never keeps the rest waiting."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from queue import SimpleQueue
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
    assert _came.wait(60), "the other op did not run"
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
            heard.append(inbox._items.get(timeout=60))
            other = threading.Thread(target=inbox.watch, args=[during])
            other.start()
            other.join(60)
            during.writer.send(b"during")
            heard.append(inbox._items.get(timeout=60))

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
        owner.join(60)
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
            assert done.acquire(timeout=60)


@contextlib.contextmanager
def owner_of(inbox: Inbox, pipe: Pipe) -> Iterator[list[Any]]:
    """A thread that gets one item, and watches the pipe meanwhile."""
    got: list[Any] = []
    with pipe.reader, pipe.writer:
        inbox.watch(pipe)
        owner = threading.Thread(target=lambda: got.append(inbox.get()), daemon=True)
        owner.start()
        yield got
        owner.join(30)
        assert not owner.is_alive()


def test_an_answer_that_somebody_held_for_a_moment_wakes_the_owner() -> None:
    """Who takes work away for others takes the answer along and puts it back, while the owner finds nothing and sleeps."""
    inbox = Inbox()
    with owner_of(inbox, Pipe(inbox)) as got:
        while inbox._bell is None:
            threading.Event().wait(0.001)
        inbox._items.put("answer")  # as if before it slept
        inbox.spread()
    assert got == ["answer"]


def test_an_item_that_is_taken_away_while_the_owner_looks_leaves_it_its_input() -> None:
    class Emptied(SimpleQueue[Any]):
        """Somebody takes the only item after the owner has seen it."""

        seen = 0

        def empty(self) -> bool:
            self.seen += 1
            return self.seen > 2

    inbox = Inbox()
    inbox._items = Emptied()
    pipe = Pipe(inbox)
    pipe.writer.send(b"input")
    with owner_of(inbox, pipe) as got:
        pass
    assert got == [b"input"]


def test_an_owner_keeps_what_it_watches_when_it_is_back_from_work() -> None:
    """A thread that comes with more just then does not take that away from under its poll."""
    inbox = Inbox()
    kept, other = Pipe(inbox), Pipe(inbox)
    read_by: list[threading.Thread] = []
    kept.ready = lambda: read_by.append(threading.current_thread()) or inbox.put(kept.reader.recv(10))  # type: ignore
    inbox.put(lambda: None)
    inbox.get()()  # it works
    with kept.reader, kept.writer, other.reader, other.writer:
        inbox.watch(kept)
        thread = threading.Thread(target=inbox.watch, args=[other])
        thread.start()
        thread.join(30)
        other.writer.send(b"other")
        assert inbox._items.get(timeout=30) == b"other"  # which that thread's helper read
        kept.writer.send(b"kept")
        assert inbox.get() == b"kept"
    assert read_by == [threading.current_thread()]


def test_an_owner_back_from_work_during_which_somebody_slept_works_again() -> None:
    """What others took over then does not count as work that it has before it."""
    inbox = Inbox()
    inbox.put(lambda: None)
    inbox.get()()  # it works
    done = threading.Event()
    inbox.put(done.set)  # what it would do next
    inbox.spread()
    assert done.wait(60)
    work = threading.Event().set
    inbox.put(work)
    assert not inbox._items.empty()
    assert inbox.get() == work
