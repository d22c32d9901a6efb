"""Fractional pooling: regions of two neighbouring integer sizes, laid at random, shrink rows and columns by any ratio.

Graham: "Fractional max-pooling" (2014). Along each axis the regions' bounds b (int64, [regions + 1], from 0 to the
axis's length) are drawn anew for each run; region i is [b[i], b[i + 1]), and reaches one further if regions overlap.

TensorFlow's conventions, found by experiment: the bounds of rows come from the stream first. A pseudorandom sequence
is ceil(a (i + u)) for a = length / regions and takes one block for its u; a random one shuffles the regions' sizes, and
takes a word for each.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tfexp.core import dtypes
from tfexp.core.errors import InvalidArgumentError, UnimplementedError
from tfexp.core.op import Op, define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array, shape
from tfexp.ops.distributions import shuffled_indices
from tfexp.ops.philox import Philox, PhiloxState, uniform
from tfexp.ops.random import stream_state
from tfexp.ops.shape_rules import with_rank

_ROWS, _COLUMNS = 1, 2
_DRAWN = "output: T, row_pooling_sequence: int64, col_pooling_sequence: int64"
_SEQUENCES = "row_pooling_sequence: int64, col_pooling_sequence: int64"
_TYPES = "overlapping: bool = false; T: type in [float,double,int32,int64]"
_ATTRS = (
    "pooling_ratio: list(float) >= 4; pseudo_random: bool = false; overlapping: bool = false; deterministic: bool = false; "
    "seed: int = 0; seed2: int = 0; T: type in [float,double,int32,int64]"
)

fractional_max_pool_op = define_op(f"FractionalMaxPool(value: T) -> ({_DRAWN}) {{{_ATTRS}}}")
fractional_avg_pool_op = define_op(f"FractionalAvgPool(value: T) -> ({_DRAWN}) {{{_ATTRS}}}")
fractional_max_pool_grad_op = define_op(
    f"FractionalMaxPoolGrad(orig_input: T, orig_output: T, out_backprop: T, {_SEQUENCES}) -> (output: T) {{{_TYPES}}}"
)
fractional_avg_pool_grad_op = define_op(
    f"FractionalAvgPoolGrad(orig_input_tensor_shape: int64, out_backprop: T, {_SEQUENCES}) -> (output: T) {{{_TYPES}}}"
)

Bounds = npt.NDArray[np.int64]

# --- shapes -----------------------------------------------------------------------------------------------------------


@fractional_max_pool_op.shape
@fractional_avg_pool_op.shape
def _(value: InputShape, *, pooling_ratio: list[float]) -> list[TensorShape]:
    dims = with_rank(value, 4).as_list()
    if len(pooling_ratio) != 4:
        raise ValueError("pooling_ratio field must specify 4 dimensions")
    for ratio in pooling_ratio:
        if ratio < 1:
            raise ValueError(f"pooling_ratio cannot be smaller than 1, got: {ratio:g}")
    pooled = [None if d is None else int(d / ratio) for d, ratio in zip(dims, pooling_ratio, strict=True)]
    return [TensorShape(pooled), TensorShape([_one_more(pooled[_ROWS])]), TensorShape([_one_more(pooled[_COLUMNS])])]


def _one_more(regions: int | None) -> int | None:
    """How many bounds regions have (TensorFlow infers one too few)."""
    return None if regions is None else regions + 1


@fractional_max_pool_grad_op.shape
def _(x: InputShape, y: InputShape, grad: InputShape, rows: InputShape, columns: InputShape) -> TensorShape:
    return with_rank(x, 4)


@fractional_avg_pool_grad_op.shape
def _(sizes: InputShape, grad: InputShape, rows: InputShape, columns: InputShape) -> TensorShape:
    return TensorShape([None] * 4 if sizes.value is None else sizes.value.tolist())


# --- bounds of regions ------------------------------------------------------------------------------------------------


def _draw_bounds(
    ctx: Any,
    kind: str,
    dims: tuple[int, ...],
    ratios: Sequence[float],
    pseudo_random: bool,
    fixed: bool,
    seeds: tuple[int, int],
) -> tuple[Bounds, Bounds]:
    """The bounds of rows and of columns; of a `fixed` layout the same in each run."""
    if not fixed and any(seeds):
        raise InvalidArgumentError(None, None, "Both seed and seed2 should be 0 if deterministic is false.")
    if len(dims) != 4:
        raise InvalidArgumentError(None, None, f"value must be 4-dimensional, but has the shape {dims_text(dims)}")
    if ratios[0] != 1 or ratios[3] != 1:
        raise UnimplementedError(
            None, None, f"Fractional {kind} pooling is not yet supported on the batch nor channel dimension."
        )
    for axis, (length, ratio) in enumerate(zip(dims, ratios, strict=True)):
        if length < ratio:
            raise InvalidArgumentError(
                None,
                None,
                f"Pooling ratio is higher than input dimension size for dimension {axis}. "
                f"Input dim size: {length} pooling ratio: {ratio:g}",
            )
    lengths = dims[_ROWS], dims[_COLUMNS]
    regions = int(lengths[0] / ratios[_ROWS]), int(lengths[1] / ratios[_COLUMNS])
    stream = _stream(ctx, fixed, seeds)
    lay = _pseudo_random_bounds if pseudo_random else _random_bounds
    return lay(stream, lengths[0], regions[0]), lay(
        stream.skip(1 if pseudo_random else -(-regions[0] // 4)), lengths[1], regions[1]
    )


def _stream(ctx: Any, fixed: bool, seeds: tuple[int, int]) -> Philox:
    """The seeds' stream, or one that the system seeds: for each run, or of a `fixed` layout for each session.

    The ops are not stateful, so that a node of constants may be computed once and for all (without a `ctx`).
    """
    if any(seeds):
        return Philox.from_seeds(*seeds)
    state = stream_state(ctx, *seeds) if fixed and ctx is not None else PhiloxState(*seeds)
    return state.take(0)


def _pseudo_random_bounds(stream: Philox, length: int, regions: int) -> Bounds:
    """ceil(a (i + u)) - 1 for 0 < i < regions, with the largest u for which no region's size leaves {floor a, ceil a}."""
    a, smaller = length / regions, length // regions
    largest = min((smaller + 2) / a - 1, (length + 1 - smaller) / a - (regions - 1))
    u = float(uniform(stream, 1, np.float64)[0]) * largest
    inner = np.ceil(a * (np.arange(1, regions) + u)).astype(np.int64) - 1
    return np.concatenate([[0], inner, [length]]).astype(np.int64)


