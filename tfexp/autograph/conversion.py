"""`convert`: a function whose control flow depends on tensors as one that builds a graph.

Conversions are kept by code object: the functions that one `def` or `lambda` makes share one. What has nothing to convert
(no branch, no loop, no call) comes back as it is. A function without source runs as it is, with one warning.
"""

from __future__ import annotations
import __future__

import ast
import dis
import functools
import sys
import weakref
from collections.abc import Callable, Iterator
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any, TypeVar

from tfexp.autograph.feature import Feature
from tfexp.autograph.operators import Operators
from tfexp.autograph.source import UnsupportedError, definition_of
from tfexp.autograph.transformer import OPERATORS, converted_tree
from tfexp.core.log import get_logger

Function = TypeVar("Function", bound=Callable[..., Any])
Features = frozenset[Feature]
_CodeTable = weakref.WeakKeyDictionary[CodeType, CodeType]

LEFT_ALONE = "_autograph_left_alone"
"""The attribute of functions that are not converted."""

# Python's own modules, tfexp (also under TensorFlow's name) and what it stands on.
_LIBRARIES = frozenset(
    {*sys.stdlib_module_names, "tfexp", "tensorflow", "tensorboard", "google", "numpy", "ml_dtypes", "pytest", "_pytest"}
) - {"__main__"}

_converted: dict[Features, _CodeTable] = {}
_results: weakref.WeakSet[CodeType] = weakref.WeakSet()


def convert(function: Function, features: Features = frozenset(), recursive: bool = True) -> Function:
    """`function` with its control flow converted, and that of the functions that it calls if `recursive`.

    Functions, lambdas, methods, partial functions and objects with a `__call__` of the program are converted; what belongs
    to Python, to tfexp or to NumPy, classes, and what `do_not_convert` marks, comes back as it is.
    """
    found: Any = function
    if getattr(found, LEFT_ALONE, False):
        return function
    if isinstance(found, FunctionType):
        return _function(found, features, recursive)  # type: ignore[return-value]
    if isinstance(found, MethodType):
        inner = convert(found.__func__, features, recursive)
        return function if inner is found.__func__ else MethodType(inner, found.__self__)  # type: ignore[return-value]
    if isinstance(found, functools.partial):
        inner = convert(found.func, features, recursive)
        return function if inner is found.func else functools.partial(inner, *found.args, **found.keywords)  # type: ignore[return-value]
    if isinstance(found, type) or not callable(found):
        return function
    called = type(found).__call__
    if not isinstance(called, FunctionType):
        return function
    inner = convert(called, features, recursive)
    return function if inner is called else MethodType(inner, found)  # type: ignore[return-value]


def _function(function: FunctionType, features: Features, recursive: bool) -> FunctionType:
    code = function.__code__
    if code in _results or _is_library(function.__module__) or not _needs_conversion(code):
        return function
    try:
        made = _converted_code(code, features)
    except UnsupportedError as error:
        _warn(function, error)
        return function
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    cells[OPERATORS] = CellType(_operators(features, recursive))
    closure = tuple(cells[name] for name in made.co_freevars)
    result = FunctionType(made, function.__globals__, function.__name__, function.__defaults__, closure)
    result.__kwdefaults__ = function.__kwdefaults__
    functools.update_wrapper(result, function)
    return result


def _is_library(module: str | None) -> bool:
    return module is not None and module.partition(".")[0] in _LIBRARIES


@functools.cache
def _operators(features: Features, recursive: bool) -> Operators:
    called = functools.partial(convert, features=features) if recursive else lambda function: function
    return Operators(features, called)


def _needs_conversion(code: CodeType) -> bool:
    """Whether there is anything in some code, or in that of the functions in it, that is converted."""
    return any(operation in _CONVERTED for operation in code.co_code[::2]) or any(
        _needs_conversion(inner) for inner in code.co_consts if isinstance(inner, CodeType)
    )


# Branches and loops, comparisons, `not`, and calls.
_CONVERTED = frozenset(
    number
    for name, number in dis.opmap.items()
    if number in dis.hasjrel or number in dis.hasjabs or name.startswith(("CALL", "COMPARE_OP", "UNARY_NOT"))
)


def _converted_code(code: CodeType, features: Features) -> CodeType:
    """The converted form of some code. UnsupportedError where there is none."""
    table = _converted.setdefault(features, weakref.WeakKeyDictionary())
    made = table.get(code)
    if made is None:
        made = _compiled(code, features)
        _results.update(_code_in(made))
        table[code] = made
    return made


def _code_in(code: CodeType) -> Iterator[CodeType]:
    """Some code and the code of the functions in it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _code_in(inner)


def _compiled(code: CodeType, features: Features) -> CodeType:
    """Compile the converted definition as it stood: at its lines, in its class, with the variables around it."""
    found = definition_of(code)
    tree = converted_tree(found, features)
    tree.args.defaults, tree.args.kw_defaults = [], [None] * len(tree.args.kwonlyargs)  # a function has their values
    inner: ast.stmt = tree if isinstance(tree, ast.FunctionDef) else ast.Expr(tree)
    if found.owner is not None:
        inner = ast.ClassDef(found.owner, [], [], [inner], [])
    variables = [ast.arg(name) for name in (*code.co_freevars, OPERATORS) if name != "__class__"]
    around = ast.FunctionDef("around__", ast.arguments([], variables, None, [], [], None, []), [inner], [], None)
    module = ast.fix_missing_locations(ast.Module([around], []))
    flags = code.co_flags & __future__.annotations.compiler_flag
    made: CodeType = compile(module, code.co_filename, "exec", flags, dont_inherit=True)
    for _ in range(2 if found.owner is None else 3):
        made = next(inner for inner in made.co_consts if isinstance(inner, CodeType))
    return made


def _warn(function: FunctionType, reason: UnsupportedError) -> None:
    """Say, once for each function, that it runs unconverted."""
    if function.__code__ not in _warned:
        _warned.add(function.__code__)
        get_logger().warning(
            "AutoGraph could not transform %r and will run it as-is.\nCause: %s\nTo silence this warning, decorate the "
            "function with @tf.autograph.experimental.do_not_convert",
            function,
            reason,
        )


_warned: weakref.WeakSet[CodeType] = weakref.WeakSet()
