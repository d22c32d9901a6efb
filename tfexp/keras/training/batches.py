"""Data as batches: arrays cut into pieces, or the same whole arrays or tensors at each step. Source: `fit`, TF 1.15."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from tfexp.keras import backend
from tfexp.keras.training.arrays import Densified, is_composite_value, is_sparse_matrix, is_symbolic, known_shape
from tfexp.keras.training.composite_rows import rows_of
from tfexp.keras.training.steps import Weighted


class Batch(NamedTuple):
    """values: a flat list, the inputs, the targets and the weights there are. size: how heavy it is in an epoch's mean."""

    values: list[Any]
    weighted: Weighted
    size: int


class OutOfBatchesError(Exception):
    """Data ended before the steps that were asked for."""

    def __init__(self, what: str):
        super().__init__(what)
        self.what = what


class Batches(Protocol):
    """Data that the loop goes through. samples, steps: how many there are in an epoch, as far as known.

    `look_ahead` arranges the first batch, which comes in the next epoch: a model that knows its inputs from data alone is
    prepared by it. `epoch` gives an epoch's batches, `restart` has the next epoch begin at the first batch where it would go
    on elsewhere, `close` ends what runs beside it. by_sample: whether progress is counted in samples rather than in steps.
    mean_over_samples: whether the loss of an epoch is the mean over these. announced: the word for what is trained on, which
    is said before the first epoch; None for nothing.
    """

    samples: int | None
    steps: int | None
    batch_size: int | None
    by_sample: bool
    mean_over_samples: bool
    announced: str | None

    def look_ahead(self) -> None: ...

    def epoch(self) -> Iterator[Batch]: ...

    def restart(self) -> None: ...

    def close(self) -> None: ...


@dataclass
class Cut:
    """Arrays cut into batches, in a new order for each pass if shuffled. The order comes from `np.random`.

    shuffle: True, False or 'batch', which shuffles whole batches: for files that are read by ranges. steps: how many batches
    an epoch has, which goes on where the one before ended, pass after pass; restarted, there is one pass. None for an epoch
    that is a pass.
    """

    arrays: Sequence[Any]
    weighted: Weighted
    batch_size: int | None
    shuffle: bool | str = False
    steps: int | None = None

    by_sample = True
    mean_over_samples = True
    announced: str | None = "samples"

    def __post_init__(self) -> None:
        self.samples: int | None = known_shape(self.arrays[0])[0]
        self._coming = itertools.chain.from_iterable(self._pass() for _ in itertools.count())

    def look_ahead(self) -> None:
        """All was arranged at once."""

    def epoch(self) -> Iterator[Batch]:
        if self.steps is None:
            yield from self._pass()
            return
        for _ in range(self.steps):
            batch = next(self._coming, None)
            if batch is None:
                raise OutOfBatchesError("dataset")
            yield batch

    def _pass(self) -> Iterator[Batch]:
        count = self.samples or 0
        size = self.batch_size or count
        order = np.arange(count)
        if self.shuffle == "batch":
            order = batches_shuffled(order, size)
        elif self.shuffle:
            np.random.shuffle(order)
        for start in range(0, count, size):
            end = min(start + size, count)
            which = order[start:end] if self.shuffle else slice(start, end)
            yield Batch([_part(array, which) for array in self.arrays], self.weighted, end - start)

    def restart(self) -> None:
        self._coming = itertools.chain(self._pass())

    def close(self) -> None:
        """Nothing runs."""


class CutAlike(Cut):
    """Arrays cut into batches as large as the last one that `last_size` tells of; an epoch's loss is the mean over these."""

    mean_over_samples = False

    def __init__(self, arrays: Sequence[Any], weighted: Weighted, last_size: Callable[[], int]):
        super().__init__(arrays, weighted, None)
        self._last_size = last_size

    def epoch(self) -> Iterator[Batch]:
        self.batch_size = self._last_size()
        return super().epoch()


def _part(array: Any, which: Any) -> Any:
    if isinstance(array, np.ndarray):
        return array[which] if isinstance(which, slice) else array.take(which, axis=0)
    if is_composite_value(array):
        return rows_of(array, which)
    if isinstance(array, Densified):
        return array.rows(which)
    if is_sparse_matrix(array):
        return array.tocsr()[which]
    if not isinstance(which, slice) and not isinstance(array, list):
        # A file that is read by ranges takes increasing places only, as a list.
        order = np.argsort(which)
        return np.asarray(array[which[order].tolist()])[np.argsort(order)]
    return array[which]


def batches_shuffled(order: np.ndarray[Any, Any], size: int) -> np.ndarray[Any, Any]:
    """Whole batches in another order; the last, smaller one stays last."""
    whole = len(order) // size * size
    rows = order[:whole].reshape(-1, size)
    np.random.shuffle(rows)
    return np.append(rows.reshape(-1), order[whole:])


class Whole:
    """The same values at each of `steps` steps. Tensors among them are computed anew each time."""

    by_sample = False
    mean_over_samples = False
    announced: str | None = "samples"  # which is TensorFlow's word for these steps

    def __init__(self, values: Sequence[Any], weighted: Weighted, steps: int, batch_size: int | None = None):
        self.batch_size = batch_size  # as it was given, which has no effect
        self.steps: int | None = steps
        self.samples: int | None = steps
        self._values, self._weighted = list(values), weighted
        self._symbolic = [value for value in self._values if is_symbolic(value)]
        self._run: Callable[[], list[Any]] | None = None

    def look_ahead(self) -> None:
        """All was arranged at once."""

    def epoch(self) -> Iterator[Batch]:
        for _ in range(self.steps or 0):
            computed = iter(self._computed())
            values = [next(computed) if is_symbolic(value) else value for value in self._values]
            yield Batch(values, self._weighted, 1)

    def _computed(self) -> list[Any]:
        if not self._symbolic:
            return []
        if self._run is None:
            self._run = backend.get_session().make_callable(self._symbolic)
        return self._run()

    def restart(self) -> None:
        """All batches are the same."""

    def close(self) -> None:
        """Nothing runs."""
