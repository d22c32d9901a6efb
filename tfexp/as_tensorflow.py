"""`import tensorflow` answered by tfexp: what lets a TensorFlow 1 script run unchanged.

After `install()`, `tensorflow`, `tensorflow.compat.v1` and every public module below are tfexp's own, whether TensorFlow is
installed or not. A module that tfexp lacks is a ModuleNotFoundError that says so.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Sequence

import tfexp

# Modules below TensorFlow's private package that its own documentation told people to import from.
_PRIVATE = {
    "tensorflow.python.client.timeline": "tfexp.runtime.timeline",
    "tensorflow.python.framework.dtypes": "tfexp.core.dtypes",
    "tensorflow.python.framework.errors": "tfexp.core.errors",
    "tensorflow.python.framework.graph_util": "tfexp.api.graph_util",
    "tensorflow.python.platform.app": "tfexp.api.app",
    "tensorflow.python.platform.flags": "tfexp.api.flags",
    "tensorflow.python.platform.gfile": "tfexp.api.gfile",
    "tensorflow.python.platform.test": "tfexp.api.test",
    "tensorflow.python.tools.inspect_checkpoint": "tfexp.train.checkpoint_utils",
}


def install() -> None:
    """Answer `import tensorflow` and everything below it from here on."""
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
            raise ModuleNotFoundError(
                f"No module named {fullname!r}: tfexp, which stands in for TensorFlow here, does not have it; "
                "`python -m tfexp.symbols` lists what there is",
                name=fullname,
            )
        return importlib.machinery.ModuleSpec(fullname, _Loader(module), is_package=True)


def _module(fullname: str) -> types.ModuleType | None:
    """The module that stands for `tensorflow.…`, or None."""
    if fullname in _PRIVATE:
        return importlib.import_module(_PRIVATE[fullname])
    found: object = tfexp
    for part in fullname.split(".")[1:]:
        found = getattr(found, part, None)
    if isinstance(found, types.ModuleType):
        return found
    if any(name.startswith(f"{fullname}.") for name in _PRIVATE):
        package = types.ModuleType(fullname)  # on the way to one of those
        package.__path__ = []
        return package
    return None


class _Loader(importlib.abc.Loader):
    def __init__(self, module: types.ModuleType):
        self._module = module

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType | None:
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        assert module.__spec__ is not None
        if not hasattr(self._module, "__path__"):
            self._module.__path__ = []  # modules can only be imported from below what has one
        # The import system hands out what it finds here, not the empty module that it made.
        sys.modules[module.__spec__.name] = self._module
