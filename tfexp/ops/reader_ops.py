"""The ops of readers; the readers themselves are `ops.reader_resource`, what programs hold is `ops.readers`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.core.text import as_text
from tfexp.ops.array import Array
from tfexp.ops.handle_ops import define_resource, shared_or_own
from tfexp.ops.queue_resource import Queue
from tfexp.ops.reader_resource import (
    FixedLengthRecordReader,
    IdentityReader,
    Reader,
    Record,
    TextLineReader,
    TFRecordReader,
    WholeFileReader,
)
from tfexp.ops.shape_rules import with_rank

# --- handles -----------------------------------------------------------------------------------------------------------

_HANDLE = "reader_handle"

whole_file_reader = define_resource("WholeFileReader", _HANDLE)


@whole_file_reader.kernel("CPU", handle=True)
def _(ctx: Any, *, container: str, shared_name: str) -> Reader:
    return _reader(ctx, container, shared_name, WholeFileReader)


identity_reader = define_resource("IdentityReader", _HANDLE)


@identity_reader.kernel("CPU", handle=True)
def _(ctx: Any, *, container: str, shared_name: str) -> Reader:
    return _reader(ctx, container, shared_name, IdentityReader)


text_line_reader = define_resource("TextLineReader", _HANDLE, "skip_header_lines: int = 0; ")


@text_line_reader.kernel("CPU", handle=True)
def _(ctx: Any, *, skip_header_lines: int, container: str, shared_name: str) -> Reader:
    _check_least(0, skip_header_lines=skip_header_lines)
    return _reader(ctx, container, shared_name, TextLineReader, skip_header_lines)


tf_record_reader = define_resource("TFRecordReader", _HANDLE, after="; compression_type: string = ''")


@tf_record_reader.kernel("CPU", handle=True)
def _(ctx: Any, *, container: str, shared_name: str, compression_type: str) -> Reader:
    kind = as_text(compression_type)
    if kind not in ("", "ZLIB", "GZIP"):
        raise InvalidArgumentError(None, None, f"Unsupported compression_type: {kind!r}; choose '', 'ZLIB' or 'GZIP'")
    return _reader(ctx, container, shared_name, TFRecordReader, kind)


fixed_length_record_reader = define_resource(
    "FixedLengthRecordReader",
    _HANDLE,
    "header_bytes: int = 0; record_bytes: int; footer_bytes: int = 0; hop_bytes: int = 0; ",
    "; encoding: string = ''",
)


@fixed_length_record_reader.kernel("CPU", handle=True)
def _(
    ctx: Any,
    *,
    header_bytes: int,
    record_bytes: int,
    footer_bytes: int,
    hop_bytes: int,
    container: str,
    shared_name: str,
    encoding: str,
) -> Reader:
    _check_least(0, header_bytes=header_bytes, footer_bytes=footer_bytes, hop_bytes=hop_bytes)
    _check_least(1, record_bytes=record_bytes)
    compression = as_text(encoding)
    if compression not in ("", "ZLIB", "GZIP"):
        raise InvalidArgumentError(None, None, f"encoding must be one of '', 'ZLIB', 'GZIP', not {compression!r}")
    sizes = (record_bytes, header_bytes, footer_bytes, hop_bytes)
    return _reader(ctx, container, shared_name, FixedLengthRecordReader, *sizes, compression)


def _reader(ctx: Any, container: str, shared_name: str, kind: type[Reader], *settings: Any) -> Reader:
    name = shared_name or ctx.node_name  # not numbered, as those of queues are
    found: Reader = shared_or_own(ctx, "reader", container, shared_name, lambda _: kind(name, *settings))
    if type(found) is not kind:
        raise InvalidArgumentError(None, None, f"Shared reader '{found.name}' is a {found.kind}, not a {kind.kind}")
    return found


def _check_least(least: int, **values: int) -> None:
    for name, value in values.items():
        if value < least:
            raise InvalidArgumentError(None, None, f"{name} must be >= {least} not {value}")


# --- reading -----------------------------------------------------------------------------------------------------------

reader_read = define_op(
    "ReaderReadV2(reader_handle: resource, queue_handle: resource) -> (key: string, value: string) #stateful"
)
reader_read.not_differentiable()


@reader_read.shape
def _(reader_handle: InputShape, queue_handle: InputShape) -> list[TensorShape]:
    return [TensorShape([]), TensorShape([])]


@reader_read.kernel("CPU", waits=True)
def _(ctx: Any, reader_handle: Reader, queue_handle: Queue) -> Any:
    return reader_handle.read(queue_handle, 1, _one)


reader_read_up_to = define_op(
    "ReaderReadUpToV2(reader_handle: resource, queue_handle: resource, num_records: int64) -> (keys: string, "
    "values: string) #stateful"
)
reader_read_up_to.not_differentiable()


@reader_read_up_to.shape
def _(reader_handle: InputShape, queue_handle: InputShape, num_records: InputShape) -> list[TensorShape]:
    with_rank(num_records, 0)
    return [TensorShape([None]), TensorShape([None])]


@reader_read_up_to.kernel("CPU", waits=True)
def _(ctx: Any, reader_handle: Reader, queue_handle: Queue, num_records: Array) -> Any:
    return reader_handle.read(queue_handle, int(num_records), _several)


def _one(records: list[Record]) -> list[Array]:
    key, value, _ = records[0]
    return [_string(key), _string(value)]


def _several(records: list[Record]) -> list[Array]:
    return [_strings([key for key, _, _ in records]), _strings([value for _, value, _ in records])]


def _string(value: bytes) -> Array:
    array = np.empty((), object)
    array[()] = value
    return array


def _strings(values: list[bytes]) -> Array:
    array = np.empty(len(values), object)
    array[:] = values
    return array


# --- state -------------------------------------------------------------------------------------------------------------

reader_num_records_produced = define_op(
    "ReaderNumRecordsProducedV2(reader_handle: resource) -> (records_produced: int64) #stateful"
)
reader_num_records_produced.not_differentiable()


@reader_num_records_produced.shape
def _(reader_handle: InputShape) -> TensorShape:
    return TensorShape([])


@reader_num_records_produced.kernel("CPU")
def _(ctx: Any, reader_handle: Reader) -> Any:
    return np.int64(reader_handle.records_produced)


reader_num_work_units_completed = define_op(
    "ReaderNumWorkUnitsCompletedV2(reader_handle: resource) -> (units_completed: int64) #stateful"
)
reader_num_work_units_completed.not_differentiable()


@reader_num_work_units_completed.shape
def _(reader_handle: InputShape) -> TensorShape:
    return TensorShape([])


@reader_num_work_units_completed.kernel("CPU")
def _(ctx: Any, reader_handle: Reader) -> Any:
    return np.int64(reader_handle.units_completed)


reader_reset = define_op("ReaderResetV2(reader_handle: resource) -> () #stateful")
reader_reset.not_differentiable()


@reader_reset.shape
def _(reader_handle: InputShape) -> None:
    return None


@reader_reset.kernel("CPU")
def _(ctx: Any, reader_handle: Reader) -> None:
    reader_handle.reset()
