"""`tf.contrib.slim.nets.vgg`: "Very Deep Convolutional Networks for Large-Scale Image Recognition" (2014)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.contributed.slim_nets.straight import Conv, Pool, straight_arg_scope, straight_net
from tfexp.ops.initializers import zeros_initializer

_DEPTHS = (64, 128, 256, 512, 512)
_HIDDEN = (Conv("fc6", 4096, 7, padding="VALID"), Conv("fc7", 4096, 1))


def vgg_arg_scope(weight_decay: float = 0.0005) -> Any:
    """Relu, biases of 0, the weights' decay. `tf.contrib.slim.nets.vgg.vgg_arg_scope`."""
    return straight_arg_scope(weight_decay, zeros_initializer())


def _vgg(name: str, counts: tuple[int, ...]) -> Callable[..., tuple[Any, dict[str, Any]]]:
    """The model with so many convolutions before each of its poolings."""
    features: list[Conv | Pool] = []
    for number, (depth, times) in enumerate(zip(_DEPTHS, counts, strict=True), 1):
        features += [Conv(f"conv{number}", depth, 3, times=times), Pool(f"pool{number}")]

    def vgg(
        inputs: Any,
        num_classes: int = 1000,
        is_training: Any = True,
        dropout_keep_prob: float = 0.5,
        spatial_squeeze: bool = True,
        scope: str | None = name,
    ) -> tuple[Any, dict[str, Any]]:
        return straight_net(
            inputs, features, _HIDDEN, num_classes, is_training, dropout_keep_prob, spatial_squeeze, scope, name
        )

    vgg.__name__ = vgg.__qualname__ = name
    vgg.__doc__ = (
        f"(logits [batch, num_classes], {{scope: outputs}}) of images [batch, 224, 224, 3]: {sum(counts) + 3} layers with "
        f"weights. `tf.contrib.slim.nets.vgg.{name}`.\n\nOf larger images there are logits for each place, which are kept "
        "without `spatial_squeeze`."
    )
    vgg.default_image_size = 224  # type: ignore[attr-defined]
    return vgg


vgg_a = _vgg("vgg_a", (1, 1, 2, 2, 2))
vgg_d = vgg_16 = _vgg("vgg_16", (2, 2, 3, 3, 3))
vgg_e = vgg_19 = _vgg("vgg_19", (2, 2, 4, 4, 4))
