"""A step of an LSTM as one op, `LSTMBlockCell`.

With [x, h_prev] w + b split into four gates (in, candidate, forget, out):

    i = sigmoid(in + wci * cs_prev)        f = sigmoid(forget + forget_bias + wcf * cs_prev)
    ci = tanh(candidate)                   cs = clip(ci * i + cs_prev * f)
    o = sigmoid(out + wco * cs)            co = tanh(cs)            h = co * o

The peepholes wci, wcf, wco count with `use_peephole` only; `cell_clip` <= 0 clips nothing, and gradients flow as if nothing
had been clipped. Source: TF 1.15.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tfexp.core import errors
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array
from tfexp.ops.array_join import concat
from tfexp.ops.array_slice import slice as slice_
from tfexp.ops.elementwise_unary import sigmoid_of
from tfexp.ops.image_blocks import wide
from tfexp.ops.matmul import matmul
from tfexp.ops.nn_bias import bias_add_grad_op
from tfexp.ops.shape_rules import with_rank

SIGNATURE_WEIGHTS = "cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T"
SIGNATURE_STATES = "i: T, cs: T, f: T, o: T, ci: T, co: T"
SIGNATURE_TYPES = "T: type in [half,float]"
SIGNATURE_ATTRS = f"{{forget_bias: float = 1.0; cell_clip: float = 3.0; use_peephole: bool = false; {SIGNATURE_TYPES}}}"

lstm_block_cell = define_op(f"LSTMBlockCell(x: T, {SIGNATURE_WEIGHTS}) -> ({SIGNATURE_STATES}, h: T) {SIGNATURE_ATTRS}")
lstm_block_cell_grad = define_op(
    f"LSTMBlockCellGrad(x: T, {SIGNATURE_WEIGHTS}, {SIGNATURE_STATES}, cs_grad: T, h_grad: T) -> (cs_prev_grad: T, "
    f"dicfo: T, wci_grad: T, wcf_grad: T, wco_grad: T) {{use_peephole: bool; {SIGNATURE_TYPES}}}"
)


class Peepholes(NamedTuple):
    """The weights through which gates see the memory: [units] each."""

    i: Any
    f: Any
    o: Any


class Gates(NamedTuple):
    """What one step computes, in the order of the ops' outputs: [batch, units] each."""

    i: Any
    cs: Any
    f: Any
    o: Any
    ci: Any
    co: Any


def step_of(
    gates: Any,
    memory: Any,
    peepholes: Peepholes | None,
    candidate_first: bool,
    forget_bias: float,
    cell_clip: float,
    out: Gates | None = None,
) -> Gates:
    """One step, from the four gates side by side ([batch, 4 * units]), which it changes, and the memory."""
    units = memory.shape[1]
    step = Gates(*(np.empty_like(memory) for _ in range(6))) if out is None else out
    i, second, third, o = (gates[:, n * units : (n + 1) * units] for n in range(4))
    ci, f = (second, third) if candidate_first else (third, second)
    if forget_bias:
        f += np.asarray(forget_bias, gates.dtype)
    if peepholes is not None:
        i += peepholes.i * memory
        f += peepholes.f * memory
    sigmoid_of(i, step.i)
    sigmoid_of(f, step.f)
    np.tanh(ci, step.ci)
    np.multiply(memory, step.f, step.cs)
    np.multiply(step.ci, step.i, step.co)
    np.add(step.cs, step.co, step.cs)
    if cell_clip > 0:
        np.clip(step.cs, -cell_clip, cell_clip, out=step.cs)
    if peepholes is not None:
        o += peepholes.o * step.cs
    sigmoid_of(o, step.o)
    np.tanh(step.cs, step.co)
    return step


class StepGradient(NamedTuple):
    memory: Any
    gates: Any  # [batch, 4 * units], in the order of the op
    peepholes: Peepholes | None  # [units] each


def step_gradient(
    step: Gates, memory: Any, peepholes: Peepholes | None, candidate_first: bool, cs_grad: Any, h_grad: Any
) -> StepGradient:
    """From the gradients of a step's memory and output to those of what the step was computed from."""
    i, cs, f, o, ci, co = step
    do = o * (1 - o) * h_grad * co
    dcs = (1 - co * co) * h_grad * o + cs_grad
    if peepholes is not None:
        dcs = dcs + do * peepholes.o
    dci = (1 - ci * ci) * dcs * i
    df = f * (1 - f) * dcs * memory
    di = i * (1 - i) * dcs * ci
    before = dcs * f
    weights = None
    if peepholes is not None:
        before = before + di * peepholes.i + df * peepholes.f
        weights = Peepholes((di * memory).sum(0), (df * memory).sum(0), (do * cs).sum(0))
    return StepGradient(before, np.concatenate([di, dci, df, do] if candidate_first else [di, df, dci, do], 1), weights)


def require(what: str, found: int, wanted_name: str, wanted: int) -> None:
    """InvalidArgumentError unless the two sizes are one."""
    if found != wanted:
        raise errors.InvalidArgumentError(None, None, f"{what} != {wanted_name}: {found} vs. {wanted}")


def require_rank(name: str, x: Any, rank: int) -> None:
    if x.ndim != rank:
        raise errors.InvalidArgumentError(None, None, f"{name} must be rank {rank} but is rank {x.ndim}.")


