"""How often each class was taken for each other. Source: `tf.confusion_matrix`."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_fill import ones_like
from tfexp.ops.array_gather import scatter_nd
from tfexp.ops.array_join import stack
from tfexp.ops.cast import cast
from tfexp.ops.check_compare import assert_less, assert_non_negative
from tfexp.ops.elementwise_binary import maximum
from tfexp.ops.losses import without_last_ones
from tfexp.ops.reduce import reduce_max


def confusion_matrix(
    labels: Any,
    predictions: Any,
    num_classes: Any = None,
    dtype: Any = dtypes.int32,
    name: str | None = None,
    weights: Any = None,
) -> Tensor:
    """[class, predicted class]: the number, or the sum of `weights`, of such pairs; both are vectors of class numbers.

    The number of classes is one more than the largest number that occurs, unless it is given. ValueError for what is known
    to be no vector.
    """
    with name_scope(name, "confusion_matrix", (predictions, labels, num_classes, weights)):
        labels, predictions = without_last_ones(
            convert_to_tensor(labels, name="labels"), convert_to_tensor(predictions, name="predictions")
        )
        predictions, labels = cast(predictions, dtypes.int64), cast(labels, dtypes.int64)
        labels = _checked(labels, "`labels` contains negative values", assert_non_negative)
        predictions = _checked(predictions, "`predictions` contains negative values", assert_non_negative)
        if num_classes is None:
            num_classes = maximum(reduce_max(predictions), reduce_max(labels)) + 1
        else:
            num_classes = cast(num_classes, dtypes.int64)
            labels = with_dependencies([assert_less(labels, num_classes, message="`labels` out of bound")], labels)
            predictions = with_dependencies(
                [assert_less(predictions, num_classes, message="`predictions` out of bound")], predictions
            )
        if weights is not None:
            weights = cast(weights, dtype)
            predictions.get_shape().assert_is_compatible_with(weights.get_shape())
        dims = stack([num_classes, num_classes])
        pairs = stack([labels, predictions], axis=1)
        pairs.get_shape().assert_has_rank(2)
        counted = ones_like(predictions, dtype) if weights is None else weights
        return scatter_nd(pairs, counted, dims)


def _checked(values: Tensor, message: str, check: Any) -> Tensor:
    return with_dependencies([check(values, message=message)], values)
