"""Cells made of cells: stacked, with dropout, with a residual connection, on a device.

Source: `tf.nn.rnn_cell.{MultiRNNCell,DropoutWrapper,ResidualWrapper,DeviceWrapper}`, TF 1.15.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from tfexp.core import nest
from tfexp.core.shape import TensorShape
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import device as device_
from tfexp.graph.scopes import name_scope
from tfexp.graph.shape_inference import static_value
from tfexp.layers.rnn_cell import RNNCell
from tfexp.layers.rnn_lstm import LSTMStateTuple
from tfexp.ops.array_join import concat
from tfexp.ops.array_slice import slice as slice_
from tfexp.ops.elementwise_division import truediv
from tfexp.ops.elementwise_rounding import floor
from tfexp.ops.nn_dropout import dropout
from tfexp.ops.random import random_uniform
from tfexp.ops.tensor_array import TensorArray
from tfexp.ops.variable_scope import variable_scope


class MultiRNNCell(RNNCell):
    """Cells on top of each other; the state is the tuple of theirs (or, with `state_is_tuple=False`, all side by side)."""

    def __init__(self, cells: Sequence[RNNCell], state_is_tuple: bool = True):
        super().__init__()
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        if not nest.is_nested(cells):
            raise TypeError(f"cells must be a list or tuple, but saw: {cells}.")
        for cell in cells:
            check_cell(cell, "One of the cells")
        self._cells, self._state_is_tuple = list(cells), state_is_tuple
        if not state_is_tuple and any(nest.is_nested(cell.state_size) for cell in cells):
            sizes = [cell.state_size for cell in cells]
            raise ValueError(
                f"Some cells return tuples of states, but the flag state_is_tuple is not set.  State sizes are: {sizes}"
            )

    @property
    def state_size(self) -> Any:
        sizes = tuple(cell.state_size for cell in self._cells)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Any:
        return self._cells[-1].output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            if self._state_is_tuple:
                return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)
            return super().zero_state(batch_size, dtype)

    @property
    def trainable_weights(self) -> list[Any]:
        return [v for cell in self._cells for v in cell.trainable_weights] if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Any]:
        fixed = [v for cell in self._cells for v in cell.non_trainable_weights]
        return fixed if self.trainable else [v for cell in self._cells for v in cell.trainable_weights] + fixed

    def call(self, inputs: Any, state: Any) -> Any:
        begin, states = 0, []
        for i, cell in enumerate(self._cells):
            with variable_scope(f"cell_{i}"):
                if self._state_is_tuple:
                    if not nest.is_nested(state):
                        raise ValueError(
                            f"Expected state to be a tuple of length {len(self.state_size)}, but received: {state}"
                        )
                    own = state[i]
                else:
                    own = slice_(state, [0, begin], [-1, cell.state_size])
                    begin += cell.state_size
                inputs, following = cell(inputs, own)
                states.append(following)
        return inputs, tuple(states) if self._state_is_tuple else concat(states, 1)


def check_cell(cell: Any, name: str = "cell") -> None:
    """TypeError for what cannot be used as a cell."""
    wrong = [f"{part!r} property is missing" for part in ("output_size", "state_size") if not hasattr(cell, part)]
    if not hasattr(cell, "zero_state") and not hasattr(cell, "get_initial_state"):
        wrong.append("either 'zero_state' or 'get_initial_state' method is required")
    if not callable(cell):
        wrong.append("is not callable")
    if wrong:
        raise TypeError(f"The argument {name!r} ({cell}) is not an RNNCell: {', '.join(wrong)}.")


class CellWrapper(RNNCell):
    """A cell around a cell: its sizes and weights are the inner one's, and calling opens no scope."""

    def __init__(self, cell: RNNCell):
        super().__init__()
        check_cell(cell)
        self.cell = cell

    @property
    def state_size(self) -> Any:
        return self.cell.state_size

    @property
    def output_size(self) -> Any:
        return self.cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self.cell.zero_state(batch_size, dtype)

    @property
    def trainable_weights(self) -> list[Any]:
        return self.cell.trainable_weights

    @property
    def non_trainable_weights(self) -> list[Any]:
        return self.cell.non_trainable_weights

    def _step(self, inputs: Any, state: Any, scope: Any) -> Any:
        return self.cell(inputs, state, scope=scope)


def _drops_out(state: Any) -> Any:
    """By default what an LSTM remembers is left alone, and so are TensorArrays."""
    if isinstance(state, LSTMStateTuple):
        return LSTMStateTuple(c=False, h=True)
    return not isinstance(state, TensorArray)


