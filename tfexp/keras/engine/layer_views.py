"""What programs and tests written for TensorFlow 1.15 read of layers beneath the public names: views of what is known."""

from __future__ import annotations

from typing import Any

from tfexp.graph.eager_tensor import EagerTensor
from tfexp.keras.engine.connected import Connected
from tfexp.keras.engine.weights import each_once
from tfexp.keras.mixed_precision.policy import Policy


class LayerViews(Connected):
    """Nothing here is kept or decided: all is asked of the layer when it is read."""

    _casts_inputs: bool

    def _call_parameters(self) -> tuple[list[str], bool]:
        raise NotImplementedError

    def _scope_name(self) -> str:
        raise NotImplementedError

    def _name_scope(self) -> str:
        """The name scope that a call opens."""
        return self._scope_name()

    @property
    def _call_fn_args(self) -> list[str]:
        """The names of the arguments of `call`."""
        return list(self._call_parameters()[0])

    @property
    def _call_accepts_kwargs(self) -> bool:
        return self._call_parameters()[1]

    @property
    def _expects_training_arg(self) -> bool:
        return "training" in self._call_fn_args or self._call_accepts_kwargs

    @property
    def _expects_mask_arg(self) -> bool:
        return "mask" in self._call_fn_args or self._call_accepts_kwargs

    @property
    def _autocast(self) -> bool:
        """Whether float inputs are cast to the type that it computes in."""
        return self._casts_inputs

    @property
    def _compute_dtype(self) -> str | None:
        return self._policy.compute_dtype

    @property
    def _dtype_policy(self) -> Policy:
        return self._policy

    @property
    def _unique_trainable_weights(self) -> list[Any]:
        """`trainable_weights`, each the first time that it comes."""
        return each_once(self.trainable_weights)

    @property
    def _eager_losses(self) -> list[Any]:
        """What `add_loss` was given in the last call in eager execution."""
        return [loss for loss, _ in self._losses if isinstance(loss, EagerTensor)]

    @property
    def _callable_losses(self) -> list[Any]:
        """The losses of its own that are functions without arguments."""
        return self.losses_of_weights()

    def _gather_children_attribute(self, attribute: str) -> list[Any]:
        """What the layers inside have under a name, joined."""
        return [one for layer in self._inner_layers for one in getattr(layer, attribute)]

    def _get_trainable_state(self) -> dict[Any, bool]:
        """Whether it and each layer inside, at any depth, is trainable."""
        state = {self: self.trainable}
        for layer in self._inner_layers:
            state.update(layer._get_trainable_state())
        return state

    def _set_trainable_state(self, trainable_state: dict[Any, bool]) -> None:
        """Makes it and the layers inside as trainable as a state says; those that it lacks stay as they are."""
        for layer in self._get_trainable_state():
            if layer in trainable_state:
                layer._own_trainable = trainable_state[layer]
