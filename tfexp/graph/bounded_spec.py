"""Tensors whose elements have bounds, as environments describe actions. Source: `BoundedTensorSpec`, TF 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.graph.type_spec import TensorSpec


class BoundedTensorSpec(TensorSpec):
    """A tensor of that shape and dtype with elements from `minimum` to `maximum`, which broadcast against the shape.

    ValueError for bounds that are None or do not broadcast.
    """

    __hash__ = None  # type: ignore[assignment]  # its bounds are arrays

    def __init__(self, shape: Any, dtype: Any, minimum: Any, maximum: Any, name: str | None = None):
        super().__init__(shape, dtype, name)
        if minimum is None or maximum is None:
            raise ValueError(f"minimum and maximum must be provided; but saw '{minimum}' and '{maximum}'")
        self.minimum = self._bound("minimum", minimum)
        self.maximum = self._bound("maximum", maximum)

    def _bound(self, name: str, given: Any) -> np.ndarray[Any, Any]:
        bound: np.ndarray[Any, Any] = np.array(given, dtype=self.dtype.as_numpy_dtype)
        bound.setflags(write=False)
        if self.shape.ndims is not None:
            known = [1 if size is None else size for size in self.shape.as_list()]
            try:
                np.broadcast_shapes(bound.shape, tuple(known))
            except ValueError as error:
                raise ValueError(f"{name} is not compatible with shape. Message: {error!r}.") from error
        return bound

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> BoundedTensorSpec:
        """The spec of anything with a shape and a dtype; its bounds, or else those of the dtype."""
        dtype = TensorSpec.from_spec(spec).dtype
        least, most = getattr(spec, "minimum", None), getattr(spec, "maximum", None)
        return cls(
            spec.shape,
            dtype,
            dtype.min if least is None else least,
            dtype.max if most is None else most,
            name or getattr(spec, "name", None),
        )

    def _parts(self) -> tuple[Any, ...]:
        return self.shape, self.dtype, self.minimum, self.maximum, self.name

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, BoundedTensorSpec)
            and super()._parts() == TensorSpec._parts(other)
            and np.allclose(self.minimum, other.minimum)
            and np.allclose(self.maximum, other.maximum)
        )

    def __repr__(self) -> str:
        return (
            f"BoundedTensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r}, minimum={self.minimum!r}, "
            f"maximum={self.maximum!r})"
        )
