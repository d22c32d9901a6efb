"""Recurrent networks as loops, over sequences whose length the run decides. Source: `tf.nn`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes, nest
from tfexp.core.shape import TensorShape
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.scopes import control_dependencies, executing_eagerly, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.graph.while_loop import while_loop
from tfexp.layers.rnn_state import joined_shape, outside_of_loops, state_dtype, static_shape
from tfexp.layers.rnn_step import masked_step
from tfexp.layers.rnn_wrappers import check_cell
from tfexp.ops.array import rank, shape
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_fill import zeros
from tfexp.ops.array_identity import identity
from tfexp.ops.array_join import concat, stack
from tfexp.ops.array_order import reverse, reverse_sequence, transpose
from tfexp.ops.cast import cast
from tfexp.ops.check import Assert
from tfexp.ops.comparison import equal
from tfexp.ops.elementwise_binary import maximum, minimum
from tfexp.ops.reduce import reduce_all, reduce_max, reduce_min
from tfexp.ops.tensor_array import TensorArray
from tfexp.ops.variable_scope import VariableScope, variable_scope


def transposed(x: Any) -> Any:
    """x with its first two dimensions, batch and time, swapped; vectors and scalars as they are."""
    known = x.get_shape()
    if known.ndims is not None and known.ndims < 2:
        return x
    swapped = transpose(x, concat(([1, 0], range_(2, rank(x))), axis=0))
    if known.ndims is not None:
        swapped.set_shape(TensorShape([known[1], known[0]]).concatenate(known[2:]))
    return swapped


def batch_size_of(inputs: list[Any]) -> Any:
    """The second dimension of time-major inputs: a number where one of them knows it."""
    for tensor in inputs:
        known = tensor.get_shape()
        if known.ndims is None:
            continue
        if known.ndims < 2:
            raise ValueError(f"Expected input tensor {tensor} to have rank at least 2")
        if known[1].value is not None:
            return known[1].value
    return shape(inputs[0])[1]  # type: ignore[index]


def read_where_used(scope: VariableScope) -> None:
    """Variables of this scope are read on the device that uses them, once for all steps."""
    if outside_of_loops() and scope.caching_device is None:
        scope.set_caching_device(lambda op: op.device)


def initial_state_of(cell: Any, initial_state: Any, batch_size: Any, dtype: Any) -> Any:
    if initial_state is not None:
        return initial_state
    if dtype is None:
        raise ValueError("If there is no initial_state, you must give a dtype.")
    if hasattr(cell, "get_initial_state"):
        return cell.get_initial_state(inputs=None, batch_size=batch_size, dtype=dtype)
    return cell.zero_state(batch_size, dtype)


def dynamic_rnn(
    cell: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state: Any = None,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
) -> tuple[Any, Any]:
    """(outputs, final state) of `cell` over inputs [batch, time, …], or [time, batch, …] with `time_major`.

    sequence_length: [batch] int32 or int64; past an example's length its outputs are zero and its state stays.
    initial_state: else zeros of type `dtype`. Variables are made below `scope`, by default "rnn".
    """
    check_cell(cell)
    with variable_scope(scope or "rnn") as opened:
        read_where_used(opened)
        leaves = nest.flatten(inputs)
        if not time_major:
            leaves = [convert_to_tensor(leaf) for leaf in leaves]
            leaves = [transposed(leaf) for leaf in leaves]
        if sequence_length is not None:
            sequence_length = cast(sequence_length, dtypes.int32)
            if sequence_length.get_shape().ndims not in (None, 1):
                raise ValueError(
                    f"sequence_length must be a vector of length batch_size, but saw shape: {sequence_length.get_shape()}"
                )
            sequence_length = identity(sequence_length, name="sequence_length")
        batch_size = batch_size_of(leaves)
        state = initial_state_of(cell, initial_state, batch_size, dtype)
        if sequence_length is not None and not executing_eagerly():
            with control_dependencies([_has_shape(sequence_length, [batch_size])]):
                sequence_length = identity(sequence_length, name="CheckSeqLen")
        major = nest.pack_sequence_as(inputs, leaves)
        outputs, final = _loop(cell, major, state, parallel_iterations or 32, swap_memory, sequence_length, dtype)
        return (outputs if time_major else nest.map_structure(transposed, outputs)), final


def _has_shape(x: Any, wanted: list[Any]) -> Any:
    found, expected = shape(x), stack(wanted)
    data = [f"Expected shape for Tensor {x.name} is ", expected, " but saw shape: ", found]
    return Assert(reduce_all(equal(found, expected)), data)


def _check_sizes(leaves: list[Any]) -> tuple[Any, Any]:
    """The number of steps and the batch size as far as they are known. ValueError where inputs differ in them."""
    shapes = [leaf.get_shape().with_rank_at_least(3) for leaf in leaves]
    steps, batch = shapes[0].as_list()[:2]
    for known in shapes:
        if not known[2:].is_fully_defined():
            raise ValueError("Input size (depth of inputs) must be accessible via shape inference, but saw value None.")
        if known[0].value != steps:
            raise ValueError("Time steps is not the same for all the elements in the input in a batch.")
        if known[1].value != batch:
            raise ValueError("Batch_size is not the same for all the elements in the input.")
    return steps, batch


def _loop(
    cell: Any, inputs: Any, state: Any, parallel_iterations: int, swap_memory: bool, lengths: Any, dtype: Any
) -> tuple[Any, Any]:
    leaves, sizes = nest.flatten(inputs), nest.flatten(cell.output_size)
    steps: Any = shape(leaves[0])[0]  # type: ignore[index]
    batch_size = batch_size_of(leaves)
    known_steps, known_batch = _check_sizes(leaves)
    kinds = [state_dtype(d, state) for d in (nest.flatten(dtype) if nest.is_nested(dtype) else [dtype] * len(sizes))]
    empty = [zeros(joined_shape(batch_size, size), kind) for size, kind in zip(sizes, kinds, strict=True)]
    zero_output = nest.pack_sequence_as(cell.output_size, empty)
    shortest = reduce_min(lengths) if lengths is not None else None
    longest = reduce_max(lengths) if lengths is not None else steps
    time = constant(0, dtype=dtypes.int32, name="time")
    with name_scope("dynamic_rnn") as base:
        prefix = base
    written = tuple(
        TensorArray(
            kind,
            size=steps,
            element_shape=TensorShape([known_batch]).concatenate(size_shape(size)),
            tensor_array_name=f"{prefix}output_{i}",
        )
        for i, (size, kind) in enumerate(zip(sizes, kinds, strict=True))
    )
    arrays = [
        TensorArray(leaf.dtype, size=steps, element_shape=leaf.get_shape()[1:], tensor_array_name=f"{prefix}input_{i}")
        for i, leaf in enumerate(leaves)
    ]
    arrays = [array.unstack(leaf) for array, leaf in zip(arrays, leaves, strict=True)]

    def body(time: Any, written: Any, state: Any) -> Any:
        elements = [array.read(time) for array in arrays]
        for element, leaf in zip(elements, leaves, strict=True):
            element.set_shape(leaf.get_shape()[1:])
        now = nest.pack_sequence_as(inputs, elements)
        if lengths is None:
            output, following = cell(now, state)
        else:
            output, following = masked_step(
                time, lengths, shortest, longest, zero_output, state, lambda: cell(now, state), always=True
            )
        written = tuple(array.write(time, value) for array, value in zip(written, nest.flatten(output), strict=True))
        return time + 1, written, following

    # At least one step is made, so that what the last state depends on has run.
    bound = minimum(steps, maximum(1, longest))
    _, written, final = while_loop(
        cond=lambda time, *_: time < bound,
        body=body,
        loop_vars=(time, written, state),
        parallel_iterations=parallel_iterations,
        maximum_iterations=steps,
        swap_memory=swap_memory,
    )
    outputs = [array.stack() for array in written]
    for output, size in zip(outputs, sizes, strict=True):
        output.set_shape(static_shape([known_steps, known_batch], size))
    return nest.pack_sequence_as(cell.output_size, outputs), final


def size_shape(size: Any) -> TensorShape:
    """The shape of a state or output of that size, for each example."""
    return TensorShape(size) if isinstance(size, (TensorShape, list, tuple)) else TensorShape([size])


def bidirectional_dynamic_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
) -> tuple[Any, Any]:
    """((outputs, backward outputs), (final state, backward final state)): one cell reads forward, the other backward."""
    check_cell(cell_fw, "cell_fw")
    check_cell(cell_bw, "cell_bw")
    time_axis, batch_axis = (0, 1) if time_major else (1, 0)

    def backward(x: Any) -> Tensor:
        if sequence_length is None:
            return reverse(x, axis=[time_axis])
        return reverse_sequence(x, sequence_length, seq_axis=time_axis, batch_axis=batch_axis)

    settings = {
        "sequence_length": sequence_length,
        "dtype": dtype,
        "parallel_iterations": parallel_iterations,
        "swap_memory": swap_memory,
        "time_major": time_major,
    }
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as opened:
            forward, forward_state = dynamic_rnn(cell_fw, inputs, initial_state=initial_state_fw, scope=opened, **settings)
        with variable_scope("bw") as opened:
            reversed_inputs = nest.map_structure(backward, inputs)
            last_first, backward_state = dynamic_rnn(
                cell_bw, reversed_inputs, initial_state=initial_state_bw, scope=opened, **settings
            )
    return (forward, nest.map_structure(backward, last_first)), (forward_state, backward_state)
