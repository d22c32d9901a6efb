"""`import tensorflow` answered by tfexp: what lets a TensorFlow 1 script run unchanged.

After `install()`, `tensorflow`, `tensorflow.compat.v1` and every public module below are tfexp's own, whether TensorFlow is
installed or not; `stand_ins` says what answers for the modules that TensorFlow's own tests import from. A module or
a name that tfexp lacks is a ModuleNotFoundError that says so.
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
from tfexp.core.gone import is_tensorflows
from tfexp.stand_ins.modules import stand_for
from tfexp.stand_ins.places import SHOWN

_ROOTS = ("tensorflow", "tensorflow_estimator")
_ON_PATH = str(Path(__file__).parent / "stand_ins" / "on_path")


def install(for_children: bool = False) -> None:
    """Answer `import tensorflow` and everything below it from here on.

    for_children: Python processes which this one starts shall answer it too: those that take over its environment, and those
    that are handed its `sys.path` (`multiprocessing`, pytest-xdist).
    """
    if for_children:
        path = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        if _ON_PATH not in path:
            os.environ["PYTHONPATH"] = os.pathsep.join([_ON_PATH, *filter(None, path)])
        if _ON_PATH not in sys.path:
            sys.path.append(_ON_PATH)
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        for name in [name for name in sys.modules if name.partition(".")[0] in _ROOTS]:
            del sys.modules[name]
        sys.meta_path.insert(0, _Finder())
        sys.meta_path.append(_Last())


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] not in _ROOTS:
            return None
        module = _module(fullname)
        if module is None:
            raise ModuleNotFoundError(
                f"No module named {fullname!r}: tfexp, which stands in for TensorFlow here, does not have it; "
                "`python -m tfexp.symbols` lists what there is",
                # With a name, `from tensorflow.python.… import this` swallows the text; without one, `pydoc.locate` takes
                # what is no module for a module that is broken.
                name=None if _is_lacking(fullname) else fullname,
            )
        return importlib.machinery.ModuleSpec(fullname, _Loader(module), is_package=True)


class _Last(importlib.abc.MetaPathFinder):
    """Asked when nobody has a module: `from tensorflow.train import this` looks for one where there is no `this`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        root, _, rest = fullname.partition(".")
        below = rest.removeprefix("api.")
        if root != "tfexp":
            return None
        if (stand := stand_for(f"tensorflow.{below}")) is not None:  # `from tensorflow.contrib.predictor import predictor`
            return importlib.machinery.ModuleSpec(fullname, _Loader(stand), is_package=True)
        if is_tensorflows(f"tf.{below}"):
            raise ModuleNotFoundError(
                f"tfexp does not have TensorFlow's tf.{below}; `python -m tfexp.symbols tf.{below.rpartition('.')[0]}` "
                "lists what there is"
            )
        return None


def _is_lacking(fullname: str) -> bool:
    """Whether a private module of TensorFlow's that tfexp stands in for lacks it, in whatever form it may have it."""
    above, _, name = fullname.rpartition(".")
    parent = sys.modules.get(above)
    return parent is not None and parent.__name__.startswith("tensorflow.") and not hasattr(parent, name)


def _module(fullname: str) -> types.ModuleType | None:
    """The module that stands for `tensorflow.…`, or None."""
    if fullname == "tensorflow_estimator":
        return _estimator_package()
    # A private module has modules below it which the public namespace that answers for it lacks.
    if fullname.partition(".")[2].startswith("python.") and (stand := stand_for(fullname)) is not None:
        return stand
    found: object = tfexp
    for part in fullname.split(".")[1:]:
        found = getattr(found, part, None)
    return found if isinstance(found, types.ModuleType) else stand_for(fullname)


def _estimator_package() -> types.ModuleType:
    """TensorFlow's estimators were a package of their own; it publishes `estimator`."""
    package = types.ModuleType("tensorflow_estimator")
    package.estimator = tfexp.estimator  # type: ignore[attr-defined]
    return package


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
        if module.__spec__.name == "tensorflow.python":
            for package, shown in SHOWN.items():
                importlib.import_module(f"tensorflow.python.{package}")  # would take the place of what is shown, if later
                setattr(self._module, package, importlib.import_module(f"tensorflow.python.{shown}"))
