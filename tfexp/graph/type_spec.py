"""What values there may be, as values: `tf.TypeSpec` and `tf.TensorSpec`. Source: TF 1.15.

The specs of values that are made of several tensors stand beside these (`SparseTensorSpec` in `graph.sparse_tensor`).
"""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes, nest
from tfexp.core.dtypes import DType, as_dtype
from tfexp.core.shape import TensorShape, as_shape
from tfexp.graph.tensor import Tensor


class TypeSpec(nest.Expandable):
    """A description of values. Equal when of one class and of equal parts; printed as its parts. `tf.TypeSpec`.

    A program's own one says what it is made of (`_serialize`: it is made again by calling the class with that), and how its
    values become tensors (`_to_components`, `_from_components`, and `_component_specs`, which are those of the tensors).
    """

    @property
    def value_type(self) -> type:
        """The class of the values."""
        raise NotImplementedError(f"{type(self).__name__} has no value_type")

    @property
    def _component_specs(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no _component_specs")

    def _serialize(self) -> tuple[Any, ...]:
        raise NotImplementedError(f"{type(self).__name__} has no _serialize")

    def _to_components(self, value: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no _to_components")

    def _from_components(self, components: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no _from_components")

    @property
    def nested_parts(self) -> Any:
        return self._component_specs

    def with_nested_parts(self, components: Any) -> Any:
        return self._from_components(components)

    @property
    def _flat_tensor_specs(self) -> list[TensorSpec]:
        """Those of the tensors that functions take and data sets hold for a value."""
        return nest.flatten(self._component_specs, expand_composites=True)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether some value fits both, or the value fits."""
        other = spec_or_value if isinstance(spec_or_value, TypeSpec) else getattr(spec_or_value, "_type_spec", None)
        return isinstance(other, TypeSpec) and type(other) is type(self) and _fit(self._serialize(), other._serialize())

    def most_specific_compatible_type(self, other: TypeSpec) -> TypeSpec:
        """The narrowest spec that the values of both fit. ValueError where there is none."""
        if type(self) is not type(other):
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return type(self)(*_common(self._serialize(), other._serialize()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypeSpec) and type(other) is type(self) and self._serialize() == other._serialize()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((type(self), repr(self)))

    def __repr__(self) -> str:
        parts = self._serialize()
        return f"{type(self).__name__}({', '.join(map(repr, parts))}{',' if len(parts) == 1 else ''})"


def _fit(one: Any, other: Any) -> bool:
    """Whether parts of specs agree as far as both are known."""
    if type(one) is not type(other):
        return False
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(_fit, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_fit(one[key], other[key]) for key in one)
    if isinstance(one, (TypeSpec, TensorShape, DType)):
        return bool(one.is_compatible_with(other))
    return bool(one == other)


def _common(one: Any, other: Any) -> Any:
    """What parts of specs have in common; ValueError where they contradict each other."""
    if type(one) is type(other):
        if isinstance(one, (list, tuple)) and len(one) == len(other):
            return type(one)(map(_common, one, other))
        if isinstance(one, dict) and one.keys() == other.keys():
            return {key: _common(one[key], other[key]) for key in one}
        if isinstance(one, TensorShape):
            return one.most_specific_compatible_shape(other)
        if isinstance(one, TypeSpec):
            return one.most_specific_compatible_type(other)
        if one == other:
            return one
    raise ValueError(f"Types are not compatible: {one!r} vs {other!r}")


class BatchableTypeSpec(TypeSpec):
    """A description of values that can be stacked: its `_batch` and `_unbatch` say what that makes of it."""

    def _batch(self, batch_size: int | None) -> TypeSpec:
        raise NotImplementedError(f"{type(self).__name__} has no _batch")

    def _unbatch(self) -> TypeSpec:
        raise NotImplementedError(f"{type(self).__name__} has no _unbatch")


class TensorSpec(BatchableTypeSpec):
    """A tensor of that shape and dtype. `tf.TensorSpec`."""

    expands = False
    value_type = Tensor
    # Under the names that programs know.
    _shape = property(lambda self: self.shape)
    _dtype = property(lambda self: self.dtype)

    def __init__(self, shape: Any, dtype: Any = dtypes.float32, name: str | None = None):
        self.shape = as_shape(shape)
        self.dtype = as_dtype(dtype)
        self.name = name

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> TensorSpec:
        """The spec of anything with a shape, a dtype and perhaps a name."""
        return cls(spec.shape, spec.dtype, name or getattr(spec, "name", None))

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """The spec of a tensor."""
        return TensorSpec(tensor.shape, tensor.dtype, name or tensor.op.name)

    @property
    def _component_specs(self) -> TensorSpec:
        return self

    def _serialize(self) -> tuple[Any, ...]:
        return self.shape, self.dtype, self.name

    def _to_components(self, value: Any) -> Any:
        return value

    def _from_components(self, components: Any) -> Any:
        return components

    def is_compatible_with(self, spec_or_tensor: Any) -> bool:
        """Whether dtypes are equal and shapes agree, of another spec or of a tensor."""
        same = getattr(spec_or_tensor, "dtype", None) == self.dtype
        return same and bool(self.shape.is_compatible_with(spec_or_tensor.shape))

    def most_specific_compatible_type(self, other: TypeSpec) -> TensorSpec:
        """The narrowest spec that the values of both fit, without a name. ValueError for another dtype."""
        if not isinstance(other, TensorSpec) or other.dtype != self.dtype:
            raise ValueError(f"Types are not compatible: {self!r} vs {other!r}")
        return TensorSpec(self.shape.most_specific_compatible_shape(other.shape), self.dtype)

    def _batch(self, batch_size: int | None) -> TensorSpec:
        return TensorSpec(batched(self.shape, batch_size), self.dtype)

    def _unbatch(self) -> TensorSpec:
        return TensorSpec(unbatched(self.shape), self.dtype)

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r})"


def batched(shape: TensorShape, batch_size: int | None) -> TensorShape:
    """The shape of `batch_size` values of that shape, stacked."""
    return TensorShape([batch_size]).concatenate(shape)


def unbatched(shape: TensorShape) -> TensorShape:
    """The shape of one of the stacked values. ValueError for a scalar."""
    if shape.rank == 0:
        raise ValueError("Unbatching a tensor is only supported for rank >= 1")
    return shape[1:]
