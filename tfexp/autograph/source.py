"""The syntax tree of a function: its own `def` or `lambda`, found by its code object in the tree of the whole file.

The tree of the whole file keeps the lines and columns of the file, so that what is compiled from it has them too: tracebacks
and debuggers show the program's own lines. A lambda is found by where its body stands, so that one line may have several.
"""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any

Definition = ast.FunctionDef | ast.Lambda
Place = tuple[int, int]  # line, column


class ConversionError(Exception):
    """A function (where it is known) cannot be converted, and why."""

    def __init__(self, cause: str, function: Any = None):
        super().__init__(cause if function is None else f"converting {function!r}: {cause}")
        self.cause = cause
        self.function = function


@dataclass(frozen=True)
class Found:
    """A definition, and the class around it (None: there is none), whose name hides the names `__x` of its functions."""

    node: Definition
    owner: str | None


def definition_of(code: CodeType) -> Found:
    """The definition that `code` was compiled from. ConversionError: there is no source, or it is none to convert."""
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        raise ConversionError("generators and coroutines are not supported")
    here = _definitions(code.co_filename).get(code.co_firstlineno, ())
    matching = [found for found in here if _matches(found.node, code)]
    if not matching:
        raise ConversionError(f"its source is not in {code.co_filename!r} at line {code.co_firstlineno}")
    return min(matching, key=lambda found: _size(found.node))


def _definitions(filename: str) -> dict[int, list[Found]]:
    """All the definitions of a file as it is now, by the first line of their code."""
    linecache.checkcache(filename)
    text = "".join(linecache.getlines(filename))
    if not text:
        raise ConversionError(f"there is no source code for {filename!r}")
    try:
        return _by_line(filename, text)
    except SyntaxError as error:
        raise ConversionError(f"the source in {filename!r} cannot be read: {error}") from None


@functools.lru_cache(maxsize=16)
def _by_line(filename: str, text: str) -> dict[int, list[Found]]:
    found: dict[int, list[Found]] = {}
    for definition in _walk(ast.parse(text, filename), None):
        found.setdefault(_first_line(definition.node), []).append(definition)
    return found


def _walk(node: ast.AST, owner: str | None) -> Iterator[Found]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.Lambda)):
            yield Found(child, owner)
        yield from _walk(child, child.name if isinstance(child, ast.ClassDef) else owner)


def _first_line(node: Definition) -> int:
    """Where the code of a definition begins: with its first decorator."""
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _matches(node: Definition, code: CodeType) -> bool:
    if isinstance(node, ast.FunctionDef):
        return node.name == code.co_name
    begin, end = _span(node.body)
    return code.co_name == "<lambda>" and all(begin <= at and until <= end for at, until in _positions(code))


def _span(node: ast.expr) -> tuple[Place, Place]:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def _size(node: Definition) -> tuple[int, int]:
    """How much a lambda spans: of those around some code, its own is the smallest."""
    if isinstance(node, ast.FunctionDef):
        return 0, 0
    begin, end = _span(node.body)
    return end[0] - begin[0], end[1] - begin[1]


def _positions(code: CodeType) -> Iterator[tuple[Place, Place]]:
    """Where the instructions of some code come from; those that stand for nothing in particular are left out."""
    for line, end_line, column, end_column in code.co_positions():
        if line and end_line and end_column and column is not None:
            yield (line, column), (end_line, end_column)


def code_in(code: CodeType) -> Iterator[CodeType]:
    """Some code and the code of the functions in it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from code_in(inner)
