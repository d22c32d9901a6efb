"""Crossed features: every combination of one value of each column, row by row, as text or as a hash. TF 1.15.

`tf.sparse.cross`, `tf.sparse.cross_hashed`. The combinations of all rows are made at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.errors import invalid
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.sparse_tensor import SparseTensor, as_sparse_tensor, is_sparse
from tfexp.ops.cast import cast
from tfexp.ops.shape_rules import with_rank
from tfexp.ops.string_hash import fingerprint64, hashes

Array = np.ndarray

_INPUTS = "indices: N * int64, values: sparse_types, shapes: N * int64, dense_inputs: dense_types"
_TYPES = "sparse_types: list(type) in [int64,string] >= 0; dense_types: list(type) in [int64,string] >= 0"
cross_op = define_op(
    f"SparseCross({_INPUTS}) -> (output_indices: int64, output_values: out_type, output_shape: int64) {{N: int >= 0; "
    f"hashed_output: bool; num_buckets: int >= 0; hash_key: int; {_TYPES}; out_type: type in [int64,string]; "
    "internal_type: type in [int64,string]}"
)
cross_v2_op = define_op(
    f"SparseCrossV2({_INPUTS}, sep: string) -> (output_indices: int64, output_values: string, output_shape: int64) "
    f"{{N: int >= 0; {_TYPES}}}"
)

# What TensorFlow starts the hash of a combination with unless told otherwise.
DEFAULT_HASH_KEY = 0xDECAFCAFFE


@cross_op.shape
def _(
    indices: list[InputShape], values: list[InputShape], dims: list[InputShape], dense: list[InputShape]
) -> list[TensorShape]:
    return [TensorShape([None, 2]), TensorShape([None]), TensorShape([2])]


@cross_v2_op.shape
def _(
    indices: list[InputShape], values: list[InputShape], dims: list[InputShape], dense: list[InputShape], sep: InputShape
) -> list[TensorShape]:
    with_rank(sep, 0)
    return [TensorShape([None, 2]), TensorShape([None]), TensorShape([2])]


class _Column:
    """The values of all rows after each other, and how many each row has."""

    def __init__(self, values: Array, counts: Array):
        self.values, self.counts = values, counts
        self.starts = np.cumsum(counts) - counts


def _columns(
    indices: Sequence[Array], values: Sequence[Array], shapes: Sequence[Array], dense: Sequence[Array]
) -> tuple[list[_Column], int]:
    """(the columns, sparse ones first; the number of rows). InvalidArgumentError for what does not fit together."""
    if not indices and not dense:
        raise invalid("There is nothing to cross: neither sparse nor dense inputs.")
    for i, (index, value, dims) in enumerate(zip(indices, values, shapes, strict=True)):
        if index.ndim != 2 or index.shape[1] != 2:
            got = index.shape[1] if index.ndim == 2 else list(index.shape)
            raise invalid(f"Expected D2 of index to be 2 got {got} at position {i}")
        if value.shape != index.shape[:1]:
            raise invalid(f"Expected size of values to be {len(index)} got {list(value.shape)} at position {i}")
        if dims.shape != (2,):
            raise invalid(f"Expected input shape to be [2] got {list(dims.shape)} at position {i}")
    for i, array in enumerate(dense):
        if array.ndim != 2:
            raise invalid(f"Dense inputs should be a matrix but received shape {list(array.shape)} at position {i}")
    rows = int(shapes[0][0]) if len(shapes) else len(dense[0])
    columns = []
    for i, (index, value, dims) in enumerate(zip(indices, values, shapes, strict=True)):
        if dims[0] != rows:
            raise invalid(f"Expected batch size {rows} got {dims[0]} at position {i}")
        row = index[:, 0]
        if ((row < 0) | (row >= rows)).any():
            raise invalid(f"Expected rows in [0, {rows}) got {row[(row < 0) | (row >= rows)][0]} at position {i}")
        columns.append(_Column(value[np.argsort(row, kind="stable")], np.bincount(row, minlength=rows)))
    for i, array in enumerate(dense):
        if len(array) != rows:
            raise invalid(f"Expected batch size {rows} got {len(array)} at dense tensor {i}")
        columns.append(_Column(array.reshape(-1), np.full(rows, array.shape[1])))
    return columns, rows


def _places(columns: list[_Column], rows: int) -> tuple[Array, Array, list[Array]]:
    """(the result's indices, its shape, for each column which value of it is in each combination)."""
    counts = np.array([column.counts for column in columns]).reshape(len(columns), rows)
    totals = counts.prod(axis=0)
    row = np.repeat(np.arange(rows), totals)
    position = np.arange(len(row)) - np.repeat(np.cumsum(totals) - totals, totals)
    picked: list[Array] = []
    rest = position
    # The last column changes fastest.
    for column in reversed(columns):
        rest, own = np.divmod(rest, column.counts[row])
        picked.append(column.starts[row] + own)
    indices = np.stack([row, position], axis=1).astype(np.int64)
    return indices, np.array([rows, totals.max(initial=0)], np.int64), picked[::-1]


def _texts(values: Array) -> Array:
    """As bytes, in an array that adds them one by one."""
    if values.dtype == object:
        return values
    result = np.empty(len(values), object)
    result[:] = list(map(b"%d".__mod__, values.tolist()))
    return result


def _joined(columns: list[_Column], picked: list[Array], separator: bytes) -> Array:
    result: Array = _texts(columns[0].values)[picked[0]]
    for column, places in zip(columns[1:], picked[1:], strict=True):
        result = result + separator + _texts(column.values)[places]
    return result


_MULTIPLIER = np.uint64(0xC6A4A7935BD1E995)


def _mixed(x: Array) -> Array:
    return x ^ (x >> np.uint64(47))


def _hashed(columns: list[_Column], picked: list[Array], key: int, num_buckets: int) -> Array:
    """The hashes of the values taken together one after the other (Murmur's mixing), from `key` on."""
    count = len(picked[0])
    result = np.full(count, key & (2**64 - 1), np.uint64)
    with np.errstate(over="ignore"):
        for column, places in zip(columns, picked, strict=True):
            values = column.values
            words = hashes(values.tolist(), fingerprint64) if values.dtype == object else values.astype(np.uint64)
            result = result ^ _MULTIPLIER
            result = (result ^ (_mixed(words[places] * _MULTIPLIER) * _MULTIPLIER)) * _MULTIPLIER
            result = _mixed(_mixed(result) * _MULTIPLIER)
    return (result % np.uint64(num_buckets or 2**63 - 1)).astype(np.int64)


@cross_op.kernel("CPU")
def _(
    ctx: Any,
    indices: Sequence[Array],
    values: Sequence[Array],
    shapes: Sequence[Array],
    dense_inputs: Sequence[Array],
    *,
    hashed_output: bool,
    num_buckets: int,
    hash_key: int,
) -> list[Array]:
    columns, rows = _columns(indices, values, shapes, dense_inputs)
    places, dims, picked = _places(columns, rows)
    if hashed_output:
        return [places, _hashed(columns, picked, hash_key, num_buckets), dims]
    return [places, _joined(columns, picked, b"_X_"), dims]


@cross_v2_op.kernel("CPU")
def _(
    ctx: Any,
    indices: Sequence[Array],
    values: Sequence[Array],
    shapes: Sequence[Array],
    dense_inputs: Sequence[Array],
    sep: Array,
) -> list[Array]:
    columns, rows = _columns(indices, values, shapes, dense_inputs)
    places, dims, picked = _places(columns, rows)
    return [places, _joined(columns, picked, sep.item()), dims]


def sparse_cross(inputs: Any, name: str | None = None) -> SparseTensor:
    """Every combination of a value of each input, in each row, as strings `a_X_b`. Source: `tf.sparse.cross`.

    Inputs are matrices, sparse or dense (sparse ones come first in a combination). TypeError unless they are a list.
    """
    return _crossed(inputs, False, 0, None, name)


def sparse_cross_hashed(
    inputs: Any, num_buckets: int = 0, hash_key: int | None = None, name: str | None = None
) -> SparseTensor:
    """The hashes of these combinations, modulo `num_buckets` unless it is 0. Source: `tf.sparse.cross_hashed`."""
    return _crossed(inputs, True, num_buckets, hash_key, name)


def _crossed(inputs: Any, hashed: bool, num_buckets: int, hash_key: int | None, name: str | None) -> SparseTensor:
    if not isinstance(inputs, (list, tuple)) or is_sparse(inputs):
        raise TypeError("Inputs must be a list")
    sparse = [as_sparse_tensor(x) for x in inputs if is_sparse(x)]
    dense = [convert_to_tensor(x) for x in inputs if not is_sparse(x)]
    values, internal = _either([x.values for x in sparse])
    dense, internal_dense = _either(dense)
    internal_type: DType = dtypes.int64 if hashed and (internal or internal_dense) else dtypes.string
    indices, crossed, dims = cross_op(
        [x.indices for x in sparse],
        values,
        [x.dense_shape for x in sparse],
        dense,
        hashed_output=hashed,
        num_buckets=num_buckets,
        hash_key=DEFAULT_HASH_KEY if hash_key is None else hash_key,
        out_type=dtypes.int64 if hashed else dtypes.string,
        internal_type=internal_type,
        name=name,
    )
    return SparseTensor(indices, crossed, dims)


def _either(tensors: list[Any]) -> tuple[list[Any], bool]:
    """(the tensors as strings or int64, whether any of them is of numbers)."""
    numbers = [t.dtype.base_dtype != dtypes.string for t in tensors]
    return [cast(t, dtypes.int64) if number else t for t, number in zip(tensors, numbers, strict=True)], any(numbers)
