"""The default graph and the default session: stacks, one of each per thread. Source: `tf.get_default_graph` and friends."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any


class Pushed(contextlib.ContextDecorator):
    """A block in which an item is the default. A class, not a generator: one is around every node that is built."""

    __slots__ = ("_item", "_stack")

    def __init__(self, stack: DefaultStack, item: Any):
        self._stack = stack
        self._item = item

    def __enter__(self) -> Any:
        self._stack._stack.append(self._item)
        return self._item

    def __exit__(self, *exc: object) -> None:
        stack = self._stack._stack
        if stack[-1] is not self._item:
            raise AssertionError(f"Nesting violated for default stack of {type(self._item)} objects")
        stack.pop()


class DefaultStack(threading.local):
    """A stack of defaults of the current thread. Blocks must close in the order opposite to their opening."""

    def __init__(self) -> None:
        self._stack: list[Any] = []

    @property
    def current(self) -> Any:
        return self._stack[-1] if self._stack else None

    @property
    def is_empty(self) -> bool:
        return not self._stack

    def pushed(self, item: Any) -> Pushed:
        return Pushed(self, item)

    def push(self, item: Any) -> None:
        """Open without a block (InteractiveSession)."""
        self._stack.append(item)

    def remove(self, item: Any) -> None:
        """Close what `push` opened, wherever it lies."""
        for position in range(len(self._stack) - 1, -1, -1):
            if self._stack[position] is item:
                del self._stack[position]
                return


graph_stack = DefaultStack()
session_stack = DefaultStack()


def get_default_session() -> Any:
    """The innermost default session of this thread, or None."""
    return session_stack.current


_eager_world: Callable[[], Any] | None = None


def set_eager_world(make: Callable[[], Any]) -> None:
    """Say how a graph is made whose ops run at once; the runtime, which has one, says so."""
    global _eager_world
    _eager_world = make


def new_eager_world() -> Any:
    """A graph whose ops run at once."""
    if _eager_world is None:
        raise RuntimeError("eager execution is the runtime's, and nobody has imported tfexp.runtime.eager")
    return _eager_world()
