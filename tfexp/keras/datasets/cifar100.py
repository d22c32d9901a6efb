"""Small colour photographs in a hundred classes, or twenty: 50,000 to train, 10,000 to test (Krizhevsky 2009)."""

from typing import Any

from tfexp.keras.datasets.cifar import load_batches
from tfexp.keras.utils.files import get_file

_ORIGIN = "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz"
_HASH = "85cd44d02ba6437773c5bbd22e183051d648de2e7d6b014e1ef29b855ba677a7"


def load_data(label_mode: str = "fine") -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """(images uint8 [n, 32, 32, 3], labels uint8 [n, 1]) to train and to test.

    label_mode: "fine" for the hundred classes, "coarse" for the twenty; ValueError for another.
    """
    if label_mode not in {"fine", "coarse"}:
        raise ValueError(f"`label_mode` must be one of `fine`, `coarse`: {label_mode!r}")
    folder = get_file("cifar-100-python", origin=_ORIGIN, untar=True, file_hash=_HASH)
    train, test = (load_batches(folder, [name], f"{label_mode}_labels") for name in ("train", "test"))
    return train, test
