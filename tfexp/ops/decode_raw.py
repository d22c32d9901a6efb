"""Bytes as numbers, and what was packed: `tf.decode_raw`, `tf.io.decode_compressed`, `tf.serialize_tensor`, …"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from google.protobuf import json_format
from google.protobuf.message import DecodeError
from tensorboard.compat.proto.tensor_pb2 import TensorProto

from tfexp.core import dtypes
from tfexp.core.dtypes import DType, as_dtype
from tfexp.core.errors import DataLossError, InvalidArgumentError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.formats.protos.example import Example
from tfexp.formats.tensor import array_to_wire, make_ndarray, make_tensor_proto
from tfexp.graph.tensor import Tensor
from tfexp.ops.shape_rules import shape_preserving, with_rank
from tfexp.ops.string_arrays import attr_bytes, escaped, string_array, texts_of

_NAMES = {dtypes.float32: "float", dtypes.float64: "double"}

decode_raw_op = define_op(
    "DecodeRaw(bytes: string) -> (output: out_type) {out_type: type in [half,float,double,int32,uint16,uint8,int16,int8,"
    "int64,complex64,complex128,bool,bfloat16]; little_endian: bool = true}"
)


@decode_raw_op.shape
def _(bytes: TensorShape) -> TensorShape:
    return TensorShape(None) if bytes.rank is None else TensorShape([*bytes.as_list(), None])


@decode_raw_op.kernel("CPU")
def _(ctx: Any, bytes: np.ndarray, *, out_type: DType, little_endian: bool) -> Any:
    texts = texts_of(bytes)
    size = len(texts[0]) if texts else 0
    kind = np.dtype(out_type.as_numpy_dtype)
    for number, text in enumerate(texts):
        if len(text) != size:
            raise InvalidArgumentError(
                None,
                None,
                "DecodeRaw requires input strings to all be the same size, but element "
                f"{number} has size {size} != {len(text)}",
            )
    if size % kind.itemsize:
        raise InvalidArgumentError(
            None,
            None,
            f"Input to DecodeRaw has length {size} that is not a multiple of {kind.itemsize}, the size of {_name(out_type)}",
        )
    return _numbers(texts, out_type, little_endian).reshape(*np.shape(bytes), size // kind.itemsize)


def _numbers(texts: list[bytes], out_type: DType, little_endian: bool) -> np.ndarray:
    """The numbers that all the bytes are."""
    kind = np.dtype(out_type.as_numpy_dtype)
    data = np.frombuffer(bytearray(b"".join(texts)), np.uint8)
    if not little_endian:
        part = kind.itemsize // (2 if out_type.is_complex else 1)
        data = np.ascontiguousarray(data.reshape(-1, part)[:, ::-1])
    return data.reshape(-1).view(kind)


def _name(dtype: DType) -> str:
    return _NAMES.get(dtype, dtype.name)


decode_raw_op.not_differentiable()

decode_padded_raw_op = define_op(
    "DecodePaddedRaw(input_bytes: string, fixed_length: int32) -> (output: out_type) {out_type: type in [half,float,double,"
    "int32,uint16,uint8,int16,int8,int64,bfloat16]; little_endian: bool = true}"
).not_differentiable()


@decode_padded_raw_op.shape
def _(input_bytes: InputShape, fixed_length: InputShape, *, out_type: DType) -> TensorShape:
    with_rank(fixed_length, 0)
    if input_bytes.rank is None:
        return TensorShape(None)
    length = None if fixed_length.value is None else _count(int(fixed_length.value), out_type)
    return TensorShape([*input_bytes.as_list(), length])


def _count(length: int, out_type: DType) -> int:
    """How many numbers so many bytes are. ValueError where that is none, or no whole number."""
    if length <= 0:
        raise ValueError(f"fixed_length ({length}) must be greater than zero.")
    if length % out_type.size:
        raise ValueError(f"fixed_length ({length}) must be a multiple of the size of out_type ({out_type.size})")
    return length // out_type.size


@decode_padded_raw_op.kernel("CPU")
def _(ctx: Any, input_bytes: np.ndarray, fixed_length: Any, *, out_type: DType, little_endian: bool) -> Any:
    """Longer strings are cut to the length, shorter ones get zeros behind."""
    length = int(fixed_length)
    count = _count(length, out_type)
    texts = [text[:length].ljust(length, b"\0") for text in texts_of(input_bytes)]
    return _numbers(texts, out_type, little_endian).reshape(*np.shape(input_bytes), count)


def decode_raw(
    input_bytes: Any = None, out_type: Any = None, little_endian: bool = True, name: str | None = None, bytes: Any = None
) -> Tensor:
    """The numbers that the bytes of each string are; the strings, all of one length, get a new last axis.

    Source: `tf.decode_raw`.
    """
    numbers: Tensor = decode_raw_op(
        bytes if input_bytes is None else input_bytes, out_type=out_type, little_endian=little_endian, name=name
    )
    return numbers


def decode_raw_v2(
    input_bytes: Any, out_type: Any, little_endian: bool = True, fixed_length: Any = None, name: str | None = None
) -> Tensor:
    """`decode_raw`; with `fixed_length`, of strings cut or filled up to so many bytes. `tf.io.decode_raw`, TF 2.0."""
    if fixed_length is None:
        return decode_raw(input_bytes, out_type, little_endian, name)
    numbers: Tensor = decode_padded_raw_op(
        input_bytes, fixed_length, out_type=out_type, little_endian=little_endian, name=name
    )
    return numbers


decode_compressed_op = define_op("DecodeCompressed(bytes: string) -> (output: string) {compression_type: string = ''}")
shape_preserving(decode_compressed_op)
_WINDOWS = {b"ZLIB": zlib.MAX_WBITS, b"GZIP": zlib.MAX_WBITS + 16}


@decode_compressed_op.kernel("CPU")
def _(ctx: Any, bytes: np.ndarray, *, compression_type: Any) -> np.ndarray:
    kind = attr_bytes(compression_type)
    if kind == b"":
        return np.array(bytes, object)
    if kind not in _WINDOWS:
        raise InvalidArgumentError(None, None, "Only ZLIB, GZIP or NONE are supported compressions")
    try:
        # As in TensorFlow, of a text that was cut off there is what can be read, and of an empty one nothing.
        plain = [zlib.decompressobj(_WINDOWS[kind]).decompress(text) for text in texts_of(bytes)]
    except zlib.error as error:
        raise DataLossError(None, None, f"inflate() failed: {error}") from None
    return string_array(plain, np.shape(bytes))


def decode_compressed(bytes: Any, compression_type: str = "", name: str | None = None) -> Tensor:
    """Each string uncompressed: `"ZLIB"`, `"GZIP"`, or "" for as it is. Source: `tf.io.decode_compressed`."""
    plain: Tensor = decode_compressed_op(bytes, compression_type=compression_type, name=name)
    return plain


serialize_tensor_op = define_op("SerializeTensor(tensor: T) -> (serialized: string) {T: type}")


@serialize_tensor_op.shape
def _(tensor: TensorShape) -> TensorShape:
    return TensorShape(())


@serialize_tensor_op.kernel("CPU")
def _(ctx: Any, tensor: np.ndarray, *, T: DType) -> np.ndarray:
    encode = make_tensor_proto if T is dtypes.string else array_to_wire
    return np.array(encode(np.asarray(tensor), T).SerializeToString(), object)


serialize_tensor_op.not_differentiable()


def serialize_tensor(tensor: Any, name: str | None = None) -> Tensor:
    """The serialized TensorProto of a tensor, a scalar string. Source: `tf.serialize_tensor`."""
    serialized: Tensor = serialize_tensor_op(tensor, name=name)
    return serialized


parse_tensor_op = define_op("ParseTensor(serialized: string) -> (output: out_type) {out_type: type}")


@parse_tensor_op.shape
def _(serialized: TensorShape) -> TensorShape:
    return TensorShape(None)


@parse_tensor_op.kernel("CPU")
def _(ctx: Any, serialized: Any, *, out_type: DType) -> Any:
    array = np.asarray(serialized, object)
    if array.ndim:
        raise InvalidArgumentError(None, None, f"Expected `serialized` to be a scalar, got shape: {dims_text(array.shape)}")
    text = array.item()
    proto = TensorProto()
    try:
        proto.ParseFromString(text)
    except DecodeError:
        known = escaped(text, ascii_only=True).decode()
        raise InvalidArgumentError(None, None, f"Could not parse `serialized` as TensorProto: '{known}'") from None
    if proto.dtype != out_type.as_datatype_enum:
        raise InvalidArgumentError(
            None,
            None,
            f"Type mismatch between parsed tensor ({_name(as_dtype(proto.dtype))}) and dtype ({_name(out_type)})",
        )
    return make_ndarray(proto)


parse_tensor_op.not_differentiable()


def parse_tensor(serialized: Any, out_type: Any, name: str | None = None) -> Tensor:
    """The tensor, of that type, of a serialized TensorProto. Source: `tf.parse_tensor`."""
    tensor: Tensor = parse_tensor_op(serialized, out_type=out_type, name=name)
    return tensor


decode_json_example_op = define_op("DecodeJSONExample(json_examples: string) -> (binary_examples: string)")
shape_preserving(decode_json_example_op)


@decode_json_example_op.kernel("CPU")
def _(ctx: Any, json_examples: np.ndarray) -> np.ndarray:
    return string_array([_from_json(text) for text in texts_of(json_examples)], np.shape(json_examples))


def _from_json(text: bytes) -> bytes:
    try:
        example = json_format.Parse(text, Example())
    except json_format.ParseError as error:
        raise InvalidArgumentError(None, None, f"Error while parsing JSON: {error}") from None
    serialized: bytes = example.SerializeToString(deterministic=True)
    return serialized


def decode_json_example(json_examples: Any, name: str | None = None) -> Tensor:
    """Examples in protobuf's JSON form as serialized ones. Source: `tf.decode_json_example`."""
    binary: Tensor = decode_json_example_op(json_examples, name=name)
    return binary
