"""A cell run over the steps of a sequence. Source: `tf.contrib.recurrent.Recurrent`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core import nest
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.custom_gradient import custom_gradient
from tfexp.graph.while_loop import while_loop
from tfexp.ops.array import expand_dims, shape
from tfexp.ops.array_fill import zeros
from tfexp.ops.array_join import concat
from tfexp.ops.tensor_array import TensorArray


def Recurrent(
    theta: Any,
    state0: Any,
    inputs: Any,
    cell_fn: Callable[[Any, Any, Any], tuple[Any, Any]],
    cell_grad: Callable[..., tuple[Any, Any, Any]] | None = None,
    extras: Any = None,
    max_input_length: Any = None,
    use_tpu: bool = False,
    aligned_end: bool = False,
) -> tuple[Any, Any]:
    """(the states after each step, [steps, ...], the last of them), by (state, extra) = cell_fn(theta, state, inputs[t]).

    theta, state0, inputs: structures of tensors; those of `inputs` begin with the steps. cell_grad(theta, state, inputs[t],
    extra, gradient of the new state): the gradients of its first three arguments; unless given, the cell's own.
    max_input_length: how many steps there are, the first ones or with `aligned_end` the last; states of others are zero.
    extras, use_tpu: not used.
    """
    theta, state0, inputs = (nest.map_structure(convert_to_tensor, given) for given in (theta, state0, inputs))
    length = shape(nest.flatten(inputs)[0])[0]
    count: Any = length if max_input_length is None else max_input_length
    begin = length - count if aligned_end else 0
    step = cell_fn if cell_grad is None else _with_gradient(cell_fn, cell_grad)
    steps = [TensorArray(t.dtype, count).unstack(t[begin : begin + count]) for t in nest.flatten(inputs)]
    first = nest.flatten(state0)
    states = [TensorArray(t.dtype, count, element_shape=t.get_shape()) for t in first]

    def body(i: Any, state: Any, states: Any) -> Any:
        given = nest.pack_sequence_as(inputs, [array.read(i) for array in steps])
        new, _ = step(theta, nest.pack_sequence_as(state0, state), given)
        flat = nest.flatten(new)
        for one, before in zip(flat, first, strict=True):
            one.set_shape(before.get_shape())
        return i + 1, flat, [array.write(i, one) for array, one in zip(states, flat, strict=True)]

    _, last, states = while_loop(lambda i, *_: i < count, body, (0, first, states))
    made = [_placed(array.stack(), begin, length - begin - count, one) for array, one in zip(states, first, strict=True)]
    return nest.pack_sequence_as(state0, made), nest.pack_sequence_as(state0, last)


def _placed(made: Any, before: Any, after: Any, like: Any) -> Any:
    """The states of the steps that there are, between the zeros of the others."""
    around = [zeros(concat([expand_dims(count, 0), shape(like)], 0), made.dtype) for count in (before, after)]
    return concat([around[0], made, around[1]], 0)


def _with_gradient(cell_fn: Callable[..., Any], cell_grad: Callable[..., Any]) -> Callable[..., Any]:
    """The cell, with gradients of the caller's making."""

    def cell(*given: Any) -> tuple[Any, Any]:
        extra: Any = None
        new: Any = None

        @custom_gradient
        def differentiated(*flat: Any) -> Any:
            nonlocal new, extra
            arguments = nest.pack_sequence_as(given, list(flat))
            new, extra = cell_fn(*arguments)

            def gradient(*slopes: Any) -> list[Any]:
                return nest.flatten(cell_grad(*arguments, extra, nest.pack_sequence_as(new, list(slopes))))

            return nest.flatten(new), gradient

        flat = differentiated(*nest.flatten(given))
        return nest.pack_sequence_as(new, flat), extra

    return cell
