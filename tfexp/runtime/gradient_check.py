"""Gradients against differences: `tf.test.compute_gradient` and `tf.test.compute_gradient_error`. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.graph.convert import constant
from tfexp.graph.defaults import get_default_session
from tfexp.graph.gradients import gradients
from tfexp.graph.tensor import Tensor
from tfexp.runtime.jacobian import numeric_jacobian, theoretical_jacobian


def compute_gradient(
    x: Any,
    x_shape: Any,
    y: Tensor,
    y_shape: Any,
    x_init_value: Any = None,
    delta: float = 1e-3,
    init_targets: Any = None,
    extra_feed_dict: dict[Any, Any] | None = None,
) -> Any:
    """(theoretical, numeric) Jacobians dy/dx of shape [x elements, y elements] and x's type, in the default session.

    For lists of `x`, a list of such pairs. Without `x_init_value`, NumPy's generator draws one, of [0, 1). `delta` is the
    step of the central differences. Complex values count as two elements, real and imaginary part. AssertionError for an x
    that `y` does not depend on, and for one whose values are neither real nor complex, or of another shape.
    """
    session = get_default_session()
    if session is None:
        raise ValueError("compute_gradient needs a default session")
    if init_targets is not None:
        for target in init_targets if isinstance(init_targets, (list, tuple)) else [init_targets]:
            session.run(target)
    if isinstance(x, list):
        values = [None] * len(x) if x_init_value is None else x_init_value
        starts = [_start(s, v, t) for s, v, t in zip(x_shape, values, x, strict=True)]
        feeds = {**(extra_feed_dict or {}), **dict(zip(x, starts, strict=True))}
        return [_jacobians(session, t, v, y, y_shape, delta, feeds) for t, v in zip(x, starts, strict=True)]
    start = _start(x_shape, x_init_value, x)
    return _jacobians(session, x, start, y, y_shape, delta, {**(extra_feed_dict or {}), x: start})


def _start(shape: Any, value: Any, x: Tensor) -> np.ndarray:
    dtype = x.dtype.base_dtype.as_numpy_dtype
    if value is not None:
        start: np.ndarray = np.array(value, dtype=dtype)
        if start.shape != tuple(shape):
            raise AssertionError(f"x_shape = {list(shape)}, init_data shape = {list(start.shape)}")
        return start
    drawn = np.random.random_sample(shape)
    return np.asarray(drawn + 1j * np.random.random_sample(shape) if x.dtype.is_complex else drawn).astype(dtype)


def _jacobians(
    session: Any, x: Tensor, start: np.ndarray, y: Tensor, y_shape: Any, delta: float, feeds: dict[Any, Any]
) -> tuple[np.ndarray, np.ndarray]:
    if not (x.dtype.is_floating or x.dtype.is_complex):
        raise AssertionError(f"Don't support type {x.dtype.name} for x")
    with session.graph.as_default():
        fed = constant(1, dtype=y.dtype.base_dtype, shape=y_shape)  # a feed takes its place, for each column another
        grad = gradients(y, x, grad_ys=fed)[0]
    if grad is None:
        raise AssertionError(f"There is no gradient: {y.name} does not depend on {x.name}, dx = None")

    def backprop(weights: np.ndarray) -> Any:
        return session.run(grad, {**feeds, fed: weights})

    like = np.zeros(y_shape, y.dtype.base_dtype.as_numpy_dtype)
    theoretical = theoretical_jacobian(backprop, start, like)
    return theoretical, numeric_jacobian(lambda moved: session.run(y, {**feeds, x: moved}), start, like, delta)


def compute_gradient_error(
    x: Any,
    x_shape: Any,
    y: Tensor,
    y_shape: Any,
    x_init_value: Any = None,
    delta: float = 1e-3,
    init_targets: Any = None,
    extra_feed_dict: dict[Any, Any] | None = None,
) -> float:
    """The largest difference between the theoretical and the numeric Jacobian of `compute_gradient`; NaN if one is."""
    pairs = compute_gradient(x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict)
    pairs = pairs if isinstance(pairs, list) else [pairs]
    return float(np.max([np.abs(t - n).max() for t, n in pairs if t.size], initial=0.0))
