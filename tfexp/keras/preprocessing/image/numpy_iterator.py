"""Batches of transformed images from arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tfexp.keras.backend.config import floatx, image_data_format
from tfexp.keras.preprocessing.image.iterator import Iterator, Saving, split_bounds

if TYPE_CHECKING:
    from tfexp.keras.preprocessing.image.generator import ImageDataGenerator


class NumpyArrayIterator(Iterator):
    """Batches of `x` [n, ...images of rank 3], transformed; with `y` [n, ...] and sample weights [n] where given.

    x: images, or a tuple (images, other arrays of as many rows, handed out as they are). subset: "training" or
    "validation" of the generator's `validation_split` (validation comes first). save_to_dir: also write them there.
    ValueError: lengths differ, images are not of rank 3, or a subset lacks a class that the other has.
    """

    def __init__(
        self,
        x: Any,
        y: Any,
        image_data_generator: ImageDataGenerator,
        batch_size: int = 32,
        shuffle: bool = False,
        sample_weight: Any = None,
        seed: int | None = None,
        data_format: str | None = None,
        save_to_dir: Any = None,
        save_prefix: str = "",
        save_format: str = "png",
        subset: str | None = None,
        dtype: Any = None,
    ) -> None:
        self.dtype = dtype or floatx()
        self.data_format = data_format or image_data_format()
        others: list[np.ndarray] = []
        if isinstance(x, (list, tuple)):
            given = x[1] if isinstance(x[1], list) else [x[1]]
            others = [np.asarray(other) for other in given]
            x = x[0]
        _check_lengths(x, others, y, sample_weight)
        y = None if y is None else np.asarray(y)
        if subset is not None:
            if subset not in {"training", "validation"}:
                raise ValueError("Invalid subset name:", subset, '; expected "training" or "validation".')
            split = image_data_generator._validation_split
            at = int(len(x) * split)
            if y is not None and not np.array_equal(np.unique(y[:at]), np.unique(y[at:])):
                raise ValueError(
                    "Training and validation subsets have different number of classes after the split. If your numpy "
                    "arrays are sorted by the label, you might want to shuffle them."
                )
            first, end = (int(bound * len(x)) for bound in split_bounds(split, subset))
            x, y = x[first:end], None if y is None else y[first:end]
            others = [other[first:end] for other in others]
            sample_weight = None if sample_weight is None else sample_weight[first:end]
        self.x = np.asarray(x, dtype=self.dtype)
        self.x_misc = others
        if self.x.ndim != 4:
            raise ValueError(
                "Input data in `NumpyArrayIterator` should have rank 4. You passed an array with shape", self.x.shape
            )
        channels_axis = 3 if self.data_format == "channels_last" else 1
        channels = self.x.shape[channels_axis]
        if channels not in {1, 3, 4}:
            image_data_generator._warn(
                f'NumpyArrayIterator is set to use the data format convention "{self.data_format}" (channels on axis '
                f"{channels_axis}), i.e. expected either 1, 3, or 4 channels on axis {channels_axis}. However, it was "
                f"passed an array with shape {self.x.shape} ({channels} channels)."
            )
        self.y = y
        self.sample_weight = None if sample_weight is None else np.asarray(sample_weight)
        self.image_data_generator = image_data_generator
        self.save_to_dir = save_to_dir
        self.save_prefix = save_prefix
        self.save_format = save_format
        super().__init__(len(self.x), batch_size, shuffle, seed)

    def _get_batches_of_transformed_samples(self, index_array: np.ndarray) -> Any:
        generator = self.image_data_generator
        images = np.zeros((len(index_array), *self.x.shape[1:]), self.dtype)
        for position, index in enumerate(index_array):
            image = self.x[index]
            image = generator.apply_transform(image.astype(self.dtype), generator.get_random_transform(image.shape))
            images[position] = generator.standardize(image)
        Saving(self.save_to_dir, self.save_prefix, self.save_format, self.data_format).write(
            images, lambda position: f"{index_array[position]}_{np.random.randint(10**4)}"
        )
        inputs: Any = [images, *(other[index_array] for other in self.x_misc)] if self.x_misc else images
        if self.y is None:
            return inputs
        if self.sample_weight is None:
            return inputs, self.y[index_array]
        return inputs, self.y[index_array], self.sample_weight[index_array]


def _check_lengths(x: Any, others: Sequence[Any], y: Any, sample_weight: Any) -> None:
    """ValueError unless all have as many rows as the images have; None has any."""
    for other in others:
        if len(x) != len(other):
            raise ValueError(
                "All of the arrays in `x` should have the same length. Found a pair with: "
                f"len(x[0]) = {len(x)}, len(x[?]) = {len(other)}"
            )
    for name, rows in (("y", y), ("sample_weight", sample_weight)):
        if rows is not None and len(x) != len(rows):
            called = "`y` (labels)" if name == "y" else "`sample_weight`"
            raise ValueError(
                f"`x` (images tensor) and {called} should have the same length. Found: x.shape = {np.shape(x)}, "
                f"{name}.shape = {np.shape(rows)}"
            )
