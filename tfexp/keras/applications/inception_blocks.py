"""What the Inception networks are written in: a block is branches side by side, a branch its steps in order."""

from __future__ import annotations

from typing import Any, NamedTuple

from tfexp.keras.applications.building import batch_normalized, channel_axis, layers


class Conv(NamedTuple):
    """A convolution, normalized and activated; window: one number, or rows and columns."""

    filters: int
    window: Any = 1
    strides: int = 1
    padding: str = "same"


class Fork(NamedTuple):
    """Steps beside each other, on the same input, and the name of the layer that joins what they give."""

    steps: tuple[Conv, ...]
    name: str | None = None


class MaxPool(NamedTuple):
    """The largest of windows of 3 x 3 at every second position."""


class AveragePool(NamedTuple):
    """The means of windows of 3 x 3 at each position."""


Step = Conv | Fork | MaxPool | AveragePool
Branch = tuple[Step, ...]


def shrinking(filters: int) -> Conv:
    """A convolution that halves the size."""
    return Conv(filters, 3, strides=2, padding="valid")


def convolved(x: Any, conv: Conv, name: str | None = None) -> Any:
    x = layers.Conv2D(conv.filters, conv.window, strides=conv.strides, padding=conv.padding, use_bias=False, name=name)(x)
    x = batch_normalized(x, None if name is None else f"{name}_bn", scale=False)
    return layers.Activation("relu", name=None if name is None else f"{name}_ac")(x)


def joined(parts: list[Any], name: str | None = None) -> Any:
    """The channels of all parts."""
    return layers.Concatenate(axis=channel_axis(), name=name)(parts)


def stepped(x: Any, steps: Branch) -> Any:
    """What a branch gives."""
    for step in steps:
        if isinstance(step, Conv):
            x = convolved(x, step)
        elif isinstance(step, Fork):
            x = joined([convolved(x, one) for one in step.steps], step.name)
        elif isinstance(step, MaxPool):
            x = layers.MaxPooling2D(3, strides=2)(x)
        else:
            x = layers.AveragePooling2D(3, strides=1, padding="same")(x)
    return x


def mixed(x: Any, branches: tuple[Branch, ...], name: str | None) -> Any:
    """What all branches of a block give, joined by the layer of that name."""
    return joined([stepped(x, branch) for branch in branches], name)


# Both networks begin with these.
STEM: Branch = (
    Conv(32, 3, strides=2, padding="valid"),
    Conv(32, 3, padding="valid"),
    Conv(64, 3),
    MaxPool(),
    Conv(80, 1, padding="valid"),
    Conv(192, 3, padding="valid"),
    MaxPool(),
)
