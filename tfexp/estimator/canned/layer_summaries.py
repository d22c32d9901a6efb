"""What canned estimators show of their layers."""

from __future__ import annotations

from tfexp.graph.tensor import Tensor
from tfexp.ops.nn_norm import zero_fraction
from tfexp.ops.summary import histogram, scalar


def summarize_layer(value: Tensor, name: str) -> None:
    """A layer's output: how much of it is zero, and its distribution, under the layer's name."""
    scalar(f"{name}/fraction_of_zero_values", zero_fraction(value))
    histogram(f"{name}/activation", value)
