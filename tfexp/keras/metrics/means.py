"""Sums and means of values, and of functions of targets and predictions. Source: `tf.keras.metrics`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np

from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import control_dependencies, init_scope
from tfexp.keras import backend
from tfexp.keras.losses.loss import values_of
from tfexp.keras.losses.weighted import of_one_rank
from tfexp.keras.metrics.metric import Metric
from tfexp.metrics.streaming import fitted
from tfexp.ops.array import size
from tfexp.ops.array_fill import ones_like
from tfexp.ops.array_identity import identity
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_binary import mul, squared_difference
from tfexp.ops.elementwise_division import div_no_nan
from tfexp.ops.elementwise_unary import abs as abs_
from tfexp.ops.elementwise_unary import sqrt
from tfexp.ops.losses import without_last_ones
from tfexp.ops.reduce import reduce_mean, reduce_sum
from tfexp.ops.weights_broadcast import broadcast_weights


def weighted(
    values: Any, sample_weight: Any, dtype: Any, reduce: Callable[..., Any] | None = reduce_mean
) -> tuple[Any, Any]:
    """Values times weights, and the weights, in one shape.

    Values of more dimensions than the weights are reduced to theirs first. None: there ValueError is raised instead.
    """
    values, weights = cast(values, dtype), cast(sample_weight, dtype)
    values, _, weights = fitted(values, None, weights)
    try:
        weights = broadcast_weights(weights, values)
    except ValueError:
        if reduce is None:
            raise
        values = reduce(values, axis=list(range(weights.shape.ndims, values.shape.ndims)))
    return mul(values, weights), weights


class Reduction(Enum):
    """What `Reduce` makes of values."""

    SUM = "sum"
    SUM_OVER_BATCH_SIZE = "sum_over_batch_size"
    WEIGHTED_MEAN = "weighted_mean"


class Reduce(Metric):
    """Values made one number: `reduction` says how."""

    def __init__(self, reduction: Reduction, name: str | None, dtype: Any = None):
        super().__init__(name=name, dtype=dtype)
        self.reduction = reduction
        self.total = self.add_weight("total", initializer="zeros")
        if reduction is not Reduction.SUM:
            self.count = self.add_weight("count", initializer="zeros")

    def update_state(self, values: Any, sample_weight: Any = None) -> Any:
        values, weights = cast(values, self._dtype), None
        if sample_weight is not None:
            of_more = reduce_sum if self.reduction is Reduction.SUM else reduce_mean
            values, weights = weighted(values, sample_weight, self._dtype, of_more)
        summed = self.total.assign_add(reduce_sum(values))
        if self.reduction is Reduction.SUM:
            return summed
        with control_dependencies([summed]):
            if weights is not None and self.reduction is Reduction.WEIGHTED_MEAN:
                return self.count.assign_add(reduce_sum(weights))
            return self.count.assign_add(cast(size(values), self._dtype))

    def result(self) -> Any:
        return identity(self.total) if self.reduction is Reduction.SUM else div_no_nan(self.total, self.count)


class Sum(Reduce):
    """The (weighted) sum of values."""

    def __init__(self, name: str | None = "sum", dtype: Any = None):
        super().__init__(Reduction.SUM, name=name, dtype=dtype)


class Mean(Reduce):
    """The (weighted) mean of values; 0 before there are any."""

    def __init__(self, name: str | None = "mean", dtype: Any = None):
        super().__init__(Reduction.WEIGHTED_MEAN, name=name, dtype=dtype)


class MeanMetricWrapper(Mean):
    """The mean of a function `fn(y_true, y_pred, **kwargs)`, which gives a value for each example."""

    def __init__(self, fn: Callable[..., Any], name: str | None = None, dtype: Any = None, **kwargs: Any):
        super().__init__(name=name, dtype=dtype)
        self._fn = fn
        self._fn_kwargs = kwargs

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:  # type: ignore[override]
        y_true, y_pred = of_one_rank(cast(y_true, self._dtype), cast(y_pred, self._dtype))
        return super().update_state(self._fn(y_true, y_pred, **self._fn_kwargs), sample_weight=sample_weight)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **values_of(self._fn_kwargs)}


class MeanRelativeError(Mean):
    """The mean of |y_true - y_pred| / normalizer; a normalizer of 0 gives 0."""

    def __init__(self, normalizer: Any, name: str | None = None, dtype: Any = None):
        super().__init__(name=name, dtype=dtype)
        self.normalizer = cast(normalizer, self._dtype)

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:  # type: ignore[override]
        y_true, y_pred = of_one_rank(cast(y_true, self._dtype), cast(y_pred, self._dtype))
        y_pred.get_shape().assert_is_compatible_with(y_true.get_shape())
        normalizer, y_pred = without_last_ones(self.normalizer, y_pred)
        return super().update_state(div_no_nan(abs_(y_true - y_pred), normalizer), sample_weight=sample_weight)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **values_of({"normalizer": self.normalizer})}


class RootMeanSquaredError(Mean):
    """The root of the mean squared error."""

    def __init__(self, name: str | None = "root_mean_squared_error", dtype: Any = None):
        super().__init__(name=name, dtype=dtype)

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:  # type: ignore[override]
        y_true, y_pred = of_one_rank(cast(y_true, self._dtype), cast(y_pred, self._dtype))
        return super().update_state(squared_difference(y_pred, y_true), sample_weight=sample_weight)

    def result(self) -> Any:
        return sqrt(div_no_nan(self.total, self.count))


class MeanTensor(Metric):
    """The (weighted) mean of values of one shape, element by element. Its variables are made with the first values."""

    def __init__(self, name: str | None = "mean_tensor", dtype: Any = None):
        super().__init__(name=name, dtype=dtype)
        self._shape: Any = None
        self._total: Any = None
        self._count: Any = None
        self._built = False

    @property
    def total(self) -> Any:
        """The sum; None before the first values."""
        return self._total

    @property
    def count(self) -> Any:
        """The number of values, or the sum of their weights; None before the first values."""
        return self._count

    def _build(self, shape: Any) -> None:
        self._shape = shape
        with init_scope():
            self._total = self.add_weight("total", shape=shape, initializer="zeros")
            self._count = self.add_weight("count", shape=shape, initializer="zeros")
        self._built = True

    def update_state(self, values: Any, sample_weight: Any = None) -> Any:
        values = convert_to_tensor(cast(values, self._dtype))
        if not self._built:
            self._build(values.shape)
        elif values.shape != self._shape:
            raise ValueError(
                "MeanTensor input values must always have the same shape. Expected shape (set during the first call): "
                f"{self._shape}. Got: {values.shape}."
            )
        number: Any = ones_like(values)
        if sample_weight is not None:
            values, weights = weighted(values, sample_weight, self._dtype)
            number = mul(number, weights)
        with control_dependencies([self._total.assign_add(values)]):
            return self._count.assign_add(number)

    def result(self) -> Any:
        if not self._built:
            raise ValueError(
                "MeanTensor does not have any value yet. Please call the MeanTensor instance or use `.update_state(value)` "
                "before retrieving the result."
            )
        return div_no_nan(self.total, self.count)

    def reset_states(self) -> None:
        if self._built:
            backend.batch_set_value([(variable, np.zeros(self._shape.as_list())) for variable in self.variables])
