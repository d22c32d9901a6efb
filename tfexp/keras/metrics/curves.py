"""The area under a curve through thresholds, and points of it. Source: `tf.keras.metrics`, TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, TypeVar

from tfexp.core import dtypes
from tfexp.keras.metrics.confusion import ConfusionMatrix, count_confusions
from tfexp.keras.metrics.metric import Metric
from tfexp.metrics.thresholds import interpolated_area
from tfexp.ops.argmax import argmin
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_binary import maximum, minimum
from tfexp.ops.elementwise_division import div_no_nan
from tfexp.ops.elementwise_unary import abs as abs_
from tfexp.ops.reduce import reduce_sum

_NAMES = {
    ConfusionMatrix.TRUE_POSITIVES: "true_positives",
    ConfusionMatrix.TRUE_NEGATIVES: "true_negatives",
    ConfusionMatrix.FALSE_POSITIVES: "false_positives",
    ConfusionMatrix.FALSE_NEGATIVES: "false_negatives",
}
_EPSILON = 1e-7  # by which the outer thresholds are outside of [0, 1]


class _AtThresholds(Metric):
    """All four kinds, counted at each of `thresholds`."""

    thresholds: list[float]
    true_positives: Any
    true_negatives: Any
    false_positives: Any
    false_negatives: Any

    def _count_at(self, thresholds: Sequence[float]) -> None:
        self.thresholds = list(thresholds)
        for name in _NAMES.values():
            setattr(self, name, self.add_weight(name, shape=(len(self.thresholds),), initializer="zeros"))

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        counts = {kind: getattr(self, name) for kind, name in _NAMES.items()}
        return count_confusions(counts, y_true, y_pred, self.thresholds, sample_weight=sample_weight)

    def _rates(self) -> tuple[Any, Any]:
        """The shares of trues that are found, and of falses that are taken for true."""
        found = div_no_nan(self.true_positives, self.true_positives + self.false_negatives)
        mistaken = div_no_nan(self.false_positives, self.false_positives + self.true_negatives)
        return found, mistaken


def _between(number: int) -> list[float]:
    """`number` thresholds over (0, 1), equally far from each other and from the ends, without these."""
    return [(i + 1) * 1.0 / (number + 1) for i in range(number)]


class AUCCurve(Enum):
    """Over what the area is: false positives, or recall."""

    ROC = "ROC"
    PR = "PR"

    @staticmethod
    def from_str(key: str) -> AUCCurve:
        """By name, in capitals or not. ValueError for another."""
        return _named(AUCCurve, key.upper(), key, "curve")


class AUCSummationMethod(Enum):
    """How high the curve is taken to be between two thresholds."""

    INTERPOLATION = "interpolation"
    MAJORING = "majoring"
    MINORING = "minoring"

    @staticmethod
    def from_str(key: str) -> AUCSummationMethod:
        """By name, in capitals or not. ValueError for another."""
        return _named(AUCSummationMethod, key.lower(), key, "summation method")


_Choice = TypeVar("_Choice", bound=Enum)


def _named(choices: type[_Choice], value: str, key: str, what: str) -> _Choice:
    try:
        return choices(value)
    except ValueError as error:
        listed = ", ".join(f'"{one.value}"' for one in choices)
        raise ValueError(f'Invalid AUC {what} value: "{key}". Expected values are [{listed}]') from error


class AUC(_AtThresholds):
    """The area under the ROC curve, or under precision over recall ("PR"), by points at thresholds.

    num_thresholds: how many, over [0, 1]; or `thresholds`: those in between. summation_method: "interpolation",
    "minoring" or "majoring". ValueError for other values.
    """

    def __init__(
        self,
        num_thresholds: int = 200,
        curve: str | AUCCurve = "ROC",
        summation_method: str | AUCSummationMethod = "interpolation",
        name: str | None = None,
        dtype: Any = None,
        thresholds: Sequence[float] | None = None,
    ):
        curve = AUCCurve.from_str(curve) if isinstance(curve, str) else curve
        if isinstance(summation_method, str):
            summation_method = AUCSummationMethod.from_str(summation_method)
        super().__init__(name=name, dtype=dtype)
        if thresholds is None:
            if num_thresholds <= 1:
                raise ValueError(
                    f"Argument `num_thresholds` must be an integer > 1. Received: num_thresholds={num_thresholds}"
                )
            inner = _between(num_thresholds - 2)
        else:
            inner = sorted(thresholds)
        self.num_thresholds = len(inner) + 2
        self.curve = curve
        self.summation_method = summation_method
        self._count_at([0.0 - _EPSILON, *inner, 1.0 + _EPSILON])
        self._layers = [self.thresholds]  # which TensorFlow's checkpoints have besides

    def result(self) -> Any:
        if self.curve is AUCCurve.PR and self.summation_method is AUCSummationMethod.INTERPOLATION:
            return self.interpolate_pr_auc()
        tp, fp = self.true_positives.read_value(), self.false_positives.read_value()
        found, mistaken = self._rates()
        x, y = (mistaken, found) if self.curve is AUCCurve.ROC else (found, div_no_nan(tp, tp + fp))
        left, right = y[: self.num_thresholds - 1], y[1:]
        if self.summation_method is AUCSummationMethod.INTERPOLATION:
            heights: Any = (left + right) / 2.0
        else:
            heights = (minimum if self.summation_method is AUCSummationMethod.MINORING else maximum)(left, right)
        return reduce_sum((x[: self.num_thresholds - 1] - x[1:]) * heights, name=self.name)

    def interpolate_pr_auc(self) -> Any:
        """The area under precision over recall, the counts interpolated between the thresholds."""
        tp, fp, fn = (v.read_value() for v in (self.true_positives, self.false_positives, self.false_negatives))
        return interpolated_area(tp, fp, fn, self.num_thresholds)

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "num_thresholds": self.num_thresholds,
            "curve": self.curve.value,
            "summation_method": self.summation_method.value,
            "thresholds": list(self.thresholds[1:-1]),  # the ends are put around them again
        }


class SensitivitySpecificityBase(_AtThresholds):
    """One of the rates at the threshold where the other is nearest to a value."""

    _of: str

    def __init__(self, value: float, num_thresholds: int = 200, name: str | None = None, dtype: Any = None):
        super().__init__(name=name, dtype=dtype)
        if num_thresholds <= 0:
            raise ValueError(f"Argument `num_thresholds` must be an integer > 0. Received: num_thresholds={num_thresholds}")
        if value < 0 or value > 1:
            raise ValueError(f"Argument `{self._of}` must be in the range [0, 1]. Received: {self._of}={value}")
        self.value = value
        self.num_thresholds = num_thresholds
        self._count_at([0.5] if num_thresholds == 1 else [0.0, *_between(num_thresholds - 2), 1.0])

    def _where_nearest(self, rates: Any) -> Any:
        return cast(argmin(abs_(rates - self.value), axis=0), dtypes.int32)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "num_thresholds": self.num_thresholds, self._of: self.value}


class SensitivityAtSpecificity(SensitivitySpecificityBase):
    """The share of trues that are found, at the threshold whose specificity is nearest to `specificity`."""

    _of = "specificity"

    def __init__(self, specificity: float, num_thresholds: int = 200, name: str | None = None, dtype: Any = None):
        super().__init__(specificity, num_thresholds=num_thresholds, name=name, dtype=dtype)
        self.specificity = specificity

    def result(self) -> Any:
        found, _ = self._rates()
        return found[self._where_nearest(div_no_nan(self.true_negatives, self.true_negatives + self.false_positives))]


class SpecificityAtSensitivity(SensitivitySpecificityBase):
    """The share of falses that are rejected, at the threshold whose sensitivity is nearest to `sensitivity`."""

    _of = "sensitivity"

    def __init__(self, sensitivity: float, num_thresholds: int = 200, name: str | None = None, dtype: Any = None):
        super().__init__(sensitivity, num_thresholds=num_thresholds, name=name, dtype=dtype)
        self.sensitivity = sensitivity

    def result(self) -> Any:
        found, _ = self._rates()
        rejected = div_no_nan(self.true_negatives, self.true_negatives + self.false_positives)
        return rejected[self._where_nearest(found)]
