"""Lookup tables as steps and sessions share them: keys, each with a slot, and the values in these slots.

Numbers are found by binary search among the sorted ones (integers that are nearly all there: directly), strings and rows
of a key matrix in a dict; all keys of a call at once. Source: `tf.lookup`, `tf.contrib.lookup`, TF 1.15.
"""

from __future__ import annotations

import itertools
import math
import threading
from collections import deque
from collections.abc import Iterable
from typing import Any

import numpy as np

from tfexp.core.dtypes import DType
from tfexp.core.errors import FailedPreconditionError, InvalidArgumentError, UnimplementedError
from tfexp.core.shape import dims_text
from tfexp.ops.lookup_buckets import FEWEST_BUCKETS, Buckets

Array = np.ndarray
Shape = tuple[int, ...]

# How many times as many integers as keys there may be from the least to the greatest for a slot for each of them.
_SPARSEST = 8


class _SortedNumbers:
    """Keys that have an order."""

    def __init__(self, dtype: Any):
        self._keys = np.empty(0, dtype)
        self._slots = np.empty(0, np.int64)
        # The slot of each integer from the least key to the greatest: made when it is first asked for, while keys stay.
        self._direct: Array | None = None

    def __len__(self) -> int:
        return len(self._keys)

    def find(self, keys: Array) -> Array:
        """The slot of each key, -1 for those that are not there."""
        if not len(self._keys):
            return np.full(len(keys), -1)
        if self._is_dense():
            return self._find_directly(keys)
        places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[places] == keys, self._slots[places], -1)

    def _is_dense(self) -> bool:
        """Whether keys are integers of which not many are missing, as ids mostly are: then none needs to be searched for."""
        return self._keys.dtype.kind in "iu" and int(self._keys[-1]) - int(self._keys[0]) <= _SPARSEST * len(self._keys)

    def _find_directly(self, keys: Array) -> Array:
        low, high = self._keys[0], self._keys[-1]
        if self._direct is None:
            self._direct = np.full(int(high) - int(low) + 1, -1, np.int64)
            self._direct[self._keys - low] = self._slots
        inside = (keys >= low) & (keys <= high)
        if inside.all():
            return self._direct[keys - low]
        found: Array = np.where(inside, self._direct[np.where(inside, keys, low) - low], -1)
        return found

    def new(self, keys: Array) -> Array:
        """Those of the keys that are not there, each once."""
        return np.unique(keys[self.find(keys) < 0])

    def add(self, keys: Array, slots: Array) -> None:
        everything = np.concatenate([self._keys, keys])
        order = np.argsort(everything, kind="stable")
        self._keys, self._slots = everything[order], np.concatenate([self._slots, slots])[order]
        self._direct = None

    def remove(self, keys: Array) -> None:
        gone = np.isin(self._keys, keys)
        self._keys, self._slots = self._keys[~gone], self._slots[~gone]
        self._direct = None

    def slots(self) -> Array:
        return self._slots


class _Hashed:
    """Keys that Python hashes: strings, and rows (as their bytes, or as tuples of strings)."""

    def __init__(self) -> None:
        self._slots: dict[Any, int] = {}

    def __len__(self) -> int:
        return len(self._slots)

    def find(self, keys: Array) -> Array:
        found = map(self._slots.get, _hashable(keys), itertools.repeat(-1))
        return np.fromiter(found, np.int64, len(keys))

    def new(self, keys: Array) -> Array:
        missing = keys[self.find(keys) < 0]
        numbers = dict(zip(_hashable(missing), range(len(missing))))
        return missing[np.fromiter(numbers.values(), np.int64, len(numbers))]

    def add(self, keys: Array, slots: Array) -> None:
        self._slots.update(zip(_hashable(keys), slots.tolist()))

    def remove(self, keys: Array) -> None:
        # A deque of no length runs through the map and keeps nothing.
        deque(map(self._slots.pop, _hashable(keys), itertools.repeat(None)), maxlen=0)

    def slots(self) -> Array:
        return np.fromiter(self._slots.values(), np.int64, len(self._slots))


def _hashable(keys: Array) -> Iterable[Any]:
    if keys.ndim == 1:
        return keys.tolist()  # type: ignore[no-any-return]
    if keys.dtype == object:
        return map(tuple, keys.tolist())
    rows = np.ascontiguousarray(keys)
    return rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel().tolist()  # type: ignore[no-any-return]


