"""Reading a checkpoint. `bundle_writer` describes the format."""

from __future__ import annotations

import os
from collections.abc import Iterator
from types import TracebackType
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError
from numpy.typing import NDArray
from tensorboard.compat.proto import types_pb2

from tfexp.core import dtypes
from tfexp.core.dtypes import DType, as_dtype
from tfexp.core.errors import DataLossError, InvalidArgumentError, NotFoundError, OpError
from tfexp.formats import bundle_files as files
from tfexp.formats.bundle_strings import decode_strings
from tfexp.formats.crc import crc32c, unmask
from tfexp.formats.file_errors import file_error
from tfexp.formats.paths import local_path
from tfexp.formats.protos.tensor_bundle import BundleEntryProto, BundleHeaderProto
from tfexp.formats.table import TableError, read_table
from tfexp.formats.tensor_slice import TensorSlice, slice_key

Array = NDArray[Any]
Box = tuple[tuple[int, int], ...]  # (start, stop) of each dimension

# A piece is read and then checksummed while it is still in the processor's cache.
_CHUNK = 1 << 20
_FORMAT_VERSION = 1


def read_index(prefix: str, token: str | None = None) -> tuple[Any, dict[bytes, bytes]]:
    """(BundleHeaderProto, serialized BundleEntryProto of each key) of a checkpoint.

    With `token`, of one whose commit was interrupted (`bundle_files`). Raises NotFoundError where there is
    none, and DataLossError where the file is damaged or something else.
    """
    path = files.index_path(prefix) if token is None else files.temporary(files.index_path(prefix), token)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        if os.path.isfile(prefix):
            raise DataLossError(
                None, None, f"{prefix}: not a checkpoint of the V2 format, which is a file {path} and its data files"
            ) from None
        raise NotFoundError(
            None,
            None,
            f"Unsuccessful TensorSliceReader constructor: Failed to find any matching files for {prefix}",
        ) from None
    except OSError as error:
        raise file_error(path, error) from error
    try:
        entries = dict(read_table(data))
        header = BundleHeaderProto.FromString(entries.pop(b""))
    except (TableError, DecodeError) as error:
        raise DataLossError(None, None, f"{path}: not a checkpoint index, or a damaged one: {error}") from None
    except KeyError:
        raise DataLossError(None, None, f"{path}: not a checkpoint index: it has no header entry") from None
    if header.version.min_consumer > _FORMAT_VERSION:
        raise DataLossError(
            None, None, f"{path}: needs a reader of format version {header.version.min_consumer}, this is {_FORMAT_VERSION}"
        )
    if header.endianness != BundleHeaderProto.LITTLE or header.num_shards < 1:
        raise DataLossError(
            None, None, f"{path}: cannot be read: endianness {header.endianness}, {header.num_shards} shards"
        )
    return header, entries


