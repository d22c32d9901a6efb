"""`tensorflow.python.eager.monitoring`: counters and gauges that programs keep, by labels. Source: TF 1.15.

Nobody collects them here: they are read from their cells.
"""

from __future__ import annotations

import bisect
import math
import sys
from collections.abc import Sequence
from typing import Any, ClassVar

from tensorboard.compat.proto.summary_pb2 import HistogramProto

_MOST_LABELS = 2


class CounterCell:
    """A number that only grows: what would make it less is left out."""

    def __init__(self) -> None:
        self._value = 0

    def increase_by(self, value: int) -> None:
        self._value += max(value, 0)

    def value(self) -> int:
        return self._value


class _GaugeCell:
    """The latest of the values that were set."""

    _initial: ClassVar[Any]

    def __init__(self) -> None:
        self._value = self._initial

    def set(self, value: Any) -> None:
        if type(value) is not type(self._initial):
            raise TypeError(f"The gauge holds a {type(self._initial).__name__}, not {value!r}")
        self._value = value

    def value(self) -> Any:
        return self._value


class IntGaugeCell(_GaugeCell):
    _initial = 0


class StringGaugeCell(_GaugeCell):
    _initial = ""


class BoolGaugeCell(_GaugeCell):
    _initial = False


class Buckets:
    """The upper limits of a histogram's buckets; the last one has none."""

    def __init__(self, buckets: Sequence[float]):
        self.limits = [*buckets, math.inf]


class ExponentialBuckets(Buckets):
    """`bucket_count` buckets, the limits of which begin with `scale` and grow by `growth_factor`."""

    def __init__(self, scale: float, growth_factor: float, bucket_count: int):
        super().__init__([scale * growth_factor**i for i in range(bucket_count)])


class SamplerCell:
    """A histogram of the values that were added."""

    def __init__(self, buckets: Buckets):
        self._limits = buckets.limits
        self._counts = [0] * len(self._limits)
        self._values: list[float] = []

    def add(self, value: float) -> None:
        self._counts[bisect.bisect_right(self._limits, value)] += 1
        self._values.append(value)

    def value(self) -> HistogramProto:
        values = self._values
        return HistogramProto(
            min=min(values, default=0.0),
            max=max(values, default=0.0),
            num=len(values),
            sum=math.fsum(values),
            sum_squares=math.fsum(value * value for value in values),
            bucket_limit=[min(limit, sys.float_info.max) for limit in self._limits],
            bucket=self._counts,
        )


class Metric:
    """What has a cell for each choice of its labels. ValueError for more than two, and for another number than it has."""

    _cell: ClassVar[type]

    def __init__(self, name: str, description: str, *labels: str):
        if len(labels) > _MOST_LABELS:
            raise ValueError(f"Cannot create {type(self).__name__} metric with label >= {_MOST_LABELS + 1}")
        self._labels = labels
        self._cells: dict[tuple[str, ...], Any] = {}

    def get_cell(self, *labels: str) -> Any:
        if len(labels) != len(self._labels):
            raise ValueError(f"The {type(self).__name__} expects taking {len(self._labels)} labels, got {labels}")
        if labels not in self._cells:
            self._cells[labels] = self._new_cell()
        return self._cells[labels]

    def _new_cell(self) -> Any:
        return self._cell()


class Counter(Metric):
    _cell = CounterCell


class IntGauge(Metric):
    _cell = IntGaugeCell


class StringGauge(Metric):
    _cell = StringGaugeCell


class BoolGauge(Metric):
    _cell = BoolGaugeCell


class Sampler(Metric):
    _cell = SamplerCell

    def __init__(self, name: str, buckets: Buckets, description: str, *labels: str):
        super().__init__(name, description, *labels)
        self._buckets = buckets

    def _new_cell(self) -> SamplerCell:
        return SamplerCell(self._buckets)