class DropoutWrapper(CellWrapper):
    """Dropout of the inner cell's inputs, outputs and states, each with the probability of being kept.

    variational_recurrent: the same noise in all steps of a run (https://arxiv.org/abs/1512.05287), which needs `dtype` and,
    for inputs, `input_size`. dropout_state_filter_visitor(state) says what of a state is dropped: True, False or a
    structure of these. ValueError for probabilities outside [0, 1].
    """

    def __init__(
        self,
        cell: RNNCell,
        input_keep_prob: Any = 1.0,
        output_keep_prob: Any = 1.0,
        state_keep_prob: Any = 1.0,
        variational_recurrent: bool = False,
        input_size: Any = None,
        dtype: Any = None,
        seed: int | None = None,
        dropout_state_filter_visitor: Callable[[Any], Any] | None = None,
    ):
        super().__init__(cell)
        if dropout_state_filter_visitor is not None and not callable(dropout_state_filter_visitor):
            raise TypeError("dropout_state_filter_visitor must be callable")
        self._filter = dropout_state_filter_visitor or _drops_out
        self._variational, self._seed = variational_recurrent, seed
        with name_scope("DropoutWrapperInit"):
            self._input_keep_prob = _probability("input_keep_prob", input_keep_prob)
            self._state_keep_prob = _probability("state_keep_prob", state_keep_prob)
            self._output_keep_prob = _probability("output_keep_prob", output_keep_prob)
        self._noise: dict[str, Any] = {"input": None, "state": None, "output": None}
        if variational_recurrent:
            self._make_noise(input_size, dtype)

    def _make_noise(self, input_size: Any, dtype: Any) -> None:
        if dtype is None:
            raise ValueError("When variational_recurrent=True, dtype must be provided")

        def noise(kind: str, sizes: Any) -> Any:
            numbers = itertools.count()
            return _map_shapes(lambda size: _batch_noise(size, dtype, self._gen_seed(kind, next(numbers))), sizes)

        if _is_active(self._input_keep_prob):
            if input_size is None:
                raise ValueError(
                    "When variational_recurrent=True and input_keep_prob < 1.0 or is unknown, input_size must be provided"
                )
            self._noise["input"] = noise("input", input_size)
        self._noise["state"] = noise("state", self.cell.state_size)
        self._noise["output"] = noise("output", self.cell.output_size)

    def _gen_seed(self, kind: str, index: int) -> int | None:
        """A seed for each place, drawn from the one given as TensorFlow does, so that the numbers are the same."""
        if self._seed is None:
            return None
        digest = hashlib.md5(f"{self._seed}{kind}_{index}".encode()).hexdigest()
        return int(digest[:8], 16) & 0x7FFFFFFF

    def _dropped(self, values: Any, kind: str, keep: Any, chosen: Any = True) -> Any:
        flags = _spread(chosen, values)
        leaves = nest.flatten(values)
        noise = nest.flatten(self._noise[kind]) if self._variational else [None] * len(leaves)
        results = [
            self._drop(index, kind, value, keep, its_noise) if flag else value
            for index, (flag, value, its_noise) in enumerate(zip(flags, leaves, noise, strict=True))
        ]
        return nest.pack_sequence_as(values, results)

    def _drop(self, index: int, kind: str, value: Any, keep: Any, noise: Any) -> Any:
        if not self._variational:
            return dropout(value, rate=1.0 - keep, seed=self._gen_seed(kind, index))
        kept = floor(keep + noise)
        result = truediv(value, keep) * kept  # type: ignore[operator]
        result.set_shape(value.get_shape())
        return result

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        if _is_active(self._input_keep_prob):
            inputs = self._dropped(inputs, "input", self._input_keep_prob)
        output, following = self._step(inputs, state, scope)
        if _is_active(self._state_keep_prob):
            chosen = _filtered(self._filter, following)
            following = self._dropped(following, "state", self._state_keep_prob, chosen)
        if _is_active(self._output_keep_prob):
            output = self._dropped(output, "output", self._output_keep_prob)
        return output, following


def _probability(name: str, value: Any) -> Any:
    """A number where it is known, else a tensor."""
    tensor = convert_to_tensor(value)
    known = static_value(tensor)
    if known is None:
        return tensor
    if known < 0 or known > 1:
        raise ValueError(f"Parameter {name} must be between 0 and 1: {known}")
    return float(known)


def _is_active(probability: Any) -> bool:
    return not isinstance(probability, float) or probability < 1


def _batch_noise(size: Any, dtype: Any, seed: int | None) -> Any:
    return random_uniform(concat(([1], TensorShape(size).as_list()), 0), seed=seed, dtype=dtype)


def _map_shapes(function: Callable[[Any], Any], sizes: Any) -> Any:
    return function(sizes) if isinstance(sizes, TensorShape) else nest.map_structure(function, sizes)


def _filtered(visit: Callable[[Any], Any], state: Any) -> Any:
    """What the filter says of the state or, where it says True of a structure, of its parts."""
    answer = visit(state)
    if answer is True and nest.is_nested(state) and not isinstance(state, dict):
        return tuple(_filtered(visit, part) for part in state)
    return answer


def _spread(chosen: Any, values: Any) -> list[bool]:
    """The answers, one for each leaf of `values`: one for a structure holds for all its leaves."""
    if not nest.is_nested(chosen):
        return [bool(chosen)] * len(nest.flatten(values))
    parts = [values[key] for key in sorted(values)] if isinstance(values, dict) else list(values)
    answers = [chosen[key] for key in sorted(chosen)] if isinstance(chosen, dict) else list(chosen)
    return [flag for answer, part in zip(answers, parts, strict=True) for flag in _spread(answer, part)]


class ResidualWrapper(CellWrapper):
    """Adds the inputs to the inner cell's outputs, or combines them by `residual_fn(inputs, outputs)`."""

    def __init__(self, cell: RNNCell, residual_fn: Callable[[Any, Any], Any] | None = None):
        super().__init__(cell)
        self._residual_fn = residual_fn or _add_inputs

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        outputs, following = self._step(inputs, state, scope)
        return self._residual_fn(inputs, outputs), following


def _add_inputs(inputs: Any, outputs: Any) -> Any:
    nest.assert_same_structure(inputs, outputs)
    for before, after in zip(nest.flatten(inputs), nest.flatten(outputs), strict=True):
        before.get_shape().assert_is_compatible_with(after.get_shape())
    return nest.map_structure(lambda before, after: before + after, inputs, outputs)


class DeviceWrapper(CellWrapper):
    """Runs the inner cell on a device."""

    def __init__(self, cell: RNNCell, device: Any):
        super().__init__(cell)
        self._device = device

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]), device_(self._device):
            return self.cell.zero_state(batch_size, dtype)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        with device_(self._device):
            return self._step(inputs, state, scope)
