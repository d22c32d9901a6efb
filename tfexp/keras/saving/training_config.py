"""What `compile` was given, as JSON has it in a model's file, and back."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from tfexp.graph.scopes import executing_eagerly, name_scope
from tfexp.keras import losses, metrics, optimizers
from tfexp.keras.engine.model_text import plain
from tfexp.keras.serialization import serialize_keras_object


def as_json(value: Any) -> Any:
    """What `json.dumps` writes for objects with a configuration, besides what models have."""
    if hasattr(value, "get_config") and not inspect.isclass(value):
        return serialize_keras_object(value)
    return plain(value)


def training_config(model: Any) -> dict[str, Any]:
    """How a compiled model is trained: everything but what the optimizer has learnt by now."""
    return {
        "loss": model.loss,
        "metrics": model._compile_metrics,
        "weighted_metrics": model._compile_weighted_metrics,
        "sample_weight_mode": model.sample_weight_mode,
        "loss_weights": model.loss_weights,
        "optimizer_config": serialize_keras_object(model.optimizer),
    }


def compile_arguments(config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The keywords of `compile` for a configuration that was read."""
    custom = dict(custom_objects or {})
    return {
        "optimizer": optimizers.deserialize(config["optimizer_config"], custom_objects=custom),
        "loss": _objects(config["loss"], custom, losses.deserialize),
        "metrics": _objects(config["metrics"], custom, metrics.deserialize),
        "weighted_metrics": _objects(config.get("weighted_metrics"), custom, metrics.deserialize),
        "sample_weight_mode": config["sample_weight_mode"],
        "loss_weights": config["loss_weights"],
    }


def make_optimizer_variables(model: Any) -> None:
    """Makes the optimizer's variables for a model that was compiled, so that they can be given values."""
    if executing_eagerly():
        with name_scope(model.optimizer._name):
            model.optimizer._create_all_weights(model._unique_trainable_weights)
    else:
        model._make_train_function()


def _objects(config: Any, custom: dict[str, Any], deserialize: Callable[..., Any]) -> Any:
    """A structure of names and configurations: custom names and configurations become objects, other names stay."""
    if isinstance(config, str):
        return custom.get(config, config)
    if isinstance(config, list):
        return [_objects(one, custom, deserialize) for one in config]
    if isinstance(config, dict):
        if set(config) == {"class_name", "config"}:
            return deserialize(config, custom_objects=custom)
        return {name: _objects(one, custom, deserialize) for name, one in config.items()}
    return config
