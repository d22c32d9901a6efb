"""Data sets that keep the elements of their first run: in memory, or in files of TensorFlow's checkpoint format.

A file cache appears when its first run has reached the end, whole or not at all: a run that stops before leaves nothing.
Element i's component j is the tensor `"%7d_%d" % (i, j)` of the bundle, as in TensorFlow's, which can be read here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.errors import AlreadyExistsError
from tfexp.formats.bundle import BundleReader, BundleWriter
from tfexp.formats.file_errors import file_error
from tfexp.ops.dataset import (
    COMMON,
    Chain,
    Dataset,
    DatasetIterator,
    Element,
    FromRecipe,
    State,
    define_dataset,
    kept,
    row,
)
from tfexp.ops.dataset_state import decode, encode

cache_dataset = define_dataset(f"CacheDataset(input_dataset: variant, filename: string) -> (handle: variant) {{{COMMON}}}")


class Memory:
    """The elements of a first complete run, one by one or as the columns of all; None until then."""

    def __init__(self) -> None:
        self.elements: list[Element] | None = None
        self.columns: list[np.ndarray] | None = None


class _Cached(Dataset):
    """Keeps the elements of its first complete run in memory and gives those out from then on."""

    def __init__(self, source: Dataset):
        self._source, self._memory = source, Memory()

    def iterator(self) -> DatasetIterator:
        return _Caching(self._memory, self._source.iterator())

    def fresh(self) -> Dataset:
        return _Cached(self._source.fresh())

    def with_settings(self, changes: Mapping[str, Any]) -> Dataset:
        return _Cached(self._source.with_settings(changes))


class _Caching(Chain):
    def __init__(self, cache: Memory, source: DatasetIterator):
        super().__init__(source)
        self._cache = cache
        self._seen: list[Any] = []  # in this run: elements, or blocks
        self._position = 0
        self._from_cache = cache.elements is not None or cache.columns is not None
        if self._from_cache:
            self.blocks = cache.columns is not None

    def next(self) -> Element | None:
        if self.blocks:
            found = self.block(1)
            return None if found is None else [row(array, 0) for array in found]
        if self._from_cache:
            elements = self._cache.elements or []
            if self._position == len(elements):
                return None
            self._position += 1
            return [v[...] if isinstance(v, np.ndarray) else v for v in elements[self._position - 1]]
        element = self.source.next()
        if element is None:
            self._cache.elements, self._seen = self._seen, []
            self._from_cache, self._position = True, len(self._cache.elements)
            return None
        self._seen.append([kept(v) for v in element])
        return element

    def block(self, count: int) -> list[np.ndarray] | None:
        if self._from_cache:
            columns, start = self._cache.columns or [], self._position
            if not columns or start == len(columns[0]):
                return None
            self._position = min(start + count, len(columns[0]))
            return [column[start : self._position] for column in columns]
        found = self.source.block(count)
        if found is None:
            self._cache.columns = [np.concatenate(parts) for parts in zip(*self._seen, strict=True)]
            self._seen, self._from_cache = [], True
            self._position = len(self._cache.columns[0]) if self._cache.columns else 0
            return None
        self._seen.append([kept(array) for array in found])
        return found

    def save(self) -> State:
        return {
            "source": self.source.save(),
            "seen": self._seen,
            "position": self._position,
            "from_cache": self._from_cache,
            "elements": self._cache.elements,
            "columns": self._cache.columns,
        }

    def restore(self, state: State) -> None:
        self.source.restore(state["source"])
        self._seen, self._position, self._from_cache = list(state["seen"]), state["position"], state["from_cache"]
        self._cache.elements, self._cache.columns = state["elements"], state["columns"]


# --- in files ------------------------------------------------------------------------------------------------------------


def _key(number: int, component: int) -> str:
    return f"{number:7d}_{component}"


def _exists(prefix: str) -> bool:
    return os.path.exists(f"{prefix}.index")


class _Lock:
    """Only one run at a time writes the cache of a name: AlreadyExistsError for a second one."""

    def __init__(self, prefix: str):
        self._path = f"{prefix}_0.lockfile"
        try:
            with open(self._path, "x") as file:
                file.write(f"written by process {os.getpid()}\n")
        except FileExistsError:
            raise AlreadyExistsError(
                None,
                None,
                "There appears to be a concurrent caching iterator running - cache lockfile already exists "
                f"('{self._path}'). If you are sure no other running computations are using this cache prefix, delete the "
                "lockfile and re-initialize the iterator.",
            ) from None
        except OSError as error:
            raise file_error(self._path, error) from error

    def release(self) -> None:
        if os.path.exists(self._path):
            os.remove(self._path)


class _Writing(Chain):
    """Hands the elements on and writes them down; the file is there once the end was reached."""

    def __init__(self, source: DatasetIterator, prefix: str):
        super().__init__(source)
        self.blocks = False
        self._prefix = prefix
        self._lock: _Lock | None = None
        self._writer: BundleWriter | None = None
        self._count = 0
        self._writes = True  # a run that was resumed in the middle has no beginning to write

    def next(self) -> Element | None:
        if self._writes and self._writer is None:
            self._lock = _Lock(self._prefix)
            self._writer = BundleWriter(self._prefix)
        element = self.source.next()
        writer = self._writer
        if element is None:
            if writer is not None:
                writer.finish()
            self._end()
            return None
        if writer is not None:
            for component, value in enumerate(element):
                writer.add(_key(self._count, component), *_stored(value))
        self._count += 1
        return element

    def _end(self) -> None:
        self._writer, self._writes = None, False
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def save(self) -> State:
        return {"source": self.source.save(), "count": self._count}

    def restore(self, state: State) -> None:
        self.source.restore(state["source"])
        self._count = state["count"]
        self._writes = self._count == 0

    def close(self) -> None:
        super().close()
        if self._writer is not None:
            self._writer.discard()
        self._end()

    def __del__(self) -> None:
        self.close()


def _stored(value: Any) -> tuple[np.ndarray, Any]:
    """A value as the bundle takes it, with its dtype; what is no array of numbers or bytes as an encoded variant."""
    array = np.asarray(value)
    if array.dtype == object and any(not isinstance(item, bytes) for item in array.ravel().tolist()):
        whole = np.empty((), object)
        whole[()] = encode(array)
        return whole, dtypes.variant
    return array, None


class _Reading(DatasetIterator):
    def __init__(self, prefix: str, components: int):
        self._reader = BundleReader(prefix)
        self._prefix, self._components = prefix, components
        self._position = 0

    def next(self) -> Element | None:
        if not self._reader.has_tensor(_key(self._position, 0)):
            return None
        keys = [_key(self._position, component) for component in range(self._components)]
        self._position += 1
        return [self._value(key) for key in keys]

    def _value(self, key: str) -> Any:
        array = self._reader.read(key)
        return decode(bytes(array[()]), self._prefix) if self._reader.dtype(key) is dtypes.variant else array

    def save(self) -> State:
        return {"position": self._position}

    def restore(self, state: State) -> None:
        self._position = state["position"]

    def close(self) -> None:
        self._reader.close()


class _FromFile(DatasetIterator):
    """The elements of the file; where it is not there yet, of the source, which is written down on the way."""

    def __init__(self, source: Dataset, prefix: str, components: int):
        self._source, self._prefix, self._components = source, prefix, components
        self._inner = self._reading() if _exists(prefix) else self._writing()

    def _reading(self) -> DatasetIterator:
        return _Reading(self._prefix, self._components)

    def _writing(self) -> DatasetIterator:
        return _Writing(self._source.iterator(), self._prefix)

    def next(self) -> Element | None:
        return self._inner.next()

    def save(self) -> State:
        return {"reading": isinstance(self._inner, _Reading), "inner": self._inner.save()}

    def restore(self, state: State) -> None:
        self._inner.close()
        self._inner = self._reading() if state["reading"] else self._writing()
        self._inner.restore(state["inner"])

    def interrupt(self, on: bool = True) -> None:
        self._inner.interrupt(on)

    def close(self) -> None:
        self._inner.close()


@cache_dataset.kernel("CPU")
def _(ctx: Any, dataset: Dataset, filename: Any, *, output_types: list[Any]) -> Dataset:
    prefix, components = filename[()].decode("utf-8", "surrogateescape"), len(output_types)
    if not prefix:
        return _Cached(dataset)
    return FromRecipe(lambda source: _FromFile(source, prefix, components), dataset)
