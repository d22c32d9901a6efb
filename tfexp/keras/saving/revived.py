"""Layers and models that are made of the functions of a SavedModel, without their classes.

They have the names, attributes and variables of those that were saved. Source: `tf.keras.models.load_model`, TF 1.15.
"""

from __future__ import annotations

import contextlib
from typing import Any

from tfexp.core import nest
from tfexp.graph.control_flow import cond
from tfexp.keras import backend, regularizers
from tfexp.keras.engine.base_layer import Layer
from tfexp.keras.engine.input_spec import InputSpec
from tfexp.keras.engine.model import Model
from tfexp.keras.engine.sequential import Sequential
from tfexp.keras.saving.tensorflow_metadata import metadata_by_object
from tfexp.keras.serialization import UnknownObjectError
from tfexp.keras.training.feeding import as_inputs_of
from tfexp.ops.trackable import NoDependency
from tfexp.train.object_models.loading import Restored, load_objects

# What a SavedModel has beside the attributes that the object had: views of these, functions, how it is trained.
_BESIDE = {
    "variables",
    "trainable_variables",
    "non_trainable_variables",
    "layers",
    "metrics",
    "losses",
    "regularization_losses",
    "optimizer",
    "__call__",
    "call_and_return_conditional_losses",
    "call_and_return_all_conditional_losses",
    "_default_save_signature",
    "_callable_losses",
}


class RevivedLayer(Layer, Restored):
    """A layer that calls the function which was traced of it, in training or not."""

    _restored: Any = None  # the functions
    _saved_config: dict[str, Any] | None = None

    def __init__(self, saved: dict[str, Any]):
        super().__init__(name=saved["name"], trainable=saved["trainable"], dtype=saved.get("dtype"))
        self.input_spec = _spec_of(saved.get("input_spec"))
        self._begin_revived(saved)

    def _begin_revived(self, saved: dict[str, Any]) -> None:
        with contextlib.suppress(UnknownObjectError):  # then there is its function
            self._activity_regularizer = regularizers.get(saved.get("activity_regularizer"))
        vars(self)["_saved_config"] = saved.get("config")
        arguments = ["inputs", "training"] if saved["expects_training_arg"] else ["inputs"]
        vars(self)["_known_call_parameters"] = (arguments, False)
        self.built = True

    def take_parts(self, parts: dict[str, Any]) -> None:
        for name, part in parts.items():
            if name == "keras_api":
                self._restored = NoDependency(part)
                if self._activity_regularizer is None:
                    self._activity_regularizer = NoDependency(getattr(part, "activity_regularizer_fn", None))
                for loss in getattr(part, "layer_regularization_losses", ()):
                    self.add_loss(lambda loss=loss: loss())
            elif name not in _BESIDE:
                setattr(self, name, part)

    @property
    def restored_call(self) -> Any:
        """(outputs, losses) of inputs and, if the layer takes it, of `training`. NotImplementedError: none was saved."""
        found = getattr(self._restored, "call_and_return_conditional_losses", None)
        if found is None:
            raise NotImplementedError(f"The SavedModel has no function of the layer {self.name}: it was never called")
        return found

    def call(self, inputs: Any, training: Any = None) -> Any:
        outputs, losses = self._outputs_and_losses(inputs, training)
        self.add_loss(losses, inputs=inputs)
        return outputs

    def _outputs_and_losses(self, inputs: Any, training: Any) -> Any:
        function = self.restored_call
        if not self._takes("training"):
            return function(inputs)
        phase = backend.learning_phase() if training is None else training
        if isinstance(phase, (bool, int)):
            return function(inputs, bool(phase))
        leaves = cond(
            phase, lambda: nest.flatten(function(inputs, True)), lambda: nest.flatten(function(inputs, False)), strict=True
        )
        return nest.pack_sequence_as(function.concrete_functions[0].structured_outputs, leaves)

    def get_config(self) -> dict[str, Any]:
        """What was saved; NotImplementedError where that was nothing."""
        if self._saved_config is None:
            raise NotImplementedError(f"{type(self).__name__} was saved without a configuration")
        return dict(self._saved_config)


class RevivedModel(RevivedLayer, Model):  # type: ignore[misc]  # no mask comes to `call`: it is not among its parameters
    """A model that calls the function which was traced of it."""

    def __init__(self, saved: dict[str, Any]):
        Model.__init__(self, name=saved["name"], trainable=saved["trainable"], dtype=saved.get("dtype"))
        self._begin_revived(saved)


class RevivedSequential(RevivedModel, Sequential):  # type: ignore[misc]
    """A Sequential that calls the function which was traced of it; its layers are those that were saved in it."""

    compute_mask = Model.compute_mask  # the function knows no masks

    @property
    def layers(self) -> list[Any]:
        return list(getattr(self._restored, "layers", ()))  # attributes have what stands for the inputs, too


def _spec_of(saved: Any) -> Any:
    """What inputs must be: one specification or several."""
    if isinstance(saved, (list, tuple)):
        return [_spec_of(one) for one in saved]
    return None if saved is None else InputSpec.from_config(saved["config"])


_BASES = {
    "_tf_keras_network": RevivedModel,
    "_tf_keras_model": RevivedModel,
    "_tf_keras_sequential": RevivedSequential,
}


def revived_model(path: str) -> Any:
    """The model in a SavedModel's folder, with the inputs that it was saved for."""
    metadata = metadata_by_object(path)

    def revive(number: int, identifier: str) -> Restored | None:
        _, saved = metadata.get(number, (identifier, None))
        if saved is None or "expects_training_arg" not in saved:
            return None
        base = _BASES.get(identifier, RevivedLayer)
        made: Restored = type(str(saved["class_name"]), (base,), {})(saved)
        return made

    model = load_objects(path, None, revive)
    (inputs, *_), _ = model.restored_call.concrete_functions[0].structured_input_signature
    specs = enumerate(nest.flatten(inputs), 1)
    as_inputs_of(
        model, [backend.placeholder(spec.shape, dtype=spec.dtype, name=f"input_{number}") for number, spec in specs]
    )
    return model
