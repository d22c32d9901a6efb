"""Segments of long sequences in batches, with the states that go from one segment of a sequence to its next.

A sequence comes in whole, is cut into segments of equal length, and the segments go into a `Barrier`, each under its key.
There they lack their states until the segment before has saved them: only then can they be batched with those of other
sequences. Source: `tf.contrib.training.{SequenceQueueingStateSaver,NextQueuedSequenceBatch}`, TF 1.15.
"""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import group
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import colocate_with, control_dependencies, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import expand_dims, reshape, shape, squeeze
from tfexp.ops.array_fill import fill
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_gather import gather
from tfexp.ops.array_identity import identity
from tfexp.ops.array_join import concat
from tfexp.ops.array_mask import where
from tfexp.ops.array_tile import tile
from tfexp.ops.barrier import Barrier
from tfexp.ops.cast import cast
from tfexp.ops.check import Assert
from tfexp.ops.check_compare import assert_greater_equal
from tfexp.ops.clip import clip_by_value
from tfexp.ops.comparison import equal, greater_equal, less_equal, not_equal
from tfexp.ops.elementwise_division import floordiv, floormod
from tfexp.ops.logical import logical_and, logical_not
from tfexp.ops.queue import FIFOQueue
from tfexp.ops.reduce import reduce_all, reduce_sum
from tfexp.ops.strings import as_string, string_join

_OF_A_SEGMENT = ("length", "total_length", "next_key", "sequence", "sequence_count")
_A_TOKEN = 0  # its value says nothing


class NextQueuedSequenceBatch:
    """A batch of segments, each of another sequence: the `next_batch` of a `SequenceQueueingStateSaver`.

    Whoever uses it has to `save_state` every state: the sequences' next segments wait for that.
    """

    def __init__(self, state_saver: SequenceQueueingStateSaver):
        self._saver = state_saver
        self._context: dict[str, Any] = state_saver._taken_of("context")
        self._sequences: dict[str, Any] = state_saver._taken_of("sequence")
        self._states = state_saver._states

    @property
    def total_length(self) -> Tensor:
        """int32 [batch]: of the whole sequence, without padding."""
        return self._saver._taken["total_length"]

    @property
    def length(self) -> Tensor:
        """int32 [batch]: how many steps of the segment are no padding."""
        return self._saver._taken["length"]

    @property
    def batch_size(self) -> Tensor:
        """int32 scalar."""
        return self._saver._taken_size

    @property
    def insertion_index(self) -> Tensor:
        """int64 [batch]: the sequences in the order in which they came, counted up from the lowest int64."""
        return self._saver._taken_indices

    @property
    def key(self) -> Tensor:
        """string [batch]: `<segment>_of_<segments>:<key of the sequence>`, the numbers with five digits."""
        return self._saver._taken_keys

    @property
    def next_key(self) -> Tensor:
        """string [batch]: the `key` of the sequence's next segment, or `STOP:<key of the sequence>`."""
        return self._saver._taken["next_key"]

    @property
    def sequence(self) -> Tensor:
        """int32 [batch]: which segment of its sequence this is, from 0."""
        return self._saver._taken["sequence"]

    @property
    def sequence_count(self) -> Tensor:
        """int32 [batch]: how many segments the sequence has."""
        return self._saver._taken["sequence_count"]

    @property
    def context(self) -> dict[str, Any]:
        """By name, [batch, ...]: what belongs to the sequence as a whole."""
        return self._context

    @property
    def sequences(self) -> dict[str, Any]:
        """By name, [batch, num_unroll, ...]: the segments."""
        return self._sequences

    def state(self, state_name: str) -> Tensor:
        """[batch, ...]: what was saved after the segment before, or the initial state. KeyError for other names."""
        if state_name not in self._states:
            raise KeyError(f"state was not declared: {state_name}")
        return self._states[state_name]

    def save_state(self, state_name: str, value: Any, name: str | None = None) -> Operation:
        """The op that gives a state [batch, ...] to the sequences' next segments. KeyError for other names."""
        before = self.state(state_name)
        with name_scope(name, "InputQueueingStateSaver_SaveState", [value]), self._saver._on_its_device():
            value = identity(value, name=f"convert_{state_name}")
            value.set_shape(value.get_shape().merge_with(before.get_shape()))
            right = reduce_all(equal(shape(before), shape(value)))
            text = f"Shape of tensor {value.name} should be that of the state: "
            with control_dependencies([Assert(right, [text, shape(before), " shape received: ", shape(value)])]):
                value = identity(value, name="shape_checked")
            going_on = reshape(where(logical_not(self._saver._is_last)), [-1])
            return self._saver._insert(
                f"state/{state_name}", gather(self.next_key, going_on), gather(value, going_on), f"State_{state_name}"
            )


