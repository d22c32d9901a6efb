"""Tracebacks through converted branches and loops: the program's lines, without all that is called between them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import TracebackType
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_PACKAGE = __name__.split(".")[0] + "."


def shows_program(operator: Callable[P, R]) -> Callable[P, R]:
    """`operator`, out of which exceptions come with the program's frames, and tfexp's only after the last of them."""

    @functools.wraps(operator)
    def shown(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return operator(*args, **kwargs)
        except Exception as error:
            raise error.with_traceback(_of_program(error.__traceback__))  # noqa: B904 (it is the same)

    return shown


def _of_program(traceback: TracebackType | None) -> TracebackType | None:
    frames = []
    while traceback is not None:
        frames.append(traceback)
        traceback = traceback.tb_next
    kept: TracebackType | None = None
    in_program = False
    for one in reversed(frames):
        is_program = not one.tb_frame.f_globals.get("__name__", "").startswith(_PACKAGE)
        in_program = in_program or is_program
        if is_program or not in_program:
            kept = TracebackType(kept, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return kept
