"""`tf.contrib.seq2seq`: decoding by beam search, which keeps the best few sequences of each example. Source: TF 1.15.

Between steps everything is [batch, beams, ...]; the cell sees [batch * beams, ...], as `tile_batch` makes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tfexp.contributed.attention_wrapper import AttentionWrapperState
from tfexp.contributed.decoding import Decoder
from tfexp.core import dtypes, nest
from tfexp.core.shape import TensorShape
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.shape_inference import static_value
from tfexp.ops.array import expand_dims, reshape, shape, size
from tfexp.ops.array_fill import fill, one_hot, zeros, zeros_like
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_gather import gather
from tfexp.ops.array_join import concat, unstack
from tfexp.ops.array_mask import sequence_mask, where, where_v2
from tfexp.ops.array_order import transpose
from tfexp.ops.array_repeat import repeat
from tfexp.ops.array_tile import tile
from tfexp.ops.cast import cast
from tfexp.ops.comparison import equal
from tfexp.ops.elementwise_binary import add_n, minimum
from tfexp.ops.elementwise_unary import log
from tfexp.ops.embedding import embedding_lookup
from tfexp.ops.gather_tree import gather_tree
from tfexp.ops.logical import logical_not, logical_or
from tfexp.ops.nn_softmax import log_softmax
from tfexp.ops.nn_topk import top_k
from tfexp.ops.reduce import reduce_sum
from tfexp.ops.tensor_array import TensorArray


class BeamSearchDecoderState(NamedTuple):
    """What a search knows between steps: all [batch, beams], but for the cell's state and what was attended to."""

    cell_state: Any
    log_probs: Any
    finished: Any
    lengths: Any
    accumulated_attention_probs: Any


class BeamSearchDecoderOutput(NamedTuple):
    """A step's scores, ids, and the beams of the step before that they follow; each [batch, beams]."""

    scores: Any
    predicted_ids: Any
    parent_ids: Any


class FinalBeamSearchDecoderOutput(NamedTuple):
    """Whole beams, [time, batch, beams], the best first, and the steps that they come from."""

    predicted_ids: Any
    beam_search_decoder_output: BeamSearchDecoderOutput


def tile_batch(t: Any, multiplier: int, name: str | None = None) -> Any:
    """`t` [batch, ...] (or a structure of such) with each entry `multiplier` times in a row: [batch * multiplier, ...].

    ValueError for a scalar. Source: `tf.contrib.seq2seq.tile_batch`.
    """
    flat = nest.flatten(t)
    with name_scope(name, "tile_batch", [*flat, multiplier]):
        return nest.map_structure(lambda one: _tiled(one, multiplier), t)


def _tiled(t: Any, multiplier: int) -> Any:
    t = convert_to_tensor(t, name="t")
    if t.get_shape().ndims in (None, 0):
        raise ValueError(f"t must have statically known rank, and a batch dimension, but has the shape {t.get_shape()}")
    tiled = repeat(t, multiplier, axis=0)
    batch = t.get_shape()[0].value
    tiled.set_shape(TensorShape([None if batch is None else batch * multiplier]).concatenate(t.get_shape()[1:]))
    return tiled


def gather_tree_from_array(t: Any, parent_ids: Any, sequence_length: Any) -> Any:
    """Whole beams of `t` [time, batch, beams, ...], what the steps of a search have computed; past its end a beam's own.

    parent_ids: [time, batch, beams]; sequence_length: [batch, beams]. Source: `tf.contrib.seq2seq.gather_tree_from_array`.
    """
    parent_ids = convert_to_tensor(parent_ids, dtypes.int32)
    dims: Any = shape(parent_ids)
    own = tile(range_(dims[2])[None, None, :], [dims[0], dims[1], 1])
    own.set_shape(parent_ids.get_shape())
    return _along_beams(t, own, parent_ids, sequence_length)


def _along_beams(t: Any, places: Any, parent_ids: Any, lengths: Any) -> Any:
    """What `t` has for the steps of whole beams, where `places` [time, batch, beams] says at which beam a step has it."""
    times, _, width = unstack(shape(parent_ids))
    path = _whole_beams(places, parent_ids, width)  # which ends no beam
    within = transpose(sequence_mask(lengths, maxlen=times), [2, 0, 1])
    return gather(t, where(within, path, places), axis=2, batch_dims=2)


def _whole_beams(step_ids: Any, parent_ids: Any, end_token: Any) -> Any:
    """`gather_tree` from the last step of all: beams change places even when all of an example are finished.

    (TensorFlow goes back from where the longest ends, so that ids and scores may then belong to different beams.)
    """
    times, batch, _ = unstack(shape(parent_ids))
    return gather_tree(step_ids, parent_ids, fill([batch], times), end_token)


def _weight(given: Any, name: str) -> Any:
    """The weight of a penalty, or None for one that is 0."""
    weight = convert_to_tensor(given, name=name)
    if weight.get_shape().ndims != 0:
        raise ValueError(f"{name} should be a scalar, but saw shape: {weight.get_shape()}")
    return None if static_value(weight) == 0 else given


