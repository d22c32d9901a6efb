"""The steps of `tf.test.compute_gradient`, which programs take themselves: `ops.gradient_checker`. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tfexp.graph.convert import constant
from tfexp.graph.gradients import gradients
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_identity import identity
from tfexp.runtime.jacobian import numeric_jacobian, theoretical_jacobian


def _compute_dx_and_dy(x: Tensor, y: Tensor, y_shape: Sequence[int]) -> tuple[Any, Tensor]:
    """(the gradient of `y` with respect to `x`, what is fed for that of `y`)."""
    with x.graph.as_default():
        made_up = constant(1.0, shape=y_shape, dtype=y.dtype)
        given = identity(made_up)
    return gradients(y, x, given)[0], made_up


def _compute_theoretical_jacobian(
    x: Tensor,
    x_shape: Sequence[int],
    x_data: np.ndarray,
    dy: Tensor,
    dy_shape: Sequence[int],
    dx: Tensor,
    extra_feed_dict: Mapping[Any, Any] | None,
) -> np.ndarray:
    """dy/dx by the gradient `dx`: [elements of x, elements of y]. Runs in the default session."""

    def backprop(weights: np.ndarray) -> Any:
        return dx.eval({**(extra_feed_dict or {}), x: x_data, dy: weights})

    return theoretical_jacobian(backprop, np.asarray(x_data), np.zeros(dy_shape, dy.dtype.as_numpy_dtype))


def _compute_numeric_jacobian(
    x: Tensor,
    x_shape: Sequence[int],
    x_data: np.ndarray,
    y: Tensor,
    y_shape: Sequence[int],
    delta: float,
    extra_feed_dict: Mapping[Any, Any] | None,
) -> np.ndarray:
    """dy/dx by differences: [elements of x, elements of y]. Runs in the default session."""

    def value(moved: np.ndarray) -> Any:
        return y.eval({**(extra_feed_dict or {}), x: moved})

    return numeric_jacobian(value, np.asarray(x_data), np.zeros(y_shape, y.dtype.as_numpy_dtype), delta)
