"""Namespaces whose names load when they are first asked for: the module `__getattr__` and `__dir__` of PEP 562 over a table.

A table says where a namespace's public names are defined: `{"tfexp.ops.matmul": "matmul"}`, or `"multiply=mul"` where a
module calls it otherwise. It stands in the namespace's own file.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

_NONE: Mapping[str, str] = MappingProxyType({})


def lazy_names(
    module: str,
    table: Mapping[str, str],
    modules: Mapping[str, str] = _NONE,
    removed: Mapping[str, str] = _NONE,
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Returns `__getattr__`, `__dir__` and `__all__` of `module`: `table` lists its public names by module.

    modules: namespaces in this one, by the package that has them (`{"tfexp.api": "nn math"}`); removed: names of TensorFlow
    0.x that 1.15 no longer has, each with its replacement. A name that is in none of these is an AttributeError.
    """
    origins = dict(_origins(table))
    below = {public: f"{package}.{own}" for public, (package, own) in _origins(modules)}

    def find(name: str) -> Any:
        if name in origins:
            origin, own = origins[name]
            value = getattr(importlib.import_module(origin), own)
        elif name in below:
            value = importlib.import_module(below[name])
        else:
            replacement = f": TensorFlow 1.15 has {removed[name]} in its place" if name in removed else ""
            raise AttributeError(f"module {module!r} has no attribute {name!r}{replacement}")
        setattr(sys.modules[module], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[module]), *origins, *below})

    return find, names, sorted(name for name in {*origins, *below} if not name.startswith("_"))


def _origins(table: Mapping[str, str]) -> Iterator[tuple[str, tuple[str, str]]]:
    """(public name, (module that has it, its name there)) for each entry."""
    for origin, names in table.items():
        for entry in names.split():
            public, _, own = entry.partition("=")
            yield public, (origin, own or public)
