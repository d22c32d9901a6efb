"""A data set of the pairs of LMDB files: LMDBDataset."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError, NotFoundError, OpError
from tfexp.formats.lmdb import read_pairs
from tfexp.ops.dataset import Dataset, DatasetIterator, Element, FromRecipe, State, define_dataset

lmdb_dataset = define_dataset(
    "LMDBDataset(filenames: string) -> (handle: variant) "
    "{output_types: list(type) >= 1; output_shapes: list(shape) >= 1} #stateful"
)


class _Pairs(DatasetIterator):
    """A file that cannot be read is tried again each time."""

    def __init__(self, names: Sequence[str]):
        self._names = names
        self._file = self._pair = 0  # number of the file, and of its next pair
        self._pairs: Iterator[tuple[bytes, bytes]] | None = None

    def next(self) -> Element | None:
        while self._file < len(self._names):
            if self._pairs is None:
                self._pairs = itertools.islice(read_pairs(self._names[self._file]), self._pair, None)
            try:
                pair = next(self._pairs, None)
            except OpError as error:
                self._pairs = None
                if isinstance(error, NotFoundError):
                    raise InvalidArgumentError(None, None, error.message) from None
                raise
            if pair is not None:
                self._pair += 1
                return [np.array(part, object) for part in pair]
            self._file, self._pair, self._pairs = self._file + 1, 0, None
        return None

    def save(self) -> State:
        return self._file, self._pair

    def restore(self, state: State) -> None:
        self._file, self._pair = state
        self._pairs = None


@lmdb_dataset.kernel("CPU")
def _(ctx: Any, filenames: Any, *, output_types: Any, output_shapes: Any) -> Dataset:
    names = [name.decode("utf-8", "surrogateescape") for name in np.ravel(filenames)]
    return FromRecipe(lambda: _Pairs(names))
