"""`Model`: a network that can be trained. Source: `tf.keras.Model`, TF 1.15."""

from __future__ import annotations

from tfexp.keras.engine.network import Network
from tfexp.keras.training.training import Training
from tfexp.keras.training.training_views import TrainingViews


class Model(Training, TrainingViews, Network):
    """`Model(inputs, outputs, name)`, or a subclass with layers in its attributes and a `call` that joins them."""

    _object_identifier = "_tf_keras_model"
