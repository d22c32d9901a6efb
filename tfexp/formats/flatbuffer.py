"""FlatBuffers of the tables in `lite_schema`, as dictionaries. flatbuffers, an optional package, is imported here.

A scalar of an enum is the name of its number, a vector of numbers an array, `union` a pair (table, dictionary). Fields that
are absent have their defaults; absent vectors, texts and tables are None.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tfexp.formats.lite_schema import ENUMS, OPTIONS, TABLES, Field


def flatbuffers_for(purpose: str) -> Any:
    """The package flatbuffers. ImportError: `purpose` (`tf.lite.Interpreter`) needs it, and it is not installed."""
    try:
        import flatbuffers
        import flatbuffers.number_types
        import flatbuffers.table
    except ImportError as error:
        raise ImportError(f"`{purpose}` requires flatbuffers: pip install 'tfexp[lite]' (or flatbuffers).") from error
    return flatbuffers


def _number(kind: str) -> Any:
    """flatbuffers' description of a number type or enum."""
    numbers = flatbuffers_for("tf.lite").number_types
    return getattr(numbers, f"{'Int8' if kind in ENUMS else kind.capitalize()}Flags")


# --- writing -----------------------------------------------------------------------------------------------------------


def encode(table: str, value: Mapping[str, Any], file_identifier: bytes) -> bytes:
    """The file whose root is this table. ValueError for a name that an enum does not have."""
    builder = flatbuffers_for("tf.lite.TFLiteConverter").Builder(1 << 16)
    builder.Finish(_write(builder, table, value), file_identifier)
    return bytes(builder.Output())


def _write(builder: Any, table: str, value: Mapping[str, Any]) -> int:
    """Where the table begins. What it refers to stands before it, for a table cannot be begun inside of another."""
    fields = [field for field in TABLES[table] if value.get(field.name) is not None]
    places = {
        field.place: _write_apart(builder, field, value[field.name])
        for field in fields
        if field.is_vector or field.kind in ("string", "union") or field.kind in TABLES
    }
    builder.StartObject(1 + max((field.place for field in TABLES[table]), default=-1))
    for field in fields:
        given = value[field.name]
        if field.place in places:
            builder.PrependUOffsetTRelativeSlot(field.place, places[field.place], 0)
            if field.kind == "union":  # its type has the place before it
                builder.PrependUint8Slot(field.place - 1, OPTIONS.index(given[0]), 0)
        else:
            number = ENUMS[field.kind].index(given) if field.kind in ENUMS else given
            builder.PrependSlot(_number(field.kind), field.place, number, field.default)
    return int(builder.EndObject())


def _write_apart(builder: Any, field: Field, value: Any) -> int:
    """Where a vector, text or table begins."""
    if field.kind == "string":
        return int(builder.CreateString(value))
    if field.kind == "union":
        return _write(builder, *value)
    if not field.is_vector:
        return _write(builder, field.kind, value)
    if field.kind in TABLES:
        tables = [_write(builder, field.kind, one) for one in value]
        builder.StartVector(4, len(tables), 4)
        for place in reversed(tables):
            builder.PrependUOffsetTRelative(place)
        return int(builder.EndVector())
    array = np.asarray(value, field.kind)
    builder.Prep(field.alignment, array.nbytes)
    return int(builder.CreateNumpyVector(array))


# --- reading -----------------------------------------------------------------------------------------------------------


def decode(table: str, data: bytes) -> dict[str, Any]:
    """The root table of a file, as `encode` takes it.

    IndexError, TypeError, UnicodeDecodeError or struct.error: the file is broken.
    """
    flatbuffers = flatbuffers_for("tf.lite.Interpreter")
    root = flatbuffers.table.Table(data, 0)
    return _read(root, root.Get(flatbuffers.number_types.UOffsetTFlags, 0), table)


def _read(source: Any, position: int, table: str) -> dict[str, Any]:
    own = type(source)(source.Bytes, position)
    return {field.name: _read_field(own, field) for field in TABLES[table]}


def _read_field(own: Any, field: Field) -> Any:
    offset = own.Offset(4 + 2 * field.place)
    if field.kind == "union":
        type_offset = own.Offset(4 + 2 * (field.place - 1))
        number = own.Get(_number("uint8"), type_offset + own.Pos) if type_offset else 0
        if not offset or not 0 < number < len(OPTIONS):
            return None
        return OPTIONS[number], _read(own, own.Indirect(offset + own.Pos), OPTIONS[number])
    if field.is_vector:
        if not offset:
            return None
        if field.kind not in TABLES:
            return own.GetVectorAsNumpy(_number(field.kind), offset)
        start, length = own.Vector(offset), own.VectorLen(offset)
        if start + 4 * length > len(own.Bytes):
            raise IndexError(f"{field.name} of {length} ends behind the file")
        return [_read(own, own.Indirect(start + 4 * i), field.kind) for i in range(length)]
    if field.kind == "string":
        return own.String(offset + own.Pos).decode() if offset else None
    if field.kind in TABLES:
        return _read(own, own.Indirect(offset + own.Pos), field.kind) if offset else None
    number = own.Get(_number(field.kind), offset + own.Pos) if offset else field.default
    if field.kind not in ENUMS:
        return bool(number) if field.kind == "bool" else number
    names = ENUMS[field.kind]
    return names[number] if 0 <= number < len(names) else f"{field.kind} {number}"
