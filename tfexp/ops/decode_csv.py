"""`tf.decode_csv`: records of comma-separated values as tensors, one for each field (RFC 4180)."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import define_op
from tfexp.core.shape import TensorShape
from tfexp.formats.csv_scan import PlainFields
from tfexp.graph.scopes import executing_eagerly
from tfexp.graph.tensor import Tensor
from tfexp.ops.shape_rules import with_rank_at_most
from tfexp.ops.string_arrays import attr_bytes, shown, string_array, texts_of
from tfexp.ops.strings import FEW_TEXTS, parsed_number, parsed_numbers

decode_csv_op = define_op(
    "DecodeCSV(records: string, record_defaults: OUT_TYPE) -> (output: OUT_TYPE) {OUT_TYPE: list(type) in "
    "[float,double,int32,int64,string] >= 1; field_delim: string = ','; use_quote_delim: bool = true; "
    "na_value: string = ''; select_cols: list(int) = []}"
)

_NAMES = {dtypes.float32: "float", dtypes.float64: "double"}


@decode_csv_op.shape
def _(records: TensorShape, record_defaults: Sequence[TensorShape]) -> list[TensorShape]:
    for default in record_defaults:
        with_rank_at_most(default, 1)
        if default.rank == 1 and (default.num_elements() or 0) > 1:
            raise ValueError("Shape of a default must be a length-0 or length-1 vector, or a scalar.")
    return [records] * len(record_defaults)


@decode_csv_op.kernel("CPU")
def _(
    ctx: Any,
    records: np.ndarray,
    record_defaults: Sequence[Any],
    *,
    OUT_TYPE: Sequence[DType],
    field_delim: bytes | str,
    use_quote_delim: bool,
    na_value: bytes | str,
    select_cols: Sequence[int],
) -> list[np.ndarray]:
    """Errors name the record's index and the field's."""
    delimiter = attr_bytes(field_delim)
    if len(delimiter) != 1:
        raise InvalidArgumentError(None, None, "field_delim should be only 1 char")
    if any(first >= second for first, second in itertools.pairwise([-1, *select_cols])):
        raise InvalidArgumentError(
            None, None, f"select_cols should be strictly increasing indices, but is {list(select_cols)}"
        )
    texts = texts_of(records)
    missing = attr_bytes(na_value)
    columns = None
    if len(texts) == 1:
        columns = _one_record(texts[0], delimiter, use_quote_delim, select_cols, record_defaults, OUT_TYPE, missing)
    elif b"" not in texts:  # which has no fields at all
        columns = plain_columns(texts, delimiter, use_quote_delim, select_cols, record_defaults, OUT_TYPE, missing)
    if columns is None:
        columns = _columns(texts, delimiter, use_quote_delim, select_cols, record_defaults, OUT_TYPE, missing)
    return [column.reshape(np.shape(records)) for column in columns]


def _one_record(
    text: bytes,
    delimiter: bytes,
    quotes: bool,
    selected: Sequence[int],
    defaults: Sequence[Any],
    types: Sequence[DType],
    missing: bytes,
) -> list[np.ndarray] | None:
    """The columns of one plain record, without what NumPy costs; None where a closer look is needed."""
    if not text or b"\r" in text or (quotes and b'"' in text):
        return None
    row = text.split(delimiter)
    if selected:
        row = [row[i] for i in selected if i < len(row)]
    if len(row) != len(types):
        return None
    columns: list[np.ndarray] = []
    with np.errstate(over="ignore"):  # too large for a float32 is inf
        for field, default, dtype in zip(row, defaults, types, strict=True):
            if field in (b"", missing):
                value = next(iter(np.ravel(default).tolist()), None)
            else:
                value = field if dtype is dtypes.string else parsed_number(field, dtype)
            if value is None:
                return None
            columns.append(np.array([value], dtype.as_numpy_dtype))
    return columns


def plain_columns(
    texts: Sequence[bytes] | bytes,
    delimiter: bytes,
    quotes: bool,
    selected: Sequence[int],
    defaults: Sequence[Any],
    types: Sequence[DType],
    missing: bytes,
) -> list[np.ndarray] | None:
    """The columns of records (or of a text in which a newline ends each) where nothing is quoted and nothing is wrong.

    None where a closer look is needed.
    """
    blob, count = (texts, None) if isinstance(texts, bytes) else (b"\n".join([*texts, b""]), len(texts))
    if b"\r" in blob or (quotes and b'"' in blob):
        return None
    fields = PlainFields.split(blob, delimiter, count)
    if fields is None or (fields.count != len(types) and not selected) or any(i >= fields.count for i in selected):
        return None
    columns = []
    for field, default, dtype in zip(selected or range(len(types)), defaults, types, strict=True):
        column = _plain_column(fields, field, np.ravel(default), dtype, missing)
        if column is None:
            return None
        columns.append(column)
    return columns


def _plain_column(fields: PlainFields, field: int, default: np.ndarray, dtype: DType, missing: bytes) -> np.ndarray | None:
    absent = fields.ends[:, field] == fields.starts[:, field]
    if missing:
        absent |= fields.equal(field, missing)
    some = bool(absent.any())
    if some and not default.size:
        return None
    if dtype is dtypes.string:
        column = string_array(fields.texts(field), (len(absent),))
        if some:
            column[absent] = default.tolist()[0]
        return column
    if len(absent) < FEW_TEXTS and not some:
        return parsed_numbers(fields.texts(field), dtype)
    numbers, readable = fields.numbers(field, dtype.is_integer)
    odd = np.flatnonzero(~readable & ~absent)
    if len(odd):
        texts = fields.texts(field)
        parsed = parsed_numbers([texts[i] for i in odd.tolist()], dtype)
        if parsed is None:
            return None
        numbers[odd] = parsed
    if some:
        numbers[absent] = default[0]
    if dtype.is_integer and not dtype.min <= numbers.min() <= numbers.max() <= dtype.max:
        return None
    with np.errstate(over="ignore"):  # too large for a float32 is inf
        result: np.ndarray = numbers.astype(dtype.as_numpy_dtype)
    return result


def _columns(
    texts: Sequence[bytes],
    delimiter: bytes,
    quotes: bool,
    selected: Sequence[int],
    defaults: Sequence[Any],
    types: Sequence[DType],
    missing: bytes,
) -> list[np.ndarray]:
    """The columns of records of any kind. InvalidArgumentError names the record and the field."""
    rows = [_fields(text, delimiter, quotes) for text in texts]
    if selected:
        rows = [[row[i] for i in selected if i < len(row)] for row in rows]
    wanted = len(types)
    for number, row in enumerate(rows):
        if len(row) != wanted:
            raise InvalidArgumentError(None, None, f"Expect {wanted} fields but have {len(row)} in record {number}")
    columns = list(zip(*rows, strict=True)) if rows else [()] * wanted
    results = []
    for field, (column, default, dtype) in enumerate(zip(columns, defaults, types, strict=True)):
        filled = _with_default(column, np.ravel(default), missing, field) if b"" in column or missing in column else column
        results.append(_column(filled, dtype, field))
    return results


def _fields(record: bytes, delimiter: bytes, quotes: bool) -> Sequence[bytes]:
    if not record:
        return []
    if not quotes:
        return record.split(delimiter)
    if b'"' not in record:
        if b"\n" in record or b"\r" in record:
            raise InvalidArgumentError(None, None, "Unquoted fields cannot have quotes/CRLFs inside")
        return record.split(delimiter)
    return _quoted_fields(record, delimiter)


@functools.lru_cache(maxsize=8)
def _field_pattern(delimiter: bytes) -> re.Pattern[bytes]:
    """A field and what ends it."""
    end = re.escape(delimiter)
    return re.compile(rb'(?:"((?:[^"]|"")*)"|([^"\r\n' + end + rb"]*))(?:" + end + rb"|\Z)")


def _quoted_fields(record: bytes, delimiter: bytes) -> list[bytes]:
    fields = []
    pattern = _field_pattern(delimiter)
    position, size = 0, len(record)
    while position <= size:
        match = pattern.match(record, position)
        if match is None:
            raise InvalidArgumentError(None, None, _fault(record, position))
        quoted = match[1]
        fields.append(match[2] if quoted is None else quoted.replace(b'""', b'"'))
        if match.end() == match.end(match.lastindex or 0) + (quoted is not None):
            break  # nothing after the field: the record's end
        position = match.end()
    return fields


def _fault(record: bytes, position: int) -> str:
    if record[position : position + 1] != b'"':
        return "Unquoted fields cannot have quotes/CRLFs inside"
    if re.compile(rb'"(?:[^"]|"")*"').match(record, position):
        return "Quote inside a string has to be escaped by another quote"
    return "Quoted field has to end with quote followed by delim or end"


def _with_default(column: Sequence[Any], default: np.ndarray, missing: bytes, field: int) -> list[Any]:
    """The column with the default, a value of the field's type, for each empty or missing field."""
    if not default.size:
        number = next(i for i, text in enumerate(column) if text in (b"", missing))
        raise InvalidArgumentError(None, None, f"Field {field} is required but missing in record {number}!")
    value = default.tolist()[0]
    return [value if text in (b"", missing) else text for text in column]


