"""The interface of the config group `data`: a source is read whole into a table.

A data set of one's own is a frozen dataclass derived from `Source` (its fields are its settings) with `read`:

    @dataclass(frozen=True)
    class Tides(Source):
        station: str = "Brest"

        def read(self) -> Table: ...

and `python -m tfexp data=own data.target=mypackage.tides:Tides data.station=Saint-Malo` trains on it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from tfexp.experiment.datasets.skipped import NONE, Skipped
from tfexp.experiment.schema import Section, bounded

__all__ = ["LARGEST", "Data", "Source", "Table"]

LARGEST = float(np.finfo(np.float32).max)
"""The magnitude that no number of a table may exceed: models learn in float32."""


@dataclass(frozen=True)
class Table:
    """Rows of numbers with a label each, as they were read.

    `features`: float64 [rows, columns]. `labels`: [rows], float64 where they are numbers to predict
    (`classes` None), int64 in [0, classes) where they are classes. `columns` names the features, `class_names` the
    classes where they have names. No magnitude is above `LARGEST`.
    """

    features: np.ndarray
    labels: np.ndarray
    columns: tuple[str, ...]
    classes: int | None
    origin: str
    skipped: Skipped = NONE
    class_names: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Data(Section, ABC):
    """What `data` may be: a `Source`, or what was prepared before (`dataset.Prepared`)."""


@dataclass(frozen=True, kw_only=True)
class Source(Data):
    """Where examples come from. `test_fraction` of the rows, drawn by `split_seed`, are kept for testing;
    `standardize` brings the features, and labels that are numbers, to mean 0 and deviation 1 over the
    training rows.
    """

    standardize: bool = bounded(
        says="bring features, and labels that are numbers, to mean 0 and deviation 1 over the training rows"
    )
    test_fraction: float = bounded(above=0, below=1, says="share of the rows that is kept for testing")
    split_seed: int = bounded(least=0, below=2**32, says="draws the rows that are kept for testing")

    @abstractmethod
    def read(self) -> Table:
        """Everything there is. The same settings give the same table; raises ExperimentError if it cannot be
        read.
        """
