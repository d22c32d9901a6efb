"""Steps computed at once, under a tape: in eager execution there is no graph to prepare. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfexp.core import log, nest
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.tape import GradientTape
from tfexp.keras.engine.node import as_called_with, masks_of
from tfexp.keras.training.arrays import as_tensor, as_value
from tfexp.keras.training.objective import NOTHING_TO_MINIMIZE, Objective, objective
from tfexp.keras.training.outputs import Output
from tfexp.keras.training.steps import PREDICT, TRAIN, Step, Weighted, results_of_layers


class EagerSteps:
    """Calls the model on each batch; gradients by a tape."""

    def __init__(self, model: Any, outputs: Sequence[Output], trainable: Mapping[Any, bool] | None = None):
        """trainable: whether each layer was so when the model was compiled, which holds whatever is said of it later."""
        self._model = model
        self._trainable = dict(trainable or {})
        self.outputs = list(outputs)
        self._trained: list[Any] | None = None

    def function(self, mode: str, weighted: Weighted) -> Step:
        return lambda values: self._step(mode, weighted, values)

    def check(self, weighted: Weighted) -> None:
        """ValueError where there is nothing to minimize. Of a model that is called in each step only these can tell."""
        if self._model.run_eagerly:
            return
        if all(output.loss is None for output in self.outputs) and not self._model.has_losses:
            raise ValueError(NOTHING_TO_MINIMIZE.format("compiled"))

    def _step(self, mode: str, weighted: Weighted, values: list[Any]) -> list[Any]:
        model, count = self._model, len(self._model.input_names)
        inputs = [as_tensor(value) for value in values[:count]]
        if mode == PREDICT:
            return [as_value(prediction) for prediction in nest.flatten(_called(model, inputs, training=False))]
        rest = iter(values[count:])
        targets = [next(rest) if output.loss is not None else None for output in self.outputs]
        weights = [
            next(rest) if has_weights and output.loss is not None else None
            for output, has_weights in zip(self.outputs, weighted, strict=True)
        ]
        if mode == TRAIN:
            with GradientTape() as tape:
                built = self._objective(inputs, targets, weights, training=True)
            if trained := self._trained_weights():
                model.optimizer.apply_gradients(zip(tape.gradient(built.total_loss, trained), trained, strict=True))
        else:
            built = self._objective(inputs, targets, weights, training=False)
        return [value.numpy() for value in (built.total_loss, *built.results, *results_of_layers(model))]

    def _trained_weights(self) -> list[Any]:
        """What is trained; with `run_eagerly` a layer may have got further weights since the last step."""
        if self._trained is None or self._model.run_eagerly:
            now = self._model._get_trainable_state()
            self._model._set_trainable_state(self._trainable)
            try:
                self._trained = self._model._unique_trainable_weights
            finally:
                self._model._set_trainable_state(now)
            if not self._trained:
                log.warn(
                    "The list of trainable weights is empty. Make sure that you are not setting model.trainable to False "
                    "before compiling the model."
                )
        return self._trained

    def _objective(self, inputs: list[Any], targets: list[Any], weights: list[Any], training: bool) -> Objective:
        predictions = nest.flatten(_called(self._model, inputs, training))
        as_predicted = [
            None if target is None else convert_to_tensor(target.astype(prediction.dtype.as_numpy_dtype, copy=False))
            for target, prediction in zip(targets, predictions, strict=True)
        ]
        masks = masks_of(predictions)
        return objective(self.outputs, predictions, masks, as_predicted, weights, self._model.losses_of_last_call)


def _called(model: Any, inputs: list[Any], training: bool) -> Any:
    """A model takes its inputs as it was first given them; `training` it takes if its `call` does."""
    return model(as_called_with(model, inputs), training=training)
