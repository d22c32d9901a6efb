"""An encoder, whose last state a decoder begins with. Source: `tf.contrib.legacy_seq2seq`, TF 1.15.

Inputs are lists, one tensor [batch, depth] or, of symbols, int32 [batch] for each step; a model gives (a list of outputs
[batch, size], the decoder's final state). `feed_previous`, also as a bool tensor: the decoder sees only its first input,
and its own likeliest symbols from then on.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfexp.contributed.legacy_seq2seq.decoders import (
    LoopFunction,
    embedding_attention_decoder,
    embedding_rnn_decoder,
    extract_argmax_and_embed,
    rnn_decoder,
)
from tfexp.contributed.rnn.wrappers import EmbeddingWrapper, OutputProjectionWrapper
from tfexp.core import dtypes, nest
from tfexp.graph.control_flow import cond
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.layers.rnn_static import static_rnn
from tfexp.layers.sequence_loss import sequence_loss, sequence_loss_by_example
from tfexp.ops.array import reshape
from tfexp.ops.array_join import concat
from tfexp.ops.embedding import embedding_lookup
from tfexp.ops.variable_scope import get_variable, get_variable_scope, variable_scope


def _decoded(feed_previous: Any, decode: Callable[[bool], tuple[list[Any], Any]]) -> tuple[list[Any], Any]:
    """What `decode(feed_previous)` gives; of a tensor both are built, with the same variables."""
    if isinstance(feed_previous, bool):
        return decode(feed_previous)
    states: list[Any] = []

    def branch(feeds: bool, reuse: bool | None) -> list[Any]:
        with variable_scope(get_variable_scope(), reuse=reuse):
            outputs, state = decode(feeds)
            states.append(state)
            return [*outputs, *nest.flatten(state)]

    found = cond(feed_previous, lambda: branch(True, None), lambda: branch(False, True))
    count = len(found) - len(nest.flatten(states[0]))
    return found[:count], nest.pack_sequence_as(states[0], found[count:])


def basic_rnn_seq2seq(
    encoder_inputs: Sequence[Any], decoder_inputs: Sequence[Any], cell: Any, dtype: Any = dtypes.float32, scope: Any = None
) -> tuple[list[Any], Any]:
    """A cell that encodes, and another one of its kind that decodes."""
    with variable_scope(scope or "basic_rnn_seq2seq"):
        _, state = static_rnn(copy.deepcopy(cell), encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, cell)


def tied_rnn_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs: Sequence[Any],
    cell: Any,
    loop_function: LoopFunction | None = None,
    dtype: Any = dtypes.float32,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """One cell that encodes and decodes."""
    with variable_scope("combined_tied_rnn_seq2seq"):
        scope = scope or "tied_rnn_seq2seq"
        _, state = static_rnn(cell, encoder_inputs, dtype=dtype, scope=scope)
        get_variable_scope().reuse_variables()
        return rnn_decoder(decoder_inputs, state, cell, loop_function=loop_function, scope=scope)


def _encoded(
    encoder_inputs: Sequence[Any], cell: Any, num_symbols: int, embedding_size: int, dtype: Any
) -> tuple[list[Any], Any]:
    """Outputs and final state over symbols, by a cell like this one."""
    encoder = EmbeddingWrapper(copy.deepcopy(cell), embedding_classes=num_symbols, embedding_size=embedding_size)
    return static_rnn(encoder, encoder_inputs, dtype=dtype)


def _dtype_of(scope: Any, dtype: Any) -> Any:
    """The type that a model's scope has, or gets."""
    if dtype is None:
        return scope.dtype
    scope.set_dtype(dtype)
    return dtype


