"""`tf.debugging.assert_shapes`: shapes of several tensors, written with symbols for the sizes that they share.

A scalar counts as a vector of one element. Nodes are those of TensorFlow 2.21, what is refused is as in 1.15.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from tfexp.graph.control_flow import cond
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.dependencies import group
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import rank, shape
from tfexp.ops.check import Assert
from tfexp.ops.check_compare import assert_rank, assert_rank_at_least, assert_rank_in
from tfexp.ops.check_texts import called
from tfexp.ops.comparison import equal

_REST = (..., "*")  # any number of leading dimensions
_ANY = (None, ".")  # one dimension of any size


class _Spec:
    """One tensor and what its shape shall be. Dimensions behind a leading `...` are counted from the end."""

    def __init__(self, tensor: Any, symbols: Any, prefix: str):
        self.tensor: Tensor = convert_to_tensor(tensor)
        if not hasattr(symbols, "__iter__") and not hasattr(symbols, "__getitem__"):
            raise ValueError(
                f"{prefix}Tensor {called(self.tensor)}.  Specified shape must be an iterable.  An iterable has the "
                f"attribute `__iter__` or `__getitem__`.  Received specified shape: {symbols}"
            )
        parts = list(symbols)
        self.open = bool(parts) and parts[0] in _REST
        self.symbols = (parts[1:] if self.open else parts) or [1]
        for index, part in enumerate(self.symbols, int(self.open)):
            if part in _REST:
                raise ValueError(
                    f"{prefix}Tensor {called(self.tensor)} specified shape index {index}.  Symbol `...` or `*` for a "
                    "variable number of unspecified dimensions is only allowed as the first entry"
                )
        self._sizes: Tensor | None = None  # [rank] when it runs, where the rank is unknown
        self._known: list[Any] = []  # else a size for each dimension: a number, or a scalar tensor

    def measure(self) -> None:
        sizes, dims = shape(self.tensor), self.tensor.shape.known_dims
        if dims is None:
            self._sizes = cond(equal(rank(self.tensor), 0), lambda: constant([1]), lambda: sizes)
        else:
            known = [sizes[i] if size is None else size for i, size in enumerate(dims)]
            self._known = known or [1]

    def size(self, dimension: int) -> Any:
        return self._known[dimension] if self._sizes is None else self._sizes[dimension]  # type: ignore[index]  # overloads

    def dimensions(self) -> list[tuple[int, Any]]:
        """(dimension, symbol)"""
        return list(enumerate(self.symbols, -len(self.symbols) if self.open else 0))

    def check_rank(self, **options: Any) -> list[Operation]:
        wanted = len(self.symbols)
        if self.open:
            return [assert_rank_at_least(self.tensor, wanted, **options)] if wanted > 1 else []
        return [
            assert_rank_in(self.tensor, [0, 1], **options) if wanted == 1 else assert_rank(self.tensor, wanted, **options)
        ]


@dataclass(frozen=True)
class _Size:
    """The size that a symbol stands for, or a number, and where it was said."""

    value: Any  # int, or a scalar tensor
    said: str


def _explicit(symbol: Any) -> int | None:
    try:
        return int(symbol)
    except (TypeError, ValueError):
        return None


def assert_shapes(
    shapes: Any, data: Any = None, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> Operation:
    """Tensors have the shapes that symbols describe. Source: `tf.debugging.assert_shapes`.

    shapes: {tensor: symbols} or pairs of these. A symbol is a size, a name (equal names, equal sizes), None or "." for any
    size; a first `...` or "*" stands for any leading dimensions; None for all symbols asks nothing of a tensor. What is
    known to differ is a ValueError, the rest an InvalidArgumentError of the run.
    """
    prefix = f"{message}.  " if message else ""
    pairs = list(shapes.items() if isinstance(shapes, Mapping) else shapes)
    with name_scope(name, "assert_shapes", [tensor for tensor, _ in pairs]):
        specs = [_Spec(tensor, symbols, prefix) for tensor, symbols in pairs if symbols is not None]
        for spec in specs:
            spec.measure()
        options = {"data": data, "summarize": summarize, "message": message, "name": name}
        ranks = [node for spec in specs for node in spec.check_rank(**options)]
        check = functools.partial(_check_size, prefix=prefix, data=data, summarize=summarize)
        said: dict[Hashable, _Size] = {}
        sizes = []
        for spec in specs:
            for dimension, symbol in spec.dimensions():
                if symbol not in _ANY:
                    with control_dependencies(ranks):
                        found = spec.size(dimension)
                    sizes += check(spec.tensor, dimension, symbol, found, said)
    return group(*ranks, *sizes)


def _check_size(
    tensor: Tensor,
    dimension: int,
    symbol: Any,
    found: Any,
    said: dict[Hashable, _Size],
    prefix: str,
    data: Any,
    summarize: int | None,
) -> list[Operation]:
    """One dimension's size is what its symbol was before, or says. A symbol that is new stands for it from here on."""
    explicit = _explicit(symbol)
    if explicit is None and symbol not in said:
        said[symbol] = _Size(found, f"Specified by tensor {called(tensor)} dimension {dimension}")
        return []
    wanted = said[symbol] if explicit is None else _Size(explicit, "Specified explicitly")
    if isinstance(found, int) and isinstance(wanted.value, int):
        if found == wanted.value:
            return []
        raise ValueError(
            f"{prefix}{wanted.said}.  Tensor {called(tensor)} dimension {dimension} must have size {wanted.value}.  "
            f"Received size {found}, shape {tensor.shape}"
        )
    holds = equal(convert_to_tensor(found), convert_to_tensor(wanted.value))
    if data is None:
        where = [f"Tensor {called(tensor)} dimension", dimension, "must have size", wanted.value]
        data = [prefix, wanted.said, *where, "Received shape: ", shape(tensor)]
    return [Assert(holds, data, summarize=summarize)]
