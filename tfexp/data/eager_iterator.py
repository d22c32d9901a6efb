"""Data sets iterated by Python: what `for element in dataset` does in eager execution. Source: TF 1.15."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfexp.core.errors import OutOfRangeError
from tfexp.data.iterator_saving import SavedPosition
from tfexp.data.specs import spec_structure
from tfexp.data.statistics import variant_to_run
from tfexp.data.structure import Structured, as_values
from tfexp.ops import iterator as ops

if TYPE_CHECKING:
    from tfexp.data.dataset import Dataset


class EagerIterator(Structured, SavedPosition):
    """Goes through a data set once; `get_next()` raises OutOfRangeError at its end, `next(iterator)` StopIteration."""

    def __init__(self, dataset: Dataset):
        self._element = dataset._element
        self._spec = dataset._flat_structure
        self._iterator_resource = ops.iterator_v2(container="", shared_name="", **self._spec)
        ops.make_iterator(variant_to_run(dataset), self._iterator_resource)

    @property
    def element_spec(self) -> Any:
        """The structure of the elements, a TypeSpec for each part."""
        return spec_structure(self._element)

    def __iter__(self) -> EagerIterator:
        return self

    def __next__(self) -> Any:
        try:
            return self.get_next()
        except OutOfRangeError:
            raise StopIteration from None

    next = __next__

    def get_next(self, name: str | None = None) -> Any:
        """The next element, as a structure of values."""
        values = ops.iterator_get_next(self._iterator_resource, **self._spec)
        return as_values(values, self._element)
