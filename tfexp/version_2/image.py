"""What `tf.compat.v2.image` has of its own."""

from tfexp.api import image
from tfexp.version_2.arguments import with_arguments as with_arguments

crop_and_resize = with_arguments(
    image.crop_and_resize,
    "image, boxes, box_indices, crop_size, method='bilinear', extrapolation_value=0, name=None",
)
sample_distorted_bounding_box = with_arguments(
    image.sample_distorted_bounding_box,
    "image_size, bounding_boxes, seed=0, min_object_covered=0.1, aspect_ratio_range=None, area_range=None, "
    "max_attempts=None, use_image_if_no_bounding_boxes=None, name=None",
)
