"""Which Ray node takes a task whose own is lost. Ray itself is made believe: only what it says of its nodes matters."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from tfexp.distributed.ray_nodes import another_node, answers


@pytest.fixture
def node() -> Iterator[Callable[..., dict[str, Any]]]:
    """`node(name, there, cpus)`: what Ray says of a node of whose processes, if it is `there`, one listens."""
    listening: list[socket.socket] = []

    def make(name: str, there: bool = True, cpus: float = 1.0, alive: bool = True) -> dict[str, Any]:
        server = socket.create_server(("127.0.0.1", 0))
        port = server.getsockname()[1]
        listening.append(server)
        if not there:
            server.close()
        resources = {"CPU": cpus}
        return {
            "NodeID": name,
            "Alive": alive,
            "NodeManagerAddress": "127.0.0.1",
            "NodeManagerPort": port,
            "Resources": resources,
        }

    yield make
    for server in listening:
        server.close()


def test_a_lost_node_is_known_before_ray_gives_it_up(node: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = [node("lost", there=False), node("here"), node("given up", alive=False)]
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(nodes=lambda: nodes))
    assert [answers(name) for name in ("lost", "here", "given up", "never seen")] == [False, True, False, False]


def test_another_node_is_there_large_enough_and_little_used(node: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = [node("lost"), node("small", cpus=0.5), node("gone", there=False), node("busy"), node("free")]
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(nodes=lambda: nodes))
    needs = {"CPU": 1.0, "GPU": 0.0}
    assert another_node("lost", needs, ["busy", "small"]) == "free"
    assert another_node("lost", needs, ["busy", "free", "free"]) == "busy"
    assert another_node("lost", {"CPU": 2.0}, []) is None
