"""Variables whose values live with compiled code. Whoever looks at such a variable's `value` brings it home.

A value is in one place at a time: in the Ref's own NumPy array, or on a device. Compiled steps move it to the device once
and hand it on from step to step there (`take`, `put`); kernels, fetches and savers know nothing of this. A Ref at home pays
nothing for it: one whose value is away is of another class for as long as it is.
"""

from __future__ import annotations

import functools
import threading
from typing import Any

import numpy as np

from tfexp.core.kernel import Ref, aligned_empty

moving = threading.RLock()
"""Held while values move, and by whoever has taken some and has not put the next ones in their place."""

_slot: Any = Ref.__dict__["value"]


def _brought_home(ref: Ref) -> np.ndarray | None:
    with moving:
        away = _slot.__get__(ref)
        if is_away(ref):
            array = aligned_empty(away.shape, away.dtype)
            array[...] = np.asarray(away)
            _send_home(ref, array)
            return array
        value: np.ndarray | None = away  # another thread was quicker
        return value


def _send_home(ref: Ref, value: Any) -> None:
    with moving:
        if is_away(ref):
            ref.__class__ = type(ref).__bases__[0]
        _slot.__set__(ref, value)


@functools.cache
def _away(kind: type[Ref]) -> type[Ref]:
    """The class of a Ref of `kind` whose value is away."""
    return type(f"{kind.__name__}Away", (kind,), {"__slots__": (), "value": property(_brought_home, _send_home)})


def is_away(ref: Ref) -> bool:
    return "value" in type(ref).__dict__ and type(ref) is not Ref


def take(ref: Ref) -> Any:
    """The device's array if the value is away, else the Ref's own (None without a value). Call with `moving` held."""
    return _slot.__get__(ref)


def put(ref: Ref, value: Any) -> None:
    """Let the variable have `value`, an array of a device. Call with `moving` held."""
    if not is_away(ref):
        ref.__class__ = _away(type(ref))  # type: ignore[arg-type]
    _slot.__set__(ref, value)
