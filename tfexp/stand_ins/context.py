"""`tensorflow.python.eager.context`: which mode this thread is in, and blocks that change it. Source: TF 1.15."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from tfexp.graph.graph import Graph
from tfexp.graph.random_seed import set_random_seed
from tfexp.graph.scopes import device as device
from tfexp.graph.scopes import executing_eagerly as executing_eagerly
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.unpublished import get_name_scope
from tfexp.runtime.eager import ASYNC as ASYNC
from tfexp.runtime.eager import DEVICE_PLACEMENT_EXPLICIT as DEVICE_PLACEMENT_EXPLICIT
from tfexp.runtime.eager import DEVICE_PLACEMENT_SILENT as DEVICE_PLACEMENT_SILENT
from tfexp.runtime.eager import DEVICE_PLACEMENT_SILENT_FOR_INT32 as DEVICE_PLACEMENT_SILENT_FOR_INT32
from tfexp.runtime.eager import DEVICE_PLACEMENT_WARN as DEVICE_PLACEMENT_WARN
from tfexp.runtime.eager import SYNC as SYNC
from tfexp.runtime.eager import eager_mode as eager_mode
from tfexp.runtime.eager import list_devices as list_devices
from tfexp.runtime.eager import num_gpus as num_gpus

GRAPH_MODE, EAGER_MODE = range(2)

in_eager_mode = executing_eagerly


@contextlib.contextmanager
def graph_mode() -> Iterator[None]:
    """A block that builds a graph: the default one, or, where ops run at once, a graph of the block's own."""
    with Graph().as_default() if executing_eagerly() else contextlib.nullcontext():
        yield


@contextlib.contextmanager
def execution_mode(mode: Any) -> Iterator[None]:
    """A block in one of the modes SYNC and ASYNC: ops that run at once are done when they return in both."""
    if mode not in (None, SYNC, ASYNC):
        raise ValueError(f"Execution mode should be None/SYNC/ASYNC. Got {mode}")
    yield


class _Context:
    """What `context()` answers: questions about the one context there is."""

    def executing_eagerly(self) -> bool:
        return executing_eagerly()

    in_eager_mode = executing_eagerly

    def in_graph_mode(self) -> bool:
        return not executing_eagerly()

    def num_gpus(self) -> int:
        return num_gpus()

    def devices(self) -> list[str]:
        return list_devices()

    def ensure_initialized(self) -> None:
        """There is nothing to start."""

    def device(self, name: Any) -> Any:
        return device(name)

    @property
    def scope_name(self) -> str:
        return get_name_scope()


_CONTEXT = _Context()


def context() -> _Context:
    return _CONTEXT


def set_global_seed(seed: int | None) -> None:
    """Set the seed of the ops that run at once here."""
    set_random_seed(seed)


def global_seed() -> int | None:
    """The seed that ops without one of their own have here, in this graph or at once."""
    seed: int | None = get_default_graph().seed
    return seed


def in_graph_mode() -> bool:
    """Whether calling an op here adds a node to a graph."""
    return not executing_eagerly()


def ensure_initialized() -> None:
    """There is nothing to start."""
