"""`tf.contrib.slim.nets.inception`: version 2, of "Batch Normalization: Accelerating Deep Network Training" (2015)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfexp.contributed.arg_scope import arg_scope
from tfexp.contributed.batch_norm import batch_norm
from tfexp.contributed.layers import conv2d, separable_conv2d
from tfexp.contributed.shaping import avg_pool2d, dropout, max_pool2d, softmax
from tfexp.contributed.slim_nets.inception_parts import (
    NORM,
    Conv,
    Depth,
    Mixed,
    Pool,
    fitting_size,
    inception_arg_scope,
    logits_of,
    run_to,
    scaled,
)
from tfexp.contributed.slim_nets.straight import trunc_normal
from tfexp.ops.variable_scope import variable_scope

_FEW = 0.09  # the deviation of weights that make few channels of many
_POOLED = 0.1


@dataclass(frozen=True)
class _First:
    """A separable convolution, which is cheap where there are three channels."""

    name: str = "Conv2d_1a_7x7"

    def __call__(self, net: Any, depth: Depth) -> Any:
        width = depth(64)
        return separable_conv2d(
            net,
            width,
            [7, 7],
            depth_multiplier=min(int(width / 3), 8),
            stride=2,
            weights_initializer=trunc_normal(1.0),
            scope=self.name,
        )


def _mixed(name: str, one: int, three: tuple[int, int], double: tuple[int, int], pool: str, pooled: int) -> Mixed:
    return Mixed(
        name,
        (
            (Conv("Conv2d_0a_1x1", one),),
            (Conv("Conv2d_0a_1x1", three[0], stddev=_FEW), Conv("Conv2d_0b_3x3", three[1])),
            (
                Conv("Conv2d_0a_1x1", double[0], stddev=_FEW),
                Conv("Conv2d_0b_3x3", double[1]),
                Conv("Conv2d_0c_3x3", double[1]),
            ),
            (Pool(pool), Conv("Conv2d_0b_1x1", pooled, stddev=_POOLED)),
        ),
    )


def _smaller(name: str, three: tuple[int, int], double: tuple[int, int]) -> Mixed:
    return Mixed(
        name,
        (
            (Conv("Conv2d_0a_1x1", three[0], stddev=_FEW), Conv("Conv2d_1a_3x3", three[1], 2)),
            (
                Conv("Conv2d_0a_1x1", double[0], stddev=_FEW),
                Conv("Conv2d_0b_3x3", double[1]),
                Conv("Conv2d_1a_3x3", double[1], 2),
            ),
            (Pool("MaxPool_1a_3x3", 2),),
        ),
    )


_MEAN, _MAX = "AvgPool_0a_3x3", "MaxPool_0a_3x3"
_STEPS = (
    _First(),
    Pool("MaxPool_2a_3x3", 2),
    Conv("Conv2d_2b_1x1", 64, stddev=0.1),
    Conv("Conv2d_2c_3x3", 192),
    Pool("MaxPool_3a_3x3", 2),
    _mixed("Mixed_3b", 64, (64, 64), (64, 96), _MEAN, 32),
    _mixed("Mixed_3c", 64, (64, 96), (64, 96), _MEAN, 64),
    _smaller("Mixed_4a", (128, 160), (64, 96)),
    _mixed("Mixed_4b", 224, (64, 96), (96, 128), _MEAN, 128),
    _mixed("Mixed_4c", 192, (96, 128), (96, 128), _MEAN, 128),
    _mixed("Mixed_4d", 160, (128, 160), (128, 160), _MEAN, 96),
    _mixed("Mixed_4e", 96, (128, 192), (160, 192), _MEAN, 96),
    _smaller("Mixed_5a", (128, 192), (192, 256)),
    _mixed("Mixed_5b", 352, (192, 320), (160, 224), _MEAN, 128),
    _mixed("Mixed_5c", 352, (192, 320), (192, 224), _MAX, 128),
)


def inception_v2_arg_scope(weight_decay: float = 4e-05, batch_norm_var_collection: str = "moving_vars") -> Any:
    """Convolutions with batch normalization and relu, the weights' decay. `slim.nets.inception`."""
    return inception_arg_scope(weight_decay, True, NORM, batch_norm_var_collection)


def inception_v2_base(
    inputs: Any,
    final_endpoint: str = "Mixed_5c",
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    scope: Any = None,
) -> tuple[Any, dict[str, Any]]:
    """(outputs of that step, {step: outputs} up to it) of images [batch, height, width, 3]. `slim.nets.inception`.

    Depths are the paper's times `depth_multiplier`, at least `min_depth`. ValueError for a name that no step has and for a
    multiplier that is not positive.
    """
    depth = scaled(depth_multiplier, min_depth)
    with (
        variable_scope(scope, "InceptionV2", [inputs]),
        arg_scope([conv2d, max_pool2d, avg_pool2d, separable_conv2d], stride=1, padding="SAME"),
    ):
        return run_to(final_endpoint, inputs, _STEPS, depth)


def inception_v2(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    prediction_fn: Any = softmax,
    spatial_squeeze: bool = True,
    reuse: Any = None,
    scope: Any = "InceptionV2",
) -> tuple[Any, dict[str, Any]]:
    """(logits [batch, num_classes], {name: outputs}, `Predictions` among them) of images [batch, 224, 224, 3].

    `slim.nets.inception.inception_v2`. Of larger images there are logits for each place, kept without `spatial_squeeze`.
    """
    with (
        variable_scope(scope, "InceptionV2", [inputs, num_classes], reuse=reuse) as opened,
        arg_scope([batch_norm, dropout], is_training=is_training),
    ):
        net, points = inception_v2_base(inputs, scope=opened, min_depth=min_depth, depth_multiplier=depth_multiplier)
        with variable_scope("Logits"):
            size = fitting_size(net, (7, 7))
            net = avg_pool2d(net, size, padding="VALID", scope=f"AvgPool_1a_{size[0]}x{size[1]}")
            net = dropout(net, dropout_keep_prob, scope="Dropout_1b")
            logits = logits_of(net, num_classes, "Conv2d_1c_1x1", spatial_squeeze)
        points["Logits"] = logits
        points["Predictions"] = prediction_fn(logits, scope="Predictions")
        return logits, points


inception_v2.default_image_size = 224  # type: ignore[attr-defined]
