"""Losses that several replicas add up: each one's share of the mean over the whole batch. Source: `tf.nn`, TF 1.15.

Outside of a distribution strategy there is one replica.
"""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.replica_modes import num_replicas
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.ops import array, check_compare
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_binary import mul
from tfexp.ops.elementwise_division import div_no_nan
from tfexp.ops.reduce import reduce_sum


def compute_average_loss(per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None) -> Tensor:
    """The (weighted) sum of losses [batch, ...] over `global_batch_size`, by default this batch's. A scalar.

    ValueError for a loss without dimensions, TypeError for a size that is no integer.
    """
    loss = convert_to_tensor(per_example_loss)
    given = loss.dtype
    if loss.shape.rank == 0:
        raise ValueError(
            "Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1. Received "
            f"per_example_loss={loss} with rank 0"
        )
    if sample_weight is not None:
        weights = convert_to_tensor(sample_weight)
        kind = loss.dtype if loss.dtype.is_floating else dtypes.float32
        loss = mul(cast(loss, kind), cast(weights, kind))
    if global_batch_size is None:
        global_batch_size = array.shape(loss)[0] * num_replicas()  # type: ignore[index,operator]
    check_compare.assert_scalar(global_batch_size)
    check_compare.assert_integer(global_batch_size, message="global_batch_size must be an integer.")
    right = check_compare.assert_non_negative(global_batch_size, message="global_batch_size must be non-negative.")
    with control_dependencies([right]):
        size = convert_to_tensor(global_batch_size)
    total = reduce_sum(loss)
    return cast(div_no_nan(total, cast(size, total.dtype)), given)  # type: ignore[no-any-return]


def scale_regularization_loss(regularization_loss: Any) -> Tensor:
    """The sum of the regularisation losses, divided among the replicas."""
    return reduce_sum(regularization_loss) / num_replicas()  # type: ignore[operator,no-any-return]
