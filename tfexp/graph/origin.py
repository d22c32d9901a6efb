"""Where in a program an op was made: the calls outside of this package, kept in little room and read when asked for."""

from __future__ import annotations

import linecache
import sys
from types import CodeType
from typing import Any

# The code and the instruction of each call, innermost first. Frames themselves would keep their variables alive, and lines
# take longer to find than nodes to make.
Stack = tuple[CodeType | int, ...]

_PACKAGE = __name__.split(".")[0] + "."


def stack_of_callers() -> Stack:
    """The calls outside of this package that lead here."""
    found: list[CodeType | int] = []
    frame = sys._getframe(1)
    names, ours = None, False
    while frame is not None:
        if frame.f_globals is not names:  # many a call is of the same module as the one before
            names = frame.f_globals
            ours = names.get("__name__", "").startswith(_PACKAGE)
        if not ours:
            found += (frame.f_code, frame.f_lasti)
        frame = frame.f_back  # type: ignore[assignment]
    return tuple(found)


def innermost(stack: Stack) -> str:
    """`file:line` of the innermost call; empty without calls."""
    return "{}:{}".format(*frames(stack[:2])[0]) if stack else ""


def frames(stack: Stack) -> tuple[tuple[Any, ...], ...]:
    """(file, line, function, source line, line on which the function begins), outermost first."""
    calls = zip(stack[-2::-2], stack[-1::-2], strict=True)
    return tuple(_frame(code, instruction) for code, instruction in calls)  # type: ignore[arg-type]


def _frame(code: CodeType, instruction: int) -> tuple[Any, ...]:
    lines = (line for start, end, line in code.co_lines() if start <= instruction < end)
    line = next(lines, None) or code.co_firstlineno
    source = linecache.getline(code.co_filename, line).strip()
    return code.co_filename, line, code.co_name, source, code.co_firstlineno
