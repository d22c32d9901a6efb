"""The interface of the config group `input`: which nodes bring the batches into the graph, and what moves them.

An input of one's own is a frozen dataclass derived from `Input` (its fields are its settings) with `batches`:

    @dataclass(frozen=True)
    class Noisy(Input):
        deviation: float = 0.1

        def batches(self, share: Share) -> Batches:
            rows, spec = tf.placeholder(tf.int64, [share.batch_size]), share.spec
            ...

and `python -m tfexp input=own input.target=mypackage.inputs:Noisy input.deviation=0.2` trains with it. `Share` says which
rows make which batch; an input that keeps to it gives the batches of `input=feed`, in the same order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

import tfexp as tf
from tfexp.experiment.datasets.dataset import Dataset, Spec, batch_rows, rows_of_batches
from tfexp.experiment.errors import ExperimentError
from tfexp.experiment.schema import Section

__all__ = ["Batches", "Input", "Share", "feedable"]


@dataclass(frozen=True)
class Share:
    """What one of `workers` copies of the model trains on: of the run's batches every `workers`-th, from number `worker` on;
    or, where they make each step `together`, its part of every batch: the `worker`-th of `workers` equal ones.

    `batch_size` is the rows of one step of this copy. `device` is where what belongs to it alone has to be; "" where there
    is only one.
    """

    dataset: Dataset
    batch_size: int
    seed: int
    worker: int = 0
    workers: int = 1
    device: str = ""
    together: bool = False

    @property
    def spec(self) -> Spec:
        return self.dataset.spec

    @property
    def batches_per_epoch(self) -> int:
        """Of the run."""
        return self.dataset.rows // self._run_batch_size

    @property
    def _run_batch_size(self) -> int:
        return self.batch_size * self.workers if self.together else self.batch_size

    @property
    def stride(self) -> int:
        """How far apart the numbers of this copy's batches are."""
        return 1 if self.together else self.workers

    def number(self, begin: int, made: int) -> int:
        """The number of the batch that this copy trains on when it has made `made` steps since batch `begin`.

        The copies take turns: the batches of an epoch are each one's, unless all have a part in each.
        """
        return begin + made if self.together else begin + made * self.workers + self.worker

    def rows(self, number: int) -> np.ndarray:
        """The training rows of this copy in batch `number` of the run, int64 [batch_size]."""
        return batch_rows(self.seed, number, self.dataset.rows, self._run_batch_size)[self._part]

    def numbers(self, begin: int, made: int, count: int) -> np.ndarray:
        """`number` for `count` steps after each other."""
        return self.number(begin, made) + np.arange(count) * self.stride

    def rows_of(self, numbers: np.ndarray) -> np.ndarray:
        """`rows` of several batches, int64 [batches, batch_size]. Much faster than one by one."""
        return rows_of_batches(self.seed, numbers, self.dataset.rows, self._run_batch_size)[:, self._part]

    @property
    def _part(self) -> slice:
        first = self.worker * self.batch_size if self.together else 0
        return slice(first, first + self.batch_size)


class Batches(ABC):
    """The nodes that bring one copy's batches, and what moves them in a session.

    `features` and `labels` are what a step trains on, float32 [rows, width] and what the data has as labels. An
    evaluation feeds them any number of rows (`feedable`). `saved` is what a checkpoint keeps of them beside the variables.
    """

    features: tf.Tensor
    labels: tf.Tensor
    saved: tuple[Any, ...] = ()

    @abstractmethod
    def start(self, session: tf.Session, begin: int) -> None:
        """Begin, so that the worker's first step trains on its share of the run's batches from number `begin` on."""

    @abstractmethod
    def next_feeds(self) -> dict[Any, Any]:
        """What the next step is to be fed. Called once before each step that trains."""

    def explain(self, error: tf.errors.OpError) -> ExperimentError | None:
        """What a step's error says of the input, in words for the user; None if it is none of the input's."""
        return None

    def stop(self) -> None:  # noqa: B027 (most have nothing that runs)
        """End what runs in the background. Called once, while the session is open, also after an error."""


@dataclass(frozen=True, kw_only=True)
class Input(Section, ABC):
    """Where batches come from while a run trains. Evaluations feed the rows that are evaluated."""

    def prepare(self, dataset: Dataset) -> Dataset:
        """The data as this input will read it; all that can be wrong with it is said now, by ExperimentError.

        Called before a run's folder is made and again in each worker; whatever it writes is for all of them.
        """
        return dataset.in_memory()

    @property
    def repeatable(self) -> bool:
        """Whether one process gets the same batches in the same order each time."""
        return True

    @abstractmethod
    def batches(self, share: Share) -> Batches:
        """Make the nodes, in the default graph; in the name scope `input`."""


def feedable(features: tf.Tensor, labels: tf.Tensor, spec: Spec) -> tuple[tf.Tensor, tf.Tensor]:
    """A pipeline's tensors as the nodes `features` and `labels` that any number of rows can be fed to."""
    rows = [None, spec.width], [None, 1] if spec.classes is None else [None]
    return (
        tf.placeholder_with_default(features, rows[0], name="features"),
        tf.placeholder_with_default(labels, rows[1], name="labels"),
    )
