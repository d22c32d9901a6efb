"""`tensorflow.python.eager.monitoring`: counters, gauges and samplers, which nobody collects here. Source: TF 1.15."""

from __future__ import annotations

import bisect
from typing import Any

from tensorboard.compat.proto.summary_pb2 import HistogramProto

_MOST_LABELS = 2


class _Gauge:
    """A value that is set."""

    def __init__(self, start: Any):
        self._value = start

    def set(self, value: Any) -> None:
        if type(value) is not type(self._value):
            raise TypeError(f"The gauge holds a {type(self._value).__name__}, not {value!r}")
        self._value = value

    def value(self) -> Any:
        return self._value


class _Count:
    """A number that grows; what would make it less is left out."""

    def __init__(self) -> None:
        self._value = 0

    def increase_by(self, value: int) -> None:
        self._value += max(value, 0)

    def value(self) -> int:
        return self._value


class _Samples:
    """A histogram of what was added."""

    def __init__(self, limits: list[float]):
        self._limits, self._added = limits, list[float]()

    def add(self, value: float) -> None:
        self._added.append(value)

    def value(self) -> HistogramProto:
        limits, added = [*self._limits, 1.7976931348623157e308], self._added
        counts = [0.0] * len(limits)
        for value in added:
            counts[bisect.bisect_right(self._limits, value)] += 1
        return HistogramProto(
            min=min(added, default=0.0),
            max=max(added, default=0.0),
            num=len(added),
            sum=sum(added),
            sum_squares=sum(value * value for value in added),
            bucket_limit=limits,
            bucket=counts,
        )


class Metric:
    """Cells by the values of their labels. ValueError for more than two labels, and for another number of values."""

    def __init__(self, name: str, description: str, *labels: str):
        if len(labels) > _MOST_LABELS:
            raise ValueError(f"Cannot create {type(self).__name__} metric with label >= {_MOST_LABELS + 1}")
        self._labels = labels
        self._cells: dict[tuple[str, ...], Any] = {}

    def get_cell(self, *labels: str) -> Any:
        if len(labels) != len(self._labels):
            raise ValueError(f"The {type(self).__name__} expects taking {len(self._labels)} labels")
        if labels not in self._cells:
            self._cells[labels] = self._new_cell()
        return self._cells[labels]

    def _new_cell(self) -> Any:
        raise NotImplementedError


class Counter(Metric):
    def _new_cell(self) -> Any:
        return _Count()


class IntGauge(Metric):
    def _new_cell(self) -> Any:
        return _Gauge(0)


class StringGauge(Metric):
    def _new_cell(self) -> Any:
        return _Gauge("")


class BoolGauge(Metric):
    def _new_cell(self) -> Any:
        return _Gauge(False)


class ExponentialBuckets:
    """Limits that grow by a factor: scale, scale * growth_factor, …"""

    def __init__(self, scale: float, growth_factor: float, bucket_count: int):
        self.limits = [scale * growth_factor**i for i in range(bucket_count)]


class Sampler(Metric):
    def __init__(self, name: str, buckets: ExponentialBuckets, description: str, *labels: str):
        super().__init__(name, description, *labels)
        self._buckets = buckets

    def _new_cell(self) -> Any:
        return _Samples(self._buckets.limits)
