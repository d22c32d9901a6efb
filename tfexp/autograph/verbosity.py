"""What AutoGraph tells of its work. Source: `tf.autograph.set_verbosity`, `tf.autograph.trace`, TF 1.15."""

from __future__ import annotations

import os
from typing import Any

from tfexp.core.log import get_logger

_level: int | None = None
_also_to_stdout = False


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """How much is logged of conversions: 0 nothing, 1 what is converted, 3 the converted code too.

    The environment variable AUTOGRAPH_VERBOSITY is the level until this is called. `alsologtostdout` prints it as well.
    """
    global _level, _also_to_stdout
    _level, _also_to_stdout = level, alsologtostdout


def verbosity() -> int:
    return int(os.environ.get("AUTOGRAPH_VERBOSITY", "0")) if _level is None else _level


def tell(level: int, text: str, *args: Any) -> None:
    """Log `text % args` if that much is to be told."""
    if verbosity() >= level:
        get_logger().info(text, *args)
        if _also_to_stdout:
            print(text % args)


def trace(*args: Any) -> None:
    """Print `args` while a function is traced: in converted code, where `print` may be an op of the graph."""
    print(*args)
