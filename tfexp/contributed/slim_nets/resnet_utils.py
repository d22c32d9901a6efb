"""What the residual models of `tf.contrib.slim.nets` are built from: blocks of units. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tfexp.contributed.arg_scope import add_arg_scope, arg_scope
from tfexp.contributed.batch_norm import batch_norm
from tfexp.contributed.layer_scope import collected, convert_collection_to_dict
from tfexp.contributed.layers import conv2d
from tfexp.contributed.shaping import max_pool2d, softmax
from tfexp.graph.collections import GraphKeys
from tfexp.layers.regularizers import l2_regularizer, variance_scaling_initializer
from tfexp.ops.array_pad import pad
from tfexp.ops.nn_activation import relu
from tfexp.ops.reduce import reduce_mean
from tfexp.ops.variable_scope import variable_scope


class Block(NamedTuple):
    """`unit_fn(net, rate=…, **arguments)` for each of `args`, below a scope."""

    scope: str
    unit_fn: Callable[..., Any]
    args: Sequence[dict[str, Any]]


def subsample(inputs: Any, factor: int, scope: str | None = None) -> Any:
    """Every `factor`-th row and column."""
    return inputs if factor == 1 else max_pool2d(inputs, [1, 1], stride=factor, scope=scope)


def conv2d_same(
    inputs: Any, num_outputs: int, kernel_size: int, stride: int, rate: int = 1, scope: str | None = None
) -> Any:
    """A convolution padded alike for every size: with a stride it gives what every `stride`-th place has without."""
    if stride == 1:
        return conv2d(inputs, num_outputs, kernel_size, stride=1, rate=rate, padding="SAME", scope=scope)
    missing = (kernel_size - 1) * rate
    around = [missing // 2, missing - missing // 2]
    return conv2d(
        pad(inputs, [[0, 0], around, around, [0, 0]]),
        num_outputs,
        kernel_size,
        stride=stride,
        rate=rate,
        padding="VALID",
        scope=scope,
    )


@add_arg_scope
def stack_blocks_dense(
    net: Any, blocks: Sequence[Block], output_stride: int | None = None, outputs_collections: Any = None
) -> Any:
    """The blocks in a row. Once `output_stride` is reached, further strides become dilations of what comes after.

    ValueError when the strides do not multiply to it.
    """
    stride = rate = 1
    for block in blocks:
        with variable_scope(block.scope, "block", [net]) as opened:
            for number, unit in enumerate(block.args, 1):
                if output_stride is not None and stride > output_stride:
                    raise ValueError("The target output_stride cannot be reached.")
                own = unit.get("stride", 1)
                with variable_scope(f"unit_{number}", values=[net]):
                    if output_stride is not None and stride == output_stride:
                        net = block.unit_fn(net, rate=rate, **{**unit, "stride": 1})
                        rate *= own
                    else:
                        net = block.unit_fn(net, rate=1, **unit)
                        stride *= own
            net = collected(outputs_collections, opened.name, net)
    if output_stride is not None and stride != output_stride:
        raise ValueError("The target output_stride cannot be reached.")
    return net


def resnet_arg_scope(
    weight_decay: float = 0.0001,
    batch_norm_decay: float = 0.997,
    batch_norm_epsilon: float = 1e-05,
    batch_norm_scale: bool = True,
) -> Any:
    """Convolutions with batch normalization and relu, the weights' decay. `resnet_utils.resnet_arg_scope`."""
    norm = {
        "decay": batch_norm_decay,
        "epsilon": batch_norm_epsilon,
        "scale": batch_norm_scale,
        "updates_collections": GraphKeys.UPDATE_OPS,
    }
    with (
        arg_scope(
            [conv2d],
            weights_regularizer=l2_regularizer(weight_decay),
            weights_initializer=variance_scaling_initializer(),
            activation_fn=relu,
            normalizer_fn=batch_norm,
            normalizer_params=norm,
        ),
        arg_scope([batch_norm], **norm),
        arg_scope([max_pool2d], padding="SAME") as kept,
    ):
        return kept


