"""`tf.contrib.slim.nets.resnet_v2`: the models of "Identity Mappings in Deep Residual Networks" (2016)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.contributed.arg_scope import add_arg_scope
from tfexp.contributed.batch_norm import batch_norm
from tfexp.contributed.layer_scope import collected
from tfexp.contributed.layers import conv2d
from tfexp.contributed.slim_nets.resnet_utils import (
    Block,
    bottleneck_block,
    conv2d_same,
    residual_models,
    residual_net,
    subsample,
)
from tfexp.graph.convert import convert_to_tensor
from tfexp.ops.nn_activation import relu
from tfexp.ops.variable_scope import variable_scope


@add_arg_scope
def bottleneck(
    inputs: Any,
    depth: int,
    depth_bottleneck: int,
    stride: int,
    rate: int = 1,
    outputs_collections: Any = None,
    scope: str | None = None,
) -> Any:
    """Shortcut + three convolutions, normalised before each. `tf.contrib.slim.nets.resnet_v2.bottleneck`."""
    plain = {"normalizer_fn": None, "activation_fn": None}
    with variable_scope(scope, "bottleneck_v2", [inputs]) as opened:
        inputs = convert_to_tensor(inputs)
        ready = batch_norm(inputs, activation_fn=relu, scope="preact")
        if depth == inputs.get_shape()[-1].value:
            shortcut = subsample(inputs, stride, "shortcut")
        else:
            shortcut = conv2d(ready, depth, [1, 1], stride=stride, scope="shortcut", **plain)
        residual = conv2d(ready, depth_bottleneck, [1, 1], stride=1, scope="conv1")
        residual = conv2d_same(residual, depth_bottleneck, 3, stride, rate=rate, scope="conv2")
        residual = conv2d(residual, depth, [1, 1], stride=1, scope="conv3", **plain)
        return collected(outputs_collections, opened.name, shortcut + residual)


def resnet_v2(
    inputs: Any,
    blocks: Sequence[Block],
    num_classes: int | None = None,
    is_training: Any = True,
    global_pool: bool = True,
    output_stride: int | None = None,
    include_root_block: bool = True,
    reuse: Any = None,
    scope: str | None = None,
) -> tuple[Any, dict[str, Any]]:
    """(outputs, {scope: outputs}) of a model of these blocks. `tf.contrib.slim.nets.resnet_v2.resnet_v2`.

    inputs: [batch, height, width, channels]. global_pool: outputs are means over height and width, which are 1 then.
    num_classes: outputs are logits; None: features. output_stride: how much smaller height and width become without pooling:
    what would make them smaller still becomes dilation. ValueError for one that the strides do not reach.
    include_root_block: a convolution and a pooling come first, which make height and width a quarter.
    """
    return residual_net(
        inputs,
        blocks,
        bottleneck,
        "resnet_v2",
        num_classes,
        is_training,
        global_pool,
        output_stride,
        include_root_block,
        reuse,
        scope,
        activated_first=True,
    )


resnet_v2.default_image_size = 224  # type: ignore[attr-defined]


def resnet_v2_block(scope: str, base_depth: int, num_units: int, stride: int) -> Block:
    """A block of `num_units`, the last with the stride. `tf.contrib.slim.nets.resnet_v2.resnet_v2_block`."""
    return bottleneck_block(bottleneck, scope, base_depth, num_units, stride)


resnet_v2_50, resnet_v2_101, resnet_v2_152, resnet_v2_200 = residual_models(resnet_v2_block, resnet_v2, "resnet_v2")
