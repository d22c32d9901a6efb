"""`tensorflow.python.keras.saving.saving_utils`: models as functions and as dictionaries. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import nest
from tfexp.functions.function import function
from tfexp.graph.type_spec import TensorSpec
from tfexp.keras.engine.model_text import KERAS_VERSION
from tfexp.keras.optimizers.wrapped import TFOptimizer
from tfexp.keras.saving.overwriting import may_write as should_overwrite
from tfexp.keras.saving.training_config import compile_arguments as compile_args_from_training_config
from tfexp.keras.saving.training_config import training_config

__all__ = ["compile_args_from_training_config", "should_overwrite"]


def extract_model_metrics(model: Any) -> dict[str, Any] | None:
    """The metrics of a compiled model by name; None where it has none."""
    if not getattr(model, "_compile_metrics", None):
        return None
    return {metric.name: metric for metric in model.metrics}


def model_input_signature(model: Any) -> list[Any] | None:
    """A list with the TensorSpecs of the inputs, in their structure, of any batch size; None where they are not known."""
    if not getattr(model, "inputs", None):
        return None
    flat = [
        TensorSpec([None, *tensor.shape.as_list()[1:]], tensor.dtype, name)
        for tensor, name in zip(nest.flatten(model.inputs), nest.flatten(model.input_names), strict=True)
    ]
    specs = nest.pack_sequence_as(model.inputs, flat)
    return specs if isinstance(specs, list) and len(specs) == 1 else [specs]


def trace_model_call(model: Any, input_signature: Any = None) -> Any:
    """A `tf.function` of the model's inputs that gives its outputs by name. ValueError where the inputs are not known."""
    signature = input_signature or getattr(model.call, "input_signature", None) or model_input_signature(model)
    if signature is None:
        raise ValueError(
            f"Model {model} cannot be saved because the input shapes have not been set. Usually, input shapes are "
            "automatically determined from calling .fit() or .predict(). To manually set the shapes, call "
            "model._set_inputs(inputs)."
        )

    @function(input_signature=signature, autograph=False)
    def wrapped_model(*args: Any) -> dict[str, Any]:
        outputs = nest.flatten(model(args[0] if len(args) == 1 else list(args), training=False))
        names = getattr(model, "output_names", None) or [f"output_{number}" for number in range(1, len(outputs) + 1)]
        return dict(zip(names, outputs, strict=True))

    return wrapped_model


def model_metadata(model: Any, include_optimizer: bool = True, require_config: bool = True) -> dict[str, Any]:
    """What a model's file tells of it besides values. NotImplementedError without a config, if one is required."""
    described: dict[str, Any] = {"class_name": type(model).__name__}
    try:
        described["config"] = model.get_config()
    except NotImplementedError:
        if require_config:
            raise
    made = {"keras_version": KERAS_VERSION, "backend": "tensorflow", "model_config": described}
    keras_optimizer = getattr(model, "optimizer", None) is not None and not isinstance(model.optimizer, TFOptimizer)
    return {**made, "training_config": training_config(model)} if include_optimizer and keras_optimizer else made
