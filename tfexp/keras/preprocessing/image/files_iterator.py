"""Batches of transformed images from files, and those of a folder whose sub-folders are the classes."""

from __future__ import annotations

import os
from collections.abc import Iterator as AnyIterator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tfexp.keras.backend.config import floatx, image_data_format
from tfexp.keras.preprocessing.image.arrays import img_to_array, load_img
from tfexp.keras.preprocessing.image.iterator import Iterator, Saving, split_bounds

if TYPE_CHECKING:
    from tfexp.keras.preprocessing.image.generator import ImageDataGenerator

_CHANNELS = {"rgb": 3, "rgba": 4, "grayscale": 1}


class FilesIterator(Iterator):
    """Batches of images read from `filepaths`; a subclass has these, `labels`, `class_mode` and `sample_weight`."""

    filepaths: Sequence[str]
    labels: Any
    class_mode: str | None
    sample_weight: np.ndarray | None = None
    class_indices: dict[str, int]
    samples: int

    def _set_up_images(
        self,
        generator: ImageDataGenerator,
        target_size: tuple[int, int],
        color_mode: str,
        data_format: str | None,
        saving: tuple[Any, str, str],
        subset: str | None,
        interpolation: str,
        dtype: Any,
    ) -> None:
        """saving: folder, prefix and format of the images to write."""
        self.image_data_generator = generator
        self.target_size = (target_size[0], target_size[1])
        if color_mode not in _CHANNELS:
            raise ValueError("Invalid color mode:", color_mode, '; expected "rgb", "rgba", or "grayscale".')
        self.color_mode = color_mode
        self.data_format = data_format or image_data_format()
        channels = _CHANNELS[color_mode]
        last = self.data_format == "channels_last"
        self.image_shape = (*self.target_size, channels) if last else (channels, *self.target_size)
        self.save_to_dir, self.save_prefix, self.save_format = saving
        self.interpolation = interpolation
        self.dtype = dtype or floatx()
        self.split = split_bounds(generator._validation_split, subset) if subset is not None else None
        self.subset = subset

    def _get_batches_of_transformed_samples(self, index_array: np.ndarray) -> Any:
        generator = self.image_data_generator
        images = np.zeros((len(index_array), *self.image_shape), self.dtype)
        for position, index in enumerate(index_array):
            image = load_img(
                self.filepaths[index],
                color_mode=self.color_mode,
                target_size=self.target_size,
                interpolation=self.interpolation,
            )
            array = img_to_array(image, data_format=self.data_format)
            array = generator.apply_transform(array, generator.get_random_transform(array.shape))
            images[position] = generator.standardize(array)
        Saving(self.save_to_dir, self.save_prefix, self.save_format, self.data_format).write(
            images, lambda position: f"{index_array[position]}_{np.random.randint(10**7)}"
        )
        if self.class_mode is None:
            return images
        targets = self._targets(images, index_array)
        if self.sample_weight is None:
            return images, targets
        return images, targets, self.sample_weight[index_array]

    def _targets(self, images: np.ndarray, index_array: np.ndarray) -> Any:
        if self.class_mode == "input":
            return images.copy()
        if self.class_mode == "multi_output":
            return [output[index_array] for output in self.labels]
        if self.class_mode == "raw":
            return self.labels[index_array]
        labels = [self.labels[index] for index in index_array]
        if self.class_mode in {"binary", "sparse"}:
            return np.array(labels, dtype=self.dtype)
        one_hot = np.zeros((len(labels), len(self.class_indices)), dtype=self.dtype)
        for position, label in enumerate(labels):  # several classes at once may be given as a list
            one_hot[position, label] = 1
        return one_hot


class DirectoryIterator(FilesIterator):
    """Batches of the images below a folder; each sub-folder is a class.

    classes: the sub-folders to take, numbered in this order; all of them in alphabetic order when None. class_mode: what
    the targets are: "categorical", "binary", "sparse", "input" (the images), or None for none. subset: of each class.
    """

    allowed_class_modes = frozenset({"categorical", "binary", "sparse", "input", None})

    def __init__(
        self,
        directory: Any,
        image_data_generator: ImageDataGenerator,
        target_size: tuple[int, int] = (256, 256),
        color_mode: str = "rgb",
        classes: Sequence[str] | None = None,
        class_mode: str | None = "categorical",
        batch_size: int = 32,
        shuffle: bool = True,
        seed: int | None = None,
        data_format: str | None = None,
        save_to_dir: Any = None,
        save_prefix: str = "",
        save_format: str = "png",
        follow_links: bool = False,
        subset: str | None = None,
        interpolation: str = "nearest",
        dtype: Any = None,
    ) -> None:
        saving = (save_to_dir, save_prefix, save_format)
        self._set_up_images(image_data_generator, target_size, color_mode, data_format, saving, subset, interpolation, dtype)
        self.directory = os.fspath(directory)
        if class_mode not in self.allowed_class_modes:
            raise ValueError(f"Invalid class_mode: {class_mode}; expected one of: {set(self.allowed_class_modes)}")
        self.class_mode = class_mode
        if not classes:
            entries = sorted(os.listdir(self.directory))
            classes = [entry for entry in entries if os.path.isdir(os.path.join(self.directory, entry))]
        self.num_classes = len(classes)
        self.class_indices = {name: number for number, name in enumerate(classes)}
        self.filenames: list[str] = []
        numbers: list[int] = []
        for name, number in self.class_indices.items():
            found = list(self._files_of(name, follow_links))
            if self.split is not None:
                found = found[int(self.split[0] * len(found)) : int(self.split[1] * len(found))]
            self.filenames += found
            numbers += [number] * len(found)
        self.samples = len(self.filenames)
        self.classes = np.array(numbers, dtype="int32")
        self.labels = self.classes
        print(f"Found {self.samples} images belonging to {self.num_classes} classes.")
        self._filepaths = [os.path.join(self.directory, name) for name in self.filenames]
        super().__init__(self.samples, batch_size, shuffle, seed)

    @property
    def filepaths(self) -> list[str]:  # type: ignore[override]
        """Each image's path."""
        return self._filepaths

    def _files_of(self, class_name: str, follow_links: bool) -> AnyIterator[str]:
        """A class's images, relative to the folder, in the order of their folders and names."""
        endings = tuple(f".{ending}" for ending in self.white_list_formats)
        below = os.walk(os.path.join(self.directory, class_name), followlinks=follow_links)
        for folder, _, names in sorted(below, key=lambda visit: visit[0]):
            for name in sorted(names):
                if name.lower().endswith(endings):
                    yield os.path.relpath(os.path.join(folder, name), self.directory)
