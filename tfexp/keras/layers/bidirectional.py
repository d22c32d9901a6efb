"""`tf.keras.layers.Bidirectional` (https://ieeexplore.ieee.org/document/650093). Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import nest
from tfexp.core.shape import TensorShape
from tfexp.graph.scopes import name_scope
from tfexp.keras.engine.base_layer import Layer
from tfexp.keras.engine.node import is_keras_tensor
from tfexp.keras.engine.shapes import as_tensor_shapes, is_shape
from tfexp.keras.layers.arguments import takes
from tfexp.keras.layers.recurrent import as_sequence, spec_of, standardize_args
from tfexp.keras.layers.serialization import deserialize
from tfexp.keras.layers.wrappers import Wrapper
from tfexp.keras.serialization import custom_object_scope, serialize_keras_object
from tfexp.ops.array_join import concat
from tfexp.ops.array_order import reverse

_MERGE_MODES = ("sum", "mul", "ave", "concat", None)


class Bidirectional(Wrapper):
    """A recurrent layer over the steps as they come, and another, by default of the same config, over them in reverse.

    merge_mode: sum, mul, ave or concat of the two outputs, which are in the steps' order; None for both. The states, to
    start from (`initial_state`) and given back, are the forward layer's and then the other's.
    """

    def __init__(
        self, layer: Any, merge_mode: str | None = "concat", weights: Any = None, backward_layer: Any = None, **kwargs: Any
    ):
        if not isinstance(layer, Layer):
            raise ValueError(f"Please initialize `Bidirectional` layer with a `Layer` instance. You passed: {layer}")
        if not hasattr(layer, "go_backwards"):
            raise ValueError(f"`Bidirectional` needs a recurrent layer, that has `go_backwards`. Received: {layer}")
        if backward_layer is not None and not isinstance(backward_layer, Layer):
            raise ValueError(f"`backward_layer` need to be a `Layer` instance. You passed: {backward_layer}")
        if merge_mode not in _MERGE_MODES:
            raise ValueError(
                'Invalid merge mode. Merge mode should be one of {"sum", "mul", "ave", "concat", None}. '
                f"Received: {merge_mode}"
            )
        super().__init__(layer, weights=weights, **kwargs)
        layer = self.layer
        self.forward_layer = _anew(layer, go_backwards=layer.go_backwards)
        self._backward_config = None
        if backward_layer is None:
            self.backward_layer = _anew(layer, go_backwards=not layer.go_backwards)
        else:
            self.backward_layer, self._backward_config = backward_layer, serialize_keras_object(backward_layer)
        self._layers = [self.forward_layer, self.backward_layer]  # which TensorFlow's checkpoints have besides
        self.forward_layer._name = f"forward_{self.forward_layer.name}"
        self.backward_layer._name = f"backward_{self.backward_layer.name}"
        self._check_layers()
        self.merge_mode = merge_mode
        self.stateful = layer.stateful
        self.return_sequences, self.return_state = layer.return_sequences, layer.return_state
        for inner in (self.forward_layer, self.backward_layer):
            if hasattr(inner, "zero_output_for_mask"):
                # What a mask hides is repeated otherwise, and would be merged with what the other layer gives there.
                inner.zero_output_for_mask = self.return_sequences
        self._num_constants: int | None = None
        self.input_spec = layer.input_spec

    @property
    def layer(self) -> Any:
        """What was given. It is a pattern: what runs, and has variables, are two others."""
        return self._pattern[0]()

    @layer.setter
    def layer(self, layer: Any) -> None:
        self._pattern = (lambda: layer,)  # not kept as an attribute, which would make it a part

    def _check_layers(self) -> None:
        forward, backward = self.forward_layer, self.backward_layer
        if forward.go_backwards == backward.go_backwards:
            raise ValueError(
                "Forward layer and backward layer should have different `go_backwards` value. "
                f"forward_layer.go_backwards = {forward.go_backwards}, backward_layer.go_backwards = {backward.go_backwards}"
            )
        for attribute in ("stateful", "return_sequences", "return_state"):
            mine, other = getattr(forward, attribute), getattr(backward, attribute)
            if mine != other:
                raise ValueError(
                    "Forward layer and backward layer are expected to have the same value for attribute "
                    f"{attribute}, got {mine} and {other}"
                )

    # --- building -----------------------------------------------------------------------------------------------------

    def build(self, input_shape: Any = None) -> None:
        for layer in (self.forward_layer, self.backward_layer):
            with name_scope(layer.name):
                layer.build(input_shape)
                layer.built = True
        self.built = True

    def compute_output_shape(self, input_shape: Any) -> Any:
        found = as_tensor_shapes(self.forward_layer.compute_output_shape(input_shape))
        output, states = (found[0], list(found[1:])) if self.return_state else (found, [])
        if self.merge_mode == "concat":
            sizes: list[Any] = TensorShape(output).as_list()
            output = TensorShape([*sizes[:-1], sizes[-1] * 2])
        outputs = [output, output] if self.merge_mode is None else [output]
        if not self.return_state:
            return outputs if self.merge_mode is None else output
        return [*outputs, *states, *states]

    # --- calling ------------------------------------------------------------------------------------------------------

    def __call__(self, inputs: Any, initial_state: Any = None, constants: Any = None, **kwargs: Any) -> Any:
        inputs, initial_state, constants = standardize_args(inputs, initial_state, constants, self._num_constants)
        if initial_state is None and constants is None:
            return super().__call__(inputs, **kwargs)
        states = [] if initial_state is None else list(nest.flatten(initial_state))
        if len(states) % 2:
            raise ValueError(
                "When passing `initial_state` to a Bidirectional RNN, the state should be a list containing the states of "
                f"the underlying RNNs. Found: {initial_state}"
            )
        constants = [] if constants is None else list(nest.flatten(constants))
        further = [*states, *constants]
        half = len(states) // 2
        if states:
            self.forward_layer.state_spec = [spec_of(state) for state in states[:half]]
            self.backward_layer.state_spec = [spec_of(state) for state in states[half:]]
        if constants:
            self._num_constants = len(constants)
            self.forward_layer._num_constants = self.backward_layer._num_constants = len(constants)
        are_keras = [is_keras_tensor(tensor) for tensor in further]
        if any(are_keras) != all(are_keras):
            raise ValueError(
                "The initial state of a Bidirectional layer cannot be specified with a mix of Keras tensors and non-Keras "
                'tensors (a "Keras tensor" is a tensor that was returned by a Keras layer, or by `Input`)'
            )
        if not all(are_keras):
            return super().__call__(inputs, initial_state=states or None, constants=constants or None, **kwargs)
        # As inputs, they are part of a model.
        own_spec = self.input_spec
        self.input_spec = [*_as_list(own_spec), *map(spec_of, further)] if own_spec is not None else None
        try:
            return super().__call__([inputs, *further], **kwargs)
        finally:
            self.input_spec = own_spec

    def call(
        self, inputs: Any, training: Any = None, mask: Any = None, initial_state: Any = None, constants: Any = None
    ) -> Any:
        inputs, initial_state, constants = standardize_args(inputs, initial_state, constants, self._num_constants)
        if isinstance(mask, (list, tuple)):
            mask = mask[0]
        half = 0 if initial_state is None else len(initial_state) // 2
        found = []
        for layer, part in ((self.forward_layer, slice(None, half)), (self.backward_layer, slice(half, None))):
            given = {"training": training, "mask": mask}
            kwargs = {name: value for name, value in given.items() if value is not None and takes(layer.call, name)}
            if half:
                kwargs["initial_state"] = initial_state[part]
            if constants is not None:
                kwargs["constants"] = constants
            found.append(layer(inputs, **kwargs))
        forward, backward = found
        states = []
        if self.return_state:
            states = [*forward[1:], *backward[1:]]
            forward, backward = forward[0], backward[0]
        if self.return_sequences:
            backward = reverse(backward, [0 if getattr(self.forward_layer, "time_major", False) else 1])
        outputs = self._merged(forward, backward)
        if not self.return_state:
            return outputs
        return [*as_sequence(outputs), *states]

    def _merged(self, forward: Any, backward: Any) -> Any:
        if self.merge_mode == "concat":
            return concat([forward, backward], axis=-1)
        if self.merge_mode == "sum":
            return forward + backward
        if self.merge_mode == "ave":
            return (forward + backward) / 2
        if self.merge_mode == "mul":
            return forward * backward
        return [forward, backward]

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        if isinstance(mask, (list, tuple)):
            mask = mask[0]
        kept = mask if self.return_sequences else None
        outputs = [kept, kept] if self.merge_mode is None else kept
        if not self.return_state:
            return outputs
        count = len(_as_list(self.forward_layer.cell.state_size))
        return [*as_sequence(outputs), *[None] * (2 * count)]

    # --- states and configs -------------------------------------------------------------------------------------------

    def reset_states(self) -> None:
        """Both layers start from zeros again."""
        self.forward_layer.reset_states()
        self.backward_layer.reset_states()

    @property
    def constraints(self) -> dict[Any, Any]:
        """What both layers have by this name, put together: no layer of Keras's has anything, but those of others may."""
        found: dict[Any, Any] = {}
        for layer in (self.forward_layer, self.backward_layer):
            found.update(getattr(layer, "constraints", {}))
        return found

    def get_config(self) -> dict[str, Any]:
        config = {**super().get_config(), "merge_mode": self.merge_mode}
        if self._num_constants is not None:
            config["num_constants"] = self._num_constants
        if self._backward_config is not None:
            config["backward_layer"] = self._backward_config
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        config = dict(config)
        count, backward = config.pop("num_constants", None), config.pop("backward_layer", None)
        if backward is not None:
            config["backward_layer"] = deserialize(backward, custom_objects=custom_objects)
        layer = cls(deserialize(config.pop("layer"), custom_objects=custom_objects), **config)
        layer._num_constants = count
        return layer


def _anew(layer: Any, go_backwards: bool) -> Any:
    """Another of the same config, so that it shares nothing with the layer."""
    cell = getattr(layer, "cell", None)
    classes = {type(one).__name__: type(one) for one in (cell, *getattr(cell, "cells", ()))}
    with custom_object_scope(classes):  # cells of one's own are found without being told
        return type(layer).from_config({**layer.get_config(), "go_backwards": go_backwards})


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) and not is_shape(value) else [value]
