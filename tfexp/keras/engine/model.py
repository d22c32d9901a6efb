"""`Model`: a network that can be trained. Source: `tf.keras.Model`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.keras.engine.network import Network
from tfexp.keras.engine.served import model_functions
from tfexp.keras.training.training import Training
from tfexp.keras.training.training_views import TrainingViews


class Model(Training, TrainingViews, Network):
    """`Model(inputs, outputs, name)`, or a subclass with layers in its attributes and a `call` that joins them."""

    _object_identifier = "_tf_keras_model"

    def _functions_to_save(self) -> dict[str, Any]:
        return model_functions(self) if self.inputs else {}
