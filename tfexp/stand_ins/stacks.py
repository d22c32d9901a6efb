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
    mappers, filters = _open_blocks(StackTraceMapper), _open_blocks(StackTraceFilter)
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
    """A `with` block that changes the stacks which its thread extracts; `parent` is the block of its kind around it."""

    parent: Any = None

    def __enter__(self) -> Any:
        self.reset()
        blocks = _open_blocks(type(self))
        self.parent = blocks[-1] if blocks else None
        blocks.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _open_blocks(type(self)).remove(self)

    def reset(self) -> None:
        """The block begins: what subclasses keep from an earlier time counts no longer."""


class StackTraceMapper(StackTraceTransform):
    """Within it, calls are where `get_effective_source_map` says: {(file, line): (file, line, function)}."""

    def get_effective_source_map(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not say where lines are")


class StackTraceFilter(StackTraceTransform):
    """Within it, stacks are without the calls from the files that `get_filtered_filenames` names."""

    def get_filtered_filenames(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not say which files are left out")


class CurrentModuleFilter(StackTraceFilter):
    """Leaves out the calls from the file in which it is made, and those that the filter around it leaves out."""

    def __init__(self) -> None:
        self._file = sys._getframe(1).f_code.co_filename

    def get_filtered_filenames(self) -> frozenset[str]:
        return frozenset({self._file, *(self.parent.get_filtered_filenames() if self.parent else ())})


_open = threading.local()


def _open_blocks(kind: type) -> list[Any]:
    """This thread's blocks of mappers, or of filters, the outermost first."""
    blocks: list[Any] = vars(_open).setdefault("mappers" if issubclass(kind, StackTraceMapper) else "filters", [])
    return blocks
