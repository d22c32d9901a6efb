"""Base-128 variable-length integers: little-endian groups of 7 bits; the top bit says that more follow."""

from __future__ import annotations

from collections.abc import Iterable


def encode_varint(value: int) -> bytes:
    """The bytes of a non-negative integer."""
    if value < 0x80:
        return bytes((value,))
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def encode_varints(values: Iterable[int]) -> bytes:
    """The integers' bytes, one after the other."""
    return b"".join(map(encode_varint, values))


def decode_varint(data: bytes, position: int) -> tuple[int, int]:
    """(value, position after it). Raises ValueError where `data` ends within the number or it exceeds 64
    bits.
    """
    value = shift = 0
    while True:
        if position >= len(data):
            raise ValueError(f"a varint is cut off at byte {position}")
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
        if shift > 63:
            raise ValueError(f"a varint of more than 10 bytes ends at byte {position}")
    return value, position


def decode_varints(data: bytes, position: int, count: int) -> tuple[list[int], int]:
    """(`count` values, position after them); ValueError as `decode_varint`."""
    values = []
    for _ in range(count):
        value, position = decode_varint(data, position)
        values.append(value)
    return values, position
