"""Prices of houses in 506 districts of Boston by 13 features, 1978 (Harrison and Rubinfeld)."""

from typing import Any

import numpy as np

from tfexp.keras.datasets import PUBLISHED
from tfexp.keras.utils.files import get_file

_HASH = "f553886a1f8d56431e820c5b82552d9d95cfcb96d1e678153f8839538947dff5"


def load_data(
    path: str = "boston_housing.npz", test_split: float = 0.2, seed: int = 113
) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """(features float64 [n, 13], prices in 1,000 dollars [n]) to train and to test.

    test_split: the part to test. seed: of the order in which they come.
    """
    if not 0 <= test_split < 1:
        raise ValueError(f"`test_split` must be in [0, 1): {test_split}")
    with np.load(get_file(path, origin=f"{PUBLISHED}boston_housing.npz", file_hash=_HASH), allow_pickle=True) as file:
        x, y = file["x"], file["y"]
    order = np.arange(len(x))
    np.random.RandomState(seed).shuffle(order)
    x, y = x[order], y[order]
    first = int(len(x) * (1 - test_split))
    return (x[:first], y[:first]), (x[first:], y[first:])
