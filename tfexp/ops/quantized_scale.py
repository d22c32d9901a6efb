"""What a quantised type's integers stand for, between two limits of which 0 keeps an integer of its own (MIN_FIRST).

All ops that compute with quantised numbers share this scale, and hand its limits on as scalars beside the integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tfexp.core.dtypes import DType
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.shape import InputShape, TensorShape
from tfexp.ops.shape_rules import with_rank

Array = np.ndarray

TYPES = "type in [qint8,quint8,qint32,qint16,quint16]"
SCALAR = TensorShape([])


def half_away_from_zero(x: Any) -> Array:
    """Floats rounded to whole numbers."""
    return np.asarray(np.trunc(x + np.copysign(np.asarray(0.5, x.dtype), x)))


def integer_range(dtype: DType) -> tuple[float, float]:
    """The lowest and the highest integer of a type."""
    limits = np.iinfo(dtype.as_numpy_dtype)
    return float(limits.min), float(limits.max)


@dataclass(frozen=True)
class Scale:
    """The integers of `dtype` from `low` to `high`, of which every one is a step wide: float32 limits, float64 between."""

    dtype: DType
    low: np.float32
    high: np.float32

    @property
    def steps_per_unit(self) -> float:
        """How many integers lie in an interval of 1; 0 between equal limits."""
        lowest, highest = integer_range(self.dtype)
        return (highest - lowest) / (float(self.high) - float(self.low)) if self.high > self.low else 0.0

    @property
    def unit(self) -> np.float32:
        """The difference that one integer makes."""
        lowest, highest = integer_range(self.dtype)
        return np.float32((self.high - self.low) / np.float32(highest - lowest))

    def unclamped(self, x: Any) -> Array:
        """The whole numbers nearest to `x` on the scale, as float64: those beyond the type's too."""
        per_unit, lowest = self.steps_per_unit, integer_range(self.dtype)[0]
        rounded = half_away_from_zero(np.asarray(x, np.float64) * per_unit)
        return np.asarray(rounded - half_away_from_zero(np.float64(self.low) * per_unit) + lowest)

    def integers(self, x: Any) -> Array:
        """`x` in the type's integers, the nearest limit's where it lies beyond."""
        lowest, highest = integer_range(self.dtype)
        return np.clip(self.unclamped(x), lowest, highest).astype(self.dtype.as_numpy_dtype)

    @property
    def zero(self) -> float:
        """What integers stand for 0, which may be beyond the type's."""
        return float(self.unclamped(0.0))

    def floats(self, integers: Any) -> Array:
        """What integers stand for, in float32."""
        if not self.steps_per_unit:
            return np.full(np.shape(integers), self.low, np.float32)
        unit = 1 / self.steps_per_unit
        start = half_away_from_zero(np.float64(self.low / np.float32(unit))) * np.float32(unit)
        steps = np.asarray(integers, np.float64) - integer_range(self.dtype)[0]
        return (start + steps * unit).astype(np.float32)


def scale(what: str, dtype: DType, low: Array, high: Array) -> Scale:
    """The scale of an input called `what`. InvalidArgumentError unless its limits are one number each, in order."""
    if np.shape(low) != () or np.shape(high) != ():
        shapes = f"{list(np.shape(low))} and {list(np.shape(high))}"
        raise InvalidArgumentError(None, None, f"min_{what} and max_{what} must be scalars, got shapes {shapes}")
    if not low <= high:
        raise InvalidArgumentError(None, None, f"min_{what} must not be above max_{what}, got {low} and {high}")
    return Scale(dtype, np.float32(low), np.float32(high))


def product_limits(a: Scale, b: Scale, dtype: DType) -> list[np.float32]:
    """The limits between which a type holds sums of products of two scales' integers, as they come."""
    step = a.unit * b.unit
    return [np.float32(step * np.float32(limit)) for limit in integer_range(dtype)]


def with_limits(output: TensorShape, *limits: InputShape) -> list[TensorShape]:
    """The shapes of integers and of their two limits. ValueError unless all limits given are scalars."""
    for limit in limits:
        with_rank(limit, 0)
    return [output, SCALAR, SCALAR]
