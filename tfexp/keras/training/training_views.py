"""What programs and tests written for TensorFlow 1.15 read of models beneath the public names: views of what is known."""

from __future__ import annotations

from typing import Any

from tfexp.keras.engine.node import shape_of
from tfexp.keras.training.compiled import Compiled
from tfexp.keras.training.feeding import fed_inputs, know_inputs
from tfexp.keras.training.outputs import Output


class TrainingViews:
    """Nothing here is kept or decided. What `compile` decides is an AttributeError before it has."""

    _compiled: Compiled | None
    input_names: list[str]
    inputs: list[Any]

    def _set_inputs(self, inputs: Any, outputs: Any = None, training: Any = None) -> None:
        """Tell a model that says in `call` what it computes what its inputs are like: data, or TensorSpecs.

        outputs, training: not used, as calling the model gives the outputs, and its learning phase is fed.
        """
        know_inputs(self, inputs)

    # --- inputs ---------------------------------------------------------------------------------------------------------

    @property
    def _feed_inputs(self) -> list[Any]:
        """The placeholders that take data."""
        return [tensor for _, tensor in fed_inputs(self)]

    @property
    def _feed_input_names(self) -> list[str]:
        return [name for name, _ in fed_inputs(self)]

    @property
    def _feed_input_shapes(self) -> list[Any]:
        return [shape_of(tensor) for _, tensor in fed_inputs(self)]

    # --- what was compiled ----------------------------------------------------------------------------------------------

    @property
    def _is_compiled(self) -> bool:
        return self._compiled is not None

    @property
    def _decided(self) -> Compiled:
        if self._compiled is None:
            raise AttributeError("The model was not compiled")
        return self._compiled

    @property
    def _prepared(self) -> Compiled:
        if not self._decided.prepared:
            raise AttributeError("The model has not yet seen data by which its outputs are known")
        return self._decided

    @property
    def _fed_outputs(self) -> list[Output]:
        """The outputs that are trained on values which come with the data."""
        return [output for output in self._prepared.outputs if output.loss is not None and output.fed]

    @property
    def _compile_metrics(self) -> Any:
        """The metrics as they were given to `compile`."""
        return self._decided.given_metrics

    @property
    def _compile_weighted_metrics(self) -> Any:
        return self._decided.given_weighted_metrics

    @property
    def _compile_metric_functions(self) -> list[Any]:
        """The metrics of all outputs, as objects."""
        return self._prepared.metrics

    @property
    def _collected_trainable_weights(self) -> list[Any]:
        """What is trained: what was trainable when the model was compiled."""
        return self._prepared.trained

    @property
    def loss_functions(self) -> list[Any]:
        """The loss of each output; None for one that is not trained on."""
        return [output.loss for output in self._prepared.outputs]

    @property
    def _loss_weights_list(self) -> list[Any]:
        return [output.loss_weight for output in self._prepared.outputs]

    @property
    def _output_loss_metrics(self) -> list[Any]:
        """The means of the losses of several outputs."""
        return self._prepared.loss_metrics

    @property
    def _sample_weight_modes(self) -> list[str | None]:
        return [output.weight_mode for output in self._prepared.outputs]

    @property
    def _targets(self) -> list[Any]:
        """The tensor that each output is compared with."""
        return [output.target for output in self._prepared.outputs]

    @property
    def _feed_targets(self) -> list[Any]:
        return [output.target for output in self._fed_outputs]

    @property
    def _feed_sample_weights(self) -> list[Any]:
        """The placeholders of weights that `compile` announced."""
        return [weight for weight in self._prepared.sample_weights if weight is not None]

    @property
    def _feed_output_names(self) -> list[str]:
        return [output.name for output in self._fed_outputs]

    @property
    def _feed_output_shapes(self) -> list[Any]:
        """The shapes that targets should have; None where only the loss knows."""
        return [output.target_shape for output in self._fed_outputs]

    @property
    def _feed_loss_fns(self) -> list[Any]:
        return [output.loss for output in self._fed_outputs]
