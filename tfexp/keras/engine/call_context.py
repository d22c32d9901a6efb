"""Which layer is being called in this thread, on what, and in which phase: what inner layers take from outer ones."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Call:
    """A call that is under way. training: what the caller said about the phase, None for nothing."""

    layer: Any
    inputs: Any
    training: Any
    frozen: bool  # the layer, or one around it, is not trainable


class _Calls(threading.local):
    current: Call | None = None


_calls = _Calls()


def current_call() -> Call | None:
    """The innermost call that is under way; None outside of all."""
    return _calls.current


@contextlib.contextmanager
def calling(layer: Any, inputs: Any, training: Any) -> Iterator[None]:
    """Inside, `layer` is being called."""
    outer = _calls.current
    frozen = not layer.trainable or (outer is not None and outer.frozen)
    _calls.current = Call(layer, inputs, training, frozen)
    try:
        yield
    finally:
        _calls.current = outer
