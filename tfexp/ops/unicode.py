"""Texts in Unicode's encodings as code points, and back. Source: `tf.strings.unicode_*`, TF 1.15.

What is malformed becomes `replacement_char`, once for each longest part that could not go on (`errors="replace"`), is left
out ("ignore"), or is an InvalidArgumentError ("strict").
"""

from __future__ import annotations

import codecs
import itertools
from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.core.text import as_str_any
from tfexp.graph.tensor import Tensor
from tfexp.ops.shape_rules import with_rank

Array = np.ndarray
_LAST_POINT = 0x10FFFF
_ERRORS = "errors: string in ['strict','replace','ignore'] = 'replace'; replacement_char: int = 65533"
_CONTROL = "replace_control_characters: bool = false"
_SPLITS = "Tsplits: type in [int32,int64] = int64"
_ENCODINGS = "output_encoding: string in ['UTF-8','UTF-16-BE','UTF-32-BE']"

decode_op = define_op(
    f"UnicodeDecode(input: string) -> (row_splits: Tsplits, char_values: int32) {{input_encoding: string; {_ERRORS}; "
    f"{_CONTROL}; {_SPLITS}}}"
)
decode_with_offsets_op = define_op(
    "UnicodeDecodeWithOffsets(input: string) -> (row_splits: Tsplits, char_values: int32, char_to_byte_starts: int64) "
    f"{{input_encoding: string; {_ERRORS}; {_CONTROL}; {_SPLITS}}}"
)
encode_op = define_op(
    "UnicodeEncode(input_values: int32, input_splits: Tsplits) -> (output: string) {errors: string in "
    f"['ignore','replace','strict'] = 'replace'; {_ENCODINGS}; replacement_char: int = 65533; {_SPLITS}}}"
)
transcode_op = define_op(
    f"UnicodeTranscode(input: string) -> (output: string) {{input_encoding: string; {_ENCODINGS}; {_ERRORS}; {_CONTROL}}}"
)


def _decoded_shapes(count: int) -> Any:
    def rule(input: InputShape) -> list[TensorShape]:
        elements = TensorShape(input.known_dims).num_elements() if input.known_dims is not None else None
        return [TensorShape([None if elements is None else elements + 1]), *[TensorShape([None])] * count]

    return rule


decode_op.shape(_decoded_shapes(1))
decode_with_offsets_op.shape(_decoded_shapes(2))
transcode_op.shape(lambda input: input)


@encode_op.shape
def _(values: InputShape, splits: InputShape) -> TensorShape:
    with_rank(values, 1)
    size = with_rank(splits, 1)[0].value
    return TensorShape([None if size is None else size - 1])


def _codec(name: Any) -> str:
    try:
        return codecs.lookup(as_str_any(name)).name
    except LookupError:
        raise InvalidArgumentError(
            None, None, f"Could not create converter for input encoding: {as_str_any(name)}"
        ) from None


def _by_mark(raw: bytes, codec: str) -> tuple[str, int]:
    """The codec with the order of bytes that the text's mark tells (without one: highest first), and the mark's length."""
    for ending, mark in _MARKS.get(codec, {}).items():
        if raw.startswith(mark):
            return codec + ending, len(mark)
    return (codec + "-be" if codec in _MARKS else codec), 0


_MARKS = {
    "utf-16": {"-le": codecs.BOM_UTF16_LE, "-be": codecs.BOM_UTF16_BE},
    "utf-32": {"-le": codecs.BOM_UTF32_LE, "-be": codecs.BOM_UTF32_BE},
}


def _points(text: str) -> Array:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.int32)


def _widths(points: Array, codec: str) -> Array:
    """How many bytes each code point takes in one of Unicode's own encodings."""
    if codec == "utf-8":
        return 1 + (points >= 0x80) + (points >= 0x800) + (points >= 0x10000)
    if codec.startswith("utf-16"):
        return np.where(points >= 0x10000, 4, 2)
    return np.full(points.shape, 4)


def _begins(raw: bytes, points: Array, codec: str) -> Array:
    """Where in `raw`, which is well-formed, each of its code points begins."""
    if codec.startswith(("utf-8", "utf-16", "utf-32")):
        widths = _widths(points, codec)
        return np.cumsum(widths) - widths
    if len(points) == len(raw):
        return np.arange(len(raw))
    step = codecs.getincrementaldecoder(codec)().decode
    ends = np.cumsum([len(step(raw[i : i + 1])) for i in range(len(raw))])
    return np.concatenate([[0], np.searchsorted(ends, np.arange(1, len(points))) + 1])


def _parts(raw: bytes, codec: str, errors: str, replacement: int) -> tuple[Array, Array]:
    """(code points, where in `raw` each begins)."""
    points: list[Array] = []
    starts: list[Array] = []
    codec, mark = _by_mark(raw, codec)
    place = mark
    while place < len(raw):
        try:
            end, bad = len(raw), len(raw)
            good = raw[place:].decode(codec)
        except UnicodeDecodeError as error:
            end, bad = place + error.start, place + error.end
            good = raw[place:end].decode(codec)
        found = _points(good)
        points.append(found)
        starts.append(place + _begins(raw[place:end], found, codec))
        if end < len(raw):
            if errors == "strict":
                raise InvalidArgumentError(None, None, "Invalid formatting on input string")
            if errors == "replace":
                points.append(np.array([replacement], np.int32))
                starts.append(np.array([end]))
        place = bad
    nothing = np.zeros(0, np.int32)
    places = np.concatenate([nothing.astype(np.int64), *starts])
    places[places == mark] = 0  # the mark is a part of the first
    return np.concatenate([nothing, *points]), places