class BundleReader:
    """Reads the tensors of the checkpoint `prefix`, checking every byte against its CRC. `tf.train.NewCheckpointReader`.

    Several threads may read at once. Raises NotFoundError where there is no such checkpoint, DataLossError
    where its index is damaged; reading a tensor raises DataLossError where its bytes are.
    """

    def __init__(self, prefix: str | os.PathLike[str]):
        self._prefix = local_path(prefix)
        self._entries: dict[bytes, Any] = {}
        self._files: dict[int, int | OSError] = {}  # what opening each data file gave
        # A writer may replace the checkpoint meanwhile; then index and data could be of two checkpoints.
        before = files.fingerprint(self._prefix)
        while True:
            failure = self._open(before[0])
            after = files.fingerprint(self._prefix)
            if after == before:
                break
            self.close()
            before = after
        if failure is not None:
            raise failure

    def _open(self, token: str | None) -> OpError | None:
        """Reads the index and opens the data files; returns why the index cannot be read."""
        try:
            header, self._index = read_index(self._prefix, token)
        except OpError as error:
            return error
        self._num_shards = header.num_shards
        for shard in range(header.num_shards):
            path = self._data_path(shard)
            if token is not None and os.path.exists(files.temporary(path, token)):
                path = files.temporary(path, token)
            try:
                self._files[shard] = os.open(path, os.O_RDONLY)
            except OSError as error:
                self._files[shard] = error
        return None

    def close(self) -> None:
        """Closes the data files."""
        while self._files:
            _, handle = self._files.popitem()
            if isinstance(handle, int):
                os.close(handle)

    def __enter__(self) -> BundleReader:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_files"):
            self.close()

    def names(self) -> list[str]:
        """The tensors' names, sorted."""
        # Keys of slices begin with a zero byte, names do not.
        return [key.decode() for key in self._index if not key.startswith(b"\0")]

    def has_tensor(self, name: str) -> bool:
        """Whether the checkpoint has a tensor of that name."""
        return bool(name) and name.encode() in self._index

    def dtype(self, name: str) -> DType:
        """The tensor's dtype; NotFoundError where there is no such tensor."""
        return as_dtype(self._entry(name.encode(), name).dtype)

    def shape(self, name: str) -> tuple[int, ...]:
        """The tensor's shape; NotFoundError where there is no such tensor."""
        return _shape(self._entry(name.encode(), name))

    def read(self, name: str, out: Array | None = None) -> Array:
        """The tensor, put together where it is partitioned; into `out` where given (of its dtype and shape).

        Raises NotFoundError where there is none of that name, InvalidArgumentError where `out` does not fit.
        """
        entry = self._entry(name.encode(), name)
        if out is None:
            out = _empty(entry, _shape(entry))
        elif out.dtype != as_dtype(entry.dtype).as_numpy_dtype or out.shape != _shape(entry):
            raise InvalidArgumentError(
                None,
                None,
                f"'{name}' in {self._prefix} is {self.dtype(name).name} of shape {list(_shape(entry))}; "
                f"it cannot be read into {out.dtype} of shape {list(out.shape)}",
            )
        self._read_box(name, entry, tuple((0, size) for size in out.shape), out)
        return out

    def get_slice(self, name: str, part: TensorSlice) -> Array:
        """The slice `part` of a tensor, however the tensor was partitioned when it was saved.

        Raises InvalidArgumentError where it does not lie in the tensor or no saved slices cover it.
        """
        entry = self._entry(name.encode(), name)
        box = tuple((b.start, b.stop) for b in part.boxes(_shape(entry)))
        out = _empty(entry, tuple(stop - start for start, stop in box))
        self._read_box(name, entry, box, out)
        return out

    def get_tensor(self, name: str) -> Any:
        """The value of a tensor: an array, or the number or bytes themselves of one without dimensions. Raises as `read`."""
        return self.read(name)[()]

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """The shape of every tensor, by name."""
        return {name: list(self.shape(name)) for name in self.names()}

    def get_variable_to_dtype_map(self) -> dict[str, DType]:
        """The dtype of every tensor, by name."""
        return {name: self.dtype(name) for name in self.names()}

    def debug_string(self) -> bytes:
        """A line for each tensor: name, dtype, shape. Bytes, which programs decode, as TensorFlow's are."""
        return "".join(
            f"{name} ({types_pb2.DataType.Name(self.dtype(name).as_datatype_enum)}) "
            f"[{','.join(map(str, self.shape(name)))}]\n"
            for name in self.names()
        ).encode()

    def _entry(self, key: bytes, what: str) -> Any:
        entry = self._entries.get(key)
        if entry is None:
            data = self._index.get(key) if key else None
            if data is None:
                raise NotFoundError(None, None, f"Key {what} not found in checkpoint {self._prefix}")
            try:
                entry = BundleEntryProto.FromString(data)
            except DecodeError as error:
                raise DataLossError(
                    None, None, f"{files.index_path(self._prefix)}: the entry of '{what}' is damaged: {error}"
                ) from None
            self._entries[key] = entry
        return entry

    def _read_box(self, name: str, entry: Any, box: Box, out: Array) -> None:
        """Fills `out` with the elements of tensor `name` whose index lies in `box`."""
        missing = out.size
        for stored, stored_box in self._parts(name, entry):
            common = tuple((max(a, c), min(b, d)) for (a, b), (c, d) in zip(box, stored_box, strict=True))
            if any(start >= stop for start, stop in common):
                continue
            there = out[_offsets(common, box)]
            if common == stored_box and there.flags.c_contiguous:
                self._read(name, stored, there)
            else:
                whole = _empty(stored, _shape(stored))
                self._read(name, stored, whole)
                there[...] = whole[_offsets(common, stored_box)]
            missing -= there.size
        if missing > 0:
            raise InvalidArgumentError(
                None,
                None,
                f"{self._prefix}: the saved slices of '{name}' do not cover {list(box)}: "
                f"{missing} of {out.size} elements are missing",
            )

    def _parts(self, name: str, entry: Any) -> Iterator[tuple[Any, Box]]:
        """(entry, box) of what a tensor is stored as: itself, or its slices."""
        shape = _shape(entry)
        if not entry.slices:
            yield entry, tuple((0, size) for size in shape)
        for proto in entry.slices:
            part = TensorSlice.from_proto(proto)
            box = tuple((b.start, b.stop) for b in part.boxes(shape))
            yield self._entry(slice_key(name, part), f"{name}, slice {part}"), box

    def _read(self, name: str, entry: Any, out: Array) -> None:
        """Fills the C-contiguous `out` from the data file and compares the CRC."""
        handle = self._handle(entry.shard_id, name)
        where = f"{self._data_path(entry.shard_id)}: tensor '{name}'"
        available = os.fstat(handle).st_size
        if not 0 <= entry.offset <= entry.offset + entry.size <= available:
            raise DataLossError(
                None,
                None,
                f"{where}: the file is truncated: it has {available} bytes, "
                f"the tensor's are {entry.offset} to {entry.offset + entry.size}",
            )
        if as_dtype(entry.dtype) in (dtypes.string, dtypes.variant):
            data = os.pread(handle, entry.size, entry.offset)
            try:
                strings, crc = decode_strings(data, out.size)
            except ValueError as error:
                raise DataLossError(None, None, f"{where}: {error}") from None
            out.reshape(-1)[:] = strings
        elif entry.size != out.nbytes:
            raise DataLossError(
                None, None, f"{where}: {entry.size} bytes are stored, shape {list(out.shape)} needs {out.nbytes}"
            )
        else:
            crc = _read_bytes(handle, entry.offset, out.reshape(-1).view(np.uint8), where)
        if crc != unmask(entry.crc32c):
            raise DataLossError(
                None,
                None,
                f"{where}: Checksum does not match: stored {unmask(entry.crc32c)} vs. "
                f"calculated on the restored bytes {crc}",
            )

    def _data_path(self, shard: int) -> str:
        return files.data_path(self._prefix, shard, self._num_shards)

    def _handle(self, shard: int, name: str) -> int:
        """The descriptor of the data file that has tensor `name`."""
        handle = self._files.get(shard)
        if handle is None:
            raise ValueError(f"the reader of {self._prefix} is closed; it cannot read '{name}'")
        if isinstance(handle, OSError):
            failure = file_error(self._data_path(shard), handle)
            raise type(failure)(None, None, f"{failure.message} (needed for tensor '{name}')")
        return handle


def _shape(entry: Any) -> tuple[int, ...]:
    return tuple(dim.size for dim in entry.shape.dim)


def _offsets(box: Box, within: Box) -> Any:
    """The index of `box` in an array that holds the elements of `within`."""
    slices = (slice(a - origin, b - origin) for (a, b), (origin, _) in zip(box, within, strict=True))
    return (*slices, ...)  # the ellipsis gives a view, not a scalar, where there are no dimensions


def _empty(entry: Any, shape: tuple[int, ...]) -> Array:
    return np.empty(shape, as_dtype(entry.dtype).as_numpy_dtype)


def _read_bytes(handle: int, offset: int, out: NDArray[np.uint8], where: str) -> int:
    """Fills `out` from the file; returns the CRC of what was read."""
    crc = 0
    for start in range(0, out.size, _CHUNK):
        piece = out[start : start + _CHUNK]
        done = 0
        while done < piece.size:
            got = os.preadv(handle, [piece.data[done:]], offset + start + done)
            if got == 0:
                raise DataLossError(None, None, f"{where}: the file ends at byte {offset + start + done}")
            done += got
        crc = crc32c(piece, crc)
    return crc
