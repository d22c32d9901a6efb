"""Functions that `ops.nn_ops` has in a second form. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.graph.tensor import Tensor
from tfexp.ops.nn_dropout import dropout
from tfexp.ops.nn_dropout import noise_shape_of as _get_noise_shape

__all__ = ["_get_noise_shape", "dropout_v2"]


def dropout_v2(x: Any, rate: Any, noise_shape: Any = None, seed: int | None = None, name: str | None = None) -> Tensor:
    """`tf.nn.dropout` by `rate` alone."""
    return dropout(x, rate=rate, noise_shape=noise_shape, seed=seed, name=name)
