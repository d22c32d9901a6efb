"""What `metrics` and `utils.metrics_utils` of `tensorflow.python.keras` have besides what is public. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.graph.scopes import control_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.keras.losses.weighted import of_one_rank
from tfexp.keras.metrics import clone_metrics
from tfexp.keras.metrics.means import Reduce, Reduction
from tfexp.ops.array import expand_dims
from tfexp.ops.array_identity import identity
from tfexp.ops.cast import cast
from tfexp.ragged_tensors import rows
from tfexp.ragged_tensors.tensor import RaggedTensor

__all__ = ["clone_metrics"]


class SumOverBatchSize(Reduce):
    """The sum of values, over how many there are, whatever they weigh."""

    def __init__(self, name: str | None = "sum_over_batch_size", dtype: Any = None):
        super().__init__(Reduction.SUM_OVER_BATCH_SIZE, name=name, dtype=dtype)


class SumOverBatchSizeMetricWrapper(SumOverBatchSize):
    """The same of the values of a function `fn(y_true, y_pred, **kwargs)`."""

    def __init__(self, fn: Callable[..., Any], name: str | None = None, dtype: Any = None, **kwargs: Any):
        super().__init__(name=name, dtype=dtype)
        self._fn, self._fn_kwargs = fn, kwargs

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:  # type: ignore[override]
        y_true, y_pred = of_one_rank(cast(y_true, self._dtype), cast(y_pred, self._dtype))
        return super().update_state(self._fn(y_true, y_pred, **self._fn_kwargs), sample_weight=sample_weight)


def ragged_assert_compatible_and_get_flat_values(values: Any, mask: Any = None) -> tuple[Any, Any]:
    """(values, mask) with what is inside in the place of ragged ones, as columns; dense ones stay.

    Several, and the mask, are either all ragged or all dense: TypeError otherwise. ValueError, or InvalidArgumentError of
    the run, where ragged ones are divided differently.
    """
    alone = not isinstance(values, list)
    every: Sequence[Any] = [values] if alone else values
    both = [*every, *([] if mask is None else [mask])]
    ragged = [isinstance(one, RaggedTensor) for one in both]
    if not any(ragged):
        if mask is not None or all(isinstance(one, (Tensor, list)) for one in every):
            return values, mask
    elif all(ragged):
        with control_dependencies(rows.same([one.nested_row_splits for one in both])):
            flat = [expand_dims(identity(one.flat_values), -1) for one in every]
            flat_mask = None if mask is None else expand_dims(identity(mask.flat_values), -1)
        return flat[0] if alone else flat, flat_mask
    raise TypeError("One of the inputs does not have acceptable types.")
