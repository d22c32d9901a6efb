"""Images: Pillow's, arrays, and files. Pillow is imported here, when first needed.

An array's axes are [height, width, channels] ("channels_last") or [channels, height, width] ("channels_first").
"""

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from tfexp.keras.backend.config import floatx, image_data_format

_MODES = {"grayscale": "L", "rgba": "RGBA", "rgb": "RGB"}
_INTERPOLATIONS = ("nearest", "bilinear", "bicubic", "hamming", "box", "lanczos")
_DEEP_GRAY = ("I;16", "I;16L", "I;16B", "I;16N", "I")  # grey of more than eight bits stays as it is


def _checked_format(data_format: str | None, fault: str) -> str:
    """The format, the backend's for None. ValueError, which begins with `fault`, for another."""
    data_format = data_format or image_data_format()
    if data_format not in {"channels_first", "channels_last"}:
        raise ValueError(f"{fault} data_format: {data_format}")
    return data_format


def img_to_array(img: Any, data_format: str | None = None, dtype: Any = None) -> np.ndarray:
    """A Pillow image (or an array of rank 2 or 3, channels last) as an array of rank 3.

    data_format, dtype: the backend's when None. ValueError: another format, or another rank.
    """
    data_format = _checked_format(data_format, "Unknown")
    array = np.asarray(img, dtype=dtype or floatx())
    if array.ndim == 2:
        array = array[:, :, np.newaxis]
    elif array.ndim != 3:
        raise ValueError(f"Unsupported image shape: {array.shape}")
    elif data_format == "channels_first":
        return array.transpose(2, 0, 1)
    return array.reshape(1, *array.shape[:2]) if data_format == "channels_first" else array


def array_to_img(x: Any, data_format: str | None = None, scale: bool = True, dtype: Any = None) -> Any:
    """An array of rank 3 as a Pillow image of 1, 3 or 4 channels.

    scale: stretch the values to 0..255. ValueError: another rank, format, or number of channels.
    """
    from PIL import Image

    array = np.asarray(x, dtype=dtype or floatx())
    if array.ndim != 3:
        raise ValueError(
            f"Expected image array to have rank 3 (single image). Got array with shape: {array.shape}",
        )
    if _checked_format(data_format, "Invalid") == "channels_first":
        array = array.transpose(1, 2, 0)
    if scale:
        array = array - array.min()
        highest = array.max()
        if highest != 0:
            array = array / highest
        array = array * 255
    channels = array.shape[2]
    if channels == 1:
        gray = array[:, :, 0]
        if gray.max() > 255:  # more than eight bits: 32
            return Image.fromarray(gray.astype("int32"))
        return Image.fromarray(gray.astype("uint8"))
    if channels in {3, 4}:
        return Image.fromarray(array.astype("uint8"))
    raise ValueError(f"Unsupported channel number: {channels}")


def save_img(
    path: Any, x: Any, data_format: str | None = None, file_format: str | None = None, scale: bool = True, **kwargs: Any
) -> None:
    """Writes an array of rank 3 as an image file; the format is `file_format` or the path's ending.

    kwargs: for `PIL.Image.save`. JPEG has no transparency: RGBA is written as RGB, with a warning.
    """
    image = array_to_img(x, data_format=data_format, scale=scale)
    if image.mode == "RGBA" and file_format in {"jpg", "jpeg"}:
        warnings.warn("The JPG format does not support RGBA images, converting to RGB.", stacklevel=2)
        image = image.convert("RGB")
    image.save(path, format="jpeg" if file_format == "jpg" else file_format, **kwargs)


def load_img(
    path: Any,
    grayscale: bool = False,
    color_mode: str = "rgb",
    target_size: tuple[int, int] | None = None,
    interpolation: str = "nearest",
) -> Any:
    """The Pillow image in a file.

    color_mode: "grayscale", "rgb" or "rgba". target_size: (height, width) to resize to, by `interpolation` ("nearest",
    "bilinear", "bicubic", "hamming", "box", "lanczos"). ValueError: another colour mode or interpolation.
    """
    from PIL import Image

    if grayscale:
        warnings.warn('grayscale is deprecated. Please use color_mode = "grayscale"', stacklevel=2)
        color_mode = "grayscale"
    if color_mode not in _MODES:
        raise ValueError('color_mode must be "grayscale", "rgb", or "rgba"')
    source = io.BytesIO(Path(path).read_bytes()) if not hasattr(path, "read") else path
    image: Any = Image.open(source)
    if image.mode != _MODES[color_mode] and not (color_mode == "grayscale" and image.mode in _DEEP_GRAY):
        image = image.convert(_MODES[color_mode])
    if target_size is not None and image.size != (target_size[1], target_size[0]):
        if interpolation not in _INTERPOLATIONS:
            raise ValueError(
                f"Invalid interpolation method {interpolation} specified. Supported methods are "
                f"{', '.join(sorted(_INTERPOLATIONS))}"
            )
        image = image.resize((target_size[1], target_size[0]), Image.Resampling[interpolation.upper()])
    return image
