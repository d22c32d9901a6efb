"""Slices of partitioned variables: their text form (`7 5 0,3:-`), their proto, and their keys in a
checkpoint's index.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from tfexp.core.errors import InvalidArgumentError
from tfexp.formats.protos.tensor_bundle import TensorSliceProto


@dataclass(frozen=True)
class TensorSlice:
    """A box of a tensor: (start, length) of each dimension, length None where the whole dimension is meant."""

    extents: tuple[tuple[int, int | None], ...]

    @classmethod
    def parse(cls, text: str) -> TensorSlice:
        """The slice of `start,length` or `-` for each dimension, joined by `:`. InvalidArgumentError
        otherwise.
        """
        extents: list[tuple[int, int | None]] = []
        for part in text.split(":"):
            if part == "-":
                extents.append((0, None))
                continue
            start, comma, length = part.partition(",")
            if not (comma and start.isdecimal() and length.isdecimal() and int(length) > 0):
                raise InvalidArgumentError(
                    None, None, f"Expected a pair of numbers or '-' but got '{part}' in the slice '{text}'"
                )
            extents.append((int(start), int(length)))
        return cls(tuple(extents))

    @classmethod
    def from_proto(cls, proto: Any) -> TensorSlice:
        """The slice of a TensorSliceProto."""
        return cls(tuple((e.start, e.length if e.HasField("length") else None) for e in proto.extent))

    def to_proto(self) -> Any:
        """The TensorSliceProto."""
        proto = TensorSliceProto()
        for start, length in self.extents:
            extent = proto.extent.add()
            if length is not None:
                extent.start, extent.length = start, length
        return proto

    def boxes(self, shape: tuple[int, ...]) -> tuple[slice, ...]:
        """The NumPy index of this slice in a tensor of `shape`; InvalidArgumentError where it does not lie in
        it.
        """
        if len(shape) != len(self.extents):
            raise InvalidArgumentError(
                None, None, f"the slice {self} has {len(self.extents)} dimensions, the shape {list(shape)} {len(shape)}"
            )
        boxes = []
        for dimension, (size, (start, length)) in enumerate(zip(shape, self.extents, strict=True)):
            stop = size if length is None else start + length
            if stop > size:
                raise InvalidArgumentError(
                    None,
                    None,
                    f"Extent in dimension {dimension} out of bounds: shape = {list(shape)}, slice = {self}",
                )
            boxes.append(slice(start, stop))
        return tuple(boxes)

    def is_full(self, shape: tuple[int, ...]) -> bool:
        """Whether the slice is all of a tensor of `shape`, said by `-` in every dimension."""
        return len(shape) == len(self.extents) and all(length is None for _, length in self.extents)

    def __str__(self) -> str:
        return ":".join("-" if length is None else f"{start},{length}" for start, length in self.extents)


def parse_shape_and_slice(text: str) -> tuple[tuple[int, ...], TensorSlice]:
    """(shape of the whole tensor, slice) of `7 5 0,3:-`, as SaveV2 and RestoreV2 take it.

    Raises InvalidArgumentError for text that cannot be read or a slice outside the shape.
    """
    *dims, spec = text.split(" ")
    if not dims:
        raise InvalidArgumentError(None, None, f"Need least two elements in shape_and_slice specification: {text}")
    if not all(dim.isdecimal() for dim in dims):
        raise InvalidArgumentError(None, None, f"Non numerical dimension in shape_and_slice: {text}")
    shape = tuple(map(int, dims))
    found = TensorSlice.parse(spec)
    found.boxes(shape)
    return shape, found


def slice_key(name: str, part: TensorSlice) -> bytes:
    """The index key of a slice of tensor `name`: 0, name, rank, then (start, length or -1) of each dimension,
    each in an encoding whose byte order is the values' order (OrderedCode)."""
    key = _unsigned(0) + _text(name.encode()) + _unsigned(len(part.extents))
    for start, length in part.extents:
        key += _signed(start) + _signed(-1 if length is None else length)
    return key


def _unsigned(value: int) -> bytes:
    """A byte that counts the value's big-endian bytes, then those."""
    size = (value.bit_length() + 7) // 8
    return bytes((size,)) + value.to_bytes(size, "big")


def _text(text: bytes) -> bytes:
    """The text with 0x00 and 0xFF escaped, then an end mark that sorts below any going on."""
    escapes = {b"\x00": b"\x00\xff", b"\xff": b"\xff\x00"}
    return re.sub(b"[\x00\xff]", lambda found: escapes[found[0]], text) + b"\x00\x01"


def _signed(value: int) -> bytes:
    """Big-endian two's complement in the fewest bytes that leave room for as many leading bits, which are
    then flipped, as there are bytes: 1 to 10 of 7 bits each."""
    magnitude = value if value >= 0 else ~value
    size = 1
    while magnitude >= 1 << (7 * size - 1):
        size += 1
    header = ((1 << size) - 1) << (7 * size)
    return ((value & ((1 << 8 * size) - 1)) ^ header).to_bytes(size, "big")
