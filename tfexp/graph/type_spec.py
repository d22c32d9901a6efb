"""What values there may be, as values: `tf.TypeSpec` and those of tensors. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.core.dtypes import as_dtype
from tfexp.core.shape import as_shape


class TypeSpec:
    """A description of values. Equal when of one class and of equal parts; printed as its parts. `tf.TypeSpec`."""

    def _serialize(self) -> tuple[Any, ...]:
        """What a program's own one is made of."""
        raise NotImplementedError(f"{type(self).__name__} has no _serialize")

    def _parts(self) -> tuple[Any, ...]:
        """What it is made of."""
        return self._serialize()

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether some value fits both, or the value fits."""
        return type(spec_or_value) is type(self) and all(
            one.is_compatible_with(other) if hasattr(one, "is_compatible_with") else one == other
            for one, other in zip(self._parts(), spec_or_value._parts(), strict=True)
        )

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._parts() == other._parts()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((type(self), repr(self)))

    def __repr__(self) -> str:
        parts = self._parts()
        return f"{type(self).__name__}({', '.join(map(repr, parts))}{',' if len(parts) == 1 else ''})"


class BatchableTypeSpec(TypeSpec):
    """A program's description of values that can be stacked: its `_batch` and `_unbatch` say what that makes of it."""

    def _batch(self, batch_size: int | None) -> TypeSpec:
        raise NotImplementedError(f"{type(self).__name__} has no _batch")

    def _unbatch(self) -> TypeSpec:
        raise NotImplementedError(f"{type(self).__name__} has no _unbatch")


class TensorSpec(TypeSpec):
    """A tensor of that shape and dtype. `tf.TensorSpec`."""

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

    def _parts(self) -> tuple[Any, ...]:
        return self.shape, self.dtype, self.name

    def is_compatible_with(self, spec_or_tensor: Any) -> bool:
        """Whether dtypes are equal and shapes agree, of another spec or of a tensor."""
        same = getattr(spec_or_tensor, "dtype", None) == self.dtype
        return same and bool(self.shape.is_compatible_with(spec_or_tensor.shape))

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r})"


class SparseTensorSpec(TypeSpec):
    """A SparseTensor of that dense shape and dtype. `tf.SparseTensorSpec`."""

    def __init__(self, shape: Any = None, dtype: Any = dtypes.float32):
        self.shape = as_shape(shape)
        self.dtype = as_dtype(dtype)

    def _parts(self) -> tuple[Any, ...]:
        return self.shape, self.dtype


class RaggedTensorSpec(TypeSpec):
    """A ragged tensor of that shape, dtype and number of ragged dimensions. `tf.RaggedTensorSpec`."""

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = dtypes.float32,
        ragged_rank: int | None = None,
        row_splits_dtype: Any = dtypes.int64,
    ):
        self.shape = as_shape(shape)
        self.dtype = as_dtype(dtype)
        rank = self.shape.rank
        if ragged_rank is None and rank is None:
            raise ValueError("Must specify ragged_rank or a shape with a known rank.")
        self.ragged_rank = rank - 1 if ragged_rank is None and rank is not None else ragged_rank
        self.row_splits_dtype = as_dtype(row_splits_dtype)

    def _parts(self) -> tuple[Any, ...]:
        return self.shape, self.dtype, self.ragged_rank, self.row_splits_dtype


class TensorArraySpec(TypeSpec):
    """A TensorArray whose elements have that shape and dtype. `tf.TensorArraySpec`."""

    def __init__(
        self,
        element_shape: Any = None,
        dtype: Any = dtypes.float32,
        dynamic_size: bool = False,
        infer_shape: bool = True,
    ):
        self.element_shape = as_shape(element_shape)
        self.dtype = as_dtype(dtype)
        self.dynamic_size = dynamic_size
        self.infer_shape = infer_shape

    def _parts(self) -> tuple[Any, ...]:
        return self.element_shape, self.dtype, self.dynamic_size, self.infer_shape
