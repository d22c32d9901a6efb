"""Random numbers. Without a seed, NumPy's global generator makes one, so that `np.random.seed` decides.

Source: `tf.keras.backend`, TF 1.15.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.graph.tensor import Tensor
from tfexp.keras.backend.config import floatx
from tfexp.ops import random
from tfexp.ops.array_fill import ones, zeros
from tfexp.ops.array_mask import where


def seed_of(seed: int | None) -> int:
    """`seed`, or one of NumPy's global generator for None."""
    return int(np.random.randint(10_000_000)) if seed is None else seed


def random_normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = None, seed: int | None = None) -> Tensor:
    """Normal numbers."""
    return random.random_normal(shape, mean=mean, stddev=stddev, dtype=dtype or floatx(), seed=seed_of(seed))


def random_uniform(shape: Any, minval: Any = 0.0, maxval: Any = 1.0, dtype: Any = None, seed: int | None = None) -> Tensor:
    """Numbers from [minval, maxval)."""
    return random.random_uniform(shape, minval=minval, maxval=maxval, dtype=dtype or floatx(), seed=seed_of(seed))


def random_binomial(shape: Any, p: Any = 0.0, dtype: Any = None, seed: int | None = None) -> Tensor:
    """Ones with probability `p`, else zeros."""
    kind = dtypes.as_dtype(dtype or floatx())
    drawn: Any = random.random_uniform(shape, dtype=kind, seed=seed_of(seed))
    return where(drawn <= p, ones(shape, dtype=kind), zeros(shape, dtype=kind))


def truncated_normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = None, seed: int | None = None) -> Tensor:
    """Normal numbers, none beyond two standard deviations."""
    return random.truncated_normal(shape, mean, stddev, dtype=dtype or floatx(), seed=seed_of(seed))
