"""What stands behind a `Session`: a backend that prepares and runs steps, found by its target's scheme."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from tfexp.core.errors import NotFoundError
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor

Shapes = tuple[tuple[int, ...], ...]


class PreparedStep(Protocol):
    """One combination of fetches, targets and feeds, which is run many times, perhaps by several threads at once.

    `ready` holds, by fed shapes, what runs fed arrays of these shapes with nothing left to check or decide; the backend
    fills it when it likes.
    """

    ready: dict[Shapes, Callable[[Sequence[Any]], Sequence[Any]]]

    def run(
        self, values: Sequence[Any], shapes: tuple[tuple[int, ...], ...], options: Any, run_metadata: Any
    ) -> Sequence[Any]:
        """Run with fed arrays of these shapes; the fetched arrays (0-d ones as NumPy scalars), the caller's to keep."""
        ...

    def explain(self, shapes: Shapes) -> Any:
        """What running feeds of these shapes comes to, as an object whose `repr` is meant for people."""
        ...


class Backend(Protocol):
    def prepare(self, fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor]) -> PreparedStep: ...

    def list_devices(self) -> list[Any]: ...

    def close(self) -> None:
        """Cancel what runs and let go of everything. May be called more than once."""
        ...

    def forget(self) -> None:
        """`close`, for the garbage collection, which comes in any thread, whatever locks that has: it waits for nothing.

        What would wait is for a thread of `_thread`: those of `threading` are waited for when they start.
        """
        ...


# target, graph, config -> backend; and target, containers -> None for Session.reset
Factory = Callable[[str, Any, Any], Backend]
Reset = Callable[[str, Sequence[str] | None, Any], None]

_FACTORIES: dict[str, tuple[Factory, Reset]] = {}
_ON_FIRST_USE: dict[str, str] = {}  # scheme -> the module that registers it


def register_backend(scheme: str, factory: Factory, reset: Reset) -> None:
    """Let sessions with a target `scheme://…` (`""`: no target) use `factory`. ValueError when the scheme is taken."""
    if scheme in _FACTORIES:
        raise ValueError(f"The scheme {scheme!r} has a session factory already")
    _FACTORIES[scheme] = (factory, reset)


def register_on_first_use(scheme: str, module: str) -> None:
    """Say that importing `module` registers this scheme, which happens when a session first has such a target."""
    _ON_FIRST_USE[scheme] = module


def find_backend(target: str) -> tuple[Factory, Reset]:
    """The factory and the reset function for a target; NotFoundError when nobody registered for its scheme."""
    scheme = target.partition("://")[0] if "://" in target else target
    if scheme not in _FACTORIES and scheme in _ON_FIRST_USE:
        importlib.import_module(_ON_FIRST_USE[scheme])
    if scheme not in _FACTORIES:
        known = ", ".join(repr(s) for s in sorted({*_FACTORIES, *_ON_FIRST_USE}))
        raise NotFoundError(
            None,
            None,
            f"No session factory registered for the given session options: {{target: {target!r}}} Registered schemes are "
            f"{{{known}}}.",
        )
    return _FACTORIES[scheme]
