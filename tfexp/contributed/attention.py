"""`tf.contrib.seq2seq`: attention over a memory. Source: TF 1.15.

Programs derive mechanisms of their own from these, with what TensorFlow's have: `_probability_fn`, `_keys`, `_num_units`…
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import control_dependencies, name_scope
from tfexp.layers.base import Layer
from tfexp.layers.core import Dense
from tfexp.layers.rnn_state import zeros_of
from tfexp.ops.argmax import argmax
from tfexp.ops.array import expand_dims, rank, reshape, shape, squeeze
from tfexp.ops.array_fill import one_hot, ones, ones_like
from tfexp.ops.array_join import concat
from tfexp.ops.array_mask import sequence_mask, where
from tfexp.ops.cast import cast
from tfexp.ops.check_compare import assert_positive
from tfexp.ops.elementwise_unary import rsqrt, square, tanh
from tfexp.ops.initializers import constant_initializer, ones_initializer, zeros_initializer
from tfexp.ops.matmul import matmul
from tfexp.ops.nn_softmax import softmax
from tfexp.ops.reduce import reduce_sum
from tfexp.ops.variable_scope import get_variable, variable_scope


class AttentionMechanism:
    """What an AttentionWrapper takes: `mechanism(query, state)` gives alignments [batch, time] and the next state.

    It has `values` [batch, time, depth], `batch_size`, `initial_alignments` and `initial_state`, too.
    """

    @property
    def alignments_size(self) -> Any:
        """How many entries the memory has."""
        raise NotImplementedError

    @property
    def state_size(self) -> Any:
        raise NotImplementedError


class MemoryAttention(AttentionMechanism):
    """Attention to a memory [batch, time, …], of which so many steps as `memory_sequence_length` [batch] says count.

    `values` are the memory, 0 where it does not count, `keys` these through `memory_layer`, unless `custom_key_value_fn`
    makes others of both. probability_fn: (scores, state) -> alignments; scores are `score_mask_value` where memory does not
    count (by default -inf). The state is the alignments of the last step.
    ValueError for a memory of unknown depth, TypeError for layers that are none. Source: `_BaseAttentionMechanism`.
    """

    _scope = ""  # of the variables that scores are made with
    _num_units: int

    def __init__(
        self,
        query_layer: Any,
        memory: Any,
        probability_fn: Callable[[Any, Any], Any],
        memory_sequence_length: Any = None,
        memory_layer: Any = None,
        check_inner_dims_defined: bool = True,
        score_mask_value: Any = None,
        custom_key_value_fn: Callable[[Any, Any], tuple[Any, Any]] | None = None,
        name: str | None = None,
    ):
        for role, layer in (("query_layer", query_layer), ("memory_layer", memory_layer)):
            if layer is not None and not isinstance(layer, Layer):
                raise TypeError(f"{role} is not a Layer: {type(layer).__name__}")
        if not callable(probability_fn):
            raise TypeError(f"probability_fn must be callable, saw type: {type(probability_fn).__name__}")
        self._query_layer, self._memory_layer, self._name = query_layer, memory_layer, name
        self.dtype = memory_layer.dtype
        masked_to = -np.inf if score_mask_value is None else score_mask_value
        self._probability_fn = lambda score, state: probability_fn(
            masked_score(score, memory_sequence_length, score_mask_value=masked_to), state
        )
        with name_scope(name, "BaseAttentionMechanismInit", [memory]):
            self._values = prepared_memory(memory, memory_sequence_length, check_inner_dims_defined=check_inner_dims_defined)
            self._keys: Any = memory_layer(self._values)
            if custom_key_value_fn is not None:
                self._keys, self._values = custom_key_value_fn(self._keys, self._values)
            batch, entries = self._keys.get_shape()[:2].as_list()
            self._batch_size = batch or shape(self._keys)[0]  # type: ignore[index]
            self._alignments_size = entries or shape(self._keys)[1]  # type: ignore[index]

    @property
    def memory_layer(self) -> Any:
        return self._memory_layer

    @property
    def query_layer(self) -> Any:
        return self._query_layer

    @property
    def values(self) -> Any:
        return self._values

    @property
    def keys(self) -> Any:
        return self._keys

    @property
    def batch_size(self) -> Any:
        return self._batch_size

    @property
    def alignments_size(self) -> Any:
        return self._alignments_size

    @property
    def state_size(self) -> Any:
        return self._alignments_size

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        """[batch, time] zeros."""
        return zeros_of(batch_size, self._alignments_size, dtype)

    def initial_state(self, batch_size: Any, dtype: Any) -> Any:
        """The state before the first step: the initial alignments."""
        return self.initial_alignments(batch_size, dtype)

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        """(alignments [batch, time], the next state) of a query [batch, depth]."""
        with variable_scope(None, self._scope, [query]):
            score = self._score(query)
        alignments = self._probability_fn(score, state)
        return alignments, alignments

    def _score(self, query: Any) -> Any:
        raise NotImplementedError


def prepared_memory(
    memory: Any, memory_sequence_length: Any = None, memory_mask: Any = None, check_inner_dims_defined: bool = True
) -> Any:
    """The memory [batch, time, …], 0 where a length or a mask [batch, time] says that it does not count."""
    memory = convert_to_tensor(memory, name="memory")
    _refuse_both(memory_sequence_length, memory_mask)
    known = memory.get_shape()
    if check_inner_dims_defined and not known[2:].is_fully_defined():
        raise ValueError(f"Expected memory {memory.name} to have fully defined inner dims, but saw shape: {known}")
    if memory_sequence_length is not None:
        lengths = convert_to_tensor(memory_sequence_length, name="memory_sequence_length")
        mask: Any = sequence_mask(lengths, maxlen=shape(memory)[1], dtype=memory.dtype)  # type: ignore[index]
    elif memory_mask is not None:
        mask = cast(memory_mask, memory.dtype)
    else:
        return memory
    deeper = ones([(rank(memory) if known.ndims is None else known.ndims) - 2], dtype="int32")  # type: ignore[operator]
    return memory * reshape(mask, concat([shape(mask), deeper], 0))


def masked_score(
    score: Any, memory_sequence_length: Any = None, memory_mask: Any = None, score_mask_value: Any = None
) -> Any:
    """Scores [batch, time], `score_mask_value` where memory does not count. InvalidArgumentError for lengths below 1."""
    _refuse_both(memory_sequence_length, memory_mask)
    if memory_sequence_length is not None:
        message = "All values in memory_sequence_length must be greater than zero."
        with control_dependencies([assert_positive(memory_sequence_length, message=message)]):
            memory_mask = sequence_mask(memory_sequence_length, maxlen=shape(score)[1])  # type: ignore[index]
    return score if memory_mask is None else where(memory_mask, score, score_mask_value * ones_like(score))


def _refuse_both(memory_sequence_length: Any, memory_mask: Any) -> None:
    if memory_sequence_length is not None and memory_mask is not None:
        raise ValueError("memory_sequence_length and memory_mask can't be provided at same time.")


def luong_score(query: Any, keys: Any, scale: Any) -> Any:
    """[batch, time]: products of a query [batch, depth] and keys [batch, time, depth], times `scale` unless that is None."""
    depth, units = query.get_shape()[-1].value, keys.get_shape()[-1].value
    if depth != units:
        raise ValueError(
            "Incompatible or unknown inner dimensions between query and keys.  Query has units: "
            f"{depth}.  Keys have units: {units}.  Perhaps you need to set num_units to the keys' dimension "
            f"({units})?"
        )
    score: Any = squeeze(matmul(expand_dims(query, 1), keys, transpose_b=True), [1])
    return score if scale is None else scale * score


def bahdanau_score(
    processed_query: Any, keys: Any, attention_v: Any, attention_g: Any = None, attention_b: Any = None
) -> Any:
    """[batch, time]: v . tanh(query + keys) of a query [batch, depth]; with g and b, g v/|v| . tanh(query + keys + b)."""
    asked: Any = expand_dims(processed_query, 1)
    if attention_g is None or attention_b is None:
        return reduce_sum(attention_v * tanh(keys + asked), [2])
    unit = attention_g * attention_v * rsqrt(reduce_sum(square(attention_v)))
    return reduce_sum(unit * tanh(keys + asked + attention_b), [2])


def layers_for(num_units: int, dtype: Any, *roles: str) -> dict[str, Any]:
    """Dense layers without bias for the queries and the memory of a mechanism."""
    return {role: Dense(num_units, name=role, use_bias=False, dtype=dtype or dtypes.float32) for role in roles}


def probabilities_by(probability_fn: Callable[[Any], Any] | None) -> Callable[[Any, Any], Any]:
    """A function of scores alone (softmax if None) as one of scores and the last state."""
    of_scores = probability_fn or softmax
    return lambda score, _: of_scores(score)


class LuongAttention(MemoryAttention):
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
        custom_key_value_fn: Callable[[Any, Any], tuple[Any, Any]] | None = None,
        name: str = "LuongAttention",
    ):
        super().__init__(
            None,
            memory,
            probabilities_by(probability_fn),
            memory_sequence_length,
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
            **layers_for(num_units, dtype, "memory_layer"),
        )
        self._num_units, self._scale = num_units, scale

    def _score(self, query: Any) -> Any:
        factor = None
        if self._scale:
            factor = get_variable("attention_g", dtype=query.dtype, initializer=ones_initializer(), shape=())
        return luong_score(query, self._keys, factor)


class BahdanauAttention(MemoryAttention):
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
        custom_key_value_fn: Callable[[Any, Any], tuple[Any, Any]] | None = None,
        name: str = "BahdanauAttention",
    ):
        super().__init__(
            memory=memory,
            probability_fn=probabilities_by(probability_fn),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
            **layers_for(num_units, dtype, "query_layer", "memory_layer"),
        )
        self._num_units, self._normalize = num_units, normalize

    def _score(self, query: Any) -> Any:
        asked = self.query_layer(query)
        v: Any = get_variable("attention_v", [self._num_units], dtype=query.dtype)
        g = b = None
        if self._normalize:
            start = constant_initializer(np.sqrt(1.0 / self._num_units))
            g = get_variable("attention_g", dtype=query.dtype, initializer=start, shape=())
            b = get_variable("attention_b", [self._num_units], dtype=query.dtype, initializer=zeros_initializer())
        return bahdanau_score(asked, self._keys, v, g, b)


def hardmax(logits: Any, name: str | None = None) -> Any:
    """1 where the largest is along the last dimension, else 0. Source: `tf.contrib.seq2seq.hardmax`."""
    with name_scope(name, "Hardmax", [logits]):
        logits = convert_to_tensor(logits, name="logits")
        depth = logits.get_shape()[-1].value or shape(logits)[-1]  # type: ignore[index]
        return one_hot(argmax(logits, -1), depth, dtype=logits.dtype)
