"""Jacobians of functions of arrays, from gradients and from differences, over the real numbers that values consist of.

A complex value counts as two real ones. Source: TensorFlow's gradient checkers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Function = Callable[[np.ndarray], Any]


def reals(value: Any) -> np.ndarray:
    """The real numbers of an array, in a row; for complex ones real and imaginary parts in turn."""
    flat = np.asarray(value).reshape(-1)
    return flat.view(flat.real.dtype) if np.iscomplexobj(flat) else flat


def theoretical_jacobian(backprop: Function, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """dy/dx of shape [reals of x, reals of y] and x's type; `backprop` turns a gradient of `y` into one of `x`.

    It may give None for zeros.
    ValueError when nothing, or something of another shape than `x`, comes out where `y` is empty.
    """
    jacobian = np.zeros([reals(x).size, reals(y).size], reals(x).dtype)
    for column in range(jacobian.shape[1]):
        one = np.zeros(y.shape, y.dtype)
        reals(one)[column] = 1
        grad = backprop(one)
        if grad is not None:
            jacobian[:, column] = reals(_dense(grad, x))
    if not jacobian.shape[1]:
        _check_empty(backprop(np.zeros_like(y)), x)
    return jacobian


def _dense(grad: Any, x: np.ndarray) -> np.ndarray:
    """A gradient as an array: rows of an IndexedSlicesValue are added up."""
    if not hasattr(grad, "indices"):
        return np.asarray(grad)
    dense = np.zeros_like(x)
    np.add.at(dense, grad.indices, grad.values)
    return dense


def _check_empty(grad: Any, x: np.ndarray) -> None:
    if grad is None:
        return
    dense = _dense(grad, x)
    if dense.shape != x.shape:
        raise ValueError(f"Empty gradient has wrong shape: expected {x.shape}, got {dense.shape}")
    if np.any(dense):
        raise ValueError("Empty tensor with nonzero gradients")


def numeric_jacobian(function: Function, x: np.ndarray, y: np.ndarray, delta: float) -> np.ndarray:
    """dy/dx of shape [reals of x, reals of y] and x's type, from central differences of `function`."""
    jacobian = np.zeros([reals(x).size, reals(y).size], reals(x).dtype)
    for row in range(jacobian.shape[0]):
        sides = []
        for step in (delta, -delta):
            moved = np.array(x, order="C")
            reals(moved)[row] += step
            sides.append(reals(function(moved)).astype(np.float64))
        jacobian[row] = (sides[0] - sides[1]) / (2 * delta)
    return jacobian