def _column(column: Sequence[Any], dtype: DType, field: int) -> np.ndarray:
    if dtype is dtypes.string:
        return string_array(column, (len(column),))
    plain = parsed_numbers(column, dtype)
    if plain is not None:
        return plain
    numbers = [parsed_number(text, dtype) if isinstance(text, bytes) else text for text in column]
    if None in numbers:
        number = numbers.index(None)
        name = _NAMES.get(dtype, dtype.name)
        raise InvalidArgumentError(
            None, None, f"Field {field} in record {number} is not a valid {name}: {shown(column[number])}"
        )
    with np.errstate(over="ignore"):
        result: np.ndarray = np.array(numbers, dtype.as_numpy_dtype)
    return result


def decode_csv(
    records: Any,
    record_defaults: Sequence[Any],
    field_delim: str = ",",
    use_quote_delim: bool = True,
    name: str | None = None,
    na_value: str = "",
    select_cols: Sequence[int] | None = None,
) -> list[Tensor]:
    """The fields of CSV records, a tensor shaped like `records` for each; its default gives the type.

    An empty field, or one that is `na_value`, takes the default; where that is an empty vector, it is an error.
    `select_cols`: the fields (strictly increasing) to which the defaults belong; others are not looked at. Without
    `use_quote_delim` a double quote is a character like others. ValueError for columns out of order, or not as many as
    defaults; InvalidArgumentError at run time, naming record and field. Source: `tf.decode_csv`.
    """
    if select_cols is not None:
        if any(first >= second for first, second in itertools.pairwise(select_cols)):
            raise ValueError("select_cols is not strictly increasing.")
        if select_cols and select_cols[0] < 0:
            raise ValueError("select_cols contains negative values.")
        if len(select_cols) != len(record_defaults):
            raise ValueError("Length of select_cols and record_defaults do not match.")
    fields: list[Tensor] = decode_csv_op(
        records,
        list(record_defaults) if executing_eagerly() else record_defaults,
        field_delim=field_delim,
        use_quote_delim=use_quote_delim,
        na_value=na_value,
        select_cols=list(select_cols or ()),
        name=name,
    )
    return fields
