"""LSTMs over whole batches of sequences as one op: `BlockLSTM`, and `BlockLSTMV2`, whose gates come in another order.

What a step computes is said in `block_lstm_cell`; the gates of `BlockLSTMV2` are in, forget, candidate, out, and it has no
bias of the forget gate of its own. Past `seq_len_max` the outputs are zero. Source: TF 1.15.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import errors
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array
from tfexp.ops.block_lstm_cell import (
    SIGNATURE_ATTRS,
    SIGNATURE_STATES,
    SIGNATURE_TYPES,
    SIGNATURE_WEIGHTS,
    Gates,
    Peepholes,
    check_sizes,
    step_gradient,
    step_of,
)
from tfexp.ops.image_blocks import wide
from tfexp.ops.shape_rules import with_rank

block_lstm = define_op(
    f"BlockLSTM(seq_len_max: int64, x: T, {SIGNATURE_WEIGHTS}) -> ({SIGNATURE_STATES}, h: T) {SIGNATURE_ATTRS}"
)
block_lstm_v2 = define_op(
    f"BlockLSTMV2(seq_len_max: int64, x: T, {SIGNATURE_WEIGHTS}) -> ({SIGNATURE_STATES}, h: T) "
    f"{{cell_clip: float = 0.0; use_peephole: bool = false; {SIGNATURE_TYPES}}}"
)
_GRAD = (
    f"(seq_len_max: int64, x: T, {SIGNATURE_WEIGHTS}, {SIGNATURE_STATES}, h: T, cs_grad: T, h_grad: T) -> (x_grad: T, "
    "cs_prev_grad: T, h_prev_grad: T, w_grad: T, wci_grad: T, wcf_grad: T, wco_grad: T, b_grad: T) "
    f"{{use_peephole: bool; {SIGNATURE_TYPES}}}"
)
block_lstm_grad = define_op(f"BlockLSTMGrad{_GRAD}")
block_lstm_grad_v2 = define_op(f"BlockLSTMGradV2{_GRAD}")


def _length(seq_len_max: Any, steps: int) -> int:
    length = int(seq_len_max)
    if not 0 <= length <= steps:
        raise errors.InvalidArgumentError(None, None, f"seq_len_max must be within [0, {steps}], the time of x: {length}")
    return length


@block_lstm.shape
@block_lstm_v2.shape
def _(
    seq_len_max: InputShape,
    x: InputShape,
    cs_prev: Any,
    h_prev: Any,
    w: Any,
    wci: Any,
    wcf: Any,
    wco: Any,
    b: InputShape,
) -> tuple[TensorShape, ...]:
    quadruple = with_rank(b, 1)[0].value
    steps, batch, _ = with_rank(x, 3).as_list()
    if quadruple is not None and quadruple % 4:
        raise ValueError(f"Dimension size must be evenly divisible by 4 but is {quadruple}")
    return (TensorShape([steps, batch, None if quadruple is None else quadruple // 4]),) * 7


def _sequence(
    seq_len_max: Array,
    x: Array,
    cs_prev: Array,
    h_prev: Array,
    w: Array,
    peepholes: Peepholes | None,
    b: Array,
    candidate_first: bool,
    forget_bias: float,
    cell_clip: float,
) -> list[Array]:
    """The seven outputs: [time, batch, units] each."""
    check_sizes(x, cs_prev, h_prev, w, peepholes, b, 3)
    dtype, (steps, batch, inputs), units = x.dtype, x.shape, cs_prev.shape[1]
    length = _length(seq_len_max, steps)
    kind = wide(dtype)
    x, memory, output, w, b = (a.astype(kind, copy=False) for a in (x[:length], cs_prev, h_prev, w, b))
    if peepholes is not None:
        peepholes = Peepholes(*(a.astype(kind, copy=False) for a in peepholes))
    # What the inputs add is known for all steps before the first: one large product instead of many small ones.
    from_inputs = (x.reshape(length * batch, inputs) @ w[:inputs] + b).reshape(length, batch, 4 * units)
    from_outputs = np.ascontiguousarray(w[inputs:])
    results = [np.empty((steps, batch, units), kind) for _ in range(7)]
    for time in range(length):
        gates = from_inputs[time]
        gates += output @ from_outputs
        *out, output = (result[time] for result in results)
        step = step_of(gates, memory, peepholes, candidate_first, forget_bias, cell_clip, Gates(*out))
        memory = step.cs
        np.multiply(step.co, step.o, output)
    for result in results:
        result[length:] = 0
    return [result.astype(dtype, copy=False) for result in results]


def _sequence_gradient(
    seq_len_max: Array,
    x: Array,
    cs_prev: Array,
    h_prev: Array,
    w: Array,
    peepholes: Peepholes | None,
    b: Array,
    steps_taken: Gates,
    h: Array,
    cs_grad: Array,
    h_grad: Array,
    candidate_first: bool,
) -> list[Array]:
    """The eight outputs, from the last step back to the first."""
    kind, dtype = wide(x.dtype), x.dtype
    check_sizes(x, cs_prev, h_prev, w, peepholes, b, 3)
    (steps, batch, inputs), units = x.shape, cs_prev.shape[1]
    for name, value in zip((*Gates._fields, "h", "cs_grad", "h_grad"), (*steps_taken, h, cs_grad, h_grad), strict=True):
        if value.shape != (steps, batch, units):
            text = f"{name} must have the shape {[steps, batch, units]}, but has {list(value.shape)}"
            raise errors.InvalidArgumentError(None, None, text)
    length = _length(seq_len_max, steps)
    w = w.astype(kind, copy=False)
    if peepholes is not None:
        peepholes = Peepholes(*(a.astype(kind, copy=False) for a in peepholes))
    to_outputs = np.ascontiguousarray(w[inputs:].T)
    gates = np.empty((length, batch, 4 * units), kind)
    memory_grad, output_grad = np.zeros((2, batch, units), kind)
    peephole_grads = np.zeros((3, units), kind)
    for time in reversed(range(length)):
        step = Gates(*(a[time].astype(kind, copy=False) for a in steps_taken))
        memory = (steps_taken.cs[time - 1] if time else cs_prev).astype(kind, copy=False)
        grads = step_gradient(
            step, memory, peepholes, candidate_first, cs_grad[time] + memory_grad, h_grad[time] + output_grad
        )
        gates[time] = grads.gates
        memory_grad, output_grad = grads.memory, grads.gates @ to_outputs
        if grads.peepholes is not None:
            peephole_grads += grads.peepholes
    rows = gates.reshape(length * batch, 4 * units)
    x_grad = np.zeros(x.shape, dtype)
    x_grad[:length] = (rows @ w[:inputs].T).reshape(length, batch, inputs)
    outputs = np.concatenate([h_prev[None], h])[:length].reshape(length * batch, units)
    both = np.concatenate([x[:length].reshape(length * batch, inputs), outputs], 1).astype(kind, copy=False)
    results = (x_grad, memory_grad, output_grad, both.T @ rows, *peephole_grads, rows.sum(0))
    return [a.astype(dtype, copy=False) for a in results]


@block_lstm.kernel("CPU")
def _(
    ctx: Any,
    seq_len_max: Array,
    x: Array,
    cs_prev: Array,
    h_prev: Array,
    w: Array,
    wci: Array,
    wcf: Array,
    wco: Array,
    b: Array,
    *,
    forget_bias: float,
    cell_clip: float,
    use_peephole: bool,
) -> list[Array]:
    peepholes = Peepholes(wci, wcf, wco) if use_peephole else None
    return _sequence(seq_len_max, x, cs_prev, h_prev, w, peepholes, b, True, forget_bias, cell_clip)


@block_lstm_v2.kernel("CPU")
def _(
    ctx: Any,
    seq_len_max: Array,
    x: Array,
    cs_prev: Array,
    h_prev: Array,
    w: Array,
    wci: Array,
    wcf: Array,
    wco: Array,
    b: Array,
    *,
    cell_clip: float,
    use_peephole: bool,
) -> list[Array]:
    peepholes = Peepholes(wci, wcf, wco) if use_peephole else None
    return _sequence(seq_len_max, x, cs_prev, h_prev, w, peepholes, b, False, 0.0, cell_clip)


def _backward_kernel(candidate_first: bool) -> Any:
    def kernel(
        ctx: Any,
        seq_len_max: Array,
        x: Array,
        cs_prev: Array,
        h_prev: Array,
        w: Array,
        wci: Array,
        wcf: Array,
        wco: Array,
        b: Array,
        i: Array,
        cs: Array,
        f: Array,
        o: Array,
        ci: Array,
        co: Array,
        h: Array,
        cs_grad: Array,
        h_grad: Array,
        *,
        use_peephole: bool,
    ) -> list[Array]:
        peepholes, steps = Peepholes(wci, wcf, wco) if use_peephole else None, Gates(i, cs, f, o, ci, co)
        return _sequence_gradient(
            seq_len_max, x, cs_prev, h_prev, w, peepholes, b, steps, h, cs_grad, h_grad, candidate_first
        )

    return kernel


block_lstm_grad.kernel("CPU")(_backward_kernel(candidate_first=True))
block_lstm_grad_v2.kernel("CPU")(_backward_kernel(candidate_first=False))


@block_lstm_grad.shape
@block_lstm_grad_v2.shape
def _(
    seq_len_max: InputShape,
    x: InputShape,
    cs_prev: InputShape,
    h_prev: InputShape,
    w: InputShape,
    wci: InputShape,
    wcf: InputShape,
    wco: InputShape,
    b: InputShape,
    *others: Any,
) -> tuple[TensorShape, ...]:
    return tuple(TensorShape(shape.dims) for shape in (x, cs_prev, h_prev, w, wci, wcf, wco, b))


def _differentiated(op: Operation, grads: tuple[Tensor, ...], backward: Any) -> list[Any]:
    """Only the gradients of the memories and of the outputs are looked at: those of all gates follow from them."""
    _, cs_grad, _, _, _, _, h_grad = grads
    found = backward(*op.inputs, *op.outputs, cs_grad, h_grad, use_peephole=op.get_attr("use_peephole"))
    return [None, *found]


@block_lstm.gradient
def _(op: Operation, *grads: Tensor) -> list[Any]:
    return _differentiated(op, grads, block_lstm_grad)


@block_lstm_v2.gradient
def _(op: Operation, *grads: Tensor) -> list[Any]:
    # (TensorFlow 2 makes a BlockLSTMGrad, whose gates come in the other order: numbers that are no gradient.)
    return _differentiated(op, grads, block_lstm_grad_v2)