def _well_formed(raw: list[bytes]) -> tuple[Array, Array, Array] | None:
    """(row splits, code points, their places in their texts) of UTF-8, all texts at once; None where one is malformed."""
    joined = b"".join(raw)
    octets = np.frombuffer(joined, np.uint8)
    begins = np.flatnonzero((octets & 0xC0) != 0x80)
    ends = np.cumsum([0, *map(len, raw)])
    splits = np.searchsorted(begins, ends)
    # A text must not go on with what the one before it began.
    inner = ends[(ends > 0) & (ends < len(joined))]
    if np.any((octets[inner] & 0xC0) == 0x80):
        return None
    try:
        points = _points(joined.decode("utf-8"))
    except UnicodeDecodeError:
        return None
    return splits, points, begins - np.repeat(ends[:-1], np.diff(splits))


def _check_replacement(char: int) -> None:
    if not 0 <= char <= _LAST_POINT:
        raise InvalidArgumentError(None, None, "replacement_char out of unicode codepoint range")


def _decode(
    texts: Any, encoding: Any, errors: Any, replacement_char: int, replace_control_characters: bool
) -> tuple[Array, Array, Array]:
    """(row splits, code points, where in its text each begins)."""
    _check_replacement(replacement_char)
    codec = _codec(encoding)
    raw = list(np.ravel(np.asarray(texts, object)))
    found = _well_formed(raw) if codec == "utf-8" else None
    if found is None:
        parts = [_parts(text, codec, as_str_any(errors), replacement_char) for text in raw]
        splits = np.cumsum([0, *(len(points) for points, _ in parts)])
        points = np.concatenate([np.zeros(0, np.int32), *(points for points, _ in parts)])
        starts = np.concatenate([np.zeros(0, np.int64), *(starts for _, starts in parts)])
    else:
        splits, points, starts = found
    control = points < 0x20
    if replace_control_characters and as_str_any(errors) == "ignore":
        splits = np.concatenate([[0], np.cumsum(~control)])[splits]
        points, starts = points[~control], starts[~control]
    elif replace_control_characters:
        points = np.where(control, np.int32(replacement_char), points)
    return splits, np.asarray(points, np.int32), np.asarray(starts, np.int64)


@decode_op.kernel("CPU")
def _(ctx: Any, input: Any, *, input_encoding: Any, errors: Any, Tsplits: Any, **options: Any) -> list[Array]:
    splits, points, _ = _decode(input, input_encoding, errors, **options)
    return [splits.astype(Tsplits.as_numpy_dtype), points]


@decode_with_offsets_op.kernel("CPU")
def _(ctx: Any, input: Any, *, input_encoding: Any, errors: Any, Tsplits: Any, **options: Any) -> list[Array]:
    splits, points, starts = _decode(input, input_encoding, errors, **options)
    return [splits.astype(Tsplits.as_numpy_dtype), points, starts]


def _encode(points: Array, splits: Array, encoding: Any, errors: str, replacement: int) -> Array:
    """The texts of rows of code points."""
    valid = (points >= 0) & (points <= _LAST_POINT) & ~((points >= 0xD800) & (points <= 0xDFFF))
    if not valid.all():
        if errors == "strict":
            raise InvalidArgumentError(None, None, "Code point is out of range for Unicode, or a noncharacter.")
        if errors == "replace":
            points = np.where(valid, points, replacement)
        else:
            splits = np.concatenate([[0], np.cumsum(valid)])[splits]
            points = points[valid]
    codec = _codec(encoding)
    joined = points.astype("<u4").tobytes().decode("utf-32-le").encode(codec)
    ends = np.concatenate([[0], np.cumsum(_widths(points, codec))])[splits].tolist()
    result = np.empty(len(ends) - 1, object)
    result[:] = [joined[begin:end] for begin, end in itertools.pairwise(ends)]
    return result


@encode_op.kernel("CPU")
def _(
    ctx: Any, input_values: Array, input_splits: Array, *, errors: Any, output_encoding: Any, replacement_char: int
) -> Array:
    _check_replacement(replacement_char)
    splits = np.asarray(input_splits)
    if splits.size == 0 or splits[0] != 0 or splits[-1] != len(input_values) or np.any(np.diff(splits) < 0):
        raise InvalidArgumentError(
            None, None, f"input_splits must go from 0 to the number of values ({len(input_values)}) and not decrease"
        )
    return _encode(input_values, splits, output_encoding, as_str_any(errors), replacement_char)


@transcode_op.kernel("CPU")
def _(
    ctx: Any,
    input: Any,
    *,
    input_encoding: Any,
    output_encoding: Any,
    errors: Any,
    replacement_char: int,
    replace_control_characters: bool,
) -> Array:
    splits, points, _ = _decode(input, input_encoding, errors, replacement_char, replace_control_characters)
    return _encode(points, splits, output_encoding, "replace", replacement_char).reshape(np.shape(input))


def unicode_transcode(
    input: Any,
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Tensor:
    """Texts in another encoding. Source: `tf.strings.unicode_transcode`."""
    result: Tensor = transcode_op(
        input,
        input_encoding=input_encoding,
        output_encoding=output_encoding,
        errors=errors,
        replacement_char=replacement_char,
        replace_control_characters=replace_control_characters,
        name=name,
    )
    return result
