"""Weights that broadcast to values: same rank, and each dimension 1 or the same; or a scalar."""

from __future__ import annotations

from typing import Any

from tfexp.graph.control_flow import cond
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import no_op
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies, name_scope
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.ops import sets
from tfexp.ops.array import expand_dims, rank, shape, size
from tfexp.ops.array_fill import ones_like
from tfexp.ops.array_join import concat
from tfexp.ops.check import Assert
from tfexp.ops.comparison import equal
from tfexp.ops.elementwise_binary import mul

_MESSAGE = "weights can not be broadcast to values."


def assert_broadcastable(weights: Any, values: Any) -> Operation:
    """An operation that fails unless `weights` broadcasts to `values`; ValueError where that is known while building."""
    with name_scope(None, "assert_broadcastable", [weights, values]) as outer:
        with name_scope(None, "weights", [weights]) as scope:
            weights = convert_to_tensor(weights, name=scope)
            weights_shape = shape(weights, name="shape")
            weights_rank = rank(weights, name="rank")
        with name_scope(None, "values", [values]) as scope:
            values = convert_to_tensor(values, name=scope)
            values_shape = shape(values, name="shape")
            values_rank = rank(values, name="rank")
        known_weights_rank, known_values_rank = weights.get_shape().ndims, values.get_shape().ndims
        if known_weights_rank is not None and known_values_rank is not None:
            if known_weights_rank == 0:
                return no_op("static_scalar_check_success")
            if known_weights_rank != known_values_rank:
                raise ValueError(
                    f"{_MESSAGE} values.rank={known_values_rank}. weights.rank={known_weights_rank}. values.shape="
                    f"{values.get_shape()}. weights.shape={weights.get_shape()}. Received weights={weights}, values={values}"
                )
            static_weights, static_values = static_value(weights_shape), static_value(values_shape)
            if static_weights is not None and static_values is not None:
                for axis, (mine, theirs) in enumerate(zip(static_weights, static_values, strict=True)):
                    if mine not in (1, theirs):
                        raise ValueError(
                            f"{_MESSAGE} Mismatch at dim {axis}. values.shape={values.get_shape()}, weights.shape="
                            f"{weights.get_shape()}. Received weights={weights}, values={values}"
                        )
                return no_op("static_dims_check_success")
        is_scalar = equal(0, weights_rank, name="is_scalar")
        is_valid = cond(
            is_scalar,
            lambda: is_scalar,
            lambda: _has_valid_shape(weights_rank, weights_shape, values_rank, values_shape),
            name="is_valid_shape",
        )
        data = [
            _MESSAGE,
            "weights.shape=",
            weights.name,
            weights_shape,
            "values.shape=",
            values.name,
            values_shape,
            "is_scalar=",
            is_scalar,
        ]
        return Assert(is_valid, data, name=outer)


def _has_valid_shape(weights_rank: Tensor, weights_shape: Tensor, values_rank: Tensor, values_shape: Tensor) -> Any:
    with name_scope(None, "has_valid_nonscalar_shape", [weights_rank, weights_shape, values_rank, values_shape]) as scope:
        same_rank = equal(values_rank, weights_rank, name="is_same_rank")
        return cond(same_rank, lambda: _has_valid_dims(weights_shape, values_shape), lambda: same_rank, name=scope)


def _has_valid_dims(weights_shape: Tensor, values_shape: Tensor) -> Tensor:
    """Whether each dimension of the weights is among {1, the values' dimension}."""
    with name_scope(None, "has_invalid_dims", [weights_shape, values_shape]) as scope:
        column = expand_dims(values_shape, -1)
        allowed = concat([column, ones_like(column)], axis=1)
        invalid = sets.dense_to_dense_op(expand_dims(weights_shape, -1), allowed, set_operation="a-b")
        count = size(invalid.result_values, name="num_invalid_dims")
        result: Tensor = equal(0, count, name=scope)
        return result


def broadcast_weights(weights: Any, values: Any) -> Tensor:
    """`weights` repeated to the shape of `values`; checked as by `assert_broadcastable`."""
    with name_scope(None, "broadcast_weights", [weights, values]) as scope:
        values = convert_to_tensor(values, name="values")
        weights = convert_to_tensor(weights, dtype=values.dtype.base_dtype, name="weights")
        mine, theirs = weights.get_shape(), values.get_shape()
        if mine.is_fully_defined() and theirs.is_fully_defined() and mine.is_compatible_with(theirs):
            result: Tensor = weights
            return result
        with control_dependencies([assert_broadcastable(weights, values)]):
            repeated: Tensor = mul(weights, ones_like(values), name=scope)
            return repeated
