"""`tf.contrib.slim.nets.inception`: version 1, of "Going Deeper with Convolutions" (2014)."""

from __future__ import annotations

from typing import Any

from tfexp.contributed.arg_scope import arg_scope
from tfexp.contributed.batch_norm import batch_norm
from tfexp.contributed.layers import conv2d, fully_connected
from tfexp.contributed.shaping import avg_pool2d, dropout, max_pool2d, softmax
from tfexp.contributed.slim_nets.inception_parts import (
    NORM,
    Conv,
    Mixed,
    Pool,
    inception_arg_scope,
    logits_of,
    run_to,
)
from tfexp.contributed.slim_nets.straight import trunc_normal
from tfexp.ops.variable_scope import variable_scope


def _mixed(name: str, *depths: int, last_of_second: str = "Conv2d_0b_3x3") -> Mixed:
    one, few3, three, few5, five, pooled = depths
    return Mixed(
        name,
        (
            (Conv("Conv2d_0a_1x1", one),),
            (Conv("Conv2d_0a_1x1", few3), Conv("Conv2d_0b_3x3", three)),
            (Conv("Conv2d_0a_1x1", few5), Conv(last_of_second, five)),
            (Pool("MaxPool_0a_3x3"), Conv("Conv2d_0b_1x1", pooled)),
        ),
    )


_STEPS = (
    Conv("Conv2d_1a_7x7", 64, stride=2),
    Pool("MaxPool_2a_3x3", 2),
    Conv("Conv2d_2b_1x1", 64),
    Conv("Conv2d_2c_3x3", 192),
    Pool("MaxPool_3a_3x3", 2),
    _mixed("Mixed_3b", 64, 96, 128, 16, 32, 32),
    _mixed("Mixed_3c", 128, 128, 192, 32, 96, 64),
    Pool("MaxPool_4a_3x3", 2),
    _mixed("Mixed_4b", 192, 96, 208, 16, 48, 64),
    _mixed("Mixed_4c", 160, 112, 224, 24, 64, 64),
    _mixed("Mixed_4d", 128, 128, 256, 24, 64, 64),
    _mixed("Mixed_4e", 112, 144, 288, 32, 64, 64),
    _mixed("Mixed_4f", 256, 160, 320, 32, 128, 128),
    Pool("MaxPool_5a_2x2", 2),
    _mixed("Mixed_5b", 256, 160, 320, 32, 128, 128, last_of_second="Conv2d_0a_3x3"),  # so in the published checkpoints
    _mixed("Mixed_5c", 384, 192, 384, 48, 128, 128),
)


def inception_v1_arg_scope(
    weight_decay: float = 4e-05, use_batch_norm: bool = True, batch_norm_var_collection: str = "moving_vars"
) -> Any:
    """Convolutions with relu, the weights' decay and, unless told, batch normalization. `slim.nets.inception`."""
    return inception_arg_scope(weight_decay, use_batch_norm, NORM, batch_norm_var_collection)


def inception_v1_base(
    inputs: Any, final_endpoint: str = "Mixed_5c", scope: Any = "InceptionV1"
) -> tuple[Any, dict[str, Any]]:
    """(outputs of that step, {step: outputs} up to it) of images [batch, height, width, 3]. `slim.nets.inception`.

    ValueError for a name that no step has.
    """
    with (
        variable_scope(scope, "InceptionV1", [inputs]),
        arg_scope([conv2d, fully_connected], weights_initializer=trunc_normal(0.01)),
        arg_scope([conv2d, max_pool2d], stride=1, padding="SAME"),
    ):
        return run_to(final_endpoint, inputs, _STEPS)


def inception_v1(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    prediction_fn: Any = softmax,
    spatial_squeeze: bool = True,
    reuse: Any = None,
    scope: Any = "InceptionV1",
) -> tuple[Any, dict[str, Any]]:
    """(logits [batch, num_classes], {name: outputs}, `Predictions` among them) of images [batch, 224, 224, 3].

    `slim.nets.inception.inception_v1`. Of larger images there are logits for each place, kept without `spatial_squeeze`.
    """
    with (
        variable_scope(scope, "InceptionV1", [inputs, num_classes], reuse=reuse) as opened,
        arg_scope([batch_norm, dropout], is_training=is_training),
    ):
        net, points = inception_v1_base(inputs, scope=opened)
        with variable_scope("Logits"):
            net = avg_pool2d(net, [7, 7], stride=1, scope="MaxPool_0a_7x7")
            net = dropout(net, dropout_keep_prob, scope="Dropout_0b")
            logits = logits_of(net, num_classes, "Conv2d_0c_1x1", spatial_squeeze)
            points["Logits"] = logits
            points["Predictions"] = prediction_fn(logits, scope="Predictions")
        return logits, points


inception_v1.default_image_size = 224  # type: ignore[attr-defined]
