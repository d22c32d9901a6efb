"""`convert`: a function whose control flow depends on tensors as one that builds a graph.

What has nothing to convert (no branch, no loop, no call) comes back as it is. A function without source runs as it is, with
one warning.
"""

from __future__ import annotations

import dis
import functools
import sys
import weakref
from collections.abc import Callable
from types import CodeType, FunctionType, MethodType
from typing import Any

from tfexp.autograph.directives import is_off
from tfexp.autograph.feature import Feature
from tfexp.autograph.source import ConversionError, code_in
from tfexp.core.log import get_logger

Features = frozenset[Feature]

# Python's own modules, tfexp (also under TensorFlow's name) and what it stands on.
_LIBRARIES = frozenset(
    {*sys.stdlib_module_names, "tfexp", "tensorflow", "tensorboard", "google", "numpy", "ml_dtypes", "pytest", "_pytest"}
)

_warned: weakref.WeakSet[CodeType] = weakref.WeakSet()


def convert(function: Any, features: Features = frozenset(), recursive: bool = True) -> Any:
    """`function` with its control flow converted, and that of the functions that it calls if `recursive`.

    What cannot be converted, and what is called where `do_not_convert` holds, comes back as it is, the former with a warning
    if it has control flow.
    """
    if is_off():
        return function
    try:
        return converted(function, features, recursive)
    except ConversionError as error:
        _warn(error)
        return function


def converted(function: Any, features: Features = frozenset(), recursive: bool = True) -> Any:
    """As `convert`, but ConversionError for what cannot be converted.

    Functions, lambdas, methods, partial functions and objects with a `__call__` of the program are converted. What belongs
    to Python, tfexp or NumPy, and classes, come back as they are.
    """
    if isinstance(function, FunctionType):
        return _function(function, features, recursive)
    if isinstance(function, MethodType):
        inner = converted(function.__func__, features, recursive)
        return function if inner is function.__func__ else MethodType(inner, function.__self__)
    if isinstance(function, functools.partial):
        inner = converted(function.func, features, recursive)
        return function if inner is function.func else functools.partial(inner, *function.args, **function.keywords)
    called = type(function).__call__ if callable(function) else None
    if not isinstance(called, FunctionType):
        return function
    inner = converted(called, features, recursive)
    return function if inner is called else MethodType(inner, function)


def _function(function: FunctionType, features: Features, recursive: bool) -> Any:
    if _is_library(function) or not (_flows(function.__code__) or _calls(function.__code__)):
        return function
    # On first use: programs that have nothing to convert do without the operators and all that these stand on.
    from tfexp.autograph.compilation import rewritten

    return rewritten(function, features, _for_calls(features) if recursive else _as_it_is)


@functools.cache
def _for_calls(features: Features) -> Callable[[Any], Any]:
    """How functions that converted code calls are converted."""
    return functools.partial(convert, features=features)


def _as_it_is(function: Any) -> Any:
    return function


def _is_library(function: FunctionType) -> bool:
    """Whether it was written elsewhere: a wrapper that a library made of a function of the program is the library's."""
    return str(function.__globals__.get("__name__")).partition(".")[0] in _LIBRARIES


def _flows(code: CodeType) -> bool:
    """Whether there are branches, loops or the like in some code."""
    return any(_FLOW.intersection(inner.co_code[::2]) for inner in code_in(code))


def _calls(code: CodeType) -> bool:
    return any(_CALLS.intersection(inner.co_code[::2]) for inner in code_in(code))


_CALLS = frozenset(number for name, number in dis.opmap.items() if name.startswith("CALL"))
_FLOW = frozenset({*dis.hasjrel, *dis.hasjabs, dis.opmap["UNARY_NOT"], dis.opmap["COMPARE_OP"]})


def _warn(error: ConversionError) -> None:
    """Say, once for each function, that it runs unconverted, if that makes a difference."""
    code = error.function.__code__
    if _flows(code) and code not in _warned:
        _warned.add(code)
        get_logger().warning(
            "AutoGraph could not transform %r and will run it as-is.\nCause: %s\nTo silence this warning, decorate the "
            "function with @tf.autograph.experimental.do_not_convert",
            error.function,
            error.cause,
        )
