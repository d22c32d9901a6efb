"""Feature columns as what trees split by: a vector of buckets for each number, each indicator of a category. TF 1.15."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.feature_column.column import DenseColumn, Features
from tfexp.feature_column.dense import IndicatorColumn
from tfexp.feature_column.model import ordered
from tfexp.feature_column.numeric import BucketizedColumn
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import squeeze
from tfexp.ops.array_join import unstack
from tfexp.ops.cast import cast
from tfexp.ops.quantile_stream_ops import bucketize


class TreeFeatures:
    """The features of some columns, in the order of the columns' names: indicators have one for each category.

    ValueError for categorical columns that are not indicators, and for numbers of more than one dimension.
    """

    def __init__(self, columns: Iterable[Any]):
        self.columns = ordered(list(columns))
        for column in self.columns:
            if not isinstance(column, DenseColumn):
                raise ValueError(f"CategoricalColumn must be wrapped by IndicatorColumn, got: {column}")
            if _is_float(column) and len(column.variable_shape) > 1:
                raise ValueError(f"Trees take numbers and vectors. Column {column.name} has shape {column.variable_shape}")
            if isinstance(column, BucketizedColumn) and _width(column.source_column) != 1:
                raise ValueError(f"Trees take bucketized columns of one number. Given: {column}")

    @property
    def names(self) -> list[str]:
        """The name of the column of each feature."""
        return [_name(column) for column in self.columns for _ in range(_width(column))]

    @property
    def floats(self) -> int:
        """How many are to be divided into buckets by their quantiles."""
        return sum(_width(column) for column in self.columns if _is_float(column))

    def by_buckets(self, quantiles: int) -> dict[int, list[int]]:
        """The numbers of features by how many buckets they have. Bucketized columns have as many as the largest of them."""
        bucketized = [column for column in self.columns if isinstance(column, BucketizedColumn)]
        most = max([2, *(len(column.boundaries) + 1 for column in bucketized)])
        groups: dict[int, list[int]] = {}
        later: list[int] = []
        number = 0
        for column in self.columns:
            own = list(range(number, number + _width(column)))
            number += len(own)
            if isinstance(column, BucketizedColumn):
                later += own
            else:
                groups.setdefault(2 if isinstance(column, IndicatorColumn) else quantiles, []).extend(own)
        if later:
            groups.setdefault(most, []).extend(later)
        return groups

    def buckets(self, features: Features, boundaries: Sequence[Tensor]) -> list[Tensor]:
        """int32 [batch] for each feature; `boundaries` are those of float features, in their order."""
        made: list[Tensor] = []
        left = iter(boundaries)
        for column in self.columns:
            if isinstance(column, BucketizedColumn):
                made.append(squeeze(features.get(column), axis=1))
            elif isinstance(column, IndicatorColumn):
                made += unstack(cast(features.get(column), dtypes.int32), axis=1)
            else:
                parts = _numbers(column, features)
                made += bucketize(parts, [next(left) for _ in parts])
        return made

    def numbers(self, features: Features) -> list[Tensor]:
        """float32 [batch] for each float feature."""
        return [part for column in self.columns if _is_float(column) for part in _numbers(column, features)]

    def prepare(self, features: Features) -> None:
        """Computes categories: their tables have to be initialised outside of conditions."""
        for column in self.columns:
            if isinstance(column, IndicatorColumn):
                features.get(column)


def _is_float(column: Any) -> bool:
    return isinstance(column, DenseColumn) and not isinstance(column, (BucketizedColumn, IndicatorColumn))


def _width(column: Any) -> int:
    if isinstance(column, IndicatorColumn):
        return int(column.categorical_column.num_buckets)
    if isinstance(column, BucketizedColumn):
        return 1
    return int(column.variable_shape.num_elements())


def _name(column: Any) -> str:
    name: str = column.categorical_column.name if isinstance(column, IndicatorColumn) else column.name
    return name


def _numbers(column: Any, features: Features) -> list[Tensor]:
    parts: list[Tensor] = unstack(column.dense(features), axis=1)
    return parts
