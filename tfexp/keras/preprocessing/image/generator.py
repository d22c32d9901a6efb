"""`ImageDataGenerator`: which random changes images get, and how their values are normalised."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfexp.keras.backend.config import floatx, image_data_format
from tfexp.keras.preprocessing.image.dataframe_iterator import DataFrameIterator
from tfexp.keras.preprocessing.image.files_iterator import DirectoryIterator
from tfexp.keras.preprocessing.image.numpy_iterator import NumpyArrayIterator
from tfexp.keras.preprocessing.image.transforms import (
    apply_affine_transform,
    apply_brightness_shift,
    apply_channel_shift,
    flip_axis,
)

_MOVES = ("theta", "tx", "ty", "shear", "zx", "zy")
_FUZZ = 1e-6  # added to a deviation before dividing by it


class ImageDataGenerator:
    """Batches of images, randomly changed and normalised in this order.

    Changes: rotation_range (degrees), width_shift_range and height_shift_range (below 1: of the size; else pixels; a list:
    one of these), shear_range (degrees), zoom_range (a number z for [1 - z, 1 + z], or both bounds), channel_shift_range,
    flips, brightness_range (both bounds); fill_mode, cval: what comes in at the border.
    Normalising: preprocessing_function, rescale, then by the image's own (samplewise_) or the data's (featurewise_, after
    `fit`) mean and deviation, then ZCA whitening.
    """

    def __init__(
        self,
        featurewise_center: bool = False,
        samplewise_center: bool = False,
        featurewise_std_normalization: bool = False,
        samplewise_std_normalization: bool = False,
        zca_whitening: bool = False,
        zca_epsilon: float = 1e-6,
        rotation_range: float = 0,
        width_shift_range: Any = 0.0,
        height_shift_range: Any = 0.0,
        brightness_range: Sequence[float] | None = None,
        shear_range: float = 0.0,
        zoom_range: Any = 0.0,
        channel_shift_range: float = 0.0,
        fill_mode: str = "nearest",
        cval: float = 0.0,
        horizontal_flip: bool = False,
        vertical_flip: bool = False,
        rescale: float | None = None,
        preprocessing_function: Callable[[np.ndarray], np.ndarray] | None = None,
        data_format: str | None = None,
        validation_split: float = 0.0,
        dtype: Any = None,
    ) -> None:
        self.featurewise_center = featurewise_center
        self.samplewise_center = samplewise_center
        self.featurewise_std_normalization = featurewise_std_normalization
        self.samplewise_std_normalization = samplewise_std_normalization
        self.zca_whitening = zca_whitening
        self.zca_epsilon = zca_epsilon
        self.rotation_range = rotation_range
        self.width_shift_range = width_shift_range
        self.height_shift_range = height_shift_range
        self.shear_range = shear_range
        self.channel_shift_range = channel_shift_range
        self.fill_mode = fill_mode
        self.cval = cval
        self.horizontal_flip = horizontal_flip
        self.vertical_flip = vertical_flip
        self.rescale = rescale
        self.preprocessing_function = preprocessing_function
        self.dtype = dtype or floatx()
        self.data_format = data_format or image_data_format()
        if self.data_format not in {"channels_last", "channels_first"}:
            raise ValueError(
                '`data_format` should be `"channels_last"` (channel after row and column) or `"channels_first"` (channel '
                f"before row and column). Received: {data_format}"
            )
        first = self.data_format == "channels_first"
        self.channel_axis, self.row_axis, self.col_axis = (1, 2, 3) if first else (3, 1, 2)
        if validation_split and not 0 < validation_split < 1:
            raise ValueError(f"`validation_split` must be strictly between 0 and 1.  Received: {validation_split}")
        self._validation_split = validation_split
        self.mean: np.ndarray | None = None
        self.std: np.ndarray | None = None
        self.principal_components: np.ndarray | None = None
        self.zoom_range = _zoom_bounds(zoom_range)
        if brightness_range is not None and (not isinstance(brightness_range, (tuple, list)) or len(brightness_range) != 2):
            raise ValueError(f"`brightness_range should be tuple or list of two floats. Received: {brightness_range}")
        self.brightness_range = brightness_range
        self._settle_normalising()

    def _settle_normalising(self) -> None:
        """Turns on what other settings need, and off what they replace, with a warning each."""
        this = "This ImageDataGenerator specifies"
        if self.zca_whitening:
            if not self.featurewise_center:
                self.featurewise_center = True
                self._warn(f"{this} `zca_whitening`, which overrides setting of `featurewise_center`.")
            if self.featurewise_std_normalization:
                self.featurewise_std_normalization = False
                self._warn(f"{this} `zca_whitening` which overrides setting of`featurewise_std_normalization`.")
        if self.featurewise_std_normalization and not self.featurewise_center:
            self.featurewise_center = True
            self._warn(f"{this} `featurewise_std_normalization`, which overrides setting of `featurewise_center`.")
        if self.samplewise_std_normalization and not self.samplewise_center:
            self.samplewise_center = True
            self._warn(f"{this} `samplewise_std_normalization`, which overrides setting of `samplewise_center`.")

    @staticmethod
    def _warn(text: str) -> None:
        warnings.warn(text, stacklevel=4)

    def flow(
        self,
        x: Any,
        y: Any = None,
        batch_size: int = 32,
        shuffle: bool = True,
        sample_weight: Any = None,
        seed: int | None = None,
        save_to_dir: Any = None,
        save_prefix: str = "",
        save_format: str = "png",
        subset: str | None = None,
    ) -> NumpyArrayIterator:
        """Batches of arrays of images: see `NumpyArrayIterator`."""
        return NumpyArrayIterator(
            x,
            y,
            self,
            batch_size=batch_size,
            shuffle=shuffle,
            sample_weight=sample_weight,
            seed=seed,
            data_format=self.data_format,
            save_to_dir=save_to_dir,
            save_prefix=save_prefix,
            save_format=save_format,
            subset=subset,
            dtype=self.dtype,
        )

    def flow_from_directory(
        self,
        directory: Any,
        target_size: tuple[int, int] = (256, 256),
        color_mode: str = "rgb",
        classes: Sequence[str] | None = None,
        class_mode: str | None = "categorical",
        batch_size: int = 32,
        shuffle: bool = True,
        seed: int | None = None,
        save_to_dir: Any = None,
        save_prefix: str = "",
        save_format: str = "png",
        follow_links: bool = False,
        subset: str | None = None,
        interpolation: str = "nearest",
    ) -> DirectoryIterator:
        """Batches of the images below a folder: see `DirectoryIterator`."""
        return DirectoryIterator(
            directory,
            self,
            target_size=target_size,
            color_mode=color_mode,
            classes=classes,
            class_mode=class_mode,
            batch_size=batch_size,
            shuffle=shuffle,
            seed=seed,
            data_format=self.data_format,
            save_to_dir=save_to_dir,
            save_prefix=save_prefix,
            save_format=save_format,
            follow_links=follow_links,
            subset=subset,
            interpolation=interpolation,
            dtype=self.dtype,
        )

    def flow_from_dataframe(
        self,
        dataframe: Any,
        directory: Any = None,
        x_col: str = "filename",
        y_col: Any = "class",
        weight_col: str | None = None,
        target_size: tuple[int, int] = (256, 256),
        color_mode: str = "rgb",
        classes: Sequence[str] | None = None,
        class_mode: str | None = "categorical",
        batch_size: int = 32,
        shuffle: bool = True,
        seed: int | None = None,
        save_to_dir: Any = None,
        save_prefix: str = "",
        save_format: str = "png",
        subset: str | None = None,
        interpolation: str = "nearest",
        validate_filenames: bool = True,
    ) -> DataFrameIterator:
        """Batches of the images that a pandas table names: see `DataFrameIterator`."""
        return DataFrameIterator(
            dataframe,
            directory,
            self,
            x_col=x_col,
            y_col=y_col,
            weight_col=weight_col,
            target_size=target_size,
            color_mode=color_mode,
            classes=classes,
            class_mode=class_mode,
            batch_size=batch_size,
            shuffle=shuffle,
            seed=seed,
            data_format=self.data_format,
            save_to_dir=save_to_dir,
            save_prefix=save_prefix,
            save_format=save_format,
            subset=subset,
            interpolation=interpolation,
            dtype=self.dtype,
            validate_filenames=validate_filenames,
        )

    def standardize(self, x: np.ndarray) -> np.ndarray:
        """One image (rank 3) or a batch normalised, in place where the settings let it."""
        if self.preprocessing_function:
            x = self.preprocessing_function(x)
        if self.rescale:
            x *= self.rescale
        if self.samplewise_center:
            x -= np.mean(x, keepdims=True)
        if self.samplewise_std_normalization:
            x /= np.std(x, keepdims=True) + _FUZZ
        if self.featurewise_center and self._fitted(self.mean, "featurewise_center"):
            x -= self.mean
        if self.featurewise_std_normalization and self._fitted(self.std, "featurewise_std_normalization"):
            assert self.std is not None
            x /= self.std + _FUZZ
        if self.zca_whitening and self._fitted(self.principal_components, "zca_whitening"):
            flat = x.reshape(-1, np.prod(x.shape[-3:]))
            x = (flat @ self.principal_components).reshape(x.shape)
        return x

    def _fitted(self, statistic: np.ndarray | None, setting: str) -> bool:
        if statistic is None:
            self._warn(
                f"This ImageDataGenerator specifies `{setting}`, but it hasn't been fit on any training data. Fit it first "
                "by calling `.fit(numpy_data)`."
            )
        return statistic is not None

    def get_random_transform(self, img_shape: Sequence[int], seed: int | None = None) -> dict[str, Any]:
        """The parameters of one random change of an image of that shape, for `apply_transform`."""
        if seed is not None:
            np.random.seed(seed)
        uniform = np.random.uniform
        theta = uniform(-self.rotation_range, self.rotation_range) if self.rotation_range else 0
        tx = _random_shift(self.height_shift_range, img_shape[self.row_axis - 1])
        ty = _random_shift(self.width_shift_range, img_shape[self.col_axis - 1])
        shear = uniform(-self.shear_range, self.shear_range) if self.shear_range else 0
        zx, zy = (1, 1) if self.zoom_range == [1, 1] else uniform(self.zoom_range[0], self.zoom_range[1], 2)
        horizontal = (np.random.random() < 0.5) * self.horizontal_flip
        vertical = (np.random.random() < 0.5) * self.vertical_flip
        shift = self.channel_shift_range
        intensity = uniform(-shift, shift) if shift != 0 else None
        brightness = None if self.brightness_range is None else uniform(*self.brightness_range)
        return {
            "theta": theta,
            "tx": tx,
            "ty": ty,
            "shear": shear,
            "zx": zx,
            "zy": zy,
            "flip_horizontal": horizontal,
            "flip_vertical": vertical,
            "channel_shift_intensity": intensity,
            "brightness": brightness,
        }

    def apply_transform(self, x: np.ndarray, transform_parameters: dict[str, Any]) -> np.ndarray:
        """The image (rank 3) changed; what the parameters do not name stays."""
        given = transform_parameters
        row, column, channel = self.row_axis - 1, self.col_axis - 1, self.channel_axis - 1
        x = apply_affine_transform(
            x,
            **{name: given.get(name, 1 if name[0] == "z" else 0) for name in _MOVES},
            row_axis=row,
            col_axis=column,
            channel_axis=channel,
            fill_mode=self.fill_mode,
            cval=self.cval,
        )
        if given.get("channel_shift_intensity") is not None:
            x = apply_channel_shift(x, given["channel_shift_intensity"], channel)
        if given.get("flip_horizontal", False):
            x = flip_axis(x, column)
        if given.get("flip_vertical", False):
            x = flip_axis(x, row)
        if given.get("brightness") is not None:
            x = apply_brightness_shift(x, given["brightness"])
        return x

    def random_transform(self, x: np.ndarray, seed: int | None = None) -> np.ndarray:
        """The image (rank 3) changed at random."""
        return self.apply_transform(x, self.get_random_transform(x.shape, seed))

    def fit(self, x: Any, augment: bool = False, rounds: int = 1, seed: int | None = None) -> None:
        """Takes the data's mean, deviation and principal components, as far as the settings need them.

        x: images [n, ...]. augment: of `rounds` times n randomly changed images instead.
        """
        x = np.array(x, dtype=self.dtype)
        if x.ndim != 4:
            raise ValueError(f"Input to `.fit()` should have rank 4. Got array with shape: {x.shape}")
        axis = self.channel_axis
        if x.shape[axis] not in {1, 3, 4}:
            self._warn(
                "Expected input to be images (as Numpy array) following the data format convention "
                f'"{self.data_format}" (channels on axis {axis}), i.e. expected either 1, 3 or 4 channels on axis {axis}. '
                f"However, it was passed an array with shape {x.shape} ({x.shape[axis]} channels)."
            )
        if seed is not None:
            np.random.seed(seed)
        if augment:
            x = np.stack([self.random_transform(image) for _ in range(rounds) for image in x]).astype(self.dtype)
        over = (0, self.row_axis, self.col_axis)
        by_channel = [1, 1, 1]
        by_channel[axis - 1] = x.shape[axis]
        if self.featurewise_center:
            self.mean = np.mean(x, axis=over).reshape(by_channel)
            x -= self.mean
        if self.featurewise_std_normalization:
            self.std = np.std(x, axis=over).reshape(by_channel)
            x /= self.std + _FUZZ
        if self.zca_whitening:
            flat = x.reshape(len(x), -1)
            u, s, _ = np.linalg.svd(flat.T @ flat / len(flat))
            self.principal_components = (u / np.sqrt(s + self.zca_epsilon)) @ u.T


def _zoom_bounds(given: Any) -> list[float]:
    """[least, most]: both as given, or around 1 by one number. ValueError for anything else."""
    if isinstance(given, (float, int)):
        return [1 - given, 1 + given]
    if len(given) == 2 and all(isinstance(bound, (float, int)) for bound in given):
        return [given[0], given[1]]
    raise ValueError(f"`zoom_range` should be a float or a tuple or list of two floats. Received: {given}")


def _random_shift(wanted: Any, size: int) -> Any:
    """A shift in pixels: one of a list (whole n: of 0..n-1), with either sign, or uniform; below 1: shares of the size."""
    if not np.any(wanted):
        return 0
    if np.ndim(wanted) or isinstance(wanted, (int, np.integer)):
        shift = np.random.choice(wanted) * np.random.choice([-1, 1])
    else:
        shift = np.random.uniform(-wanted, wanted)
    return shift * size if np.max(wanted) < 1 else shift
