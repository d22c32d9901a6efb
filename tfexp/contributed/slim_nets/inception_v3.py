"""`tf.contrib.slim.nets.inception`: version 3, of "Rethinking the Inception Architecture for Computer Vision" (2015)."""

from __future__ import annotations

from typing import Any

from tfexp.contributed.arg_scope import arg_scope
from tfexp.contributed.batch_norm import batch_norm
from tfexp.contributed.layers import conv2d
from tfexp.contributed.shaping import avg_pool2d, dropout, max_pool2d, softmax
from tfexp.contributed.slim_nets.inception_parts import (
    Conv,
    Fork,
    Mixed,
    Pool,
    fitting_size,
    inception_arg_scope,
    logits_of,
    run_to,
    scaled,
)
from tfexp.contributed.slim_nets.straight import trunc_normal
from tfexp.graph.collections import GraphKeys
from tfexp.ops.variable_scope import variable_scope

_POOL = Pool("AvgPool_0a_3x3")
_3x3 = (3, 3)


def _mixed_5(name: str, pooled: int, five: tuple[str, str] = ("Conv2d_0a_1x1", "Conv2d_0b_5x5")) -> Mixed:
    return Mixed(
        name,
        (
            (Conv("Conv2d_0a_1x1", 64),),
            (Conv(five[0], 48), Conv(five[1], 64)),
            (Conv("Conv2d_0a_1x1", 64), Conv("Conv2d_0b_3x3", 96), Conv("Conv2d_0c_3x3", 96)),
            (_POOL, Conv("Conv2d_0b_1x1", pooled)),
        ),
    )


def _mixed_6(name: str, few: int) -> Mixed:
    return Mixed(
        name,
        (
            (Conv("Conv2d_0a_1x1", 192),),
            (Conv("Conv2d_0a_1x1", few), Conv("Conv2d_0b_1x7", few), Conv("Conv2d_0c_7x1", 192)),
            (
                Conv("Conv2d_0a_1x1", few),
                Conv("Conv2d_0b_7x1", few),
                Conv("Conv2d_0c_1x7", few),
                Conv("Conv2d_0d_7x1", few),
                Conv("Conv2d_0e_1x7", 192),
            ),
            (_POOL, Conv("Conv2d_0b_1x1", 192)),
        ),
    )


def _mixed_7(name: str, down: str) -> Mixed:
    return Mixed(
        name,
        (
            (Conv("Conv2d_0a_1x1", 320),),
            (Conv("Conv2d_0a_1x1", 384), Fork((Conv("Conv2d_0b_1x3", 384), Conv(down, 384)))),
            (
                Conv("Conv2d_0a_1x1", 448),
                Conv("Conv2d_0b_3x3", 384),
                Fork((Conv("Conv2d_0c_1x3", 384), Conv("Conv2d_0d_3x1", 384))),
            ),
            (_POOL, Conv("Conv2d_0b_1x1", 192)),
        ),
    )


# Some names do not tell the size, or are out of order: so they are in the published checkpoints.
_STEPS = (
    Conv("Conv2d_1a_3x3", 32, 2, "VALID"),
    Conv("Conv2d_2a_3x3", 32, 1, "VALID"),
    Conv("Conv2d_2b_3x3", 64),
    Pool("MaxPool_3a_3x3", 2, "VALID"),
    Conv("Conv2d_3b_1x1", 80, 1, "VALID"),
    Conv("Conv2d_4a_3x3", 192, 1, "VALID"),
    Pool("MaxPool_5a_3x3", 2, "VALID"),
    _mixed_5("Mixed_5b", 32),
    _mixed_5("Mixed_5c", 64, ("Conv2d_0b_1x1", "Conv_1_0c_5x5")),
    _mixed_5("Mixed_5d", 64),
    Mixed(
        "Mixed_6a",
        (
            (Conv("Conv2d_1a_1x1", 384, 2, "VALID", size=_3x3),),
            (
                Conv("Conv2d_0a_1x1", 64),
                Conv("Conv2d_0b_3x3", 96),
                Conv("Conv2d_1a_1x1", 96, 2, "VALID", size=_3x3),
            ),
            (Pool("MaxPool_1a_3x3", 2, "VALID"),),
        ),
    ),
    _mixed_6("Mixed_6b", 128),
    _mixed_6("Mixed_6c", 160),
    _mixed_6("Mixed_6d", 160),
    _mixed_6("Mixed_6e", 192),
    Mixed(
        "Mixed_7a",
        (
            (Conv("Conv2d_0a_1x1", 192), Conv("Conv2d_1a_3x3", 320, 2, "VALID")),
            (
                Conv("Conv2d_0a_1x1", 192),
                Conv("Conv2d_0b_1x7", 192),
                Conv("Conv2d_0c_7x1", 192),
                Conv("Conv2d_1a_3x3", 192, 2, "VALID"),
            ),
            (Pool("MaxPool_1a_3x3", 2, "VALID"),),
        ),
    ),
    _mixed_7("Mixed_7b", "Conv2d_0b_3x1"),
    _mixed_7("Mixed_7c", "Conv2d_0c_3x1"),
)


