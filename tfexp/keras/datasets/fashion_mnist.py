"""Clothes, 28 by 28, in ten classes: 60,000 to train, 10,000 to test (Xiao, Rasul, Vollgraf 2017)."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np

from tfexp.keras.datasets import PUBLISHED
from tfexp.keras.utils.files import get_file

# What comes before the numbers in an IDX file: a magic number and the sizes, four bytes each.
_LABELS_HEADER, _IMAGES_HEADER = 8, 16


def load_data() -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """(images uint8 [n, 28, 28], labels uint8 [n]) to train and to test."""

    def numbers(name: str, header: int) -> np.ndarray:
        path = get_file(name, origin=PUBLISHED + name, cache_subdir="datasets/fashion-mnist")
        return np.frombuffer(gzip.decompress(Path(path).read_bytes()), np.uint8, offset=header)

    def part(prefix: str) -> tuple[Any, Any]:
        labels = numbers(f"{prefix}-labels-idx1-ubyte.gz", _LABELS_HEADER)
        return numbers(f"{prefix}-images-idx3-ubyte.gz", _IMAGES_HEADER).reshape(len(labels), 28, 28), labels

    return part("train"), part("t10k")
