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
from typing import Any

from tfexp.autograph.directives import is_off
from tfexp.autograph.feature import Feature
from tfexp.autograph.operators import Operators
from tfexp.autograph.source import ConversionError, definition_of
from tfexp.autograph.transformer import OPERATORS, converted_tree
from tfexp.autograph.verbosity import tell
from tfexp.core.log import get_logger
from tfexp.graph.scopes import name_scope

Features = frozenset[Feature]

# Python's own modules, tfexp (also under TensorFlow's name) and what it stands on.
_LIBRARIES = frozenset(
    {*sys.stdlib_module_names, "tfexp", "tensorflow", "tensorboard", "google", "numpy", "ml_dtypes", "pytest", "_pytest"}
)

# By features and file (code that is the same but for its file is equal): the converted form of some code.
_forms: dict[tuple[Features, str], weakref.WeakKeyDictionary[CodeType, CodeType]] = {}
_results: weakref.WeakSet[CodeType] = weakref.WeakSet()
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


def _function(function: FunctionType, features: Features, recursive: bool) -> Callable[..., Any]:
    code = function.__code__
    if code in _results or _is_library(function) or not (_flows(code) or _calls(code)):
        return function
    try:
        made = _converted_code(code, features)
    except ConversionError as error:
        raise ConversionError(error.cause, function) from None
    tell(1, "AutoGraph converted %r", function)
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    cells[OPERATORS] = CellType(_operators(features, recursive))
    closure = tuple(cells[name] for name in made.co_freevars)
    result = FunctionType(made, function.__globals__, function.__name__, function.__defaults__, closure)
    result.__kwdefaults__ = function.__kwdefaults__
    functools.update_wrapper(result, function)
    return _in_scope(result) if Feature.NAME_SCOPES in features else result


def _in_scope(function: FunctionType) -> Callable[..., Any]:
    """`function`, whose nodes are in a scope of its name."""

    @functools.wraps(function)
    def scoped(*args: Any, **kwargs: Any) -> Any:
        with name_scope(function.__name__):
            return function(*args, **kwargs)

    return scoped


def _is_library(function: FunctionType) -> bool:
    """Whether it was written elsewhere: a wrapper that a library made of a function of the program is the library's."""
    return str(function.__globals__.get("__name__")).partition(".")[0] in _LIBRARIES


@functools.cache
def _operators(features: Features, recursive: bool) -> Operators:
    called = functools.partial(convert, features=features) if recursive else lambda function: function
    return Operators(features, called)


def _flows(code: CodeType) -> bool:
    """Whether there are branches, loops or the like in some code."""
    return any(_FLOW.intersection(inner.co_code[::2]) for inner in _code_in(code))


def _calls(code: CodeType) -> bool:
    return any(_CALLS.intersection(inner.co_code[::2]) for inner in _code_in(code))


_CALLS = frozenset(number for name, number in dis.opmap.items() if name.startswith("CALL"))
_FLOW = frozenset({*dis.hasjrel, *dis.hasjabs, dis.opmap["UNARY_NOT"], dis.opmap["COMPARE_OP"]})


def _converted_code(code: CodeType, features: Features) -> CodeType:
    """The converted form of some code. ConversionError where there is none."""
    forms = _forms.setdefault((features, code.co_filename), weakref.WeakKeyDictionary())
    made = forms.get(code)
    if made is None:
        made = forms[code] = _compiled(code, features)
        _results.update(_code_in(made))
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
    variables = [ast.arg(name) for name in dict.fromkeys((*code.co_freevars, OPERATORS)) if name != "__class__"]
    around = ast.FunctionDef("around__", ast.arguments([], variables, None, [], [], None, []), [inner], [], None)
    module = ast.fix_missing_locations(ast.Module([around], []))
    flags = code.co_flags & __future__.annotations.compiler_flag
    made: CodeType = compile(module, code.co_filename, "exec", flags, dont_inherit=True)
    for _ in range(2 if found.owner is None else 3):
        made = next(inner for inner in made.co_consts if isinstance(inner, CodeType))
    return made


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
