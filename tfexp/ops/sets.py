"""Sets in the last dimension of tensors, dense or sparse, for the metrics of rankings. TF 1.15.

All sets of a tensor are handled at once: an element becomes one number of its set and its value, and sets of numbers are
what NumPy knows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core.errors import invalid
from tfexp.core.merged_shape import merged
from tfexp.core.op import Op, define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.core.text import as_text
from tfexp.graph.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor
from tfexp.graph.tensor import Tensor
from tfexp.ops.shape_rules import sparse_rank, with_rank, with_rank_at_least
from tfexp.ops.sparse_layout import check_sparse, dim_of

Array = np.ndarray

_TYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "string")
_ATTRS = f"{{set_operation: string; validate_indices: bool = true; T: type in [{','.join(_TYPES)}]}}"
_RESULT = "(result_indices: int64, result_values: T, result_shape: int64)"

dense_to_dense_op = define_op(f"DenseToDenseSetOperation(set1: T, set2: T) -> {_RESULT} {_ATTRS}").not_differentiable()
dense_to_sparse_op = define_op(
    f"DenseToSparseSetOperation(set1: T, set2_indices: int64, set2_values: T, set2_shape: int64) -> {_RESULT} {_ATTRS}"
).not_differentiable()
sparse_to_sparse_op = define_op(
    "SparseToSparseSetOperation(set1_indices: int64, set1_values: T, set1_shape: int64, set2_indices: int64, "
    f"set2_values: T, set2_shape: int64) -> {_RESULT} {_ATTRS}"
).not_differentiable()
set_size_op = define_op(
    "SetSize(set_indices: int64, set_values: T, set_shape: int64) -> (size: int32) "
    f"{{validate_indices: bool = true; T: type in [{','.join(_TYPES)}]}}"
).not_differentiable()


def _result(rank: int | None) -> list[TensorShape]:
    return [TensorShape([None, rank]), TensorShape([None]), TensorShape([rank])]


@dense_to_dense_op.shape
def _(set1: InputShape, set2: InputShape) -> list[TensorShape]:
    with_rank_at_least(set1, 2)
    with_rank_at_least(set2, 2)
    if set1.ndims is None or set2.ndims is None:
        return _result(set1.ndims if set2.ndims is None else set2.ndims)
    merged(set1[:-1], set2[:-1])
    return _result(set1.ndims)


@dense_to_sparse_op.shape
def _(set1: InputShape, indices: InputShape, values: InputShape, dims: InputShape) -> list[TensorShape]:
    with_rank_at_least(set1, 2)
    rank = sparse_rank(indices, values, dims)
    if rank is not None:
        with_rank(set1, rank)
    return _result(set1.ndims if dim_of(dims, 0) is None else rank)


@sparse_to_sparse_op.shape
def _(
    indices1: InputShape,
    values1: InputShape,
    dims1: InputShape,
    indices2: InputShape,
    values2: InputShape,
    dims2: InputShape,
) -> list[TensorShape]:
    for rank in (sparse_rank(indices1, values1, dims1), sparse_rank(indices2, values2, dims2)):
        if rank is not None and rank < 2:
            raise ValueError(f"Sets are in the last dimension of a tensor of at least two, not of {rank}")
    return _result(dim_of(merged(with_rank(dims1, 1), with_rank(dims2, 1)), 0))


@set_size_op.shape
def _(indices: InputShape, values: InputShape, dims: InputShape) -> TensorShape:
    return TensorShape(None)


class _Sets:
    """The number of its set for each value, and how the sets stand."""

    def __init__(self, groups: Array, values: Array, dims: tuple[int, ...]):
        self.groups, self.values, self.dims = groups, values, dims


def _dense(array: Array) -> _Sets:
    if array.ndim < 2:
        raise invalid(f"Invalid rank {array.ndim}: sets are in the last dimension of a tensor of at least two.")
    dims = array.shape[:-1]
    count = int(np.prod(dims, dtype=np.int64))
    return _Sets(np.repeat(np.arange(count), array.shape[-1]), array.reshape(-1), dims)


def _sparse(indices: Array, values: Array, dims: Array, validate: bool) -> _Sets:
    check_sparse(indices, values, dims)
    if len(dims) < 2:
        raise invalid(f"Invalid rank {len(dims)}: sets are in the last dimension of a tensor of at least two.")
    outside = ((indices < 0) | (indices >= dims)).any(axis=1)
    if outside.any():
        i = int(np.argmax(outside))
        raise invalid(f"indices[{i}] = {dims_text(indices[i])} is out of bounds: need 0 <= index < {dims_text(dims)}")
    if validate:
        flat = np.ravel_multi_index(tuple(indices.T), tuple(dims)) if len(indices) else np.zeros(0, np.int64)
        steps = np.diff(flat)
        if (steps <= 0).any():
            i = int(np.argmax(steps <= 0))
            reason = "is repeated" if steps[i] == 0 else "is out of order. Many sparse ops require sorted indices."
            hint = "" if steps[i] == 0 else "\n    Use `tf.sparse.reorder` to create a correctly ordered copy."
            raise invalid(f"indices[{i + 1}] = {dims_text(indices[i + 1])} {reason}{hint}")
    outer = tuple(dims[:-1].tolist())
    return _Sets(np.ravel_multi_index(tuple(indices[:, :-1].T), outer), values, outer)


class _Coded:
    """Values as numbers below `count`, in the same order: integers less the least of them where that is possible."""

    def __init__(self, values: Array, sets: int):
        self._known: Array | None = None
        self._least, span = 0, 1
        if values.dtype != object and len(values):
            self._least = int(values.min())
            span = int(values.max()) - self._least + 1
        if values.dtype == object or span * max(sets, 1) >= 2**62:
            self._known, codes = np.unique(values, return_inverse=True)
            self.codes: Array = codes.reshape(-1)
            self.count = max(len(self._known), 1)
        else:
            self.codes = values.astype(np.int64) - self._least
            self.count = span
        self._dtype = values.dtype

    def values(self, codes: Array) -> Array:
        return (codes + self._least).astype(self._dtype) if self._known is None else self._known[codes]


_OPERATIONS: dict[str, Callable[[Array, Array], Array]] = {
    "a-b": np.setdiff1d,
    "b-a": lambda a, b: np.setdiff1d(b, a),
    "intersection": np.intersect1d,
    "union": np.union1d,
}


def _combined(a: _Sets, b: _Sets, operation: Any) -> list[Array]:
    """The sparse tensor of the results, each sorted."""
    function = _OPERATIONS.get(as_text(operation))
    if function is None:
        raise invalid(f"Invalid set_operation {operation}: one of {', '.join(sorted(_OPERATIONS))} is needed.")
    if a.dims != b.dims:
        raise invalid(f"Mismatched shapes {dims_text(a.dims)} vs {dims_text(b.dims)}")
    count = int(np.prod(a.dims, dtype=np.int64))
    coded = _Coded(np.concatenate([a.values, b.values]), count)
    numbers = np.concatenate([a.groups, b.groups]) * coded.count + coded.codes
    found = function(numbers[: len(a.groups)], numbers[len(a.groups) :]).astype(np.int64)
    groups, codes = np.divmod(found, coded.count)
    sizes = np.bincount(groups, minlength=count)
    position = np.arange(len(found)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    indices = np.stack([*np.unravel_index(groups, a.dims), position], axis=1).astype(np.int64)
    return [indices, coded.values(codes), np.array([*a.dims, sizes.max(initial=0)], np.int64)]


@dense_to_dense_op.kernel("CPU")
def _(ctx: Any, set1: Array, set2: Array, *, set_operation: Any) -> list[Array]:
    return _combined(_dense(set1), _dense(set2), set_operation)


@dense_to_sparse_op.kernel("CPU")
def _(
    ctx: Any,
    set1: Array,
    set2_indices: Array,
    set2_values: Array,
    set2_shape: Array,
    *,
    set_operation: Any,
    validate_indices: bool,
) -> list[Array]:
    second = _sparse(set2_indices, set2_values, set2_shape, validate_indices)
    return _combined(_dense(set1), second, set_operation)


@sparse_to_sparse_op.kernel("CPU")
def _(
    ctx: Any,
    set1_indices: Array,
    set1_values: Array,
    set1_shape: Array,
    set2_indices: Array,
    set2_values: Array,
    set2_shape: Array,
    *,
    set_operation: Any,
    validate_indices: bool,
) -> list[Array]:
    first = _sparse(set1_indices, set1_values, set1_shape, validate_indices)
    return _combined(first, _sparse(set2_indices, set2_values, set2_shape, validate_indices), set_operation)


@set_size_op.kernel("CPU")
def _(ctx: Any, set_indices: Array, set_values: Array, set_shape: Array, *, validate_indices: bool) -> Array:
    sets = _sparse(set_indices, set_values, set_shape, validate_indices)
    count = int(np.prod(sets.dims, dtype=np.int64))
    coded = _Coded(sets.values, count)
    groups = np.unique(sets.groups * coded.count + coded.codes) // coded.count
    return np.bincount(groups, minlength=count).astype(np.int32).reshape(sets.dims)


# --- functions ---------------------------------------------------------------------------------------------------------


def set_size(a: Any, validate_indices: bool = True) -> Tensor:
    """How many different elements each set of a SparseTensor has, int32. TypeError for anything else. `tf.sets.size`."""
    a = convert_to_tensor_or_sparse_tensor(a, name="a")
    if not isinstance(a, SparseTensor):
        raise TypeError(f"Expected `SparseTensor`, got {a}.")
    _check_type("a", a)
    result: Tensor = set_size_op(*a.parts, validate_indices=validate_indices)
    return result


def set_intersection(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """The elements of both. Source: `tf.sets.intersection`, `tf.sets.set_intersection`."""
    return _of_two(a, b, ("intersection", "intersection"), validate_indices)


def set_difference(a: Any, b: Any, aminusb: bool = True, validate_indices: bool = True) -> SparseTensor:
    """The elements of `a` that `b` does not have (the other way round without `aminusb`). Source: `tf.sets.difference`."""
    return _of_two(a, b, ("a-b", "b-a") if aminusb else ("b-a", "a-b"), validate_indices)


def _of_two(a: Any, b: Any, operations: tuple[str, str], validate_indices: bool) -> SparseTensor:
    """The first operation on `a` and `b`; the second on `b` and `a`, which there is where only `a` is sparse.

    TypeError for types that differ or that sets are not made of.
    """
    a = convert_to_tensor_or_sparse_tensor(a, name="a")
    _check_type("a", a)
    b = convert_to_tensor_or_sparse_tensor(b, name="b")
    if b.dtype.base_dtype != a.dtype.base_dtype:
        raise TypeError(f"Types don't match, {a.dtype!r} vs {b.dtype!r}.")
    operation = operations[0]
    if isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        a, b, operation = b, a, operations[1]
    op: Op = dense_to_dense_op
    if isinstance(b, SparseTensor):
        op = sparse_to_sparse_op if isinstance(a, SparseTensor) else dense_to_sparse_op
    inputs = [part for x in (a, b) for part in (x.parts if isinstance(x, SparseTensor) else [x])]
    return SparseTensor(*op(*inputs, set_operation=operation, validate_indices=validate_indices))


def _check_type(what: str, x: Any) -> None:
    if x.dtype.base_dtype.name not in _TYPES:
        raise TypeError(f"'{what}' has invalid dtype `{x.dtype!r}` not in supported dtypes: `{', '.join(_TYPES)}`.")