class Entries:
    """Keys of `key_shape` (empty or [n]) and their values of `value_shape`."""

    def __init__(self, key_dtype: DType, value_dtype: DType, key_shape: Shape = (), value_shape: Shape = ()):
        self.key_shape, self.value_shape = key_shape, value_shape
        key_type = key_dtype.as_numpy_dtype
        self._index: Any = _Hashed() if key_shape or np.dtype(key_type) == object else _SortedNumbers(key_type)
        # There is always a slot more than needed: what is not found reads the last one before it gets its default.
        self._keys: Array = np.zeros((1, *key_shape), key_type)
        self._values: Array = np.zeros((1, *value_shape), value_dtype.as_numpy_dtype)
        self._free = np.empty(0, np.int64)

    def __len__(self) -> int:
        return len(self._index)

    def find(self, keys: Array, default: Array) -> Array:
        """The values of `keys` ([n, …key]): where there is none `default`, a single value or one for each key."""
        slots = self._index.find(keys)
        result: Array = self._values[slots]
        missing = slots < 0
        if missing.any():
            one = default.shape == self.value_shape
            result[missing] = default if one else default.reshape(result.shape)[missing]
        return result

    def insert(self, keys: Array, values: Array) -> None:
        """Set the values of `keys`; of a key that comes several times, the last."""
        new = self._index.new(keys)
        if len(new):
            self._index.add(new, self._take_slots(len(new)))
        slots = self._index.find(keys)
        self._keys[slots] = keys
        self._values[slots] = values

    def _take_slots(self, count: int) -> Array:
        if count > len(self._free):
            size = len(self._values)
            longer = max(2 * size, size + count)
            self._free = np.append(self._free, np.arange(size - 1, longer - 1))
            self._keys = np.resize(self._keys, (longer, *self.key_shape))
            self._values = np.resize(self._values, (longer, *self.value_shape))
        taken, self._free = self._free[:count], self._free[count:]
        return taken

    def remove(self, keys: Array) -> None:
        slots = self._index.find(keys)
        self._free = np.append(self._free, np.unique(slots[slots >= 0]))
        self._index.remove(keys)

    def export(self) -> tuple[Array, Array]:
        """Copies of (the keys, their values), in one order."""
        slots = self._index.slots()
        return self._keys[slots], self._values[slots]


class Table:
    """What all tables have; subclasses say who may change them, and how. `name` is for people."""

    def __init__(self, name: str, key_dtype: DType, value_dtype: DType, key_shape: Shape = (), value_shape: Shape = ()):
        self.name = name
        self.key_dtype, self.value_dtype = key_dtype, value_dtype
        self.key_shape, self.value_shape = key_shape, value_shape
        self._lock = threading.Lock()
        self._entries: Any = self._none()

    def _none(self) -> Any:
        return Entries(self.key_dtype, self.value_dtype, self.key_shape, self.value_shape)

    def check_same(self, key_dtype: DType, value_dtype: DType) -> None:
        """InvalidArgumentError unless the table, which was there before, has these types."""
        if (self.key_dtype, self.value_dtype) != (key_dtype, value_dtype):
            raise InvalidArgumentError(
                None,
                None,
                f"Conflicting key/value dtypes {key_dtype.name}->{value_dtype.name} with "
                f"{self.key_dtype.name}-{self.value_dtype.name} for table {self.name}",
            )

    def size(self) -> int:
        return len(self._entries)

    def find(self, keys: Array, default: Array) -> Array:
        """Values of shape [keys' dimensions, value's]. InvalidArgumentError for keys or a default of a wrong shape."""
        outer = self._outer(keys)
        full = (*outer, *self.value_shape)
        if default.shape not in (self.value_shape, full):
            raise InvalidArgumentError(
                None,
                None,
                f"Expected shape {dims_text(self.value_shape)} or {dims_text(full)} for default value, got "
                f"{dims_text(default.shape)}",
            )
        flat = self._flat(keys, outer)
        with self._lock:
            return self._entries.find(flat, default).reshape(full)

    def insert(self, keys: Array, values: Array) -> None:
        raise UnimplementedError(None, None, "Insert not supported by InitializableLookupTable implementations")

    def remove(self, keys: Array) -> None:
        raise UnimplementedError(None, None, "Remove not supported by InitializableLookupTable implementations")

    def replace(self, keys: Array, values: Array) -> None:
        """Have these entries and no others."""
        raise NotImplementedError

    def initialize(self, keys: Array, values: Array) -> None:
        raise InvalidArgumentError(None, None, f"Table {self.name} cannot be initialized: it is a mutable table")

    def export(self) -> tuple[Array, Array]:
        with self._lock:
            return self._entries.export()

    def _outer(self, keys: Array) -> Shape:
        """The dimensions of `keys` before those of one key."""
        rank = len(self.key_shape)
        if keys.ndim < rank or keys.shape[keys.ndim - rank :] != self.key_shape:
            raise InvalidArgumentError(
                None,
                None,
                f"Input key shape {dims_text(keys.shape)} must end with the table's key shape {dims_text(self.key_shape)}",
            )
        return keys.shape[: keys.ndim - rank]

    def _flat(self, keys: Array, outer: Shape) -> Array:
        return keys.reshape(int(np.prod(outer, dtype=np.int64)), *self.key_shape)

    def _pairs(self, keys: Array, values: Array) -> tuple[Array, Array]:
        """Both with one dimension for the entries. InvalidArgumentError when they do not belong together."""
        outer = self._outer(keys)
        full = (*outer, *self.value_shape)
        if values.shape != full:
            text = f"Expected shape {dims_text(full)} for value, got {dims_text(values.shape)}"
            raise InvalidArgumentError(None, None, text)
        flat = self._flat(keys, outer)
        return flat, values.reshape(len(flat), *self.value_shape)


