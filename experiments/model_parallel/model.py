"""Networks that are cut across the workers: layers on different tasks, columns of one layer, a recurrent network by layers.

The parameters of a part are where it computes, so only activations and their gradients cross the wire. A step goes to each
task as rarely as its data allows, so the parts of a chain take turns within a step. With `replication=in_graph update=async`
there are as many steps under way as there are workers: while one is in the last layers another is in the first, a pipeline.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

import tfexp as tf
from tfexp.experiment.datasets.dataset import Spec
from tfexp.experiment.models.dense import dense
from tfexp.experiment.models.model import Supervised
from tfexp.experiment.schema import bounded

__all__ = ["ColumnsApart", "LayersApart", "RecurrentPipeline"]


@dataclass(frozen=True, kw_only=True)
class _Apart(Supervised):
    tasks: int = bounded(least=0, says="workers to cut the network across; 0: it stays whole")

    def on(self, part: int) -> contextlib.AbstractContextManager[None]:
        """The device of this part, its parameters' too."""
        return tf.device(f"/job:worker/task:{part % self.tasks}") if self.tasks else contextlib.nullcontext()


@dataclass(frozen=True, kw_only=True)
class LayersApart(_Apart):
    """A layer on each worker, in turns."""

    hidden: tuple[int, ...] = bounded(least=1, says="units of each hidden layer")

    def outputs(self, features: tf.Tensor, spec: Spec) -> tf.Tensor:
        values = features
        for number, units in enumerate(self.hidden):
            with self.on(number):
                values = tf.nn.relu(dense(values, units, f"hidden{number}"))
        with self.on(len(self.hidden)):
            return dense(values, spec.classes or 1, "out")


@dataclass(frozen=True, kw_only=True)
class ColumnsApart(_Apart):
    """A wide layer whose columns are divided: each worker has its slice, and its share of the scores, which add up."""

    slices: int = bounded(least=1, says="parts of the wide layer")
    units: int = bounded(least=1, says="units of each part")

    def outputs(self, features: tf.Tensor, spec: Spec) -> tf.Tensor:
        scores = []
        for part in range(self.slices):
            with self.on(part):
                columns = tf.nn.relu(dense(features, self.units, f"columns{part}"))
                scores.append(dense(columns, spec.classes or 1, f"scores{part}"))
        return tf.add_n(scores)


@dataclass(frozen=True, kw_only=True)
class RecurrentPipeline(_Apart):
    """Recurrent layers over the rows of an image, unrolled in time, each layer on a worker of its own."""

    units: tuple[int, ...] = bounded(least=1, says="units of each recurrent layer")
    steps: int = bounded(least=1, says="time steps that a row of features is divided into")

    def outputs(self, features: tf.Tensor, spec: Spec) -> tf.Tensor:
        values = tf.split(features, self.steps, axis=1)
        for number, units in enumerate(self.units):
            with self.on(number), tf.variable_scope(f"layer{number}"):
                cell = tf.nn.rnn_cell.BasicRNNCell(units)
                values, _ = tf.nn.static_rnn(cell, values, dtype=tf.float32)
        with self.on(len(self.units) - 1):
            return dense(values[-1], spec.classes or 1, "out")
