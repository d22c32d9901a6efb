"""The structure of a data set's elements: tuples, named tuples and dicts of components, in any nesting.

A list is no structure here: it is one component, a tensor. Dicts are flattened in the order of their sorted keys.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.shape import TensorShape, as_shape
from tfexp.graph.tensor import Tensor


@dataclass(frozen=True)
class Component:
    """One component: a tensor of this dtype and shape, or a data set (`inner` is the structure of its elements)."""

    dtype: DType
    shape: TensorShape
    inner: Any = None

    @property
    def value_class(self) -> type:
        """What `output_classes` says of it."""
        return Tensor if self.inner is None else type(self.inner)


def is_structure(value: Any) -> bool:
    return isinstance(value, (tuple, Mapping))


def flatten(structure: Any) -> list[Any]:
    """The leaves of a structure, in order."""
    if isinstance(structure, Mapping):
        return [leaf for key in sorted(structure) for leaf in flatten(structure[key])]
    if isinstance(structure, tuple):
        return [leaf for part in structure for leaf in flatten(part)]
    return [structure]


def pack_as(structure: Any, leaves: Sequence[Any]) -> Any:
    """`leaves` in the form of `structure`."""
    rest = iter(leaves)
    packed = _pack(structure, rest)
    if next(rest, rest) is not rest:
        raise ValueError(f"There are more values than the structure {structure!r} has components")
    return packed


def _pack(structure: Any, leaves: Any) -> Any:
    if isinstance(structure, Mapping):
        values = {key: _pack(structure[key], leaves) for key in sorted(structure)}
        kind: Any = type(structure)
        return kind((key, values[key]) for key in structure)
    if isinstance(structure, tuple):
        parts = [_pack(part, leaves) for part in structure]
        return type(structure)(*parts) if hasattr(structure, "_fields") else tuple(parts)
    return next(leaves)


def map_leaves(function: Callable[..., Any], structure: Any, *others: Any) -> Any:
    """`function` of the leaves of `structure` and the leaves at the same places of the others."""
    columns = [flatten(structure), *(flatten_up_to(structure, other) for other in others)]
    return pack_as(structure, [function(*leaves) for leaves in zip(*columns, strict=True)])


def flatten_up_to(shallow: Any, structure: Any) -> list[Any]:
    """The parts of `structure` at the places of the leaves of `shallow`; TypeError, ValueError where the two differ."""
    if not is_structure(shallow):
        return [structure]
    if isinstance(shallow, Mapping):
        if not isinstance(structure, Mapping) or set(shallow) != set(structure):
            raise ValueError(f"The two structures do not have the same keys: {shallow!r} and {structure!r}")
        return [leaf for key in sorted(shallow) for leaf in flatten_up_to(shallow[key], structure[key])]
    if not isinstance(structure, (tuple, list)):
        raise TypeError(
            f"If shallow structure is a sequence, input must also be a sequence. Input has type: {type(structure)}."
        )
    if len(shallow) != len(structure):
        raise ValueError(f"The two structures have {len(shallow)} and {len(structure)} parts: {shallow!r} and {structure!r}")
    return [leaf for one, other in zip(shallow, structure, strict=True) for leaf in flatten_up_to(one, other)]


def components_of(types: Any, shapes: Any = None) -> Any:
    """A structure of Components, of a structure of dtypes and, if given, one of shapes."""
    if shapes is None:
        return map_leaves(lambda t: Component(dtypes.as_dtype(t), TensorShape(None)), types)
    return map_leaves(lambda t, s: Component(dtypes.as_dtype(t), as_shape(s)), types, shapes)