class StaticTable(Table):
    """Filled once; until then nothing can be found. A key has one value."""

    def __init__(self, name: str, key_dtype: DType, value_dtype: DType):
        super().__init__(name, key_dtype, value_dtype)
        self._initialized = False

    def initialize(self, keys: Array, values: Array) -> None:
        """Fill the table; once it is filled, the same number of entries changes nothing.

        FailedPreconditionError for another number, or for two values of one key.
        """
        flat, rows = self._pairs(keys, values)
        with self._lock:
            if self._initialized:
                if len(flat) != len(self._entries):
                    raise FailedPreconditionError(None, None, "Table was already initialized with different data.")
                return
            entries = self._none()
            entries.insert(flat, rows)
            kept = entries.find(flat, np.zeros((), self.value_dtype.as_numpy_dtype))
            differs = kept != rows
            if differs.any():
                i = int(np.argmax(differs))
                key, old, new = _shown(flat[i]), _shown(rows[i]), _shown(kept[i])
                text = f"HashTable has different value for same key. Key {key} has {old} and trying to add value {new}"
                raise FailedPreconditionError(None, None, text)
            self._entries, self._initialized = entries, True

    def replace(self, keys: Array, values: Array) -> None:
        if not keys.size:
            raise InvalidArgumentError(None, None, "keys and values cannot be empty tensors.")
        self.initialize(keys, values)

    def find(self, keys: Array, default: Array) -> Array:
        if not self._initialized:
            raise FailedPreconditionError(None, None, "Table not initialized.")
        return super().find(keys, default)

    def export(self) -> tuple[Array, Array]:
        if not self._initialized:
            raise FailedPreconditionError(None, None, "HashTable is not initialized.")
        return super().export()


class MutableTable(Table):
    """Entries come and go."""

    def insert(self, keys: Array, values: Array) -> None:
        flat, rows = self._pairs(keys, values)
        with self._lock:
            self._entries.insert(flat, rows)

    def remove(self, keys: Array) -> None:
        flat = self._flat(keys, self._outer(keys))
        with self._lock:
            self._entries.remove(flat)

    def replace(self, keys: Array, values: Array) -> None:
        flat, rows = self._pairs(keys, values)
        entries = self._none()
        entries.insert(flat, rows)
        with self._lock:
            self._entries = entries


class DenseTable(MutableTable):
    """A mutable table that two keys, `empty_key` and `deleted_key`, cannot be in; keys may be vectors.

    All buckets are exported, keys and values that are scalars as rows of one, as a TensorFlow checkpoint has them.
    """

    def __init__(
        self,
        name: str,
        key_dtype: DType,
        value_dtype: DType,
        value_shape: Shape,
        empty_key: Array,
        deleted_key: Array | None,
        num_buckets: int,
        max_load_factor: float,
    ):
        if deleted_key is not None and (
            deleted_key.shape != empty_key.shape or np.array_equal(deleted_key, empty_key, equal_nan=False)
        ):
            problem = "cannot be equal" if deleted_key.shape == empty_key.shape else "must have same shape"
            raise InvalidArgumentError(None, None, f"Empty and deleted keys {problem}")
        self._reserved = {"empty_key": empty_key} | ({} if deleted_key is None else {"deleted_key": deleted_key})
        self._num_buckets, self._max_load_factor = num_buckets, max_load_factor
        super().__init__(name, key_dtype, value_dtype, empty_key.shape, value_shape)

    def _none(self) -> Buckets:
        # A table without a deleted key is an older op's, of which nothing can be removed.
        ends = self._reserved["empty_key"], self._reserved.get("deleted_key")
        return Buckets(self._num_buckets, self._max_load_factor, *ends, self.value_dtype, self.value_shape)

    def _flat(self, keys: Array, outer: Shape) -> Array:
        flat = super()._flat(keys, outer)
        for what, reserved in self._reserved.items():
            if self._entries.is_key(flat, reserved).any():
                raise InvalidArgumentError(None, None, f"Using the {what} as a table key is not allowed")
        return flat

    def replace(self, keys: Array, values: Array) -> None:
        """As `export` gives them: what is empty and deleted has rows too."""
        count = len(keys)
        keys, values = keys.reshape(count, *self.key_shape), values.reshape(count, *self.value_shape)
        used = np.ones(count, bool)
        for reserved in self._reserved.values():
            used &= ~self._entries.is_key(keys, reserved)
        self._num_buckets = max(FEWEST_BUCKETS, 1 << (count - 1).bit_length())
        super().replace(keys[used], values[used])

    def export(self) -> tuple[Array, Array]:
        keys, values = super().export()
        return keys.reshape(len(keys), math.prod(self.key_shape)), values.reshape(len(keys), *(self.value_shape or (1,)))


def _shown(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
