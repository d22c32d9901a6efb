"""Where the features of a serialized `tf.Example` are."""

from __future__ import annotations

from tfexp.formats.varint import decode_varint

BYTES, FLOATS, INTS = 1, 2, 3  # the fields of Feature's oneof

# A feature in a record: its kind, and where the bytes of its list begin and end. Kind 0: it has none.
Span = tuple[int, int, int]


class MalformedError(ValueError):
    """`position`: the index of the record that is not a serialized Example."""

    def __init__(self, position: int):
        super().__init__(f"record {position} is not a serialized Example")
        self.position = position


def scan(record: bytes) -> dict[bytes, Span]:
    """Where the features of an Example are. ValueError for bytes that are not one. The last of equal keys counts."""
    found: dict[bytes, Span] = {}
    for tag, begin, end in _fields(record, 0, len(record)):
        if tag == 10:  # Example.features
            _features(record, begin, end, found)
    return found


def _features(record: bytes, begin: int, end: int, found: dict[bytes, Span]) -> None:
    for entry, entry_begin, entry_end in _fields(record, begin, end):
        if entry == 10:  # Features.feature
            _entry(record, entry_begin, entry_end, found)


def _entry(record: bytes, begin: int, end: int, found: dict[bytes, Span]) -> None:
    key, span = b"", (0, 0, 0)
    for tag, start, stop in _fields(record, begin, end):
        if tag == 10:
            key = record[start:stop]
        elif tag == 18:
            span = _feature(record, start, stop)
    found[key] = span


def _feature(record: bytes, begin: int, end: int) -> Span:
    span = (0, 0, 0)
    for kind, first, last in _fields(record, begin, end):
        if kind in (10, 18, 26):
            span = (kind >> 3, first, last)
    return span


def _fields(record: bytes, position: int, end: int) -> list[tuple[int, int, int]]:
    """(tag, where its bytes begin, where they end) of the fields between two places."""
    fields = []
    while position < end:
        tag = record[position]
        position += 1
        if tag >= 0x80:
            tag, position = decode_varint(record, position - 1)
        wire = tag & 7
        if wire == 2:
            if position >= end:
                raise ValueError(f"a field is cut off at byte {position}")
            size = record[position]
            position += 1
            if size >= 0x80:
                size, position = decode_varint(record, position - 1)
        elif wire == 0:
            start = position
            _, position = decode_varint(record, position)
            size, position = position - start, start
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
        else:
            raise ValueError(f"wire type {wire} at byte {position}")
        if position + size > end or tag < 8:
            raise ValueError(f"a field is cut off at byte {position}")
        fields.append((tag, position, position + size))
        position += size
    return fields


def payloads(record: bytes, span: Span) -> list[tuple[int, int]]:
    """Where the values of a list are: of bytes each, of numbers all of them in one or several packed parts. ValueError."""
    _, begin, end = span
    return [(first, last) for tag, first, last in _fields(record, begin, end) if tag >> 3 == 1]
