"""`tensorflow.python.framework.registry` and `traceable_stack`: objects by name, and by where they came from.

Source: TF 1.15.
"""

from __future__ import annotations

import inspect
from typing import Any


class Registry:
    """Objects by name. KeyError for a name that is taken, LookupError for one that is not there."""

    def __init__(self, name: str):
        self._name = name
        self._registry: dict[str, tuple[Any, str]] = {}

    def register(self, candidate: Any, name: str | None = None) -> None:
        """Have `candidate` under `name`, or under its own."""
        if not candidate:
            raise ValueError(f"{self._name} registry: nothing to register: {candidate!r}")
        name = name or candidate.__name__
        if name in self._registry:
            raise KeyError(
                f"Registering two {self._name} with name '{name}'! (Previous registration was in {self._registry[name][1]})"
            )
        caller = inspect.stack()[1]
        self._registry[name] = candidate, f"{caller.function} {caller.filename}:{caller.lineno}"

    def list(self) -> Any:
        """The names."""
        return self._registry.keys()

    def lookup(self, name: str) -> Any:
        if name not in self._registry:
            raise LookupError(f"{self._name} registry has no entry for: {name}")
        return self._registry[name][0]


class TraceableObject:
    """An object, and the line of the program that it was made at."""

    SUCCESS, HEURISTIC_USED, FAILURE = range(3)

    def __init__(self, obj: Any, filename: str | None = None, lineno: int | None = None):
        self.obj, self.filename, self.lineno = obj, filename, lineno

    def set_filename_and_line_from_caller(self, offset: int = 0) -> int:
        """Note the line of the caller `offset` calls further up; whether there are as many."""
        stack = inspect.stack()
        wanted = offset + 1
        found = stack[min(wanted, len(stack) - 1)]
        self.filename, self.lineno = found.filename, found.lineno
        return self.SUCCESS if wanted < len(stack) else self.HEURISTIC_USED

    def copy_metadata(self) -> TraceableObject:
        return TraceableObject(None, self.filename, self.lineno)


class TraceableStack:
    """A stack of objects that know where they were put on it."""

    def __init__(self, existing_stack: list[TraceableObject] | None = None):
        self._stack = list(existing_stack or [])

    def push_obj(self, obj: Any, offset: int = 0) -> int:
        traced = TraceableObject(obj)
        self._stack.append(traced)
        return traced.set_filename_and_line_from_caller(offset + 1)

    def pop_obj(self) -> Any:
        return self._stack.pop().obj

    def peek_top_obj(self) -> Any:
        return self._stack[-1].obj

    def peek_objs(self) -> list[Any]:
        """The objects, the newest first."""
        return [traced.obj for traced in reversed(self._stack)]

    def peek_traceable_objs(self) -> list[TraceableObject]:
        return list(reversed(self._stack))

    def copy(self) -> TraceableStack:
        return TraceableStack(self._stack)