def check_sizes(x: Any, cs_prev: Any, h_prev: Any, w: Any, peepholes: Peepholes | None, b: Any, rank: int) -> None:
    """InvalidArgumentError where sizes do not fit each other; x: [batch, inputs], with `rank` 3 [time, batch, inputs]."""
    for name, value, its_rank in (("x", x, rank), ("cs_prev", cs_prev, 2), ("h_prev", h_prev, 2), ("w", w, 2), ("b", b, 1)):
        require_rank(name, value, its_rank)
    (batch, inputs), units = x.shape[-2:], cs_prev.shape[1]
    require("cs_prev.dims(0)", cs_prev.shape[0], "batch_size", batch)
    require("h_prev.dims(0)", h_prev.shape[0], "batch_size", batch)
    require("h_prev.dims(1)", h_prev.shape[1], "cell_size", units)
    require("w.dim_size(0)", w.shape[0], "input_size + cell_size", inputs + units)
    require("w.dim_size(1)", w.shape[1], "cell_size * 4", units * 4)
    require("b.dim_size(0)", b.shape[0], "cell_size * 4", units * 4)
    for name, value in zip(("wci", "wcf", "wco"), peepholes or ()):
        require_rank(name, value, 1)
        require(f"{name}.dim_size(0)", value.shape[0], "cell_size", units)


@lstm_block_cell.shape
def _(
    x: InputShape, cs_prev: InputShape, h_prev: Any, w: Any, wci: Any, wcf: Any, wco: Any, b: Any
) -> tuple[TensorShape, ...]:
    each = TensorShape([with_rank(x, 2)[0], with_rank(cs_prev, 2)[1]])
    return (each,) * 7


@lstm_block_cell.kernel("CPU")
def _(
    ctx: Any,
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
    dtype = x.dtype
    x, cs_prev, h_prev, w, b, *weights = (a.astype(wide(dtype)) for a in (x, cs_prev, h_prev, w, b, wci, wcf, wco))
    peepholes = Peepholes(*weights) if use_peephole else None
    check_sizes(x, cs_prev, h_prev, w, peepholes, b, 2)
    step = step_of(np.concatenate([x, h_prev], 1) @ w + b, cs_prev, peepholes, True, forget_bias, cell_clip)
    return [a.astype(dtype, copy=False) for a in (*step, step.co * step.o)]


@lstm_block_cell.gradient
def _(op: Operation, *grads: Tensor) -> list[Any]:
    x, _, h_prev, w, *_ = op.inputs
    _, cs_grad, _, _, _, _, h_grad = grads
    cs_prev_grad, gates_grad, wci_grad, wcf_grad, wco_grad = lstm_block_cell_grad(
        *op.inputs, *op.outputs[:6], cs_grad, h_grad, use_peephole=op.get_attr("use_peephole")
    )
    x_grad, h_prev_grad = input_gradients(gates_grad, x, h_prev, w)
    w_grad = matmul(concat([x, h_prev], 1), gates_grad, transpose_a=True)
    return [x_grad, cs_prev_grad, h_prev_grad, w_grad, wci_grad, wcf_grad, wco_grad, bias_add_grad_op(gates_grad)]


def input_gradients(gates_grad: Tensor, x: Tensor, h_prev: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    """The gradients of x and h_prev, from that of [x, h_prev] w. ValueError where their depths are not known."""
    inputs, units = x.get_shape().with_rank(2)[1].value, h_prev.get_shape().with_rank(2)[1].value
    if inputs is None or units is None:
        raise ValueError(f"the gradient needs to know the depths of x and h_prev; they are {x} and {h_prev}")
    both = matmul(gates_grad, w, transpose_b=True)
    rows = x.get_shape()[0].value
    rows = -1 if rows is None else rows
    x_grad = slice_(both, (0, 0), (rows, inputs))
    x_grad.get_shape().merge_with(x.get_shape())
    h_prev_grad = slice_(both, (0, inputs), (rows, units))
    h_prev_grad.get_shape().merge_with(h_prev.get_shape())
    return x_grad, h_prev_grad


@lstm_block_cell_grad.shape
def _(x: InputShape, cs_prev: InputShape, *others: Any) -> tuple[TensorShape, ...]:
    batch, units = with_rank(x, 2)[0], with_rank(cs_prev, 2).as_list()[1]
    peephole = TensorShape([units])
    return TensorShape([batch, units]), TensorShape([batch, None if units is None else 4 * units]), *(peephole,) * 3


@lstm_block_cell_grad.kernel("CPU")
def _(
    ctx: Any,
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
    cs_grad: Array,
    h_grad: Array,
    *,
    use_peephole: bool,
) -> list[Array]:
    dtype = x.dtype
    for name, value in zip((*Gates._fields, "cs_grad", "h_grad"), (i, cs, f, o, ci, co, cs_grad, h_grad), strict=True):
        if value.shape != cs_prev.shape:
            text = f"{name} must have the shape of cs_prev, {list(cs_prev.shape)}, but has {list(value.shape)}"
            raise errors.InvalidArgumentError(None, None, text)
    peepholes = Peepholes(*(a.astype(wide(dtype)) for a in (wci, wcf, wco))) if use_peephole else None
    check_sizes(x, cs_prev, h_prev, w, peepholes, b, 2)
    step = Gates(*(a.astype(wide(dtype)) for a in (i, cs, f, o, ci, co)))
    cs_prev, cs_grad, h_grad = (a.astype(wide(dtype)) for a in (cs_prev, cs_grad, h_grad))
    grads = step_gradient(step, cs_prev, peepholes, True, cs_grad, h_grad)
    weights = grads.peepholes or (np.zeros_like(wci), np.zeros_like(wcf), np.zeros_like(wco))
    return [a.astype(dtype, copy=False) for a in (grads.memory, grads.gates, *weights)]
