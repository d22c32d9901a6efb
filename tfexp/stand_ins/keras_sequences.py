"""`tensorflow.python.keras.utils.data_utils`: what training asks of generators. Source: TF 1.15."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from tfexp.keras.utils.data import Sequence


def is_generator_or_sequence(x: Any) -> bool:
    """Whether it is a generator or a `Sequence`; what has a length of its own, as a list, is neither."""
    return inspect.isgenerator(x) or isinstance(x, Sequence)


def iter_sequence_infinite(seq: Any) -> Iterator[Any]:
    """The items of a `Sequence`, over and over."""
    while True:
        yield from seq
