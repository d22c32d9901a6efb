"""Names that Python's own modules had in TensorFlow 1.15's days and have no longer; programs of that time use them.

Only `tfexp.script` puts them back (`collections.Iterable`, `inspect.getargspec`, `time.clock`), for the program it runs.
"""

from __future__ import annotations

import collections
import collections.abc
import fractions
import inspect
import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple


class ArgSpec(NamedTuple):
    """What `inspect.getargspec` returned."""

    args: list[str]
    varargs: str | None
    keywords: str | None
    defaults: tuple[Any, ...] | None


def getargspec(function: Callable[..., Any]) -> ArgSpec:
    """The names, `*` and `**` names, and defaults of the arguments; ValueError where there are keyword-only ones."""
    full = inspect.getfullargspec(function)
    if full.kwonlyargs:
        raise ValueError(f"{function!r} has keyword-only arguments: use inspect.getfullargspec")
    return ArgSpec(full.args, full.varargs, full.varkw, full.defaults)


def put_back() -> None:
    """Give the modules those of the names that they lack."""
    lost: dict[Any, dict[str, Any]] = {
        collections: {name: getattr(collections.abc, name) for name in collections.abc.__all__},
        inspect: {"ArgSpec": ArgSpec, "getargspec": getargspec},
        time: {"clock": time.process_time},
        fractions: {"gcd": math.gcd},
    }
    for module, names in lost.items():
        for name, value in names.items():
            if name not in vars(module):
                setattr(module, name, value)
