"""Ops on boxes: DrawBoundingBoxes and the family of NonMaxSuppression. A box is (y1, x1, y2, x2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core.op import Op, define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.ops.array import Array
from tfexp.ops.shape_rules import merged_dims, required_dim, with_rank

_T = "T: type in [half,float] = float"
_TYPES = f"{_T}; T_threshold: type in [half,float] = float"
_LIMITS = "max_output_size: int32, iou_threshold: T_threshold, score_threshold: T_threshold"
draw_bounding_boxes_op = define_op(
    f"DrawBoundingBoxes(images: T, boxes: float) -> (output: T) {{{_T.replace('half,float', 'float,half')}}}"
)
draw_bounding_boxes_op.not_differentiable()
draw_bounding_boxes_v2_op = define_op(
    "DrawBoundingBoxesV2(images: T, boxes: float, colors: float) -> (output: T) {T: type in [float,half] = float}"
)
nms_op = define_op(
    "NonMaxSuppression(boxes: float, scores: float, max_output_size: int32) -> (selected_indices: int32) "
    "{iou_threshold: float = 0.5}"
).not_differentiable()
nms_v2_op = define_op(
    "NonMaxSuppressionV2(boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold) -> "
    f"(selected_indices: int32) {{{_TYPES}}}"
).not_differentiable()
nms_v3_op = define_op(f"NonMaxSuppressionV3(boxes: T, scores: T, {_LIMITS}) -> (selected_indices: int32) {{{_TYPES}}}")
nms_v4_op = define_op(
    f"NonMaxSuppressionV4(boxes: T, scores: T, {_LIMITS}) -> (selected_indices: int32, valid_outputs: int32) "
    f"{{{_TYPES}; pad_to_max_output_size: bool = false}}"
)
nms_v5_op = define_op(
    "NonMaxSuppressionV5(boxes: T, scores: T, max_output_size: int32, iou_threshold: T, score_threshold: T, "
    "soft_nms_sigma: T) -> (selected_indices: int32, selected_scores: T, valid_outputs: int32) "
    f"{{{_T}; pad_to_max_output_size: bool = false}}"
)
nms_with_overlaps_op = define_op(
    "NonMaxSuppressionWithOverlaps(overlaps: float, scores: float, max_output_size: int32, overlap_threshold: float, "
    "score_threshold: float) -> (selected_indices: int32)"
).not_differentiable()


# --- boxes drawn ------------------------------------------------------------------------------------------------------

# What boxes are drawn with where no colors are given, RGBA.
_COLORS = np.array(
    [
        [1, 1, 0, 1],
        [0, 0, 1, 1],
        [1, 0, 0, 1],
        [0, 1, 0, 1],
        [0.5, 0, 0.5, 1],
        [0.5, 0.5, 0, 1],
        [0.5, 0, 0, 1],
        [0, 0, 0.5, 1],
        [0, 1, 1, 1],
        [1, 0, 1, 1],
    ],
    np.float32,
)


def _drawn_shape(images: InputShape, boxes: InputShape) -> TensorShape:
    depth = with_rank(images, 4).as_list()[3]
    if depth not in (None, 1, 3, 4):
        raise ValueError("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)")
    dims = with_rank(boxes, 3).as_list()
    required_dim(dims[2], 4)
    return images


draw_bounding_boxes_op.shape(lambda images, boxes: _drawn_shape(images, boxes))
draw_bounding_boxes_v2_op.shape(lambda images, boxes, colors: _drawn_shape(images, boxes))


def _own_colors(images: Array) -> Array:
    """Those of boxes that are given none: white on gray."""
    return np.ones((1, 1), np.float32) if images.shape[-1:] == (1,) else _COLORS


def _draw(images: Array, boxes: Array, colors: Array) -> Array:
    if images.ndim != 4:
        raise ValueError(f"The rank of the images should be 4, got {dims_text(images.shape)}")
    if boxes.ndim != 3 or boxes.shape[2] != 4:
        raise ValueError(f"The size of the third dimension of the box must be 4. Received: {dims_text(boxes.shape)}")
    if boxes.shape[0] != images.shape[0]:
        raise ValueError(
            f"The batch sizes should be the same, got {images.shape[0]} images and {boxes.shape[0]} rows of boxes"
        )
    batch, height, width, depth = images.shape
    if depth not in (1, 3, 4):
        raise ValueError(f"Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA), got {depth}")
    result = images.copy()
    colors = colors.astype(np.float32)
    top = np.array([height - 1, width - 1, height - 1, width - 1], np.float32)
    with np.errstate(invalid="ignore"):
        edges = np.nan_to_num(boxes.astype(np.float32) * top, nan=-1, posinf=-1, neginf=-1).astype(np.int64)
    for image in range(batch):
        for number in range(boxes.shape[1]):
            y1, x1, y2, x2 = edges[image, number].tolist()
            if y1 > y2 or x1 > x2 or y1 >= height or y2 < 0 or x1 >= width or x2 < 0:
                continue
            color = colors[number % len(colors), :depth].astype(images.dtype)
            rows = slice(max(y1, 0), min(y2, height - 1) + 1)
            columns = slice(max(x1, 0), min(x2, width - 1) + 1)
            for y in (y1, y2):
                if 0 <= y < height:
                    result[image, y, columns] = color
            for x in (x1, x2):
                if 0 <= x < width:
                    result[image, rows, x] = color
    return result


@draw_bounding_boxes_op.kernel("CPU")
def _(ctx: Any, images: Array, boxes: Array) -> Array:
    return _draw(images, boxes, _own_colors(images))


@draw_bounding_boxes_v2_op.kernel("CPU")
def _(ctx: Any, images: Array, boxes: Array, colors: Array) -> Array:
    if colors.size == 0:
        return _draw(images, boxes, _own_colors(images))
    if colors.ndim != 2 or (images.ndim == 4 and colors.shape[1] < images.shape[3]):
        raise ValueError(
            f"colors must be a matrix of as many columns as the images have channels, got {dims_text(colors.shape)}"
        )
    return _draw(images, boxes, colors)


# --- suppression: shapes ----------------------------------------------------------------------------------------------


def _attach_shape(op: Op, outputs: int) -> None:
    @op.shape
    def _(boxes: InputShape, scores: InputShape, size: InputShape, *limits: InputShape, **attrs: Any) -> Any:
        dims = with_rank(boxes, 2).as_list()
        merged_dims(dims[0], with_rank(scores, 1).as_list()[0])
        with_rank(size, 0)
        for limit in limits:
            with_rank(limit, 0)
        if op is nms_with_overlaps_op:
            merged_dims(*dims)
        else:
            required_dim(dims[1], 4)
        count = None
        if attrs.get("pad_to_max_output_size") and size.value is not None:
            count = int(size.value)
        rest = [TensorShape([count])] * (outputs - 2) + [TensorShape([])]
        return [TensorShape([count]), *rest] if outputs > 1 else TensorShape([None])


for _op, _outputs in (
    (nms_op, 1),
    (nms_v2_op, 1),
    (nms_v3_op, 1),
    (nms_v4_op, 2),
    (nms_v5_op, 3),
    (nms_with_overlaps_op, 1),
):
    _attach_shape(_op, _outputs)


# --- suppression: kernels ---------------------------------------------------------------------------------------------


def overlap_among(boxes: Array) -> Callable[[int], Array]:
    """What gives, of the box of a number, the intersection over union with each of `boxes`; 0 for empty boxes.

    Corners may be in any order.
    """
    top, left = np.minimum(boxes[:, :2], boxes[:, 2:]).T.copy()
    bottom, right = np.maximum(boxes[:, :2], boxes[:, 2:]).T.copy()
    areas = (bottom - top) * (right - left)
    has_area = areas > 0

    def overlap_with(number: int) -> Array:
        height = np.maximum(np.minimum(bottom[number], bottom) - np.maximum(top[number], top), 0)
        shared = height * np.maximum(np.minimum(right[number], right) - np.maximum(left[number], left), 0)
        union = areas[number] + areas - shared
        return np.divide(shared, union, out=np.zeros_like(shared), where=has_area & has_area[number] & (union > 0))

    return overlap_with


def greedy_choice(
    scores: Array,
    limit: int,
    overlap_with: Callable[[int], Array],
    threshold: float,
    lowest: float,
    sigma: float = 0.0,
    overlaps: np.ufunc = np.greater_equal,
) -> tuple[Array, Array]:
    """The greedy choice: best first, without what overlaps a chosen one; (numbers, scores) of at most `limit`.

    overlap_with(i) is how much each candidate overlaps number i, and `overlaps` whether that is too much for `threshold`.
    With a `sigma`, overlapping ones lose score instead.
    """
    remaining = np.where(scores > lowest, scores, -np.inf).astype(np.float32)
    chosen: list[int] = []
    values: list[float] = []
    while len(chosen) < limit and remaining.size:
        best = int(remaining.argmax())
        if not remaining[best] > -np.inf:
            break
        chosen.append(best)
        values.append(remaining[best])
        remaining[best] = -np.inf
        shared = overlap_with(best)
        if sigma > 0:
            remaining = remaining * np.exp(np.float32(-0.5 / sigma) * shared * shared)
            remaining[~(remaining > lowest)] = -np.inf
        else:
            remaining[overlaps(shared, threshold)] = -np.inf
    return np.array(chosen, np.int32), np.array(values, scores.dtype)


def _checked(
    boxes: Array, scores: Array, size: Any, iou_threshold: Any, columns: int | None = 4
) -> tuple[Array, Array, int, float]:
    if boxes.ndim != 2 or boxes.shape[1] != (boxes.shape[0] if columns is None else columns):
        what = "overlaps must be square" if columns is None else "boxes must have 4 columns"
        raise ValueError(f"{what}, got shape {dims_text(boxes.shape)}")
    if scores.shape != boxes.shape[:1]:
        raise ValueError(f"scores has incompatible shape: {dims_text(scores.shape)} for {boxes.shape[0]} boxes")
    if np.ndim(size):
        raise ValueError(f"max_output_size must be 0-D, got shape {dims_text(np.shape(size))}")
    threshold = float(iou_threshold)
    if columns is not None and not 0 <= threshold <= 1:
        raise ValueError("iou_threshold must be in [0, 1]")
    return boxes.astype(np.float32), scores, max(int(size), 0), threshold


def _suppress(
    boxes: Array, scores: Array, size: Any, iou_threshold: Any, lowest: Any = -np.inf, sigma: Any = 0.0
) -> tuple[Array, Array, int]:
    boxes, scores, limit, threshold = _checked(boxes, scores, size, iou_threshold)
    if float(sigma) < 0:
        raise ValueError("soft_nms_sigma_val must be >= 0")
    chosen, values = greedy_choice(scores, limit, overlap_among(boxes), threshold, float(lowest), float(sigma))
    return chosen, values, limit


def _padded(values: Array, limit: int, pad: bool) -> Array:
    return np.concatenate([values, np.zeros(limit - len(values), values.dtype)]) if pad else values


@nms_op.kernel("CPU")
def _(ctx: Any, boxes: Array, scores: Array, size: Any, *, iou_threshold: float) -> Array:
    return _suppress(boxes, scores, size, iou_threshold)[0]


@nms_v2_op.kernel("CPU")
def _(ctx: Any, boxes: Array, scores: Array, size: Any, iou_threshold: Any) -> Array:
    return _suppress(boxes, scores, size, iou_threshold)[0]


@nms_v3_op.kernel("CPU")
def _(ctx: Any, boxes: Array, scores: Array, size: Any, iou_threshold: Any, score_threshold: Any) -> Array:
    return _suppress(boxes, scores, size, iou_threshold, score_threshold)[0]


@nms_v4_op.kernel("CPU")
def _(
    ctx: Any,
    boxes: Array,
    scores: Array,
    size: Any,
    iou_threshold: Any,
    score_threshold: Any,
    *,
    pad_to_max_output_size: bool,
) -> list[Any]:
    chosen, _, limit = _suppress(boxes, scores, size, iou_threshold, score_threshold)
    return [_padded(chosen, limit, pad_to_max_output_size), np.int32(len(chosen))]


@nms_v5_op.kernel("CPU")
def _(
    ctx: Any,
    boxes: Array,
    scores: Array,
    size: Any,
    iou_threshold: Any,
    score_threshold: Any,
    soft_nms_sigma: Any,
    *,
    pad_to_max_output_size: bool,
) -> list[Any]:
    chosen, values, limit = _suppress(boxes, scores, size, iou_threshold, score_threshold, soft_nms_sigma)
    padded = [_padded(a, limit, pad_to_max_output_size) for a in (chosen, values)]
    return [*padded, np.int32(len(chosen))]


@nms_with_overlaps_op.kernel("CPU")
def _(ctx: Any, overlaps: Array, scores: Array, size: Any, overlap_threshold: Any, score_threshold: Any) -> Array:
    overlaps, scores, limit, threshold = _checked(overlaps, scores, size, overlap_threshold, None)
    return greedy_choice(scores, limit, lambda i: overlaps[:, i], threshold, float(score_threshold))[0]
