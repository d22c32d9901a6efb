"""`data=line`: y = slope * x + noise, the data of the source documents' first regressions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfexp.experiment.datasets.source import Source, Table
from tfexp.experiment.schema import bounded

__all__ = ["Line"]


@dataclass(frozen=True, kw_only=True)
class Line(Source):
    """`points` values of x, evenly spaced over [-1, 1]; `noise` is the standard deviation of the normal
    noise.
    """

    points: int = bounded(least=2, says="rows: values of x, evenly spaced over [-1, 1]")
    slope: float = bounded(says="of the line: y = slope * x + noise")
    noise: float = bounded(least=0, says="the normal noise's standard deviation")
    noise_seed: int = bounded(least=0, below=2**32, says="draws the noise")

    def read(self) -> Table:
        x = np.linspace(-1.0, 1.0, self.points)
        # RandomState's streams are frozen by NumPy's compatibility policy; Generator's are not
        noise = np.random.RandomState(self.noise_seed).randn(self.points) * self.noise
        return Table(x[:, None], self.slope * x + noise, ("x",), None, f"y = {self.slope:g}x + noise")