def embedding_rnn_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs: Sequence[Any],
    cell: Any,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    output_projection: Any = None,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Symbols to logits [batch, num_decoder_symbols]; with `output_projection`, to what that brings to logits."""
    with variable_scope(scope or "embedding_rnn_seq2seq") as opened:
        _, start = _encoded(encoder_inputs, cell, num_encoder_symbols, embedding_size, _dtype_of(opened, dtype))
        decoder = OutputProjectionWrapper(cell, num_decoder_symbols) if output_projection is None else cell

        def decode(feeds: bool) -> tuple[list[Any], Any]:
            return embedding_rnn_decoder(
                decoder_inputs,
                start,
                decoder,
                num_decoder_symbols,
                embedding_size,
                output_projection=output_projection,
                feed_previous=feeds,
                update_embedding_for_previous=isinstance(feed_previous, bool),
            )

        return _decoded(feed_previous, decode)


def embedding_tied_rnn_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs: Sequence[Any],
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    num_decoder_symbols: int | None = None,
    output_projection: Any = None,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """One cell and one table of symbols for both; logits [batch, num_decoder_symbols], by default num_symbols."""
    with variable_scope(scope or "embedding_tied_rnn_seq2seq", dtype=dtype) as opened:
        kind = opened.dtype
        if output_projection is not None:
            convert_to_tensor(output_projection[0], dtype=kind).get_shape().assert_is_compatible_with([None, num_symbols])
            convert_to_tensor(output_projection[1], dtype=kind).get_shape().assert_is_compatible_with([num_symbols])
        embedding = get_variable("embedding", [num_symbols, embedding_size], dtype=kind)
        given, wanted = ([embedding_lookup(embedding, one) for one in part] for part in (encoder_inputs, decoder_inputs))
        both = OutputProjectionWrapper(cell, num_decoder_symbols or num_symbols) if output_projection is None else cell

        def decode(feeds: bool) -> tuple[list[Any], Any]:
            update = isinstance(feed_previous, bool)
            loop = extract_argmax_and_embed(embedding, output_projection, update) if feeds else None
            return tied_rnn_seq2seq(given, wanted, both, loop_function=loop, dtype=kind)

        return _decoded(feed_previous, decode)


def embedding_attention_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs: Sequence[Any],
    cell: Any,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_projection: Any = None,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[Any], Any]:
    """`embedding_rnn_seq2seq`, where each step of the decoder reads all outputs of the encoder, by attention."""
    with variable_scope(scope or "embedding_attention_seq2seq", dtype=dtype) as opened:
        outputs, start = _encoded(encoder_inputs, cell, num_encoder_symbols, embedding_size, opened.dtype)
        states = concat([reshape(one, [-1, 1, cell.output_size]) for one in outputs], 1)
        decoder = OutputProjectionWrapper(cell, num_decoder_symbols) if output_projection is None else cell

        def decode(feeds: bool) -> tuple[list[Any], Any]:
            return embedding_attention_decoder(
                decoder_inputs,
                start,
                states,
                decoder,
                num_decoder_symbols,
                embedding_size,
                num_heads=num_heads,
                output_size=num_decoder_symbols if output_projection is None else None,
                output_projection=output_projection,
                feed_previous=feeds,
                update_embedding_for_previous=isinstance(feed_previous, bool),
                initial_state_attention=initial_state_attention,
            )

        return _decoded(feed_previous, decode)


def one2many_rnn_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs_dict: Mapping[str, Sequence[Any]],
    enc_cell: Any,
    dec_cells_dict: Mapping[str, Any],
    num_encoder_symbols: int,
    num_decoder_symbols_dict: Mapping[str, int],
    embedding_size: int,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """One encoder and several decoders, by name: ({name: outputs}, {name: final state})."""
    outputs, states = {}, {}
    with variable_scope(scope or "one2many_rnn_seq2seq", dtype=dtype) as opened:
        _, start = _encoded(encoder_inputs, enc_cell, num_encoder_symbols, embedding_size, opened.dtype)
        for name, decoder_inputs in decoder_inputs_dict.items():
            count = num_decoder_symbols_dict[name]
            with variable_scope(f"one2many_decoder_{name}", dtype=dtype):
                decoder = OutputProjectionWrapper(dec_cells_dict[name], count)

                def decode(feeds: bool, wanted: Any = decoder_inputs, by: Any = decoder, symbols: int = count) -> Any:
                    return embedding_rnn_decoder(wanted, start, by, symbols, embedding_size, feed_previous=feeds)

                outputs[name], states[name] = _decoded(feed_previous, decode)
    return outputs, states


def model_with_buckets(
    encoder_inputs: Sequence[Any],
    decoder_inputs: Sequence[Any],
    targets: Sequence[Any],
    weights: Sequence[Any],
    buckets: Sequence[tuple[int, int]],
    seq2seq: Callable[[Any, Any], tuple[list[Any], Any]],
    softmax_loss_function: Callable[..., Any] | None = None,
    per_example_loss: bool = False,
    name: str | None = None,
) -> tuple[list[list[Any]], list[Any]]:
    """A model for each bucket (steps that go in, steps that come out), with the same variables: (outputs, losses).

    seq2seq: makes the model of inputs and decoder inputs. per_example_loss: losses are [batch], not their mean.
    ValueError: fewer inputs, targets or weights than the last bucket has steps.
    """
    for what, given, wanted in (
        ("encoder_inputs", encoder_inputs, buckets[-1][0]),
        ("targets", targets, buckets[-1][1]),
        ("weights", weights, buckets[-1][1]),
    ):
        if len(given) < wanted:
            raise ValueError(f"Length of {what} ({len(given)}) must be at least that of last bucket ({wanted}).")
    outputs, losses = [], []
    loss = sequence_loss_by_example if per_example_loss else sequence_loss
    with name_scope(name, "model_with_buckets", [*encoder_inputs, *decoder_inputs, *targets, *weights]):
        for i, (steps_in, steps_out) in enumerate(buckets):
            with variable_scope(get_variable_scope(), reuse=True if i else None):
                found, _ = seq2seq(encoder_inputs[:steps_in], decoder_inputs[:steps_out])
                outputs.append(found)
                losses.append(
                    loss(found, targets[:steps_out], weights[:steps_out], softmax_loss_function=softmax_loss_function)
                )
    return outputs, losses
