"""Tasks at given addresses: a server that comes back while the hosting is closed gets no client any more."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import tfexp as tf
from tfexp.distributed.hosting import TaskSpec, Work
from tfexp.distributed.static_host import StaticHosting

TASK = TaskSpec("worker", 0, Work("nowhere:nothing"))


class Channel:
    """To a server that says when it is there again."""

    def start(self, request: Any, done: Any, wait: bool = False) -> None:
        self.there = done

    def watch(self, lost: Any) -> Any:
        return lambda: None

    def close(self) -> None:
        """Nothing is left of it."""


def test_closing_waits_for_a_client_that_is_being_started(tmp_path: Path) -> None:
    hosting = StaticHosting(tf.train.ClusterSpec({"worker": ["localhost:1"]}), tmp_path)
    channel = hosting._channels[TASK.name] = Channel()  # type: ignore[assignment]
    did: list[str] = []
    closing = threading.Thread(target=lambda: hosting.close(0))

    def restart(*_: Any) -> None:
        closing.start()
        closing.join(0.05)  # it would be done, did it not wait
        did.append("started")

    hosting._clients.restart = restart  # type: ignore[method-assign]
    hosting._clients.close = lambda grace: did.append("closed")  # type: ignore[method-assign]
    hosting._watch(TASK, lambda *_: None)
    hosting._clients_gone.add(TASK.name)
    hosting.restart(TASK, None, lambda *_: None)
    channel.there(None, None)
    closing.join(30)
    assert did == ["started", "closed"]
    hosting._clients_gone.add(TASK.name)
    channel.there(None, None)
    assert did == ["started", "closed"]


def test_a_client_that_fails_while_its_server_comes_back_is_started_again(tmp_path: Path) -> None:
    hosting = StaticHosting(tf.train.ClusterSpec({"worker": ["localhost:1"]}), tmp_path)
    channel = hosting._channels[TASK.name] = Channel()  # type: ignore[assignment]
    failed: list[Exception] = []
    watch = hosting._watch

    def restart() -> None:
        try:
            hosting.restart(TASK, None, lambda *_: None)
        except Exception as error:
            failed.append(error)

    again = threading.Thread(target=restart, daemon=True)

    def slowly(*given: Any) -> None:
        hosting._clients_gone.add(TASK.name)
        again.start()
        again.join(0.05)  # it would be over, did it not wait
        watch(*given)

    started: list[Any] = []
    hosting._clients.restart = lambda *given: started.append(given)  # type: ignore[method-assign, assignment]
    watch(TASK, lambda *_: None)
    hosting.restart(TASK, None, lambda *_: None)
    hosting._watch = slowly  # type: ignore[method-assign, assignment]
    channel.there(None, None)
    again.join(30)
    assert (failed, again.is_alive()) == ([], False)
    hosting._watch = watch  # type: ignore[method-assign]
    channel.there(None, None)
    assert len(started) == 1
