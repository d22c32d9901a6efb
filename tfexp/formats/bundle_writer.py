"""Writing a checkpoint, one or one made of several, in TensorFlow's V2 format, a "tensor bundle", byte for byte.

`prefix.data-?????-of-?????` holds the tensors' little-endian bytes one after the other; `prefix.index` is a
table (`table`) from tensor name to dtype, shape, place and CRC-32C, with the header under the empty key. A
tensor of strings is stored as `bundle_strings` says. A partitioned tensor has one entry that lists its slices
and one for each slice, under a key that `tensor_slice` makes. How a checkpoint appears whole or not at all
stands in `bundle_files`.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tfexp.core import dtypes
from tfexp.core.dtypes import DType, as_dtype
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.shape import TensorShape
from tfexp.formats import bundle_files as files
from tfexp.formats.bundle_reader import read_index
from tfexp.formats.bundle_strings import encode_strings
from tfexp.formats.crc import crc32c, mask
from tfexp.formats.file_errors import file_error
from tfexp.formats.paths import local_path
from tfexp.formats.protos.tensor_bundle import BundleEntryProto, BundleHeaderProto
from tfexp.formats.table import TableBuilder
from tfexp.formats.tensor_slice import TensorSlice, slice_key

# A piece is checksummed and then written while it is still in the processor's cache.
_CHUNK = 1 << 20
_FORMAT_VERSION = 1


class BundleWriter:
    """Writes tensors to the checkpoint `prefix`; nothing is seen of it, nor of an older one lost, until
    `finish`.

    As a context manager it finishes at the end of the block and discards all where an exception leaves it.
    There must be one writer at a time for a prefix.

    Raises NotFoundError where the folder's parent does not exist, and the like (`file_errors`) for what else
    the file system refuses.
    """

    def __init__(self, prefix: str | os.PathLike[str]):
        self._prefix = local_path(prefix)
        self._entries: dict[bytes, Any] = {}
        self._token = files.new_token()
        self._offset = 0
        self._path = files.temporary(files.data_path(self._prefix, 0, 1), self._token)
        folder = os.path.dirname(self._prefix) or "."
        try:
            if not os.path.isdir(folder):
                os.mkdir(folder)
            files.settle(self._prefix)
            self._file = open(self._path, "xb", buffering=1 << 16)  # noqa: SIM115 (closed by finish or discard)
        except OSError as error:
            raise file_error(error.filename or folder, error) from error

    def add(self, name: str, tensor: NDArray[Any], dtype: Any = None) -> None:
        """Appends a tensor. `dtype` is needed only where the array's own does not tell (quantized types).

        Strings are object arrays of bytes. Raises InvalidArgumentError for a name that is empty or was added
        before.
        """
        if not name:
            raise InvalidArgumentError(None, None, "A tensor in a checkpoint must have a name")
        self._refuse_duplicate(name.encode(), name)
        self._entries[name.encode()] = self._write(tensor, self._dtype(name, tensor, dtype), name)

    def add_slice(self, name: str, shape: Sequence[int], part: TensorSlice, tensor: NDArray[Any], dtype: Any = None) -> None:
        """Appends the slice `part` of a tensor `name` that has the given shape as a whole.

        Raises InvalidArgumentError where the slice does not lie in the shape, the array is not of its shape,
        or other slices of the tensor said otherwise.
        """
        whole = tuple(shape)
        if part.is_full(whole):
            self.add(name, tensor, dtype)
            return
        wanted = tuple(len(range(*box.indices(size))) for box, size in zip(part.boxes(whole), whole, strict=True))
        if np.shape(tensor) != wanted:
            raise InvalidArgumentError(
                None,
                None,
                f"{name}: the slice {part} of {list(whole)} has shape {list(wanted)}, not {list(np.shape(tensor))}",
            )
        element = self._dtype(name, tensor, dtype)
        owner = BundleEntryProto(dtype=element.as_datatype_enum, shape=TensorShape(whole).as_proto())
        owner = self._entries.setdefault(name.encode(), owner)
        if owner.dtype != element.as_datatype_enum or [d.size for d in owner.shape.dim] != list(whole) or owner.size:
            raise InvalidArgumentError(
                None, None, f"{name}: the slice {part} of {element.name} {list(whole)} is of another tensor than before"
            )
        key = slice_key(name, part)
        self._refuse_duplicate(key, f"{name}, slice {part}")
        self._entries[key] = self._write(tensor, element, name)
        owner.slices.append(part.to_proto())

    def finish(self) -> None:
        """Completes the files and puts them in the place of an older checkpoint."""
        index = files.temporary(files.index_path(self._prefix), self._token)
        try:
            self._file.close()
            _write_index(index, self._entries, num_shards=1)
            files.commit(self._prefix, self._token, num_shards=1)
        except OSError as error:
            raise file_error(error.filename or self._path, error) from error

    def discard(self) -> None:
        """Gives up what was written so far; an older checkpoint stays as it is."""
        with contextlib.suppress(OSError):  # what the buffer still holds may be what could not be written
            self._file.close()
        if files.interrupted_commit(self._prefix) is None:
            files.discard(self._prefix, self._token)

    def __enter__(self) -> BundleWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is not None:
            self.discard()
            return
        try:
            self.finish()
        except BaseException:
            self.discard()
            raise

    def _dtype(self, name: str, tensor: NDArray[Any], dtype: Any) -> DType:
        element = as_dtype(np.asarray(tensor).dtype if dtype is None else dtype).base_dtype
        if element is not dtypes.variant and not element.is_numpy_compatible:
            raise InvalidArgumentError(None, None, f"{name}: a checkpoint cannot hold a {element.name}")
        return element

    def _refuse_duplicate(self, key: bytes, what: str) -> None:
        if key in self._entries:
            raise InvalidArgumentError(None, None, f"Adding duplicate key: {what}")

    def _write(self, tensor: NDArray[Any], dtype: DType, name: str) -> Any:
        """Appends the tensor's bytes to the data file; returns the entry that finds them again."""
        array = np.asarray(tensor)
        entry = BundleEntryProto(
            dtype=dtype.as_datatype_enum, shape=TensorShape(array.shape).as_proto(), offset=self._offset
        )
        try:
            if dtype in (dtypes.string, dtypes.variant):  # a variant comes as what its maker wrote
                data, crc = encode_strings(_strings(array, name))
                self._file.write(data)
                entry.size = len(data)
            else:
                # A copy is made only of what is not contiguous, or not of the checkpoint's byte order.
                stored = np.ascontiguousarray(array, np.dtype(dtype.as_numpy_dtype).newbyteorder("<"))
                crc = self._write_bytes(stored.reshape(-1).view(np.uint8))
                entry.size = stored.nbytes
        except OSError as error:
            raise file_error(self._path, error) from error
        entry.crc32c = mask(crc)
        self._offset += entry.size
        return entry

    def _write_bytes(self, data: NDArray[np.uint8]) -> int:
        """Appends the bytes; returns their CRC."""
        crc = 0
        for start in range(0, data.size, _CHUNK):
            piece = data[start : start + _CHUNK]
            crc = crc32c(piece, crc)
            self._file.write(piece.data)
        return crc


