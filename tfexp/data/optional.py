"""`tf.data.experimental.Optional`: a value, or the fact that there is none. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.core.nest import Composite
from tfexp.core.shape import TensorShape
from tfexp.data.eager_iterator import EagerIterator
from tfexp.data.iterator import Iterator
from tfexp.data.specs import OptionalSpec, component_structure, spec_structure
from tfexp.data.structure import KINDS, Component, Kind, as_tensor, as_values, component_of, flatten, pack_as, spec_of
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import colocate_with, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import optional as ops


class Optional(Composite):
    """A structure of values that may be missing. `_element`: the structure of its Components."""

    def __init__(self, variant: Tensor, element: Any):
        self._variant_tensor = variant
        self._element = element

    @property
    def nested_parts(self) -> list[Tensor]:
        return [self._variant_tensor]

    def with_nested_parts(self, components: Sequence[Any]) -> Optional:
        return Optional(components[0], self._element)

    @staticmethod
    def from_value(value: Any) -> Optional:
        """An Optional that has `value`."""
        with name_scope("optional") as scope:
            with name_scope("value"):
                leaves = [as_tensor(leaf) for leaf in _converted(value)]
            element = pack_as(value, [component_of(leaf) for leaf in _converted(value)])
            return Optional(ops.optional_from_value(leaves, name=scope), element)

    @staticmethod
    def none_from_structure(value_structure: Any) -> Optional:
        """An Optional without a value; `value_structure` is a structure of TypeSpecs, as `get_structure` gives it."""
        return Optional(ops.optional_none(), component_structure(value_structure))

    def has_value(self, name: str | None = None) -> Tensor:
        """A boolean: whether there is a value."""
        with colocate_with(self._variant_tensor):
            there: Tensor = ops.optional_has_value(self._variant_tensor, name=name)
        return there

    def get_value(self, name: str | None = None) -> Any:
        """The value. InvalidArgumentError, when it runs, where there is none."""
        with colocate_with(self._variant_tensor):
            values = ops.optional_get_value(self._variant_tensor, name=name, **spec_of(self._element))
        return as_values(values, self._element)

    @property
    def value_structure(self) -> Any:
        """The structure of the value, a TypeSpec for each part."""
        return spec_structure(self._element)

    @property
    def _type_spec(self) -> OptionalSpec:
        return OptionalSpec(self.value_structure)


def _converted(value: Any) -> list[Any]:
    return [leaf if any(kind.belongs(leaf) for kind in KINDS) else convert_to_tensor(leaf) for leaf in flatten(value)]


def get_next_as_optional(iterator: Iterator | EagerIterator) -> Optional:
    """The next element of an iterator as an Optional: at the end, one without a value."""
    with colocate_with(iterator._iterator_resource):
        variant = ops.iterator_get_next_as_optional(iterator._iterator_resource, **spec_of(iterator._element))
        return Optional(variant, iterator._element)


class _OptionalKind(Kind):
    name = "optional"
    value_class = Optional
    node_shape = TensorShape([])

    def belongs(self, value: Any) -> bool:
        return isinstance(value, Optional)

    def component(self, value: Optional) -> Component:
        return Component(dtypes.variant, TensorShape([]), value._element, OPTIONAL)

    def legacy(self, component: Component) -> Any:
        return spec_structure(component)

    def to_tensor(self, value: Optional) -> Tensor:
        return value._variant_tensor

    def from_tensor(self, tensor: Tensor, component: Component) -> Optional:
        return Optional(tensor, component.inner)


OPTIONAL = _OptionalKind()
KINDS.append(OPTIONAL)
