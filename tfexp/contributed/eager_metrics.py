"""`tf.contrib.eager.metrics`: metrics that are objects, with variables made at their first call. Source: TF 1.15."""

from __future__ import annotations

import abc
import re
from collections.abc import Iterable
from typing import Any

from tfexp.contributed.summary_writing import scalar
from tfexp.core import dtypes
from tfexp.functions.function import function
from tfexp.graph.collections import GraphKeys
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import group
from tfexp.graph.scopes import executing_eagerly
from tfexp.graph.tensor import Tensor
from tfexp.ops.argmax import argmax
from tfexp.ops.array import shape, size
from tfexp.ops.cast import cast
from tfexp.ops.check_compare import assert_equal
from tfexp.ops.comparison import equal, greater
from tfexp.ops.initializers import zeros_initializer
from tfexp.ops.reduce import reduce_sum
from tfexp.ops.trackable import Trackable
from tfexp.ops.variable_scope import get_variable, variable_scope


class Metric(Trackable, abc.ABC):
    """A metric of all that it has been called with: `build` makes variables, `call` counts in, `result` gives the value.

    In a graph a call gives tensors that count in when they are run, and `init_variables` the op that begins anew; variables
    are local, or global where `use_global_variables` says so.
    """

    def __init__(self, name: str | None = None, use_global_variables: bool = False):
        self._name = name or type(self).__name__
        self._use_global_variables = use_global_variables
        self._made: list[Any] = []
        self._starts: list[Any] = []  # of variables that have no initializer to run again
        self._built = False

    @property
    def name(self) -> str:
        return self._name

    @property
    def variables(self) -> list[Any]:
        return self._made

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Count these in; what `call` gives."""
        if not self._built:
            with variable_scope(re.sub(r"[^A-Za-z0-9_./-]", "_", self._name), use_resource=True, reuse=False):
                self.build(*args, **kwargs)
            self._built = True
        # What a function gives has waited for all that it does.
        return (self.call if executing_eagerly() else function(self.call))(*args, **kwargs)

    def init_variables(self) -> Any:
        """Begin anew; in a graph, the op that does."""
        if executing_eagerly():
            for variable, start in zip(self._made, self._starts, strict=True):
                variable.assign(start)
            return None
        return group(*(variable.initializer for variable in self._made))

    def add_variable(self, name: str, shape: Any = None, dtype: Any = None, initializer: Any = None) -> Any:
        """A variable of the metric, for `build`. RuntimeError elsewhere."""
        if self._built:
            raise RuntimeError("Can't call add_variable() except in build().")
        where = GraphKeys.GLOBAL_VARIABLES if self._use_global_variables else GraphKeys.LOCAL_VARIABLES
        kept = None if executing_eagerly() else [where, GraphKeys.METRIC_VARIABLES]
        variable = get_variable(name, shape, dtype, initializer, trainable=False, collections=kept, use_resource=True)
        self._made.append(variable)
        if executing_eagerly():
            self._starts.append(variable.read_value())
        return self._track_trackable(variable, name)

    def build(self, *args: Any, **kwargs: Any) -> None:
        """Make the variables, by `add_variable`, from what the first call is given."""

    @abc.abstractmethod
    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Count in, and give what was given."""

    @abc.abstractmethod
    def result(self) -> Any:
        """The value now."""

    def value(self) -> Any:
        """As `result`."""
        return self.result()

    def aggregate(self, metrics: Iterable[Metric]) -> None:
        """Add other metrics of this kind in. ValueError for those of other kinds."""
        for metric in metrics:
            if type(metric) is not type(self):
                raise ValueError(f"All metrics must be the same type, {type(self)} != {type(metric)}")
            for own, other in zip(self._made, metric._made, strict=True):
                own.assign_add(other)


class Mean(Metric):
    """The mean of all values, or of all values by their weights, which have their shape or are scalars."""

    def __init__(self, name: str | None = None, dtype: Any = dtypes.float64, use_global_variables: bool = False):
        super().__init__(name, use_global_variables)
        self.dtype = dtypes.as_dtype(dtype)

    def build(self, *args: Any, **kwargs: Any) -> None:
        self.numer = self.add_variable("numer", (), self.dtype, zeros_initializer())
        self.denom = self.add_variable("denom", (), self.dtype, zeros_initializer())

    def call(self, values: Any, weights: Any = None) -> Any:
        """Count values in; their sum, or (values by weights, weights), in the metric's type."""
        numbers: Any = cast(values, self.dtype)
        if weights is None:
            total = reduce_sum(numbers)
            self.numer.assign_add(total)
            self.denom.assign_add(cast(size(numbers), self.dtype))
            return total
        by: Any = cast(weights, self.dtype)
        self.numer.assign_add(reduce_sum(numbers * by))
        self.denom.assign_add(reduce_sum(by))
        return numbers * by, by

    def result(self, write_summary: bool = True) -> Tensor:
        """The mean; written as a summary of the metric's name where summaries are recorded and `write_summary` says so."""
        mean: Tensor = self.numer / self.denom
        if write_summary:
            scalar(self.name, mean)
        return mean


class Accuracy(Mean):
    """The share of labels that are predicted. InvalidArgumentError for shapes that differ."""

    def call(self, labels: Any, predictions: Any, weights: Any = None) -> Any:  # type: ignore[override]
        wanted, found = convert_to_tensor(labels), convert_to_tensor(predictions)
        assert_equal(shape(wanted), shape(found), message="Shapes of labels and predictions are unequal")
        super().call(equal(wanted, cast(found, wanted.dtype)), weights)
        return (labels, predictions) if weights is None else (labels, predictions, weights)


class CategoricalAccuracy(Accuracy):
    """The share of rows [batch, classes] of which labels and predictions are largest in the same place."""

    def call(self, labels: Any, predictions: Any, weights: Any = None) -> Any:  # type: ignore[override]
        return super().call(argmax(labels, -1), argmax(predictions, -1), weights)


class BinaryAccuracy(Accuracy):
    """The share of labels, 0 and 1, that tell whether predictions are greater than `threshold`."""

    def __init__(self, threshold: Any, name: str | None = None, dtype: Any = dtypes.float64):
        super().__init__(name, dtype)
        self.threshold = threshold

    def call(self, labels: Any, predictions: Any, weights: Any = None) -> Any:  # type: ignore[override]
        return super().call(cast(labels, dtypes.bool), greater(predictions, self.threshold), weights)


class SparseAccuracy(Accuracy):
    """The share of labels [batch] that are the places of the largest predictions [batch, classes]."""

    def call(self, labels: Any, predictions: Any, weights: Any = None) -> Any:  # type: ignore[override]
        return super().call(cast(labels, dtypes.int64), argmax(predictions, -1), weights)
