"""`tf.contrib.seq2seq`: the cell that attends to a memory, and its state. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from tfexp.contributed.attention import AttentionMechanism
from tfexp.contributed.shape_checks import with_same_shape
from tfexp.core import dtypes, nest
from tfexp.core.shape import TensorShape
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.layers.core import Dense
from tfexp.layers.rnn_cell import RNNCell
from tfexp.layers.rnn_state import zeros_of
from tfexp.layers.rnn_wrappers import check_cell
from tfexp.ops.array import expand_dims, shape, squeeze
from tfexp.ops.array_fill import zeros
from tfexp.ops.array_identity import identity
from tfexp.ops.array_join import concat
from tfexp.ops.check_compare import assert_equal
from tfexp.ops.matmul import matmul
from tfexp.ops.tensor_array import TensorArray

_TILE = (
    "is of another batch size than the memory that it attends to. With a BeamSearchDecoder, pass the memory and the states "
    "through tf.contrib.seq2seq.tile_batch, and ask for states of batch size * beam width."
)


class AttentionWrapperState(NamedTuple):
    """The state of an AttentionWrapper; `clone` gives one that differs, as `zero_state(...).clone(cell_state=encoded)`."""

    cell_state: Any
    attention: Any
    time: Any
    alignments: Any
    alignment_history: Any
    attention_state: Any

    def clone(self, **kwargs: Any) -> AttentionWrapperState:
        """This state with other parts, tensors of the same shapes. ValueError for other shapes or structures."""

        def checked(old: Any, new: Any) -> Any:
            return with_same_shape(old, new) if isinstance(old, Tensor) and isinstance(new, Tensor) else new

        made: AttentionWrapperState = nest.map_structure(checked, self, self._replace(**kwargs))
        return made


def attend(mechanism: Any, cell_output: Any, attention_state: Any, attention_layer: Any) -> tuple[Any, Any, Any]:
    """(the attention, alignments, the mechanism's next state) of a cell's output [batch, depth].

    The attention is the context, the values by their alignments, or what a layer makes of [output, context].
    """
    alignments, following = mechanism(cell_output, state=attention_state)
    context = squeeze(matmul(expand_dims(alignments, 1), mechanism.values), [1])
    if attention_layer is not None:
        context = attention_layer(concat([cell_output, context], 1))
    return context, alignments, following


class AttentionWrapper(RNNCell):
    """A cell whose input is joined by what it attended to last, and whose output is an attention (by default) or its own.

    attention_mechanism: one, or a list. attention_layer_size: how deep a layer on [output, context] makes each attention
    (None: the context itself); attention_layer: these layers themselves. alignment_history: keep the alignments of all
    steps, a TensorArray in the state. attention_fn: what computes an attention, with the arguments and values of `attend`.
    TypeError for a cell or mechanisms that are none, ValueError for layers that are not as many as mechanisms. A batch of
    another size than the memory's is an InvalidArgumentError. Source: `tf.contrib.seq2seq.AttentionWrapper`.
    """

    def __init__(
        self,
        cell: Any,
        attention_mechanism: Any,
        attention_layer_size: Any = None,
        alignment_history: bool = False,
        cell_input_fn: Callable[[Any, Any], Any] | None = None,
        output_attention: bool = True,
        initial_cell_state: Any = None,
        name: str | None = None,
        attention_layer: Any = None,
        attention_fn: Callable[[Any, Any, Any, Any], tuple[Any, Any, Any]] | None = None,
        dtype: Any = None,
    ):
        super().__init__(name=name, dtype=dtype)
        check_cell(cell)
        self._is_multi = isinstance(attention_mechanism, (list, tuple))
        self._attention_mechanisms = self._parts(attention_mechanism)
        for mechanism in self._attention_mechanisms:
            if not isinstance(mechanism, AttentionMechanism):
                raise TypeError(f"attention_mechanism must be AttentionMechanisms, saw type: {type(mechanism).__name__}")
        if cell_input_fn is not None and not callable(cell_input_fn):
            raise TypeError(f"cell_input_fn must be callable, saw type: {type(cell_input_fn).__name__}")
        self._cell, self._alignment_history = cell, alignment_history
        self._cell_input_fn = cell_input_fn or _inputs_and_attention
        self._attention_fn = attention_fn or attend
        self._output_attention = output_attention
        self._make_layers(attention_layer_size, attention_layer)
        with name_scope(name, "AttentionWrapperInit"):
            self._initial_cell_state = None
            if initial_cell_state is not None:
                batch = _batch_size_of(nest.flatten(initial_cell_state)[-1])
                self._initial_cell_state = self._of_batch_size(
                    batch, initial_cell_state, "check_initial_cell_state", f"The initial state of {self.name}"
                )

    def _make_layers(self, sizes: Any, layers: Any) -> None:
        """`_attention_layers`, one for each mechanism or None, and the depth of all attentions together."""
        if sizes is not None and layers is not None:
            raise ValueError("Only one of attention_layer_size and attention_layer should be set")
        mechanisms = self._attention_mechanisms
        depths = [mechanism.values.get_shape()[-1].value for mechanism in mechanisms]
        self._attention_layers: tuple[Any, ...] | None = None
        if sizes is not None:
            depths = _one_for_each("attention_layer_size", sizes, mechanisms)
            self._attention_layers = tuple(
                Dense(depth, name="attention_layer", use_bias=False, dtype=mechanism.dtype)
                for depth, mechanism in zip(depths, mechanisms, strict=True)
            )
        elif layers is not None:
            self._attention_layers = tuple(_one_for_each("attention_layer", layers, mechanisms))
            depths = [
                layer.compute_output_shape([None, self._cell.output_size + depth])[-1].value
                for layer, depth in zip(self._attention_layers, depths, strict=True)
            ]
        self._attention_layer_size = sum(depths)

    # --- one mechanism is alone, several are in tuples ------------------------------------------------------------------

    def _item_or_tuple(self, seq: Iterable[Any]) -> Any:
        parts = tuple(seq)
        return parts if self._is_multi else parts[0]

    def _parts(self, value: Any) -> tuple[Any, ...]:
        return tuple(value) if self._is_multi else (value,)

    # --- checks ---------------------------------------------------------------------------------------------------------

    def _batch_size_checks(self, batch_size: Any, error_message: str) -> list[Operation]:
        return [
            assert_equal(batch_size, mechanism.batch_size, message=error_message) for mechanism in self._attention_mechanisms
        ]

    def _of_batch_size(self, batch_size: Any, values: Any, name: str, what: str) -> Any:
        """The values, behind checks that `batch_size` is that of the memory."""
        with control_dependencies(self._batch_size_checks(batch_size, f"{what} {_TILE}")):
            return nest.map_structure(lambda value: identity(value, name=name), values)

    # --- a cell ---------------------------------------------------------------------------------------------------------

    @property
    def output_size(self) -> Any:
        return self._attention_layer_size if self._output_attention else self._cell.output_size

    @property
    def state_size(self) -> AttentionWrapperState:
        sizes = [mechanism.alignments_size for mechanism in self._attention_mechanisms]
        return AttentionWrapperState(
            cell_state=self._cell.state_size,
            attention=self._attention_layer_size,
            time=TensorShape([]),
            alignments=self._item_or_tuple(sizes),
            alignment_history=self._item_or_tuple(size if self._alignment_history else () for size in sizes),
            attention_state=self._item_or_tuple(mechanism.state_size for mechanism in self._attention_mechanisms),
        )

    def zero_state(self, batch_size: Any, dtype: Any) -> AttentionWrapperState:
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            state = self._initial_cell_state
            if state is None:
                state = self._cell.get_initial_state(batch_size=batch_size, dtype=dtype)
            state = self._of_batch_size(batch_size, state, "checked_cell_state", f"A state of zeros of {self.name}")
            starts = [one.initial_alignments(batch_size, dtype) for one in self._attention_mechanisms]
            return AttentionWrapperState(
                cell_state=state,
                attention=zeros_of(batch_size, self._attention_layer_size, dtype),
                time=zeros([], dtype=dtypes.int32),
                alignments=self._item_or_tuple(starts),
                alignment_history=self._item_or_tuple(
                    TensorArray(dtype, size=0, dynamic_size=True, element_shape=start.get_shape())
                    if self._alignment_history
                    else ()
                    for start in starts
                ),
                attention_state=self._item_or_tuple(
                    one.initial_state(batch_size, dtype) for one in self._attention_mechanisms
                ),
            )

    def call(self, inputs: Any, state: Any) -> tuple[Any, AttentionWrapperState]:
        if not isinstance(state, AttentionWrapperState):
            raise TypeError(f"Expected state to be instance of AttentionWrapperState. Received type {type(state)} instead.")
        output, cell_state = self._cell(self._cell_input_fn(inputs, state.attention), state.cell_state)
        output = self._of_batch_size(_batch_size_of(output), output, "checked_cell_output", f"What {self.name} asks with")
        layers = self._attention_layers or (None,) * len(self._attention_mechanisms)
        before, arrays = self._parts(state.attention_state), self._parts(state.alignment_history)
        attentions, alignments, states, histories = [], [], [], []
        for mechanism, layer, last, array in zip(self._attention_mechanisms, layers, before, arrays, strict=True):
            attention, weights, following = self._attention_fn(mechanism, output, last, layer)
            attentions.append(attention)
            alignments.append(weights)
            states.append(following)
            histories.append(array.write(state.time, weights) if self._alignment_history else ())
        attention = concat(attentions, 1)
        following_state = AttentionWrapperState(
            cell_state=cell_state,
            attention=attention,
            time=state.time + 1,
            alignments=self._item_or_tuple(alignments),
            alignment_history=self._item_or_tuple(histories),
            attention_state=self._item_or_tuple(states),
        )
        return (attention if self._output_attention else output), following_state


def _inputs_and_attention(inputs: Any, attention: Any) -> Any:
    return concat([inputs, attention], -1)


def _batch_size_of(tensor: Any) -> Any:
    return tensor.get_shape()[0].value or shape(tensor)[0]  # type: ignore[index]


def _one_for_each(argument: str, values: Any, mechanisms: tuple[Any, ...]) -> list[Any]:
    found = list(values) if isinstance(values, (list, tuple)) else [values]
    if len(found) != len(mechanisms):
        what = "integer" if argument.endswith("size") else "layer"
        raise ValueError(
            f"If provided, {argument} must contain exactly one {what} per attention_mechanism, saw: {len(found)} vs "
            f"{len(mechanisms)}"
        )
    return found
