"""`tensorflow.python.keras.models`: copies of models that are compiled as the originals are. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import nest
from tfexp.keras.engine.cloning import clone_model
from tfexp.keras.engine.sequential import Sequential
from tfexp.keras.optimizers.wrapped import TFOptimizer
from tfexp.keras.serialization import custom_object_scope
from tfexp.keras.training.feeding import as_inputs_of


def clone_and_build_model(
    model: Any,
    input_tensors: Any = None,
    target_tensors: Any = None,
    custom_objects: Any = None,
    compile_clone: bool = True,
    in_place_reset: bool = False,
    optimizer_iterations: Any = None,
    optimizer_config: Any = None,
) -> Any:
    """A copy of a model with variables of its own, on `input_tensors` if given, compiled like it.

    A subclass needs `get_config` and `from_config`: there is no reset in place. ValueError: it lacks them, or the model was
    not compiled.
    optimizer_iterations: the variable that counts the copy's steps. optimizer_config: in the place of the optimizer's own.
    """
    if compile_clone and not model.optimizer:
        raise ValueError(
            "Error when cloning model: compile_clone was set to True, but the original model has not been compiled."
        )
    with custom_object_scope(custom_objects or {}):
        clone = _copy(model, input_tensors)
    if compile_clone:
        clone.compile(
            optimizer=_optimizer_like(model.optimizer, optimizer_iterations, optimizer_config),
            loss=model.loss,
            metrics=model._compile_metrics,
            loss_weights=model.loss_weights,
            sample_weight_mode=model.sample_weight_mode,
            weighted_metrics=model._compile_weighted_metrics,
            target_tensors=target_tensors,
        )
    return clone


def _copy(model: Any, input_tensors: Any) -> Any:
    if model._is_graph_network:
        return clone_model(model, input_tensors)
    if isinstance(model, Sequential):
        clone = clone_model(model, input_tensors)
        if input_tensors is None and model._built_shape is not None:
            clone.build(model._built_shape)
        return clone
    try:
        clone = type(model).from_config(model.get_config())
    except NotImplementedError as error:
        raise ValueError(
            "This model is a subclassed model. Such a model cannot be cloned unless its class has `get_config` and "
            "`from_config`."
        ) from error
    if input_tensors is not None:
        as_inputs_of(clone, nest.flatten(input_tensors))
    return clone


def _optimizer_like(optimizer: Any, iterations: Any, config: Any) -> Any:
    if isinstance(optimizer, TFOptimizer):
        return TFOptimizer(optimizer.optimizer, iterations)
    made = type(optimizer).from_config(config or optimizer.get_config())
    if iterations is not None:
        made.iterations = iterations
    return made
