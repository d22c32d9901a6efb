"""`tf.raw_ops`: every op that tfexp has, by its name, called with keyword arguments only."""

from __future__ import annotations

import functools
from typing import Any

from tfexp.core.op import Op, all_ops, find_op


def _raw(op: Op) -> Any:
    def call(**arguments: Any) -> Any:
        return op(**arguments)

    call.__name__ = call.__qualname__ = op.name
    call.__doc__ = f"`{op.signature}`: one node. `tf.raw_ops.{op.name}`."
    return call


@functools.cache
def __getattr__(name: str) -> Any:
    op = None if name.startswith("_") else find_op(name)
    if op is None:
        raise AttributeError(f"module 'tfexp.raw_ops' has no attribute {name!r}: tfexp has no op of that name")
    return _raw(op)


def __dir__() -> list[str]:
    return sorted(name for name in all_ops() if not name.startswith("_"))
