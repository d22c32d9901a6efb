"""`tf.keras.utils.HDF5Matrix`: rows of a data set in an HDF5 file, read as they are asked for. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np


class HDF5Matrix:
    """Rows [start, end) of `dataset` in the file `datapath`, for `fit` in place of an array (with `shuffle='batch'`).

    normalizer: a function of rows that gives the rows to use. ImportError without h5py. Indices count from the first row.
    """

    refs: dict[str, Any] = {}  # files that are open, by path

    def __init__(
        self,
        datapath: str,
        dataset: str,
        start: int | None = 0,
        end: int | None = None,
        normalizer: Callable[[Any], Any] | None = None,
    ):
        try:
            import h5py
        except ImportError:
            raise ImportError("The use of HDF5Matrix requires HDF5 and h5py installed.") from None
        if datapath not in self.refs:
            self.refs[datapath] = h5py.File(datapath, "r")
        self.data = self.refs[datapath][dataset]
        self.start = 0 if start is None else start
        self.end = self.data.shape[0] if end is None else end
        self.normalizer = normalizer
        example = self._normalized(self.data[:1])
        self._base_shape, self._base_dtype = tuple(example.shape[1:]), example.dtype

    def __len__(self) -> int:
        return int(self.end - self.start)

    def __getitem__(self, key: Any) -> Any:
        """Rows by a slice, a number, an array or list of these. IndexError beyond the last, TypeError for anything else."""
        if isinstance(key, slice):
            first = 0 if key.start is None else key.start
            last = len(self) if key.stop is None else key.stop
            self._check(last - 1)
            return self._normalized(self.data[slice(self.start + first, self.start + last)])
        if isinstance(key, (int, np.integer)):
            self._check(int(key))
            return self._normalized(self.data[int(key) + self.start])
        if isinstance(key, (np.ndarray, Iterable)):
            places = np.asarray(list(key) if not isinstance(key, np.ndarray) else key)
            self._check(int(places.max()))
            return self._normalized(self.data[(places + self.start).tolist()])
        raise TypeError(f"HDF5Matrix takes a slice, an integer or several of them as an index, got {key!r}")

    def _check(self, last: int) -> None:
        if last >= len(self):
            raise IndexError(f"row {last} of an HDF5Matrix of {len(self)} rows")

    def _normalized(self, rows: Any) -> Any:
        return rows if self.normalizer is None else self.normalizer(rows)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape, as of an array."""
        return (len(self), *self._base_shape)

    @property
    def dtype(self) -> Any:
        """The type, as of an array."""
        return self._base_dtype

    @property
    def ndim(self) -> int:
        """The rank."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many elements it has."""
        return int(np.prod(self.shape))
