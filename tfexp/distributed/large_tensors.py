"""Large tensors beside the messages that they belong to, so that they are copied once at most.

Protobuf copies the bytes of a tensor whenever a message is put into another, written, read, or asked for them. So a
large tensor is taken out of a request or reply before that (`detached`), and stands in the message as a TensorProto with
dtype and shape alone, whose `version_number` counts the tensors from 1; `attached` puts the arrays back. In between, a
transport has the tensors travel by themselves, or `joined` and `split` put their bytes where TensorFlow's protocol has them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError
from tensorboard.compat.proto import tensor_pb2

from tfexp.core import dtypes
from tfexp.core.dtypes import as_dtype
from tfexp.core.errors import InvalidArgumentError, ResourceExhaustedError
from tfexp.distributed import messages as m
from tfexp.formats.protos import devices as dv
from tfexp.formats.protos import master_service as ms
from tfexp.formats.protos import worker_service as ws

# Bytes from which a tensor is taken out: below, one more buffer costs more than a copy.
LARGE = 16384

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5


def _number(message: Any, field: str) -> int:
    return int(message.DESCRIPTOR.fields_by_name[field].number)


_CONTENT = _number(tensor_pb2.TensorProto, "tensor_content")
_VERSION = _number(tensor_pb2.TensorProto, "version_number")
_NAMED = _number(dv.NamedTensorProto, "tensor")
# Where the tensors of a message are: the field, and the field of that field's message.
_PLACES: dict[str, tuple[int, ...]] = {
    ms.RunStepRequest.DESCRIPTOR.name: (_number(ms.RunStepRequest, "feed"), _NAMED),
    ms.RunStepResponse.DESCRIPTOR.name: (_number(ms.RunStepResponse, "tensor"), _NAMED),
    ms.RunCallableRequest.DESCRIPTOR.name: (_number(ms.RunCallableRequest, "feed"),),
    ms.RunCallableResponse.DESCRIPTOR.name: (_number(ms.RunCallableResponse, "fetch"),),
    ws.RunGraphRequest.DESCRIPTOR.name: (_number(ws.RunGraphRequest, "send"), _NAMED),
    ws.RunGraphResponse.DESCRIPTOR.name: (_number(ws.RunGraphResponse, "recv"), _NAMED),
    ws.RecvTensorResponse.DESCRIPTOR.name: (_number(ws.RecvTensorResponse, "tensor"),),
}


# --- values ----------------------------------------------------------------------------------------------------------


def detached(message: Any, arrays: list[Any]) -> Any:
    """The request or reply without its large arrays; their bytes are appended to `arrays`, as they lie in memory."""
    return _with_values(message, lambda value: _detach(value, arrays))


def attached(message: Any, arrays: list[Any]) -> Any:
    """The request or reply with its arrays. InvalidArgumentError for one whose bytes, dtype and shape do not agree."""
    return _with_values(message, lambda value: _attach(value, arrays)) if arrays else message


def _with_values(message: Any, change: Callable[[m.Value], m.Value]) -> Any:
    match message:
        case m.RunStep(feeds=feeds) if feeds:
            return replace(message, feeds=tuple([(name, change(value)) for name, value in feeds]))
        case m.RunCallable(feeds=values) if values:
            return replace(message, feeds=tuple(map(change, values)))
        case m.RunGraph(sends=sends) if sends:
            return replace(message, sends={key: change(value) for key, value in sends.items()})
        case m.StepRun(values=values) if values:
            return replace(message, values=tuple(map(change, values)))
        case m.GraphRun(values=by_key) if by_key:
            return replace(message, values={key: change(value) for key, value in by_key.items()})
        case m.TensorReceived(value=value) if value is not None:
            return replace(message, value=change(value))
    return message


def _detach(value: m.Value, arrays: list[Any]) -> m.Value:
    if isinstance(value, tensor_pb2.TensorProto) or value.nbytes < LARGE or value.dtype.hasobject:
        return value
    array = np.ascontiguousarray(value)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    arrays.append(array.reshape(-1).view(np.uint8))
    proto = tensor_pb2.TensorProto(dtype=as_dtype(array.dtype).as_datatype_enum, version_number=len(arrays))
    # A scalar's shape is there, too.
    proto.tensor_shape.SetInParent()
    for size in value.shape:
        proto.tensor_shape.dim.add(size=size)
    return proto


def _attach(value: m.Value, arrays: list[Any]) -> m.Value:
    if not isinstance(value, tensor_pb2.TensorProto) or value.version_number < 1:
        return value
    dims = [dim.size for dim in value.tensor_shape.dim]
    try:
        wanted = as_dtype(value.dtype).base_dtype
        if wanted.as_numpy_dtype is object:
            raise TypeError(f"{wanted.name} does not travel so")
        array = arrays[value.version_number - 1].view(wanted.as_numpy_dtype).reshape(dims)
    except (TypeError, ValueError, IndexError) as error:
        raise InvalidArgumentError(None, None, f"A tensor of shape {dims} cannot be read: {error}") from None
    return array


# --- bytes -----------------------------------------------------------------------------------------------------------


def joined(message: str, data: bytes, arrays: list[Any]) -> bytes:
    """The bytes of a message of that name with the arrays as `tensor_content` where it has room for them."""
    if not arrays:
        return data
    return b"".join(_fill_in(data, _PLACES[message], arrays))


def _fill_in(data: bytes, path: tuple[int, ...], arrays: list[Any]) -> list[Any]:
    if not path:
        version = next((int(value) for number, _, value, _ in _fields(data) if number == _VERSION), 0)
        if not version:
            return [data]
        array = arrays[version - 1]
        kept = [data[start:end] for number, start, _, end in _fields(data) if number != _VERSION]
        return [*kept, _head(_CONTENT, array.nbytes), array.data]
    pieces: list[Any] = []
    for number, start, value, end in _fields(data):
        if number != path[0]:
            pieces.append(data[start:end])
            continue
        inner = _fill_in(data[value:end], path[1:], arrays)
        pieces += [_head(number, sum(memoryview(piece).nbytes for piece in inner)), *inner]
    return pieces


def split(message: str, data: bytes) -> tuple[bytes, list[Any]]:
    """The bytes of a message of that name without its large tensors, and their bytes. What cannot be read stays as it is."""
    arrays: list[Any] = []
    path = _PLACES.get(message)
    if path is None or len(data) < LARGE:
        return data, arrays
    try:
        small = _take_out(memoryview(data), path, arrays)
    except (DecodeError, IndexError):
        return data, []
    except MemoryError:
        raise ResourceExhaustedError(None, None, f"There is no memory for the tensors in {len(data)} bytes") from None
    return small, arrays


def _take_out(data: memoryview, path: tuple[int, ...], arrays: list[Any]) -> bytes:
    fields = list(_fields(data))
    if path:
        pieces: list[Any] = []
        for number, start, value, end in fields:
            if number == path[0] and end - value >= LARGE:
                inner = _take_out(data[value:end], path[1:], arrays)
                pieces += [_head(number, len(inner)), inner]
            else:
                pieces.append(data[start:end])
        return b"".join(pieces)
    content = [field for field in fields if field[0] == _CONTENT]
    head = b"".join(data[start:end] for number, start, _, end in fields if number != _CONTENT)
    if len(content) != 1 or not _is_plain(tensor_pb2.TensorProto.FromString(head)):
        return bytes(data)
    _, _, start, end = content[0]
    array = np.empty(end - start, np.uint8)
    array[:] = data[start:end]
    arrays.append(array)
    return head + tensor_pb2.TensorProto(version_number=len(arrays)).SerializeToString()


def _is_plain(proto: tensor_pb2.TensorProto) -> bool:
    """Whether the content of a tensor is its elements one after the other. A reference (`dtype` over 100) is its values."""
    if proto.version_number or proto.tensor_shape.unknown_rank:
        return False
    try:
        dtype = as_dtype(proto.dtype).base_dtype
    except TypeError:
        return False
    return dtype is not dtypes.string and dtype.as_numpy_dtype is not object


def _head(number: int, size: int) -> bytes:
    return _varint(number << 3 | _LENGTH) + _varint(size)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _fields(data: Any) -> Iterator[tuple[int, int, int, int]]:
    """(number, where the field begins, where its value begins, where it ends) of a message; the value itself for a number.

    DecodeError or IndexError where there is no message.
    """
    at, size = 0, len(data)
    while at < size:
        start = at
        tag, at = _read_varint(data, at)
        kind, value = tag & 7, at
        if kind == _VARINT:
            value, at = _read_varint(data, at)
        elif kind == _LENGTH:
            length, value = _read_varint(data, at)
            at = value + length
        elif kind in (_FIXED32, _FIXED64):
            at += 4 if kind == _FIXED32 else 8
        else:
            raise DecodeError(f"wire type {kind}")
        if at > size:
            raise DecodeError("the message ends too early")
        yield tag >> 3, start, value, at


def _read_varint(data: Any, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
        if shift > 63:
            raise DecodeError("a number has too many bytes")
