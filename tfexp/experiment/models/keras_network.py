"""A base of models of one's own that are networks of `tf.keras`.

    @dataclass(frozen=True, kw_only=True)
    class Net(KerasNetwork):
        width: int = 32

        def network(self, spec: Spec) -> tf.keras.Model:
            layers = tf.keras.layers
            return tf.keras.Sequential([layers.Dense(self.width, "relu"), layers.Dropout(0.2), layers.Dense(spec.classes)])

and `python -m tfexp model=own model.target=mypackage.nets:Net data=digits` trains it.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any

import tfexp as tf
from tfexp.experiment.datasets.dataset import Spec
from tfexp.experiment.models import phase
from tfexp.experiment.models.model import Supervised

__all__ = ["KerasNetwork"]

_COLLECTION = "tfexp/keras_networks"


@dataclass
class _Made:
    """The networks of a graph by the variable scopes that they are in; by the outputs of a call, its layers' losses."""

    networks: dict[str, Any] = field(default_factory=dict)
    losses: dict[str, list[tf.Tensor]] = field(default_factory=dict)

    @classmethod
    def of_graph(cls) -> _Made:
        kept = tf.get_default_graph().get_collection_ref(_COLLECTION)
        if not kept:
            kept.append(cls())
        found: _Made = kept[0]
        return found


@dataclass(frozen=True, kw_only=True)
class KerasNetwork(Supervised):
    """`network` is called with the run's phase as `training`; what its layers update belongs to a training step, what they
    add to the loss to the objective. It is trained by the run's optimizer, and needs no `compile`.

    Copies of the model in one graph (towers) are calls of one network. What layers of Keras draw at random (dropout) a
    resumed run does not draw again: a model that is to resume to the bit asks `phase` for its numbers.
    """

    @abstractmethod
    def network(self, spec: Spec) -> Any:
        """A `tf.keras.Model`, or a layer, from features [rows, spec.width] to [rows, 1], or scores [rows, spec.classes]."""

    def outputs(self, features: tf.Tensor, spec: Spec) -> tf.Tensor:
        made, scope = _Made.of_graph(), tf.get_variable_scope().name
        if scope not in made.networks:
            with tf.name_scope(
                f"{scope}/"
            ):  # and not below a tower's: variables have the same names however they are trained
                made.networks[scope] = self.network(spec)
                if not made.networks[scope].built:
                    made.networks[scope].build((None, spec.width))
        network = made.networks[scope]
        outputs = network(features, training=phase.training())
        for update in network.get_updates_for(features):
            tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, update)
        made.losses[outputs.name] = [*network.get_losses_for(None), *network.get_losses_for(features)]
        return outputs

    def loss(self, outputs: tf.Tensor, labels: tf.Tensor, spec: Spec) -> tf.Tensor:
        return tf.add_n([super().loss(outputs, labels, spec), *_Made.of_graph().losses[outputs.name]])