class BeamSearchDecoder(Decoder):
    """Keeps, of all that may follow the `beam_width` best sequences of each example, again the `beam_width` best.

    cell, initial_state: an RNN cell and its first state, made with `tile_batch`: [batch * beam_width, ...]. embedding: a
    table, or a function of ids. start_tokens: int32 [batch]; end_token: what ends a sequence. output_layer: makes logits.
    A sequence's score is its log probability over ((5 + length) / 6) ** length_penalty_weight (Wu et al. 2016, eq. 14) and,
    once it has ended, plus coverage_penalty_weight * sum(log(min(attention that each place of the memory has had, 1))) over
    the places that had any. ValueError for weights that are no scalars.
    reorder_tensor_arrays: TensorArrays in the last state come out as tensors [time, batch, beam_width, ...] of whole beams.
    Source: `tf.contrib.seq2seq.BeamSearchDecoder`.
    """

    def __init__(
        self,
        cell: Any,
        embedding: Any,
        start_tokens: Any,
        end_token: Any,
        initial_state: Any,
        beam_width: int,
        output_layer: Any = None,
        length_penalty_weight: float = 0.0,
        coverage_penalty_weight: float = 0.0,
        reorder_tensor_arrays: bool = True,
    ):
        if output_layer is not None and not callable(getattr(output_layer, "compute_output_shape", None)):
            raise TypeError(f"output_layer must be a Layer, received: {type(output_layer)}")
        self._cell, self._output_layer, self._beam_width = cell, output_layer, beam_width
        self._length_penalty_weight = _weight(length_penalty_weight, "length_penalty_weight")
        self._coverage_penalty_weight = _weight(coverage_penalty_weight, "coverage_penalty_weight")
        self._reorders_arrays = reorder_tensor_arrays
        if callable(embedding):
            self._embed: Callable[[Any], Any] = embedding
        else:
            self._embed = lambda ids: embedding_lookup(embedding, ids)
        self._start_tokens = convert_to_tensor(start_tokens, dtypes.int32, name="start_tokens")
        if self._start_tokens.get_shape().ndims != 1:
            raise ValueError("start_tokens must be a vector")
        self._end_token = convert_to_tensor(end_token, dtypes.int32, name="end_token")
        if self._end_token.get_shape().ndims != 0:
            raise ValueError("end_token must be a scalar")
        batch = self._start_tokens.get_shape()[0].value
        self._batch_size: Any = size(self._start_tokens) if batch is None else batch
        self._initial_state = nest.map_structure(self._split, initial_state)

    @property
    def batch_size(self) -> Any:
        return self._batch_size

    @property
    def tracks_own_finished(self) -> bool:
        """Beams change places, so that a step knows which are finished, and the loop does not."""
        return True

    @property
    def output_size(self) -> BeamSearchDecoderOutput:
        beams = TensorShape([self._beam_width])
        return BeamSearchDecoderOutput(beams, beams, beams)

    @property
    def output_dtype(self) -> BeamSearchDecoderOutput:
        return BeamSearchDecoderOutput(nest.flatten(self._initial_state)[0].dtype, dtypes.int32, dtypes.int32)

    def initialize(self, name: str | None = None) -> tuple[Any, Any, BeamSearchDecoderState]:
        """Only the first beam of an example is worth anything: the others are the same."""
        dtype = nest.flatten(self._initial_state)[0].dtype
        first = zeros([self._batch_size], dtypes.int32)
        finished = one_hot(first, self._beam_width, on_value=False, off_value=True, dtype=dtypes.bool)
        log_probs = one_hot(first, self._beam_width, on_value=0.0, off_value=-float("inf"), dtype=dtype)
        attended: Any = ()
        if self._coverage_penalty_weight is not None:
            attended = zeros_like(self._attention(self._initial_state))
        start = tile(expand_dims(self._start_tokens, 1), [1, self._beam_width])
        lengths = zeros([self._batch_size, self._beam_width], dtypes.int64)
        state = BeamSearchDecoderState(self._initial_state, log_probs, finished, lengths, attended)
        return finished, self._embed(start), state

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> tuple[Any, Any, Any, Any]:
        with name_scope(name, "BeamSearchDecoderStep", [time]):
            cell_state = nest.map_structure(self._merge, state.cell_state)
            logits, cell_state = self._cell(nest.map_structure(self._merge, inputs), cell_state)
            if self._output_layer is not None:
                logits = self._output_layer(logits)
            cell_state = nest.map_structure(self._split, cell_state)
            output, following = self._choose(self._split(logits), cell_state, state)
            inputs = self._embed(output.predicted_ids)
        return output, following, inputs, following.finished

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> tuple[Any, Any]:
        ids = _whole_beams(outputs.predicted_ids, outputs.parent_ids, self._end_token)
        if self._reorders_arrays:

            def whole(t: Any) -> Any:
                if not isinstance(t, TensorArray):
                    return t
                # The cell wrote before the step chose, at the beams of the step before: at what are parents now.
                parents = outputs.parent_ids
                return _along_beams(self._split(t.stack(), 1), parents, parents, final_state.lengths)

            final_state = final_state._replace(cell_state=nest.map_structure(whole, final_state.cell_state))
        return FinalBeamSearchDecoderOutput(ids, outputs), final_state

    # --- one step -----------------------------------------------------------------------------------------------------

    def _choose(self, logits: Any, cell_state: Any, before: Any) -> tuple[BeamSearchDecoderOutput, BeamSearchDecoderState]:
        """logits: [batch, beams, ids], of the step that led from the state `before` to this cell state."""
        ids = logits.get_shape()[-1].value or shape(logits)[-1]  # type: ignore[index]
        finished = before.finished
        # What is finished goes on with the end token alone, and at no cost.
        ending = one_hot(self._end_token, ids, on_value=0.0, off_value=logits.dtype.min, dtype=logits.dtype)
        step_log_probs = where_v2(finished[:, :, None], ending, log_softmax(logits))
        log_probs = before.log_probs[:, :, None] + step_log_probs
        goes_on = one_hot(self._end_token, ids, on_value=0, off_value=1, dtype=dtypes.int64)
        running = cast(logical_not(finished), dtypes.int64)
        lengths = before.lengths[:, :, None] + running[:, :, None] * goes_on
        attended = before.accumulated_attention_probs
        if self._coverage_penalty_weight is not None:
            attended += self._attention(cell_state) * cast(running, logits.dtype)[:, :, None]
        scores, places = top_k(
            reshape(self._scores(log_probs, lengths, finished, attended), [self._batch_size, -1]), self._beam_width
        )
        parents, predicted = places // ids, places % ids

        def kept(t: Any) -> Any:
            """Beams [batch, beams, ...] in the order of the chosen ones; what has no beams as it is."""
            if isinstance(t, TensorArray) or t.get_shape().ndims == 0:
                return t
            return gather(t, parents, axis=1, batch_dims=1)

        was_finished = kept(finished)
        following = BeamSearchDecoderState(
            cell_state=nest.map_structure(kept, cell_state),
            log_probs=gather(reshape(log_probs, [self._batch_size, -1]), places, axis=1, batch_dims=1),
            finished=logical_or(was_finished, equal(predicted, self._end_token)),
            lengths=kept(before.lengths) + cast(logical_not(was_finished), dtypes.int64),
            accumulated_attention_probs=nest.map_structure(kept, attended),
        )
        return BeamSearchDecoderOutput(scores, predicted, parents), following

    def _scores(self, log_probs: Any, lengths: Any, finished: Any, attended: Any) -> Any:
        if self._length_penalty_weight is not None:
            log_probs = log_probs / ((5.0 + cast(lengths, log_probs.dtype)) / 6.0) ** self._length_penalty_weight
        if self._coverage_penalty_weight is not None:
            had_any = where_v2(equal(attended, 0.0), 1.0, attended)
            coverage = reduce_sum(log(minimum(had_any, 1.0)), 2) * cast(finished, log_probs.dtype)
            log_probs = log_probs + self._coverage_penalty_weight * coverage[:, :, None]
        return log_probs

    def _attention(self, cell_state: Any) -> Any:
        """[batch, beams, memory] of the last step, the mean of several mechanisms; ValueError where there is none."""
        if not isinstance(cell_state, AttentionWrapperState):
            raise ValueError(
                "coverage_penalty_weight asks for the state of an AttentionWrapper, but the cell's state is "
                f"{type(cell_state).__name__}"
            )
        found = cell_state.alignments
        return add_n(list(found)) / float(len(found)) if isinstance(found, (list, tuple)) else found

    # --- [batch * beams, ...] and [batch, beams, ...] -----------------------------------------------------------------

    def _split(self, t: Any, axis: int = 0) -> Any:
        """[..., batch * beams, ...] as [..., batch, beams, ...]; scalars and TensorArrays as they are."""
        if isinstance(t, TensorArray) or t.get_shape().ndims == 0:
            return t
        static, dims = t.get_shape(), shape(t)
        split = reshape(t, concat([dims[:axis], [self._batch_size, self._beam_width], dims[axis + 1 :]], 0))
        batch = self._start_tokens.get_shape()[0].value
        split.set_shape(static[:axis].concatenate([batch, self._beam_width]).concatenate(static[axis + 1 :]))
        return split

    def _merge(self, t: Any) -> Any:
        """The inverse of `_split`."""
        if isinstance(t, TensorArray) or t.get_shape().ndims == 0:
            return t
        merged = reshape(t, concat([[self._batch_size * self._beam_width], shape(t)[2:]], 0))
        batch = self._start_tokens.get_shape()[0].value
        rows = None if batch is None else batch * self._beam_width
        merged.set_shape(TensorShape([rows]).concatenate(t.get_shape()[2:]))
        return merged
