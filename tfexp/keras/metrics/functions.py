"""Which predictions are right, for each example. Source: `tf.keras.metrics`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.keras import backend
from tfexp.keras.losses import functions as losses
from tfexp.ops.argmax import argmax
from tfexp.ops.array import reshape, shape, squeeze
from tfexp.ops.cast import cast
from tfexp.ops.comparison import equal
from tfexp.ops.nn_topk import in_top_k
from tfexp.ops.reduce import reduce_mean


def accuracy(y_true: Any, y_pred: Any) -> Any:
    """1 where the two are equal, 0 elsewhere. ValueError for shapes that do not fit."""
    y_true, y_pred = convert_to_tensor(y_true), convert_to_tensor(y_pred)
    y_pred.get_shape().assert_is_compatible_with(y_true.get_shape())
    return cast(equal(cast(y_true, y_pred.dtype), y_pred), backend.floatx())


def binary_accuracy(y_true: Any, y_pred: Any, threshold: float = 0.5) -> Tensor:
    """The share of labels (0 and 1) that are 1 just where the prediction is above `threshold`."""
    y_pred = convert_to_tensor(y_pred)
    above = cast(y_pred > cast(threshold, y_pred.dtype), y_pred.dtype)
    return reduce_mean(cast(equal(cast(y_true, y_pred.dtype), above), backend.floatx()), axis=-1)


def categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """1 where the largest prediction is at the largest label, 0 elsewhere."""
    return cast(equal(argmax(y_true, axis=-1), argmax(y_pred, axis=-1)), backend.floatx())


def sparse_categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """As `categorical_accuracy`, with numbers of classes for labels: predictions' shape without the last dimension, or 1."""
    y_true, y_pred = convert_to_tensor(y_true), convert_to_tensor(y_pred)
    if y_true.shape.ndims is not None and y_true.shape.ndims == y_pred.shape.ndims:
        y_true = squeeze(y_true, [-1])
    return cast(equal(y_true, cast(argmax(y_pred, axis=-1), y_true.dtype)), backend.floatx())


def top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Any:
    """1 where the prediction at the largest label is among the `k` largest, 0 elsewhere."""
    return sparse_top_k_categorical_accuracy(argmax(y_true, axis=-1), y_pred, k)


def sparse_top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Any:
    """As `top_k_categorical_accuracy`, with numbers of classes for labels."""
    y_true, y_pred = convert_to_tensor(y_true), convert_to_tensor(y_pred)
    before = None
    if y_pred.shape.ndims is not None and y_true.shape.ndims is not None:
        if y_pred.shape.ndims > 2:
            before = shape(y_pred)[:-1]  # type: ignore[index]
            y_pred = reshape(y_pred, [-1, y_pred.shape.as_list()[-1]])
        if y_true.shape.ndims > 1:
            y_true = reshape(y_true, [-1])
    found = cast(in_top_k(y_pred, cast(y_true, dtypes.int32), k), backend.floatx())
    return found if before is None else reshape(found, before)


def cosine_proximity(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
    """The cosine of the angle between the two."""
    return losses.cosine_proximity(y_true, y_pred, axis=axis)
