"""Conversion on request: `tf.autograph.to_graph`, `tf.autograph.to_code`. Source: TF 1.15."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from types import FunctionType, MethodType
from typing import Any

from tfexp.autograph.conversion import converted
from tfexp.autograph.feature import Feature, features
from tfexp.autograph.source import definition_of
from tfexp.autograph.transformer import converted_tree


def to_graph(
    entity: Callable[..., Any],
    recursive: bool = True,
    arg_values: Any = None,
    arg_types: Any = None,
    experimental_optional_features: Feature | Iterable[Feature] | None = None,
) -> Callable[..., Any]:
    """The function `entity` with its control flow converted, and with `recursive` that of the functions that it calls.

    Of a method it is that of the class, which is called with the object first; of a class, a class `Tf…` derived from it
    with its methods converted. `arg_values` and `arg_types` change nothing. NotImplementedError for anything else,
    ConversionError for a function that cannot be converted.
    """
    asked = features(experimental_optional_features)
    if not isinstance(entity, type):
        return converted(_function(entity), asked, recursive)
    methods = {name: _method(value, asked, recursive) for name, value in vars(entity).items() if isinstance(value, _METHODS)}
    return type(entity)(f"Tf{entity.__name__}", (entity,), {**methods, "__module__": entity.__module__})


_METHODS = (FunctionType, classmethod, staticmethod)


def _method(value: Any, asked: frozenset[Feature], recursive: bool) -> Any:
    if isinstance(value, FunctionType):
        return converted(value, asked, recursive)
    return type(value)(converted(value.__func__, asked, recursive))


def to_code(
    entity: Callable[..., Any],
    recursive: bool = True,
    arg_values: Any = None,
    arg_types: Any = None,
    indentation: str = "  ",
    experimental_optional_features: Feature | Iterable[Feature] | None = None,
) -> str:
    """The source of `to_graph(entity)`, indented by `indentation`. Errors as there."""
    code = _function(entity).__code__
    tree = converted_tree(definition_of(code), features(experimental_optional_features))
    lines = ast.unparse(ast.fix_missing_locations(tree)).splitlines()
    return "".join(_indented(line, indentation) + "\n" for line in lines)


def _function(entity: Any) -> Any:
    """`entity`, if it is a function, or the one of a method."""
    inner = entity.__func__ if isinstance(entity, MethodType) else entity
    if not isinstance(inner, FunctionType):
        kind = type(entity).__name__
        raise NotImplementedError(f"cannot convert entity {entity!r}: a Python function is required, got a {kind}")
    return inner


def _indented(line: str, indentation: str) -> str:
    text = line.lstrip(" ")
    return indentation * ((len(line) - len(text)) // 4) + text
