"""Batches of segments of sequences that a queue runner brings in. Source: `tf.contrib.training`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.contributed.sequence_batches import NextQueuedSequenceBatch, SequenceQueueingStateSaver
from tfexp.core import dtypes, errors
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import control_dependencies, name_scope
from tfexp.graph.sparse_tensor import SparseTensor, SparseTensorValue, is_sparse
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import shape
from tfexp.ops.array_fill import zeros
from tfexp.ops.array_identity import identity
from tfexp.ops.array_join import concat
from tfexp.ops.cast import cast
from tfexp.ops.check import Assert
from tfexp.ops.comparison import equal
from tfexp.ops.elementwise_division import floormod
from tfexp.ops.random import random_uniform
from tfexp.ops.reduce import reduce_max
from tfexp.ops.sparse_serial import deserialize_sparse, serialize_many_sparse, serialize_sparse
from tfexp.ops.strings import as_string, string_join
from tfexp.ops.summary import scalar
from tfexp.train.queue_runner import QueueRunner, add_queue_runner

_MANY_KEYS = 100_000_000


def batch_sequences_with_states(
    input_key: Any,
    input_sequences: dict[str, Any],
    input_context: dict[str, Any],
    input_length: Any,
    initial_states: dict[str, Any],
    num_unroll: int,
    batch_size: Any,
    num_threads: int = 3,
    capacity: int = 1000,
    allow_small_batch: bool = True,
    pad: bool = True,
    make_keys_unique: bool = False,
    make_keys_unique_seed: int | None = None,
    name: str | None = None,
) -> NextQueuedSequenceBatch:
    """Segments of `num_unroll` steps of the sequences that come in, in batches, with states that go from one to the next.

    What comes in is one sequence: see `SequenceQueueingStateSaver`. pad: sequences are filled up, with zeros or empty
    strings, to a multiple of num_unroll; input_length may then be None. Sequences and context may be sparse.
    make_keys_unique: keys have a random number put after them. Queue runners, `num_threads` of them, bring sequences in.
    TypeError and ValueError as there, and for `num_unroll` that is no integer.
    """
    tensors = [*input_sequences.values(), *input_context.values(), *initial_states.values()]
    with name_scope(name, "batch_sequences_with_states", tensors):
        sequences = {key: _converted(key, input_sequences[key]) for key in sorted(input_sequences)}
        context = {key: _converted(key, value) for key, value in input_context.items()}
        if pad:
            steps, sequences = _padded(sequences, num_unroll)
            input_length = steps if input_length is None else input_length
        if make_keys_unique:
            number = random_uniform([], 0, _MANY_KEYS, dtypes.int32, seed=make_keys_unique_seed)
            input_key = string_join([input_key, as_string(number)])
        saver = SequenceQueueingStateSaver(
            batch_size,
            num_unroll,
            input_length,
            input_key,
            {key: serialize_many_sparse(x) if is_sparse(x) else x for key, x in sequences.items()},
            {key: serialize_sparse(x) if is_sparse(x) else x for key, x in context.items()},
            initial_states,
            capacity,
            allow_small_batch,
        )
        ready = cast(saver.barrier.ready_size(), dtypes.float32)
        scalar(f"queue/{saver.barrier.name}/ready_segment_batches_", ready)
        ends = (errors.OutOfRangeError, errors.CancelledError)
        add_queue_runner(QueueRunner(saver, [saver.prefetch_op] * num_threads, queue_closed_exception_types=ends))
        batch = saver.next_batch
        for given, taken in ((sequences, batch.sequences), (context, batch.context)):
            for key, value in given.items():
                if is_sparse(value):
                    taken[key] = deserialize_sparse(taken[key], value.dtype)
        return batch


def _converted(key: Any, value: Any) -> Any:
    if not isinstance(key, str):
        raise TypeError(f"the names of sequences have to be strings, not {key!r}")
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    return value if is_sparse(value) else convert_to_tensor(value)


def _padded(sequences: dict[str, Any], num_unroll: int) -> tuple[Tensor, dict[str, Any]]:
    """(steps, sequences of a multiple of `num_unroll` steps)."""
    if not isinstance(num_unroll, int):
        raise ValueError(f"num_unroll has to be an int, not {num_unroll!r}")
    steps: Any = _steps(sequences)
    missing = floormod(-steps, num_unroll)
    padded: dict[str, Any] = {}
    for key, value in sequences.items():
        if is_sparse(value):
            whole = concat([[cast(steps + missing, dtypes.int64)], value.dense_shape[1:]], 0)
            padded[key] = SparseTensor(value.indices, value.values, whole)
        else:
            nothing = zeros(concat([[missing], shape(value)[1:]], 0), value.dtype)  # type: ignore[index]
            padded[key] = concat([value, nothing], 0)
            padded[key].set_shape([None, *value.shape[1:]])
    return steps, padded


def _steps(sequences: dict[str, Any]) -> Tensor:
    """How many steps the sequences have; of the longest, where all are sparse."""
    dense: list[Any] = [shape(value)[0] for value in sequences.values() if not is_sparse(value)]  # type: ignore[index]
    if not dense:
        return reduce_max([cast(value.dense_shape[0], dtypes.int32) for value in sequences.values()])
    text = "All sequence lengths must match, but received lengths: "
    with control_dependencies([Assert(equal(dense[0], other), [text, *dense]) for other in dense[1:]]):
        return identity(dense[0])
