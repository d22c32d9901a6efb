"""`tf.image`: decoding, resizing, cropping, colours, boxes."""

from typing import TYPE_CHECKING

from tfexp.core.gone import namespace

if TYPE_CHECKING:
    from tfexp.ops.image_adjust import adjust_brightness as adjust_brightness
    from tfexp.ops.image_adjust import adjust_contrast as adjust_contrast
    from tfexp.ops.image_adjust import adjust_gamma as adjust_gamma
    from tfexp.ops.image_adjust import adjust_hue as adjust_hue
    from tfexp.ops.image_adjust import adjust_jpeg_quality as adjust_jpeg_quality
    from tfexp.ops.image_adjust import adjust_saturation as adjust_saturation
    from tfexp.ops.image_adjust import grayscale_to_rgb as grayscale_to_rgb
    from tfexp.ops.image_adjust import hsv_to_rgb as hsv_to_rgb
    from tfexp.ops.image_adjust import per_image_standardization as per_image_standardization
    from tfexp.ops.image_adjust import random_brightness as random_brightness
    from tfexp.ops.image_adjust import random_contrast as random_contrast
    from tfexp.ops.image_adjust import random_hue as random_hue
    from tfexp.ops.image_adjust import random_jpeg_quality as random_jpeg_quality
    from tfexp.ops.image_adjust import random_saturation as random_saturation
    from tfexp.ops.image_adjust import rgb_to_grayscale as rgb_to_grayscale
    from tfexp.ops.image_adjust import rgb_to_hsv as rgb_to_hsv
    from tfexp.ops.image_adjust import rgb_to_yiq as rgb_to_yiq
    from tfexp.ops.image_adjust import rgb_to_yuv as rgb_to_yuv
    from tfexp.ops.image_adjust import yiq_to_rgb as yiq_to_rgb
    from tfexp.ops.image_adjust import yuv_to_rgb as yuv_to_rgb
    from tfexp.ops.image_boxes import crop_and_resize as crop_and_resize
    from tfexp.ops.image_boxes import draw_bounding_boxes as draw_bounding_boxes
    from tfexp.ops.image_boxes import extract_glimpse as extract_glimpse
    from tfexp.ops.image_boxes import extract_image_patches as extract_image_patches
    from tfexp.ops.image_boxes import extract_patches as extract_patches
    from tfexp.ops.image_boxes import non_max_suppression as non_max_suppression
    from tfexp.ops.image_boxes import non_max_suppression_overlaps as non_max_suppression_overlaps
    from tfexp.ops.image_boxes import non_max_suppression_padded as non_max_suppression_padded
    from tfexp.ops.image_boxes import non_max_suppression_with_scores as non_max_suppression_with_scores
    from tfexp.ops.image_boxes_combined import combined_non_max_suppression as combined_non_max_suppression
    from tfexp.ops.image_codec import decode_and_crop_jpeg as decode_and_crop_jpeg
    from tfexp.ops.image_codec import decode_bmp as decode_bmp
    from tfexp.ops.image_codec import decode_gif as decode_gif
    from tfexp.ops.image_codec import decode_image as decode_image
    from tfexp.ops.image_codec import decode_jpeg as decode_jpeg
    from tfexp.ops.image_codec import decode_png as decode_png
    from tfexp.ops.image_codec import encode_jpeg as encode_jpeg
    from tfexp.ops.image_codec import encode_png as encode_png
    from tfexp.ops.image_codec import extract_jpeg_shape as extract_jpeg_shape
    from tfexp.ops.image_codec import is_jpeg as is_jpeg
    from tfexp.ops.image_distort import sample_distorted_bounding_box as sample_distorted_bounding_box
    from tfexp.ops.image_dtype import convert_image_dtype as convert_image_dtype
    from tfexp.ops.image_flip import flip_left_right as flip_left_right
    from tfexp.ops.image_flip import flip_up_down as flip_up_down
    from tfexp.ops.image_flip import random_flip_left_right as random_flip_left_right
    from tfexp.ops.image_flip import random_flip_up_down as random_flip_up_down
    from tfexp.ops.image_flip import rot90 as rot90
    from tfexp.ops.image_flip import transpose_image as transpose
    from tfexp.ops.image_flip import transpose_image as transpose_image
    from tfexp.ops.image_metrics import image_gradients as image_gradients
    from tfexp.ops.image_metrics import psnr as psnr
    from tfexp.ops.image_metrics import sobel_edges as sobel_edges
    from tfexp.ops.image_metrics import ssim as ssim
    from tfexp.ops.image_metrics import ssim_multiscale as ssim_multiscale
    from tfexp.ops.image_metrics import total_variation as total_variation
    from tfexp.ops.image_size import ResizeMethod as ResizeMethod
    from tfexp.ops.image_size import central_crop as central_crop
    from tfexp.ops.image_size import crop_to_bounding_box as crop_to_bounding_box
    from tfexp.ops.image_size import pad_to_bounding_box as pad_to_bounding_box
    from tfexp.ops.image_size import resize_area as resize_area
    from tfexp.ops.image_size import resize_bicubic as resize_bicubic
    from tfexp.ops.image_size import resize_bilinear as resize_bilinear
    from tfexp.ops.image_size import resize_image_with_crop_or_pad as resize_image_with_crop_or_pad
    from tfexp.ops.image_size import resize_image_with_crop_or_pad as resize_with_crop_or_pad
    from tfexp.ops.image_size import resize_image_with_pad as resize_image_with_pad
    from tfexp.ops.image_size import resize_images as resize
    from tfexp.ops.image_size import resize_images as resize_images
    from tfexp.ops.image_size import resize_nearest_neighbor as resize_nearest_neighbor
    from tfexp.ops.random_crop import random_crop as random_crop

__getattr__, __dir__ = namespace("tf.image", __name__)
