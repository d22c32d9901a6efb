"""Checkpoints of TensorFlow's first format (`SaverDef.V1`): one sorted table per shard, values as TensorProtos.

The key `""` says which tensors and slices there are (`SavedTensorSliceMeta`); every other key (`slice_key`) has one slice.
A whole tensor is a slice of all dimensions. Shards are files of their own, named by a pattern
(`model-?????-of-00002`). Source: `saved_tensor_slice.proto`.
"""

from __future__ import annotations

import glob
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tfexp.core.dtypes import DType, as_dtype
from tfexp.core.errors import DataLossError, InvalidArgumentError, NotFoundError
from tfexp.formats.atomic_file import replace_file
from tfexp.formats.checkpoint_reader import CheckpointReader
from tfexp.formats.file_errors import file_error
from tfexp.formats.protos.tensor_bundle import SavedTensorSlices
from tfexp.formats.table import TableBuilder, TableError, read_table
from tfexp.formats.tensor import make_ndarray, values_proto
from tfexp.formats.tensor_slice import TensorSlice, slice_key

Array = NDArray[Any]


@dataclass(frozen=True)
class Part:
    """What is written: a slice of the tensor `name`, which has `shape`."""

    name: str
    shape: tuple[int, ...]
    part: TensorSlice
    value: Array
    dtype: DType


def write_slices(path: str, parts: list[Part]) -> None:
    """Write one shard, whole or not at all. InvalidArgumentError for a slice that is there twice."""
    header = SavedTensorSlices()
    header.meta.versions.producer = 1
    values: dict[bytes, bytes] = {}
    known: dict[str, Any] = {}
    for one in sorted(parts, key=lambda one: one.name):
        if one.name not in known:
            known[one.name] = meta = header.meta.tensor.add(name=one.name, type=one.dtype.as_datatype_enum)
            meta.shape.SetInParent()
            for size in one.shape:
                meta.shape.dim.add(size=size)
        known[one.name].slice.append(one.part.to_proto())
        key = slice_key(one.name, one.part)
        if key in values:
            raise InvalidArgumentError(None, None, f"{path}: the slice {one.part} of {one.name!r} is given twice")
        entry = SavedTensorSlices()
        entry.data.name = one.name
        entry.data.slice.CopyFrom(one.part.to_proto())
        entry.data.data.CopyFrom(values_proto(one.value, one.dtype))
        values[key] = entry.SerializeToString(deterministic=True)
    table = TableBuilder()
    table.add(b"", header.SerializeToString(deterministic=True))
    for key, data in sorted(values.items()):
        table.add(key, data)
    replace_file(path, table.finish())


def is_sliced_checkpoint(pattern: str) -> bool:
    """Whether there are files of this format."""
    paths = glob.glob(pattern)
    return bool(paths) and all(not path.endswith((".index", ".meta")) for path in paths)


def _unreadable(path: str, reason: str) -> DataLossError:
    hint = "perhaps your file is in a different file format and you need to use a different restore operator?"
    return DataLossError(None, None, f"Unable to open table file {path}: {reason}: {hint}")


class SlicedReader(CheckpointReader):
    """Reads the checkpoint whose shards match `pattern`. NotFoundError without any, DataLossError for damage."""

    def __init__(self, pattern: str):
        self._prefix = pattern
        self._metas: dict[str, Any] = {}
        self._values: dict[bytes, bytes] = {}
        paths = sorted(glob.glob(pattern))
        if not paths:
            raise NotFoundError(
                None, None, f"Unsuccessful TensorSliceReader constructor: Failed to find any matching files for {pattern}"
            )
        for path in paths:
            self._add(path)

    def _add(self, path: str) -> None:
        try:
            with open(path, "rb") as file:
                entries = dict(read_table(file.read()))
        except OSError as error:
            raise _unreadable(path, file_error(path, error).message) from error
        except TableError as error:
            raise _unreadable(path, f"Data loss: not an sstable: {error}") from None
        for meta in SavedTensorSlices.FromString(entries.pop(b"", b"")).meta.tensor:
            known = self._metas.setdefault(meta.name, meta)
            if known is not meta:
                known.slice.extend(meta.slice)
        self._values |= entries

    def close(self) -> None:
        self._values.clear()

    def _meta(self, name: str) -> Any:
        if name not in self._metas:
            raise NotFoundError(None, None, f"Key {name} not found in checkpoint {self._prefix}")
        return self._metas[name]

    def names(self) -> list[str]:
        return sorted(self._metas)

    def has_tensor(self, name: str) -> bool:
        return name in self._metas

    def dtype(self, name: str) -> DType:
        return as_dtype(self._meta(name).type)

    def shape(self, name: str) -> tuple[int, ...]:
        return tuple(int(dim.size) for dim in self._meta(name).shape.dim)

    def read(self, name: str, out: Array | None = None) -> Array:
        shape, dtype = self.shape(name), self.dtype(name)
        found = np.empty(shape, dtype.as_numpy_dtype) if out is None else out
        covered = 0
        for proto in self._meta(name).slice:
            part = TensorSlice.from_proto(proto)
            boxes = part.boxes(shape)
            piece = self._piece(name, part, tuple(box.stop - box.start for box in boxes), dtype)
            found[boxes] = piece
            covered += piece.size
        if covered < math.prod(shape):
            raise DataLossError(None, None, f"{self._prefix}: the slices of {name!r} do not make up its shape {list(shape)}")
        return found

    def _piece(self, name: str, part: TensorSlice, dims: tuple[int, ...], dtype: DType) -> Array:
        key = slice_key(name, part)
        if key not in self._values:
            raise DataLossError(None, None, f"{self._prefix}: the slice {part} of {name!r} is missing")
        proto = SavedTensorSlices.FromString(self._values[key]).data.data
        proto.dtype = dtype.as_datatype_enum
        del proto.tensor_shape.dim[:]
        for size in dims:
            proto.tensor_shape.dim.add(size=size)
        return make_ndarray(proto)

    def get_slice(self, name: str, part: TensorSlice) -> Array:
        return self.read(name)[part.boxes(self.shape(name))]
