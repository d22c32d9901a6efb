"""Decoders of connectionist temporal classification: CTCGreedyDecoder and CTCBeamSearchDecoder. TF 1.15."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfexp.core.errors import FailedPreconditionError, InvalidArgumentError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array
from tfexp.ops.shape_rules import merged_dims, with_rank

greedy_op = define_op(
    "CTCGreedyDecoder(inputs: T, sequence_length: int32) -> (decoded_indices: int64, decoded_values: int64, decoded_shape: "
    "int64, log_probability: T) {merge_repeated: bool = false; blank_index: int = -1; T: type in [float,double] = float}"
).not_differentiable()
beam_search_op = define_op(
    "CTCBeamSearchDecoder(inputs: T, sequence_length: int32) -> (decoded_indices: top_paths * int64, decoded_values: "
    "top_paths * int64, decoded_shape: top_paths * int64, log_probability: T) {beam_width: int >= 1; top_paths: int >= 1; "
    "merge_repeated: bool = true; T: type in [float,double] = float}"
).not_differentiable()


def _batch_of(inputs: InputShape, sequence_length: InputShape) -> int | None:
    return merged_dims(with_rank(inputs, 3).as_list()[1], with_rank(sequence_length, 1).as_list()[0])


@greedy_op.shape
def _(inputs: InputShape, sequence_length: InputShape) -> list[TensorShape]:
    batch = _batch_of(inputs, sequence_length)
    return [TensorShape([None, 2]), TensorShape([None]), TensorShape([2]), TensorShape([batch, 1])]


@beam_search_op.shape
def _(inputs: InputShape, sequence_length: InputShape, *, top_paths: int) -> list[TensorShape]:
    batch = _batch_of(inputs, sequence_length)
    parts = [TensorShape([None, 2]), TensorShape([None]), TensorShape([2])]
    return [*[part for part in parts for _ in range(top_paths)], TensorShape([batch, top_paths])]


def _check(inputs: Array, sequence_length: Array) -> None:
    if inputs.ndim != 3:
        raise InvalidArgumentError(None, None, "inputs is not a 3-Tensor")
    time, batch, _ = inputs.shape
    if sequence_length.shape != (batch,):
        raise FailedPreconditionError(
            None,
            None,
            f"len(sequence_length) != batch_size.  len(sequence_length):  {sequence_length.size} batch_size: {batch}",
        )
    if (sequence_length > time).any():
        raise FailedPreconditionError(None, None, f"sequence_length({int(np.argmax(sequence_length > time))}) <= {time}")


def _sparse(labels: Array, kept: Array) -> tuple[Array, Array, Array]:
    """The labels [batch, time] that are kept, moved together: indices, values, shape."""
    rows, columns = np.nonzero(kept)
    places = (np.cumsum(kept, axis=1) - 1)[rows, columns]
    longest = int(kept.sum(axis=1).max(initial=0))
    indices = np.stack([rows, places], axis=1).astype(np.int64)
    return indices, labels[rows, columns].astype(np.int64), np.array([len(labels), longest], np.int64)


@greedy_op.kernel("CPU")
def _(
    ctx: Any, inputs: Array, sequence_length: Array, *, merge_repeated: bool, blank_index: int
) -> tuple[Array, Array, Array, Array]:
    _check(inputs, sequence_length)
    time, _, classes = inputs.shape
    if not -classes <= blank_index < classes:
        raise InvalidArgumentError(None, None, f"blank_index expected to be between {-classes} and {classes - 1}")
    within = np.arange(time) < sequence_length[:, None]
    best = np.argmax(inputs, axis=2).T
    kept = (best != blank_index % classes) & within
    if merge_repeated:
        kept[:, 1:] &= best[:, 1:] != best[:, :-1]
    sums = np.sum(inputs.max(axis=2).T, axis=1, where=within, dtype=inputs.dtype)
    return (*_sparse(best, kept), np.subtract(0, sums[:, None], dtype=inputs.dtype))


@beam_search_op.kernel("CPU")
def _(
    ctx: Any, inputs: Array, sequence_length: Array, *, beam_width: int, top_paths: int, merge_repeated: bool
) -> list[Array]:
    if top_paths > beam_width:
        raise InvalidArgumentError(None, None, "requested more paths than the beam width.")
    _check(inputs, sequence_length)
    wide = inputs.astype(np.float64)
    wide -= wide.max(axis=2, keepdims=True)
    shares = wide - np.log(np.exp(wide).sum(axis=2, keepdims=True))
    search = _Search(inputs.shape[1], inputs.shape[0], beam_width)
    for t, of_step in enumerate(shares):
        search.step(of_step, t < sequence_length)
    paths, scores = search.best(top_paths)
    found = [_path(one, merge_repeated) for one in np.moveaxis(paths, 1, 0)]
    return [*[part for i in range(3) for part in [one[i] for one in found]], scores.astype(inputs.dtype)]


def _path(labels: Array, merge_repeated: bool) -> tuple[Array, Array, Array]:
    """Of [batch, time] labels, -1 where none was emitted. Repeats are merged across what lies between, as in TensorFlow."""
    kept = labels >= 0
    indices, values, shape = _sparse(labels, kept)
    if not merge_repeated or not len(values):
        return indices, values, shape
    own = np.full(tuple(shape), -1, np.int64)
    own[indices[:, 0], indices[:, 1]] = values
    kept = own >= 0
    kept[:, 1:] &= own[:, 1:] != own[:, :-1]
    return _sparse(own, kept)


class _Search:
    """The beams of a batch: prefixes of labels with the log probabilities to be in them, by what was emitted last.

    Prefixes are told apart by 64-bit hashes. `ends_blank`, `ends_label`: [batch, width]; -inf for a beam that is not there.
    """

    _FACTOR = np.uint64(0x9E3779B97F4A7C15)

    def __init__(self, batch: int, time: int, width: int):
        shape = (batch, width)
        self.ends_blank = np.full(shape, -np.inf)
        self.ends_blank[:, 0] = 0
        self.ends_label = np.full(shape, -np.inf)
        self._hash = np.zeros(shape, np.uint64)
        self._hash[:, 0] = 1
        self._parent = np.zeros(shape, np.uint64)
        self._last = np.full(shape, -1)
        self._came_from: list[Array] = []
        self._emitted: list[Array] = []

    def step(self, shares: Array, going: Array) -> None:
        """One step of log probabilities [batch, classes], for the rows that are still `going`."""
        batch, width = self._hash.shape
        labels = shares.shape[1] - 1
        rows = np.arange(batch)[:, None]
        total = np.logaddexp(self.ends_blank, self.ends_label)
        # Beams that go on as they are: by a blank, by their last label again, and from the beam that lacks that label.
        own = np.where(self._last >= 0, shares[rows, np.maximum(self._last, 0)], -np.inf)
        is_parent = (self._parent[:, :, None] == self._hash[:, None, :]) & np.isfinite(total)[:, None, :]
        is_parent &= (self._last >= 0)[:, :, None]
        has_parent = is_parent.any(axis=2)
        parent = np.argmax(is_parent, axis=2)
        repeats = self._last == self._last[rows, parent]
        from_parent = np.where(repeats, self.ends_blank[rows, parent], total[rows, parent])
        stay_label = np.logaddexp(self.ends_label, np.where(has_parent, from_parent, -np.inf)) + own
        stay_blank = total + shares[:, -1:]
        # Each beam and each label behind it, but those that are beams already.
        longer = total[:, :, None] + shares[:, None, :labels]
        with_last = np.nonzero(self._last >= 0)
        last = self._last[with_last]
        longer[(*with_last, last)] = self.ends_blank[with_last] + shares[with_last[0], last]
        known = np.nonzero(has_parent & np.isfinite(total))
        longer[known[0], parent[known], self._last[known]] = -np.inf
        stay = np.logaddexp(stay_blank, stay_label)
        _leave_out_overtaken(stay, longer, np.where(has_parent & np.isfinite(total), parent, width), self._last)
        scores = np.concatenate([stay, longer.reshape(batch, math.prod(longer.shape[1:]))], axis=1)
        chosen = np.argsort(-scores, axis=1, kind="stable")[:, :width]
        stays = chosen < width
        source = np.where(stays, chosen, (chosen - width) // max(labels, 1))
        label = np.where(stays, -1, (chosen - width) % max(labels, 1))
        before = self._hash[rows, source]
        new = {
            "ends_blank": np.where(stays, stay_blank[rows, source], -np.inf),
            "ends_label": np.where(stays, stay_label[rows, source], scores[rows, chosen]),
            "_hash": np.where(stays, before, (before + label.astype(np.uint64) + np.uint64(2)) * self._FACTOR),
            "_parent": np.where(stays, self._parent[rows, source], before),
            "_last": np.where(stays, self._last[rows, source], label),
        }
        for name, value in new.items():
            setattr(self, name, np.where(going[:, None], value, getattr(self, name)))
        self._came_from.append(np.where(going[:, None], source, np.arange(width)))
        self._emitted.append(np.where(going[:, None], label, -1))

    def best(self, count: int) -> tuple[Array, Array]:
        """(labels [batch, count, time] with -1 where none was emitted, log probabilities [batch, count])."""
        total = np.logaddexp(self.ends_blank, self.ends_label)
        order = np.argsort(-total, axis=1, kind="stable")[:, :count]
        scores = np.take_along_axis(total, order, axis=1)
        if np.isneginf(scores).any():
            raise InvalidArgumentError(None, None, "Less leaves in the beam search than requested.")
        labels = np.full((*order.shape, len(self._emitted)), -1)
        beam = order
        for t in range(len(self._emitted) - 1, -1, -1):
            labels[:, :, t] = np.take_along_axis(self._emitted[t], beam, axis=1)
            beam = np.take_along_axis(self._came_from[t], beam, axis=1)
        return labels, scores


def _leave_out_overtaken(stay: Array, longer: Array, parent: Array, last: Array) -> None:
    """TensorFlow does not go on from a beam that others have overtaken before its turn comes behind its own parent.

    Beams are gone on from in order, label by label, and only the best `width` of what was found so far stay. A beam that is
    no longer among these when its parent comes to its label is forgotten, with all that lies behind it.

    stay: [batch, width], what beams have if they go on as they are. longer: [batch, width, labels], what lies behind them,
    in which forgotten beams get -inf. parent: the parent's number, `width` without one; last: the last label.
    """
    batch, width, labels = longer.shape
    found = longer.reshape(batch, math.prod(longer.shape[1:]))  # in the order in which it is found
    numbers = np.arange(found.shape[1])
    everything = np.concatenate([stay, found], axis=1)
    least = np.partition(everything, -width, axis=1)[:, -width]
    may_be = (parent < np.arange(width)) & (stay < least[:, None])
    for beam in np.nonzero(may_be.any(axis=0))[0]:
        own = stay[:, beam, None]
        before = numbers < (parent[:, beam] * labels + last[:, beam])[:, None]
        better = (stay > own).sum(axis=1) + ((found > own) & before).sum(axis=1)
        longer[may_be[:, beam] & (better >= width), beam] = -np.inf


Decoded = tuple[list[SparseTensor], Tensor]


def ctc_greedy_decoder(inputs: Any, sequence_length: Any, merge_repeated: bool = True) -> Decoded:
    """([the most likely class of each step, without blanks and by default repeats], [batch, 1] minus the sum of logits).

    inputs: [time, batch, classes] logits, the last class the blank. FailedPreconditionError for a length beyond time.
    Source: `tf.nn.ctc_greedy_decoder`.
    """
    indices, values, shape, scores = greedy_op(inputs, sequence_length, merge_repeated=merge_repeated)
    return [SparseTensor(indices, values, shape)], scores


def ctc_beam_search_decoder(
    inputs: Any, sequence_length: Any, beam_width: int = 100, top_paths: int = 1, merge_repeated: bool = True
) -> Decoded:
    """(the `top_paths` most likely sequences of labels, [batch, top_paths] their log probabilities), by a search in beams.

    inputs: [time, batch, classes] logits, the last class the blank. merge_repeated: also merge equal labels that blanks
    set apart. Source: `tf.nn.ctc_beam_search_decoder`.
    """
    indices, values, shapes, scores = beam_search_op(
        inputs, sequence_length, beam_width=beam_width, top_paths=top_paths, merge_repeated=merge_repeated
    )
    return [SparseTensor(*parts) for parts in zip(indices, values, shapes, strict=True)], scores


def ctc_beam_search_decoder_v2(inputs: Any, sequence_length: Any, beam_width: int = 100, top_paths: int = 1) -> Decoded:
    """As `ctc_beam_search_decoder` without merging. Source: `tf.nn.ctc_beam_search_decoder_v2`."""
    return ctc_beam_search_decoder(inputs, sequence_length, beam_width, top_paths, merge_repeated=False)
