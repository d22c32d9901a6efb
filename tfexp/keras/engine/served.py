"""A model as functions of graphs: what a SavedModel of it has to be called and served by."""

from __future__ import annotations

from typing import Any

from tfexp.functions.function import function
from tfexp.graph.tensor import Tensor
from tfexp.graph.type_spec import TensorSpec
from tfexp.keras.engine.node import as_called_with


def model_functions(model: Any) -> dict[str, Any]:
    """The model as a function of its inputs and of `training`, traced for both, and its default signature, by names."""
    specs = [TensorSpec(t.shape, t.dtype, name) for name, t in zip(model.input_names, model.inputs, strict=True)]

    def call(inputs: Any, training: bool = False) -> Any:
        return model(inputs, training=training)

    def serve(*inputs: Tensor) -> dict[str, Tensor]:
        outputs = model(as_called_with(model, list(inputs)), training=False)
        listed = outputs if isinstance(outputs, (list, tuple)) else [outputs]
        return dict(zip(model.output_names, listed, strict=True))

    called = function(call, autograph=False)
    for training in (False, True):
        called.get_concrete_function(as_called_with(model, specs), training=training)
    return {"__call__": called, "_default_save_signature": function(serve, input_signature=specs, autograph=False)}
