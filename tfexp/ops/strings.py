"""Strings: joining, and to and from numbers. Values are object arrays of `bytes`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.merged_shape import merged
from tfexp.core.op import define_op
from tfexp.core.shape import TensorShape, dims_text
from tfexp.core.text import as_text
from tfexp.formats.csv_scan import PlainFields
from tfexp.graph.tensor import Tensor
from tfexp.ops.shape_rules import shape_preserving
from tfexp.ops.string_arrays import attr_bytes, shown, string_array
from tfexp.ops.string_bytes import decimals

# --- joining -----------------------------------------------------------------------------------------------------------

string_join_op = define_op("StringJoin(inputs: N * string) -> (output: string) {N: int >= 0; separator: string = ''}")


@string_join_op.shape
def _(inputs: list[TensorShape]) -> TensorShape:
    shapes = [shape for shape in inputs if shape.rank != 0]
    return reduce(merged, shapes) if shapes else TensorShape(())


@string_join_op.kernel("CPU")
def _(ctx: Any, inputs: list[np.ndarray], *, separator: bytes | str) -> np.ndarray:
    """Element by element; scalars go with everything."""
    shape: tuple[int, ...] = ()
    for array in map(np.asarray, inputs):
        if array.ndim and shape and array.shape != shape:
            raise InvalidArgumentError(
                None, None, f"Input shapes do not match: {dims_text(shape)} vs. {dims_text(array.shape)}"
            )
        shape = array.shape or shape
    columns = [np.broadcast_to(array, shape).ravel() for array in inputs]
    glue = attr_bytes(separator)
    rows = zip(*columns, strict=True) if columns else [()]
    return string_array([glue.join(row) for row in rows], shape)


string_join_op.not_differentiable()


def string_join(inputs: Any, separator: str = "", name: str | None = None) -> Tensor:
    """The elements of string tensors of one shape (or scalars), joined one by one. Source: `tf.strings.join`."""
    joined: Tensor = string_join_op(inputs, separator=separator, name=name)
    return joined


# --- numbers -----------------------------------------------------------------------------------------------------------

as_string_op = define_op(
    "AsString(input: T) -> (output: string) {T: type in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,"
    "uint32,uint64,complex64,complex128,bool,variant,string]; precision: int = -1; scientific: bool = false; "
    "shortest: bool = false; width: int = -1; fill: string = ''}"
)
shape_preserving(as_string_op).not_differentiable()


@as_string_op.kernel("CPU")
def _(
    ctx: Any, input: Any, *, T: DType, precision: int, scientific: bool, shortest: bool, width: int, fill: bytes | str
) -> np.ndarray:
    filling = as_text(fill)
    pattern = _number_format(T, precision, scientific, shortest, width, filling)
    array = np.asarray(input)
    if T.is_bool:
        formatted = ["true" if value else "false" for value in array.ravel()]
    elif T.is_complex:
        formatted = [f"({pattern % value.real},{pattern % value.imag})" for value in array.ravel()]
    elif T is dtypes.string:
        return string_array([value.rjust(max(width, 0)) for value in array.ravel()], array.shape)
    elif pattern == "%d":
        return decimals(array.ravel()).texts().reshape(array.shape)
    else:
        # All of them in one call; no number has a line break in it.
        values = tuple(array.ravel().tolist())
        text = "\n".join([pattern] * len(values)) % values
        return string_array(text.encode().split(b"\n") if values else [], array.shape)
    return string_array([value.encode() for value in formatted], array.shape)


def _number_format(dtype: DType, precision: int, scientific: bool, shortest: bool, width: int, fill: str) -> str:
    """The printf pattern; InvalidArgumentError for settings that the type does not have."""
    is_real = dtype.is_floating or dtype.is_complex
    if not is_real and (scientific or shortest):
        raise InvalidArgumentError(None, None, f"scientific and shortest format not supported for datatype {dtype.name}")
    if not is_real and precision > -1:
        raise InvalidArgumentError(None, None, f"precision not supported for datatype {dtype.name}")
    if scientific and shortest:
        raise InvalidArgumentError(None, None, "Cannot select both scientific and shortest notation")
    if len(fill) > 1:
        raise InvalidArgumentError(None, None, "Fill string must be one or fewer characters")
    if fill not in ("", " ", "+", "-", "0", "#"):
        raise InvalidArgumentError(None, None, f'Fill argument not supported: "{fill}"')
    flag = "" if fill == "+" and dtype.is_unsigned else fill
    size = (str(width) if width > -1 else "") + (f".{precision}" if precision > -1 else "")
    return f"%{flag}{size}{('e' if scientific else 'g' if shortest else 'f') if is_real else 'd'}"


def as_string(
    input: Any,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Tensor:
    """Numbers and bools as text: `%f` (`scientific`: `%e`, `shortest`: `%g`) with that precision, width and flag.

    Source: `tf.as_string`. Settings that the dtype does not have are InvalidArgumentErrors at run time.
    """
    text: Tensor = as_string_op(
        input, precision=precision, scientific=scientific, shortest=shortest, width=width, fill=fill, name=name
    )
    return text


string_to_number_op = define_op(
    "StringToNumber(string_tensor: string) -> (output: out_type) "
    "{out_type: type in [float,double,int32,int64,uint32,uint64] = float}"
)
shape_preserving(string_to_number_op).not_differentiable()

FEW_TEXTS = 512  # below, Python reads numbers sooner than operations on arrays

_HEXADECIMAL = re.compile(rb"\s*[+-]?0x([0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(p[+-]?[0-9]+)?\s*", re.I)


def parsed_number(text: bytes, dtype: DType) -> int | float | None:
    """The number that a text is, None for one that is not a number or too large for an integer type."""
    try:
        if b"_" not in text:  # Python's literals may have it
            number: int | float = int(text) if dtype.is_integer else float(text)
            return number if not dtype.is_integer or dtype.min <= number <= dtype.max else None
    except ValueError:
        if dtype.is_floating and _HEXADECIMAL.fullmatch(text):
            return float.fromhex(text.decode())
    return None


def parsed_numbers(texts: Sequence[Any], dtype: DType) -> np.ndarray | None:
    """All texts (or numbers already) as numbers; None where one of them needs a closer look (`parsed_number`)."""
    try:
        lines = b"\n".join([*texts, b""])
    except TypeError:
        lines = b"\n".join([text for text in texts if isinstance(text, bytes)])
    if b"_" in lines:  # Python's literals may have it
        return None
    parse, dtype_of_all = (int, np.int64) if dtype.is_integer else (float, np.float64)
    numbers = _plain_integers(lines, len(texts)) if dtype.is_integer and len(texts) >= FEW_TEXTS else None
    if numbers is None:
        try:
            numbers = np.fromiter(map(parse, texts), dtype_of_all, len(texts))
        except (ValueError, OverflowError):
            return None
    if dtype.is_integer and len(texts) and not dtype.min <= numbers.min() <= numbers.max() <= dtype.max:
        return None
    with np.errstate(over="ignore"):  # too large for a float32 is inf
        result: np.ndarray = numbers.astype(dtype.as_numpy_dtype)
    return result


def _plain_integers(lines: bytes, count: int) -> np.ndarray | None:
    """The integers in so many lines, if all of them are as short and plain as most are."""
    fields = PlainFields.split(lines, b"\n", count)
    if fields is None or fields.count != 1:
        return None
    numbers, readable = fields.numbers(0, integer=True)
    return numbers if readable.all() else None


def _number(text: bytes, dtype: DType) -> int | float:
    number = parsed_number(text, dtype)
    if number is None:
        raise InvalidArgumentError(None, None, f"StringToNumberOp could not correctly convert string: {shown(text)}")
    return number


@string_to_number_op.kernel("CPU")
def _(ctx: Any, string_tensor: np.ndarray, *, out_type: DType) -> np.ndarray:
    texts = np.asarray(string_tensor)
    plain = parsed_numbers(texts.ravel().tolist(), out_type)
    if plain is not None:
        return plain.reshape(texts.shape)
    with np.errstate(over="ignore"):  # too large for a float32 is inf
        numbers: Any = np.array([_number(text, out_type) for text in texts.ravel()], out_type.as_numpy_dtype)
    return numbers.reshape(texts.shape)


def string_to_number(
    string_tensor: Any = None, out_type: Any = dtypes.float32, name: str | None = None, input: Any = None
) -> Tensor:
    """Texts as numbers; InvalidArgumentError for one that is not, or too large. Source: `tf.string_to_number`."""
    number: Tensor = string_to_number_op(input if string_tensor is None else string_tensor, out_type=out_type, name=name)
    return number
