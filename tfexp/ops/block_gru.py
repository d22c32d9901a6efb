"""A step of a gated recurrent unit as one op, `GRUBlockCell`.

    [r, u] = sigmoid([x, h_prev] w_ru + b_ru)    c = tanh([x, h_prev * r] w_c + b_c)    h = (1 - u) * c + u * h_prev

Source: TF 1.15.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array
from tfexp.ops.array_join import concat
from tfexp.ops.block_lstm_cell import require, require_rank
from tfexp.ops.elementwise_unary import sigmoid_of
from tfexp.ops.matmul import matmul
from tfexp.ops.nn_bias import bias_add_grad_op
from tfexp.ops.shape_rules import with_rank

_INPUTS = "x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T"
gru_block_cell = define_op(f"GRUBlockCell({_INPUTS}) -> (r: T, u: T, c: T, h: T) {{T: type in [float]}}")
gru_block_cell_grad = define_op(
    f"GRUBlockCellGrad({_INPUTS}, r: T, u: T, c: T, d_h: T) -> "
    "(d_x: T, d_h_prev: T, d_c_bar: T, d_r_bar_u_bar: T) {T: type in [float]}"
)


def _check(x: Array, h_prev: Array, w_ru: Array, w_c: Array, b_ru: Array, b_c: Array) -> None:
    """InvalidArgumentError where the sizes do not fit each other."""
    for name, value, rank in (("x", x, 2), ("h_prev", h_prev, 2), ("w_ru", w_ru, 2), ("w_c", w_c, 2)):
        require_rank(name, value, rank)
    require_rank("b_ru", b_ru, 1)
    require_rank("b_c", b_c, 1)
    (batch, inputs), units = x.shape, h_prev.shape[1]
    require("h_prev.dims(0)", h_prev.shape[0], "batch_size", batch)
    require("w_ru.dim_size(0)", w_ru.shape[0], "input_size + cell_size", inputs + units)
    require("w_ru.dim_size(1)", w_ru.shape[1], "cell_size * 2", units * 2)
    require("w_c.dim_size(0)", w_c.shape[0], "input_size + cell_size", inputs + units)
    require("w_c.dim_size(1)", w_c.shape[1], "cell_size", units)
    require("b_ru.dim_size(0)", b_ru.shape[0], "cell_size * 2", units * 2)
    require("b_c.dim_size(0)", b_c.shape[0], "cell_size", units)


@gru_block_cell.shape
def _(x: InputShape, h_prev: InputShape, *weights: Any) -> tuple[TensorShape, ...]:
    return (TensorShape([with_rank(x, 2)[0], with_rank(h_prev, 2)[1]]),) * 4


@gru_block_cell.kernel("CPU")
def _(ctx: Any, x: Array, h_prev: Array, w_ru: Array, w_c: Array, b_ru: Array, b_c: Array) -> list[Array]:
    _check(x, h_prev, w_ru, w_c, b_ru, b_c)
    gates = sigmoid_of(np.concatenate([x, h_prev], 1) @ w_ru + b_ru)
    units = h_prev.shape[1]
    r, u = np.ascontiguousarray(gates[:, :units]), np.ascontiguousarray(gates[:, units:])
    c = np.tanh(np.concatenate([x, h_prev * r], 1) @ w_c + b_c)
    return [r, u, c, (1 - u) * c + u * h_prev]


@gru_block_cell.gradient
def _(op: Operation, *grads: Tensor) -> list[Any]:
    x, h_prev, *_ = op.inputs
    r, u, c, _ = op.outputs
    d_x, d_h_prev, d_c_bar, d_r_bar_u_bar = gru_block_cell_grad(*op.inputs, r, u, c, grads[3])
    w_ru_grad = matmul(concat([x, h_prev], 1), d_r_bar_u_bar, transpose_a=True)
    b_ru_grad = bias_add_grad_op(d_r_bar_u_bar)
    w_c_grad = matmul(concat([x, h_prev * r], 1), d_c_bar, transpose_a=True)  # type: ignore[operator]
    return [d_x, d_h_prev, w_ru_grad, w_c_grad, b_ru_grad, bias_add_grad_op(d_c_bar)]


@gru_block_cell_grad.shape
def _(x: InputShape, h_prev: InputShape, w_ru: InputShape, *others: Any) -> tuple[TensorShape, ...]:
    batch, inputs = with_rank(x, 2).as_list()
    units = with_rank(h_prev, 2).as_list()[1]
    states = TensorShape([batch, units])
    return TensorShape([batch, inputs]), states, states, TensorShape([batch, None if units is None else 2 * units])


@gru_block_cell_grad.kernel("CPU")
def _(
    ctx: Any,
    x: Array,
    h_prev: Array,
    w_ru: Array,
    w_c: Array,
    b_ru: Array,
    b_c: Array,
    r: Array,
    u: Array,
    c: Array,
    d_h: Array,
) -> list[Array]:
    _check(x, h_prev, w_ru, w_c, b_ru, b_c)
    for name, value in (("r", r), ("u", u), ("c", c), ("d_h", d_h)):
        require_rank(name, value, 2)
        require(f"{name}.dims(0)", value.shape[0], "batch_size", x.shape[0])
        require(f"{name}.dims(1)", value.shape[1], "cell_size", h_prev.shape[1])
    inputs = x.shape[1]
    d_c_bar = d_h * (1 - u) * (1 - c * c)
    d_u_bar = d_h * (h_prev - c) * u * (1 - u)
    through_c = d_c_bar @ w_c.T
    d_kept = through_c[:, inputs:]  # of h_prev * r
    gates = np.concatenate([d_kept * h_prev * r * (1 - r), d_u_bar], 1)
    through_gates = gates @ w_ru.T
    d_x = through_c[:, :inputs] + through_gates[:, :inputs]
    return [d_x, through_gates[:, inputs:] + d_kept * r + d_h * u, d_c_bar, gates]
