"""What the namespaces of `tf.compat.v2` are made of: names that are looked up when they are first asked for."""

from __future__ import annotations

import functools
import importlib
import pkgutil
import types
from typing import Any

import tfexp
from tfexp.core.gone import public_symbols

_ROOM = "tfexp.version_2"

# Namespaces that version 2 has twice.
_OTHERWISE = {
    f"tf.{name}": f"tf.keras.{name}" for name in ("initializers", "losses", "metrics", "optimizers", "optimizers.schedules")
}

# Names under which version 1 has something else, and version 2's own is not here.
_OTHER = {"tf.test.compute_gradient"}


class Namespace(types.ModuleType):
    """One namespace of TensorFlow 2.0's, with the names that `core/symbols_2_0.txt` lists.

    What the file of this folder that is called after the namespace (`data_experimental` for `tf.data.experimental`,
    `top_level` for `tf`) defines is version 2's own; everything else is what `tf` has under the same name.
    """

    def __init__(self, symbol: str):
        super().__init__(
            symbol.replace("tf", "tfexp.compat.v2", 1), f"TensorFlow 2.0's `{symbol}`, for graphs of TensorFlow 1."
        )
        self._symbol = symbol

    def __getattr__(self, name: str) -> Any:
        if name not in _names()[self._symbol]:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value = self._find(name)
        setattr(self, name, value)  # the next time it is there at once
        return value

    def _find(self, name: str) -> Any:
        own = _own(_OTHERWISE.get(self._symbol, self._symbol))
        if own is not None and hasattr(own, name):
            return getattr(own, name)
        if f"{self._symbol}.{name}" in _names():
            return Namespace(f"{self._symbol}.{name}")
        if f"{self._symbol}.{name}" in _OTHER:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}: tfexp does not have TensorFlow 2's")
        found: Any = tfexp
        for part in [*_OTHERWISE.get(self._symbol, self._symbol).split(".")[1:], name]:
            found = getattr(found, part)
        return found

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *_names()[self._symbol]})


@functools.cache
def _names() -> dict[str, set[str]]:
    """{namespace: the names in it, namespaces among them}."""
    found: dict[str, set[str]] = {}
    for symbol in public_symbols("2.0"):
        while symbol != "tf":
            symbol, _, name = symbol.rpartition(".")
            found.setdefault(symbol, set()).add(name)
    return found


@functools.cache
def _own(namespace: str) -> types.ModuleType | None:
    """The module with what version 2 alone has in a namespace."""
    name = namespace.removeprefix("tf.").replace(".", "_") if namespace != "tf" else "top_level"
    here = {found.name for found in pkgutil.iter_modules(importlib.import_module(_ROOM).__path__)}
    return importlib.import_module(f"{_ROOM}.{name}") if name in here else None
