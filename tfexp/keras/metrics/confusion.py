"""True and false positives and negatives at thresholds, precision and recall. Source: `tf.keras.metrics`, TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

from tfexp.core import dtypes
from tfexp.core.nest import flatten
from tfexp.graph.convert import constant
from tfexp.graph.dependencies import group
from tfexp.graph.scopes import control_dependencies
from tfexp.keras.losses.weighted import of_one_rank
from tfexp.keras.metrics.metric import Metric
from tfexp.metrics.streaming import fitted
from tfexp.ops.array import reshape, shape
from tfexp.ops.array_fill import one_hot
from tfexp.ops.array_identity import identity
from tfexp.ops.cast import cast
from tfexp.ops.check_compare import assert_greater_equal, assert_less_equal
from tfexp.ops.comparison import greater
from tfexp.ops.elementwise_division import div_no_nan
from tfexp.ops.logical import logical_and, logical_not
from tfexp.ops.nn_topk import top_k as largest
from tfexp.ops.reduce import reduce_sum
from tfexp.ops.weights_broadcast import broadcast_weights

# What predictions are that are not among the `top_k`: at or below every threshold.
NEVER = -1e10


class ConfusionMatrix(Enum):
    """Which of the predictions are counted."""

    TRUE_POSITIVES = "tp"
    FALSE_POSITIVES = "fp"
    TRUE_NEGATIVES = "tn"
    FALSE_NEGATIVES = "fn"


Thresholds = float | Sequence[float] | None


def listed_thresholds(thresholds: Thresholds, default_threshold: float = 0.5) -> list[float]:
    """The thresholds as a list. ValueError for one outside of [0, 1]."""
    if thresholds is None:
        return [default_threshold]
    found: list[Any] = list(flatten(thresholds))
    check_thresholds(found)
    return found


def check_thresholds(thresholds: Sequence[Any]) -> None:
    """ValueError for one outside of [0, 1]."""
    wrong = [t for t in thresholds if t is None or t < 0 or t > 1]
    if wrong:
        raise ValueError(f"Threshold values must be in [0, 1]. Invalid values: {wrong}")


def count_confusions(
    variables_to_update: Mapping[ConfusionMatrix, Any],
    y_true: Any,
    y_pred: Any,
    thresholds: Any,
    top_k: int | None = None,
    class_id: int | None = None,
    sample_weight: Any = None,
) -> Any:
    """The op that adds to the variables what is counted at each of the thresholds.

    top_k: only the k largest predictions along the last dimension count as such. class_id: only that class is looked at.
    ValueError where nothing is counted.
    """
    variables = {kind: one for kind, one in variables_to_update.items() if isinstance(kind, ConfusionMatrix)}
    if not variables:
        raise ValueError(
            "Please provide at least one valid confusion matrix variable to update. Valid variable key options are: "
            f'"{list(ConfusionMatrix)}". Received: "{variables_to_update.keys()}"'
        )
    dtype = next(iter(variables.values())).dtype.base_dtype
    y_true, y_pred = of_one_rank(cast(y_true, dtype), cast(y_pred, dtype))
    y_pred.get_shape().assert_is_compatible_with(y_true.get_shape())
    in_range = [
        assert_greater_equal(y_pred, cast(0.0, dtype), message="predictions must be >= 0"),
        assert_less_equal(y_pred, cast(1.0, dtype), message="predictions must be <= 1"),
    ]
    with control_dependencies([one for one in in_range if one is not None]):
        y_pred = identity(y_pred)
    if top_k is not None:
        y_pred = only_the_largest(y_pred, top_k)
    if class_id is not None:
        y_true, y_pred = y_true[..., class_id], y_pred[..., class_id]
    above: Any = greater(reshape(y_pred, [1, -1]), constant(list(thresholds), dtype, [len(thresholds), 1]))
    true: Any = cast(reshape(y_true, [1, -1]), dtypes.bool)
    weights = None
    if sample_weight is not None:
        _, _, weights = fitted(y_pred, None, cast(sample_weight, dtype))
        weights = reshape(broadcast_weights(weights, y_pred), [1, -1])
    kinds = {
        ConfusionMatrix.TRUE_POSITIVES: lambda: logical_and(true, above),
        ConfusionMatrix.FALSE_POSITIVES: lambda: logical_and(logical_not(true), above),
        ConfusionMatrix.TRUE_NEGATIVES: lambda: logical_and(logical_not(true), logical_not(above)),
        ConfusionMatrix.FALSE_NEGATIVES: lambda: logical_and(true, logical_not(above)),
    }
    updates = []
    for kind, variable in variables.items():
        found: Any = cast(kinds[kind](), dtype)
        updates.append(variable.assign_add(reduce_sum(found if weights is None else found * weights, 1)))
    return group(*updates)


def only_the_largest(y_pred: Any, k: int) -> Any:
    """The k largest along the last dimension; `NEVER` in the place of the others."""
    chosen: Any = reduce_sum(one_hot(largest(y_pred, k, sorted=False)[1], shape(y_pred)[-1], axis=-1), axis=-2)  # type: ignore[index]
    return y_pred * chosen + NEVER * (1 - chosen)


class _Count(Metric):
    """What is counted of one kind, at each of `thresholds` (0.5 by default)."""

    def __init__(
        self,
        confusion_matrix_cond: ConfusionMatrix,
        thresholds: Thresholds = None,
        name: str | None = None,
        dtype: Any = None,
    ):
        super().__init__(name=name, dtype=dtype)
        self._confusion_matrix_cond = confusion_matrix_cond
        self.init_thresholds = thresholds
        self.thresholds = listed_thresholds(thresholds)
        self.accumulator = self.add_weight("accumulator", shape=(len(self.thresholds),), initializer="zeros")

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        counts = {self._confusion_matrix_cond: self.accumulator}
        return count_confusions(counts, y_true, y_pred, self.thresholds, sample_weight=sample_weight)

    def result(self) -> Any:
        return self.accumulator[0] if len(self.thresholds) == 1 else self.accumulator

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "thresholds": self.init_thresholds}


class TruePositives(_Count):
    """Trues whose prediction is above the threshold."""

    def __init__(self, thresholds: Thresholds = None, name: str | None = None, dtype: Any = None):
        super().__init__(ConfusionMatrix.TRUE_POSITIVES, thresholds, name, dtype)


class FalsePositives(_Count):
    """Falses whose prediction is above the threshold."""

    def __init__(self, thresholds: Thresholds = None, name: str | None = None, dtype: Any = None):
        super().__init__(ConfusionMatrix.FALSE_POSITIVES, thresholds, name, dtype)


class TrueNegatives(_Count):
    """Falses whose prediction is not above the threshold."""

    def __init__(self, thresholds: Thresholds = None, name: str | None = None, dtype: Any = None):
        super().__init__(ConfusionMatrix.TRUE_NEGATIVES, thresholds, name, dtype)


class FalseNegatives(_Count):
    """Trues whose prediction is not above the threshold."""

    def __init__(self, thresholds: Thresholds = None, name: str | None = None, dtype: Any = None):
        super().__init__(ConfusionMatrix.FALSE_NEGATIVES, thresholds, name, dtype)


class _Share(Metric):
    """True positives as a share of themselves and others, at each of `thresholds` (0.5 by default, none with `top_k`)."""

    _other: ConfusionMatrix
    _other_name: str

    def __init__(
        self,
        thresholds: Thresholds = None,
        top_k: int | None = None,
        class_id: int | None = None,
        name: str | None = None,
        dtype: Any = None,
    ):
        super().__init__(name=name, dtype=dtype)
        self.init_thresholds = thresholds
        self.top_k = top_k
        self.class_id = class_id
        self.thresholds = listed_thresholds(thresholds, 0.5 if top_k is None else NEVER)
        size = (len(self.thresholds),)
        self.true_positives = self.add_weight("true_positives", shape=size, initializer="zeros")
        setattr(self, self._other_name, self.add_weight(self._other_name, shape=size, initializer="zeros"))

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        counts = {ConfusionMatrix.TRUE_POSITIVES: self.true_positives, self._other: getattr(self, self._other_name)}
        return count_confusions(counts, y_true, y_pred, self.thresholds, self.top_k, self.class_id, sample_weight)

    def result(self) -> Any:
        share: Any = div_no_nan(self.true_positives, self.true_positives + getattr(self, self._other_name))
        return share[0] if len(self.thresholds) == 1 else share

    def get_config(self) -> dict[str, Any]:
        own = {"thresholds": self.init_thresholds, "top_k": self.top_k, "class_id": self.class_id}
        return {**super().get_config(), **own}


class Precision(_Share):
    """How many of those whose prediction is above the threshold are true."""

    _other, _other_name = ConfusionMatrix.FALSE_POSITIVES, "false_positives"


class Recall(_Share):
    """How many of the trues have a prediction above the threshold."""

    _other, _other_name = ConfusionMatrix.FALSE_NEGATIVES, "false_negatives"
