"""`tf.keras.utils.to_categorical` and `normalize`. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np


def to_categorical(y: Any, num_classes: int | None = None, dtype: Any = "float32") -> np.ndarray:
    """A row of zeros with a one for each of the classes `y` (integers from 0; a last axis of size 1 is dropped)."""
    classes = np.array(y, dtype="int")
    shape = classes.shape[:-1] if classes.ndim > 1 and classes.shape[-1] == 1 else classes.shape
    classes = classes.ravel()
    width = num_classes or int(np.max(classes)) + 1
    rows = np.zeros((classes.size, width), dtype=dtype)
    rows[np.arange(classes.size), classes] = 1
    return rows.reshape((*shape, width))


def normalize(x: Any, axis: int = -1, order: int = 2) -> np.ndarray:
    """`x` divided by its norms of this order along `axis`; zeros stay."""
    norms = np.atleast_1d(np.linalg.norm(x, order, axis))
    norms[norms == 0] = 1
    result: np.ndarray = x / np.expand_dims(norms, axis)
    return result
