"""`tf.contrib.slim.nets.alexnet`: the model of "One weird trick for parallelizing convolutional neural networks" (2014)."""

from __future__ import annotations

from typing import Any

from tfexp.contributed.slim_nets.straight import Conv, Pool, straight_arg_scope, straight_net, trunc_normal
from tfexp.ops.initializers import constant_initializer

_FEATURES = (
    Conv("conv1", 64, 11, stride=4, padding="VALID"),
    Pool("pool1", 3),
    Conv("conv2", 192, 5),
    Pool("pool2", 3),
    Conv("conv3", 384, 3),
    Conv("conv4", 384, 3),
    Conv("conv5", 256, 3),
    Pool("pool5", 3),
)
_HIDDEN = (Conv("fc6", 4096, 5, padding="VALID"), Conv("fc7", 4096, 1))


def alexnet_v2_arg_scope(weight_decay: float = 0.0005) -> Any:
    """Relu, biases of 0.1, the weights' decay. `tf.contrib.slim.nets.alexnet.alexnet_v2_arg_scope`."""
    return straight_arg_scope(weight_decay, constant_initializer(0.1))


def alexnet_v2(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True,
    scope: str | None = "alexnet_v2",
) -> tuple[Any, dict[str, Any]]:
    """(logits [batch, num_classes], {scope: outputs}) of images [batch, 224, 224, 3]. `slim.nets.alexnet.alexnet_v2`.

    Of larger images there are logits for each place, which are kept without `spatial_squeeze`.
    """
    return straight_net(
        inputs,
        _FEATURES,
        _HIDDEN,
        num_classes,
        is_training,
        dropout_keep_prob,
        spatial_squeeze,
        scope,
        "alexnet_v2",
        weights_initializer=trunc_normal(0.005),
        biases_initializer=constant_initializer(0.1),
    )


alexnet_v2.default_image_size = 224  # type: ignore[attr-defined]
