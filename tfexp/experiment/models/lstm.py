"""`model=lstm`: a recurrent network that reads a row of features piece by piece."""

from __future__ import annotations

from dataclasses import dataclass

import tfexp as tf
from tfexp.experiment.datasets.dataset import Spec
from tfexp.experiment.errors import SettingError
from tfexp.experiment.models.dense import dense
from tfexp.experiment.models.model import Supervised
from tfexp.experiment.models.phase import dropout
from tfexp.experiment.schema import bounded

__all__ = ["Lstm"]


@dataclass(frozen=True, kw_only=True)
class Lstm(Supervised):
    """The row's features are `steps` pieces of one length, which the cells of each layer read in order; the last layer's
    output after the last piece decides.

    Source: Hochreiter & Schmidhuber 1997; the forget gate's bias begins at 1, as Jozefowicz et al. 2015 advise.
    """

    steps: int = bounded(least=1, says="pieces of one length that a row of features is read in")
    units: tuple[int, ...] = bounded(least=1, says="units of each layer of cells, the first next to the features")
    dropout: float = bounded(least=0, below=1, says="share of the last output that a training step leaves out")
    l2: float = bounded(least=0, says="weight of the output weights' sum of squares in the loss")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.units:
            raise SettingError("units", "[] has no layer of cells: give at least one number of units")

    def check(self, spec: Spec) -> None:
        if spec.width % self.steps:
            fit = [steps for steps in range(2, spec.width + 1) if spec.width % steps == 0] or [1]
            raise SettingError(
                "model.steps",
                f"a row of this data has {spec.width} features, which {self.steps} pieces of one length do not make: give "
                f"{' or '.join(map(str, fit)) if len(fit) < 8 else 'a divisor'}",
            )

    def outputs(self, features: tf.Tensor, spec: Spec) -> tf.Tensor:
        pieces = tf.reshape(features, [-1, self.steps, spec.width // self.steps], name="pieces")
        cells = [
            tf.nn.rnn_cell.LSTMCell(units, forget_bias=1.0, name=f"layer{at}") for at, units in enumerate(self.units, 1)
        ]
        every, _ = tf.nn.static_rnn(tf.nn.rnn_cell.MultiRNNCell(cells), tf.unstack(pieces, axis=1), dtype=tf.float32)
        last = dropout(every[-1], self.dropout, "dropout")
        return dense(last, spec.classes or 1, "outputs", l2=self.l2)
