"""`tf.contrib.seq2seq`: decoders, what feeds them, and the loop that runs them. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tfexp.core import dtypes, nest
from tfexp.core.shape import TensorShape
from tfexp.graph.control_flow import cond
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.while_loop import while_loop
from tfexp.layers.rnn_state import zeros_of
from tfexp.ops.argmax import argmax
from tfexp.ops.array import rank, shape, size
from tfexp.ops.array_fill import fill, zeros_like
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_join import concat
from tfexp.ops.array_mask import where
from tfexp.ops.array_order import transpose
from tfexp.ops.array_tile import tile
from tfexp.ops.comparison import equal, greater_equal
from tfexp.ops.embedding import embedding_lookup
from tfexp.ops.logical import logical_not, logical_or
from tfexp.ops.random import multinomial
from tfexp.ops.reduce import reduce_all
from tfexp.ops.tensor_array import TensorArray
from tfexp.ops.variable_scope import variable_scope


def _swapped(x: Any) -> Any:
    """[a, b, ...] as [b, a, ...]."""
    if x.get_shape().ndims is not None:
        return transpose(x, [1, 0, *range(2, x.get_shape().ndims)])
    return transpose(x, concat([[1, 0], range_(2, rank(x))], axis=0))


# --- helpers: where a step's inputs come from --------------------------------------------------------------------------


class Helper:
    """What a BasicDecoder asks: the first inputs, samples of outputs, the next inputs."""

    batch_size: Any

    @property
    def sample_ids_shape(self) -> TensorShape:
        return TensorShape([])

    @property
    def sample_ids_dtype(self) -> Any:
        return dtypes.int32

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        """(which examples are finished before they begin, the inputs of the first step)."""
        raise NotImplementedError

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """[batch] ids of a step's outputs."""
        raise NotImplementedError

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Any:
        """(which examples are finished, the next inputs, the next state)."""
        raise NotImplementedError


class TrainingHelper(Helper):
    """Feeds the true sequences `inputs` [batch, time, depth], each as long as `sequence_length` says.

    Source: `tf.contrib.seq2seq.TrainingHelper`.
    """

    def __init__(self, inputs: Any, sequence_length: Any, time_major: bool = False, name: str | None = None):
        with name_scope(name, "TrainingHelper", [inputs, sequence_length]):
            inputs = nest.map_structure(convert_to_tensor, inputs)
            if not time_major:
                inputs = nest.map_structure(_swapped, inputs)
            self._steps = nest.map_structure(_unstacked, inputs)
            self._sequence_length: Any = convert_to_tensor(sequence_length, name="sequence_length")
            if self._sequence_length.get_shape().ndims != 1:
                found = self._sequence_length.get_shape()
                raise ValueError(f"Expected sequence_length to be a vector, but received shape: {found}")
            self._zero_inputs = nest.map_structure(lambda x: zeros_like(x[0, :]), inputs)
            self.batch_size = size(self._sequence_length)

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        with name_scope(name, "TrainingHelperInitialize"):
            finished = equal(0, self._sequence_length)
            return finished, self._read(constant(0), finished)

    def _read(self, time: Any, finished: Any) -> Any:
        """The inputs of a time; zeros when there is no more."""
        read = cond(
            reduce_all(finished),
            lambda: nest.flatten(self._zero_inputs),
            lambda: [steps.read(time) for steps in nest.flatten(self._steps)],
        )
        leaves = read if isinstance(read, list) else [read]
        for leaf, zero in zip(leaves, nest.flatten(self._zero_inputs), strict=True):
            leaf.set_shape(zero.get_shape())
        return nest.pack_sequence_as(self._zero_inputs, leaves)

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        with name_scope(name, "TrainingHelperSample", [time, outputs]):
            return argmax(outputs, axis=-1, output_type=dtypes.int32)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Any:
        with name_scope(name, "TrainingHelperNextInputs", [time, outputs]):
            next_time = time + 1
            finished = greater_equal(next_time, self._sequence_length)
            return finished, self._read(next_time, finished), state


def _unstacked(x: Any) -> TensorArray:
    array = TensorArray(dtype=x.dtype, size=shape(x)[0], element_shape=x.get_shape()[1:])  # type: ignore[index]
    return array.unstack(x)


