"""Seeds that one seed gives, for the draws of one function. Source: `tf.contrib.distributions.SeedStream`, TF 1.15."""

from __future__ import annotations

import hashlib
from typing import Any


class SeedStream:
    """Called, it gives the next seed, TensorFlow's own; None each time where there is no seed to begin with.

    seed: anything that can be written, or another stream, whose next seed it is. salt: what tells this stream from those of
    other functions.
    """

    def __init__(self, seed: Any, salt: Any):
        self._seed = seed.original_seed if isinstance(seed, SeedStream) else seed
        self._salt, self._count = salt, 0

    def __call__(self) -> int | None:
        self._count += 1
        if self._seed is None:
            return None
        return int(hashlib.sha512(str((self._seed, self._count, self._salt)).encode()).hexdigest(), 16)

    @property
    def original_seed(self) -> Any:
        return self._seed

    @property
    def salt(self) -> Any:
        return self._salt
