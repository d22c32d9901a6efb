"""`tensorflow.python.ops.losses.util`: predictions, labels and weights whose ranks fit. Source: TF 1.15."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.replica_modes import num_replicas
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.keras.losses.weighted import of_one_rank
from tfexp.metrics.streaming import weights_fitted
from tfexp.ops.array import rank
from tfexp.ops.cast import cast
from tfexp.ops.check_compare import assert_greater_equal
from tfexp.ops.elementwise_binary import mul
from tfexp.ops.weights_broadcast import broadcast_weights

_NO_EXAMPLES = "Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1"


def squeeze_or_expand_dimensions(y_pred: Any, y_true: Any = None, sample_weight: Any = None) -> tuple[Any, ...]:
    """(predictions, labels) and the weights, if any: a last dimension of 1 is dropped or added where ranks differ by one.

    Scalar weights stay. Others are compared with the predictions that were given, or if a rank is not known yet with those
    of the step, which may have been squeezed.
    """
    given = y_pred = convert_to_tensor(y_pred)
    if y_true is not None:
        y_true, y_pred = of_one_rank(y_true, y_pred)
    if sample_weight is None:
        return y_pred, y_true
    weights = convert_to_tensor(sample_weight)
    known = given.shape.ndims is not None and weights.shape.ndims is not None
    return y_pred, y_true, weights_fitted(weights, given if known else y_pred)


def scale_losses_by_sample_weight(losses: Any, sample_weight: Any) -> Tensor:
    """The losses as float32, times their weights. ValueError for weights that cannot be repeated to their shape."""
    losses = cast(losses, dtypes.float32)
    losses, _, weights = squeeze_or_expand_dimensions(losses, None, cast(sample_weight, dtypes.float32))
    product: Tensor = mul(losses, broadcast_weights(weights, losses))
    return product


@contextlib.contextmanager
def check_per_example_loss_rank(per_example_loss: Any) -> Iterator[None]:
    """A scope in which losses have a dimension of examples: ValueError where it is known that they have none."""
    ndims = per_example_loss.shape.ndims
    if ndims is None:
        with control_dependencies([assert_greater_equal(rank(per_example_loss), 1, message=f"{_NO_EXAMPLES}.")]):
            yield
    elif ndims == 0:
        raise ValueError(f"{_NO_EXAMPLES}, received: {per_example_loss}")
    else:
        yield


def scale_loss_for_distribution(loss_value: Any) -> Any:
    """The loss over the number of replicas of a strategy's scope."""
    count = num_replicas()
    return loss_value * (1.0 / count) if count > 1 else loss_value
