"""Bytes as numbers: `tf.decode_raw`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import define_op
from tfexp.core.shape import TensorShape
from tfexp.graph.tensor import Tensor
from tfexp.ops.string_arrays import texts_of

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
