"""Serialized protocol buffers taken apart and put together in the graph: DecodeProtoV2, EncodeProto."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.errors import DataLossError, InvalidArgumentError
from tfexp.core.merged_shape import merged
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.core.text import as_str_any
from tfexp.formats import proto_fields
from tfexp.formats.proto_fields import Rows
from tfexp.ops.array import Array
from tfexp.ops.shape_rules import with_rank_at_least

decode_op = define_op(
    "DecodeProtoV2(bytes: string) -> (sizes: int32, values: output_types) {message_type: string; field_names: list(string); "
    "output_types: list(type) >= 0; descriptor_source: string = 'local://'; message_format: string = 'binary'; "
    "sanitize: bool = false}"
).not_differentiable()
encode_op = define_op(
    "EncodeProto(sizes: int32, values: Tinput_types) -> (bytes: string) {field_names: list(string); message_type: string; "
    "descriptor_source: string = 'local://'; Tinput_types: list(type) >= 1}"
).not_differentiable()

_INT32 = (dtypes.int32, dtypes.int64)
_UINT32 = (dtypes.uint32, dtypes.uint64)
_STRING = (dtypes.string,)
# The types of tensors that hold a field of each type.
_HOLD: dict[str, tuple[DType, ...]] = {
    "bool": (dtypes.bool,),
    "enum": (dtypes.int32,),
    "float": (dtypes.float32, dtypes.float64),
    "double": (dtypes.float64,),
    **dict.fromkeys(("int32", "sint32", "sfixed32"), _INT32),
    **dict.fromkeys(("int64", "sint64", "sfixed64"), (dtypes.int64,)),
    **dict.fromkeys(("uint32", "fixed32"), _UINT32),
    **dict.fromkeys(("uint64", "fixed64"), (dtypes.uint64,)),
    **dict.fromkeys(("string", "bytes", "message"), _STRING),
    "group": (),
}


def _rows(descriptor: Any, names: Sequence[Any], types: Sequence[DType], problem: str) -> Rows:
    """The fields of these names. InvalidArgumentError for one that is unknown, or not of that type (`problem`)."""
    message = descriptor.full_name
    wanted = tuple(map(as_str_any, names))
    for name, dtype in zip(wanted, types, strict=True):
        field = descriptor.fields_by_name.get(name)
        if field is None:
            there = ", ".join(descriptor.fields_by_name)
            raise InvalidArgumentError(None, None, f"Unknown field: {name} in message type {message}, which has {there}")
        kind = proto_fields.KINDS[field.type]
        if dtype not in _HOLD[kind]:
            allowed = " or ".join(one.name for one in _HOLD[kind]) or "no tensor"
            said = problem.format(field=f"{message}.{name}", kind=kind, dtype=dtype.name)
            raise InvalidArgumentError(None, None, f"{said}; {kind} goes with {allowed}")
    return proto_fields.rows_of(descriptor, wanted)


def _descriptor(source: Any, message_type: Any) -> Any:
    name = as_str_any(message_type)
    try:
        return proto_fields.find_type(source, name)
    except KeyError:
        raise InvalidArgumentError(
            None, None, f"No descriptor found for message type {name} in descriptor source {as_str_any(source)[:80]!r}"
        ) from None
    except (OSError, TypeError, ValueError) as error:
        raise InvalidArgumentError(
            None,
            None,
            f"descriptor_source {as_str_any(source)[:80]!r} is neither local:// nor the path of a serialized "
            f"FileDescriptorSet: {error}",
        ) from None


@decode_op.shape
def _(bytes: InputShape, *, output_types: list[DType]) -> list[TensorShape]:
    if bytes.known_dims is None:
        return [TensorShape(None)] * (1 + len(output_types))
    dims = bytes.as_list()
    return [TensorShape([*dims, len(output_types)]), *[TensorShape([*dims, None])] * len(output_types)]


@decode_op.kernel("CPU")
def _(
    ctx: Any,
    bytes: Array,
    *,
    message_type: Any,
    field_names: list[Any],
    output_types: list[DType],
    descriptor_source: Any,
    message_format: Any,
    sanitize: bool,
) -> list[Any]:
    if len(field_names) != len(output_types):
        raise InvalidArgumentError(
            None,
            None,
            f"field_names and output_types attributes must have the same length, got {len(field_names)} and "
            f"{len(output_types)}",
        )
    way = as_str_any(message_format)
    if way not in ("binary", "text"):
        raise InvalidArgumentError(None, None, f"format must be one of binary or text, got {way!r}")
    if not np.size(bytes):
        raise InvalidArgumentError(None, None, "Bufs argument must contain at least one value")
    descriptor = _descriptor(descriptor_source, message_type)
    rows = _rows(descriptor, field_names, output_types, "Unexpected output type for {field}: {kind} to {dtype}")
    shape, messages = np.shape(bytes), np.ravel(np.asarray(bytes, object)).tolist()
    try:
        if sanitize or way == "text":
            messages = proto_fields.normalised(descriptor, messages, way == "text")
        columns = rows.decode(messages, [dtype.as_numpy_dtype for dtype in output_types])
    except ValueError as error:
        raise DataLossError(None, None, f"Unable to parse {way} protobuf of type {descriptor.full_name}: {error}") from None
    sizes = np.stack([counts for counts, _ in columns], -1) if columns else np.zeros((len(messages), 0), np.int32)
    return [sizes.reshape(*shape, len(columns)), *(values.reshape(*shape, -1) for _, values in columns)]


@encode_op.shape
def _(sizes: InputShape, values: list[InputShape]) -> TensorShape:
    batch = with_rank_at_least(sizes, 2)[:-1]
    for value in values:
        batch = merged(batch, with_rank_at_least(value, 2)[:-1])
    return batch


@encode_op.kernel("CPU")
def _(
    ctx: Any,
    sizes: Array,
    values: list[Array],
    *,
    field_names: list[Any],
    message_type: Any,
    descriptor_source: Any,
    Tinput_types: list[DType],
) -> Array:
    if len(field_names) != len(values):
        raise InvalidArgumentError(
            None, None, f"Length of inputs list must match field_names, got {len(values)} and {len(field_names)}"
        )
    batch = values[0].shape[:-1]
    if sizes.shape != (*batch, len(field_names)):
        raise InvalidArgumentError(
            None,
            None,
            f"sizes should be batch_size + [len(field_names)]. Saw: {dims_text(sizes.shape)} but expected: "
            f"{dims_text((*batch, len(field_names)))}",
        )
    descriptor = _descriptor(descriptor_source, message_type)
    rows = _rows(descriptor, field_names, Tinput_types, "Incompatible type for field {field}: {dtype} for {kind}")
    counts = sizes.reshape(-1, len(field_names))
    for name, value, needed in zip(field_names, values, counts.T, strict=True):
        if value.shape[:-1] != batch:
            raise InvalidArgumentError(
                None,
                None,
                f"Values must match up to the last dimension: {dims_text(values[0].shape)} and {dims_text(value.shape)}",
            )
        if needed.max(initial=0) > value.shape[-1]:
            raise InvalidArgumentError(
                None,
                None,
                f"Size to write must not be larger than value tensor; but saw: {needed.max()} > {value.shape[-1]} at "
                f"message {needed.argmax()} field {as_str_any(name)}",
            )
    result = np.empty(len(counts), object)
    result[:] = rows.encode(np.maximum(counts, 0), [value.reshape(len(counts), value.shape[-1]) for value in values])
    return result.reshape(batch)


def decode_proto(
    bytes: Any,
    message_type: str,
    field_names: Sequence[str],
    output_types: Sequence[Any],
    descriptor_source: str = "local://",
    message_format: str = "binary",
    sanitize: bool = False,
    name: str | None = None,
) -> Any:
    """(sizes: [*bytes.shape, fields], values: for each field [*bytes.shape, longest], filled up with its default).

    Source: `tf.io.decode_proto`.
    """
    return decode_op(
        bytes,
        message_type=message_type,
        field_names=field_names,
        output_types=output_types,
        descriptor_source=descriptor_source,
        message_format=message_format,
        sanitize=sanitize,
        name=name,
    )


def encode_proto(
    sizes: Any,
    values: Any,
    field_names: Sequence[str],
    message_type: str,
    descriptor_source: str = "local://",
    name: str | None = None,
) -> Any:
    """Serialized messages: of field i the first sizes[..., i] of values[i][...]. Source: `tf.io.encode_proto`."""
    return encode_op(
        sizes, values, field_names=field_names, message_type=message_type, descriptor_source=descriptor_source, name=name
    )
