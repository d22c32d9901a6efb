"""What a traced function returns: a structure of tensors, composite values and None."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tfexp.core import nest
from tfexp.graph.convert import IndexedSlices, convert_to_tensor
from tfexp.graph.tensor import Tensor


class _Rows(NamedTuple):
    """The parts of IndexedSlices, as a structure."""

    values: Any
    indices: Any
    dense_shape: Any


class Results:
    """The structure of what a Python function returned; `tensors` are its tensors, in order.

    TypeError, naming the function, for values that are neither tensors nor convert to one.
    """

    def __init__(self, result: Any, python_function: Callable[..., Any]):
        def opened(leaf: Any) -> Any:
            if isinstance(leaf, IndexedSlices):
                return _Rows(leaf.values, leaf.indices, leaf.dense_shape)
            if leaf is None or isinstance(leaf, nest.Composite):
                return leaf
            try:
                return convert_to_tensor(leaf)
            except (TypeError, ValueError) as error:
                raise TypeError(
                    "To be compatible with tf.function, Python functions must return zero or more Tensors; in compilation of "
                    f"{python_function}, found return value of type {type(leaf).__name__}, which is not a Tensor: {error}"
                ) from None

        self._structure = nest.map_structure(opened, result)
        self._leaves = nest.flatten(self._structure, expand_composites=True)
        self.tensors: list[Tensor] = [leaf for leaf in self._leaves if leaf is not None]

    @property
    def is_nothing(self) -> bool:
        """Whether the function returned None."""
        return self._structure is None

    def pack(self, tensors: Sequence[Any]) -> Any:
        """The structure with these in place of its tensors."""
        following = iter(tensors)
        leaves = [None if leaf is None else next(following) for leaf in self._leaves]
        return _closed(nest.pack_sequence_as(self._structure, leaves, expand_composites=True))

    def map(self, function: Callable[[Tensor], Any]) -> Any:
        """The structure with `function(tensor)` in place of each tensor; composite values are structures of these."""
        leaves = iter([None if leaf is None else function(leaf) for leaf in self._leaves])

        def mapped(leaf: Any) -> Any:
            parts = [next(leaves) for _ in nest.flatten(leaf, expand_composites=True)]
            return tuple(parts) if isinstance(leaf, nest.Composite) else parts[0]

        return nest.map_structure(mapped, self._structure)


def _closed(structure: Any) -> Any:
    if isinstance(structure, _Rows):
        return IndexedSlices(*structure)
    if not nest.is_nested(structure):
        return structure
    return nest.like(structure, [_closed(child) for _, child in nest.children(structure)])
