"""Ragged tensors of tensors and of sparse ones, and back. Source: `tf.RaggedTensor`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import control_dependencies, name_scope
from tfexp.graph.sparse_tensor import SparseTensor, SparseTensorValue, as_sparse_tensor
from tfexp.graph.tensor import Tensor
from tfexp.ops import array, array_fill, array_gather, array_join, array_mask, check_compare, comparison, cumulative, reduce
from tfexp.ops.array_identity import identity
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_binary import maximum, minimum
from tfexp.ops.ragged_ops import to_sparse_op
from tfexp.ragged_tensors.tensor import RaggedTensor, of_rows


def from_tensor(
    tensor: Any, lengths: Any, padding: Any, ragged_rank: int, name: str | None, row_splits_dtype: Any
) -> RaggedTensor:
    kind = dtypes.as_dtype(row_splits_dtype)
    if lengths is not None and padding is not None:
        raise ValueError("Specify lengths or padding, but not both")
    if not isinstance(ragged_rank, int):
        raise TypeError(f"ragged_rank expected int, got {ragged_rank!r}")
    if ragged_rank <= 0:
        raise ValueError(f"ragged_rank must be greater than 0; got {ragged_rank}")
    with name_scope(name, "RaggedFromTensor", [tensor, lengths, padding]):
        tensor = convert_to_tensor(tensor, name="tensor")
        tensor.shape.with_rank_at_least(ragged_rank + 1)
        if isinstance(lengths, (list, tuple)) and lengths and not isinstance(lengths[0], int):
            return _by_nested_lengths(tensor, lengths, kind)
        if ragged_rank > 1:
            if lengths is not None:
                raise ValueError("If ragged_rank > 1, then lengths must be a nested list of lengths")
            whole: Any = array.shape(tensor, out_type=kind)
            flat = _joined(tensor, ragged_rank, whole)
            result = from_tensor(flat, None, padding, 1, None, kind)
            for axis in range(ragged_rank - 1, 0, -1):
                result = of_rows(result, _even_splits(reduce.reduce_prod(whole[:axis]), whole[axis]))
            return result
        sizes: Any = array.shape(tensor, out_type=kind)
        count, width = sizes[0], sizes[1]
        flat = _joined(tensor, 2, sizes)
        if padding is not None:
            lengths = _without_padding(tensor, padding, kind)
        if lengths is None:
            return of_rows(flat, _even_splits(count, width))
        lengths = cast(convert_to_tensor(lengths, name="lengths"), kind)
        lengths.shape.assert_has_rank(1)
        lengths = minimum(maximum(lengths, cast(0, kind)), width)
        kept = array_mask.sequence_mask(lengths, width)
        splits = array_join.concat([cast([0], kind), cumulative.cumsum(lengths)], 0)
        return of_rows(array_mask.boolean_mask(tensor, kept), splits)


def _joined(tensor: Tensor, count: int, sizes: Any) -> Tensor:
    """The tensor, its first `count` dimensions made one. (-1 would not do: there may be no elements.)"""
    joined = array.reshape(tensor, array_join.concat([[reduce.reduce_prod(sizes[:count])], sizes[count:]], 0))
    if tensor.shape.rank is not None:
        joined.set_shape(TensorShape([tensor.shape[:count].num_elements()]).concatenate(tensor.shape[count:]))
    return joined


def _by_nested_lengths(tensor: Tensor, lengths: Any, kind: Any) -> RaggedTensor:
    """`lengths` of the rows, then of the rows of all rows, and so on."""
    outer = from_tensor(tensor, list(lengths[0]), None, 1, None, kind)
    if len(lengths) == 1:
        return outer
    return outer.with_values(_by_nested_lengths(outer.values, lengths[1:], kind))


def _even_splits(count: Any, width: Any) -> Any:
    """`count` rows of `width` values."""
    return array_fill.range(count + 1) * width  # type: ignore[operator]


def _without_padding(tensor: Tensor, padding: Any, kind: Any) -> Tensor:
    """How long rows are up to the last value (of more dimensions: with anything in it) that is not `padding`."""
    padding = convert_to_tensor(padding, tensor.dtype, name="padding")
    if padding.shape.rank is not None and tensor.shape.rank is not None:
        padding.shape.assert_is_compatible_with(tensor.shape[2:])
    different = comparison.not_equal(tensor, padding)
    if tensor.shape.rank is not None and tensor.shape.rank > 2:
        different = reduce.reduce_any(different, axis=list(range(2, tensor.shape.rank)))
    width: Any = array.shape(different, out_type=kind)[1]  # type: ignore[index]
    places = cast(different, kind) * (array_fill.range(width) + 1)
    return reduce.reduce_max(places, axis=1)


def to_tensor(ragged: RaggedTensor, default_value: Any, name: str | None) -> Tensor:
    with name_scope(name, "RaggedToTensor", [ragged, default_value]):
        kind = ragged.dtype
        if default_value is None:
            default_value = array_fill.zeros([], kind)
        default = convert_to_tensor(default_value, kind, name="default_value")
        of_value = ragged.flat_values.shape[1:]
        if of_value.rank is not None:
            default.shape.with_rank_at_most(of_value.rank)
            if default.shape.rank:
                default.shape.assert_is_compatible_with(of_value)
        values = ragged.values.to_tensor(default) if isinstance(ragged.values, RaggedTensor) else ragged.values
        whole: Any = array.shape(values, out_type=ragged.row_splits.dtype)
        lengths: Any = ragged.row_lengths()
        width = reduce.reduce_max(array_join.concat([cast([0], lengths.dtype), lengths], 0))
        # One value more, the default, stands for what rows do not have.
        filler = array_fill.broadcast_to(default, array_join.concat([cast([1], whole.dtype), whole[1:]], 0))
        extended = array_join.concat([values, filler], 0)
        places = array.expand_dims(ragged.row_starts(), 1) + array_fill.range(width)  # type: ignore[operator]
        which = array_mask.where_v2(array_mask.sequence_mask(lengths, width), places, whole[0])
        result = array_gather.gather_nd(extended, array.expand_dims(which, -1))
        rows = ragged.shape[0].value if ragged.shape.rank is not None else None
        inner = ragged.flat_values.shape
        if inner.rank is not None:
            result.set_shape([rows, *[None] * ragged.ragged_rank, *inner.as_list()[1:]])
        return result


def from_sparse(st_input: Any, name: str | None, row_splits_dtype: Any) -> RaggedTensor:
    kind = dtypes.as_dtype(row_splits_dtype)
    with name_scope(name, "RaggedFromSparse", [st_input]):
        if not isinstance(st_input, (SparseTensor, SparseTensorValue)):
            raise TypeError(f"Expected SparseTensor, got {type(st_input).__name__}")
        sparse = as_sparse_tensor(st_input)
        ranks = [shape.known_dims[-1] for t in (sparse.dense_shape, sparse.indices) if (shape := t.shape).known_dims]
        if 2 not in ranks:
            raise ValueError(f"rank(st_input) must be 2, got {next((r for r in ranks if r is not None), 'an unknown one')}")
        indices: Any = sparse.indices
        ids = indices[:, 0]
        made = RaggedTensor.from_value_rowids(sparse.values, ids, sparse.dense_shape[0], validate=False)  # type: ignore[index]
        starts = array_gather.gather(made.row_starts(), ids)
        places: Any = array_fill.range(array.shape(ids, out_type=dtypes.int64)[0])  # type: ignore[index]
        right = check_compare.assert_equal(indices[:, 1], places - starts, message="SparseTensor is not right-ragged")
        with control_dependencies([right]):
            return of_rows(identity(made.values), identity(made.row_splits)).with_row_splits_dtype(kind)


def to_sparse(ragged: RaggedTensor, name: str | None) -> SparseTensor:
    with name_scope(name, "RaggedToSparse", [ragged]):
        made = to_sparse_op(ragged.nested_row_splits, ragged.flat_values)
        return SparseTensor(made.sparse_indices, made.sparse_values, made.sparse_dense_shape)
