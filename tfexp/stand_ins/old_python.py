"""Names that Python's own modules had in TensorFlow 1.15's days and have no longer; programs of that time use them.

Only `tfexp.script` puts them back (`collections.Iterable`, `inspect.getargspec`, `time.clock`, `unittest`'s
`assertRaisesRegexp`), for the program it runs.
"""

from __future__ import annotations

import collections
import collections.abc
import fractions
import inspect
import math
import threading
import time
import unittest
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


# Names of `unittest.TestCase` that Python 3.12 took away, and those of today.
_ASSERTIONS = {
    "assert_": "assertTrue",
    "assertAlmostEquals": "assertAlmostEqual",
    "assertEquals": "assertEqual",
    "assertNotAlmostEquals": "assertNotAlmostEqual",
    "assertNotEquals": "assertNotEqual",
    "assertNotRegexpMatches": "assertNotRegex",
    "assertRaisesRegexp": "assertRaisesRegex",
    "assertRegexpMatches": "assertRegex",
}


def put_back() -> None:
    """Give the modules and classes those of the names that they lack."""
    lost: dict[Any, dict[str, Any]] = {
        collections: {name: getattr(collections.abc, name) for name in collections.abc.__all__},
        inspect: {"ArgSpec": ArgSpec, "getargspec": getargspec},
        time: {"clock": time.process_time},
        fractions: {"gcd": math.gcd},
        threading.Thread: {"isAlive": threading.Thread.is_alive},
        unittest.TestCase: {old: getattr(unittest.TestCase, new) for old, new in _ASSERTIONS.items()},
    }
    for owner, names in lost.items():
        for name, value in names.items():
            if name not in vars(owner):
                setattr(owner, name, value)
