"""Where a Ray actor goes when the machine of the former one may be lost.

Ray gives a node up after some failed looks, a quarter of a minute after it went, and until then waits for it to start actors
that have their place there. Whether its part of Ray still answers, a connection tells at once.
"""

from __future__ import annotations

import contextlib
import socket
from collections import Counter
from collections.abc import Iterable
from typing import Any

__all__ = ["another_node", "answers"]

_WITHIN = 1.0


def answers(node: str) -> bool:
    """Whether anybody listens where the node of this id has its part of Ray."""
    import ray

    return any(_listens(found) for found in ray.nodes() if found["NodeID"] == node and found["Alive"])


def another_node(lost: str, needs: dict[str, float], used: Iterable[str]) -> str | None:
    """The id of a node that answers and is large enough, if there is one; rather one of which less is in use."""
    import ray

    tasks = Counter(used)
    found = [node for node in ray.nodes() if node["Alive"] and node["NodeID"] != lost and _holds(node, needs)]
    found.sort(key=lambda node: tasks[node["NodeID"]])
    return next((str(node["NodeID"]) for node in found if _listens(node)), None)


def _holds(node: dict[str, Any], needs: dict[str, float]) -> bool:
    return all(node["Resources"].get(resource, 0.0) >= amount for resource, amount in needs.items())


def _listens(node: dict[str, Any]) -> bool:
    with contextlib.suppress(OSError):
        socket.create_connection((node["NodeManagerAddress"], int(node["NodeManagerPort"])), timeout=_WITHIN).close()
        return True
    return False
