"""`tensorflow.python.util.deprecation`: what will go says so, in its text and, once or at each use, in the log.

Source: TF 1.15.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tfexp.core.log import get_logger

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

_silenced = False


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Nothing is said about deprecation inside of the block."""
    global _silenced
    before, _silenced = _silenced, True
    try:
        yield
    finally:
        _silenced = before


class _Notices:
    """What one decorator says about one function: each notice once, if it is to `warn_once`."""

    def __init__(self, function: Any, date: str | None, instructions: str, warn_once: bool):
        self._name, self._module = getattr(function, "__qualname__", repr(function)), getattr(function, "__module__", "")
        self._removal = "in a future version" if date is None else f"after {date}"
        self._instructions, self._warn_once = instructions, warn_once
        self._said: set[str] = set()

    def say(self, subject: str, key: str = "", *details: Any) -> None:
        """Log that `subject`, a format of name, module and details, is deprecated. To be called by the wrapper itself."""
        if _silenced or (self._warn_once and key in self._said):
            return
        self._said.add(key)
        caller = sys._getframe(2)
        get_logger().warning(
            f"From %s: {subject} is deprecated and will be removed %s.\nInstructions for updating:\n%s",
            f"{caller.f_code.co_filename}:{caller.f_lineno}",
            self._name,
            self._module,
            *details,
            self._removal,
            self._instructions,
        )

    def documented(self, wrapper: Any, kind: str, notice: str) -> Any:
        """The wrapper with the notice in its text, behind the first line."""
        wrapper.__doc__ = add_notice_to_docstring(
            wrapper.__doc__,
            self._instructions,
            f"DEPRECATED FUNCTION{kind.upper()}",
            f"(deprecated{kind})",
            [f"{notice} {self._removal}.", "Instructions for updating:"],
        )
        return wrapper


def add_notice_to_docstring(
    doc: str | None, instructions: str, no_doc_str: str, suffix_str: str, notice: Sequence[str]
) -> str:
    """`doc` with a suffix to its first line, and a warning behind that: the lines of `notice`, and `instructions`.

    no_doc_str: what stands there, without a suffix, where there is no text. ValueError for a notice of no lines.
    """
    if not notice:
        raise ValueError("The `notice` arg must not be empty.")
    head, *rest = inspect.cleandoc(doc).split("\n") if doc else [no_doc_str]
    warning = ["", f"Warning: {notice[0]}", *notice[1:], *([instructions] if instructions else [])]
    return "\n".join([f"{head} {suffix_str}" if doc else head, *warning, *([""] if rest and rest[0] else []), *rest])


def validate_callable(func: Any, decorator_name: str) -> None:
    """ValueError for what cannot be called, such as a property to which a decorator was applied last."""
    if not callable(func):
        raise ValueError(
            f"{func} is not a function. If this is a property, make sure @property appears before @{decorator_name} in your "
            f"source code:\n\n@property\n@{decorator_name}\ndef method(...)"
        )


def rewrite_argument_docstring(old_doc: str, old_argument: str, new_argument: str) -> str:
    """`old_doc` with an argument under a new name, where it is in backquotes or before a colon."""
    quoted = old_doc.replace(f"`{old_argument}`", f"`{new_argument}`")
    return quoted.replace(f"{old_argument}:", f"{new_argument}:")


def _check(date: str | None, instructions: str) -> None:
    """ValueError for what is no date (YYYY-MM-DD; None: one that is not known), and without instructions."""
    if date is not None and not re.fullmatch(r"20\d\d-[01]\d-[0123]\d", str(date)):
        raise ValueError(f"Date must be YYYY-MM-DD, not {date!r}.")
    if not instructions:
        raise ValueError("Don't deprecate things without conversion instructions!")


def deprecated(date: str | None, instructions: str, warn_once: bool = True) -> Decorator:
    """Calls of the function log that it will be removed after `date`, and `instructions`. ValueError for bad ones."""
    _check(date, instructions)

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        validate_callable(function, "deprecated")
        notices = _Notices(function, date, instructions, warn_once)

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            notices.say("%s (from %s)")
            return function(*args, **kwargs)

        wrapper.decorator_name = "deprecated"  # type: ignore[attr-defined]  # for those who unwrap it
        documented: Callable[..., Any] = notices.documented(wrapper, "", "THIS FUNCTION IS DEPRECATED. It will be removed")
        return documented

    return decorate


