"""`import tensorflow` answered by tfexp, so that a TensorFlow 1 script runs unchanged (E6).

After `install()`, `tensorflow`, `tensorflow.compat.v1` and the public modules below them are tfexp's own, whether TensorFlow
is installed or not. A module that tfexp lacks is a ModuleNotFoundError with its name.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import os
import sys
import types
from collections.abc import Sequence
from pathlib import Path

import tfexp

PRIVATE_MODULES = {
    "tensorflow.python.client.timeline": "tfexp.runtime.timeline",  # X7
    "tensorflow.python.tools.inspect_checkpoint": "tfexp.train.checkpoint_utils",  # T3
}
"""The modules outside of TensorFlow's public API that rows of the feature list name, and ours that answer for them."""

_ON_PATH = str(Path(__file__).parent / "on_path")


def install(for_children: bool = False) -> None:
    """Answers `import tensorflow` and everything below it from here on.

    for_children: Python processes that this one starts answer it, too: those that inherit its environment, and those that
    are handed its `sys.path` (`multiprocessing`).
    """
    if for_children:
        path = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        if _ON_PATH not in path:
            os.environ["PYTHONPATH"] = os.pathsep.join([_ON_PATH, *filter(None, path)])
        if _ON_PATH not in sys.path:
            sys.path.append(_ON_PATH)
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        for name in [name for name in sys.modules if name.partition(".")[0] == "tensorflow"]:
            del sys.modules[name]
        sys.meta_path.insert(0, _Finder())


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] != "tensorflow":
            return None
        module = _module(fullname)
        if module is None:
            raise ModuleNotFoundError(f"No module named {fullname!r}: tfexp does not have it", name=fullname)
        return importlib.machinery.ModuleSpec(fullname, _Loader(module), is_package=True)


def _module(fullname: str) -> types.ModuleType | None:
    """The module that answers for `tensorflow.…`, or None."""
    if fullname in PRIVATE_MODULES:
        return importlib.import_module(PRIVATE_MODULES[fullname])
    found: object = tfexp
    for part in fullname.split(".")[1:]:
        found = getattr(found, part, None)
    if isinstance(found, types.ModuleType):
        return found
    is_on_the_way = any(private.startswith(f"{fullname}.") for private in PRIVATE_MODULES)
    return types.ModuleType(fullname) if is_on_the_way else None


class _Loader(importlib.abc.Loader):
    def __init__(self, module: types.ModuleType):
        self._module = module

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType | None:
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        assert module.__spec__ is not None
        if not hasattr(self._module, "__path__"):
            self._module.__path__ = []  # modules can only be imported from below what has one
        sys.modules[module.__spec__.name] = self._module  # the import system hands out what it finds here
