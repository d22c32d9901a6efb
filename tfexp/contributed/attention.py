"""`tf.contrib.seq2seq`: attention over a memory, and the cell that has it. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.layers.core import Dense
from tfexp.layers.rnn_cell import RNNCell
from tfexp.layers.rnn_state import zeros_of
from tfexp.ops.argmax import argmax
from tfexp.ops.array import expand_dims, shape, squeeze
from tfexp.ops.array_fill import one_hot, ones, zeros
from tfexp.ops.array_identity import identity
from tfexp.ops.array_join import concat
from tfexp.ops.array_mask import sequence_mask, where
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_unary import rsqrt, square, tanh
from tfexp.ops.initializers import constant_initializer, ones_initializer, zeros_initializer
from tfexp.ops.matmul import matmul
from tfexp.ops.nn_softmax import softmax
from tfexp.ops.reduce import reduce_sum
from tfexp.ops.tensor_array import TensorArray
from tfexp.ops.variable_scope import get_variable, variable_scope


class AttentionMechanism:
    """A memory [batch, time, depth], of which so many steps as `memory_sequence_length` [batch] says count.

    `keys` are the memory through a layer of `num_units` without bias, `values` the memory itself. The state is the
    alignments of the last step.
    """

    _scope = ""  # of the variables that scores are made with

    def __init__(
        self,
        memory: Any,
        num_units: int,
        query_layer: Any,
        memory_sequence_length: Any,
        probability_fn: Callable[[Any], Any] | None,
        score_mask_value: Any,
        dtype: Any,
        name: str,
    ):
        with name_scope(name, "BaseAttentionMechanismInit", [memory]):
            memory = convert_to_tensor(memory, name="memory")
            kind = dtypes.float32 if dtype is None else dtypes.as_dtype(dtype)
            self._mask: Any = None
            if memory_sequence_length is not None:
                longest = shape(memory)[1]  # type: ignore[index]
                self._mask = sequence_mask(convert_to_tensor(memory_sequence_length), maxlen=longest)
                memory = memory * expand_dims(cast(self._mask, memory.dtype), -1)  # type: ignore[operator]
            self.values = memory
            self.memory_layer = Dense(num_units, name="memory_layer", use_bias=False, dtype=kind)
            self.query_layer, self._num_units, self._kind = query_layer, num_units, kind
            self.keys: Any = self.memory_layer(self.values)
            self._probabilities = probability_fn or softmax
            self._masked_score = -np.inf if score_mask_value is None else score_mask_value

    @property
    def batch_size(self) -> Any:
        return self.keys.get_shape()[0].value or shape(self.keys)[0]  # type: ignore[index]

    @property
    def alignments_size(self) -> Any:
        return self.keys.get_shape()[1].value or shape(self.keys)[1]  # type: ignore[index]

    @property
    def state_size(self) -> Any:
        return self.alignments_size

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        """[batch, time] zeros."""
        return zeros_of(batch_size, self.alignments_size, dtype)

    initial_state = initial_alignments

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        """(alignments [batch, time], the next state) of a query [batch, depth]."""
        with variable_scope(None, self._scope, [query]):
            score = self._score(query)
        if self._mask is not None:
            score = where(self._mask, score, self._masked_score * ones(shape(score), score.dtype))  # type: ignore[operator]
        alignments = self._aligned(score, state)
        return alignments, alignments

    def _aligned(self, score: Any, state: Any) -> Any:
        return self._probabilities(score)

    def _score(self, query: Any) -> Any:
        raise NotImplementedError


class LuongAttention(AttentionMechanism):
    """Scores are products of query and keys, times a learnt number with `scale` (https://arxiv.org/abs/1508.04025).

    ValueError for a query that is not `num_units` deep. Source: `tf.contrib.seq2seq.LuongAttention`.
    """

    _scope = "luong_attention"

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        probability_fn: Callable[[Any], Any] | None = None,
        score_mask_value: Any = None,
        dtype: Any = None,
        name: str = "LuongAttention",
    ):
        super().__init__(memory, num_units, None, memory_sequence_length, probability_fn, score_mask_value, dtype, name)
        self._scale = scale

    def _score(self, query: Any) -> Any:
        depth, units = query.get_shape()[-1].value, self.keys.get_shape()[-1].value
        if depth != units:
            raise ValueError(
                "Incompatible or unknown inner dimensions between query and keys.  Query has units: "
                f"{depth}.  Keys have units: {units}.  Perhaps you need to set num_units to the keys' dimension "
                f"({units})?"
            )
        score: Any = squeeze(matmul(expand_dims(query, 1), self.keys, transpose_b=True), [1])
        if self._scale:
            score = get_variable("attention_g", dtype=query.dtype, initializer=ones_initializer(), shape=()) * score
        return score


class BahdanauAttention(AttentionMechanism):
    """Scores are v . tanh(W query + keys) (https://arxiv.org/abs/1409.0473); with `normalize`, v is g v / |v|, plus a bias.

    Source: `tf.contrib.seq2seq.BahdanauAttention`.
    """

    _scope = "bahdanau_attention"

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        probability_fn: Callable[[Any], Any] | None = None,
        score_mask_value: Any = None,
        dtype: Any = None,
        name: str = "BahdanauAttention",
    ):
        layer = Dense(num_units, name="query_layer", use_bias=False, dtype=dtype or dtypes.float32)
        super().__init__(memory, num_units, layer, memory_sequence_length, probability_fn, score_mask_value, dtype, name)
        self._normalize = normalize

    def _score(self, query: Any) -> Any:
        wanted: Any = expand_dims(self.query_layer(query), 1)
        v: Any = get_variable("attention_v", [self._num_units], dtype=query.dtype)
        if not self._normalize:
            return reduce_sum(v * tanh(self.keys + wanted), [2])
        start = constant_initializer(np.sqrt(1.0 / self._num_units))
        g: Any = get_variable("attention_g", dtype=query.dtype, initializer=start, shape=())
        b: Any = get_variable("attention_b", [self._num_units], dtype=query.dtype, initializer=zeros_initializer())
        unit = g * v * rsqrt(reduce_sum(square(v)))
        return reduce_sum(unit * tanh(self.keys + wanted + b), [2])


class AttentionWrapperState(NamedTuple):
    """The state of an AttentionWrapper; `clone` gives one that differs, as `zero_state(...).clone(cell_state=encoded)`."""

    cell_state: Any
    attention: Any
    time: Any
    alignments: Any
    alignment_history: Any
    attention_state: Any

    def clone(self, **kwargs: Any) -> AttentionWrapperState:
        return self._replace(**kwargs)


def _inputs_and_attention(inputs: Any, attention: Any) -> Any:
    return concat([inputs, attention], -1)


class AttentionWrapper(RNNCell):
    """A cell whose input is joined by what it attended to last, and whose output is an attention (by default) or its own.

    attention_mechanism: one, or a list. attention_layer_size: how deep a layer on [output, context] makes each attention
    (None: the context itself). alignment_history: keep the alignments of all steps, a TensorArray in the state.
    Source: `tf.contrib.seq2seq.AttentionWrapper`.
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
    ):
        super().__init__(name=name)
        self._is_multi = isinstance(attention_mechanism, (list, tuple))
        self._mechanisms = list(attention_mechanism) if self._is_multi else [attention_mechanism]
        for mechanism in self._mechanisms:
            if not isinstance(mechanism, AttentionMechanism):
                raise TypeError(f"attention_mechanism must be AttentionMechanisms, saw type: {type(mechanism).__name__}")
        if attention_layer_size is not None and attention_layer is not None:
            raise ValueError("Only one of attention_layer_size and attention_layer should be set")
        if attention_layer_size is not None:
            sizes = list(attention_layer_size) if isinstance(attention_layer_size, (list, tuple)) else [attention_layer_size]
            if len(sizes) != len(self._mechanisms):
                raise ValueError(
                    "If provided, attention_layer_size must contain exactly one integer per attention_mechanism"
                )
            self._attention_layers: Any = [Dense(depth, name="attention_layer", use_bias=False) for depth in sizes]
            self._depth = sum(sizes)
        elif attention_layer is not None:
            self._attention_layers = (
                list(attention_layer) if isinstance(attention_layer, (list, tuple)) else [attention_layer]
            )
            self._depth = sum(layer.units for layer in self._attention_layers)
        else:
            self._attention_layers = [None] * len(self._mechanisms)
            self._depth = sum(int(m.values.get_shape()[-1].value) for m in self._mechanisms)
        self._cell, self._keeps_history = cell, alignment_history
        self._join = cell_input_fn or _inputs_and_attention
        self._output_attention, self._initial_cell_state = output_attention, initial_cell_state

    def _one_or_all(self, parts: list[Any]) -> Any:
        return tuple(parts) if self._is_multi else parts[0]

    def _parts(self, value: Any) -> list[Any]:
        return list(value) if self._is_multi else [value]

    @property
    def output_size(self) -> Any:
        return self._depth if self._output_attention else self._cell.output_size

    @property
    def state_size(self) -> AttentionWrapperState:
        sizes = self._one_or_all([m.alignments_size for m in self._mechanisms])
        history = sizes if self._keeps_history else ()
        return AttentionWrapperState(self._cell.state_size, self._depth, TensorShape([]), sizes, history, sizes)

    def zero_state(self, batch_size: Any, dtype: Any) -> AttentionWrapperState:
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            state = self._initial_cell_state
            if state is None:
                state = self._cell.zero_state(batch_size, dtype)
            starts = [m.initial_alignments(batch_size, dtype) for m in self._mechanisms]
            history: Any = ()
            if self._keeps_history:
                history = self._one_or_all(
                    [TensorArray(dtype, size=0, dynamic_size=True, element_shape=one.get_shape()) for one in starts]
                )
            return AttentionWrapperState(
                cell_state=state,
                attention=zeros_of(batch_size, self._depth, dtype),
                time=zeros([], dtype=dtypes.int32),
                alignments=self._one_or_all(starts),
                alignment_history=history,
                attention_state=self._one_or_all([m.initial_state(batch_size, dtype) for m in self._mechanisms]),
            )

    def call(self, inputs: Any, state: Any) -> tuple[Any, AttentionWrapperState]:
        if not isinstance(state, AttentionWrapperState):
            raise TypeError(f"Expected state to be instance of AttentionWrapperState. Received type {type(state)} instead.")
        output, cell_state = self._cell(self._join(inputs, state.attention), state.cell_state)
        attentions, alignments, states = [], [], []
        for mechanism, layer, before in zip(
            self._mechanisms, self._attention_layers, self._parts(state.attention_state), strict=True
        ):
            weights, following = mechanism(output, before)
            context = squeeze(matmul(expand_dims(weights, 1), mechanism.values), [1])
            attentions.append(context if layer is None else layer(concat([output, context], 1)))
            alignments.append(weights)
            states.append(following)
        attention = concat(attentions, 1) if len(attentions) > 1 else identity(attentions[0])
        history: Any = ()
        if self._keeps_history:
            arrays = self._parts(state.alignment_history)
            history = self._one_or_all([a.write(state.time, one) for a, one in zip(arrays, alignments, strict=True)])
        following_state = AttentionWrapperState(
            cell_state, attention, state.time + 1, self._one_or_all(alignments), history, self._one_or_all(states)
        )
        return (attention if self._output_attention else output), following_state


def hardmax(logits: Any, name: str | None = None) -> Any:
    """1 where the largest is along the last dimension, else 0. Source: `tf.contrib.seq2seq.hardmax`."""
    with name_scope(name, "Hardmax", [logits]):
        logits = convert_to_tensor(logits, name="logits")
        depth = logits.get_shape()[-1].value or shape(logits)[-1]  # type: ignore[index]
        return one_hot(argmax(logits, -1), depth, dtype=logits.dtype)
