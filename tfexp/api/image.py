"""`tf.image`: decoding, resizing, cropping, colours, boxes."""

from tfexp.core.namespace import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "tfexp.ops.image_adjust": (
            "adjust_brightness adjust_contrast grayscale_to_rgb per_image_standardization random_brightness "
            "random_contrast rgb_to_grayscale"
        ),
        "tfexp.ops.image_codec": "decode_bmp decode_gif decode_image decode_jpeg decode_png encode_jpeg encode_png",
        "tfexp.ops.image_dtype": "convert_image_dtype",
        "tfexp.ops.image_flip": "flip_left_right flip_up_down random_flip_left_right random_flip_up_down",
        "tfexp.ops.image_size": (
            "ResizeMethod central_crop crop_to_bounding_box pad_to_bounding_box resize_area resize_bicubic "
            "resize_bilinear resize_image_with_crop_or_pad resize_with_crop_or_pad=resize_image_with_crop_or_pad "
            "resize=resize_images resize_images resize_nearest_neighbor"
        ),
        "tfexp.ops.random_crop": "random_crop",
    },
)
