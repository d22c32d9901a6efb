"""What the elements of a data set are, as `tf.TypeSpec`s: `tf.data.experimental.get_structure`. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.core.shape import as_shape
from tfexp.data.structure import KINDS, Component, Kind, component_of, kind_of, map_leaves
from tfexp.graph.sparse_tensor import SparseTensorSpec
from tfexp.graph.type_spec import BatchableTypeSpec, TensorSpec, TypeSpec, batched


class _OfVariant(TypeSpec):
    """A value that a scalar variant holds, of the kind of that name."""

    _kind_name: str

    @property
    def value_type(self) -> type:
        return _kind(self._kind_name).value_class

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        return super().is_compatible_with(_spec_of_value(spec_or_value))


class DatasetSpec(_OfVariant, BatchableTypeSpec):
    """A data set of such elements. `tf.data.DatasetSpec`."""

    _kind_name = "dataset"
    _component_specs = property(lambda self: TensorSpec([], dtypes.variant))

    def __init__(self, element_spec: Any, dataset_shape: Any = ()):
        self._element_spec = element_spec
        self._dataset_shape = as_shape(dataset_shape)

    @staticmethod
    def from_value(value: Any) -> DatasetSpec:
        """The spec of a data set."""
        return DatasetSpec(value.element_spec)

    @property
    def element_spec(self) -> Any:
        return self._element_spec

    def _serialize(self) -> tuple[Any, ...]:
        return self._element_spec, self._dataset_shape

    def _to_components(self, value: Any) -> Any:
        return value._variant_tensor

    def _from_components(self, components: Any) -> Any:
        return self.value_type(components, component_structure(self._element_spec))

    def _batch(self, batch_size: int | None) -> DatasetSpec:
        return DatasetSpec(self._element_spec, batched(self._dataset_shape, batch_size))

    def _unbatch(self) -> DatasetSpec:
        if self._dataset_shape.rank == 0:
            raise ValueError("Unbatching a dataset is only supported for rank >= 1")
        return DatasetSpec(self._element_spec, self._dataset_shape[1:])


def _spec_of_value(spec_or_value: Any) -> Any:
    return spec_or_value if kind_of(spec_or_value) is None else _spec(component_of(spec_or_value))


def spec_structure(element: Any) -> Any:
    """The structure of TypeSpecs that stands for a structure of Components."""
    return map_leaves(_spec, element)


def component_structure(specs: Any) -> Any:
    """The structure of Components that stands for one of TypeSpecs. TypeError for what no data set can have."""
    return map_leaves(_component, specs)


def _spec(component: Component) -> TypeSpec:
    name = None if component.kind is None else component.kind.name
    if name == "dataset":
        return DatasetSpec(spec_structure(component.inner), component.shape)
    if name == "sparse":
        return SparseTensorSpec(component.shape, component.dtype)
    return TensorSpec(component.shape, component.dtype)


def _kind(name: str) -> Kind:
    return next(kind for kind in KINDS if kind.name == name)


def _component(spec: Any) -> Component:
    if isinstance(spec, Component):
        return spec
    if isinstance(spec, DatasetSpec):
        return Component(dtypes.variant, spec._dataset_shape, component_structure(spec._element_spec), _kind("dataset"))
    if isinstance(spec, SparseTensorSpec):
        return Component(spec.dtype, spec.shape, None, _kind("sparse"))
    if isinstance(spec, TensorSpec):
        return Component(spec.dtype, spec.shape)
    raise TypeError(f"{spec!r} says nothing of an element of a data set")
