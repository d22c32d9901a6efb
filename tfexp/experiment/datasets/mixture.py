"""`data=mixture`: points in the plane, in heaps around a circle; the label is the heap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfexp.experiment.datasets.source import Source, Table
from tfexp.experiment.schema import bounded

__all__ = ["Mixture"]


@dataclass(frozen=True, kw_only=True)
class Mixture(Source):
    """A mixture of normal distributions, whose centres lie evenly spaced on the circle of radius 1."""

    points: int = bounded(least=2, says="rows")
    components: int = bounded(least=2, says="heaps")
    deviation: float = bounded(least=0, says="the standard deviation of a heap in each direction; the circle's radius is 1")
    mixture_seed: int = bounded(least=0, below=2**32, says="draws the points")

    def read(self) -> Table:
        # RandomState's streams are frozen by NumPy's compatibility policy; Generator's are not
        drawn = np.random.RandomState(self.mixture_seed)
        heaps = drawn.randint(self.components, size=self.points).astype(np.int64)
        angles = heaps * (2.0 * np.pi / self.components)
        points = np.stack([np.cos(angles), np.sin(angles)], 1) + drawn.randn(self.points, 2) * self.deviation
        return Table(points, heaps, ("x", "y"), self.components, f"a mixture of {self.components} normal distributions")
