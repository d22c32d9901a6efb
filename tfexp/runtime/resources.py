"""The state that outlives a step: resources by container and name, and what each node's kernel remembers."""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tfexp.core.errors import AbortedError
from tfexp.core.log import get_logger
from tfexp.runtime.collectives import Exchange, LocalExchange


class Resources:
    """Named resources in containers. One belongs to each local session (or task): two never share a variable.

    What names no container is in the one that is called like the task's job, as in TensorFlow: `job`.
    """

    def __init__(self, job: str = "localhost") -> None:
        self.default_container = job
        self._lock = threading.RLock()
        self._containers: dict[str, dict[tuple[str, str], Any]] = {}
        self._node_states: dict[str, dict[str, Any]] = {}
        # Bound plans hold on to handles; a cleared container makes them stale.
        self.generation = 0
        self.exchange: Exchange = LocalExchange()

    def get(self, container: str, name: str, create: Callable[[], Any], kind: str = "") -> Any:
        """The resource; made by `create`, once, if there is none."""
        with self._lock:
            resources = self._containers.setdefault(container or self.default_container, {})
            key = (kind, name)
            if key not in resources:
                resources[key] = create()
            return resources[key]

    def find(self, container: str, name: str, kind: str = "") -> Any:
        """The resource, or None."""
        with self._lock:
            return self._containers.get(container or self.default_container, {}).get((kind, name))

    def remove(self, container: str, name: str, kind: str = "") -> Any:
        """Forget the resource and return it; None when there was none."""
        with self._lock:
            found = self._containers.get(container or self.default_container, {}).pop((kind, name), None)
            self.generation += found is not None
            return found

    def node_state(self, node_name: str) -> dict[str, Any]:
        with self._lock:
            return self._node_states.setdefault(node_name, {})

    def clear(self) -> None:
        """Drop all."""
        _let_go(self._dropped())

    def reset(self, containers: Iterable[str]) -> None:
        """Drop the resources of these containers; if there are none, those of the default one and what nodes keep."""
        named = tuple(containers)
        _let_go(self._dropped(named or (self.default_container,), of_nodes=not named))

    def forget(self) -> None:
        """Drop all, and do not wait until those that have an end of their own (threads) have come to it."""
        ending = [resource for resource in self._dropped() if hasattr(resource, "dispose")]
        if ending:
            _thread.start_new_thread(_let_go_unheard, (ending,))

    def _dropped(self, containers: Iterable[str] | None = None, of_nodes: bool = True) -> list[Any]:
        with self._lock:
            names = list(self._containers if containers is None else containers)
            dropped: list[Mapping[Any, Any]] = [self._containers.pop(name, {}) for name in names]
            if of_nodes:
                dropped.extend(self._node_states.values())
                self._node_states = {}
            self.generation += 1
        return _all_of(dropped)


def _all_of(dropped: Iterable[Mapping[Any, Any]]) -> list[Any]:
    return [resource for resources in dropped for resource in resources.values()]


def _let_go(dropped: Iterable[Any]) -> None:
    """Tell those that hold on to something outside (files) that nobody will use them any more."""
    for resource in dropped:
        dispose = getattr(resource, "dispose", None)
        if dispose is not None:
            dispose()


def _let_go_unheard(dropped: Iterable[Any]) -> None:
    for resource in dropped:
        try:
            resource.dispose()
        except Exception as error:  # nobody is there to be told; what it needs for its end may have gone first
            get_logger().debug("What a forgotten session has left did not end: %s", error)


class SessionResources:
    """One session's view of its task's resources: these are everybody's, what its nodes' kernels remember is its own."""

    def __init__(self, shared: AnyResources, isolated: bool = False, exchange: Exchange | None = None):
        """`isolated`: nobody else has them, and they end with the session. `exchange`: the session's own."""
        self._shared = shared
        self._exchange = exchange
        self.exchange: Exchange = shared.exchange if exchange is None else exchange
        self._isolated = isolated
        self._lock = threading.Lock()
        self._node_states: dict[str, dict[str, Any]] = {}
        self._held: dict[int, list[Any]] = {}
        self.default_container: str = shared.default_container
        self.get: Callable[..., Any] = shared.get
        self.find: Callable[..., Any] = shared.find
        self.remove: Callable[..., Any] = shared.remove
        self.clear: Callable[..., Any] = shared.clear
        self.forget: Callable[[], None] = shared.forget

    @property
    def generation(self) -> int:
        return self._shared.generation

    def node_state(self, node_name: str) -> dict[str, Any]:
        with self._lock:
            return self._node_states.setdefault(node_name, {})

    def hold(self, step: int, value: Any) -> str:
        """Keep what lives for one step until `let_go`; returns a name for `held`."""
        with self._lock:
            values = self._held.setdefault(step, [])
            values.append(value)
            return f"{step}:{len(values) - 1}"

    def held(self, name: str) -> Any:
        """What was kept. AbortedError if it is not there (any more)."""
        step, _, number = name.partition(":")
        with self._lock:
            values = self._held.get(int(step), []) if step.isdigit() else []
            if not number.isdigit() or int(number) >= len(values):
                raise AbortedError(None, None, f"This task holds nothing that is called {name!r}: its step has ended.")
            return values[int(number)]

    def let_go(self, step: int) -> None:
        with self._lock:
            self._held.pop(step, None)

    def end(self) -> None:
        """The session is over: drop what was its own."""
        if self._exchange is not None:
            self._exchange.end()
        with self._lock:
            self._held.clear()
            dropped, self._node_states = _all_of(self._node_states.values()), {}
        _let_go(dropped)
        if self._isolated:
            self._shared.clear()


AnyResources = Resources | SessionResources
