"""What the Inception models of `tf.contrib.slim.nets` are built from: tables of steps, whose names tell their sizes.

`Conv2d_0b_1x7` is a convolution of 1 by 7, as Szegedy et al. name them in their published models.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tfexp.contributed.arg_scope import arg_scope
from tfexp.contributed.batch_norm import batch_norm
from tfexp.contributed.layers import conv2d, fully_connected
from tfexp.contributed.shaping import avg_pool2d, max_pool2d
from tfexp.contributed.slim_nets.straight import trunc_normal
from tfexp.graph.collections import GraphKeys
from tfexp.layers.regularizers import l2_regularizer, variance_scaling_initializer
from tfexp.ops.array import squeeze
from tfexp.ops.array_join import concat
from tfexp.ops.nn_activation import relu
from tfexp.ops.variable_scope import variable_scope

Depth = Callable[[int], int]


@dataclass(frozen=True)
class Conv:
    """size: that in the name by default. stddev: of the weights at first, where it is not the argument scope's."""

    name: str
    depth: int
    stride: int = 1
    padding: str = "SAME"
    stddev: float | None = None
    size: tuple[int, int] | None = None

    def __call__(self, net: Any, depth: Depth) -> Any:
        given = {} if self.stddev is None else {"weights_initializer": trunc_normal(self.stddev)}
        size = self.size or _size(self.name)
        return conv2d(net, depth(self.depth), list(size), stride=self.stride, padding=self.padding, scope=self.name, **given)


@dataclass(frozen=True)
class Pool:
    """`MaxPool_…` or `AvgPool_…`."""

    name: str
    stride: int = 1
    padding: str = "SAME"

    def __call__(self, net: Any, depth: Depth) -> Any:
        pool = max_pool2d if self.name.startswith("Max") else avg_pool2d
        return pool(net, list(_size(self.name)), stride=self.stride, padding=self.padding, scope=self.name)


@dataclass(frozen=True)
class Fork:
    """Convolutions of the same inputs, side by side."""

    steps: tuple[Conv, ...]

    def __call__(self, net: Any, depth: Depth) -> Any:
        return concat([step(net, depth) for step in self.steps], 3)


@dataclass(frozen=True)
class Mixed:
    """Branches of the same inputs, each with steps of its own, side by side."""

    name: str
    branches: tuple[tuple[Conv | Pool | Fork, ...], ...]

    def __call__(self, net: Any, depth: Depth) -> Any:
        with variable_scope(self.name):
            ends = []
            for number, steps in enumerate(self.branches):
                with variable_scope(f"Branch_{number}"):
                    end = net
                    for step in steps:
                        end = step(end, depth)
                ends.append(end)
            return concat(ends, 3)


def _size(name: str) -> tuple[int, int]:
    found = re.search(r"_(\d)x(\d)$", name)
    assert found is not None, name
    return int(found[1]), int(found[2])


def run_to(final_endpoint: str, net: Any, steps: Sequence[Any], depth: Depth = int) -> tuple[Any, dict[str, Any]]:
    """(outputs of the step of that name, {name: outputs} up to it). ValueError for a name that no step has."""
    names = [step.name for step in steps]
    if final_endpoint not in names:
        raise ValueError(f"Unknown final endpoint {final_endpoint}: there are {names}")
    points: dict[str, Any] = {}
    for step in steps[: names.index(final_endpoint) + 1]:
        points[step.name] = net = step(net, depth)
    return net, points


def scaled(depth_multiplier: float, min_depth: int) -> Depth:
    """The depth for a depth of the paper's. ValueError for a multiplier that is not positive."""
    if depth_multiplier <= 0:
        raise ValueError("depth_multiplier is not greater than zero.")
    return lambda depth: max(int(depth * depth_multiplier), min_depth)


def fitting_size(net: Any, size: tuple[int, int]) -> list[int]:
    """`size`, or where images were smaller than the paper's what is left of them."""
    _, height, width, _ = net.get_shape().as_list()
    if height is None or width is None:
        return list(size)
    return [min(height, size[0]), min(width, size[1])]


def logits_of(net: Any, num_classes: int, scope: str, spatial_squeeze: bool, weights_initializer: Any = None) -> Any:
    """[batch, num_classes] by a convolution of single places; without `spatial_squeeze` for each place."""
    given = {} if weights_initializer is None else {"weights_initializer": weights_initializer}
    logits = conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope=scope, **given)
    return squeeze(logits, [1, 2], name="SpatialSqueeze") if spatial_squeeze else logits


def inception_arg_scope(weight_decay: float, normalized: bool, norm: dict[str, Any], collection: str) -> Any:
    """Convolutions with relu and the weights' decay; normalized: by the batch, with averages in `collection`."""
    by_name = {"beta": None, "gamma": None, "moving_mean": [collection], "moving_variance": [collection]}
    normalizer = (
        {"normalizer_fn": batch_norm, "normalizer_params": {**norm, "variables_collections": by_name}}
        if normalized
        else {"normalizer_fn": None, "normalizer_params": {}}
    )
    with (
        arg_scope([conv2d, fully_connected], weights_regularizer=l2_regularizer(weight_decay)),
        arg_scope([conv2d], weights_initializer=variance_scaling_initializer(), activation_fn=relu, **normalizer) as kept,
    ):
        return kept


NORM = {"decay": 0.9997, "epsilon": 0.001, "updates_collections": GraphKeys.UPDATE_OPS}
