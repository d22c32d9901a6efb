"""Losses of each example: functions of targets and predictions of one shape, which reduce the last dimension.

Targets take the type of the predictions. Source: `tf.keras.losses`, TF 1.15.
"""

from __future__ import annotations

import math
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.keras import backend
from tfexp.ops.array import shape
from tfexp.ops.array_mask import where_v2
from tfexp.ops.cast import cast
from tfexp.ops.clip import clip_by_value
from tfexp.ops.comparison import equal
from tfexp.ops.elementwise_binary import maximum, minimum, squared_difference
from tfexp.ops.elementwise_unary import abs as abs_
from tfexp.ops.elementwise_unary import log, square
from tfexp.ops.logical import logical_or
from tfexp.ops.nn_activation import softplus_op
from tfexp.ops.nn_norm import l2_normalize
from tfexp.ops.reduce import reduce_all, reduce_max, reduce_mean, reduce_sum


def alike(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    """Both as tensors, the targets in the type of the predictions."""
    y_pred = convert_to_tensor(y_pred)
    return cast(y_true, y_pred.dtype.base_dtype), y_pred


def mean_squared_error(y_true: Any, y_pred: Any) -> Tensor:
    """mean((y_true - y_pred) ** 2)."""
    y_true, y_pred = alike(y_true, y_pred)
    return reduce_mean(squared_difference(y_pred, y_true), axis=-1)


def mean_absolute_error(y_true: Any, y_pred: Any) -> Tensor:
    """mean(|y_true - y_pred|)."""
    y_true, y_pred = alike(y_true, y_pred)
    return reduce_mean(abs_(y_pred - y_true), axis=-1)


def mean_absolute_percentage_error(y_true: Any, y_pred: Any) -> Any:
    """100 * mean(|(y_true - y_pred) / y_true|), targets near 0 counting as epsilon."""
    y_true, y_pred = alike(y_true, y_pred)
    return 100.0 * reduce_mean(abs_((y_true - y_pred) / maximum(abs_(y_true), backend.epsilon())), axis=-1)  # type: ignore[operator]


def mean_squared_logarithmic_error(y_true: Any, y_pred: Any) -> Tensor:
    """mean((log(y_true + 1) - log(y_pred + 1)) ** 2), of positive numbers."""
    y_true, y_pred = alike(y_true, y_pred)
    first, second = (log(maximum(y, backend.epsilon()) + 1.0) for y in (y_pred, y_true))  # type: ignore[operator]
    return reduce_mean(squared_difference(first, second), axis=-1)


def _with_negatives(y_true: Any) -> Any:
    """Labels -1 and 1: labels 0 and 1 are told by there being no others."""
    is_binary = reduce_all(logical_or(equal(y_true, 0), equal(y_true, 1)))
    return where_v2(is_binary, 2.0 * y_true - 1.0, y_true)


def hinge(y_true: Any, y_pred: Any) -> Tensor:
    """mean(max(1 - y_true * y_pred, 0)), of labels -1 and 1, or 0 and 1."""
    y_true, y_pred = alike(y_true, y_pred)
    return reduce_mean(maximum(1.0 - _with_negatives(y_true) * y_pred, 0.0), axis=-1)


def squared_hinge(y_true: Any, y_pred: Any) -> Tensor:
    """mean(max(1 - y_true * y_pred, 0) ** 2), of labels -1 and 1, or 0 and 1."""
    y_true, y_pred = alike(y_true, y_pred)
    return reduce_mean(square(maximum(1.0 - _with_negatives(y_true) * y_pred, 0.0)), axis=-1)


def categorical_hinge(y_true: Any, y_pred: Any) -> Tensor:
    """max(1 - the prediction for the right class + the largest of the others, 0); labels are one-hot."""
    y_true, y_pred = alike(y_true, y_pred)
    right: Any = reduce_sum(y_true * y_pred, axis=-1)
    wrong: Any = reduce_max((1.0 - y_true) * y_pred, axis=-1)
    return maximum(0.0, wrong - right + 1.0)


def huber_loss(y_true: Any, y_pred: Any, delta: float = 1.0) -> Tensor:
    """Of each element half the squared error where that is at most `delta`, then a straight line (Huber 1964)."""
    y_pred, y_true = (cast(y, backend.floatx()) for y in (y_pred, y_true))
    size: Any = abs_(y_pred - y_true)  # type: ignore[operator]
    near: Any = minimum(size, cast(delta, backend.floatx()))
    return 0.5 * near * near + delta * (size - near)  # type: ignore[no-any-return]


def logcosh(y_true: Any, y_pred: Any) -> Tensor:
    """mean(log(cosh(y_pred - y_true))), without overflow."""
    y_true, y_pred = alike(y_true, y_pred)
    x = y_pred - y_true
    return reduce_mean(x + softplus_op(-2.0 * x) - math.log(2.0), axis=-1)


def categorical_crossentropy(y_true: Any, y_pred: Any, from_logits: bool = False, label_smoothing: Any = 0) -> Tensor:
    """Of class probabilities, or logits. `label_smoothing`: the part of each label that all classes share."""
    y_true, y_pred = alike(y_true, y_pred)
    if _is_given(label_smoothing):
        classes = cast(shape(y_true)[-1], y_pred.dtype)  # type: ignore[index]
        smoothing: Any = convert_to_tensor(label_smoothing, dtype=backend.floatx())
        y_true = y_true * (1.0 - smoothing) + smoothing / classes
    return backend.categorical_crossentropy(y_true, y_pred, from_logits=from_logits)


def sparse_categorical_crossentropy(y_true: Any, y_pred: Any, from_logits: bool = False, axis: int = -1) -> Tensor:
    """As `categorical_crossentropy`, with numbers of classes for labels."""
    return backend.sparse_categorical_crossentropy(y_true, y_pred, from_logits=from_logits, axis=axis)


def binary_crossentropy(y_true: Any, y_pred: Any, from_logits: bool = False, label_smoothing: Any = 0) -> Tensor:
    """The mean over labels that are 0 or 1 each. `label_smoothing`: how much nearer together these are."""
    y_true, y_pred = alike(y_true, y_pred)
    if _is_given(label_smoothing):
        smoothing: Any = convert_to_tensor(label_smoothing, dtype=backend.floatx())
        y_true = y_true * (1.0 - smoothing) + 0.5 * smoothing
    return reduce_mean(backend.binary_crossentropy(y_true, y_pred, from_logits=from_logits), axis=-1)


def _is_given(label_smoothing: Any) -> bool:
    return not isinstance(label_smoothing, (int, float)) or label_smoothing != 0


def kullback_leibler_divergence(y_true: Any, y_pred: Any) -> Tensor:
    """sum(y_true * log(y_true / y_pred)), of probabilities."""
    y_true, y_pred = alike(y_true, y_pred)
    y_true, y_pred = (clip_by_value(y, backend.epsilon(), 1.0) for y in (y_true, y_pred))
    return reduce_sum(y_true * log(y_true / y_pred), axis=-1)


def poisson(y_true: Any, y_pred: Any) -> Tensor:
    """mean(y_pred - y_true * log(y_pred))."""
    y_true, y_pred = alike(y_true, y_pred)
    return reduce_mean(y_pred - y_true * log(y_pred + backend.epsilon()), axis=-1)  # type: ignore[operator]


def cosine_proximity(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
    """The cosine of the angle between the two: the larger, the more alike, though it is a loss. So it is in TF 1.15."""
    y_true, y_pred = convert_to_tensor(y_true), convert_to_tensor(y_pred)
    if not y_true.dtype.is_floating or not y_pred.dtype.is_floating:
        y_true, y_pred = cast(y_true, dtypes.float32), cast(y_pred, dtypes.float32)
    return reduce_sum(l2_normalize(y_true, axis=axis) * l2_normalize(y_pred, axis=axis), axis=axis)  # type: ignore[operator]
