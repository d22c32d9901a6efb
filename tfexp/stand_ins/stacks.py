"""`tensorflow.python.util.tf_stack`: the calls that lead here, as values. Source: TF 1.15."""

from __future__ import annotations

import linecache
import sys
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

TB_FILENAME, TB_LINENO, TB_FUNCNAME, TB_CODEDICT = range(4)


class StackFrame(NamedTuple):
    """A call: its line of source is looked up when `convert_stack` is asked for it."""

    filename: str
    lineno: int
    name: str
    globals: dict[str, Any]
    func_start_lineno: int


def extract_stack(limit: int = -1) -> list[StackFrame]:
    """The calls that lead to this one, outermost first; at most `limit` of them, all if negative."""
    mappers, filters = (_active.__dict__.get(kind.__name__) for kind in (StackTraceMapper, StackTraceFilter))
    places = mappers[-1].get_effective_source_map() if mappers else {}
    hidden = filters[-1].get_filtered_filenames() if filters else ()
    found: list[StackFrame] = []
    frame = sys._getframe(1)
    while frame is not None and len(found) != limit:
        code = frame.f_code
        place = code.co_filename, frame.f_lineno, code.co_name
        file, line, function = places.get(place[:2], place)
        if file not in hidden:
            found.append(StackFrame(file, line, function, frame.f_globals, code.co_firstlineno))
        frame = frame.f_back  # type: ignore[assignment]
    return found[::-1]


def convert_stack(stack: Sequence[StackFrame], include_func_start_lineno: bool = False) -> tuple[tuple[Any, ...], ...]:
    """(file, line, function, source line or None) of each call, and the line on which its function begins if asked for."""

    def converted(frame: StackFrame) -> tuple[Any, ...]:
        line = linecache.getline(frame.filename, frame.lineno, frame.globals).strip() or None
        whole = frame.filename, frame.lineno, frame.name, line, frame.func_start_lineno
        return whole if include_func_start_lineno else whole[:-1]

    return tuple(map(converted, stack))


class StackTraceTransform:
    """Of a `with` block, around which there may be others of its kind: `parent` is the next one. For one thread alone."""

    _thread_key: int | None = None
    parent: Any = None

    def __enter__(self) -> Any:
        self.reset()
        if self._thread_key is None:
            self._thread_key = threading.get_ident()
        assert self._thread_key == threading.get_ident(), "Shared across threads?"
        self.parent = self._around[-1] if self._around else None
        self._around.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._around.pop() is self, "Concurrent access?"

    @property
    def _around(self) -> list[Any]:
        kind = StackTraceMapper if isinstance(self, StackTraceMapper) else StackTraceFilter
        return _active.__dict__.setdefault(kind.__name__, [])

    def reset(self) -> None:
        pass


class StackTraceMapper(StackTraceTransform):
    """Within it, calls are where `get_effective_source_map` says: {(file, line): (file, line, function)}."""

    _effective_source_map: Any = None

    def reset(self) -> None:
        self._effective_source_map = None

    def get_effective_source_map(self) -> Any:
        raise NotImplementedError("subclasses need to override this")


class StackTraceFilter(StackTraceTransform):
    """Within it, stacks are without the calls from the files that `get_filtered_filenames` names."""

    _filtered_filenames: Any = None

    def reset(self) -> None:
        self._filtered_filenames = None

    def get_filtered_filenames(self) -> Any:
        raise NotImplementedError("subclasses need to override this")


class CurrentModuleFilter(StackTraceFilter):
    """Leaves out the calls from the file in which it is made, and those that filters around it leave out."""

    def __init__(self) -> None:
        self._file = sys._getframe(1).f_code.co_filename

    def get_filtered_filenames(self) -> frozenset[str]:
        if self._filtered_filenames is None:
            above = self.parent.get_filtered_filenames() if self.parent is not None else ()
            self._filtered_filenames = frozenset({self._file, *above})
        return self._filtered_filenames


_active = threading.local()
