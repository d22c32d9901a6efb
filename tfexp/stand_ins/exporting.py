"""`tensorflow.python.util.tf_export` and `.all_util`: what declares TensorFlow's public names. Source: TF 1.15.

Nothing becomes public by it: a symbol only carries the names.
"""

from __future__ import annotations

import functools
import re
import sys
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, cast

TENSORFLOW_API_NAME, ESTIMATOR_API_NAME, KERAS_API_NAME = "tensorflow", "estimator", "keras"


class ExportedApiAttributes(NamedTuple):
    """The attributes in which a symbol, and a module for its constants, keep names."""

    names: str
    constants: str


API_ATTRS = {
    TENSORFLOW_API_NAME: ExportedApiAttributes("_tf_api_names", "_tf_api_constants"),
    ESTIMATOR_API_NAME: ExportedApiAttributes("_estimator_api_names", "_estimator_api_constants"),
    KERAS_API_NAME: ExportedApiAttributes("_keras_api_names", "_keras_api_constants"),
}
API_ATTRS_V1 = {api: ExportedApiAttributes(f"{attrs.names}_v1", f"{attrs.constants}_v1") for api, attrs in API_ATTRS.items()}
SUBPACKAGE_NAMESPACES = [ESTIMATOR_API_NAME]


class SymbolAlreadyExposedError(Exception):
    """A symbol that has names already was given others."""


class InvalidSymbolNameError(Exception):
    """The name lies in the namespace of another package."""


class api_export:  # noqa: N801 (TensorFlow's name)
    """A decorator that gives a symbol its public names, of version 2 and with `v1` of version 1.

    SymbolAlreadyExposedError where it has some, but for `allow_multiple_exports`; InvalidSymbolNameError.
    """

    def __init__(
        self,
        *args: str,
        api_name: str = TENSORFLOW_API_NAME,
        v1: Sequence[str] | None = None,
        overrides: Sequence[Any] = (),
        allow_multiple_exports: bool = False,
    ):
        self._names, self._names_v1 = args, args if v1 is None else v1
        self._api_name, self._overrides, self._may_again = api_name, overrides, allow_multiple_exports
        for name in (*self._names, *self._names_v1):
            namespace = name.partition(".")[0]
            of_others = namespace in SUBPACKAGE_NAMESPACES if api_name == TENSORFLOW_API_NAME else namespace != api_name
            if of_others:
                raise InvalidSymbolNameError(f"{api_name!r} does not export {name!r}")

    def __call__(self, symbol: Any) -> Any:
        for overridden in self._overrides:
            for attrs in (API_ATTRS, API_ATTRS_V1):
                delattr(overridden, attrs[self._api_name].names)
        for attrs, names in ((API_ATTRS, self._names), (API_ATTRS_V1, self._names_v1)):
            attribute = attrs[self._api_name].names
            if attribute in vars(symbol) and not self._may_again:
                raise SymbolAlreadyExposedError(f"{symbol.__name__} is already exposed as {vars(symbol)[attribute]}")
            setattr(symbol, attribute, names)
        return symbol

    def export_constant(self, module_name: str, name: str) -> None:
        """Note that a module's constant has the names."""
        module = sys.modules[module_name]
        for attrs, names in ((API_ATTRS, self._names), (API_ATTRS_V1, self._names_v1)):
            listed = vars(module).setdefault(attrs[self._api_name].constants, [])
            listed.append((names, name))


tf_export = functools.partial(api_export, api_name=TENSORFLOW_API_NAME)
estimator_export = functools.partial(api_export, api_name=ESTIMATOR_API_NAME)
keras_export = functools.partial(api_export, api_name=KERAS_API_NAME)


def _collected(thing: Any, tables: Iterable[dict[str, ExportedApiAttributes]], field: str) -> list[Any]:
    return [item for table in tables for api in table for item in vars(thing).get(getattr(table[api], field), ())]


def get_v1_names(symbol: Any) -> list[str]:
    """The symbol's names in version 1."""
    return _collected(symbol, [API_ATTRS_V1], "names")


def get_v2_names(symbol: Any) -> list[str]:
    return _collected(symbol, [API_ATTRS], "names")


def get_v1_constants(module: Any) -> list[Any]:
    """(names, name in the module) of its constants."""
    return _collected(module, [API_ATTRS_V1], "constants")


def get_v2_constants(module: Any) -> list[Any]:
    return _collected(module, [API_ATTRS], "constants")


def get_canonical_name(api_names: Sequence[str], deprecated_api_names: Sequence[str]) -> str | None:
    """The first name that is not deprecated, else the first; None without any."""
    return next((name for name in api_names if name not in deprecated_api_names), next(iter(api_names), None))


def get_canonical_name_for_symbol(
    symbol: Any, api_name: str = TENSORFLOW_API_NAME, add_prefix_to_v1_names: bool = False
) -> str | None:
    """The name that is to be used, version 2's before version 1's (with a prefix if wanted); None without."""
    deprecated: Sequence[str] = vars(symbol).get("_tf_deprecated_api_names", ())
    names = vars(symbol).get(API_ATTRS[api_name].names)
    if names:
        return get_canonical_name(names, deprecated)
    name = get_canonical_name(vars(symbol).get(API_ATTRS_V1[api_name].names, ()), deprecated)
    return f"compat.v1.{name}" if name is not None and add_prefix_to_v1_names else name


def kwarg_only(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f`, so that it takes its arguments by name alone: TypeError for others."""

    @functools.wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if args:
            raise TypeError(f"{f.__name__} only takes keyword args. Please pass these as kwargs instead: {args}")
        return f(**kwargs)

    return wrapper


_HIDDEN: dict[str, tuple[types.ModuleType, Any]] = {}
"""By "module.name": what `remove_undocumented` took from a module."""


def make_all(module_name: str, doc_string_modules: Sequence[types.ModuleType] | None = None) -> list[str]:
    """The public names of a loaded module that docstrings, its own unless others are given, have on lines `@@name`.

    KeyError for a module that is not loaded, TypeError for one without a docstring.
    """
    module = sys.modules[module_name]
    documenting = [module] if doc_string_modules is None else doc_string_modules
    documented = {name for one in documenting for name in re.findall(r"^@@(\w+)$", cast(str, one.__doc__), re.MULTILINE)}
    return sorted(name for name in documented & set(vars(module)) if not name.startswith("_"))


def remove_undocumented(
    module_name: str,
    allowed_exception_list: Sequence[str] | None = None,
    doc_string_modules: Sequence[types.ModuleType] | None = None,
) -> None:
    """Takes the public names that `make_all` does not have, nor the list of exceptions, from a loaded module."""
    module = sys.modules[module_name]
    kept = {*make_all(module_name, doc_string_modules), *(allowed_exception_list or ())}
    for name in [name for name in vars(module) if not name.startswith("_") and name not in kept]:
        _HIDDEN[f"{module_name}.{name}"] = (module, getattr(module, name))
        delattr(module, name)


def reveal_undocumented(symbol_name: str, target_module: types.ModuleType | None = None) -> None:
    """Gives "module.name" back to its module, or to another. LookupError where it was not taken."""
    if symbol_name not in _HIDDEN:
        raise LookupError(f"Symbol {symbol_name} is not a hidden symbol")
    module, value = _HIDDEN[symbol_name]
    setattr(target_module or module, symbol_name.rpartition(".")[2], value)
