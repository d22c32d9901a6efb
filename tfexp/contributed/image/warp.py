"""Images warped by a field of displacements, which may be interpolated from a few points.

Source: `tf.contrib.image.{interpolate_spline,dense_image_warp,sparse_image_warp}`, TF 1.15.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import expand_dims, reshape, shape
from tfexp.ops.array_fill import ones_like, zeros
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_gather import gather_nd
from tfexp.ops.array_join import concat, stack
from tfexp.ops.array_order import transpose
from tfexp.ops.array_tile import tile
from tfexp.ops.broadcast_shapes import meshgrid
from tfexp.ops.cast import cast
from tfexp.ops.clip import clip_by_value
from tfexp.ops.diagonal import eye
from tfexp.ops.elementwise_binary import maximum
from tfexp.ops.elementwise_binary import pow as power
from tfexp.ops.elementwise_rounding import floor
from tfexp.ops.elementwise_unary import log, sqrt, square
from tfexp.ops.linalg import matrix_solve
from tfexp.ops.matmul import matmul
from tfexp.ops.reduce import reduce_sum

_TINY = 1e-10  # in place of a distance of 0, whose logarithm and root have no gradient


def _distances(x: Any, y: Any) -> Any:
    """The squared distances of points x [batch, m, d] from points y [batch, n, d]: [batch, m, n]."""
    across = matmul(x, y, transpose_b=True)
    x_length, y_length = reduce_sum(square(x), 2, keepdims=True), reduce_sum(square(y), 2, keepdims=True)
    return x_length - 2.0 * across + transpose(y_length, [0, 2, 1])  # type: ignore[operator]


def _radial(squared: Any, order: int) -> Any:
    """The polyharmonic spline r ** order, for even orders times log(r), of squared distances."""
    r2 = maximum(squared, _TINY)
    if order == 1:
        return sqrt(r2)
    if order % 2:
        return power(r2, 0.5 * order)
    return 0.5 * power(r2, 0.5 * order) * log(r2)  # type: ignore[operator]


def interpolate_spline(
    train_points: Any,
    train_values: Any,
    query_points: Any,
    order: int,
    regularization_weight: float = 0.0,
    name: str = "interpolate_spline",
) -> Tensor:
    """Values [batch, m, k] at `query_points` [batch, m, d], from `train_values` [batch, n, k] at `train_points`.

    A polyharmonic spline of `order` (2 is the thin plate) with a linear term; through the values, or near them where
    `regularization_weight` is positive.
    """
    with name_scope(name):
        points = convert_to_tensor(train_points, name="train_points")
        values: Any = convert_to_tensor(train_values, name="train_values")
        queries = convert_to_tensor(query_points, name="query_points")
        batch, count, dims = (points.get_shape()[i].value for i in range(3))
        if count is None or dims is None:
            raise ValueError(f"the number of train_points and their dimensions have to be known: {points.get_shape()}")
        size = shape(points)[0] if batch is None else batch  # type: ignore[index]
        # [[A, B], [B', 0]] [w, v] = [values, 0]: splines w around the points, and a linear function v that they leave alone.
        bends: Any = _radial(_distances(points, points), order)
        if regularization_weight > 0:
            bends = bends + regularization_weight * eye(count, dtype=points.dtype)
        linear = concat([points, ones_like(points[:, :, :1])], 2)  # type: ignore[index]
        corner = zeros(stack([size, dims + 1, dims + 1]), points.dtype)
        left = concat([bends, transpose(linear, [0, 2, 1])], 1)
        right = concat([linear, corner], 1)
        nothing = zeros(stack([size, dims + 1, shape(values)[2]]), values.dtype)  # type: ignore[index]
        solved: Any = matrix_solve(concat([left, right], 2), concat([values, nothing], 1))
        w, v = solved[:, :count, :], solved[:, count:, :]
        bent: Any = matmul(_radial(_distances(queries, points), order), w)
        return bent + matmul(concat([queries, ones_like(queries[:, :, :1])], 2), v)  # type: ignore[index, no-any-return]


def interpolate_bilinear(grid: Any, query_points: Any, name: str = "interpolate_bilinear", indexing: str = "ij") -> Tensor:
    """Values [batch, n, channels] of images `grid` [batch, rows, columns, channels] at points [batch, n, 2] between pixels.

    The points are (row, column), or (column, row) with indexing="xy"; those outside are taken to the edge. ValueError for
    other ranks, other `indexing`, and images of less than two rows or columns.
    """
    if indexing not in ("ij", "xy"):
        raise ValueError(f"Indexing mode must be 'ij' or 'xy', but is {indexing!r}")
    with name_scope(name):
        grid = convert_to_tensor(grid)
        queries: Any = convert_to_tensor(query_points)
        known = grid.get_shape()
        if known.ndims != 4:
            raise ValueError(f"Grid must be 4 dimensional. Received size: {known}")
        if queries.get_shape().ndims != 3 or queries.get_shape()[2].value not in (2, None):
            raise ValueError(f"Query points must be [batch, n, 2]. Received size: {queries.get_shape()}")
        if any(known[axis].value is not None and known[axis].value < 2 for axis in (1, 2)):
            raise ValueError(f"Grid must be at least 2x2 pixels. Received size: {known}")
        extents = shape(grid)
        batch, count = extents[0], shape(queries)[1]  # type: ignore[index]
        order = (0, 1) if indexing == "ij" else (1, 0)
        floors, shares = [], []
        for axis, column in enumerate(order, 1):
            place = queries[:, :, column]
            last = cast(extents[axis] - 2, place.dtype)  # type: ignore[index, operator]
            lowest = clip_by_value(floor(place), cast(0, place.dtype), last)
            floors.append(cast(lowest, dtypes.int32))
            share = cast(place - lowest, grid.dtype)  # type: ignore[operator]
            shares.append(expand_dims(clip_by_value(share, cast(0, grid.dtype), cast(1, grid.dtype)), 2))
        images = tile(expand_dims(range_(batch), 1), stack([1, count]))

        def read(down: int, right: int) -> Any:
            return gather_nd(grid, stack([images, floors[0] + down, floors[1] + right], axis=2))  # type: ignore[operator]

        down, right = shares
        upper = read(0, 0) + right * (read(0, 1) - read(0, 0))
        lower = read(1, 0) + right * (read(1, 1) - read(1, 0))
        return upper + down * (lower - upper)  # type: ignore[no-any-return]


def _pixels(rows: Any, columns: Any, dtype: Any) -> Any:
    """[rows, columns, 2]: the place (row, column) of each pixel."""
    across, down = meshgrid(range_(columns), range_(rows))
    return cast(stack([down, across], axis=2), dtype)


def dense_image_warp(image: Any, flow: Any, name: str = "dense_image_warp") -> Tensor:
    """Images [batch, rows, columns, channels], each pixel (i, j) from (i, j) minus its `flow` [batch, rows, columns, 2].

    Between pixels bilinear; from outside, the edge. Differentiable in both.
    """
    with name_scope(name):
        image = convert_to_tensor(image, name="image")
        flow = convert_to_tensor(flow, name="flow")
        extents = shape(image)
        batch, rows, columns, channels = (extents[i] for i in range(4))  # type: ignore[index]
        places = expand_dims(_pixels(rows, columns, flow.dtype), 0) - flow  # type: ignore[operator]
        found = interpolate_bilinear(image, reshape(places, stack([batch, rows * columns, 2])))
        warped = reshape(found, stack([batch, rows, columns, channels]))
        warped.set_shape(image.get_shape())
        return warped


def _boundary(rows: int, columns: int, between: int) -> np.ndarray:
    """The corners of an image and `between - 1` points along each of its edges: [points, 2]."""
    ys, xs = np.linspace(0, rows - 1, between + 1), np.linspace(0, columns - 1, between + 1)
    grid = np.stack(np.meshgrid(ys, xs, indexing="ij"), -1).reshape(-1, 2)
    on_edge = np.isin(grid[:, 0], (ys[0], ys[-1])) | np.isin(grid[:, 1], (xs[0], xs[-1]))
    return grid[on_edge].astype(np.float32)


def sparse_image_warp(
    image: Any,
    source_control_point_locations: Any,
    dest_control_point_locations: Any,
    interpolation_order: int = 2,
    regularization_weight: float = 0.0,
    num_boundary_points: int = 0,
    name: str = "sparse_image_warp",
) -> tuple[Tensor, Tensor]:
    """(images, flow), where what was at each source point (row, column) is at its destination, and the rest goes along.

    image: [batch, rows, columns, channels]; points: [batch, n, 2]. The flow between the points is a spline (see
    `interpolate_spline`). num_boundary_points: so many points on each edge (1: the corners alone) stay where they are.
    ValueError for less than none of them, and where the size of the images is not known.
    """
    with name_scope(name):
        image = convert_to_tensor(image)
        source: Any = convert_to_tensor(source_control_point_locations)
        target: Any = convert_to_tensor(dest_control_point_locations)
        if num_boundary_points < 0:
            raise ValueError(f"num_boundary_points must be at least 0, but is {num_boundary_points}")
        _, rows, columns, _ = image.get_shape().with_rank(4).as_list()
        if rows is None or columns is None:
            raise ValueError(f"the size of the images has to be known, but their shape is {image.get_shape()}")
        batch = shape(image)[0]  # type: ignore[index]
        if num_boundary_points:
            edge = constant(_boundary(rows, columns, num_boundary_points))
            edges = cast(tile(expand_dims(edge, 0), stack([batch, 1, 1])), source.dtype)
            source, target = concat([source, edges], 1), concat([target, edges], 1)
        pixels = reshape(_pixels(rows, columns, target.dtype), [1, rows * columns, 2])
        everywhere = tile(pixels, stack([batch, 1, 1]))
        flow = interpolate_spline(target, target - source, everywhere, interpolation_order, regularization_weight)
        flow = reshape(flow, stack([batch, rows, columns, 2]))
        flow.set_shape([image.get_shape()[0], rows, columns, 2])
        return dense_image_warp(image, flow), flow
