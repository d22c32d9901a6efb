"""How a Keras model learns. Source: `tf.keras.optimizers`, TF 1.15 (its OptimizerV2 family)."""

from typing import Any

from tfexp.keras.optimizers.adagrad import Adadelta as Adadelta
from tfexp.keras.optimizers.adagrad import Adagrad as Adagrad
from tfexp.keras.optimizers.adam import Adam as Adam
from tfexp.keras.optimizers.adam import Adamax as Adamax
from tfexp.keras.optimizers.ftrl import Ftrl as Ftrl
from tfexp.keras.optimizers.gradient_descent import SGD as SGD
from tfexp.keras.optimizers.loss_scaled import LossScaleOptimizer as LossScaleOptimizer
from tfexp.keras.optimizers.nadam import Nadam as Nadam
from tfexp.keras.optimizers.older import Optimizer as OlderOptimizer
from tfexp.keras.optimizers.optimizer import Optimizer as Optimizer
from tfexp.keras.optimizers.rmsprop import RMSprop as RMSprop
from tfexp.keras.optimizers.wrapped import TFOptimizer as TFOptimizer
from tfexp.keras.serialization import deserialize_keras_object, serialize_keras_object
from tfexp.train.optimizer import Optimizer as TrainOptimizer

# By names in lower case, as these have always been accepted.
_BY_NAME = {
    kind.__name__.lower(): kind for kind in (Adadelta, Adagrad, Adam, Adamax, Nadam, RMSprop, SGD, Ftrl, LossScaleOptimizer)
}


def serialize(optimizer: Any) -> Any:
    """The class's name and configuration."""
    return serialize_keras_object(optimizer)


def deserialize(config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """The optimizer that a configuration describes. ValueError for unknown ones."""
    if isinstance(config, dict) and str(config.get("class_name")).lower() in _BY_NAME:
        config = {**config, "class_name": config["class_name"].lower()}
    return deserialize_keras_object(config, _BY_NAME, custom_objects, "optimizer")


def get(identifier: Any) -> Any:
    """An optimizer of a name or configuration; one as it is; one of `tf.train`, wrapped. ValueError for anything else."""
    if isinstance(identifier, (Optimizer, OlderOptimizer)):
        return identifier
    if isinstance(identifier, TrainOptimizer):
        return TFOptimizer(identifier)
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if isinstance(identifier, str):
        return deserialize({"class_name": identifier, "config": {}})
    raise ValueError("Could not interpret optimizer identifier:", identifier)


def scaling(optimizer: Any, policy: Any) -> Any:
    """The optimizer with the loss scale of a model's policy, if that has one and the optimizer none."""
    if not isinstance(optimizer, Optimizer) or isinstance(optimizer, LossScaleOptimizer) or policy.loss_scale is None:
        return optimizer
    return LossScaleOptimizer(optimizer, policy.loss_scale)