def inception_v3_arg_scope(
    weight_decay: float = 4e-05,
    batch_norm_var_collection: str = "moving_vars",
    batch_norm_decay: float = 0.9997,
    batch_norm_epsilon: float = 0.001,
    updates_collections: Any = GraphKeys.UPDATE_OPS,
    use_fused_batchnorm: bool = True,
) -> Any:
    """Convolutions with batch normalization and relu, the weights' decay. `slim.nets.inception`."""
    norm = {
        "decay": batch_norm_decay,
        "epsilon": batch_norm_epsilon,
        "updates_collections": updates_collections,
        "fused": use_fused_batchnorm,
    }
    return inception_arg_scope(weight_decay, True, norm, batch_norm_var_collection)


def inception_v3_base(
    inputs: Any,
    final_endpoint: str = "Mixed_7c",
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    scope: Any = None,
) -> tuple[Any, dict[str, Any]]:
    """(outputs of that step, {step: outputs} up to it) of images [batch, height, width, 3]. `slim.nets.inception`.

    Depths are the paper's times `depth_multiplier`, at least `min_depth`. ValueError for a name that no step has and for a
    multiplier that is not positive.
    """
    depth = scaled(depth_multiplier, min_depth)
    with variable_scope(scope, "InceptionV3", [inputs]):
        return run_to(final_endpoint, inputs, _STEPS, depth)


def inception_v3(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    prediction_fn: Any = softmax,
    spatial_squeeze: bool = True,
    reuse: Any = None,
    scope: Any = "InceptionV3",
) -> tuple[Any, dict[str, Any]]:
    """(logits [batch, num_classes], {name: outputs}) of images [batch, 299, 299, 3]. `slim.nets.inception.inception_v3`.

    Among the outputs are `Predictions` and `AuxLogits`, the logits of a classifier halfway. Of larger images there are
    logits for each place, kept without `spatial_squeeze`.
    """
    depth = scaled(depth_multiplier, min_depth)
    with (
        variable_scope(scope, "InceptionV3", [inputs, num_classes], reuse=reuse) as opened,
        arg_scope([batch_norm, dropout], is_training=is_training),
    ):
        net, points = inception_v3_base(inputs, scope=opened, min_depth=min_depth, depth_multiplier=depth_multiplier)
        with arg_scope([conv2d, max_pool2d, avg_pool2d], stride=1, padding="SAME"), variable_scope("AuxLogits"):
            aux = avg_pool2d(points["Mixed_6e"], [5, 5], stride=3, padding="VALID", scope="AvgPool_1a_5x5")
            aux = conv2d(aux, depth(128), [1, 1], scope="Conv2d_1b_1x1")
            size = fitting_size(aux, (5, 5))
            aux = conv2d(
                aux,
                depth(768),
                size,
                weights_initializer=trunc_normal(0.01),
                padding="VALID",
                scope=f"Conv2d_2a_{size[0]}x{size[1]}",
            )
            points["AuxLogits"] = logits_of(aux, num_classes, "Conv2d_2b_1x1", spatial_squeeze, trunc_normal(0.001))
        with variable_scope("Logits"):
            size = fitting_size(net, (8, 8))
            net = avg_pool2d(net, size, padding="VALID", scope=f"AvgPool_1a_{size[0]}x{size[1]}")
            net = dropout(net, dropout_keep_prob, scope="Dropout_1b")
            points["PreLogits"] = net
            logits = logits_of(net, num_classes, "Conv2d_1c_1x1", spatial_squeeze)
        points["Logits"] = logits
        points["Predictions"] = prediction_fn(logits, scope="Predictions")
        return logits, points


inception_v3.default_image_size = 299  # type: ignore[attr-defined]
