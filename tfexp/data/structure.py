"""The structure of a data set's elements: tuples, named tuples and dicts of components, in any nesting.

A list is no structure here: it is one component, a tensor. Dicts are flattened in the order of their sorted keys. What is no
plain tensor (a sparse tensor, or a data set: a window) has a `Kind`: how it becomes a tensor of the nodes, and back.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.shape import TensorShape, as_shape
from tfexp.graph.constant_value import constant_value
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor


class Kind(abc.ABC):
    """Values that are one variant tensor each between the nodes of a pipeline."""

    name: ClassVar[str]
    value_class: type
    node_shape: ClassVar[TensorShape] = TensorShape(None)  # what nodes say of the tensor's shape

    @abc.abstractmethod
    def belongs(self, value: Any) -> bool:
        """Whether a leaf is such a value."""

    def converted(self, value: Any) -> Any:
        """A value that was fed or written down, as one of the graph."""
        return value

    @abc.abstractmethod
    def component(self, value: Any) -> Component:
        """What is known of a value."""

    @abc.abstractmethod
    def to_tensor(self, value: Any) -> Tensor:
        """The tensor that stands for it."""

    @abc.abstractmethod
    def from_tensor(self, tensor: Tensor, component: Component) -> Any:
        """What a tensor stands for."""

    def to_slices(self, value: Any) -> Tensor:
        """The vector of the tensors that stand for its slices along its first axis; TypeError where it has none."""
        raise TypeError(f"{value!r} cannot be cut into slices")


@dataclass(frozen=True)
class Component:
    """One component: a tensor of this dtype and shape, or a value of that kind (`inner`: what else is known of it)."""

    dtype: DType
    shape: TensorShape
    inner: Any = None
    kind: Kind | None = None

    @property
    def value_class(self) -> type:
        """What `output_classes` says of it."""
        return Tensor if self.kind is None else self.kind.value_class

    @property
    def node_dtype(self) -> DType:
        return self.dtype if self.kind is None else dtypes.variant

    @property
    def node_shape(self) -> TensorShape:
        return self.shape if self.kind is None else self.kind.node_shape

    def most_specific(self, other: Component) -> Component:
        """What is known of values that are either; TypeError when their types differ."""
        if not isinstance(other, Component):
            raise TypeError(f"one component and a structure of several: {other}")
        if (self.dtype, self.kind) != (other.dtype, other.kind):
            raise TypeError(f"{self.dtype.name} and {other.dtype.name}")
        one, two = self.shape, other.shape
        if one == two:
            return self
        if one.rank is None or one.rank != two.rank:
            return self.with_shape(TensorShape(None))
        both = zip(one.as_list(), two.as_list(), strict=True)
        return self.with_shape(TensorShape([a if a == b else None for a, b in both]))

    def with_shape(self, shape: TensorShape) -> Component:
        return Component(self.dtype, shape, self.inner, self.kind)

    def batch(self, length: int | None) -> Component:
        """The component of `length` of these (None: of some), along a new first axis."""
        return self.with_shape(TensorShape([length]).concatenate(self.shape))

    def slice(self) -> Component:
        """The component of the slices along its first axis."""
        return self.with_shape(self.shape[1:])


KINDS: list[Kind] = []


def kind_of(value: Any) -> Kind | None:
    """The kind of a leaf; None: it is a tensor, or becomes one."""
    return next((kind for kind in KINDS if kind.belongs(value)), None)


def is_structure(value: Any) -> bool:
    return isinstance(value, (tuple, Mapping)) and kind_of(value) is None


def flatten(structure: Any) -> list[Any]:
    """The leaves of a structure, in order."""
    if isinstance(structure, Mapping):
        return [leaf for key in sorted(structure) for leaf in flatten(structure[key])]
    if isinstance(structure, tuple) and kind_of(structure) is None:
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
    if isinstance(structure, tuple) and kind_of(structure) is None:
        parts = [_pack(part, leaves) for part in structure]
        return type(structure)(*parts) if hasattr(structure, "_fields") else tuple(parts)
    return next(leaves)


def map_leaves(function: Callable[..., Any], structure: Any, *others: Any) -> Any:
    """`function` of the leaves of `structure` and the leaves at the same places of the others."""
    columns = [flatten(structure), *(flatten_up_to(structure, other) for other in others)]
    return pack_as(structure, [function(*leaves) for leaves in zip(*columns, strict=True)])


class Structured:
    """What has elements of a structure: data sets and iterators."""

    _element: Any

    @property
    def output_types(self) -> Any:
        """The dtype of each component."""
        return map_leaves(lambda c: c.dtype, self._element)

    @property
    def output_shapes(self) -> Any:
        """The shape of each component."""
        return map_leaves(lambda c: c.shape, self._element)

    @property
    def output_classes(self) -> Any:
        """`tf.Tensor`, or the class of sparse tensors and the like, for each component."""
        return map_leaves(lambda c: c.value_class, self._element)

    @property
    def _flat_structure(self) -> dict[str, Any]:
        """What every node of such elements says of them."""
        return spec_of(self._element)


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


# --- values and tensors ------------------------------------------------------------------------------------------------


def normalized(structure: Any) -> tuple[list[Any], Any]:
    """The leaves of a structure of values, those that are no values of a kind as tensors; and its Components."""
    with name_scope("normalize_element"):
        leaves = [_converted(value, f"component_{i}") for i, value in enumerate(flatten(structure))]
    return leaves, pack_as(structure, [component_of(leaf) for leaf in leaves])


def _converted(value: Any, name: str) -> Any:
    kind = kind_of(value)
    return convert_to_tensor(value, name=name) if kind is None else kind.converted(value)


def component_of(value: Any) -> Component:
    """The component of a tensor, or of a value of a kind."""
    kind = kind_of(value)
    return Component(value.dtype.base_dtype, value.shape) if kind is None else kind.component(value)


def as_tensor(value: Any) -> Tensor:
    """The tensor that stands for a leaf in nodes."""
    kind = kind_of(value)
    tensor: Tensor = value if kind is None else kind.to_tensor(value)
    return tensor


def slices_tensor(value: Any) -> Any:
    """What stands for the slices of a leaf along its first axis."""
    kind = kind_of(value)
    return value if kind is None else kind.to_slices(value)


def as_value(tensor: Tensor, component: Component) -> Any:
    """What a tensor of a node stands for."""
    return tensor if component.kind is None else component.kind.from_tensor(tensor, component)


def as_values(tensors: Sequence[Tensor], element: Any) -> Any:
    """The values that the tensors of nodes stand for, in that structure of Components."""
    return pack_as(element, [as_value(t, c) for t, c in zip(tensors, flatten(element), strict=True)])


def spec_of(element: Any) -> dict[str, Any]:
    """The attributes by which a dataset node says what its elements are."""
    leaves = flatten(element)
    return {"output_types": [c.node_dtype for c in leaves], "output_shapes": [c.node_shape for c in leaves]}


def components_of(types: Any, shapes: Any = None, classes: Any = None) -> Any:
    """A structure of Components, of a structure of dtypes and, if given, of shapes and of classes."""
    if shapes is None:
        shapes = map_leaves(lambda t: TensorShape(None), types)
    if classes is None:
        classes = map_leaves(lambda t: Tensor, types)

    def component(dtype: Any, shape: Any, value_class: type) -> Component:
        kind = next((kind for kind in KINDS if kind.value_class is value_class), None)
        return Component(dtypes.as_dtype(dtype), as_shape(shape), None, kind)

    return map_leaves(component, types, shapes, classes)


# --- for people, and of batches ----------------------------------------------------------------------------------------


def text_of(structure: Any) -> str:
    """A structure of dtypes, shapes or classes as data sets print it."""
    if isinstance(structure, dict):
        return "{" + ", ".join(f"{key}: {text_of(value)}" for key, value in structure.items()) + "}"
    if isinstance(structure, tuple):
        return "(" + ", ".join(map(text_of, structure)) + ")"
    return repr(structure) if isinstance(structure, DType) else str(structure)


def batched(batch_size: Any, drop_remainder: Any) -> Callable[[Component], Component]:
    """The function from a component to that of its batches."""
    size, drops = _known(batch_size), _known(drop_remainder)
    length = int(size) if drops and size is not None else None
    return lambda c: c.batch(length)


def _known(value: Any) -> Any:
    """The static value of a number or a tensor; None where it depends on the run."""
    return constant_value(value) if isinstance(value, Tensor) else value
