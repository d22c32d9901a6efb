"""A function as its converted code: compiled once for each code object, the functions that one `def` makes share it."""

from __future__ import annotations
import __future__

import ast
import functools
import weakref
from collections.abc import Callable
from types import CellType, CodeType, FunctionType
from typing import Any

from tfexp.autograph.feature import Feature
from tfexp.autograph.operators import Operators
from tfexp.autograph.source import ConversionError, code_in, definition_of
from tfexp.autograph.surroundings import with_surroundings
from tfexp.autograph.transformer import OPERATORS, converted_tree
from tfexp.autograph.verbosity import tell

Features = frozenset[Feature]

# By features and file (code that is the same but for its file is equal): the converted form of some code.
_forms: dict[tuple[Features, str], weakref.WeakKeyDictionary[CodeType, CodeType]] = {}
_results: weakref.WeakSet[CodeType] = weakref.WeakSet()


def rewritten(function: FunctionType, features: Features, convert: Callable[[Any], Any]) -> Callable[..., Any]:
    """`function` with its code converted, in which `convert` is for the functions that it calls. ConversionError.

    It shares the variables of `function`, its defaults and its name; a function that is converted already comes back.
    """
    code = function.__code__
    if code in _results:
        return function
    try:
        made = _converted_code(code, features)
    except ConversionError as error:
        raise ConversionError(error.cause, function) from None
    tell(1, "AutoGraph converted %r", function)
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    cells[OPERATORS] = CellType(_operators(features, convert))
    closure = tuple(cells[name] for name in made.co_freevars)
    result = FunctionType(made, function.__globals__, function.__name__, function.__defaults__, closure)
    result.__kwdefaults__ = function.__kwdefaults__
    functools.update_wrapper(result, function)
    return with_surroundings(result, features)


_operators = functools.cache(Operators)


def _converted_code(code: CodeType, features: Features) -> CodeType:
    """The converted form of some code. ConversionError where there is none."""
    forms = _forms.setdefault((features, code.co_filename), weakref.WeakKeyDictionary())
    made = forms.get(code)
    if made is None:
        made = forms[code] = _compiled(code, features)
        _results.update(code_in(made))
    return made


def _compiled(code: CodeType, features: Features) -> CodeType:
    """Compile the converted definition as it stood: at its lines, in its class, with the variables around it."""
    found = definition_of(code)
    tree = converted_tree(found, features)
    tell(3, "Converted code:\n\n%s\n", ast.unparse(ast.fix_missing_locations(tree)))
    tree.args.defaults, tree.args.kw_defaults = [], [None] * len(tree.args.kwonlyargs)  # a function has their values
    inner: ast.stmt = tree if isinstance(tree, ast.FunctionDef) else ast.Expr(tree)
    if found.owner is not None:
        inner = ast.ClassDef(found.owner, [], [], [inner], [])
    variables = dict.fromkeys((*code.co_freevars, OPERATORS))
    variables.pop("__class__", None)  # is the class's
    parameters = ast.arguments([], [ast.arg(name) for name in variables], None, [], [], None, [])
    # The names of the function and its class are not those of this place, where they were not.
    elsewhere = {getattr(inner, "name", OPERATORS)} - variables.keys()
    body = [*([ast.Global(sorted(elsewhere))] if elsewhere else []), inner]
    around = ast.FunctionDef("around__", parameters, body, [], None)
    module = ast.fix_missing_locations(ast.Module([around], []))
    flags = code.co_flags & __future__.annotations.compiler_flag
    made: CodeType = compile(module, code.co_filename, "exec", flags, dont_inherit=True)
    for _ in range(2 if found.owner is None else 3):
        made = next(inner for inner in made.co_consts if isinstance(inner, CodeType))
    return made
