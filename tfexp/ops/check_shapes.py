"""`tf.debugging.assert_shapes`: shapes of several tensors, written with symbols for the sizes that they share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import group
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import rank, shape
from tfexp.ops.check import Assert
from tfexp.ops.comparison import equal, less_equal
from tfexp.ops.logical import logical_or

_REST = (..., "*")  # any number of leading dimensions
_ANY = (None, ".")  # one dimension of any size


@dataclass(frozen=True)
class _Size:
    """The size that a symbol stands for, or a number, and where it was said."""

    value: Any  # int, or a scalar tensor
    said: str


class _Spec:
    """One tensor and what its shape shall be. Dimensions behind a leading `...` are counted from the end."""

    def __init__(self, tensor: Any, symbols: Any):
        self.tensor: Tensor = convert_to_tensor(tensor)
        parts = [symbols] if symbols is None or symbols is ... or isinstance(symbols, int) else list(symbols)
        self.open = bool(parts) and parts[0] in _REST
        self.symbols = parts[1:] if self.open else parts
        if any(part in _REST for part in self.symbols):
            raise ValueError(
                f"Tensor {self.tensor.name} specified shape {symbols!r}: `...` and '*' can only be the first dimension"
            )
        # A scalar is as good as a vector where no size is asked for.
        self.scalar_or_vector = not parts

    def dimensions(self) -> list[tuple[int, Any]]:
        """(dimension, symbol)"""
        start = -len(self.symbols) if self.open else 0
        return list(enumerate(self.symbols, start))


class _Check:
    """The assertions of one call: what is known is checked at once, the rest becomes nodes."""

    def __init__(self, data: Any, summarize: int | None, message: str | None):
        self.data, self.summarize = data, summarize
        self.prefix = f"{message}.  " if message else ""
        self.nodes: list[Operation] = []
        self.sizes: dict[Any, _Size] = {}

    def rank(self, spec: _Spec) -> None:
        tensor, wanted = spec.tensor, len(spec.symbols)
        found = tensor.shape.ndims
        if spec.scalar_or_vector:
            text, is_right = "must have rank in (0, 1)", found is None or found <= 1
        elif spec.open:
            text, is_right = f"must have rank at least {wanted}", found is None or found >= wanted
        else:
            text, is_right = f"must have rank {wanted}", found in (None, wanted)
        if not is_right:
            raise ValueError(f"{self.prefix}Tensor {tensor.name} {text}.  Received rank {found}, shape {tensor.shape}")
        if found is None:
            self._later(self._has_rank(spec), spec, [f"Tensor {tensor.name} must have rank", wanted])

    @staticmethod
    def _has_rank(spec: _Spec) -> Tensor:
        found, wanted = rank(spec.tensor), len(spec.symbols)
        if spec.scalar_or_vector:
            return logical_or(equal(found, 0), equal(found, 1))
        return less_equal(wanted, found) if spec.open else equal(found, wanted)

    def size(self, spec: _Spec, dimension: int, symbol: Any) -> None:
        if symbol in _ANY:
            return
        tensor, here = spec.tensor, f"tensor {spec.tensor.name} dimension {dimension}"
        dims = tensor.shape.known_dims
        static = None if dims is None else dims[dimension]
        if isinstance(symbol, int) and not isinstance(symbol, bool):
            wanted = _Size(symbol, "Specified explicitly")
        elif symbol in self.sizes:
            wanted = self.sizes[symbol]
        else:
            found = shape(tensor)[dimension] if static is None else static  # type: ignore[index]  # bound by ops.overloads
            self.sizes[symbol] = _Size(found, f"Specified by {here}")
            return
        if static is not None and isinstance(wanted.value, int):
            if static != wanted.value:
                raise ValueError(
                    f"{self.prefix}{wanted.said}.  T{here[1:]} must have size {wanted.value}.  Received size {static}, "
                    f"shape {tensor.shape}"
                )
            return
        holds = equal(shape(tensor)[dimension], wanted.value)  # type: ignore[index]  # bound by ops.overloads
        self._later(holds, spec, [wanted.said, f"Tensor {tensor.name} dimension", dimension, "must have size", wanted.value])

    def _later(self, condition: Tensor, spec: _Spec, text: list[Any]) -> None:
        data = [self.prefix, *text, "Received shape: ", shape(spec.tensor)] if self.data is None else self.data
        self.nodes.append(Assert(condition, data, summarize=self.summarize))


def assert_shapes(
    shapes: Any, data: Any = None, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> Operation:
    """Tensors have the shapes that symbols describe. Source: `tf.debugging.assert_shapes`.

    shapes: {tensor: symbols} or pairs of these. A symbol is a size, a name (equal names, equal sizes), None or "." for any
    size; a first `...` or "*" stands for any leading dimensions. What is known to differ is a ValueError, the rest an
    InvalidArgumentError of the run.
    """
    pairs: Sequence[Any] = list(shapes.items()) if isinstance(shapes, Mapping) else list(shapes)
    with name_scope(name, "assert_shapes", [tensor for tensor, _ in pairs]):
        specs = [_Spec(tensor, symbols) for tensor, symbols in pairs]
        check = _Check(data, summarize, message)
        for spec in specs:
            check.rank(spec)
        for spec in specs:
            for dimension, symbol in spec.dimensions():
                check.size(spec, dimension, symbol)
    return group(*check.nodes)
