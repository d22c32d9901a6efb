"""The entries of a dense table in the buckets that TensorFlow has for them, so that each can restore the other's.

There are 2^n buckets. A key is in the bucket of its hash's last n bits, or 1, 3, 6, 10 … buckets after it: the first that
was free. A bucket without a key has the empty key, where a search ends; one that lost its key has the deleted key, where it
does not. All keys of a call are looked for at once. Source: `tf.contrib.lookup.MutableDenseHashTable`, TF 1.15.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.ops.string_arrays import texts_of
from tfexp.ops.string_hash import hashes, murmur64

Array = np.ndarray

FEWEST_BUCKETS = 4
_GOLDEN = np.uint64(0x9E3779B97F4A7800)


class Buckets:
    """Keys of the shape of `empty` (scalars, or vectors) and their values of `value_shape`."""

    def __init__(
        self,
        count: int,
        max_load: float,
        empty: Array,
        deleted: Array | None,
        value_dtype: DType,
        value_shape: tuple[int, ...],
    ):
        self._max_load, self._empty, self._deleted = max_load, empty, deleted
        self._nothing: Array = np.full(value_shape, b"" if value_dtype is dtypes.string else 0, value_dtype.as_numpy_dtype)
        self._clear(count)

    def _clear(self, count: int) -> None:
        self._keys: Array = np.full((count, *self._empty.shape), self._empty)
        self._values: Array = np.full((count, *self._nothing.shape), self._nothing)
        self._used = 0

    def __len__(self) -> int:
        return self._used

    def find(self, keys: Array, default: Array) -> Array:
        """The values of `keys` ([n, …key]): where there is none `default`, a single value or one for each key."""
        places = self._places(keys)
        result: Array = self._values[places]
        missing = places < 0
        if missing.any():
            one = default.shape == self._nothing.shape
            result[missing] = default if one else default.reshape(result.shape)[missing]
        return result

    def insert(self, keys: Array, values: Array) -> None:
        """Set the values of `keys`; of a key that comes several times, the last."""
        self._make_room(len(keys))
        places = self._places(keys)
        new = places < 0
        places[new] = self._places_to_take(keys[new])
        self._keys[places], self._values[places] = keys, values
        self._used += len(np.unique(places[new]))

    def _make_room(self, new: int) -> None:
        count = len(self._keys)
        while self._used + new > count * self._max_load:
            count *= 2
        if count > len(self._keys):
            held = self._held()
            self._clear(count)
            self.insert(*held)

    def remove(self, keys: Array) -> None:
        places = np.unique(self._places(keys))
        places = places[places >= 0]
        self._keys[places] = self._deleted
        self._used -= len(places)

    def _held(self) -> tuple[Array, Array]:
        here = ~self._is_free(self._keys)
        return self._keys[here], self._values[here]

    def _is_free(self, keys: Array) -> Array:
        free: Array = self.is_key(keys, self._empty)
        return free if self._deleted is None else free | self.is_key(keys, self._deleted)

    def export(self) -> tuple[Array, Array]:
        """Copies of (the key of each bucket, its value)."""
        return self._keys.copy(), self._values.copy()

    def is_key(self, keys: Array, key: Array) -> Any:
        """For each of `keys`, whether it is `key`, or that one of as many."""
        same = keys == key
        return same.all(axis=-1) if self._empty.ndim else same

    def _places(self, keys: Array) -> Array:
        """The bucket of each key, -1 for those that are not there."""
        last = len(self._keys) - 1
        result = np.full(len(keys), -1)
        going, places = np.arange(len(keys)), self._first_places(keys)
        for step in range(1, last + 2):
            there = self._keys[places]
            found = self.is_key(there, keys[going])
            result[going[found]] = places[found]
            goes_on = ~(found | self.is_key(there, self._empty))
            going, places = going[goes_on], (places[goes_on] + step) & last
            if not len(going):
                break
        return result

    def _places_to_take(self, keys: Array) -> Array:
        """Where keys that are not there go, as if one was put after the other; the same key twice goes to one bucket."""
        last = len(self._keys) - 1
        order, steps = np.arange(len(keys)), np.zeros(len(keys), np.int64)
        places = self._first_places(keys)
        first = np.empty(last + 1, np.int64)
        while True:
            # A bucket goes to the first of those that are at it, which takes it from a later one that had it till now.
            first[places[::-1]] = order[::-1]
            there = first[places]
            # A NaN is no other NaN's key, nor its own.
            has = (there == order) | self.is_key(keys[there], keys)
            on = ~(self._is_free(self._keys[places]) & has)
            if not on.any():
                return places
            steps[on] += 1
            places[on] = (places[on] + steps[on]) & last

    def _first_places(self, keys: Array) -> Array:
        return (self._hashes(keys) & np.uint64(len(self._keys) - 1)).astype(np.int64)

    def _hashes(self, keys: Array) -> Array:
        if self._keys.dtype == object:
            parts: Array = hashes(texts_of(keys), murmur64).reshape(keys.shape)
        else:
            parts = keys.astype(np.int64).view(np.uint64)
        if not self._empty.ndim:
            return parts
        if len(self._empty) == 1:
            return parts.ravel()
        result: Array = np.zeros(len(parts), np.uint64)
        for part in parts.T:  # the numbers of one key, not the keys
            result ^= part + _GOLDEN + (result << np.uint64(10)) + (result >> np.uint64(4))
        return result