def merge_bundles(prefixes: Sequence[str], merged: str | os.PathLike[str], delete_old_dirs: bool = True) -> None:
    """Makes one checkpoint `merged` of those at `prefixes`, whose data files it takes over as shards, in that
    order.

    With `delete_old_dirs`, folders of `prefixes` that are empty then go, too. Raises InvalidArgumentError
    where two of them have a tensor (or the same slice of one) in common, NotFoundError and DataLossError as
    `BundleReader`. Source: the op MergeV2Checkpoints.
    """
    prefix, prefixes = local_path(merged), [local_path(source) for source in prefixes]
    entries: dict[bytes, Any] = {}
    shards: list[str] = []
    for source in prefixes:
        header, index = read_index(source)
        for key, value in index.items():
            entry = BundleEntryProto.FromString(value)
            known = entries.get(key)
            if known is not None and known.slices and entry.slices:
                _extend_slices(known, entry, key)
                continue
            if known is not None:
                raise InvalidArgumentError(None, None, f"{key!r} is in two of the checkpoints to merge: {list(prefixes)}")
            if not entry.slices:
                entry.shard_id += len(shards)
            entries[key] = entry
        shards += [files.data_path(source, shard, header.num_shards) for shard in range(header.num_shards)]
    token = files.new_token()
    try:
        files.settle(prefix)
        for shard, path in enumerate(shards):
            os.replace(path, files.temporary(files.data_path(prefix, shard, len(shards)), token))
        _write_index(files.temporary(files.index_path(prefix), token), entries, len(shards))
        files.commit(prefix, token, len(shards))
        for source in prefixes:
            os.remove(files.index_path(source))
        if delete_old_dirs:
            for folder in {os.path.dirname(source) for source in prefixes} - {os.path.dirname(prefix)}:
                if not os.listdir(folder):
                    os.rmdir(folder)
    except OSError as error:
        raise file_error(error.filename or prefix, error) from error


def _extend_slices(known: Any, entry: Any, key: bytes) -> None:
    """Joins the slices of a partitioned tensor that two checkpoints share."""
    if known.dtype != entry.dtype or known.shape != entry.shape:
        raise InvalidArgumentError(
            None, None, f"the checkpoints to merge disagree on dtype or shape of the partitioned {key.decode()}"
        )
    known.slices.extend(entry.slices)


def _write_index(path: str, entries: dict[bytes, Any], num_shards: int) -> None:
    header = BundleHeaderProto(num_shards=num_shards)
    header.version.producer = _FORMAT_VERSION
    table = TableBuilder()
    table.add(b"", header.SerializeToString())
    for key in sorted(entries):
        table.add(key, entries[key].SerializeToString())
    with open(path, "xb") as file:
        file.write(table.finish())


def _strings(array: NDArray[Any], name: str) -> list[bytes]:
    strings = [value.encode() if isinstance(value, str) else value for value in array.ravel().tolist()]
    for value in strings:
        if not isinstance(value, bytes):
            raise InvalidArgumentError(None, None, f"{name}: a tensor of strings cannot hold {value!r}")
    return strings