def _random_bounds(stream: Philox, length: int, regions: int) -> Bounds:
    sizes = np.full(regions, length // regions, np.int64)
    sizes[: length % regions] += 1
    return np.concatenate([[0], np.cumsum(sizes[shuffled_indices(stream, regions)])]).astype(np.int64)


def _check_bounds(name: str, bounds: Array, length: int, regions: int) -> None:
    """InvalidArgumentError unless these are the bounds of so many regions of an axis."""
    laid = bounds.ndim == 1 and len(bounds) == regions + 1 and bounds[0] == 0 and bounds[-1] == length
    if not (laid and (np.diff(bounds) > 0).all()):
        raise InvalidArgumentError(
            None, None, f"{name} must rise from 0 to {length} in {regions} steps, but is {bounds.tolist()}"
        )


def _check_grad(x_dims: Sequence[int], grad: Array, rows: Bounds, columns: Bounds) -> None:
    pooled = grad.shape
    if len(x_dims) != 4 or grad.ndim != 4 or (pooled[0], pooled[3]) != (x_dims[0], x_dims[3]):
        raise InvalidArgumentError(
            None, None, f"out_backprop of the shape {dims_text(pooled)} is no gradient for an input of {dims_text(x_dims)}"
        )
    _check_bounds("row_pooling_sequence", rows, x_dims[_ROWS], pooled[_ROWS])
    _check_bounds("col_pooling_sequence", columns, x_dims[_COLUMNS], pooled[_COLUMNS])


# --- one axis at a time -----------------------------------------------------------------------------------------------
# An overlapping region is a disjoint one together with the first place of the next.


def _along(axis: int, places: Any) -> tuple[Any, ...]:
    return (slice(None),) * axis + (places,)


def _reduced(reduce: np.ufunc, x: Array, axis: int, bounds: Bounds, overlapping: bool) -> Array:
    """`reduce` over each region of an axis, in x's own type."""
    result: Array = reduce.reduceat(x, bounds[:-1], axis=axis, dtype=x.dtype)
    if overlapping:
        inner = result[_along(axis, slice(None, -1))]
        reduce(inner, x[_along(axis, bounds[1:-1])], out=inner)
    return result


def _reached(bounds: Bounds, overlapping: bool) -> list[tuple[Bounds, Bounds]]:
    """(places of an axis, the region that reaches each): by overlap from the left first, then each place's own."""
    regions = np.arange(len(bounds) - 1)
    own = np.arange(bounds[-1]), np.repeat(regions, np.diff(bounds))
    return [(bounds[1:-1], regions[:-1]), own] if overlapping else [own]


def _first_largest(x: Array, axis: int, bounds: Bounds, overlapping: bool) -> tuple[Array, Array]:
    """The largest element of each region of an axis, and the first index along it at which it stands."""
    largest = np.maximum.reduceat(x, bounds[:-1], axis=axis)
    length = x.shape[axis]
    index = np.arange(length).reshape((-1,) + (1,) * (x.ndim - 1 - axis))
    smaller = x < np.repeat(largest, np.diff(bounds), axis=axis)
    places = np.minimum.reduceat(np.where(smaller, length, index), bounds[:-1], axis=axis)
    if overlapping:
        beyond = x[_along(axis, bounds[1:-1])]
        inner = _along(axis, slice(None, -1))
        places[inner] = np.where(beyond > largest[inner], index[bounds[1:-1]], places[inner])
        np.maximum(largest[inner], beyond, out=largest[inner])
    return largest, places


# --- kernels ----------------------------------------------------------------------------------------------------------


@fractional_max_pool_op.kernel("CPU")
def _(
    ctx: Any,
    value: Array,
    *,
    pooling_ratio: list[float],
    pseudo_random: bool,
    overlapping: bool,
    deterministic: bool,
    seed: int,
    seed2: int,
) -> tuple[Array, Bounds, Bounds]:
    rows, columns = _draw_bounds(ctx, "max", value.shape, pooling_ratio, pseudo_random, deterministic, (seed, seed2))
    by_rows = _reduced(np.maximum, value, _ROWS, rows, overlapping)
    return _reduced(np.maximum, by_rows, _COLUMNS, columns, overlapping), rows, columns


@fractional_avg_pool_op.kernel("CPU")
def _(
    ctx: Any,
    value: Array,
    *,
    pooling_ratio: list[float],
    pseudo_random: bool,
    overlapping: bool,
    deterministic: bool,
    seed: int,
    seed2: int,
) -> tuple[Array, Bounds, Bounds]:
    rows, columns = _draw_bounds(ctx, "average", value.shape, pooling_ratio, pseudo_random, deterministic, (seed, seed2))
    by_rows = _reduced(np.add, value, _ROWS, rows, overlapping)
    sums = _reduced(np.add, by_rows, _COLUMNS, columns, overlapping)
    counts = _counts(rows, columns, overlapping)
    if value.dtype.kind == "f":
        return (sums / counts).astype(value.dtype), rows, columns
    quotient = np.abs(sums) // counts  # towards zero, as C divides
    return (np.sign(sums) * quotient).astype(value.dtype), rows, columns


def _counts(rows: Bounds, columns: Bounds, overlapping: bool) -> npt.NDArray[np.int64]:
    """How many places each region has, to be laid over [batch, rows, columns, depth]."""

    def along(bounds: Bounds) -> npt.NDArray[np.int64]:
        sizes = np.diff(bounds)
        if overlapping:
            sizes[:-1] += 1
        return sizes

    return np.multiply.outer(along(rows), along(columns))[:, :, np.newaxis]


@fractional_max_pool_grad_op.kernel("CPU")
def _(ctx: Any, x: Array, y: Array, grad: Array, rows: Bounds, columns: Bounds, *, overlapping: bool) -> Array:
    _check_grad(x.shape, grad, rows, columns)
    by_columns, column_of = _first_largest(x, _COLUMNS, columns, overlapping)
    largest, row_of = _first_largest(by_columns, _ROWS, rows, overlapping)
    if not np.array_equal(largest, y):
        raise InvalidArgumentError(None, None, "orig_output is not what pooling orig_input by these sequences gives")
    batch, _, _, depth = np.ogrid[tuple(map(slice, x.shape))]
    result = np.zeros(x.shape, grad.dtype)
    np.add.at(result, (batch, row_of, np.take_along_axis(column_of, row_of, _ROWS), depth), grad)
    return result


@fractional_avg_pool_grad_op.kernel("CPU")
def _(ctx: Any, sizes: Array, grad: Array, rows: Bounds, columns: Bounds, *, overlapping: bool) -> Array:
    _check_grad(sizes.tolist(), grad, rows, columns)
    shares = grad.astype(np.float64) / _counts(rows, columns, overlapping)
    result = np.zeros(sizes, np.float64)
    for (row, row_region), (column, column_region) in itertools.product(
        _reached(rows, overlapping), _reached(columns, overlapping)
    ):
        result[:, row[:, np.newaxis], column] += shares[:, row_region[:, np.newaxis], column_region]
    return result.astype(grad.dtype)


# --- gradients --------------------------------------------------------------------------------------------------------


@fractional_max_pool_op.gradient
def _(op: Operation, grad: Tensor, rows_grad: Tensor | None, columns_grad: Tensor | None) -> Tensor:
    overlapping = op.get_attr("overlapping")
    result: Tensor = fractional_max_pool_grad_op(op.inputs[0], op.outputs[0], grad, *op.outputs[1:], overlapping=overlapping)
    return result


@fractional_avg_pool_op.gradient
def _(op: Operation, grad: Tensor, rows_grad: Tensor | None, columns_grad: Tensor | None) -> Tensor:
    known = op.inputs[0].get_shape()
    sizes = known.as_list() if known.is_fully_defined() else shape(op.inputs[0], out_type=dtypes.int64)
    result: Tensor = fractional_avg_pool_grad_op(sizes, grad, *op.outputs[1:], overlapping=op.get_attr("overlapping"))
    return result


# --- tf.nn ------------------------------------------------------------------------------------------------------------


def fractional_max_pool(
    value: Any,
    pooling_ratio: Sequence[float],
    pseudo_random: bool = False,
    overlapping: bool = False,
    deterministic: bool = False,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> list[Tensor]:
    """The largest element of each region, and the bounds of rows and of columns. Source: `tf.nn.fractional_max_pool`.

    value: [batch, rows, columns, depth]; `pooling_ratio`: four, of which the first and the last are 1 and none is less.
    Only a `deterministic` layout, the same in each run, takes seeds.
    """
    return _pool(fractional_max_pool_op, value, pooling_ratio, pseudo_random, overlapping, deterministic, seed, seed2, name)


def fractional_avg_pool(
    value: Any,
    pooling_ratio: Sequence[float],
    pseudo_random: bool = False,
    overlapping: bool = False,
    deterministic: bool = False,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> list[Tensor]:
    """The mean of each region, and the bounds, as `fractional_max_pool`. Source: `tf.nn.fractional_avg_pool`."""
    return _pool(fractional_avg_pool_op, value, pooling_ratio, pseudo_random, overlapping, deterministic, seed, seed2, name)


def _pool(
    op: Op,
    value: Any,
    pooling_ratio: Sequence[float],
    pseudo_random: bool,
    overlapping: bool,
    deterministic: bool,
    seed: int,
    seed2: int,
    name: str | None,
) -> list[Tensor]:
    pooled: list[Tensor] = op(
        value,
        pooling_ratio=list(pooling_ratio),
        pseudo_random=pseudo_random,
        overlapping=overlapping,
        deterministic=deterministic,
        seed=seed,
        seed2=seed2,
        name=name,
    )
    return pooled
