"""Parsing `tf.Example`s: the ops ParseExample, ParseExampleV2 and ParseSingleExample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.merged_shape import shape_text
from tfexp.core.op import define_op
from tfexp.core.shape import TensorShape, dims_text
from tfexp.formats.example_scan import Column, read_columns
from tfexp.formats.example_template import Templates
from tfexp.formats.example_wire import BYTES, FLOATS, INTS, MalformedError
from tfexp.ops.parse_one_example import parse_one
from tfexp.ops.shape_rules import with_rank
from tfexp.ops.string_arrays import attr_bytes, shown, texts_of

_KINDS = {dtypes.float32: FLOATS, dtypes.int64: INTS, dtypes.string: BYTES}
_KIND_NAMES = {FLOATS: "float", INTS: "int64", BYTES: "string"}

parse_example_op = define_op(
    "ParseExample(serialized: string, names: string, sparse_keys: Nsparse * string, dense_keys: Ndense * string, "
    "dense_defaults: Tdense) -> (sparse_indices: Nsparse * int64, sparse_values: sparse_types, sparse_shapes: Nsparse * "
    "int64, dense_values: Tdense) {Nsparse: int >= 0; Ndense: int >= 0; sparse_types: list(type) in [float,int64,string] "
    ">= 0; Tdense: list(type) in [float,int64,string] >= 0; dense_shapes: list(shape) >= 0}"
)
parse_example_v2_op = define_op(
    "ParseExampleV2(serialized: string, names: string, sparse_keys: string, dense_keys: string, ragged_keys: string, "
    "dense_defaults: Tdense) -> (sparse_indices: num_sparse * int64, sparse_values: sparse_types, sparse_shapes: "
    "num_sparse * int64, dense_values: Tdense, ragged_values: ragged_value_types, ragged_row_splits: ragged_split_types) "
    "{Tdense: list(type) in [float,int64,string] >= 0; num_sparse: int >= 0; sparse_types: list(type) in "
    "[float,int64,string] >= 0; ragged_value_types: list(type) in [float,int64,string] >= 0; ragged_split_types: "
    "list(type) in [int32,int64] >= 0; dense_shapes: list(shape) >= 0}"
)
parse_single_example_op = define_op(
    "ParseSingleExample(serialized: string, dense_defaults: Tdense) -> (sparse_indices: num_sparse * int64, "
    "sparse_values: sparse_types, sparse_shapes: num_sparse * int64, dense_values: Tdense) {num_sparse: int >= 0; "
    "sparse_keys: list(string) >= 0; dense_keys: list(string) >= 0; sparse_types: list(type) in [float,int64,string] >= 0; "
    "Tdense: list(type) in [float,int64,string] >= 0; dense_shapes: list(shape) >= 0}"
)


# --- shapes -----------------------------------------------------------------------------------------------------------


def _shapes(serialized: TensorShape, sparse: int, ragged: int, dense_shapes: Sequence[TensorShape]) -> list[TensorShape]:
    batch, rank = serialized.known_dims, serialized.rank
    depth = None if rank is None else rank + 1
    dense = [TensorShape(None) if batch is None else TensorShape([*batch, *shape.as_list()]) for shape in dense_shapes]
    splits = TensorShape([None if not batch or batch[0] is None else batch[0] + 1])
    return [
        *[TensorShape([None, depth])] * sparse,
        *[TensorShape([None])] * sparse,
        *[TensorShape([depth])] * sparse,
        *dense,
        *[TensorShape([None])] * ragged,
        *[splits] * ragged,
    ]


@parse_example_op.shape
def _(serialized: TensorShape, *others: Any, Nsparse: int, dense_shapes: Sequence[TensorShape]) -> list[TensorShape]:
    return _shapes(with_rank(serialized, 1), Nsparse, 0, dense_shapes)


@parse_example_v2_op.shape
def _(
    serialized: TensorShape,
    *others: Any,
    num_sparse: int,
    ragged_value_types: Sequence[DType],
    dense_shapes: Sequence[TensorShape],
) -> list[TensorShape]:
    if serialized.rank is not None and serialized.rank > 1:
        raise ValueError(f"Shape must be at most rank 1 but is rank {serialized.rank}")
    return _shapes(serialized, num_sparse, len(ragged_value_types), dense_shapes)


@parse_single_example_op.shape
def _(
    serialized: TensorShape, dense_defaults: Any, *, num_sparse: int, dense_shapes: Sequence[TensorShape]
) -> list[TensorShape]:
    return _shapes(with_rank(serialized, 0), num_sparse, 0, dense_shapes)


# --- kernels ----------------------------------------------------------------------------------------------------------


@parse_example_op.kernel("CPU")
def _(
    ctx: Any,
    serialized: Any,
    names: Any,
    sparse_keys: Sequence[Any],
    dense_keys: Sequence[Any],
    dense_defaults: Sequence[Any],
    *,
    sparse_types: Sequence[DType],
    Tdense: Sequence[DType],
    dense_shapes: Sequence[TensorShape],
) -> list[Any]:
    sparse = [(texts_of(key)[0], dtype) for key, dtype in zip(sparse_keys, sparse_types, strict=True)]
    dense = [(texts_of(key)[0], dtype) for key, dtype in zip(dense_keys, Tdense, strict=True)]
    return parse_examples(serialized, names, sparse, dense, [], dense_defaults, dense_shapes, _templates(ctx))


@parse_example_v2_op.kernel("CPU")
def _(
    ctx: Any,
    serialized: Any,
    names: Any,
    sparse_keys: Any,
    dense_keys: Any,
    ragged_keys: Any,
    dense_defaults: Sequence[Any],
    *,
    sparse_types: Sequence[DType],
    Tdense: Sequence[DType],
    ragged_value_types: Sequence[DType],
    ragged_split_types: Sequence[DType],
    dense_shapes: Sequence[TensorShape],
) -> list[Any]:
    sparse = list(zip(texts_of(sparse_keys), sparse_types, strict=True))
    dense = list(zip(texts_of(dense_keys), Tdense, strict=True))
    ragged = list(zip(texts_of(ragged_keys), ragged_value_types, ragged_split_types, strict=True))
    return parse_examples(serialized, names, sparse, dense, ragged, dense_defaults, dense_shapes, _templates(ctx))


@parse_single_example_op.kernel("CPU")
def _(
    ctx: Any,
    serialized: Any,
    dense_defaults: Sequence[Any],
    *,
    sparse_keys: Sequence[bytes | str],
    dense_keys: Sequence[bytes | str],
    sparse_types: Sequence[DType],
    Tdense: Sequence[DType],
    dense_shapes: Sequence[TensorShape],
) -> list[Any]:
    sparse = list(zip(map(attr_bytes, sparse_keys), sparse_types, strict=True))
    dense = list(zip(map(attr_bytes, dense_keys), Tdense, strict=True))
    return parse_examples(serialized, np.empty(0, object), sparse, dense, [], dense_defaults, dense_shapes, _templates(ctx))


def _templates(ctx: Any) -> Templates:
    """What the node remembers of the records that it has parsed; nothing where a graph is still built, of constants."""
    templates: Templates = Templates() if ctx is None else ctx.node_state.setdefault("templates", Templates())
    return templates


class _Batch:
    """What errors say of a record: its name and index, or nothing where there is only one."""

    def __init__(self, serialized: Any, names: Any):
        array = np.asarray(serialized, object)
        self.records, self.shape = texts_of(array), array.shape
        if np.size(names) and np.shape(names) != array.shape:
            raise InvalidArgumentError(
                None,
                None,
                "Expected names have the same shape as serialized: "
                f"name.shape={dims_text(np.shape(names))}, serialized.shape={dims_text(array.shape)}",
            )
        self._names = texts_of(names)

    def _name(self, row: int) -> str:
        return f"Name: {shown(self._names[row]) if self._names else '<unknown>'}, " if self.shape else ""

    def missing(self, row: int, key: bytes, kind: int) -> InvalidArgumentError:
        return InvalidArgumentError(
            None,
            None,
            f"{self._name(row)}Feature: {shown(key)} (data type: {_KIND_NAMES[kind]}) is required but could not be found.",
        )

    def wrong(self, row: int, key: bytes, what: str) -> InvalidArgumentError:
        index = f", Index: {row}" if self.shape else ""
        return InvalidArgumentError(None, None, f"{self._name(row)}Key: {shown(key)}{index}.  {what}")


def parse_examples(
    serialized: Any,
    names: Any,
    sparse: Sequence[tuple[bytes, DType]],
    dense: Sequence[tuple[bytes, DType]],
    ragged: Sequence[tuple[bytes, DType, DType]],
    defaults: Sequence[Any],
    shapes: Sequence[TensorShape],
    templates: Templates | None = None,
) -> list[Any]:
    """The outputs of ParseExampleV2: sparse indices, values, shapes; dense values; ragged values and splits.

    `sparse`, `dense`: (key, dtype); `ragged`: (key, dtype, dtype of the splits). InvalidArgumentError names the record.
    `templates`: what is remembered of earlier records.
    """
    if not np.ndim(serialized) and not np.size(names):
        outputs = parse_one(
            texts_of(serialized)[0],
            [(key, _KINDS[dtype]) for key, dtype in sparse],
            [(key, _KINDS[dtype]) for key, dtype in dense],
            [(key, _KINDS[dtype], splits) for key, dtype, splits in ragged],
            defaults,
            shapes,
        )
        if outputs is not None:
            return outputs
    batch = _Batch(serialized, names)
    keys = [*sparse, *dense, *[(key, dtype) for key, dtype, _ in ragged]]
    try:
        columns = read_columns(batch.records, [(key, _KINDS[dtype]) for key, dtype in keys], templates)
    except MalformedError as error:
        text = shown(batch.records[error.position])
        raise InvalidArgumentError(None, None, f"Could not parse example input, value: '{text}'") from None
    split = len(sparse) + len(dense)
    found = [_sparse(batch, key, _KINDS[dtype], column) for (key, dtype), column in zip(sparse, columns, strict=False)]
    dense_columns = columns[len(sparse) : split]
    values = [
        _dense(batch, key, _KINDS[dtype], column, np.asarray(default), tuple(shape.as_list()))
        for (key, dtype), column, default, shape in zip(dense, dense_columns, defaults, shapes, strict=True)
    ]
    rows = columns[split:]
    for (key, dtype, _), column in zip(ragged, rows, strict=True):
        _check_kinds(batch, key, _KINDS[dtype], column)
    splits: list[Any] = [
        np.cumsum([0, *c.counts]).astype(kind.as_numpy_dtype) for (*_, kind), c in zip(ragged, rows, strict=True)
    ]
    parts = [[one[i] for one in found] for i in range(3)]
    return [*parts[0], *parts[1], *parts[2], *values, *[column.values for column in rows], *splits]


def _check_kinds(batch: _Batch, key: bytes, kind: int, column: Column, dense: bool = False) -> None:
    wrong = (column.kinds != kind) & (column.kinds != 0)
    if wrong.any():
        row = int(np.argmax(wrong))
        actual, expected = _KIND_NAMES[int(column.kinds[row])], _KIND_NAMES[kind]
        told = (
            f"Data type: {actual} but expected type: {expected}"
            if dense
            else f"Expected type: {expected}, Actual type: {actual}"
        )
        raise batch.wrong(row, key, f"Data types don't match. {told}")


def _sparse(batch: _Batch, key: bytes, kind: int, column: Column) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    _check_kinds(batch, key, kind, column)
    counts = column.counts
    inner = np.arange(len(column.values), dtype=np.int64) - np.repeat(np.cumsum(counts) - counts, counts)
    if not batch.shape:
        return inner[:, None], column.values, np.array([len(inner)], np.int64)
    indices = np.empty((len(inner), 2), np.int64)
    indices[:, 0], indices[:, 1] = np.repeat(np.arange(len(counts)), counts), inner
    return indices, column.values, np.array([len(counts), counts.max(initial=0)], np.int64)


def _dense(
    batch: _Batch, key: bytes, kind: int, column: Column, default: np.ndarray, shape: tuple[int | None, ...]
) -> np.ndarray:
    _check_kinds(batch, key, kind, column, dense=True)
    if shape and shape[0] is None:
        return _padded(batch, key, kind, column, default, shape)
    known = [size or 0 for size in shape]
    size = int(np.prod(known, dtype=np.int64))
    absent = column.kinds == 0
    if absent.any() and not (default.size == size and (size or default.shape == shape)):
        raise batch.missing(int(np.argmax(absent)), key, kind)
    wrong = (column.counts != size) & ~absent
    if wrong.any():
        row = int(np.argmax(wrong))
        raise batch.wrong(
            row,
            key,
            f"Number of {_KIND_NAMES[kind]} values != expected.  Values size: {int(column.counts[row])} but output shape: "
            f"{dims_text(known)}",
        )
    whole = (*batch.shape, *known)
    if not absent.any():
        return column.values.reshape(whole)
    filled = np.empty((len(absent), size), column.values.dtype)
    filled[absent] = default.reshape(1, size)
    filled[~absent] = column.values.reshape(-1, size)
    return filled.reshape(whole)


def _padded(
    batch: _Batch, key: bytes, kind: int, column: Column, default: np.ndarray, shape: tuple[int | None, ...]
) -> np.ndarray:
    """Rows of any number of elements, filled up with the default to the length of the longest."""
    rest = [size or 0 for size in shape[1:]]
    stride = int(np.prod(rest, dtype=np.int64))
    counts = column.counts
    wrong = counts % stride != 0 if stride else counts != 0
    if wrong.any():
        row = int(np.argmax(wrong))
        raise batch.wrong(
            row,
            key,
            f"Number of {_KIND_NAMES[kind]} values is not a multiple of stride length. Saw {int(counts[row])} values but "
            f"output shape is: {shape_text(TensorShape(shape))}",
        )
    longest = int(counts.max(initial=0))
    length = longest // stride if stride else 0
    values = column.values
    if (counts != longest).any():
        filled = np.empty((len(counts), longest), values.dtype)
        filled[...] = default.ravel()[0] if default.size else (b"" if kind == BYTES else 0)
        filled[np.arange(longest) < counts[:, None]] = values
        values = filled
    return values.reshape(*batch.shape, length, *rest)
