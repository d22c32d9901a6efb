"""Handwritten digits, 28 by 28, in ten classes: 60,000 to train, 10,000 to test (LeCun, Cortes, Burges)."""

from typing import Any

import numpy as np

from tfexp.keras.datasets import PUBLISHED
from tfexp.keras.utils.files import get_file

_HASH = "731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1"

Split = tuple[tuple[Any, Any], tuple[Any, Any]]


def load_data(path: str = "mnist.npz") -> Split:
    """(images uint8 [n, 28, 28], labels uint8 [n]) to train and to test.

    path: of the file, below `~/.keras/datasets`, or absolute.
    """
    with np.load(get_file(path, origin=f"{PUBLISHED}mnist.npz", file_hash=_HASH), allow_pickle=True) as file:
        return (file["x_train"], file["y_train"]), (file["x_test"], file["y_test"])
