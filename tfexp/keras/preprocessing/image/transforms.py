"""Single images moved, turned, sheared, zoomed and recoloured, by given or by random amounts.

Images are arrays of rank 3; which axis is which is told. SciPy is imported here, when first needed.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.keras.preprocessing.image.arrays import array_to_img, img_to_array


def random_rotation(
    x: np.ndarray,
    rg: float,
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    interpolation_order: int = 1,
) -> np.ndarray:
    """The image turned by an angle of [-rg, rg) degrees."""
    theta = np.random.uniform(-rg, rg)
    return _moved(x, channel_axis, fill_mode, cval, interpolation_order, theta=theta)


def random_shift(
    x: np.ndarray,
    wrg: float,
    hrg: float,
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    interpolation_order: int = 1,
) -> np.ndarray:
    """The image moved by up to `hrg` of its height and `wrg` of its width."""
    tx = np.random.uniform(-hrg, hrg) * x.shape[row_axis]
    ty = np.random.uniform(-wrg, wrg) * x.shape[col_axis]
    return _moved(x, channel_axis, fill_mode, cval, interpolation_order, tx=tx, ty=ty)


def random_shear(
    x: np.ndarray,
    intensity: float,
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    interpolation_order: int = 1,
) -> np.ndarray:
    """The image sheared by an angle of [-intensity, intensity) degrees."""
    shear = np.random.uniform(-intensity, intensity)
    return _moved(x, channel_axis, fill_mode, cval, interpolation_order, shear=shear)


def random_zoom(
    x: np.ndarray,
    zoom_range: Sequence[float],
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    interpolation_order: int = 1,
) -> np.ndarray:
    """The image zoomed by factors in `zoom_range` = (lowest, highest), one for the rows and one for the columns."""
    if len(zoom_range) != 2:
        raise ValueError(f"`zoom_range` should be a tuple or list of two floats. Received: {zoom_range}")
    zx, zy = (1, 1) if tuple(zoom_range) == (1, 1) else np.random.uniform(zoom_range[0], zoom_range[1], 2)
    return _moved(x, channel_axis, fill_mode, cval, interpolation_order, zx=zx, zy=zy)


def apply_channel_shift(x: np.ndarray, intensity: float, channel_axis: int = 0) -> np.ndarray:
    """The image with `intensity` added to each value, within the range that the image had."""
    return np.clip(x + intensity, np.min(x), np.max(x))


def random_channel_shift(x: np.ndarray, intensity_range: float, channel_axis: int = 0) -> np.ndarray:
    """The image with one number of [-intensity_range, intensity_range) added to each value, within its range."""
    intensity = np.random.uniform(-intensity_range, intensity_range)
    return apply_channel_shift(x, intensity, channel_axis=channel_axis)


def apply_brightness_shift(x: np.ndarray, brightness: float) -> np.ndarray:
    """The image (values 0..255 after stretching) with its brightness multiplied, by Pillow."""
    from PIL import ImageEnhance

    return img_to_array(ImageEnhance.Brightness(array_to_img(x)).enhance(brightness))


def random_brightness(x: np.ndarray, brightness_range: Sequence[float]) -> np.ndarray:
    """The image with its brightness multiplied by a number of [lowest, highest)."""
    if len(brightness_range) != 2:
        raise ValueError(f"`brightness_range should be tuple or list of two floats. Received: {brightness_range}")
    return apply_brightness_shift(x, np.random.uniform(brightness_range[0], brightness_range[1]))


def flip_axis(x: np.ndarray, axis: int) -> np.ndarray:
    """The image mirrored along one axis."""
    return np.flip(x, axis)


def _moved(x: np.ndarray, channel_axis: int, fill_mode: str, cval: float, order: int, **moves: Any) -> np.ndarray:
    # Keras 1.15's random changes do not hand on `row_axis` and `col_axis`: with channels first the centre lies elsewhere.
    return apply_affine_transform(x, **moves, channel_axis=channel_axis, fill_mode=fill_mode, cval=cval, order=order)


def _inverse_map(theta: float, tx: float, ty: float, shear: float, zx: float, zy: float) -> np.ndarray | None:
    """Where a pixel of the result comes from: [row, column, 1] -> [row, column, 1] about the image's centre.

    None when nothing moves.
    """
    moves = []
    if theta:
        a = np.deg2rad(theta)
        moves.append([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])
    if tx or ty:
        moves.append([[1, 0, tx], [0, 1, ty], [0, 0, 1]])
    if shear:
        a = np.deg2rad(shear)
        moves.append([[1, -np.sin(a), 0], [0, np.cos(a), 0], [0, 0, 1]])
    if zx != 1 or zy != 1:
        moves.append([[zx, 0, 0], [0, zy, 0], [0, 0, 1]])
    if not moves:
        return None
    whole = np.array(moves[0])
    for move in moves[1:]:
        whole = whole @ np.array(move)
    return whole


def apply_affine_transform(
    x: np.ndarray,
    theta: float = 0,
    tx: float = 0,
    ty: float = 0,
    shear: float = 0,
    zx: float = 1,
    zy: float = 1,
    row_axis: int = 0,
    col_axis: int = 1,
    channel_axis: int = 2,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    order: int = 1,
) -> np.ndarray:
    """The image turned by `theta` degrees, moved by (tx, ty) pixels, sheared by `shear` degrees and zoomed by (zx, zy).

    row_axis, col_axis: whose middle is the centre of the movements; the image's axes besides the channels' are rows and
    columns in this order. fill_mode: what is beyond the border: "constant" (`cval`), "nearest", "reflect" or "wrap".
    order: of the splines. ImportError without SciPy.
    """
    try:
        from scipy import ndimage
    except ImportError as error:
        raise ImportError("Transforming images needs SciPy, which is not installed: pip install scipy") from error

    inverse = _inverse_map(theta, tx, ty, shear, zx, zy)
    if inverse is None:
        return x
    # Half a pixel beyond the middle, as Keras has it (keras_preprocessing 1.1).
    centre = np.array([x.shape[row_axis] / 2 + 0.5, x.shape[col_axis] / 2 + 0.5])
    turn = inverse[:2, :2]
    offset = turn @ -centre + inverse[:2, 2] + centre
    channels = np.moveaxis(x, channel_axis, 0)
    moved = [ndimage.affine_transform(c, turn, offset, order=order, mode=fill_mode, cval=cval) for c in channels]
    return np.moveaxis(np.stack(moved), 0, channel_axis)
