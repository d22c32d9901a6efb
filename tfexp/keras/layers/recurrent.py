"""`tf.keras.layers.RNN`: a cell over the steps of sequences. Source: TF 1.15.

A cell has `call(input, states)`, which gives (output, next states), and `state_size`: the depth or shape of the state, or a
structure of these. Recurrent cells of `tf.nn.rnn_cell` will do, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core import nest
from tfexp.core.shape import TensorShape, as_shape
from tfexp.graph.control_flow import cond
from tfexp.keras import backend
from tfexp.keras.backend.recurrence import rnn, swapped
from tfexp.keras.engine.base_layer import Layer
from tfexp.keras.engine.input_spec import InputSpec
from tfexp.keras.engine.shapes import is_shape, map_shapes
from tfexp.keras.layers.arguments import takes
from tfexp.keras.layers.recurrent_cell import RecurrentCell
from tfexp.keras.layers.recurrent_dropout import reset_masks
from tfexp.keras.layers.recurrent_stacked import StackedRNNCells, build_cell, call_of
from tfexp.keras.layers.recurrent_states import flat_sizes, map_sizes, size_shape, zero_states
from tfexp.keras.layers.serialization import deserialize
from tfexp.keras.serialization import serialize_keras_object
from tfexp.ops.array import shape
from tfexp.ops.reduce_composite import count_nonzero

_HOW_TO_TELL = (
    "\n- If using a Sequential model, specify the {what} by passing {first} argument to your first layer."
    "{more}\n- If using the functional API, specify the {what} by passing a {second} argument to your Input layer."
)
_BATCH_UNKNOWN = (
    "If a RNN is stateful, it needs to know its batch size. Specify the batch size of your input tensors: "
    + _HOW_TO_TELL.format(what="batch size", first="a `batch_input_shape`", more="", second="`batch_shape`")
)
_TIME_UNKNOWN = "Cannot unroll a RNN if the time dimension is undefined. " + _HOW_TO_TELL.format(
    what="time dimension",
    first="an `input_shape` or `batch_input_shape`",
    more=" If your first layer is an Embedding, you can also use the `input_length` argument.",
    second="`shape` or `batch_shape`",
)


class RNN(Layer):
    """`cell` (or a list of cells, one above the other) over [batch, time, …], or [time, batch, …] with `time_major`.

    It gives the last output, or with `return_sequences` all; with `return_state` a list of that and the last states.
    go_backwards: from the last step on, and outputs in that order. stateful: a batch begins with the states that the last
    one ended with. unroll: nodes for each step instead of a loop. A call takes `initial_state` and `constants` (tensors that
    the cell's `call` gets at each step), which may be inputs of a model, and a `mask` [batch, time].
    """

    _books = Layer._books | {"_states"}
    cell: Any

    def __init__(
        self,
        cell: Any,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        time_major: bool = False,
        **kwargs: Any,
    ):
        if isinstance(cell, (list, tuple)):
            cell = StackedRNNCells(cell)
        if not hasattr(cell, "call"):
            raise ValueError(f"`cell` should have a `call` method. The RNN was passed: {cell}")
        if not hasattr(cell, "state_size"):
            raise ValueError(
                "The RNN cell should have an attribute `state_size` (tuple of integers, one integer per RNN state). "
                f"The RNN was passed: {cell}"
            )
        self.zero_output_for_mask = kwargs.pop("zero_output_for_mask", False)
        super().__init__(**kwargs)
        self.cell = cell
        self.return_sequences, self.return_state = return_sequences, return_state
        self.go_backwards, self.stateful, self.unroll, self.time_major = go_backwards, stateful, unroll, time_major
        self.supports_masking = True
        self.state_spec: Any = None
        self.constants_spec: Any = None
        self._states: Any = None
        self._num_constants: int | None = None

    # --- shapes and masks -----------------------------------------------------------------------------------------------

    def _batch_and_time(self, dims: Any) -> tuple[Any, Any]:
        return (dims[1], dims[0]) if self.time_major else (dims[0], dims[1])

    def compute_output_shape(self, input_shape: Any) -> Any:
        first = as_shape(_first_shape(input_shape)).as_list()
        batch, time = self._batch_and_time(first)
        sizes = flat_sizes(self.cell.state_size)
        declared = getattr(self.cell, "output_size", None)
        whole_time = [time, batch] if self.time_major else [batch, time]

        def of_output(size: Any) -> TensorShape:
            return TensorShape([*(whole_time if self.return_sequences else [batch]), *size_shape(size).as_list()])

        output = map_sizes(of_output, sizes[0] if declared is None else declared)
        if not self.return_state:
            return output
        states = [TensorShape([batch, *size_shape(size).as_list()]) for size in sizes]
        return [*as_sequence(output), *states]

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        kept = nest.flatten(mask)[0] if self.return_sequences else None
        return [kept, *(None for _ in self.states)] if self.return_state else kept

    def build(self, input_shape: Any) -> None:
        input_shape = _first_shape(input_shape)
        if is_shape(input_shape):
            own = self._spec_of(input_shape)
            self.input_spec = [own] if self.input_spec is None else [own, *self.input_spec[1:]]
        build_cell(self.cell, map_shapes(self._step_shape, input_shape))
        sizes = self._state_sizes()
        if self.state_spec is not None:
            self._check_states(sizes)
        else:
            self.state_spec = [InputSpec(shape=(None, *size_shape(size).as_list())) for size in sizes]
        if self.stateful:
            self.reset_states()
        self.built = True

    def _state_sizes(self) -> list[Any]:
        """The sizes of the states of one example."""
        return flat_sizes(self.cell.state_size)

    def _spec_of(self, shape: Any) -> InputSpec:
        dims = as_shape(shape).as_list()
        batch, time = (1, 0) if self.time_major else (0, 1)
        kept = [None if axis == time or (axis == batch and not self.stateful) else dim for axis, dim in enumerate(dims)]
        return InputSpec(shape=tuple(kept))

    def _step_shape(self, whole: Any) -> tuple[int | None, ...]:
        dims = as_shape(whole).as_list()
        return (self._batch_and_time(dims)[0], *dims[2:])

    def _check_states(self, sizes: list[Any]) -> None:
        specs = nest.flatten(self.state_spec)
        fits = len(specs) == len(sizes) and all(
            TensorShape(spec.shape[1:]).is_compatible_with(size_shape(size)) for spec, size in zip(specs, sizes, strict=True)
        )
        if not fits:
            raise ValueError(
                "An `initial_state` was passed that is not compatible with `cell.state_size`. Received "
                f"`state_spec`={self.state_spec}; however `cell.state_size` is {self.cell.state_size}"
            )

    # --- states ---------------------------------------------------------------------------------------------------------

    @property
    def states(self) -> Any:
        """The states between batches, in a sequence; None for each before there are any."""
        if self._states is None:
            return as_sequence(map_sizes(lambda _: None, self.cell.state_size))
        return self._states

    @states.setter
    def states(self, states: Any) -> None:
        self._states = states

    def get_initial_state(self, inputs: Any) -> Any:
        """The states to start a batch like `inputs` with, in a sequence: what the cell says, or zeros."""
        first = nest.flatten(inputs)[0]
        batch = shape(first)[1 if self.time_major else 0]  # type: ignore[index]
        make = getattr(self.cell, "get_initial_state", None)
        if make is None:
            return as_sequence(zero_states(self.cell.state_size, batch, first.dtype))
        return as_sequence(make(inputs=None, batch_size=batch, dtype=first.dtype))

    def reset_states(self, states: Any = None) -> None:
        """The next batch begins with these states, arrays in the structure of `self.states`; by default the first ones.

        AttributeError for a layer without states between batches, ValueError for states that do not fit.
        """
        if not self.stateful:
            raise AttributeError("Layer must be stateful.")
        spec = None if self.input_spec is None else nest.flatten(self.input_spec)[0]
        batch = None if spec is None or spec.shape is None else self._batch_and_time(spec.shape)[0]
        if not batch:
            raise ValueError(_BATCH_UNKNOWN)
        if self._states is None or states is None:
            first = self._first_values(batch)
        if self._states is None:
            self._states = as_sequence(nest.map_structure(backend.variable, first))
        if states is None:
            values = nest.flatten(first)
        else:
            values = nest.flatten(states)
        kept = nest.flatten(self._states)
        if len(values) != len(kept):
            raise ValueError(
                f"Layer {self.name} expects {len(kept)} states, but it received {len(values)} state values. "
                f"Input received: {states}"
            )
        for index, (value, variable) in enumerate(zip(values, kept, strict=True)):
            expected = tuple(variable.get_shape().as_list())
            if np.shape(value) != expected:
                raise ValueError(
                    f"State {index} is incompatible with layer {self.name}: expected shape={expected}, found "
                    f"shape={np.shape(value)}"
                )
        backend.batch_set_value(list(zip(kept, values, strict=True)))

    def _first_values(self, batch: int) -> Any:
        """Arrays: what the cell starts with."""
        dtype: Any = self.dtype or backend.floatx()
        make = getattr(self.cell, "get_initial_state", None)
        if make is None:
            return map_sizes(lambda size: np.zeros(_dims(batch, size), dtype), self.cell.state_size)
        found = make(inputs=None, batch_size=batch, dtype=dtype)
        return nest.pack_sequence_as(found, backend.batch_get_value(nest.flatten(found)))

    # --- calling --------------------------------------------------------------------------------------------------------

    def __call__(self, inputs: Any, initial_state: Any = None, constants: Any = None, **kwargs: Any) -> Any:
        inputs, initial_state, constants = standardize_args(inputs, initial_state, constants, self._num_constants)
        if initial_state is None and constants is None:
            return super().__call__(inputs, **kwargs)
        further, specs = [], []
        if initial_state is not None:
            self.state_spec = nest.map_structure(spec_of, initial_state)
            further += nest.flatten(initial_state)
            specs += nest.flatten(self.state_spec)
        if constants is not None:
            self.constants_spec = [spec_of(one) for one in constants]
            self._num_constants = len(constants)
            further += constants
            specs += self.constants_spec
        are_keras = [backend.is_keras_tensor(one) for one in further]
        if any(are_keras) != all(are_keras):
            raise ValueError(
                "The initial state or constants of an RNN layer cannot be specified with a mix of Keras tensors and "
                'non-Keras tensors (a "Keras tensor" is a tensor that was returned by a Keras layer, or by `Input`). '
                f"Received: initial_state={initial_state}, constants={constants}"
            )
        if not all(are_keras):
            given = {"initial_state": initial_state, "constants": constants}
            return super().__call__(inputs, **kwargs, **{name: value for name, value in given.items() if value is not None})
        # As inputs, they are part of a model.
        count = len(nest.flatten(inputs))
        self.input_spec = [*(self.input_spec or [None] * count), *specs]
        try:
            return super().__call__([inputs, *further], **kwargs)
        finally:
            self.input_spec = self.input_spec[: -len(specs)]

    def call(
        self, inputs: Any, mask: Any = None, training: Any = None, initial_state: Any = None, constants: Any = None
    ) -> Any:
        inputs, initial_state, constants = standardize_args(inputs, initial_state, constants, self._num_constants)
        first = self._first_states(inputs, initial_state)
        reset_masks(self.cell)
        mask = None if mask is None else nest.flatten(mask)[0]
        time_axis = 0 if self.time_major else 1
        if self.unroll and nest.flatten(inputs)[0].get_shape()[time_axis].value is None:
            raise ValueError(_TIME_UNKNOWN)
        turned = not self.time_major and self._in_two_parts()
        if turned:
            inputs, mask = swapped(inputs), None if mask is None else swapped(mask)
        inputs, step = self._step(inputs, training, constants)
        last, outputs, states = rnn(
            step,
            inputs,
            first,
            go_backwards=self.go_backwards,
            mask=mask,
            constants=constants,
            unroll=self.unroll,
            time_major=self.time_major or turned,
            zero_output_for_mask=self.zero_output_for_mask,
        )
        if self.stateful:
            pairs = zip(nest.flatten(self.states), nest.flatten(states), strict=True)
            self.add_update([variable.assign(state) for variable, state in pairs])
        output = last
        if self.return_sequences:
            output = swapped(outputs) if turned else outputs
        if not self.return_state:
            return output
        return [*as_sequence(output), *states]

    def _first_states(self, inputs: Any, given: Any) -> Any:
        """What a batch begins with: the given states, those that the last batch left, or the cell's own."""
        if given is None:
            given = self.states if self.stateful else self.get_initial_state(inputs)
        elif self.stateful:
            # The given ones are for the first batch: until there are states.
            counts = [count_nonzero(state) for state in nest.flatten(self.states)]
            kept = [variable.read_value() for variable in nest.flatten(self.states)]
            chosen = cond(sum(counts) > 0, lambda: kept, lambda: nest.flatten(given), strict=True)
            given = nest.pack_sequence_as(self.states, chosen)
        if len(given) != len(self.states):
            raise ValueError(f"Layer has {len(self.states)} states but was passed {len(given)} initial states.")
        return nest.map_structure(lambda state: state.read_value() if hasattr(state, "read_value") else state, given)

    def _in_two_parts(self) -> bool:
        """Whether the inputs of all steps may go through the cell's first part together."""
        return isinstance(self.cell, RecurrentCell) and type(self.cell).call is RecurrentCell.call

    def _step(self, inputs: Any, training: Any, constants: Any) -> tuple[Any, Callable[[Any, Any], Any]]:
        """What the loop reads of each step, and what it does with it."""
        cell = self.cell
        kwargs = {"training": training} if takes(cell.call, "training") else {}
        if constants is not None and not takes(cell.call, "constants"):
            raise ValueError(f"RNN cell {cell} does not support constants. Received: constants={constants}")
        if self._in_two_parts():
            projected, weights = cell.project(inputs, training), cell.recurrent_weights()
            return projected, lambda now, states: cell.advance(now, states, weights, training)
        call = call_of(cell)

        def step(now: Any, states: Any) -> Any:
            given = dict(kwargs)
            if constants:
                count = len(constants)
                states, given["constants"] = states[:-count], states[-count:]
            return call(now, states, **given)

        return inputs, step

    # --- configs --------------------------------------------------------------------------------------------------------

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        for name in ("return_sequences", "return_state", "go_backwards", "stateful", "unroll", "time_major"):
            config[name] = getattr(self, name)
        if self.zero_output_for_mask:
            config["zero_output_for_mask"] = True
        if self._num_constants is not None:
            config["num_constants"] = self._num_constants
        config["cell"] = serialize_keras_object(self.cell)
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        config = dict(config)
        count = config.pop("num_constants", None)
        layer = cls(deserialize(config.pop("cell"), custom_objects=custom_objects), **config)
        layer._num_constants = count
        return layer


def standardize_args(inputs: Any, initial_state: Any, constants: Any, num_constants: int | None) -> tuple[Any, Any, Any]:
    """(inputs, initial state, constants), of which the latter may be in a list that starts with the inputs."""
    if isinstance(inputs, list):
        if initial_state is not None or constants is not None:
            raise ValueError("A call with states or constants in a list with its inputs cannot take others besides")
        inputs, *rest = inputs
        if num_constants:
            rest, constants = rest[:-num_constants], rest[-num_constants:]
        initial_state = rest or None
    return (
        inputs,
        None if initial_state is None else as_sequence(initial_state),
        None if constants is None else list(as_sequence(constants)),
    )


def as_sequence(value: Any) -> Any:
    """A sequence as it is, anything else as a list of it."""
    return value if isinstance(value, (list, tuple)) else [value]


def _first_shape(shapes: Any) -> Any:
    return shapes[0] if isinstance(shapes, list) else shapes


def spec_of(tensor: Any) -> InputSpec:
    """What demands the shape of a state or constant."""
    return InputSpec(shape=tuple(tensor.get_shape().as_list()))


def _dims(batch: int, size: Any) -> Any:
    """The dimensions of a state for a batch."""
    return (batch, *size_shape(size).as_list())