class GreedyEmbeddingHelper(Helper):
    """Feeds the embedding of the likeliest id, from `start_tokens` [batch] until `end_token`.

    embedding: a table, or a function of ids. Source: `tf.contrib.seq2seq.GreedyEmbeddingHelper`.
    """

    def __init__(self, embedding: Any, start_tokens: Any, end_token: Any):
        if callable(embedding):
            self._embed: Callable[[Any], Any] = embedding
        else:
            self._embed = lambda ids: embedding_lookup(embedding, ids)
        self._start_tokens = convert_to_tensor(start_tokens, dtypes.int32, name="start_tokens")
        self._end_token = convert_to_tensor(end_token, dtypes.int32, name="end_token")
        if self._start_tokens.get_shape().ndims != 1:
            raise ValueError("start_tokens must be a vector")
        if self._end_token.get_shape().ndims != 0:
            raise ValueError("end_token must be a scalar")
        self.batch_size = size(self._start_tokens)
        self._start_inputs = self._embed(self._start_tokens)

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        return tile([False], [self.batch_size]), self._start_inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        return argmax(outputs, axis=-1, output_type=dtypes.int32)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Any:
        finished = equal(sample_ids, self._end_token)
        following = cond(reduce_all(finished), lambda: self._start_inputs, lambda: self._embed(sample_ids))
        following.set_shape(self._start_inputs.get_shape())
        return finished, following, state


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """As GreedyEmbeddingHelper, with ids drawn from softmax(outputs / temperature).

    Source: `tf.contrib.seq2seq.SampleEmbeddingHelper`.
    """

    def __init__(
        self,
        embedding: Any,
        start_tokens: Any,
        end_token: Any,
        softmax_temperature: Any = None,
        seed: int | None = None,
    ):
        super().__init__(embedding, start_tokens, end_token)
        self._temperature, self._seed = softmax_temperature, seed

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        logits = outputs if self._temperature is None else outputs / self._temperature
        drawn: Any = multinomial(logits, 1, seed=self._seed, output_dtype=dtypes.int32)
        return drawn[:, 0]


# --- decoders -----------------------------------------------------------------------------------------------------------


class Decoder:
    """What `dynamic_decode` runs. Source: `tf.contrib.seq2seq.Decoder`."""

    @property
    def batch_size(self) -> Any:
        raise NotImplementedError

    @property
    def output_size(self) -> Any:
        raise NotImplementedError

    @property
    def output_dtype(self) -> Any:
        raise NotImplementedError

    def initialize(self, name: str | None = None) -> tuple[Any, Any, Any]:
        """(finished, first inputs, first state)."""
        raise NotImplementedError

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> tuple[Any, Any, Any, Any]:
        """(outputs, next state, next inputs, finished)."""
        raise NotImplementedError

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> tuple[Any, Any]:
        return outputs, final_state

    @property
    def tracks_own_finished(self) -> bool:
        return False


class BasicDecoderOutput(NamedTuple):
    rnn_output: Any
    sample_id: Any


