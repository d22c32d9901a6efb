"""Batches of numbered images in (shuffled) order: the base of the iterators over arrays, folders and tables."""

import threading
from collections.abc import Callable
from collections.abc import Iterator as AnyIterator
from pathlib import Path
from typing import Any

import numpy as np

from tfexp.keras.preprocessing.image.arrays import array_to_img
from tfexp.keras.utils.data import Sequence


class Iterator(Sequence):
    """Batches without end (`next`) or by number (`self[i]`) of `n` samples.

    shuffle: a new order each epoch. seed: the batch's number is added to it and NumPy's global generator seeded anew, so
    that each batch is the same whoever takes it. A subclass has `_get_batches_of_transformed_samples(index_array)`.
    """

    white_list_formats = ("png", "jpg", "jpeg", "bmp", "ppm", "tif", "tiff")

    def __init__(self, n: int, batch_size: int, shuffle: bool, seed: int | None) -> None:
        self.n = n
        self.batch_size = batch_size
        self.seed = seed
        self.shuffle = shuffle
        self.batch_index = 0
        self.total_batches_seen = 0
        self.lock = threading.Lock()
        self.index_array: np.ndarray | None = None
        self.index_generator = self._flow_index()

    def _set_index_array(self) -> np.ndarray:
        self.index_array = np.random.permutation(self.n) if self.shuffle else np.arange(self.n)
        return self.index_array

    def __getitem__(self, idx: int) -> Any:
        if idx >= len(self):
            raise ValueError(f"Asked to retrieve element {idx}, but the Sequence has length {len(self)}")
        self._seed_batch()
        self.total_batches_seen += 1
        order = self._set_index_array() if self.index_array is None else self.index_array
        return self._get_batches_of_transformed_samples(order[self.batch_size * idx : self.batch_size * (idx + 1)])

    def _seed_batch(self) -> None:
        if self.seed is not None:
            np.random.seed(self.seed + self.total_batches_seen)

    def __len__(self) -> int:
        return (self.n + self.batch_size - 1) // self.batch_size

    def on_epoch_end(self) -> None:
        """A new order, when shuffled."""
        self._set_index_array()

    def reset(self) -> None:
        """`next` begins an epoch anew."""
        self.batch_index = 0

    def _flow_index(self) -> AnyIterator[np.ndarray]:
        self.reset()
        order: np.ndarray | None = None
        while True:
            self._seed_batch()
            if self.batch_index == 0 or order is None:
                order = self._set_index_array()
            first = 0 if self.n == 0 else (self.batch_index * self.batch_size) % self.n
            self.batch_index = self.batch_index + 1 if self.n > first + self.batch_size else 0
            self.total_batches_seen += 1
            yield order[first : first + self.batch_size]

    def __iter__(self) -> AnyIterator[Any]:
        return self

    def __next__(self) -> Any:
        return self.next()

    def next(self) -> Any:
        """The next batch."""
        with self.lock:  # who takes a batch's number; the batch itself is made outside
            index_array = next(self.index_generator)
        return self._get_batches_of_transformed_samples(index_array)

    def _get_batches_of_transformed_samples(self, index_array: np.ndarray) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not say how it makes a batch of numbered samples")


class Saving:
    """Where an iterator also writes the images that it hands out: `<prefix>_<number>_<random>.<format>`."""

    def __init__(self, folder: Any, prefix: str, file_format: str, data_format: str) -> None:
        self.folder = folder
        self.prefix = prefix
        self.file_format = file_format
        self.data_format = data_format

    def write(self, batch: np.ndarray, name_of: Callable[[int], str]) -> None:
        """Writes each image of the batch; name_of: position in the batch -> the name without prefix and ending."""
        if self.folder:
            for position, image in enumerate(batch):
                name = f"{self.prefix}_{name_of(position)}.{self.file_format}"
                array_to_img(image, self.data_format, scale=True).save(Path(self.folder) / name)


def split_bounds(validation_split: float, subset: str | None) -> tuple[float, float]:
    """The part (from, to) of the samples that a subset is. ValueError: neither "training" nor "validation"."""
    if subset is None:
        return 0.0, 1.0
    if subset == "validation":
        return 0.0, validation_split
    if subset == "training":
        return validation_split, 1.0
    raise ValueError(f'Invalid subset name: {subset};expected "training" or "validation"')