def bottleneck_block(unit_fn: Callable[..., Any], scope: str, base_depth: int, num_units: int, stride: int) -> Block:
    """Units of four times the depth, the last with the stride."""
    unit = {"depth": base_depth * 4, "depth_bottleneck": base_depth}
    return Block(scope, unit_fn, [{**unit, "stride": 1}] * (num_units - 1) + [{**unit, "stride": stride}])


def residual_net(
    inputs: Any,
    blocks: Sequence[Block],
    bottleneck: Callable[..., Any],
    default_scope: str,
    num_classes: int | None,
    is_training: Any,
    global_pool: bool,
    output_stride: int | None,
    include_root_block: bool,
    reuse: Any,
    scope: str | None,
    activated_first: bool,
) -> tuple[Any, dict[str, Any]]:
    """The model of these blocks; activated_first: it is normalised before convolutions rather than after (version 2)."""
    with variable_scope(scope, default_scope, [inputs], reuse=reuse) as opened:
        ends = f"{opened.name}_end_points"
        with (
            arg_scope([conv2d, bottleneck, stack_blocks_dense], outputs_collections=ends),
            arg_scope([batch_norm], is_training=is_training),
        ):
            net = inputs
            if include_root_block:
                if output_stride is not None:
                    if output_stride % 4:
                        raise ValueError("The output_stride needs to be a multiple of 4.")
                    output_stride //= 4
                with arg_scope([conv2d], **({"activation_fn": None, "normalizer_fn": None} if activated_first else {})):
                    net = conv2d_same(net, 64, 7, stride=2, scope="conv1")
                net = max_pool2d(net, [3, 3], stride=2, scope="pool1")
            net = stack_blocks_dense(net, blocks, output_stride)
            if activated_first:
                net = batch_norm(net, activation_fn=relu, scope="postnorm")
            if global_pool:
                net = reduce_mean(net, [1, 2], name="pool5", keepdims=True)
            if num_classes is not None:
                net = conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="logits")
            points = convert_collection_to_dict(ends)
            if num_classes is not None:
                points["predictions"] = softmax(net, scope="predictions")
            return net, points


def residual_models(
    block: Callable[..., Block], model: Callable[..., tuple[Any, dict[str, Any]]], prefix: str
) -> list[Callable[..., tuple[Any, dict[str, Any]]]]:
    """The models of 50, 101, 152 and 200 layers of Deep Residual Learning's table 1, and of its successor."""
    return [_of_depth(block, model, f"{prefix}_{depth}", units) for depth, units in _UNITS.items()]


_UNITS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3), 200: (3, 24, 36, 3)}
_STRIDES = (2, 2, 2, 1)


def _of_depth(
    block: Callable[..., Block], model: Callable[..., tuple[Any, dict[str, Any]]], name: str, units: tuple[int, ...]
) -> Callable[..., tuple[Any, dict[str, Any]]]:
    def resnet(
        inputs: Any,
        num_classes: int | None = None,
        is_training: Any = True,
        global_pool: bool = True,
        output_stride: int | None = None,
        reuse: Any = None,
        scope: str | None = name,
    ) -> tuple[Any, dict[str, Any]]:
        blocks = [
            block(f"block{i + 1}", 64 * 2**i, count, stride)
            for i, (count, stride) in enumerate(zip(units, _STRIDES, strict=True))
        ]
        return model(inputs, blocks, num_classes, is_training, global_pool, output_stride, True, reuse, scope)

    resnet.__name__ = resnet.__qualname__ = name
    resnet.__doc__ = (
        f"The model with {units} units in its blocks. `tf.contrib.slim.nets.{name.rpartition('_')[0]}.{name}`.\n\n"
        "(outputs, {scope: outputs}): logits [batch, height, width, num_classes], or without `num_classes` features, "
        "of height and width 1 with `global_pool`. output_stride: how much smaller than the images these are without it."
    )
    resnet.default_image_size = 224  # type: ignore[attr-defined]
    return resnet
