"""`tf.contrib.slim.nets.overfeat`: the model of "OverFeat: Integrated Recognition, Localization and Detection" (2014)."""

from __future__ import annotations

from typing import Any

from tfexp.contributed.slim_nets.straight import Conv, Pool, straight_arg_scope, straight_net, trunc_normal
from tfexp.ops.initializers import constant_initializer, zeros_initializer

_FEATURES = (
    Conv("conv1", 64, 11, stride=4, padding="VALID"),
    Pool("pool1"),
    Conv("conv2", 256, 5, padding="VALID"),
    Pool("pool2"),
    Conv("conv3", 512, 3),
    Conv("conv4", 1024, 3),
    Conv("conv5", 1024, 3),
    Pool("pool5"),
)
_HIDDEN = (Conv("fc6", 3072, 6, padding="VALID"), Conv("fc7", 4096, 1))


def overfeat_arg_scope(weight_decay: float = 0.0005) -> Any:
    """Relu, biases of 0, the weights' decay. `tf.contrib.slim.nets.overfeat.overfeat_arg_scope`."""
    return straight_arg_scope(weight_decay, zeros_initializer())


def overfeat(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True,
    scope: str | None = "overfeat",
) -> tuple[Any, dict[str, Any]]:
    """(logits [batch, num_classes], {scope: outputs}) of images [batch, 231, 231, 3]. `slim.nets.overfeat.overfeat`.

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
        "overfeat",
        weights_initializer=trunc_normal(0.005),
        biases_initializer=constant_initializer(0.1),
    )
