"""Functions of boxes in images: crop_and_resize, glimpses, patches, non-maximum suppression, drawing."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.core.deprecation import deprecated_argument_lookup
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.image_boxes_ops import (
    draw_bounding_boxes_op,
    draw_bounding_boxes_v2_op,
    nms_v3_op,
    nms_v4_op,
    nms_v5_op,
    nms_with_overlaps_op,
)
from tfexp.ops.image_crop_ops import crop_and_resize_op, extract_glimpse_op
from tfexp.ops.image_patches import extract_image_patches_op, extract_volume_patches_op


def crop_and_resize(
    image: Any,
    boxes: Any,
    box_ind: Any = None,
    crop_size: Any = None,
    method: str = "bilinear",
    extrapolation_value: float = 0,
    name: str | None = None,
    box_indices: Any = None,
) -> Tensor:
    """Parts of a batch of images, all of `crop_size`: `boxes` [n, 4], each of image `box_indices` [n].

    Source: `tf.image.crop_and_resize`.
    """
    box_ind = deprecated_argument_lookup("box_indices", box_indices, "box_ind", box_ind)
    result: Tensor = crop_and_resize_op(
        image, boxes, box_ind, crop_size, method=method, extrapolation_value=extrapolation_value, name=name
    )
    return result


def extract_glimpse(
    input: Any,
    size: Any,
    offsets: Any,
    centered: bool = True,
    normalized: bool = True,
    uniform_noise: bool = True,
    name: str | None = None,
) -> Tensor:
    """A window of each image of a batch around its offset; noise outside. Source: `tf.image.extract_glimpse`."""
    result: Tensor = extract_glimpse_op(
        input, size, offsets, centered=centered, normalized=normalized, uniform_noise=uniform_noise, name=name
    )
    return result


def extract_image_patches(
    images: Any,
    ksizes: Any = None,
    strides: Any = None,
    rates: Any = None,
    padding: Any = None,
    name: str | None = None,
    sizes: Any = None,
) -> Tensor:
    """The windows of a batch of images along the channels. Source: `tf.image.extract_image_patches`."""
    ksizes = deprecated_argument_lookup("sizes", sizes, "ksizes", ksizes)
    result: Tensor = extract_image_patches_op(
        images, ksizes=ksizes, strides=strides, rates=rates, padding=padding, name=name
    )
    return result


def extract_patches(images: Any, sizes: Any, strides: Any, rates: Any, padding: Any, name: str | None = None) -> Tensor:
    """`extract_image_patches` with its arguments as named since 1.14. Source: `tf.image.extract_patches`."""
    return extract_image_patches(images, sizes, strides, rates, padding, name)


def extract_volume_patches(input: Any, ksizes: Any, strides: Any, padding: Any, name: str | None = None) -> Tensor:
    """The windows of a batch of volumes along the channels. Source: `tf.extract_volume_patches`."""
    result: Tensor = extract_volume_patches_op(input, ksizes=ksizes, strides=strides, padding=padding, name=name)
    return result


def draw_bounding_boxes(images: Any, boxes: Any, name: str | None = None, colors: Any = None) -> Tensor:
    """A batch of images with the outlines of `boxes` [batch, n, 4] drawn in, in `colors` [colours, depth] by turns.

    Source: `tf.image.draw_bounding_boxes`.
    """
    if colors is None:
        plain: Tensor = draw_bounding_boxes_op(images, boxes, name=name)
        return plain
    coloured: Tensor = draw_bounding_boxes_v2_op(images, boxes, colors, name=name)
    return coloured


def non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    name: str | None = None,
) -> Tensor:
    """The numbers of the best boxes, without those that overlap a better one. Source: `tf.image.non_max_suppression`."""
    with name_scope(name, "non_max_suppression"):
        iou_threshold = convert_to_tensor(iou_threshold, name="iou_threshold")
        score_threshold = convert_to_tensor(score_threshold, name="score_threshold")
        result: Tensor = nms_v3_op(boxes, scores, max_output_size, iou_threshold, score_threshold)
        return result


def non_max_suppression_with_scores(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    soft_nms_sigma: Any = 0.0,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """(numbers, scores) of the best boxes; with a sigma, overlapping ones lose score instead of being left out.

    Bodla et al., 2017. Source: `tf.image.non_max_suppression_with_scores`.
    """
    with name_scope(name, "non_max_suppression_with_scores"):
        iou_threshold = convert_to_tensor(iou_threshold, name="iou_threshold")
        score_threshold = convert_to_tensor(score_threshold, name="score_threshold")
        soft_nms_sigma = convert_to_tensor(soft_nms_sigma, name="soft_nms_sigma")
        chosen = nms_v5_op(
            boxes, scores, max_output_size, iou_threshold, score_threshold, soft_nms_sigma, pad_to_max_output_size=False
        )
        return chosen[0], chosen[1]


def non_max_suppression_padded(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    pad_to_max_output_size: bool = False,
    name: str | None = None,
) -> Any:
    """(numbers, how many count), padded with 0 to `max_output_size` if asked.

    Source: `tf.image.non_max_suppression_padded`.
    """
    with name_scope(name, "non_max_suppression_padded"):
        iou_threshold = convert_to_tensor(iou_threshold, name="iou_threshold")
        score_threshold = convert_to_tensor(score_threshold, name="score_threshold")
        return nms_v4_op(
            boxes,
            scores,
            max_output_size,
            iou_threshold,
            score_threshold,
            pad_to_max_output_size=pad_to_max_output_size,
        )


def non_max_suppression_overlaps(
    overlaps: Any,
    scores: Any,
    max_output_size: Any,
    overlap_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    name: str | None = None,
) -> Tensor:
    """`non_max_suppression` by given overlaps [n, n]. Source: `tf.image.non_max_suppression_overlaps`."""
    with name_scope(name, "non_max_suppression_overlaps"):
        overlap_threshold = convert_to_tensor(overlap_threshold, dtypes.float32, name="overlap_threshold")
        result: Tensor = nms_with_overlaps_op(overlaps, scores, max_output_size, overlap_threshold, score_threshold)
        return result
