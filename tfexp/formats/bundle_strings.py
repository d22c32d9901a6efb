"""A tensor of strings in a checkpoint's data file: varint lengths, masked CRC-32C of the lengths, the
strings.

Both that CRC and the tensor's own take each length as a little-endian uint32 (uint64 where it needs one), not
as the varint; the tensor's covers lengths, the stored CRC, and strings.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from tfexp.formats.crc import crc32c, mask
from tfexp.formats.varint import decode_varints, encode_varints


def encode_strings(strings: Sequence[bytes]) -> tuple[bytes, int]:
    """(bytes for the data file, their CRC for the index, unmasked)."""
    lengths = list(map(len, strings))
    fixed = _fixed_lengths(lengths)
    stored = struct.pack("<I", mask(crc32c(fixed)))
    text = b"".join(strings)
    return encode_varints(lengths) + stored + text, crc32c(text, crc32c(fixed + stored))


def decode_strings(data: bytes, count: int) -> tuple[list[bytes], int]:
    """(the strings, the CRC of what was read, unmasked). ValueError where `data` cannot be `count` strings."""
    lengths, position = decode_varints(data, 0, count)
    if position + 4 + sum(lengths) != len(data):
        raise ValueError(
            f"{len(data)} bytes cannot be {count} strings of {sum(lengths)} bytes together, "
            f"their lengths ({position} bytes) and a checksum"
        )
    fixed = _fixed_lengths(lengths)
    stored = data[position : position + 4]
    computed = struct.pack("<I", mask(crc32c(fixed)))
    if stored != computed:
        raise ValueError(
            f"the checksum of the strings' lengths does not match: stored {stored.hex()}, calculated {computed.hex()}"
        )
    position += 4
    crc = crc32c(data[position:], crc32c(fixed + stored))
    strings = []
    for length in lengths:
        strings.append(data[position : position + length])
        position += length
    return strings, crc


def _fixed_lengths(lengths: list[int]) -> bytes:
    return b"".join(struct.pack("<I" if length < 1 << 32 else "<Q", length) for length in lengths)
