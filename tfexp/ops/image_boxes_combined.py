"""CombinedNonMaxSuppression: boxes chosen for each class of each image, and the best of all classes together."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array
from tfexp.ops.image_boxes_ops import greedy_choice, overlap_among
from tfexp.ops.shape_rules import merged_dims, required_dim, with_rank

combined_nms_op = define_op(
    "CombinedNonMaxSuppression(boxes: float, scores: float, max_output_size_per_class: int32, max_total_size: int32, "
    "iou_threshold: float, score_threshold: float) -> (nmsed_boxes: float, nmsed_scores: float, nmsed_classes: float, "
    "valid_detections: int32) {pad_per_class: bool = false; clip_boxes: bool = true}"
)


@combined_nms_op.shape
def _(
    boxes: InputShape,
    scores: InputShape,
    per_class: InputShape,
    total: InputShape,
    iou_threshold: InputShape,
    score_threshold: InputShape,
    *,
    pad_per_class: bool,
) -> list[TensorShape]:
    box_dims, score_dims = with_rank(boxes, 4).as_list(), with_rank(scores, 3).as_list()
    for scalar in (per_class, total, iou_threshold, score_threshold):
        with_rank(scalar, 0)
    required_dim(box_dims[3], 4)
    merged_dims(box_dims[0], score_dims[0])
    merged_dims(box_dims[1], score_dims[1])
    if None not in (box_dims[2], score_dims[2]) and box_dims[2] not in (1, score_dims[2]):
        raise ValueError("third dimension of boxes must be either 1 or equal to the third dimension of scores")
    if total.value is not None and total.value <= 0:
        raise ValueError("max_total_size should be > 0 ")
    if per_class.value is not None and per_class.value < 0:
        raise ValueError(f"Dimension size, given by scalar input 2, must be non-negative but is {per_class.value}")
    count = None if total.value is None else int(total.value)
    if pad_per_class:
        known = count is not None and per_class.value is not None and score_dims[2] is not None
        count = _outputs(int(total.value), int(per_class.value), score_dims[2], True) if known else None  # type: ignore[arg-type]
    each = TensorShape([box_dims[0], count])
    return [each.concatenate([4]), each, each, TensorShape([box_dims[0]])]


def _outputs(total: int, per_class: int, classes: int, pad_per_class: bool) -> int:
    """How many boxes come out for each image, those that stand for none among them."""
    return min(total, per_class * classes) if pad_per_class else total


@combined_nms_op.kernel("CPU")
def _(
    ctx: Any,
    boxes: Array,
    scores: Array,
    per_class: Any,
    total: Any,
    iou_threshold: Any,
    score_threshold: Any,
    *,
    pad_per_class: bool,
    clip_boxes: bool,
) -> list[Array]:
    _check(boxes, scores, int(per_class), int(total), float(iou_threshold))
    batch, _, classes = scores.shape
    count = _outputs(int(total), int(per_class), classes, pad_per_class)
    out = [np.zeros((batch, count, *rest), np.float32) for rest in ((4,), (), ())]
    valid = np.zeros(batch, np.int32)
    for image in range(batch):
        chosen = _best(boxes[image], scores[image], int(per_class), count, float(iou_threshold), float(score_threshold))
        valid[image] = len(chosen[1])
        for whole, part in zip(out, chosen, strict=True):
            whole[image, : len(part)] = part
    if clip_boxes:
        np.clip(out[0], 0, 1, out=out[0])
    return [*out, valid]


def _best(
    boxes: Array, scores: Array, per_class: int, count: int, threshold: float, lowest: float
) -> tuple[Array, Array, Array]:
    """(boxes, scores, classes) of one image, best first; of equals the lower class, and in it what was chosen first."""
    numbers, found, classes = [], [], []
    for k in range(scores.shape[1]):
        own = np.ascontiguousarray(boxes[:, k if boxes.shape[1] > 1 else 0])
        # Unlike in the ops of one class, boxes whose overlap equals the threshold stay.
        chosen, values = greedy_choice(scores[:, k], per_class, overlap_among(own), threshold, lowest, overlaps=np.greater)
        numbers.append(own[chosen])
        found.append(values)
        classes.append(np.full(len(chosen), k))
    if not found:  # there are no classes
        return np.zeros((0, 4), np.float32), np.zeros(0, np.float32), np.zeros(0, np.float32)
    values = np.concatenate(found)
    order = np.argsort(-values, kind="stable")[:count]
    return np.concatenate(numbers)[order], values[order], np.concatenate(classes)[order]


def _check(boxes: Array, scores: Array, per_class: int, total: int, threshold: float) -> None:
    told = f"boxes {dims_text(boxes.shape)}, scores {dims_text(scores.shape)}"
    for holds, requirement in (
        (
            boxes.ndim == 4 and scores.ndim == 3,
            "boxes must be [batch, boxes, 1 or classes, 4], scores [batch, boxes, classes]",
        ),
        (boxes.shape[:1] == scores.shape[:1], "boxes and scores must have same batch size"),
        (boxes.shape[1:2] == scores.shape[1:2], "scores has incompatible shape"),
        (boxes.shape[3:] == (4,), "boxes must have 4 columns"),
        (boxes.shape[2:3] in ((1,), scores.shape[2:3]), "third dimension of boxes must be either 1 or num classes"),
        (per_class > 0, f"max_size_per_class must be positive, not {per_class}"),
        (total > 0, f"max_total_size must be positive, not {total}"),
        (0 <= threshold <= 1, f"iou_threshold must be in [0, 1], not {threshold}"),
    ):
        if not holds:
            raise InvalidArgumentError(None, None, f"{requirement}: {told}")


def combined_non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size_per_class: Any,
    max_total_size: Any,
    iou_threshold: float = 0.5,
    score_threshold: float = float("-inf"),
    pad_per_class: bool = False,
    clip_boxes: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """(boxes [batch, n, 4], scores [batch, n], classes [batch, n], how many of these count [batch]), best first.

    Non-maximum suppression for each class by itself, then the best of all. boxes: [batch, boxes, 1 or classes, 4]; scores:
    [batch, boxes, classes]. n is max_total_size, with `pad_per_class` not more than all classes can have; what is left is
    zeros. `clip_boxes`: the boxes that come out are cut to [0, 1]. Source: `tf.image.combined_non_max_suppression`.
    """
    with name_scope(name, "combined_non_max_suppression"):
        overlapping = convert_to_tensor(iou_threshold, dtypes.float32, name="iou_threshold")
        lowest = convert_to_tensor(score_threshold, dtypes.float32, name="score_threshold")
        total = convert_to_tensor(max_total_size)
        found: tuple[Tensor, Tensor, Tensor, Tensor] = combined_nms_op(
            boxes,
            scores,
            max_output_size_per_class,
            total,
            overlapping,
            lowest,
            pad_per_class=pad_per_class,
            clip_boxes=clip_boxes,
        )
        return found
