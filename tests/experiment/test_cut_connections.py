"""Runs on a cluster whose connections are cut while they train, every socket between tasks at once, or slow."""

from __future__ import annotations

import contextlib
import gc
import itertools
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from run_files import numbers, records

from tfexp.distributed import frames
from tfexp.experiment import together, turns

pytestmark = pytest.mark.usefixtures("tasks_are_threads")


def sockets() -> list[socket.socket]:
    """Those that this process has."""
    return [found for found in gc.get_objects() if isinstance(found, socket.socket) and found.fileno() >= 0]


def cut(connections: list[socket.socket]) -> int:
    """Shut them down; how many there were, without those that only listen."""
    count = 0
    for connection in connections:
        with contextlib.suppress(OSError):
            connection.getpeername()
            connection.shutdown(socket.SHUT_RDWR)
            count += 1
    return count


@pytest.mark.parametrize("update", ["sync", "async"])
def test_no_step_is_lost(update: str, cli: Callable, ran: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cuts = cut_at(5, 12, 20, monkeypatch=monkeypatch)
    common = ["train.steps=31", "train.eval_every=10"]
    ran("one", *common)
    ended = cli(*common, "cluster=2workers", "cluster.hosting=process", f"update={update}", "hydra.run.dir=run")
    assert ended.code == 0, ended.err
    assert len(cuts) == 3
    assert cuts[0] > 1
    assert numbers(tmp_path / "run")["step"] == 31
    if update == "sync":
        assert_same_curve(tmp_path / "run", tmp_path / "one")


def assert_same_curve(one: Path, other: Path) -> None:
    for ours, theirs in zip(records(one), records(other), strict=True):
        assert ours["step"] == theirs["step"]
        assert ours["train"] == pytest.approx(theirs["train"], rel=1e-4)


def cut_at(*steps: int, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Cut what there is since now, as soon as a worker has seen so many steps; how many connections, each time."""
    others, cuts, lock = sockets(), list[int](), threading.Lock()
    for kind in (turns.Apart, together.Together):

        def may_begin(self: Any, step: int, before: Any = kind.may_begin) -> bool:
            with lock:  # workers are threads
                if len(cuts) < len(steps) and step >= steps[len(cuts)]:
                    cuts.append(cut([found for found in sockets() if found not in others]))
            return bool(before(self, step))

        monkeypatch.setattr(kind, "may_begin", may_begin)
    return cuts


def test_slow_connections_change_no_number(
    cli: Callable, ran: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each message between tasks takes a while, and some take ten times as long, so that others overtake them."""
    count, never, send = itertools.count(), threading.Event(), frames.send

    def slowly(sock: socket.socket, buffers: frames.Buffers) -> None:
        never.wait(0.02 if next(count) % 7 == 0 else 0.002)
        send(sock, buffers)

    common = ["train.steps=31", "train.eval_every=10"]
    ran("one", *common)
    monkeypatch.setattr(frames, "send", slowly)
    ended = cli(*common, "cluster=2workers", "cluster.hosting=process", "update=sync", "hydra.run.dir=run")
    assert ended.code == 0, ended.err
    assert next(count) > 31
    assert_same_curve(tmp_path / "run", tmp_path / "one")
