"""`tf.lite.experimental`: what can be converted. Hints, cells and delegates of 1.15 are not here."""

from typing import NamedTuple

from tfexp.core.gone import missing_from
from tfexp.lite.lowering import convertible_ops


class SupportedOp(NamedTuple):
    """An op of TensorFlow's, by its name."""

    op: str


def get_potentially_supported_ops() -> list[SupportedOp]:
    """The ops that a converter here knows; some attributes of theirs it may refuse."""
    return [SupportedOp(name) for name in convertible_ops()]


__getattr__ = missing_from("tf.lite.experimental")
