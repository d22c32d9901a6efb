"""Small colour photographs in ten classes: 50,000 to train, 10,000 to test (Krizhevsky 2009)."""

from typing import Any

from tfexp.keras.datasets.cifar import load_batches
from tfexp.keras.utils.files import get_file

_ORIGIN = "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"
_HASH = "6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce"


def load_data() -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """(images uint8 [n, 32, 32, 3], labels uint8 [n, 1]) to train and to test."""
    folder = get_file("cifar-10-batches-py", origin=_ORIGIN, untar=True, file_hash=_HASH)
    return load_batches(folder, [f"data_batch_{i}" for i in range(1, 6)]), load_batches(folder, ["test_batch"])
