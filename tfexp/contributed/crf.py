"""`tf.contrib.crf`: linear-chain conditional random fields. Source: TF 1.15; Lafferty, McCallum and Pereira, 2001.

Scores are `inputs` [batch, time, tags] of tags at places, and `transition_params` [tags, tags] of one tag behind another.
Only the first `sequence_lengths` [batch] places of a row count.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.contributed.smart_cond import smart_cond
from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.layers.rnn_cell import RNNCell
from tfexp.layers.rnn_dynamic import dynamic_rnn
from tfexp.ops.argmax import argmax
from tfexp.ops.array import expand_dims, reshape, shape, squeeze
from tfexp.ops.array_fill import fill, zeros_like
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_gather import gather, gather_nd
from tfexp.ops.array_join import concat, stack
from tfexp.ops.array_mask import sequence_mask, where
from tfexp.ops.array_order import reverse_sequence
from tfexp.ops.array_slice import slice as slice_
from tfexp.ops.cast import cast
from tfexp.ops.comparison import equal, less_equal
from tfexp.ops.elementwise_binary import maximum
from tfexp.ops.reduce import reduce_max, reduce_sum
from tfexp.ops.reduce_composite import reduce_logsumexp
from tfexp.ops.variable_scope import get_variable


def _is_one_place(inputs: Tensor) -> Any:
    """Whether rows have a single place, so that there are no transitions."""
    places = inputs.get_shape()[1].value
    return places == 1 if places is not None else equal(shape(inputs)[1], 1)  # type: ignore[index]


def _first(inputs: Tensor) -> Tensor:
    return squeeze(slice_(inputs, [0, 0, 0], [-1, 1, -1]), [1])


def _rest(inputs: Tensor) -> Tensor:
    return slice_(inputs, [0, 1, 0], [-1, -1, -1])


def crf_unary_score(tag_indices: Any, sequence_lengths: Any, inputs: Any) -> Tensor:
    """[batch]: the sum of the tags' own scores."""
    inputs, tag_indices = convert_to_tensor(inputs), cast(tag_indices, dtypes.int32)
    sizes: Any = shape(inputs)
    batch, time, tags = sizes[0], sizes[1], sizes[2]
    offsets = expand_dims(range_(batch) * time * tags, 1) + expand_dims(range_(time) * tags, 0)
    scores = reshape(gather(reshape(inputs, [-1]), reshape(offsets + tag_indices, [-1])), [batch, time])
    return reduce_sum(scores * sequence_mask(sequence_lengths, time, scores.dtype), 1)


def crf_binary_score(tag_indices: Any, sequence_lengths: Any, transition_params: Any) -> Tensor:
    """[batch]: the sum of the transitions' scores."""
    transition_params, tag_indices = convert_to_tensor(transition_params), convert_to_tensor(tag_indices)
    tags = transition_params.get_shape()[0].value
    places: Any = shape(tag_indices)[1]  # type: ignore[index]
    before, behind = slice_(tag_indices, [0, 0], [-1, places - 1]), slice_(tag_indices, [0, 1], [-1, places - 1])
    scores = gather(reshape(transition_params, [-1]), before * tags + behind)
    mask: Any = sequence_mask(sequence_lengths, places, scores.dtype)
    return reduce_sum(scores * slice_(mask, [0, 1], [-1, -1]), 1)


def crf_sequence_score(inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any) -> Tensor:
    """[batch]: the score, not normalised, of `tag_indices` [batch, time]; 0 of an empty row."""
    inputs = convert_to_tensor(inputs)
    unary = crf_unary_score(tag_indices, sequence_lengths, inputs)

    def with_transitions() -> Tensor:
        return unary + crf_binary_score(tag_indices, sequence_lengths, transition_params)

    result: Tensor = smart_cond(_is_one_place(inputs), lambda: unary, with_transitions)
    return result


def crf_multitag_sequence_score(inputs: Any, tag_bitmap: Any, sequence_lengths: Any, transition_params: Any) -> Tensor:
    """[batch]: the logarithm of the summed scores of all sequences of tags that `tag_bitmap` [batch, time, tags] has."""
    inputs = convert_to_tensor(inputs)
    allowed = where(tag_bitmap, inputs, fill(shape(inputs), np.array(-np.inf, inputs.dtype.as_numpy_dtype)))
    return crf_log_norm(allowed, sequence_lengths, transition_params)