class SequenceQueueingStateSaver:
    """Cuts sequences, which come in one at a time, into segments of `num_unroll` steps and batches those of many.

    input_length: int32 scalar, the sequence's without padding. input_key: string scalar, another one for each sequence on
    its way. input_sequences: by name, [steps, ...], steps a multiple of num_unroll, the rest of the shape known.
    input_context, initial_states: by name, of known shapes; there must be a state. capacity: of how many sequences segments
    may wait; as many as there are if None. allow_small_batch: once the input has ended, batches of the segments there are.
    `prefetch_op` brings a sequence in, for a `QueueRunner` to run. TypeError and ValueError for inputs of other kinds.
    """

    def __init__(
        self,
        batch_size: Any,
        num_unroll: int,
        input_length: Any,
        input_key: Any,
        input_sequences: Any,
        input_context: Any,
        initial_states: Any,
        capacity: int | None = None,
        allow_small_batch: bool = False,
        name: str | None = None,
    ):
        if capacity is not None:
            input_key = _with_room_for(input_key, capacity, batch_size)
        self._batch_size, self._num_unroll, self._allow_small_batch = batch_size, num_unroll, allow_small_batch
        # The barrier's room is not bounded, for the last segments of a sequence could then keep out the first; what is
        # bounded is the number of sequences, each of which has a token here.
        self._tokens = FIFOQueue(-1 if capacity is None else capacity, dtypes=[dtypes.int32], shapes=[[]])
        for kind, given in (("initial_states", initial_states), ("sequences", input_sequences), ("context", input_context)):
            _check_names(kind, given)
        if not initial_states:
            raise ValueError("initial_states may not be empty: the next segment of a sequence waits for its states")
        if not input_sequences:
            raise ValueError("must have at least one sequence tensor")
        values = [input_length, input_key, *input_sequences.values(), *input_context.values()]
        with self._on_its_device(), name_scope(name, "InputQueueingStateSaver", values) as scope:
            self._name = scope
            length = convert_to_tensor(input_length, dtypes.int32, name="length")
            key = convert_to_tensor(input_key, dtypes.string, name="key")
            for scalar in (length, key):
                scalar.get_shape().assert_has_rank(0)
            sequences, context, states = (
                _known(kind, given, skipped)
                for kind, given, skipped in (
                    ("sequence", input_sequences, 1),
                    ("context", input_context, 0),
                    ("state", initial_states, 0),
                )
            )
            parts = {**sequences, **context, **states}
            self._fields = [*_OF_A_SEGMENT, *parts]
            scalars = [dtypes.int32, dtypes.int32, dtypes.string, dtypes.int32, dtypes.int32]
            self._barrier = Barrier(
                [*scalars, *(part.dtype for part in parts.values())],
                [[]] * len(scalars)
                + [TensorShape([num_unroll]).concatenate(part.shape[1:]) for part in sequences.values()]
                + [part.shape for part in (*context.values(), *states.values())],
            )
            self._prefetch_op = self._bring_in(length, key, sequences, context, states)
            self._take([_name(field) for field in states])
        self._next_batch = NextQueuedSequenceBatch(self)

    @property
    def name(self) -> str:
        return self._name

    @property
    def barrier(self) -> Barrier:
        return self._barrier

    @property
    def batch_size(self) -> Any:
        return self._batch_size

    @property
    def num_unroll(self) -> int:
        return self._num_unroll

    @property
    def prefetch_op(self) -> Operation:
        """The op that brings one sequence in; it waits while there are `capacity` of them."""
        return self._prefetch_op

    @property
    def next_batch(self) -> NextQueuedSequenceBatch:
        """The batch; running what depends on it waits until there are `batch_size` segments that are ready."""
        return self._next_batch

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Operation:
        """The op after which no sequence comes in; if cancelled, those there are do not go on, either."""
        with name_scope(name, "SQSSClose", [self._prefetch_op]) as scope:
            closed: Operation = group(
                self._barrier.close(cancel_pending_enqueues, "BarrierClose"),
                self._tokens.close(cancel_pending_enqueues, "FIFOClose"),
                name=scope,
            )
            return closed

    def _on_its_device(self) -> Any:
        return colocate_with(self._tokens.queue_ref)

    def _insert(self, field: str, keys: Tensor, values: Any, name: str) -> Operation:
        return self._barrier.insert_many(self._fields.index(field), keys, values, name=f"BarrierInsert{name}")

    def _bring_in(self, length: Tensor, key: Tensor, sequences: Any, context: Any, states: Any) -> Operation:
        steps, sequences = self._checked(length, sequences)
        count = floordiv(steps, self._num_unroll)
        numbers = range_(count)
        total = as_string(count, width=5, fill="0")
        keys = string_join([as_string(numbers, width=5, fill="0"), "_of_", total, ":", key])
        next_keys = concat([keys[1:], expand_dims(string_join(["STOP:", key]), 0)], 0)  # type: ignore[index]
        each = expand_dims(count, 0)
        # All keys come with this one, so that they have the sequence's place in the order; no state comes before it.
        first = self._insert("sequence", keys, numbers, "Sequence")
        token = self._tokens.enqueue(_A_TOKEN)
        inserted = [
            token,
            first,
            self._insert("sequence_count", keys, fill(each, count), "SequenceCount"),
            self._insert("next_key", keys, next_keys, "NextKey"),
            self._insert("length", keys, clip_by_value(length - self._num_unroll * numbers, 0, self._num_unroll), "Length"),
            self._insert("total_length", keys, fill(each, length), "TotalLength"),
        ]
        for field, value in context.items():
            copies = tile(expand_dims(value, 0), concat([each, [1] * value.shape.ndims], 0))
            inserted.append(self._insert(field, keys, copies, f"Context_{_name(field)}"))
        for field, value in sequences.items():
            segments = reshape(value, concat([each, [self._num_unroll], value.shape.as_list()[1:]], 0))
            inserted.append(self._insert(field, keys, segments, f"Sequences_{_name(field)}"))
        with control_dependencies([first, token]):
            for field, value in states.items():
                start = expand_dims(value, 0)
                inserted.append(self._insert(field, keys[:1], start, f"InitialState_{_name(field)}"))  # type: ignore[index]
        together: Operation = group(*inserted, name="StateSaverPrefetchGroup")
        return together

    def _checked(self, length: Tensor, sequences: dict[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
        """(steps with padding, sequences): all have as many, a multiple of `num_unroll` that `length` does not exceed."""
        (_, one), *others = sequences.items()
        steps: Any = identity(shape(one)[0], name="padded_length")  # type: ignore[index]
        multiple = logical_and(equal(floormod(steps, self._num_unroll), 0), not_equal(steps, 0))
        text = f"Tensor {one.name} should be a multiple of: {self._num_unroll}, but saw value: "
        checks = [
            Assert(multiple, [string_join([text, as_string(steps), ". Consider setting pad=True."])]),
            Assert(
                less_equal(length, steps), ["Input length should be <= the length of the sequences:", length, " vs. ", steps]
            ),
        ]
        for label, other in others:
            found: Any = shape(other)[0]  # type: ignore[index]
            text = f"Dimension 0 of tensor labeled {label} should be: "
            checks.append(
                Assert(equal(steps, found), [string_join([text, as_string(steps), ", shape received: ", as_string(found)])])
            )
        with control_dependencies(checks):
            return identity(steps), {label: identity(value) for label, value in sequences.items()}

    def _take(self, states: list[str]) -> None:
        indices, keys, values = self._barrier.take_many(self._batch_size, self._allow_small_batch, name="BarrierTakeMany")
        self._taken_indices, self._taken_keys = indices, keys
        self._taken: dict[str, Tensor] = dict(zip(self._fields, values, strict=True))
        self._taken_size = squeeze(shape(self._taken["length"]))
        self._is_last = greater_equal(self._taken["sequence"] + 1, self._taken["sequence_count"])
        ended = reduce_sum(cast(self._is_last, dtypes.int32))
        with control_dependencies([self._tokens.dequeue_many(ended)]):
            self._states = {name: identity(self._taken[f"state/{name}"]) for name in states}

    def _taken_of(self, kind: str) -> dict[str, Tensor]:
        return {_name(field): value for field, value in self._taken.items() if field.startswith(f"{kind}/")}


def _name(field: str) -> str:
    return field.partition("/")[2]


def _with_room_for(key: Any, capacity: int, batch_size: Any) -> Any:
    if isinstance(batch_size, Tensor):
        room = assert_greater_equal(
            cast(capacity, dtypes.int64), cast(batch_size, dtypes.int64), message="capacity needs to be >= batch_size."
        )
        with control_dependencies([room]):
            return identity(key)
    if capacity < batch_size:
        raise ValueError(f"capacity {capacity} needs to be >= batch_size {batch_size}")
    return key


def _check_names(kind: str, given: Any) -> None:
    if not isinstance(given, dict):
        raise TypeError(f"{kind} must be a dict, not {type(given).__name__}")
    for name in given:
        if not isinstance(name, str):
            raise TypeError(f"{kind} must have strings for names: {name}")
        if ":" in name:
            raise ValueError(f"a name of {kind} may not have a colon: '{name}'")


def _known(kind: str, given: dict[str, Any], skipped: int) -> dict[str, Tensor]:
    """By field of the barrier, sorted; ValueError for shapes that are not known, but for so many sizes at their start."""
    tensors = {f"{kind}/{name}": convert_to_tensor(given[name], name=f"{kind}_{name}") for name in sorted(given)}
    for field, tensor in tensors.items():
        if not tensor.get_shape()[skipped:].is_fully_defined():
            raise ValueError(f"Shape for {field} is not fully defined: {tensor.get_shape()}")
    return tensors
