"""Ops that few programs use, and the modules that define them when one of them is first asked for."""

from __future__ import annotations

from tfexp.core.op import define_on_first_use

_IMAGES = {
    "audio_ops": """
    DecodeWav EncodeWav
    """,
    "image_boxes_ops": """
    DrawBoundingBoxes DrawBoundingBoxesV2 NonMaxSuppression NonMaxSuppressionV2 NonMaxSuppressionV3
    NonMaxSuppressionV4 NonMaxSuppressionV5 NonMaxSuppressionWithOverlaps
    """,
    "image_codec": """
    DecodePng DecodeJpeg DecodeAndCropJpeg DecodeGif DecodeBmp DecodeImage ExtractJpegShape EncodePng EncodeJpeg
    EncodeJpegVariableQuality
    """,
    "image_color_ops": """
    RGBToHSV HSVToRGB AdjustContrastv2 AdjustHue AdjustSaturation
    """,
    "image_crop_ops": """
    CropAndResize CropAndResizeGradImage CropAndResizeGradBoxes ExtractGlimpse
    """,
    "image_distort": """
    SampleDistortedBoundingBox SampleDistortedBoundingBoxV2
    """,
    "image_patches": """
    ExtractImagePatches ExtractVolumePatches
    """,
    "image_resize_ops": """
    ResizeBilinear ResizeBilinearGrad ResizeNearestNeighbor ResizeNearestNeighborGrad ResizeBicubic ResizeBicubicGrad
    ResizeArea
    """,
}

for _module, _names in _IMAGES.items():
    define_on_first_use(f"tfexp.ops.{_module}", _names.split())
