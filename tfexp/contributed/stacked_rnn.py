"""`tf.contrib.rnn`: bidirectional layers on top of each other. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.layers.rnn_dynamic import bidirectional_dynamic_rnn
from tfexp.layers.rnn_static import static_bidirectional_rnn
from tfexp.ops.array_join import concat
from tfexp.ops.variable_scope import variable_scope

Layer = Callable[[Any, Any, Any, Any, Any], tuple[Any, Any, Any]]


def _check(cells_fw: Any, cells_bw: Any, states_fw: Any, states_bw: Any) -> None:
    for what, cells in (("cells_fw", cells_fw), ("cells_bw", cells_bw)):
        if not isinstance(cells, list) or not cells:
            raise ValueError(f"{what} must be a list of RNNCells (one per layer).")
    if len(cells_fw) != len(cells_bw):
        raise ValueError("Forward and Backward cells must have the same depth.")
    for what, states in (("initial_states_fw", states_fw), ("initial_states_bw", states_bw)):
        if states is not None and (not isinstance(states, list) or len(states) != len(cells_fw)):
            raise ValueError(f"{what} must be a list of state tensors (one per layer).")


def _stacked(
    cells_fw: Sequence[Any], cells_bw: Sequence[Any], inputs: Any, states_fw: Any, states_bw: Any, scope: Any, layer: Layer
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """(outputs of the last layer, final states forward, backward); each layer reads what the one below gives."""
    _check(cells_fw, cells_bw, states_fw, states_bw)
    ends_fw, ends_bw, values = [], [], inputs
    with variable_scope(scope or "stack_bidirectional_rnn"):
        for i, (forward, backward) in enumerate(zip(cells_fw, cells_bw, strict=True)):
            starts = (None if states is None else states[i] for states in (states_fw, states_bw))
            with variable_scope(f"cell_{i}"):
                values, end_fw, end_bw = layer(forward, backward, values, *starts)
            ends_fw.append(end_fw)
            ends_bw.append(end_bw)
    return values, tuple(ends_fw), tuple(ends_bw)


def stack_bidirectional_dynamic_rnn(
    cells_fw: Sequence[Any],
    cells_bw: Sequence[Any],
    inputs: Any,
    initial_states_fw: Any = None,
    initial_states_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    parallel_iterations: int | None = None,
    time_major: bool = False,
    scope: Any = None,
    swap_memory: bool = False,
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """`bidirectional_dynamic_rnn` for each pair of cells: (outputs [batch, time, both], forward states, backward states)."""

    def layer(forward: Any, backward: Any, values: Any, start_fw: Any, start_bw: Any) -> tuple[Any, Any, Any]:
        outputs, (end_fw, end_bw) = bidirectional_dynamic_rnn(
            forward,
            backward,
            values,
            sequence_length=sequence_length,
            initial_state_fw=start_fw,
            initial_state_bw=start_bw,
            dtype=dtype,
            parallel_iterations=parallel_iterations,
            swap_memory=swap_memory,
            time_major=time_major,
        )
        return concat(outputs, 2), end_fw, end_bw

    return _stacked(cells_fw, cells_bw, inputs, initial_states_fw, initial_states_bw, scope, layer)


def stack_bidirectional_rnn(
    cells_fw: Sequence[Any],
    cells_bw: Sequence[Any],
    inputs: Sequence[Any],
    initial_states_fw: Any = None,
    initial_states_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """`static_bidirectional_rnn` for each pair of cells; inputs and outputs are lists, an element for each time."""

    def layer(forward: Any, backward: Any, values: Any, start_fw: Any, start_bw: Any) -> tuple[Any, Any, Any]:
        return static_bidirectional_rnn(  # type: ignore[return-value]
            forward,
            backward,
            values,
            initial_state_fw=start_fw,
            initial_state_bw=start_bw,
            dtype=dtype,
            sequence_length=sequence_length,
        )

    return _stacked(cells_fw, cells_bw, inputs, initial_states_fw, initial_states_bw, scope, layer)
