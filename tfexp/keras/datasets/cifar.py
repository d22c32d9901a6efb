"""What the files of CIFAR-10 and CIFAR-100 hold: pickled batches of images of 32 by 32 pixels (Krizhevsky 2009)."""

import os
import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.keras.backend.config import image_data_format


def load_batches(folder: str, names: Sequence[str], label_key: str = "labels") -> tuple[np.ndarray, np.ndarray]:
    """The images uint8 [n, 32, 32, 3] (or [n, 3, 32, 32], as the backend's format is) and labels uint8 [n, 1] of files."""
    images, labels = [], []
    for name in names:
        some, theirs = load_batch(os.path.join(folder, name), label_key)
        images.append(some)
        labels += theirs
    x = np.concatenate(images)
    x = x.transpose(0, 2, 3, 1) if image_data_format() == "channels_last" else x
    return x, np.array(labels, np.uint8)[:, np.newaxis]


def load_batch(fpath: str, label_key: str = "labels") -> tuple[np.ndarray, list[int]]:
    """The images uint8 [n, 3, 32, 32] and the labels of one file. KeyError where it has no such labels."""
    with open(fpath, "rb") as file:
        batch: dict[bytes, Any] = pickle.load(file, encoding="bytes")  # written by Python 2
    if label_key.encode() not in batch:
        raise KeyError(label_key)
    return batch[b"data"].reshape(-1, 3, 32, 32), batch[label_key.encode()]