def crf_log_norm(inputs: Any, sequence_lengths: Any, transition_params: Any) -> Tensor:
    """[batch]: the logarithm of the summed scores of all sequences; 0 of an empty row."""
    inputs = convert_to_tensor(inputs)
    first, lengths = _first(inputs), convert_to_tensor(sequence_lengths)

    def of_rows(alphas: Tensor) -> Tensor:
        norms = reduce_logsumexp(alphas, [1])
        return where(less_equal(lengths, zeros_like(lengths)), zeros_like(norms), norms)

    def of_more_places() -> Tensor:
        cell = CrfForwardRnnCell(transition_params)
        steps = maximum(cast(0, lengths.dtype), lengths - 1)
        _, alphas = dynamic_rnn(cell, _rest(inputs), steps, initial_state=first, dtype=inputs.dtype)
        return of_rows(alphas)

    result: Tensor = smart_cond(_is_one_place(inputs), lambda: of_rows(first), of_more_places)
    return result


def crf_log_likelihood(
    inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any = None
) -> tuple[Tensor, Any]:
    """(the logarithm of the tags' probability in each row, the transitions: a new variable `transitions` if not given)"""
    inputs = convert_to_tensor(inputs)
    tags = inputs.get_shape()[2].value
    if transition_params is None:
        transition_params = get_variable("transitions", [tags, tags])
    scores = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    return scores - crf_log_norm(inputs, sequence_lengths, transition_params), transition_params


class CrfForwardRnnCell(RNNCell):
    """A step of the forward recursion: the state is, for each tag, the logarithm of the summed scores of what ends in it."""

    def __init__(self, transition_params: Any):
        super().__init__()
        self._transitions = expand_dims(transition_params, 0)
        self._tags = convert_to_tensor(transition_params).get_shape()[0].value

    @property
    def state_size(self) -> Any:
        return self._tags

    @property
    def output_size(self) -> Any:
        return self._tags

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        alphas = inputs + reduce_logsumexp(expand_dims(state, 2) + self._transitions, [1])
        return alphas, alphas


class CrfDecodeForwardRnnCell(RNNCell):
    """A step of Viterbi's algorithm: the state is each tag's best score, the output from which tag before it that comes."""

    def __init__(self, transition_params: Any):
        super().__init__()
        self._transitions = expand_dims(transition_params, 0)
        self._tags = convert_to_tensor(transition_params).get_shape()[0].value

    @property
    def state_size(self) -> Any:
        return self._tags

    @property
    def output_size(self) -> Any:
        return self._tags

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        scores = expand_dims(state, 2) + self._transitions
        return cast(argmax(scores, 1), dtypes.int32), inputs + reduce_max(scores, [1])


class CrfDecodeBackwardRnnCell(RNNCell):
    """A step back along the pointers: state and output are the row's tag, [batch, 1]."""

    def __init__(self, num_tags: int):
        super().__init__()

    @property
    def state_size(self) -> Any:
        return 1

    @property
    def output_size(self) -> Any:
        return 1

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        rows = range_(shape(inputs)[0])  # type: ignore[index]
        tags = expand_dims(gather_nd(inputs, stack([rows, squeeze(state, [1])], 1)), -1)
        return tags, tags


def crf_decode(potentials: Any, transition_params: Any, sequence_length: Any) -> tuple[Tensor, Tensor]:
    """(int32 [batch, time]: the best tags; their scores [batch]). Behind a row's end its tags are of no meaning."""
    potentials = convert_to_tensor(potentials)
    first, lengths = _first(potentials), convert_to_tensor(sequence_length)

    def of_one_place() -> Any:
        return cast(expand_dims(argmax(first, 1), 1), dtypes.int32), reduce_max(first, 1)

    def of_more_places() -> Any:
        forward = CrfDecodeForwardRnnCell(transition_params)
        steps = maximum(cast(0, lengths.dtype), lengths - 1)
        pointers, scores = dynamic_rnn(forward, _rest(potentials), steps, initial_state=first, dtype=dtypes.int32)
        pointers = reverse_sequence(pointers, steps, seq_dim=1)
        last = expand_dims(cast(argmax(scores, 1), dtypes.int32), 1)
        backward = CrfDecodeBackwardRnnCell(forward.output_size)
        tags, _ = dynamic_rnn(backward, pointers, steps, initial_state=last, dtype=dtypes.int32)
        found = concat([last, squeeze(tags, [2])], 1)
        return reverse_sequence(found, lengths, seq_dim=1), reduce_max(scores, 1)

    tags, scores = smart_cond(_is_one_place(potentials), of_one_place, of_more_places)
    return tags, scores


def viterbi_decode(score: Any, transition_params: Any) -> tuple[list[int], Any]:
    """(the best tags, their score) of one row of NumPy scores [time, tags]."""
    best = np.array(score[0])
    pointers = []
    for row in score[1:]:
        scores = np.expand_dims(best, 1) + transition_params
        pointers.append(scores.argmax(0))
        best = row + scores.max(0)
    tags = [int(best.argmax())]
    for pointer in reversed(pointers):
        tags.append(int(pointer[tags[-1]]))
    return tags[::-1], best.max()
