"""`tf.contrib.slim.data_provider`: items by their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class DataProvider:
    """Gives the tensors of items. `num_samples` is the number of examples that there are, or None."""

    def __init__(self, items_to_tensors: Mapping[str, Any], num_samples: int | None):
        self._items_to_tensors, self._num_samples = items_to_tensors, num_samples

    def get(self, items: Sequence[str]) -> list[Any]:
        """The tensors of these items. ValueError for one that there is not."""
        self._validate_items(items)
        return [self._items_to_tensors[item] for item in items]

    def list_items(self) -> list[str]:
        return list(self._items_to_tensors)

    def num_samples(self) -> int | None:
        return self._num_samples

    def _validate_items(self, items: Sequence[str]) -> None:
        if not isinstance(items, list | tuple):
            raise ValueError("items must be a list or tuple")
        for item in items:
            if item not in self._items_to_tensors:
                raise ValueError(f"Item [{item}] is invalid: the provider has {', '.join(self._items_to_tensors)}")
