"""`tensorflow.python.util.tf_stack`: the calls that lead here, as values. Source: TF 1.15."""

from __future__ import annotations

import linecache
import sys
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
    found: list[StackFrame] = []
    frame = sys._getframe(1)
    while frame is not None and len(found) != limit:
        code = frame.f_code
        found.append(StackFrame(code.co_filename, frame.f_lineno, code.co_name, frame.f_globals, code.co_firstlineno))
        frame = frame.f_back  # type: ignore[assignment]
    return found[::-1]


def convert_stack(stack: Sequence[StackFrame], include_func_start_lineno: bool = False) -> tuple[tuple[Any, ...], ...]:
    """(file, line, function, source line or None) of each call, and the line on which its function begins if asked for."""

    def converted(frame: StackFrame) -> tuple[Any, ...]:
        line = linecache.getline(frame.filename, frame.lineno, frame.globals).strip() or None
        whole = frame.filename, frame.lineno, frame.name, line, frame.func_start_lineno
        return whole if include_func_start_lineno else whole[:-1]

    return tuple(map(converted, stack))
