"""What `ops.ragged.ragged_conversion_ops` and `.ragged_tensor` have as functions of ragged tensors. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.ops.array_join import concat
from tfexp.ops.array_repeat import repeat as repeated
from tfexp.ops.cast import cast
from tfexp.ops.cumulative import cumsum
from tfexp.ragged_tensors import arrays, rows
from tfexp.ragged_tensors.constants import deepest, scalar_depth, shape_of_values
from tfexp.ragged_tensors.elementwise import rows_of_one_type
from tfexp.ragged_tensors.strings import split
from tfexp.ragged_tensors.tensor import RaggedTensor, converted
from tfexp.ragged_tensors.value import RaggedTensorValue


def from_tensor(
    tensor: Any,
    lengths: Any = None,
    padding: Any = None,
    ragged_rank: int = 1,
    name: str | None = None,
    row_splits_dtype: Any = dtypes.int64,
) -> RaggedTensor:
    return RaggedTensor.from_tensor(tensor, lengths, padding, ragged_rank, name, row_splits_dtype)


def to_tensor(rt_input: Any, default_value: Any = None, name: str | None = None) -> Any:
    return rt_input.to_tensor(default_value, name) if is_ragged(rt_input) else rt_input


def from_sparse(st_input: Any, name: str | None = None, row_splits_dtype: Any = dtypes.int64) -> RaggedTensor:
    return RaggedTensor.from_sparse(st_input, name, row_splits_dtype)


def to_sparse(rt_input: Any, name: str | None = None) -> Any:
    return rt_input.to_sparse(name)


def string_split_v2(input: Any, sep: Any = None, maxsplit: int = -1, name: str | None = None) -> Any:
    """`tf.strings.split`, always as ragged rows."""
    return split(input, sep, maxsplit, "RaggedTensor", name=name)


def is_ragged(value: Any) -> bool:
    """Whether it is a ragged tensor, or the value of one."""
    return isinstance(value, (RaggedTensor, RaggedTensorValue))


def convert_to_tensor_or_ragged_tensor(
    value: Any, dtype: Any = None, preferred_dtype: Any = None, name: str | None = None
) -> Any:
    """The value as a tensor, or as a ragged one where it is ragged. ValueError for a RaggedTensor of another `dtype`."""
    if isinstance(value, RaggedTensorValue):
        values = convert_to_tensor_or_ragged_tensor(value.values, dtype, preferred_dtype)
        return RaggedTensor.from_row_splits(values, convert_to_tensor(value.row_splits, name="row_splits"), validate=False)
    if isinstance(value, RaggedTensor):
        return converted(value, dtype)
    return convert_to_tensor(value, dtype=dtype, preferred_dtype=preferred_dtype, name=name)


def match_row_splits_dtypes(*tensors: Any, return_dtype: bool = False) -> Any:
    """The tensors. ValueError unless all ragged ones have row splits of one type. With that type, if asked for."""
    rows_of_one_type(*tensors)
    found = {t.row_splits.dtype for t in tensors if isinstance(t, RaggedTensor)}
    return (next(iter(found), None), list(tensors)) if return_dtype else list(tensors)


def auto_cast_partition_dtype() -> bool:
    """Whether row splits of two types become one by themselves: never. `ragged_config`."""
    return False


def assert_splits_match(nested_splits_lists: Any) -> list[Any]:
    """Checks that all have the same row splits. ValueError where they have another number of them. `ragged_util`."""
    return rows.same(nested_splits_lists)


def convert_to_int_tensor(tensor: Any, name: str, dtype: Any = dtypes.int32) -> Any:
    """The integers of `tensor` with that type. TypeError for what is not integers. `ragged_util`."""
    found = convert_to_tensor(tensor, name=name, preferred_dtype=dtype)
    if not found.dtype.is_integer:
        raise TypeError(f"{name} must be an integer tensor; dtype={found.dtype!r}")
    return cast(found, dtype)


def get_positive_axis(axis: Any, ndims: int | None) -> int:
    """`axis` counted from the first dimension. ValueError outside of the rank. `ragged_util`."""
    return rows.axis_of(axis, ndims)


def lengths_to_splits(lengths: Any) -> Any:
    """Where rows of these lengths begin, and where the last one ends. `ragged_util`."""
    return concat([[0], cumsum(lengths)], axis=-1)


def repeat_ranges(params: Any, splits: Any, repeats: Any) -> Any:
    """params[splits[i]:splits[i + 1]] repeats[i] times, for each i. `ragged_util`."""
    repeats = convert_to_tensor(repeats, name="repeats")
    if not repeats.dtype.is_integer:
        raise TypeError(f"repeats must be an integer tensor; dtype={repeats.dtype!r}")
    return arrays.repeat(RaggedTensor.from_row_splits(params, splits, validate=False), repeats, axis=0).values


def repeat(data: Any, repeats: Any, axis: int, name: str | None = None) -> Any:
    """Each part of `data` along the axis so many times. `ragged_util.repeat`."""
    data = convert_to_tensor(data, name="data")
    return repeated(data, cast(convert_to_tensor(repeats, name="repeats"), dtypes.int32), axis, name)


# --- `ragged_factory_ops` ---------------------------------------------------------------------------------------------


def scalar_and_max_depth(pylist: Any) -> tuple[int | None, int]:
    """(how many lists are around a scalar, None without any; how many are within each other)"""
    return scalar_depth(pylist), deepest(pylist)


def default_inner_shape(pylist: Any, ragged_rank: int) -> tuple[int, ...]:
    """The shape of the values below `ragged_rank` ragged dimensions. ValueError where it differs."""
    depth = scalar_depth(pylist)
    if depth is not None and depth <= ragged_rank:
        raise ValueError(
            f"pylist has scalar values depth {depth}, but ragged_rank={ragged_rank} requires scalar value depth greater "
            f"than {ragged_rank}"
        )
    values = pylist
    for _ in range(ragged_rank):
        values = [element for row in values for element in row]
    return tuple(shape_of_values(values)[1:])