class BasicDecoder(Decoder):
    """A cell, fed by a helper, with an optional layer on its outputs. Source: `tf.contrib.seq2seq.BasicDecoder`."""

    def __init__(self, cell: Any, helper: Helper, initial_state: Any, output_layer: Any = None):
        if not isinstance(helper, Helper):
            raise TypeError(f"helper must be a Helper, received: {type(helper)}")
        self._cell, self._helper = cell, helper
        self._initial_state, self._output_layer = initial_state, output_layer

    @property
    def batch_size(self) -> Any:
        return self._helper.batch_size

    def _rnn_output_size(self) -> Any:
        depth = self._cell.output_size
        if self._output_layer is None:
            return depth
        found = self._output_layer.compute_output_shape(TensorShape([None]).concatenate(TensorShape(depth)))
        return found[1:]

    @property
    def output_size(self) -> BasicDecoderOutput:
        return BasicDecoderOutput(self._rnn_output_size(), self._helper.sample_ids_shape)

    @property
    def output_dtype(self) -> BasicDecoderOutput:
        return BasicDecoderOutput(nest.flatten(self._initial_state)[0].dtype, self._helper.sample_ids_dtype)

    def initialize(self, name: str | None = None) -> tuple[Any, Any, Any]:
        return (*self._helper.initialize(), self._initial_state)

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> tuple[Any, Any, Any, Any]:
        with name_scope(name, "BasicDecoderStep", [time]):
            outputs, state = self._cell(inputs, state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            ids = self._helper.sample(time=time, outputs=outputs, state=state)
            finished, inputs, state = self._helper.next_inputs(time=time, outputs=outputs, state=state, sample_ids=ids)
        return BasicDecoderOutput(outputs, ids), state, inputs, finished


def dynamic_decode(
    decoder: Decoder,
    output_time_major: bool = False,
    impute_finished: bool = False,
    maximum_iterations: Any = None,
    parallel_iterations: int = 32,
    swap_memory: bool = False,
    scope: Any = None,
) -> tuple[Any, Any, Any]:
    """(outputs [batch, time, ...], final state, [batch] lengths): the decoder's steps until all examples are finished.

    impute_finished: zeros for outputs, and the state kept, of examples that are finished. maximum_iterations: no more steps
    than that. TypeError for what is no Decoder. Source: `tf.contrib.seq2seq.dynamic_decode`.
    """
    if not isinstance(decoder, Decoder):
        raise TypeError(f"Expected decoder to be type Decoder, but saw: {type(decoder)}")
    with variable_scope(scope, "decoder"):
        limit = None
        if maximum_iterations is not None:
            limit = convert_to_tensor(maximum_iterations, dtypes.int32, name="maximum_iterations")
            if limit.get_shape().ndims != 0:
                raise ValueError("maximum_iterations must be a scalar")
        finished, inputs, state = decoder.initialize()
        sizes, kinds = nest.flatten(decoder.output_size), nest.flatten(decoder.output_dtype)
        nothing = [zeros_of(decoder.batch_size, one, kind) for one, kind in zip(sizes, kinds, strict=True)]
        structure = decoder.output_size
        if limit is not None:
            finished = logical_or(finished, greater_equal(0, limit))
        arrays = [
            TensorArray(dtype=kind, size=0, dynamic_size=True, element_shape=zero.get_shape())
            for kind, zero in zip(kinds, nothing, strict=True)
        ]

        def body(time: Any, arrays: Any, state: Any, inputs: Any, finished: Any, lengths: Any) -> Any:
            outputs, next_state, next_inputs, now_finished = decoder.step(time, inputs, state)
            next_finished = now_finished if decoder.tracks_own_finished else logical_or(now_finished, finished)
            next_lengths = where(logical_not(finished), fill(shape(lengths), time + 1), lengths)
            emitted = nest.flatten(outputs)
            if impute_finished:
                emitted = [where(finished, zero, out) for zero, out in zip(nothing, emitted, strict=True)]
                next_state = nest.map_structure(lambda new, old: _kept(finished, new, old), next_state, state)
            if limit is not None:
                next_finished = logical_or(next_finished, greater_equal(time + 1, limit))
            arrays = [array.write(time, out) for array, out in zip(arrays, emitted, strict=True)]
            return time + 1, arrays, next_state, next_inputs, next_finished, next_lengths

        first = (constant(0), arrays, state, inputs, finished, zeros_like(finished, dtype=dtypes.int32))
        _, arrays, state, _, _, lengths = while_loop(
            lambda time, arrays, state, inputs, finished, lengths: logical_not(reduce_all(finished)),
            body,
            loop_vars=first,
            parallel_iterations=parallel_iterations,
            swap_memory=swap_memory,
        )
        outputs, state = decoder.finalize(
            nest.pack_sequence_as(structure, [array.stack() for array in arrays]), state, lengths
        )
        if not output_time_major:
            outputs = nest.map_structure(_swapped, outputs)
    return outputs, state, lengths


def _kept(finished: Any, new: Any, old: Any) -> Any:
    """The old state of examples that are finished; what has no batch is new."""
    if isinstance(new, TensorArray) or new.get_shape().ndims == 0:
        return new
    new.set_shape(old.get_shape())
    return where(finished, old, new)
