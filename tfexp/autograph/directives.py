"""What a program says about its conversion. Source: `tf.autograph.experimental`, TF 1.15."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any


class _Thread(threading.local):
    off = False


_thread = _Thread()


def is_off() -> bool:
    """Whether nothing is converted now: a function runs that `do_not_convert` marks."""
    return _thread.off


@contextlib.contextmanager
def _unconverted() -> Iterator[None]:
    before, _thread.off = _thread.off, True
    try:
        yield
    finally:
        _thread.off = before


def do_not_convert(func: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """`func`, which is never converted, nor what it calls and has traced. Also a decorator with `()`."""
    if func is None:
        return do_not_convert

    @functools.wraps(func)  # a function of tfexp's, which are not converted
    def unconverted(*args: Any, **kwargs: Any) -> Any:
        with _unconverted():
            return func(*args, **kwargs)

    return unconverted


@dataclass(frozen=True)
class LoopOptions:
    """What `set_loop_options` says of the loop that it stands in: arguments of `tf.while_loop`, shapes of variables."""

    arguments: dict[str, Any]
    shape_invariants: Sequence[tuple[Any, Any]] = ()


def set_loop_options(
    parallel_iterations: int | None = None,
    back_prop: bool | None = None,
    swap_memory: bool | None = None,
    maximum_iterations: Any = None,
    shape_invariants: Sequence[tuple[Any, Any]] | None = None,
) -> LoopOptions:
    """Options of the loop whose body begins with this call, if it is a loop in the graph; arguments of `tf.while_loop`.

    `shape_invariants`: pairs of a loop variable and what its shape is throughout the loop.
    """
    given = {
        "parallel_iterations": parallel_iterations,
        "back_prop": back_prop,
        "swap_memory": swap_memory,
        "maximum_iterations": maximum_iterations,
    }
    return LoopOptions({name: value for name, value in given.items() if value is not None}, shape_invariants or ())
