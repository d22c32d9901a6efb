"""`tensorflow.python.util.module_wrapper`: a module whose names load when asked for and say when they have later ones.

Source: TF 1.15.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Mapping
from typing import Any

from tfexp.core.log import get_logger
from tfexp.stand_ins.decorators import unwrap
from tfexp.stand_ins.later_names import symbol_renames

_PER_MODULE_WARNING_LIMIT = 1

# What the wrapper keeps for itself: everything else is the wrapped module's.
_OWN = "_tfmw_"


def get_rename_v2(name: str) -> str | None:
    """The later name of a public symbol; None where it has none."""
    return symbol_renames.get(name)


def contains_deprecation_decorator(decorators: Any) -> bool:
    return any(decorator.decorator_name == "deprecated" for decorator in decorators)


def has_deprecation_decorator(symbol: Any) -> bool:
    """Whether a call of the function or class says by itself that it is deprecated."""
    decorators, target = unwrap(symbol)
    if isinstance(target, type):
        decorators = [*decorators, *unwrap(target.__init__)[0]]  # type: ignore[misc]
    return contains_deprecation_decorator(one for one in decorators if hasattr(one, "decorator_name"))


class TFModuleWrapper(types.ModuleType):
    """Stands for `wrapped`.

    module_name: where it is below `tf`, for the messages; "" for `tf` itself.
    public_apis: {name: (module, name in it)}, imported at first use; ("", name) is a module.
    deprecation: the log says once of a module's first name with a later name what that is.
    """

    def __init__(
        self,
        wrapped: types.ModuleType,
        module_name: str,
        public_apis: Mapping[str, tuple[str, str]] | None = None,
        deprecation: bool = True,
        has_lite: bool = False,
    ):
        super().__init__(wrapped.__name__)
        vars(self).update(vars(wrapped))
        self._tfmw_wrapped_module = wrapped
        self._tfmw_module_name = module_name
        self._tfmw_public_apis = public_apis or {}
        self._tfmw_print_deprecation_warnings = deprecation
        self._tfmw_lazy_lite = has_lite
        self._tfmw_looked_at: set[str] = set()
        self._tfmw_warning_count = 0
        names = list(self._tfmw_public_apis) or getattr(wrapped, "__all__", [n for n in dir(wrapped) if n[0] != "_"])
        wrapped.__all__ = vars(self)["__all__"] = names  # type: ignore[attr-defined]

    def __getattribute__(self, name: str) -> Any:
        if name.startswith(("__", _OWN)):
            return super().__getattribute__(name)
        own = vars(self)
        if name in own and not (name == "lite" and own.get("_tfmw_lazy_lite")):
            found = own[name]
        else:
            found = self._tfmw_found(name)
        if own.get("_tfmw_print_deprecation_warnings"):
            self._tfmw_warn(name, found, sys._getframe(1))
        return found

    def _tfmw_found(self, name: str) -> Any:
        """From the wrapped module, else imported; both keep what was imported."""
        lazy_lite = name == "lite" and self._tfmw_lazy_lite
        if not lazy_lite and hasattr(self._tfmw_wrapped_module, name):
            return getattr(self._tfmw_wrapped_module, name)
        if name not in self._tfmw_public_apis:
            raise AttributeError(f"module {self._tfmw_wrapped_module.__name__!r} has no attribute {name!r}")
        home, key = self._tfmw_public_apis[name]
        found = getattr(importlib.import_module(home), key) if home else importlib.import_module(key)
        self._tfmw_lazy_lite = self._tfmw_lazy_lite and not lazy_lite
        setattr(self._tfmw_wrapped_module, name, found)
        vars(self)[name] = found
        return found

    def _tfmw_warn(self, name: str, value: Any, caller: types.FrameType) -> None:
        file = caller.f_code.co_filename
        if self._tfmw_warning_count >= _PER_MODULE_WARNING_LIMIT or name in self._tfmw_looked_at or file.startswith("<"):
            return
        self._tfmw_looked_at.add(name)
        whole = ".".join(part for part in ("tf", self._tfmw_module_name, name) if part)
        later = get_rename_v2(whole)
        if later is not None and not has_deprecation_decorator(value):
            message = "From %s: The name %s is deprecated. Please use %s instead.\n"
            get_logger().warning(message, f"{file}:{caller.f_lineno}", whole, later)
            self._tfmw_warning_count += 1

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith(_OWN):
            setattr(self._tfmw_wrapped_module, name, value)
            if name not in self.__all__ and name != "__all__":
                self.__all__.append(name)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        if not name.startswith(_OWN):
            delattr(self._tfmw_wrapped_module, name)
        vars(self).pop(name, None)

    def __dir__(self) -> list[str]:
        ours = dir(self._tfmw_wrapped_module)
        return [*{*self._tfmw_public_apis, *(n for n in ours if n[0] != "_")}] if self._tfmw_public_apis else ours

    def __repr__(self) -> str:
        return repr(self._tfmw_wrapped_module)

    def __reduce__(self) -> Any:
        return importlib.import_module, (self.__name__,)
