"""Chosen fields of serialized messages of any type as arrays, and back.

Messages are read through a type made for the purpose: each chosen field with its own number, but repeated, and texts and
messages as the bytes they are. Whatever else a message holds is passed over, and many are read in one call as the rows of
one outer message. So is written, which leaves the bytes that TensorFlow writes: fields by number, packed where the type
says so, a field that is not repeated as often as it has values.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message, message_factory, text_format

from tfexp.formats.protos import example
from tfexp.formats.varint import encode_varint

_Field = descriptor_pb2.FieldDescriptorProto
# What the type made for the purpose has instead: whatever the bytes are, they can be read.
_PLAIN = {
    _Field.TYPE_STRING: _Field.TYPE_BYTES,
    _Field.TYPE_MESSAGE: _Field.TYPE_BYTES,
    _Field.TYPE_ENUM: _Field.TYPE_INT32,
}
_LOCAL = "local://"
_GIVEN = b"bytes://"
# Where the process has TensorFlow's own messages: see `formats.protos.schema`.
_PACKAGES = (example.Example.DESCRIPTOR.file.package, "tensorboard")
_ROW_TAG = b"\x0a"  # field 1, of bytes

KINDS = {number: name.removeprefix("TYPE_").lower() for name, number in _Field.Type.items()}


def find_type(source: str | bytes, name: str) -> Any:
    """The descriptor of a message type.

    source: `local://` for the types of this process, `bytes://` followed by a serialized FileDescriptorSet, or the path of a
    file that holds one. KeyError where it has no such type; ValueError where it is not a FileDescriptorSet, OSError where
    there is no such file.
    """
    if source in (_LOCAL, _LOCAL.encode()):
        return _local_type(name)
    encoded = source.encode(errors="surrogateescape") if isinstance(source, str) else source
    if encoded.startswith(_GIVEN):
        return _pool(encoded.removeprefix(_GIVEN)).FindMessageTypeByName(name)
    with open(encoded, "rb") as file:
        return _pool(file.read()).FindMessageTypeByName(name)


def _local_type(name: str) -> Any:
    package, _, rest = name.partition(".")
    names = [name, *(f"{other}.{rest}" for other in _PACKAGES if package == "tensorflow")]
    pool = descriptor_pool.Default()
    for each in names:
        try:
            return pool.FindMessageTypeByName(each)
        except KeyError:
            continue
    raise KeyError(name)


@functools.lru_cache(maxsize=16)
def _pool(serialized: bytes) -> descriptor_pool.DescriptorPool:
    files = descriptor_pb2.FileDescriptorSet()
    try:
        files.ParseFromString(serialized)
    except message.DecodeError as error:
        raise ValueError(str(error)) from None
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    return pool


def normalised(descriptor: Any, messages: Iterable[bytes], is_text: bool) -> list[bytes]:
    """Messages parsed whole and serialized again, in binary form. ValueError for one that cannot be read."""
    kind = message_factory.GetMessageClass(descriptor)
    try:
        parsed = [text_format.Parse(one, kind()) if is_text else kind.FromString(one) for one in messages]
    except (text_format.ParseError, message.DecodeError) as error:
        raise ValueError(str(error)) from None
    return [one.SerializeToString() for one in parsed]


def _declaration(descriptor: Any, file: Any) -> Any:
    """How the file declares a message type. The pure Python protobuf knows that of files alone."""
    around = file if descriptor.containing_type is None else _declaration(descriptor.containing_type, file)
    inside = around.message_type if around is file else around.nested_type
    return next(declared for declared in inside if declared.name == descriptor.name)


class Rows:
    """Some fields of a message type. KeyError for a name that none of its fields has."""

    def __init__(self, descriptor: Any, names: Sequence[str]):
        file = descriptor_pb2.FileDescriptorProto()
        descriptor.file.CopyToProto(file)
        declared = {field.name: field for field in _declaration(descriptor, file).field}
        self.fields = [declared[name] for name in names]
        self._defaults = [descriptor.fields_by_name[name].default_value for name in names]
        self._attributes = [f"field{field.number}" for field in self.fields]
        self._row, self._outer = self._classes(file.syntax)

    def _classes(self, syntax: str) -> tuple[Any, Any]:
        """The type of a row, and of the message of which rows are field 1."""
        packs = syntax not in ("", "proto2")  # unless a field says otherwise
        file = descriptor_pb2.FileDescriptorProto(name="rows.proto", syntax="proto2")
        row = file.message_type.add(name="Row")
        for attribute, field in dict(zip(self._attributes, self.fields, strict=True)).items():
            kind = _PLAIN.get(field.type, field.type)
            made = row.field.add(name=attribute, number=field.number, type=kind, label=_Field.LABEL_REPEATED)
            if field.label == _Field.LABEL_REPEATED and kind != _Field.TYPE_BYTES:
                made.options.packed = field.options.packed if field.options.HasField("packed") else packs
        outer = file.message_type.add(name="Outer")
        outer.field.add(name="rows", number=1, type=_Field.TYPE_MESSAGE, type_name=".Row", label=_Field.LABEL_REPEATED)
        pool = descriptor_pool.DescriptorPool()
        pool.Add(file)
        find = pool.FindMessageTypeByName
        return message_factory.GetMessageClass(find("Row")), message_factory.GetMessageClass(find("Outer"))

    def default(self, number: int) -> Any:
        """What a field has where it is not set; of a repeated one, the plain value of its type."""
        value, kind = self._defaults[number], _PLAIN.get(self.fields[number].type, self.fields[number].type)
        if value is None or self._is_repeated(number):
            return b"" if kind == _Field.TYPE_BYTES else 0
        return value.encode() if isinstance(value, str) else value

    def _is_repeated(self, number: int) -> bool:
        return bool(self.fields[number].label == _Field.LABEL_REPEATED)

    def decode(self, messages: Sequence[bytes], dtypes: Sequence[Any]) -> list[tuple[np.ndarray, np.ndarray]]:
        """For each field, (how many values each message has, [message, value] filled up with the default).

        Of a field that is not repeated the last value counts. ValueError where a message cannot be read.
        """
        joined = b"".join(part for one in messages for part in (_ROW_TAG, encode_varint(len(one)), one))
        try:
            rows = self._outer.FromString(joined).rows
        except message.DecodeError as error:
            raise ValueError(str(error)) from None
        return [self._column(rows, number, dtype) for number, dtype in enumerate(dtypes)]

    def _column(self, rows: Any, number: int, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
        attribute = self._attributes[number]
        values = [getattr(row, attribute) for row in rows]
        if not self._is_repeated(number):
            values = [found[-1:] for found in values]
        counts = np.fromiter(map(len, values), np.int32, len(values))
        longest = max(1, counts.max(initial=0))
        result = np.full((len(values), longest), self.default(number), dtype)
        flat = itertools.chain.from_iterable(values)
        result[np.arange(longest) < counts[:, None]] = np.fromiter(flat, dtype, counts.sum())
        return counts, result

    def encode(self, counts: np.ndarray, values: Sequence[np.ndarray]) -> list[bytes]:
        """The messages of which field i has the first `counts[message, i]` of the values[i] of that message."""
        columns = [
            [row[:count] for row, count in zip(column.tolist(), of.tolist(), strict=True)]
            for column, of in zip(values, counts.T, strict=True)
        ]
        rows = zip(*columns, strict=True)
        return [self._row(**dict(zip(self._attributes, row, strict=True))).SerializeToString() for row in rows]


@functools.lru_cache(maxsize=64)
def rows_of(descriptor: Any, names: tuple[str, ...]) -> Rows:
    """The `Rows` of these fields, made once."""
    return Rows(descriptor, names)
