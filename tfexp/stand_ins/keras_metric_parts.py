"""What `metrics` and `utils.metrics_utils` of `tensorflow.python.keras` have besides what is public. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.core import nest
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.keras.losses.weighted import of_one_rank
from tfexp.keras.metrics import clone_metric
from tfexp.keras.metrics.means import Reduce, Reduction
from tfexp.ops.array import expand_dims
from tfexp.ops.array_identity import identity
from tfexp.ops.cast import cast
from tfexp.ops.check_compare import assert_equal
from tfexp.ragged_tensors.tensor import RaggedTensor


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


def clone_metrics(metrics: Any) -> Any:
    """Metrics like these, with variables of their own."""
    return nest.map_structure(clone_metric, metrics)


def ragged_assert_compatible_and_get_flat_values(values: Any, mask: Any = None) -> tuple[Any, Any]:
    """(values, mask) with what is inside in the place of ragged ones, as columns; dense ones stay.

    Several, and the mask, are either all ragged or all dense: TypeError otherwise. ValueError, or InvalidArgumentError of
    the run, where ragged ones are divided differently.
    """
    alone = not isinstance(values, list)
    every: Sequence[Any] = [values] if alone else values
    ragged = [isinstance(one, RaggedTensor) for one in (*every, *([] if mask is None else [mask]))]
    if not any(ragged):
        if mask is not None or all(isinstance(one, (Tensor, list)) for one in every):
            return values, mask
    elif all(ragged):
        first = every[0]
        rest = [*every[1:], *([] if mask is None else [mask])]
        with control_dependencies([check for other in rest for check in _same_parts(first, other)]):
            flat = [expand_dims(identity(one.flat_values), -1) for one in every]
            flat_mask = None if mask is None else expand_dims(identity(mask.flat_values), -1)
        return flat[0] if alone else flat, flat_mask
    raise TypeError("One of the inputs does not have acceptable types.")


def _same_parts(a: RaggedTensor, b: RaggedTensor) -> list[Any]:
    told = "Inputs must have identical ragged splits"
    if len(a.nested_row_splits) != len(b.nested_row_splits):
        raise ValueError(told)
    pairs = zip(a.nested_row_splits, b.nested_row_splits, strict=True)
    made = [assert_equal(convert_to_tensor(one), convert_to_tensor(other), message=told) for one, other in pairs]
    return [check for check in made if check is not None]
