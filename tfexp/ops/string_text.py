"""Strings one by one: `tf.strings.length`, `substr`, `strip`, `lower`, `upper`, base64."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.merged_shape import shape_text
from tfexp.core.op import Op, define_op
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


string_lower_op = define_op("StringLower(input: string) -> (output: string) {encoding: string = ''}")
string_upper_op = define_op("StringUpper(input: string) -> (output: string) {encoding: string = ''}")


def _case_kernel(op: Op, of_bytes: Any, of_text: Any) -> None:
    shape_preserving(op)

    @op.kernel("CPU")
    def _(ctx: Any, input: np.ndarray, *, encoding: bytes | str) -> np.ndarray:
        coding = attr_bytes(encoding)
        if coding not in (b"", b"utf-8"):
            raise InvalidArgumentError(None, None, f"only utf-8 or '' (no encoding) is supported, received {shown(coding)}")
        if coding == b"":
            return string_array([of_bytes(text) for text in texts_of(input)], np.shape(input))
        decoded = [text.decode("utf-8", "replace") for text in texts_of(input)]
        return string_array([of_text(text).encode() for text in decoded], np.shape(input))


_case_kernel(string_lower_op, bytes.lower, str.lower)
_case_kernel(string_upper_op, bytes.upper, str.upper)


def string_lower(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Each string in lower case: its ASCII letters, or (`encoding="utf-8"`) all of them. Source: `tf.strings.lower`."""
    lower: Tensor = string_lower_op(input, encoding=encoding, name=name)
    return lower


def string_upper(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Each string in upper case: its ASCII letters, or (`encoding="utf-8"`) all of them. Source: `tf.strings.upper`."""
    upper: Tensor = string_upper_op(input, encoding=encoding, name=name)
    return upper


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

encode_base64_op = define_op("EncodeBase64(input: string) -> (output: string) {pad: bool = false}")
shape_preserving(encode_base64_op).not_differentiable()


@encode_base64_op.kernel("CPU")
def _(ctx: Any, input: np.ndarray, *, pad: bool) -> np.ndarray:
    encoded = [base64.urlsafe_b64encode(text) for text in texts_of(input)]
    return string_array(encoded if pad else [text.rstrip(b"=") for text in encoded], np.shape(input))


def encode_base64(input: Any, pad: bool = False, name: str | None = None) -> Tensor:
    """Each string in the web-safe base64 alphabet, with `=` at the end if `pad`. Source: `tf.encode_base64`."""
    encoded: Tensor = encode_base64_op(input, pad=pad, name=name)
    return encoded


decode_base64_op = define_op("DecodeBase64(input: string) -> (output: string)")
shape_preserving(decode_base64_op).not_differentiable()

_BASE64 = re.compile(rb"[0-9A-Za-z_-]*")


@decode_base64_op.kernel("CPU")
def _(ctx: Any, input: np.ndarray) -> np.ndarray:
    return string_array([_from_base64(text) for text in texts_of(input)], np.shape(input))


def _from_base64(text: bytes) -> bytes:
    if len(text) % 4 == 1:
        raise InvalidArgumentError(None, None, "Base64 string length cannot be 1 modulo 4.")
    digits = text
    if len(text) % 4 == 0:
        digits = text[:-2] if text.endswith(b"==") else text[:-1] if text.endswith(b"=") else text
    if not _BASE64.fullmatch(digits):
        raise InvalidArgumentError(None, None, "Invalid character found in base64.")
    try:
        return base64.urlsafe_b64decode(digits + b"=" * (-len(digits) % 4))
    except binascii.Error as error:
        raise InvalidArgumentError(None, None, f"Invalid base64: {error}") from None


def decode_base64(input: Any, name: str | None = None) -> Tensor:
    """What web-safe base64 texts, padded or not, stand for. Source: `tf.decode_base64`."""
    decoded: Tensor = decode_base64_op(input, name=name)
    return decoded
