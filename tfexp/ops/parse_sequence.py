"""Parsing `tf.SequenceExample`s: the ops ParseSequenceExample, ParseSequenceExampleV2 and ParseSingleSequenceExample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.merged_shape import shape_text
from tfexp.core.op import define_op
from tfexp.core.shape import TensorShape, dims_text
from tfexp.formats.example_scan import Column
from tfexp.formats.example_wire import BYTES, FLOATS, INTS, MalformedError
from tfexp.formats.sequence_scan import Lists, read_sequences
from tfexp.ops.shape_rules import with_rank, with_rank_at_most
from tfexp.ops.string_arrays import attr_bytes, shown, texts_of

Array = np.ndarray

_KINDS = {dtypes.float32: FLOATS, dtypes.int64: INTS, dtypes.string: BYTES}

_TYPES = "list(type) in [float,int64,string] >= 0 = []"
_OLD_OUTPUTS = (
    "context_sparse_indices: Ncontext_sparse * int64, context_sparse_values: context_sparse_types, context_sparse_shapes: "
    "Ncontext_sparse * int64, context_dense_values: Tcontext_dense, feature_list_sparse_indices: Nfeature_list_sparse * "
    "int64, feature_list_sparse_values: feature_list_sparse_types, feature_list_sparse_shapes: Nfeature_list_sparse * "
    "int64, feature_list_dense_values: feature_list_dense_types"
)
_OLD_ATTRS = (
    "Ncontext_sparse: int >= 0 = 0; Ncontext_dense: int >= 0 = 0; Nfeature_list_sparse: int >= 0 = 0; Nfeature_list_dense: "
    f"int >= 0 = 0; context_sparse_types: {_TYPES}; Tcontext_dense: {_TYPES}; feature_list_dense_types: {_TYPES}; "
    f"context_dense_shapes: list(shape) >= 0 = []; feature_list_sparse_types: {_TYPES}; feature_list_dense_shapes: "
    "list(shape) >= 0 = []"
)
parse_sequence_example_op = define_op(
    "ParseSequenceExample(serialized: string, debug_name: string, context_dense_defaults: Tcontext_dense) -> "
    f"({_OLD_OUTPUTS}, feature_list_dense_lengths: Nfeature_list_dense * int64) "
    "{feature_list_dense_missing_assumed_empty: list(string) >= 0; context_sparse_keys: list(string) >= 0; "
    "context_dense_keys: list(string) >= 0; feature_list_sparse_keys: list(string) >= 0; feature_list_dense_keys: "
    f"list(string) >= 0; {_OLD_ATTRS}}}"
)
parse_single_sequence_example_op = define_op(
    "ParseSingleSequenceExample(serialized: string, feature_list_dense_missing_assumed_empty: string, context_sparse_keys: "
    "Ncontext_sparse * string, context_dense_keys: Ncontext_dense * string, feature_list_sparse_keys: Nfeature_list_sparse "
    "* string, feature_list_dense_keys: Nfeature_list_dense * string, context_dense_defaults: Tcontext_dense, debug_name: "
    f"string) -> ({_OLD_OUTPUTS}) {{{_OLD_ATTRS}}}"
)
parse_sequence_example_v2_op = define_op(
    "ParseSequenceExampleV2(serialized: string, debug_name: string, context_sparse_keys: string, context_dense_keys: "
    "string, context_ragged_keys: string, feature_list_sparse_keys: string, feature_list_dense_keys: string, "
    "feature_list_ragged_keys: string, feature_list_dense_missing_assumed_empty: bool, context_dense_defaults: "
    "Tcontext_dense) -> (context_sparse_indices: Ncontext_sparse * int64, context_sparse_values: context_sparse_types, "
    "context_sparse_shapes: Ncontext_sparse * int64, context_dense_values: Tcontext_dense, context_ragged_values: "
    "context_ragged_value_types, context_ragged_row_splits: context_ragged_split_types, feature_list_sparse_indices: "
    "Nfeature_list_sparse * int64, feature_list_sparse_values: feature_list_sparse_types, feature_list_sparse_shapes: "
    "Nfeature_list_sparse * int64, feature_list_dense_values: feature_list_dense_types, feature_list_dense_lengths: "
    "Nfeature_list_dense * int64, feature_list_ragged_values: feature_list_ragged_value_types, "
    "feature_list_ragged_outer_splits: feature_list_ragged_split_types, feature_list_ragged_inner_splits: "
    f"feature_list_ragged_split_types) {{Ncontext_sparse: int >= 0 = 0; Tcontext_dense: {_TYPES}; context_sparse_types: "
    f"{_TYPES}; context_ragged_value_types: {_TYPES}; context_ragged_split_types: list(type) in [int32,int64] >= 0 = []; "
    "context_dense_shapes: list(shape) >= 0 = []; Nfeature_list_sparse: int >= 0 = 0; Nfeature_list_dense: int >= 0 = 0; "
    f"feature_list_dense_types: {_TYPES}; feature_list_sparse_types: {_TYPES}; feature_list_ragged_value_types: {_TYPES}; "
    "feature_list_ragged_split_types: list(type) in [int32,int64] >= 0 = []; feature_list_dense_shapes: list(shape) >= 0 = "
    "[]}"
)


# --- shapes -----------------------------------------------------------------------------------------------------------


def _sparse_shapes(count: int, rank: int | None) -> list[TensorShape]:
    return [*[TensorShape([None, rank])] * count, *[TensorShape([None])] * count, *[TensorShape([rank])] * count]


def _dense_shapes(batch: list[int | None] | None, shapes: Sequence[TensorShape], steps: bool) -> list[TensorShape]:
    for shape in shapes:
        if not shape.is_fully_defined():
            raise ValueError(f"Shape {shape_text(shape)} is not fully defined")
    if batch is None:
        return [TensorShape(None)] * len(shapes)
    return [TensorShape([*batch, *[None] * steps, *shape.as_list()]) for shape in shapes]


def _context_shapes(batch: list[int | None] | None, sparse: int, dense: Sequence[TensorShape]) -> list[TensorShape]:
    return [*_sparse_shapes(sparse, None if batch is None else len(batch) + 1), *_dense_shapes(batch, dense, False)]


def _list_shapes(batch: list[int | None] | None, sparse: int, dense: Sequence[TensorShape]) -> list[TensorShape]:
    return [*_sparse_shapes(sparse, None if batch is None else len(batch) + 2), *_dense_shapes(batch, dense, True)]


def _dims(shape: TensorShape) -> list[int | None] | None:
    return None if shape.known_dims is None else list(shape.known_dims)


@parse_sequence_example_op.shape
def _(
    serialized: TensorShape,
    *others: Any,
    Ncontext_sparse: int,
    Nfeature_list_sparse: int,
    context_dense_shapes: Sequence[TensorShape],
    feature_list_dense_shapes: Sequence[TensorShape],
) -> list[TensorShape]:
    batch = _dims(with_rank(serialized, 1))
    return [
        *_context_shapes(batch, Ncontext_sparse, context_dense_shapes),
        *_list_shapes(batch, Nfeature_list_sparse, feature_list_dense_shapes),
        *[TensorShape(batch)] * len(feature_list_dense_shapes),
    ]


@parse_single_sequence_example_op.shape
def _(
    serialized: TensorShape,
    *others: Any,
    Ncontext_sparse: int,
    Nfeature_list_sparse: int,
    context_dense_shapes: Sequence[TensorShape],
    feature_list_dense_shapes: Sequence[TensorShape],
) -> list[TensorShape]:
    with_rank(serialized, 0)
    return [
        *_context_shapes([], Ncontext_sparse, context_dense_shapes),
        *_list_shapes([], Nfeature_list_sparse, feature_list_dense_shapes),
    ]


@parse_sequence_example_v2_op.shape
def _(
    serialized: TensorShape,
    *others: Any,
    Ncontext_sparse: int,
    Nfeature_list_sparse: int,
    context_dense_shapes: Sequence[TensorShape],
    context_ragged_value_types: Sequence[DType],
    feature_list_dense_shapes: Sequence[TensorShape],
    feature_list_ragged_value_types: Sequence[DType],
) -> list[TensorShape]:
    batch = _dims(with_rank_at_most(serialized, 1))
    splits = TensorShape([None if not batch or batch[0] is None else batch[0] + 1])
    vector = TensorShape([None])
    return [
        *_context_shapes(batch, Ncontext_sparse, context_dense_shapes),
        *[vector] * len(context_ragged_value_types),
        *[splits] * len(context_ragged_value_types),
        *_list_shapes(batch, Nfeature_list_sparse, feature_list_dense_shapes),
        *[TensorShape(batch)] * len(feature_list_dense_shapes),
        *[vector] * len(feature_list_ragged_value_types),
        *[splits] * len(feature_list_ragged_value_types),
        *[vector] * len(feature_list_ragged_value_types),
    ]


# --- kernels ----------------------------------------------------------------------------------------------------------


@dataclass
class _Spec:
    """What is read: keys and types; of dense ones defaults and shapes; of dense lists whether they may be missing."""

    sparse: list[tuple[bytes, DType]]
    dense: list[tuple[bytes, DType]]
    defaults: Sequence[Any]
    dense_shapes: Sequence[TensorShape]
    list_sparse: list[tuple[bytes, DType]]
    list_dense: list[tuple[bytes, DType]]
    list_dense_shapes: Sequence[TensorShape]
    may_be_missing: list[bool]
    ragged: list[tuple[bytes, DType, DType]] = field(default_factory=list)
    list_ragged: list[tuple[bytes, DType, DType]] = field(default_factory=list)


@parse_sequence_example_op.kernel("CPU")
def _(
    ctx: Any,
    serialized: Any,
    debug_name: Any,
    context_dense_defaults: Sequence[Any],
    *,
    feature_list_dense_missing_assumed_empty: Sequence[bytes | str],
    context_sparse_keys: Sequence[bytes | str],
    context_dense_keys: Sequence[bytes | str],
    feature_list_sparse_keys: Sequence[bytes | str],
    feature_list_dense_keys: Sequence[bytes | str],
    context_sparse_types: Sequence[DType],
    Tcontext_dense: Sequence[DType],
    feature_list_dense_types: Sequence[DType],
    context_dense_shapes: Sequence[TensorShape],
    feature_list_sparse_types: Sequence[DType],
    feature_list_dense_shapes: Sequence[TensorShape],
) -> list[Any]:
    empty = set(map(attr_bytes, feature_list_dense_missing_assumed_empty))
    list_dense_keys = list(map(attr_bytes, feature_list_dense_keys))
    spec = _Spec(
        list(zip(map(attr_bytes, context_sparse_keys), context_sparse_types, strict=True)),
        list(zip(map(attr_bytes, context_dense_keys), Tcontext_dense, strict=True)),
        context_dense_defaults,
        context_dense_shapes,
        list(zip(map(attr_bytes, feature_list_sparse_keys), feature_list_sparse_types, strict=True)),
        list(zip(list_dense_keys, feature_list_dense_types, strict=True)),
        feature_list_dense_shapes,
        [key in empty for key in list_dense_keys],
    )
    return _Parsed(serialized, debug_name, spec).outputs()


@parse_single_sequence_example_op.kernel("CPU")
def _(
    ctx: Any,
    serialized: Any,
    feature_list_dense_missing_assumed_empty: Any,
    context_sparse_keys: Sequence[Any],
    context_dense_keys: Sequence[Any],
    feature_list_sparse_keys: Sequence[Any],
    feature_list_dense_keys: Sequence[Any],
    context_dense_defaults: Sequence[Any],
    debug_name: Any,
    *,
    context_sparse_types: Sequence[DType],
    Tcontext_dense: Sequence[DType],
    feature_list_dense_types: Sequence[DType],
    context_dense_shapes: Sequence[TensorShape],
    feature_list_sparse_types: Sequence[DType],
    feature_list_dense_shapes: Sequence[TensorShape],
) -> list[Any]:
    empty = set(texts_of(feature_list_dense_missing_assumed_empty))
    list_dense_keys = [texts_of(key)[0] for key in feature_list_dense_keys]
    spec = _Spec(
        [(texts_of(key)[0], dtype) for key, dtype in zip(context_sparse_keys, context_sparse_types, strict=True)],
        [(texts_of(key)[0], dtype) for key, dtype in zip(context_dense_keys, Tcontext_dense, strict=True)],
        context_dense_defaults,
        context_dense_shapes,
        [(texts_of(key)[0], dtype) for key, dtype in zip(feature_list_sparse_keys, feature_list_sparse_types, strict=True)],
        list(zip(list_dense_keys, feature_list_dense_types, strict=True)),
        feature_list_dense_shapes,
        [key in empty for key in list_dense_keys],
    )
    count = len(feature_list_dense_types)
    outputs = _Parsed(serialized, debug_name, spec).outputs()
    return outputs[: len(outputs) - count]  # without the lengths


@parse_sequence_example_v2_op.kernel("CPU")
def _(
    ctx: Any,
    serialized: Any,
    debug_name: Any,
    context_sparse_keys: Any,
    context_dense_keys: Any,
    context_ragged_keys: Any,
    feature_list_sparse_keys: Any,
    feature_list_dense_keys: Any,
    feature_list_ragged_keys: Any,
    feature_list_dense_missing_assumed_empty: Any,
    context_dense_defaults: Sequence[Any],
    *,
    Tcontext_dense: Sequence[DType],
    context_sparse_types: Sequence[DType],
    context_ragged_value_types: Sequence[DType],
    context_ragged_split_types: Sequence[DType],
    context_dense_shapes: Sequence[TensorShape],
    feature_list_dense_types: Sequence[DType],
    feature_list_sparse_types: Sequence[DType],
    feature_list_ragged_value_types: Sequence[DType],
    feature_list_ragged_split_types: Sequence[DType],
    feature_list_dense_shapes: Sequence[TensorShape],
) -> list[Any]:
    ragged = zip(texts_of(context_ragged_keys), context_ragged_value_types, context_ragged_split_types, strict=True)
    list_ragged = zip(
        texts_of(feature_list_ragged_keys), feature_list_ragged_value_types, feature_list_ragged_split_types, strict=True
    )
    spec = _Spec(
        list(zip(texts_of(context_sparse_keys), context_sparse_types, strict=True)),
        list(zip(texts_of(context_dense_keys), Tcontext_dense, strict=True)),
        context_dense_defaults,
        context_dense_shapes,
        list(zip(texts_of(feature_list_sparse_keys), feature_list_sparse_types, strict=True)),
        list(zip(texts_of(feature_list_dense_keys), feature_list_dense_types, strict=True)),
        feature_list_dense_shapes,
        np.asarray(feature_list_dense_missing_assumed_empty).tolist(),
        list(ragged),
        list(list_ragged),
    )
    return _Parsed(serialized, debug_name, spec).outputs()


class _Parsed:
    """Serialized SequenceExamples, a vector or only one of them (a scalar), read as a spec says."""

    def __init__(self, serialized: Any, names: Any, spec: _Spec):
        array = np.asarray(serialized, object)
        self._records, self._batch, self._spec = texts_of(array), array.shape, spec
        self._names = texts_of(names)
        if self._names and len(self._names) != len(self._records):
            raise _refuse("example_names must be empty or have the correct number of elements")
        context = [*spec.sparse, *spec.dense, *[(key, dtype) for key, dtype, _ in spec.ragged]]
        lists = [*spec.list_sparse, *spec.list_dense, *[(key, dtype) for key, dtype, _ in spec.list_ragged]]
        try:
            self._columns, self._lists = read_sequences(self._records, _with_kinds(context), _with_kinds(lists))
        except MalformedError as error:
            raise _refuse(f"Invalid protocol message input, example id: {self._name(error.position)}") from None
        for (key, dtype), column in zip(context, self._columns, strict=True):
            self._check_context(key, dtype, column)
        for (key, dtype), found in zip(lists, self._lists, strict=True):
            self._check_list(key, dtype, found)

    def _name(self, row: int) -> str:
        return shown(self._names[row]) if self._names else "<unknown>"

    def _check_context(self, key: bytes, dtype: DType, column: Column) -> None:
        wrong = (column.kinds != _KINDS[dtype]) & (column.kinds != 0)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise _refuse(
                f"Name: {self._name(row)}, Context feature: {shown(key)}.  Data types don't match. "
                f"Expected type: {dtype.name.removesuffix('32')}"
            )

    def _check_list(self, key: bytes, dtype: DType, found: Lists) -> None:
        wrong = (found.features.kinds != _KINDS[dtype]) & (found.features.kinds != 0)
        if wrong.any():
            row, step = _place(found, int(np.argmax(wrong)))
            raise _refuse(
                f"Name: {self._name(row)}, Feature list: {shown(key)}, Index: {step}.  Data types don't match. "
                f"Expected type: {dtype.name.removesuffix('32')}"
            )

    def outputs(self) -> list[Any]:
        """In the order of ParseSequenceExampleV2."""
        spec = self._spec
        sparse, dense = len(spec.sparse), len(spec.sparse) + len(spec.dense)
        context = _by_part([self._sparse(column) for column in self._columns[:sparse]])
        context += [
            self._dense(key, dtype, column, np.asarray(default), shape.as_list())
            for (key, dtype), column, default, shape in zip(
                spec.dense, self._columns[sparse:dense], spec.defaults, spec.dense_shapes, strict=True
            )
        ]
        ragged = self._columns[dense:]
        context += [column.values for column in ragged]
        context += [_splits(column.counts, kind) for (*_, kind), column in zip(spec.ragged, ragged, strict=True)]
        sparse, dense = len(spec.list_sparse), len(spec.list_sparse) + len(spec.list_dense)
        lists = _by_part([self._sparse_list(found) for found in self._lists[:sparse]])
        lists += [
            self._dense_list(key, dtype, found, shape.as_list(), missing)
            for (key, dtype), found, shape, missing in zip(
                spec.list_dense, self._lists[sparse:dense], spec.list_dense_shapes, spec.may_be_missing, strict=True
            )
        ]
        lists += [found.lengths.reshape(tuple(self._batch)) for found in self._lists[sparse:dense]]
        rows = list(zip(spec.list_ragged, self._lists[dense:], strict=True))
        lists += [found.features.values for _, found in rows]
        lists += [_splits(found.lengths, kind) for (*_, kind), found in rows]
        lists += [_splits(found.features.counts, kind) for (*_, kind), found in rows]
        return context + lists

    def _sparse(self, column: Column) -> tuple[Array, Array, Array]:
        counts = column.counts
        index = np.stack([np.repeat(np.arange(len(counts)), counts), _within(counts)], axis=1).astype(np.int64)
        shape = np.array([len(counts), counts.max(initial=0)], np.int64)
        start = 1 - len(self._batch)
        return index[:, start:], column.values, shape[start:]

    def _sparse_list(self, found: Lists) -> tuple[Array, Array, Array]:
        counts = found.features.counts
        rows, steps = np.repeat(np.arange(len(found.lengths)), found.lengths), _within(found.lengths)
        index = np.stack([np.repeat(rows, counts), np.repeat(steps, counts), _within(counts)], axis=1).astype(np.int64)
        shape = np.array([len(found.lengths), found.lengths.max(initial=0), counts.max(initial=0)], np.int64)
        start = 1 - len(self._batch)
        return index[:, start:], found.features.values, shape[start:]

    def _dense(self, key: bytes, dtype: DType, column: Column, default: Array, shape: list[int | None]) -> Array:
        known = [size or 0 for size in shape]
        size = int(np.prod(known, dtype=np.int64))
        absent = column.kinds == 0
        has_default = default.size == size and (size > 0 or default.shape == tuple(known))
        most = int(column.counts.max(initial=0))
        if absent.any() and not has_default:
            if not self._batch:
                raise _refuse(f"Name: {self._name(0)}, Context feature '{shown(key)}' is required but could not be found.")
            raise _refuse(f"Feature: {shown(key)} (data type: {_kind(dtype)}) is required but could not be found.")
        wrong = (column.counts != size) & ~absent
        if wrong.any():
            if not self._batch:
                raise _refuse(
                    f"Name: {self._name(0)}, Key: {shown(key)}, Index: 0.  Number of {_kind(dtype)} values != expected.  "
                    f"values size: {most} but output shape: {dims_text(known)}"
                )
            if most != size:
                raise _refuse(
                    f"Inconsistent max number of elements for feature {shown(key)}: expected {size}, but found {most}"
                )
            raise _refuse(f"Unexpected number of elements in example {self._name(int(np.argmax(wrong)))}")
        filled = np.empty((len(absent), size), column.values.dtype)
        if absent.any():
            filled[absent] = default.reshape(1, size)
        filled[~absent] = column.values.reshape(-1, size) if size else 0
        return filled.reshape((*self._batch, *known))

    def _dense_list(self, key: bytes, dtype: DType, found: Lists, shape: list[int | None], may_be_missing: bool) -> Array:
        known = [size or 0 for size in shape]
        size = int(np.prod(known, dtype=np.int64))
        if not (may_be_missing or found.present.all()):
            raise _refuse(
                f"Name: {self._name(int(np.argmin(found.present)))}, Feature list '{shown(key)}' is required but could not "
                "be found.  Did you mean to include it in feature_list_dense_missing_assumed_empty or "
                "feature_list_dense_defaults?"
            )
        wrong = found.features.counts != size
        if wrong.any():
            row, step = _place(found, int(np.argmax(wrong)))
            what = "values" if self._batch else f"{_kind(dtype)} values"
            raise _refuse(
                f"Name: {self._name(row)}, Key: {shown(key)}, Index: {step}.  Number of {what} != expected.  values size: "
                f"{int(found.features.counts[wrong][0])} but output shape: {dims_text(known)}"
            )
        longest = int(found.lengths.max(initial=0))
        values = found.features.values.reshape(len(wrong), *known)
        if len(values) != longest * len(self._records):
            filled = np.empty((len(self._records), longest, *known), values.dtype)
            filled[...] = b"" if dtype is dtypes.string else 0
            filled[np.arange(longest) < found.lengths[:, None]] = values
            values = filled
        return values.reshape((*self._batch, longest, *known))


def _refuse(text: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, text)


def _kind(dtype: DType) -> str:
    """What a feature's values are called."""
    return dtype.name.removesuffix("32")


def _with_kinds(keys: Sequence[tuple[bytes, DType]]) -> list[tuple[bytes, int]]:
    return [(key, _KINDS[dtype]) for key, dtype in keys]


def _by_part(found: Sequence[tuple[Any, ...]]) -> list[Any]:
    """All first parts, all second ones, all third ones."""
    return [one[i] for i in range(3) for one in found]


def _within(counts: Array) -> Array:
    """0, 1, ... for each of the counts."""
    return np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)


def _splits(counts: Array, dtype: DType) -> Array:
    return np.concatenate([[0], np.cumsum(counts)]).astype(dtype.as_numpy_dtype)


def _place(found: Lists, flat: int) -> tuple[int, int]:
    """(record, step) of a feature that is told by its number."""
    ends = np.cumsum(found.lengths)
    row = int(np.searchsorted(ends, flat, side="right"))
    return row, flat - int(ends[row] - found.lengths[row])
