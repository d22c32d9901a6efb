"""`tf.contrib.slim.data_decoder`: what turns a record into items."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any


class DataDecoder(abc.ABC):
    """Tensors by the names of items, of one serialized example."""

    @abc.abstractmethod
    def decode(self, data: Any, items: Sequence[str] | None) -> list[Any]:
        """The items of those names, in their order, out of what a reader gave."""

    @abc.abstractmethod
    def list_items(self) -> list[str]:
        """The names of all items."""
