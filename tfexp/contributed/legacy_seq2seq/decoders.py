"""Decoders: a cell over a list of inputs, which may be made of its own last outputs, and may attend to other states.

A decoder gives (a list of outputs [batch, size], the final state). Source: `tf.contrib.legacy_seq2seq`, TF 1.15.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tfexp.contributed.rnn.linear import linear
from tfexp.core import nest
from tfexp.graph.convert import convert_to_tensor
from tfexp.ops.argmax import argmax
from tfexp.ops.array import reshape
from tfexp.ops.array import shape as shape_of
from tfexp.ops.array_fill import zeros
from tfexp.ops.array_identity import stop_gradient
from tfexp.ops.array_join import concat
from tfexp.ops.array_join import stack as stacked
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_unary import tanh
from tfexp.ops.embedding import embedding_lookup
from tfexp.ops.nn_bias import xw_plus_b
from tfexp.ops.nn_conv import conv2d
from tfexp.ops.nn_softmax import softmax
from tfexp.ops.reduce import reduce_sum
from tfexp.ops.variable_scope import get_variable, get_variable_scope, variable_scope

# The next input, of the last output and the number of the step.
LoopFunction = Callable[[Any, int], Any]


def extract_argmax_and_embed(embedding: Any, output_projection: Any = None, update_embedding: bool = True) -> LoopFunction:
    """The loop function that feeds back the likeliest symbol of the last output, embedded.

    output_projection: (weights, biases) that bring an output to logits. update_embedding: whether gradients go that way.
    """

    def following(previous: Any, _: int) -> Any:
        if output_projection is not None:
            previous = xw_plus_b(previous, output_projection[0], output_projection[1])
        embedded = embedding_lookup(embedding, argmax(previous, 1))
        return embedded if update_embedding else stop_gradient(embedded)

    return following


def _inputs(given: Iterable[Any], loop_function: LoopFunction | None, outputs: list[Any]) -> Iterable[Any]:
    """The input of each step: the first one is given, further ones may be made of the output before."""
    for step, one in enumerate(given):
        if step:
            get_variable_scope().reuse_variables()
        if step and loop_function is not None:
            with variable_scope("loop_function", reuse=True):
                one = loop_function(outputs[-1], step)
        yield one


def rnn_decoder(
    decoder_inputs: Iterable[Any],
    initial_state: Any,
    cell: Any,
    loop_function: LoopFunction | None = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """`cell` over [batch, depth] inputs. loop_function: makes each input but the first of the last output."""
    outputs: list[Any] = []
    state = initial_state
    with variable_scope(scope or "rnn_decoder"):
        for one in _inputs(decoder_inputs, loop_function, outputs):
            output, state = cell(one, state)
            outputs.append(output)
    return outputs, state


def _check_projection(output_projection: Any, dtype: Any, rows: int | None, num_symbols: int) -> None:
    """ValueError unless it brings [batch, rows] to [batch, num_symbols]."""
    if output_projection is not None:
        weights, biases = (convert_to_tensor(part, dtype=dtype) for part in output_projection)
        weights.get_shape().assert_is_compatible_with([rows, num_symbols])
        biases.get_shape().assert_is_compatible_with([num_symbols])


def embedding_rnn_decoder(
    decoder_inputs: Sequence[Any],
    initial_state: Any,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    output_projection: Any = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """`rnn_decoder` of symbols, int32 [batch] each, that are embedded by rows of the variable `embedding`.

    feed_previous: only the first symbol is used, then always the likeliest one of the last output, which are logits or are
    brought to logits by `output_projection` (weights [size, num_symbols], biases [num_symbols]).
    """
    with variable_scope(scope or "embedding_rnn_decoder") as opened:
        _check_projection(output_projection, opened.dtype, None, num_symbols)
        embedding = get_variable("embedding", [num_symbols, embedding_size])
        loop = extract_argmax_and_embed(embedding, output_projection, update_embedding_for_previous)
        embedded = (embedding_lookup(embedding, one) for one in decoder_inputs)
        return rnn_decoder(embedded, initial_state, cell, loop if feed_previous else None)


# --- attention ----------------------------------------------------------------------------------------------------------


class _Attention:
    """What each of several heads reads of states [batch, length, size], by how well they fit a query.

    As in "Grammar as a Foreign Language" (https://arxiv.org/abs/1412.7449).
    """

    def __init__(self, states: Any, heads: int, dtype: Any):
        self._dtype, self._size = dtype, states.get_shape()[2].value
        length = states.get_shape()[1].value
        self._length = shape_of(states)[1] if length is None else length  # type: ignore[index]
        self._hidden = reshape(states, [-1, self._length, 1, self._size])
        self._features, self._weights = [], []
        for head in range(heads):
            kernel = get_variable(f"AttnW_{head}", [1, 1, self._size, self._size], dtype=dtype)
            self._features.append(conv2d(self._hidden, kernel, [1, 1, 1, 1], "SAME"))
            self._weights.append(get_variable(f"AttnV_{head}", [self._size], dtype=dtype))

    def nothing(self, batch: Any) -> list[Any]:
        """What is read before the first step: zeros."""
        read = []
        for _ in self._weights:
            zero = zeros(stacked([batch, self._size]), dtype=self._dtype)
            zero.set_shape([None, self._size])
            read.append(zero)
        return read

    def __call__(self, state: Any) -> list[Any]:
        """For each head [batch, size]: the states' mean, weighed."""
        flat = nest.flatten(state)
        for part in flat:
            if part.get_shape().ndims is not None:
                part.get_shape().assert_has_rank(2)
        query = concat(flat, 1) if nest.is_nested(state) else state
        read = []
        for head, (features, weights) in enumerate(zip(self._features, self._weights, strict=True)):
            with variable_scope(f"Attention_{head}"):
                wanted = cast(reshape(linear(query, self._size), [-1, 1, 1, self._size]), self._dtype)
                scores = cast(reduce_sum(weights * tanh(features + wanted), [2, 3]), self._dtype)
                shares = reshape(softmax(scores), [-1, self._length, 1, 1])
                read.append(reshape(reduce_sum(shares * self._hidden, [1, 2]), [-1, self._size]))
        return read


def attention_decoder(
    decoder_inputs: Sequence[Any],
    initial_state: Any,
    attention_states: Any,
    cell: Any,
    output_size: int | None = None,
    num_heads: int = 1,
    loop_function: LoopFunction | None = None,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[Any], Any]:
    """`cell` over [batch, depth] inputs, and what is read of attention_states [batch, length, size] after the last step.

    output_size: of the outputs, which are made of the cell's and of what was read; by default the cell's.
    initial_state_attention: whether there is something to read before the first step: what the initial state asks for.
    ValueError: no inputs, no heads, or a size of the states that is not known.
    """
    if not decoder_inputs:
        raise ValueError("Must provide at least 1 input to attention decoder.")
    if num_heads < 1:
        raise ValueError("With less than 1 heads, use a non-attention decoder.")
    if attention_states.get_shape()[2].value is None:
        raise ValueError(f"Shape[2] of attention_states must be known: {attention_states.get_shape()}")
    output_size = output_size if output_size is not None else cell.output_size
    outputs: list[Any] = []
    state = initial_state
    with variable_scope(scope or "attention_decoder", dtype=dtype) as opened:
        attention = _Attention(attention_states, num_heads, opened.dtype)
        read = attention.nothing(shape_of(decoder_inputs[0])[0])  # type: ignore[index]
        if initial_state_attention:
            read = attention(initial_state)
        for step, one in enumerate(_inputs(decoder_inputs, loop_function, outputs)):
            depth = one.get_shape().with_rank(2)[1].value
            if depth is None:
                raise ValueError(f"Could not infer input size from input: {one.name}")
            output, state = cell(linear([one, *[cast(part, one.dtype) for part in read]], depth), state)
            if not step and initial_state_attention:  # which made the variables
                with variable_scope(get_variable_scope(), reuse=True):
                    read = attention(state)
            else:
                read = attention(state)
            with variable_scope("AttnOutputProjection"):
                outputs.append(linear([cast(output, opened.dtype), *read], output_size))
    return outputs, state


def embedding_attention_decoder(
    decoder_inputs: Sequence[Any],
    initial_state: Any,
    attention_states: Any,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_size: int | None = None,
    output_projection: Any = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[Any], Any]:
    """`attention_decoder` of symbols; what concerns them is as in `embedding_rnn_decoder`."""
    output_size = output_size if output_size is not None else cell.output_size
    with variable_scope(scope or "embedding_attention_decoder", dtype=dtype) as opened:
        _check_projection(output_projection, opened.dtype, output_size, num_symbols)
        embedding = get_variable("embedding", [num_symbols, embedding_size])
        loop = extract_argmax_and_embed(embedding, output_projection, update_embedding_for_previous)
        return attention_decoder(
            [embedding_lookup(embedding, one) for one in decoder_inputs],
            initial_state,
            attention_states,
            cell,
            output_size=output_size,
            num_heads=num_heads,
            loop_function=loop if feed_previous else None,
            initial_state_attention=initial_state_attention,
        )
