"""What `tf.compat.v2.image` has of its own."""

from typing import Any

from tfexp.api import image
from tfexp.graph.random_seed import get_seed
from tfexp.ops.image_crop_ops import extract_glimpse_op
from tfexp.stand_ins.image_resizing import ResizeMethod as ResizeMethod
from tfexp.stand_ins.image_resizing import resize_image_with_pad_v2 as resize_with_pad
from tfexp.stand_ins.image_resizing import resize_images_v2 as resize
from tfexp.version_2.arguments import with_arguments


def extract_glimpse(
    input: Any,
    size: Any,
    offsets: Any,
    centered: bool = True,
    normalized: bool = True,
    noise: str = "uniform",
    name: str | None = None,
) -> Any:
    """A window of each image of a batch around its offset; `noise` outside. Source: `tf.image.extract_glimpse`, TF 2.0."""
    placed = {"centered": centered, "normalized": normalized, "noise": noise, "uniform_noise": False}
    return extract_glimpse_op(input, size, offsets, **placed, name=name)


draw_bounding_boxes = with_arguments(image.draw_bounding_boxes, "images, boxes, colors, name=None")
crop_and_resize = with_arguments(
    image.crop_and_resize,
    "image, boxes, box_indices, crop_size, method='bilinear', extrapolation_value=0, name=None",
)


def sample_distorted_bounding_box(
    image_size: Any,
    bounding_boxes: Any,
    seed: int = 0,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> Any:
    """As in version 1, of one seed with the graph's; 0 is none."""
    first, second = get_seed(seed) if seed else (0, 0)
    return image.sample_distorted_bounding_box(
        image_size,
        bounding_boxes,
        first,
        second,
        min_object_covered,
        aspect_ratio_range,
        area_range,
        max_attempts,
        use_image_if_no_bounding_boxes,
        name,
    )
