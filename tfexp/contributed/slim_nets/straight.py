"""Models that are one row of convolutions and poolings: what AlexNet, OverFeat and VGG have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tfexp.contributed.arg_scope import arg_scope
from tfexp.contributed.layer_scope import convert_collection_to_dict
from tfexp.contributed.layers import conv2d, fully_connected
from tfexp.contributed.shaping import dropout, max_pool2d, repeat
from tfexp.layers.regularizers import l2_regularizer
from tfexp.ops.array import squeeze
from tfexp.ops.initializers import truncated_normal_initializer, zeros_initializer
from tfexp.ops.nn_activation import relu
from tfexp.ops.variable_scope import variable_scope


@dataclass(frozen=True)
class Conv:
    """A convolution, or `times` in a row below a scope of their own. padding: that of the argument scope by default."""

    name: str
    depth: int
    kernel: int
    stride: int = 1
    padding: str | None = None
    times: int | None = None

    def __call__(self, net: Any) -> Any:
        given = {} if self.padding is None else {"padding": self.padding}
        kernel = [self.kernel, self.kernel]
        if self.times is not None:
            return repeat(net, self.times, conv2d, self.depth, kernel, self.stride, scope=self.name, **given)
        return conv2d(net, self.depth, kernel, self.stride, scope=self.name, **given)


@dataclass(frozen=True)
class Pool:
    """The largest of `size` by `size`, at every second place."""

    name: str
    size: int = 2

    def __call__(self, net: Any) -> Any:
        return max_pool2d(net, [self.size, self.size], scope=self.name)


def trunc_normal(stddev: float) -> Any:
    """Normal about 0, without what is two deviations off."""
    return truncated_normal_initializer(0.0, stddev)


def straight_arg_scope(weight_decay: float, biases_initializer: Any) -> Any:
    """The scope of arguments for such a model."""
    shared = {
        "activation_fn": relu,
        "weights_regularizer": l2_regularizer(weight_decay),
        "biases_initializer": biases_initializer,
    }
    with (
        arg_scope([conv2d, fully_connected], **shared),
        arg_scope([conv2d], padding="SAME"),
        arg_scope([max_pool2d], padding="VALID") as kept,
    ):
        return kept


def straight_net(
    inputs: Any,
    features: Sequence[Conv | Pool],
    hidden: Sequence[Conv],
    num_classes: int,
    is_training: Any,
    dropout_keep_prob: float,
    spatial_squeeze: bool,
    scope: str | None,
    default_scope: str,
    **of_classifier: Any,
) -> tuple[Any, dict[str, Any]]:
    """(logits, {name: tensor}): the features, then fc6 and fc7 with dropout, and fc8, all of them convolutions.

    of_classifier: arguments of the convolutions from fc6 on.
    """
    with variable_scope(scope, default_scope, [inputs]) as opened:
        ends = f"{opened.name}_end_points"
        with arg_scope([conv2d, fully_connected, max_pool2d], outputs_collections=[ends]):
            net = inputs
            for step in features:
                net = step(net)
            with arg_scope([conv2d], **of_classifier):
                for number, layer in enumerate(hidden, 6):
                    net = dropout(layer(net), dropout_keep_prob, is_training=is_training, scope=f"dropout{number}")
                last = {"biases_initializer": zeros_initializer()} if of_classifier else {}
                net = conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="fc8", **last)
        points = convert_collection_to_dict(ends)
        if spatial_squeeze:
            net = squeeze(net, [1, 2], name="fc8/squeezed")
            points[f"{opened.name}/fc8"] = net
        return net, points
