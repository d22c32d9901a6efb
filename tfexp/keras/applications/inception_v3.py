"""Inception v3: https://arxiv.org/abs/1512.00567. `tf.keras.applications.inception_v3`."""

from __future__ import annotations

from typing import Any

from tfexp.keras.applications.building import application, plain, weight_files
from tfexp.keras.applications.imagenet_utils import preprocessing
from tfexp.keras.applications.inception_blocks import (
    STEM,
    AveragePool,
    Branch,
    Conv,
    Fork,
    MaxPool,
    mixed,
    shrinking,
    stepped,
)

_FILES = weight_files("inception_v3", "inception_v3", "9a0d58056eeedaa3f26cb7ebd46da564", "bcbd6486424b2319ff4ef7d526e38f63")

preprocess_input = preprocessing("tf")


def _square(pooled: int) -> tuple[Branch, ...]:
    """Windows of 5 x 5, and of 3 x 3 twice."""
    return (
        (Conv(64),),
        (Conv(48), Conv(64, 5)),
        (Conv(64), Conv(96, 3), Conv(96, 3)),
        (AveragePool(), Conv(pooled)),
    )


def _factored(filters: int) -> tuple[Branch, ...]:
    """Windows of 7 x 7, as columns of 7 and rows of 7."""
    row, column = Conv(filters, (1, 7)), Conv(filters, (7, 1))
    return (
        (Conv(192),),
        (Conv(filters), row, Conv(192, (7, 1))),
        (Conv(filters), column, row, column, Conv(192, (1, 7))),
        (AveragePool(), Conv(192)),
    )


def _wide(name: str) -> tuple[Branch, ...]:
    """Rows and columns of 3 beside each other."""
    beside = (Conv(384, (1, 3)), Conv(384, (3, 1)))
    return (
        (Conv(320),),
        (Conv(384), Fork(beside, name)),
        (Conv(448), Conv(384, 3), Fork(beside)),
        (AveragePool(), Conv(192)),
    )


_BLOCKS: tuple[tuple[Branch, ...], ...] = (
    _square(32),
    _square(64),
    _square(64),
    ((shrinking(384),), (Conv(64), Conv(96, 3), shrinking(96)), (MaxPool(),)),
    _factored(128),
    _factored(160),
    _factored(160),
    _factored(192),
    (
        (Conv(192), shrinking(320)),
        (Conv(192), Conv(192, (1, 7)), Conv(192, (7, 1)), shrinking(192)),
        (MaxPool(),),
    ),
    _wide("mixed9_0"),
    _wide("mixed9_1"),
)


def _features(x: Any) -> Any:
    x = stepped(x, STEM)
    for index, branches in enumerate(_BLOCKS):
        x = mixed(x, branches, f"mixed{index}")
    return x


InceptionV3 = plain(
    "InceptionV3",
    "11 blocks of branches, for images of 299 x 299.",
    lambda choices: application("inception_v3", choices, _features, _FILES, size=299, smallest=75),
)
