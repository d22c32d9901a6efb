"""Strings one by one: `tf.strings.length`, `substr`, `strip`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.merged_shape import shape_text
from tfexp.core.op import define_op
from tfexp.core.shape import TensorShape, broadcast_shapes
from tfexp.graph.tensor import Tensor
from tfexp.ops.shape_rules import shape_preserving, with_rank
from tfexp.ops.string_arrays import attr_bytes, shown, string_array, texts_of
from tfexp.ops.string_bytes import Bytes, lay_out

SPACE = b" \t\n\v\f\r"

# --- length, white space, case -----------------------------------------------------------------------------------------

string_length_op = define_op(
    "StringLength(input: string) -> (output: int32) {unit: string in ['BYTE','UTF8_CHAR'] = 'BYTE'}"
)
shape_preserving(string_length_op)

# Bytes that go on with a character of UTF-8: every other one begins a character.
_CONTINUATIONS = bytes(range(0x80, 0xC0))


@string_length_op.kernel("CPU")
def _(ctx: Any, input: np.ndarray, *, unit: bytes | str) -> Any:
    texts = texts_of(input)
    if attr_bytes(unit) == b"UTF8_CHAR":
        texts = [text.translate(None, _CONTINUATIONS) for text in texts]
    return np.fromiter(map(len, texts), np.int32, len(texts)).reshape(np.shape(input))


def string_length(input: Any, name: str | None = None, unit: str = "BYTE") -> Tensor:
    """The length of each string, int32, in bytes or (`unit="UTF8_CHAR"`) in characters. Source: `tf.strings.length`."""
    length: Tensor = string_length_op(input, unit=unit, name=name)
    return length


string_strip_op = define_op("StringStrip(input: string) -> (output: string)")
shape_preserving(string_strip_op)


@string_strip_op.kernel("CPU")
def _(ctx: Any, input: np.ndarray) -> np.ndarray:
    return string_array([text.strip(SPACE) for text in texts_of(input)], np.shape(input))


def string_strip(input: Any, name: str | None = None) -> Tensor:
    """Each string without the ASCII white space at its ends. Source: `tf.strings.strip`."""
    stripped: Tensor = string_strip_op(input, name=name)
    return stripped


# --- parts -------------------------------------------------------------------------------------------------------------

substr_op = define_op(
    "Substr(input: string, pos: T, len: T) -> (output: string) "
    "{T: type in [int32,int64]; unit: string in ['BYTE','UTF8_CHAR'] = 'BYTE'}"
)


@substr_op.shape
def _(input: TensorShape, pos: TensorShape, len: TensorShape) -> TensorShape:
    if len.rank is not None:
        with_rank(pos, len.rank)
    # What is known of only one of them does not fit, either.
    if None not in (pos.rank, len.rank) and pos.as_list() != len.as_list():
        raise ValueError(f"pos and len shapes must match: {shape_text(pos)} vs. {shape_text(len)}")
    return broadcast_shapes(input, pos)


@substr_op.kernel("CPU")
def _(ctx: Any, input: np.ndarray, pos: np.ndarray, len: np.ndarray, *, unit: bytes | str) -> np.ndarray:
    if np.shape(pos) != np.shape(len):
        raise InvalidArgumentError(
            None, None, f"pos and len should have the same shape, got: {np.shape(pos)} vs. {np.shape(len)}"
        )
    texts, starts, lengths = np.broadcast_arrays(np.asarray(input, object), pos, len)
    part = _characters if attr_bytes(unit) == b"UTF8_CHAR" else _bytes
    return part(lay_out(texts_of(texts)), starts.ravel(), lengths.ravel()).reshape(texts.shape)


def _bytes(texts: Bytes, starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    starts, lengths = _within(texts.sizes, starts, lengths, lambda index: f" b'{shown(texts.text(index))}'")
    return texts.cut(texts.starts + starts, lengths)


def _characters(texts: Bytes, starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    # Every byte that goes on with no character begins one, or comes after a text.
    bounds = np.flatnonzero((texts.data & 0xC0) != 0x80)
    first, last = np.searchsorted(bounds, (texts.starts, texts.starts + texts.sizes))
    starts, lengths = _within(last - first, starts, lengths, lambda index: "")
    begins = bounds[first + starts]
    return texts.cut(begins, bounds[first + starts + lengths] - begins)


def _within(
    sizes: np.ndarray, starts: np.ndarray, lengths: np.ndarray, named: Callable[[int], str]
) -> tuple[np.ndarray, np.ndarray]:
    """Parts of texts of these sizes: starts counted from 0, lengths cut to what there is. `named`: a text in an error."""
    for index in np.flatnonzero((starts < -sizes) | (starts > sizes))[:1].tolist():
        at = f"string{named(index)} at index {index}"
        raise InvalidArgumentError(None, None, f"pos {starts[index]} out of range for {at}")
    starts = np.where(starts < 0, starts + sizes, starts)
    left = sizes - starts
    return starts, np.where((lengths < 0) | (lengths > left), left, lengths)


def substr(input: Any, pos: Any, len: Any, name: str | None = None, unit: str = "BYTE") -> Tensor:
    """From each string the part of up to `len` bytes (or `"UTF8_CHAR"`s) from `pos` on; below 0: from the end.

    `pos` and `len` have one shape, which broadcasts with the strings'. InvalidArgumentError where `pos` is outside the
    string. Source: `tf.strings.substr`.
    """
    part: Tensor = substr_op(input, pos, len, unit=unit, name=name)
    return part


# --- base64 ------------------------------------------------------------------------------------------------------------
