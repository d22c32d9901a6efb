"""The shapes of ragged tensors as tensors, and broadcasting to them. Source: `RaggedTensorDynamicShape`, TF 1.15.

A shape has partitioned dimensions, then inner ones. A partitioned dimension is uniform (a scalar, its size) or ragged (a
vector, the lengths of all its rows); the first is uniform, the last ragged. The inner ones are those of the flat values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.scopes import control_dependencies, name_scope
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.ops import (
    array,
    array_fill,
    array_gather,
    array_identity,
    array_join,
    array_mask,
    check_compare,
    comparison,
    cumulative,
    reduce,
)
from tfexp.ops.array_repeat import repeat
from tfexp.ops.cast import cast
from tfexp.ops.reduce import reduce_sum
from tfexp.ragged_tensors.tensor import RaggedTensor, converted

_MISMATCH = "Unable to broadcast: dimension size mismatch in dimension"


class RaggedTensorDynamicShape:
    """The sizes of the partitioned dimensions, int32 or int64 scalars and vectors, and a vector of the inner ones'.

    TypeError for what is no list of integers. ValueError for sizes of other ranks, and unless the first partitioned
    dimension is uniform and the last ragged.
    """

    def __init__(self, partitioned_dim_sizes: Sequence[Any], inner_dim_sizes: Any, dim_size_dtype: Any = None):
        if not isinstance(partitioned_dim_sizes, (list, tuple)):
            raise TypeError("partitioned_dim_sizes should be a list of Tensors")
        with name_scope(None, "RaggedTensorDynamicShape"):
            sizes = [_sizes(size, f"partitioned_dim_sizes_{axis}") for axis, size in enumerate(partitioned_dim_sizes)]
            inner = _sizes(inner_dim_sizes, "inner_dim_sizes")
            inner.shape.assert_has_rank(1)
            for axis, size in enumerate(sizes):
                if size.shape.rank is None:
                    raise ValueError(f"rank of partitioned_dim_sizes[{axis}] is unknown")
                size.shape.with_rank_at_most(1)
            if sizes and sizes[0].shape.rank == 1:
                raise ValueError("outermost partitioned dimension must be uniform")
            if sizes and sizes[-1].shape.rank == 0:
                raise ValueError("innermost partitioned dimension must be ragged")
            kinds = {size.dtype for size in [*sizes, inner]}
            kind = dtypes.as_dtype(dim_size_dtype or (dtypes.int64 if len(kinds) > 1 else next(iter(kinds))))
            self._partitioned = tuple(cast(size, kind) for size in sizes)
            self._inner = cast(inner, kind)

    @staticmethod
    def from_dim_sizes(dim_sizes: Sequence[Any]) -> RaggedTensorDynamicShape:
        """Of scalars and vectors; what follows the last vector is inner."""
        with name_scope(None, "RaggedTensorDynamicShapeFromDimensionSizes", [dim_sizes]):
            sizes = tuple(_sizes(size, f"dim_size_{axis}") for axis, size in enumerate(dim_sizes))
            for size in sizes:
                if size.shape.rank is None:
                    raise ValueError("Sizes of dimensions must have a known rank")
                if size.shape.rank > 1:
                    raise ValueError(f"Each dim_size must be a scalar or a vector, not of rank {size.shape.rank}")
            ragged = [axis for axis, size in enumerate(sizes) if size.shape.rank == 1]
            end = ragged[-1] + 1 if ragged else 0
            kind = dtypes.int64 if {size.dtype for size in sizes} - {dtypes.int32} else dtypes.int32
            sizes = tuple(cast(size, kind) for size in sizes)
            inner = array_join.stack(list(sizes[end:])) if sizes[end:] else array_fill.zeros([0], kind)
            return RaggedTensorDynamicShape(sizes[:end], inner)

    @classmethod
    def from_tensor(cls, rt_input: Any, dim_size_dtype: Any = None) -> RaggedTensorDynamicShape:
        """The shape of a ragged tensor; of a tensor all dimensions are inner."""
        with name_scope(None, "RaggedTensorDynamicShapeFromTensor", [rt_input]):
            x = converted(rt_input)
            if not isinstance(x, RaggedTensor):
                return cls([], array.shape(x, out_type=dim_size_dtype or dtypes.int32))
            inner: Any = array.shape(x.flat_values, out_type=x.row_splits.dtype)
            return cls([x.nrows(), *x.nested_row_lengths()], inner[1:], dim_size_dtype=dim_size_dtype)

    @property
    def rank(self) -> int | None:
        """The number of dimensions, None where that of the inner ones is unknown."""
        inner = self.num_inner_dimensions
        return None if inner is None else self.num_partitioned_dimensions + inner

    @property
    def partitioned_dim_sizes(self) -> tuple[Tensor, ...]:
        return self._partitioned

    @property
    def inner_dim_sizes(self) -> Tensor:
        return self._inner

    @property
    def num_partitioned_dimensions(self) -> int:
        return len(self._partitioned)

    @property
    def num_inner_dimensions(self) -> int | None:
        known: int | None = self._inner.shape[0].value
        return known

    @property
    def dim_size_dtype(self) -> DType:
        return self._inner.dtype

    def dimension_size(self, axis: int) -> Tensor:
        """A scalar for a uniform dimension, a vector of the lengths of its rows for a ragged one."""
        if not isinstance(axis, int):
            raise TypeError("axis must be an integer")
        if axis < self.num_partitioned_dimensions:
            return self._partitioned[axis]
        return self._inner[axis - self.num_partitioned_dimensions]  # type: ignore[index,no-any-return]

    def num_slices_in_dimension(self, axis: int) -> Tensor:
        """How many slices there are along the dimensions up to `axis` together: 1 before the first.

        TypeError for no integer, ValueError behind the last dimension.
        """
        total: Any = constant(1, self.dim_size_dtype)
        if isinstance(axis, int) and axis < 0:
            return total
        self._check_axis(axis)
        for size in map(self.dimension_size, range(axis + 1)):
            total = total * size if size.shape.rank == 0 else reduce_sum(size)
        return total

    def is_ragged(self, axis: int) -> bool:
        """Whether the rows of that dimension may have different lengths."""
        self._check_axis(axis)
        return axis < self.num_partitioned_dimensions and self._partitioned[axis].shape.rank == 1

    def _check_axis(self, axis: int) -> None:
        if not isinstance(axis, int):
            raise TypeError("axis must be an integer")
        if axis < 0:
            raise ValueError("Negative axis values are not supported")
        if self.rank is not None and axis >= self.rank:
            raise ValueError(f"Expected axis={axis} < rank={self.rank}")

    def broadcast_to_rank(self, rank: int) -> RaggedTensorDynamicShape:
        """The same with dimensions of 1 before its own, `rank` in all."""
        if self.rank is None:
            raise ValueError("Unable to broadcast: self.rank is unknown")
        more = rank - self.rank
        if more < 0:
            raise ValueError(f"Unable to broadcast: rank={rank} must be greater than self.rank={self.rank}.")
        if not more:
            return self
        if self._partitioned:
            ones = [convert_to_tensor(1, self.dim_size_dtype)] * more
            return RaggedTensorDynamicShape([*ones, *self._partitioned], self._inner)
        ones = array_fill.ones([more], self.dim_size_dtype)  # type: ignore[assignment]
        return RaggedTensorDynamicShape([], array_join.concat([ones, self._inner], 0))

    def broadcast_dimension(self, axis: int, lengths: Any) -> RaggedTensorDynamicShape:
        """The shape after dimension `axis` was repeated to these lengths, a scalar or a vector of those of its rows.

        ValueError for an axis below 0 or beyond the rank, and for lengths of another rank.
        """
        self._check_axis(axis)
        sizes = _sizes(lengths, "lengths")
        if sizes.shape.rank is None:
            raise ValueError("lengths must have a known rank.")
        if sizes.shape.rank > 1:
            raise ValueError("lengths must be a scalar or vector")
        mine = list(map(self.dimension_size, range(self.num_partitioned_dimensions)))
        inner = array_join.unstack(self._inner, num=self.num_inner_dimensions) if self.num_inner_dimensions else []
        ones = [convert_to_tensor(1, self.dim_size_dtype)] * len([*mine, *inner])
        ones[axis] = cast(sizes, self.dim_size_dtype)
        if sizes.shape.rank == 0:
            return broadcast_dynamic_shape(self, RaggedTensorDynamicShape.from_dim_sizes(ones))
        # Rows need rows around them: those that this shape has.
        around = [*mine, *inner][:axis]
        return broadcast_dynamic_shape(self, RaggedTensorDynamicShape.from_dim_sizes([*around, *ones[axis:]]))

    def with_dim_size_dtype(self, dtype: Any) -> RaggedTensorDynamicShape:
        """The same with sizes of int32 or int64 (ValueError for others)."""
        kind = dtypes.as_dtype(dtype)
        if kind not in (dtypes.int32, dtypes.int64):
            raise ValueError("dtype must be int32 or int64")
        return self if kind == self.dim_size_dtype else RaggedTensorDynamicShape(self._partitioned, self._inner, kind)

    def __repr__(self) -> str:
        return f"RaggedTensorDynamicShape(partitioned_dim_sizes={self._partitioned!r}, inner_dim_sizes={self._inner!r})"


def _sizes(value: Any, name: str) -> Tensor:
    tensor = convert_to_tensor(value, preferred_dtype=dtypes.int32, name=name)
    if not tensor.dtype.is_integer:
        raise TypeError(f"{name} must be an integer tensor; dtype={tensor.dtype!r}")
    return tensor if tensor.dtype in (dtypes.int32, dtypes.int64) else cast(tensor, dtypes.int64)  # type: ignore[no-any-return]


class _Walk:
    """The rows of a shape or ragged tensor, dimension by dimension, seen from the rows of the shape it is broadcast to."""

    def __init__(self, shape: RaggedTensorDynamicShape):
        self.shape = shape
        self.row: Any = array_fill.zeros([1], shape.dim_size_dtype)  # for each row of the target, the row here

    def length(self, axis: int) -> Any:
        """A scalar, or for each row of the target the length of the row here."""
        size = self.shape.dimension_size(axis)
        return array_gather.gather(size, self.row) if self.shape.is_ragged(axis) else size

    def down(self, axis: int, ids: Any, places: Any, lengths: Any) -> None:
        """On to the parts: of each of the target's, `ids` has the row and `places` the place in it; `lengths` are the rows'.

        A dimension of size 1 repeats its only part. InvalidArgumentError in the run where another has another length.
        """
        own: Any = self.length(axis)
        uniform = not self.shape.is_ragged(axis)
        if uniform and static_value(own) == 1:
            self.row = array_gather.gather(self.row, ids)
            return
        repeated = comparison.equal(own, 1) if uniform else False
        fits = array_mask.where_v2(repeated, lengths, array_fill.ones_like(lengths) * own)
        with control_dependencies([check_compare.assert_equal(lengths, fits, message=f"{_MISMATCH} {axis}")]):
            row: Any = array_identity.identity(array_gather.gather(self.row, ids))
        if uniform:
            self.row = row * own + array_mask.where_v2(repeated, array_fill.zeros_like(places), places)
        else:
            size = self.shape.dimension_size(axis)
            self.row = array_gather.gather(_begins(size), row) + places


def _begins(lengths: Any) -> Any:
    """Where rows of these lengths begin."""
    return cumulative.cumsum(lengths, exclusive=True)


def _parts(lengths: Any, count: Any) -> tuple[Any, Any, Any]:
    """(the row of each part, its place in it, how many there are), of `count` rows of these lengths."""
    each: Any = array_fill.ones(array.expand_dims(count, 0), lengths.dtype) * lengths
    ids = repeat(array_fill.range(count), each, axis=0)
    total: Any = reduce.reduce_sum(each)
    places = array_fill.range(total) - array_gather.gather(_begins(each), ids)  # type: ignore[operator]
    return ids, places, total


def broadcast_to(rt_input: Any, shape: RaggedTensorDynamicShape, broadcast_inner_dimensions: bool = True) -> Any:
    """`rt_input`, ragged or not, repeated where it has a size of 1 so that it has that shape.

    broadcast_inner_dimensions: whether the inner dimensions are repeated, too; else those are left to NumPy's rules.
    InvalidArgumentError in the run where a size is neither 1 nor the shape's.
    """
    if not isinstance(shape, RaggedTensorDynamicShape):
        raise TypeError("shape must be a RaggedTensorDynamicShape")
    x = converted(rt_input)
    kind = shape.dim_size_dtype
    if isinstance(x, RaggedTensor):
        x = x.with_row_splits_dtype(kind)
    if not shape.num_partitioned_dimensions:
        if isinstance(x, RaggedTensor):
            raise ValueError(f"Unable to broadcast: {x!r} is ragged, and {shape!r} is not")
        return array_fill.broadcast_to(x, shape.inner_dim_sizes) if broadcast_inner_dimensions else x
    with name_scope(None, "RaggedBroadcastTo", [x]):
        own = RaggedTensorDynamicShape.from_tensor(x, dim_size_dtype=kind)
        rank = shape.rank
        if rank is None:
            raise ValueError("Unable to broadcast: shape.rank is unknown")
        walk = _Walk(own.broadcast_to_rank(rank))
        count: Any = convert_to_tensor(1, kind)
        partitions = []
        for axis, size in enumerate(shape.partitioned_dim_sizes):
            ids, places, total = _parts(size, count)
            each = array_fill.ones(array.expand_dims(count, 0), kind) * size  # type: ignore[operator]
            walk.down(axis, ids, places, each)
            if axis:
                partitions.append(each)
            count = total
        if isinstance(x, RaggedTensor):
            values: Any = x.flat_values
        else:  # all of its dimensions, as many as those of the shape, are those of one flat value
            ones = array_fill.ones([rank - x.shape.rank + 1], kind)
            values = array.reshape(x, array_join.concat([ones, array.shape(x, out_type=kind)], 0))
        # Where the shape has partitioned dimensions that are inner ones of the value, their parts are flat values, too.
        parted = shape.num_partitioned_dimensions - walk.shape.num_partitioned_dimensions
        if parted < 0:
            raise ValueError(f"Unable to broadcast: a ragged dimension of {x!r} is an inner one of {shape!r}")
        if parted:
            dims: Any = array.shape(values, out_type=kind)
            values = array.reshape(values, array_join.concat([[-1], dims[1 + parted :]], 0))
        values = array_gather.gather(values, walk.row)
        if broadcast_inner_dimensions:
            values = array_fill.broadcast_to(
                values, array_join.concat([array.expand_dims(count, 0), shape.inner_dim_sizes], 0)
            )
        return RaggedTensor.from_nested_row_lengths(values, partitions, validate=False)


def broadcast_dynamic_shape(
    shape_x: RaggedTensorDynamicShape, shape_y: RaggedTensorDynamicShape
) -> RaggedTensorDynamicShape:
    """The shape that both can be broadcast to. InvalidArgumentError in the run where sizes differ, and neither is 1."""
    for shape, name in ((shape_x, "shape_x"), (shape_y, "shape_y")):
        if not isinstance(shape, RaggedTensorDynamicShape):
            raise TypeError(f"{name} must be a RaggedTensorDynamicShape")
    kind = shape_x.dim_size_dtype
    if kind != shape_y.dim_size_dtype:
        kind = dtypes.int64
    if shape_x.rank is None or shape_y.rank is None:
        raise ValueError("Unable to broadcast: unknown rank")
    rank = max(shape_x.rank, shape_y.rank)
    with name_scope(None, "RaggedBroadcastDynamicShape"):
        walks = [_Walk(s.with_dim_size_dtype(kind).broadcast_to_rank(rank)) for s in (shape_x, shape_y)]
        partitioned = max(walk.shape.num_partitioned_dimensions for walk in walks)
        count: Any = convert_to_tensor(1, kind)
        sizes = []
        for axis in range(rank):
            size = _common(walks, axis)
            sizes.append(size)
            if axis < partitioned:
                ids, places, total = _parts(size, count)
                each = array_fill.ones(array.expand_dims(count, 0), kind) * size  # type: ignore[operator]
                for walk in walks:
                    walk.down(axis, ids, places, each)
                count = total
        inner = array_join.stack(sizes[partitioned:]) if sizes[partitioned:] else array_fill.zeros([0], kind)
        return RaggedTensorDynamicShape(sizes[:partitioned], inner)


def _common(walks: Sequence[_Walk], axis: int) -> Any:
    """The size that both have or are repeated to: the lengths of the one that is ragged, else the one that is not 1."""
    for walk in walks:
        if walk.shape.is_ragged(axis):
            return walk.length(axis)
    x, y = (walk.length(axis) for walk in walks)
    known_x, known_y = static_value(x), static_value(y)
    if known_x == 1 or known_y == 1:
        return y if known_x == 1 else x
    return array_mask.where_v2(comparison.equal(x, 1), y, x)
