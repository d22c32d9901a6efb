"""`tensorflow.examples.tutorials.mnist.input_data`: the MNIST digits in batches. Source: TF 1.15.

The files are those of the MNIST distribution (IDX, gzipped), looked for in a folder and fetched into it where they are not.
"""

from __future__ import annotations

import gzip
import struct
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np

from tfexp.contributed.learn.csv_files import Datasets
from tfexp.core import dtypes
from tfexp.graph.random_seed import get_seed

DEFAULT_SOURCE_URL = SOURCE_URL = "https://storage.googleapis.com/cvdf-datasets/mnist/"

_IMAGES_MAGIC, _LABELS_MAGIC = 2051, 2049
_PIXELS = 28 * 28


def _integers(stream: Any, count: int) -> tuple[int, ...]:
    return struct.unpack(f">{count}I", stream.read(4 * count))


def extract_images(f: Any) -> np.ndarray:
    """uint8 [images, rows, columns, 1] of an opened, gzipped IDX file. ValueError when it has no images."""
    with gzip.GzipFile(fileobj=f) as stream:
        magic, count, rows, columns = _integers(stream, 4)
        if magic != _IMAGES_MAGIC:
            raise ValueError(f"Invalid magic number {magic} in MNIST image file: {f.name}")
        return np.frombuffer(stream.read(count * rows * columns), np.uint8).reshape(count, rows, columns, 1)


def extract_labels(f: Any, one_hot: bool = False, num_classes: int = 10) -> np.ndarray:
    """uint8 [labels], or float64 [labels, classes] of zeros and ones. ValueError when the file has no labels."""
    with gzip.GzipFile(fileobj=f) as stream:
        magic, count = _integers(stream, 2)
        if magic != _LABELS_MAGIC:
            raise ValueError(f"Invalid magic number {magic} in MNIST label file: {f.name}")
        labels = np.frombuffer(stream.read(count), np.uint8)
    return dense_to_one_hot(labels, num_classes) if one_hot else labels


def dense_to_one_hot(labels_dense: np.ndarray, num_classes: int) -> np.ndarray:
    return np.eye(num_classes)[labels_dense]


class DataSet:
    """Images and labels, handed out in batches, shuffled anew in each epoch.

    `images` are [n, 784] (`reshape`) or [n, 28, 28, 1], floats in 0..1 for `dtype` float32 and bytes for uint8. With
    `fake_data` every image is white and every label 0.
    """

    def __init__(
        self,
        images: Any,
        labels: Any,
        fake_data: bool = False,
        one_hot: bool = False,
        dtype: Any = dtypes.float32,
        reshape: bool = True,
        seed: int | None = None,
    ):
        graph_seed, op_seed = get_seed(seed)
        self._random = np.random.RandomState(graph_seed if seed is None else op_seed)
        dtype = dtypes.as_dtype(dtype).base_dtype
        if dtype not in (dtypes.uint8, dtypes.float32):
            raise TypeError(f"Invalid image dtype {dtype!r}, expected uint8 or float32")
        self.one_hot, self._fake = one_hot, fake_data
        if fake_data:
            self._num_examples = 10000
        else:
            assert images.shape[0] == labels.shape[0], f"images.shape: {images.shape} labels.shape: {labels.shape}"
            self._num_examples = images.shape[0]
            if reshape:
                assert images.shape[3] == 1
                images = images.reshape(images.shape[0], images.shape[1] * images.shape[2])
            if dtype == dtypes.float32:
                images = np.multiply(images.astype(np.float32), np.float32(1.0 / 255.0))
        self._images, self._labels = images, labels
        self._epochs_completed = self._index_in_epoch = 0

    @property
    def images(self) -> Any:
        return self._images

    @property
    def labels(self) -> Any:
        return self._labels

    @property
    def num_examples(self) -> int:
        return self._num_examples

    @property
    def epochs_completed(self) -> int:
        return self._epochs_completed

    def _shuffle(self) -> None:
        order = self._random.permutation(self._num_examples)
        self._images, self._labels = self._images[order], self._labels[order]

    def next_batch(self, batch_size: int, fake_data: bool = False, shuffle: bool = True) -> tuple[Any, Any]:
        """The next images and labels; a batch over the end of an epoch takes its rest from the next one."""
        if fake_data or self._fake:
            label: Any = [1] + [0] * 9 if self.one_hot else 0
            return [[1] * _PIXELS for _ in range(batch_size)], [label for _ in range(batch_size)]
        start = self._index_in_epoch
        if start == 0 and self._epochs_completed == 0 and shuffle:
            self._shuffle()
        if start + batch_size <= self._num_examples:
            self._index_in_epoch = start + batch_size
            return self._images[start : start + batch_size], self._labels[start : start + batch_size]
        rest = self._images[start:], self._labels[start:]
        self._epochs_completed += 1
        if shuffle:
            self._shuffle()
        self._index_in_epoch = end = batch_size - len(rest[0])
        return np.concatenate([rest[0], self._images[:end]]), np.concatenate([rest[1], self._labels[:end]])


def maybe_download(filename: str, work_directory: str, source_url: str) -> str:
    """The path of a file in a folder, fetched from `source_url` (all of it) when it is not there."""
    path = Path(work_directory, filename)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        try:
            urllib.request.urlretrieve(source_url, partial)
        except OSError as error:
            raise OSError(f"{path} is not there, and {source_url} cannot be fetched: {error}") from error
        partial.rename(path)
    return str(path)


def read_data_sets(
    train_dir: str,
    fake_data: bool = False,
    one_hot: bool = False,
    dtype: Any = dtypes.float32,
    reshape: bool = True,
    validation_size: int = 5000,
    seed: int | None = None,
    source_url: str = DEFAULT_SOURCE_URL,
) -> Datasets:
    """The digits in a folder: the first `validation_size` of the training images for validation, the others to train on."""
    options: dict[str, Any] = {"dtype": dtype, "reshape": reshape, "seed": seed}
    if fake_data:
        return Datasets(*(DataSet([], [], fake_data=True, one_hot=one_hot, dtype=dtype, seed=seed) for _ in range(3)))
    read = []
    for part in ("train", "t10k"):
        for content, extract in (("images-idx3", extract_images), ("labels-idx1", extract_labels)):
            name = f"{part}-{content}-ubyte.gz"
            with open(maybe_download(name, train_dir, (source_url or DEFAULT_SOURCE_URL) + name), "rb") as file:
                read.append(extract(file) if extract is extract_images else extract_labels(file, one_hot=one_hot))
    images, labels, test_images, test_labels = read
    if not 0 <= validation_size <= len(images):
        raise ValueError(f"Validation size should be between 0 and {len(images)}. Received: {validation_size}.")
    return Datasets(
        train=DataSet(images[validation_size:], labels[validation_size:], **options),
        validation=DataSet(images[:validation_size], labels[:validation_size], **options),
        test=DataSet(test_images, test_labels, **options),
    )


def load_mnist(train_dir: str = "MNIST-data") -> Datasets:
    return read_data_sets(train_dir)
