"""A tensor whose elements have bounds: `tf.contrib.framework.BoundedTensorSpec`. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.dtypes import as_dtype
from tfexp.core.shape import as_shape
from tfexp.graph.type_spec import TensorSpec


class BoundedTensorSpec(TensorSpec):
    """A tensor of that shape and dtype with elements from `minimum` to `maximum`, both of which belong to them.

    The bounds are arrays that broadcast to the shape and cannot be written to. ValueError for others, and without both.
    """

    __hash__ = None  # type: ignore[assignment]  # its bounds are arrays

    def __init__(self, shape: Any, dtype: Any, minimum: Any, maximum: Any, name: str | None = None):
        super().__init__(shape, dtype, name)
        if minimum is None or maximum is None:
            raise ValueError(f"minimum and maximum must be provided; but saw '{minimum}' and '{maximum}'")
        self.minimum, self.maximum = self._bound("minimum", minimum), self._bound("maximum", maximum)

    def _bound(self, which: str, value: Any) -> np.ndarray:
        bound: np.ndarray = np.array(value, self.dtype.as_numpy_dtype)
        bound.setflags(write=False)
        sizes = self.shape.as_list()
        if bound.ndim > len(sizes) or any(
            m not in (1, n or m) for m, n in zip(bound.shape[::-1], sizes[::-1], strict=False)
        ):
            raise ValueError(f"{which} is not compatible with shape: {bound.shape} does not broadcast to {self.shape}")
        return bound

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> BoundedTensorSpec:
        """The spec of anything with a shape and a dtype; without bounds of its own they are those of the dtype."""
        dtype = as_dtype(spec.dtype)
        minimum, maximum = getattr(spec, "minimum", dtype.min), getattr(spec, "maximum", dtype.max)
        return cls(as_shape(spec.shape), dtype, minimum, maximum, name or getattr(spec, "name", None))

    def _serialize(self) -> tuple[Any, ...]:
        return *super()._serialize(), self.minimum.tobytes(), self.maximum.tobytes()

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, BoundedTensorSpec)
            and super()._serialize() == TensorSpec._serialize(other)
            and np.allclose(self.minimum, other.minimum)
            and np.allclose(self.maximum, other.maximum)
        )

    def __repr__(self) -> str:
        return (
            f"BoundedTensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r}, minimum={self.minimum!r}, "
            f"maximum={self.maximum!r})"
        )