def deprecated_args(date: str | None, instructions: str, *names: Any, warn_once: bool = True) -> Decorator:
    """Calls that give one of the named arguments (a name, or a pair (name, value that is no use)) log that it will go.

    ValueError for a date, instructions or names that cannot be.
    """
    _check(date, instructions)
    if not names:
        raise ValueError("Specify which argument is deprecated.")
    harmless = {entry[0]: entry[1] for entry in names if not isinstance(entry, str)}
    watched = [entry if isinstance(entry, str) else entry[0] for entry in names]

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        validate_callable(function, "deprecated_args")
        signature = inspect.signature(function)
        if missing := [name for name in watched if name not in signature.parameters]:
            raise ValueError(f"The following deprecated arguments are not present in the function signature: {missing}.")
        notices = _Notices(function, date, instructions, warn_once)

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            given = signature.bind_partial(*args, **kwargs).arguments
            for name in watched:
                if name in given and not (name in harmless and _same(given[name], harmless[name])):
                    notices.say("calling %s (from %s) with %s", name, name)
            return function(*args, **kwargs)

        documented: Callable[..., Any] = notices.documented(
            wrapper,
            " arguments",
            f"SOME ARGUMENTS ARE DEPRECATED: `({', '.join(sorted(watched))})`. They will be removed",
        )
        return documented

    return decorate


def deprecated_arg_values(date: str | None, instructions: str, warn_once: bool = True, **values: Any) -> Decorator:
    """Calls that give an argument the value that is named for it log that this will go. ValueError as `deprecated_args`."""
    _check(date, instructions)
    if not values:
        raise ValueError("Specify which argument values are deprecated.")

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        validate_callable(function, "deprecated_arg_values")
        signature = inspect.signature(function)
        notices = _Notices(function, date, instructions, warn_once)

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            bound = signature.bind_partial(*args, **kwargs)
            bound.apply_defaults()
            given = bound.arguments
            for name, value in values.items():
                if name in given and _same(given[name], value):
                    notices.say("calling %s (from %s) with %s=%s", name, name, value)
            return function(*args, **kwargs)

        listed = ", ".join(f"{name}={value}" for name, value in sorted(values.items()))
        documented: Callable[..., Any] = notices.documented(
            wrapper, " argument values", f"SOME ARGUMENT VALUES ARE DEPRECATED: `({listed})`. They will be removed"
        )
        return documented

    return decorate


def _same(given: Any, value: Any) -> bool:
    """Whether it is that value; tensors and arrays, whose `==` says more than yes or no, are none."""
    return given is value or (type(given) is type(value) and isinstance(given, (bool, int, float, str)) and given == value)


def deprecated_alias(deprecated_name: str, name: str, func_or_class: Any, warn_once: bool = True) -> Any:
    """A function or class under an old name: its use logs the new one."""
    said: list[str] = []

    def say() -> None:
        if not (_silenced or (warn_once and said)):
            said.append(name)
            caller = sys._getframe(2)
            get_logger().warning(
                "From %s: The name %s is deprecated. Please use %s instead.\n",
                f"{caller.f_code.co_filename}:{caller.f_lineno}",
                deprecated_name,
                name,
            )

    if not inspect.isclass(func_or_class):

        @functools.wraps(func_or_class)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            say()
            return func_or_class(*args, **kwargs)

        return wrapper

    class Alias(func_or_class):
        __doc__ = func_or_class.__doc__

        def __init__(self, *args: Any, **kwargs: Any):
            say()
            super().__init__(*args, **kwargs)

    Alias.__name__, Alias.__module__ = func_or_class.__name__, func_or_class.__module__
    return Alias


class DeprecatedNamesAlreadySet(Exception):  # noqa: N818 (the name is TensorFlow's)
    """A symbol was given its deprecated names twice."""


def deprecated_endpoints(*names: str) -> Callable[[Any], Any]:
    """Say that these of a symbol's public names will go. DeprecatedNamesAlreadySet for the second time."""

    def decorate(symbol: Any) -> Any:
        if "_tf_deprecated_api_names" in vars(symbol):
            raise DeprecatedNamesAlreadySet(
                f"Cannot set deprecated names for {symbol.__name__} to {names}. Deprecated names are already set to "
                f"{symbol._tf_deprecated_api_names}."
            )
        symbol._tf_deprecated_api_names = names
        return symbol

    return decorate


def deprecated_argument_lookup(new_name: str, new_value: Any, old_name: str, old_value: Any) -> Any:
    """Whichever of the two was given; ValueError for both."""
    if old_value is not None:
        if new_value is not None:
            raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
        return old_value
    return new_value


class HiddenTfApiAttribute(property):
    """An attribute that a subclass no longer has: AttributeError with these words when an instance is asked for it."""

    def __init__(self, deprecation_message: Any):
        def raise_error(instance: Any) -> None:
            raise AttributeError(deprecation_message)

        super().__init__(raise_error)


hide_attribute_from_api = HiddenTfApiAttribute  # decorates methods
HIDDEN_ATTRIBUTE = HiddenTfApiAttribute("This attribute has been deprecated.")
