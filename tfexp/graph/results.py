"""What a traced Python function returns: a structure of tensors, composite values and None."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tfexp.core import nest
from tfexp.graph.convert import IndexedSlices, convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor


class _Rows(NamedTuple):
    """The parts of IndexedSlices, as a structure."""

    values: Any
    indices: Any
    dense_shape: Any


class Results:
    """The structure of a result; `tensors` are its tensors, in order.

    TensorArrays count as their flow. `of_operation`: the tensor that stands for an operation, where there may be such.
    TypeError for values that are neither tensors nor convert to one.
    """

    def __init__(self, result: Any, of_operation: Callable[[Operation], Tensor] | None = None):
        def opened(leaf: Any) -> Any:
            if isinstance(leaf, IndexedSlices):
                return _Rows(leaf.values, leaf.indices, leaf.dense_shape)
            if isinstance(leaf, Operation) and of_operation is not None:
                return of_operation(leaf)
            if leaf is None or isinstance(leaf, nest.Composite) or is_array(leaf):
                return leaf
            try:
                return convert_to_tensor(leaf)
            except (TypeError, ValueError) as error:
                raise TypeError(f"type {type(leaf).__name__}, which is not a Tensor: {error}") from None

        self.structure = nest.map_structure(opened, result)
        self._leaves = nest.flatten(self.structure, expand_composites=True)
        flows = [leaf.flow if is_array(leaf) else leaf for leaf in self._leaves]
        self.tensors: list[Tensor] = [leaf for leaf in flows if leaf is not None]

    @property
    def is_nothing(self) -> bool:
        """Whether the function returned None."""
        return self.structure is None

    def pack(self, tensors: Sequence[Any]) -> Any:
        """The structure with these in place of its tensors."""
        if isinstance(self.structure, Tensor):
            return tensors[0]
        following = iter(tensors)
        leaves = [None if leaf is None else with_flow(leaf, next(following)) for leaf in self._leaves]
        return _closed(nest.pack_sequence_as(self.structure, leaves, expand_composites=True))

    def map(self, function: Callable[[Tensor], Any]) -> Any:
        """The structure with `function(tensor)` in place of each tensor; composite values are tuples of these."""
        following = iter(self.tensors)

        def mapped(leaf: Any) -> Any:
            parts = [
                None if part is None else function(next(following)) for part in nest.flatten(leaf, expand_composites=True)
            ]
            return tuple(parts) if isinstance(leaf, nest.Composite) else parts[0]

        return nest.map_structure(mapped, self.structure)


def is_array(leaf: Any) -> bool:
    """Whether it is a TensorArray, or another list of tensors that goes on by its flow."""
    return hasattr(leaf, "_with_flow")


def with_flow(leaf: Any, tensor: Any) -> Any:
    """The tensor for a leaf; for one that is a TensorArray, the array that goes on from it."""
    return leaf._with_flow(tensor) if is_array(leaf) else tensor


def _closed(structure: Any) -> Any:
    if isinstance(structure, _Rows):
        return IndexedSlices(*structure)
    if not nest.is_nested(structure):
        return structure
    return nest.like(structure, [_closed(child) for _, child in nest.children(structure)])
