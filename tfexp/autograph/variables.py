"""The variables that the bodies of converted branches and loops change, and their values as tensors.

A body and its function share variables through closure cells, which are read and written here: a variable without a value is
an empty cell, as it is in Python, and reading it is Python's own error.
"""

from __future__ import annotations

import ast
import linecache
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import CellType, FunctionType
from typing import Any

from tfexp.autograph.lists import GraphList
from tfexp.core import nest
from tfexp.graph.convert import IndexedSlices, convert_to_tensor_or_indexed_slices
from tfexp.graph.eager_tensor import EagerTensor
from tfexp.graph.function_graph import FunctionGraph
from tfexp.graph.results import is_array, with_flow
from tfexp.graph.scopes import executing_eagerly, get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_fill import zeros
from tfexp.ops.array_identity import placeholder_with_default
from tfexp.ops.variable_base import Variable

Body = Callable[..., Any]


class _Unbound:
    def __repr__(self) -> str:
        return "unbound"


UNBOUND = _Unbound()
"""What stands for the value of a variable that has none."""


def is_symbolic(value: Any) -> bool:
    """Whether a value is known only when a graph runs."""
    if isinstance(value, Variable):
        return not executing_eagerly()
    return isinstance(value, (Tensor, GraphList)) and not isinstance(value, EagerTensor)


def where(body: Body) -> str:
    """Where a body stands: file, line and the line's text."""
    code = body.__code__
    text = linecache.getline(code.co_filename, code.co_firstlineno).strip()
    return f'  File "{code.co_filename}", line {code.co_firstlineno}\n    {text}'


class Variables:
    """Variables of the function that some bodies stand in, and parts of objects, by what they are written as."""

    def __init__(self, bodies: Iterable[Body], names: Sequence[str]):
        self.names = names
        cells: dict[str, CellType] = {}
        for body in bodies:
            assert isinstance(body, FunctionType)
            cells.update(zip(body.__code__.co_freevars, body.__closure__ or (), strict=True))
            self._globals = body.__globals__
        self._places = [self._place(name, cells) for name in names]

    def _place(self, name: str, cells: Mapping[str, CellType]) -> _Place:
        if name in cells:
            return _Place(cells[name], "cell_contents", getattr, setattr, delattr)
        if name.isidentifier():
            return _Place(self._globals, name, *_ITEM)
        node = ast.parse(name, mode="eval").body
        assert isinstance(node, (ast.Attribute, ast.Subscript))
        known = {
            inner.id: cells[inner.id].cell_contents
            for inner in ast.walk(node)
            if isinstance(inner, ast.Name) and inner.id in cells and _has_value(cells[inner.id])
        }

        def value(expression: ast.expr) -> Any:
            return eval(ast.unparse(expression), self._globals, known)

        if isinstance(node, ast.Attribute):
            return _Place(value(node.value), node.attr, getattr, setattr, delattr)
        return _Place(value(node.value), value(node.slice), *_ITEM)

    def get(self) -> list[Any]:
        """Their values."""
        return [place.get() for place in self._places]

    def set(self, values: Sequence[Any]) -> None:
        """Give them these values; those that there is no value for are unbound."""
        for i, place in enumerate(self._places):
            place.set(values[i] if i < len(values) else UNBOUND)


def _has_value(cell: CellType) -> bool:
    try:
        return cell.cell_contents is not UNBOUND
    except ValueError:
        return False


_ITEM = operator.getitem, operator.setitem, operator.delitem


@dataclass(frozen=True)
class _Place:
    """Where a value is kept: under a key of an owner."""

    owner: Any
    key: Any
    read: Callable[[Any, Any], Any]
    write: Callable[[Any, Any, Any], None]
    remove: Callable[[Any, Any], None]

    def get(self) -> Any:
        try:
            return self.read(self.owner, self.key)
        except (AttributeError, LookupError, ValueError):  # ValueError: what an empty cell says
            return UNBOUND

    def set(self, value: Any) -> None:
        if value is not UNBOUND:
            self.write(self.owner, self.key, value)
        elif self.get() is not UNBOUND:
            self.remove(self.owner, self.key)


@dataclass(frozen=True)
class Opaque:
    """A part of a value that is no tensor and cannot become one: it stays outside of the graph."""

    value: Any


class Carried:
    """A value as it goes through a graph: what of it is, or becomes, a tensor, and the opaque rest."""

    def __init__(self, value: Any):
        self.value = value
        self._leaves = [] if value is UNBOUND else nest.flatten(value, expand_composites=True)
        self.parts = [_part(leaf) for leaf in self._leaves]

    @property
    def tensors(self) -> list[Any]:
        """Its tensors (and IndexedSlices)."""
        return [part for part in self.parts if not isinstance(part, Opaque)]

    def blank(self) -> Any:
        """A value of the same kind that is never read: zeros for its tensors."""
        if any(
            isinstance(part, IndexedSlices) or is_array(leaf) for part, leaf in zip(self.parts, self._leaves, strict=True)
        ):
            return UNBOUND
        return self.with_tensors(_zeros(tensor) for tensor in self.tensors)

    def with_tensors(self, tensors: Iterator[Any]) -> Any:
        """The value with the next of `tensors` in the places of its own."""
        if self.value is UNBOUND:
            return UNBOUND
        leaves = [
            leaf if isinstance(part, Opaque) else with_flow(leaf, next(tensors))
            for leaf, part in zip(self._leaves, self.parts, strict=True)
        ]
        return nest.pack_sequence_as(self.value, leaves, expand_composites=True)


def trial(run: Callable[[], list[Any]]) -> list[Carried]:
    """What `run()` gives, for its types and shapes only: it is built in a graph that is not kept."""
    with FunctionGraph("trial", get_default_graph()).as_default():
        return [Carried(value) for value in run()]


def _zeros(tensor: Tensor) -> Tensor:
    shape = tensor.get_shape()
    value = zeros([dim or 0 for dim in shape.known_dims or ()], tensor.dtype.base_dtype)
    return value if shape.is_fully_defined() else placeholder_with_default(value, shape)


def _part(leaf: Any) -> Any:
    if is_array(leaf):  # a TensorArray
        return leaf.flow
    try:
        return convert_to_tensor_or_indexed_slices(leaf)
    except (TypeError, ValueError):
        return Opaque(leaf)
