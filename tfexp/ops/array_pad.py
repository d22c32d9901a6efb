"""Tensors with a margin: Pad, PadV2, MirrorPad."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core.kernel import BindRequest, Call
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.constant_value import constant_value
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array, rank, reshape, shape
from tfexp.ops.array_join import stack
from tfexp.ops.array_slice import slice
from tfexp.ops.shape_rules import fixed_dims, required_dim, with_rank
from tfexp.ops.shared_copy import copy_into

_python_slice = builtins.slice

pad_op = define_op("Pad(input: T, paddings: Tpaddings) -> (output: T) {T: type; Tpaddings: type in [int32,int64] = int32}")


def _padded_shape(input: InputShape, paddings: InputShape) -> TensorShape:
    count, pair = with_rank(paddings, 2).as_list()
    required_dim(pair, 2)
    dims = input.known_dims
    if dims is None:
        return TensorShape(None if count is None else [None] * count)
    if count is not None and count != len(dims):
        raise ValueError(f"Shape must be rank {count} but is rank {len(dims)}")
    if paddings.value is None:
        return TensorShape([None] * len(dims))
    margins = paddings.value.tolist()
    for before, after in margins:
        if before < 0 or after < 0:
            raise ValueError(f"Paddings must be non-negative: {before} {after}")
    return TensorShape([None if d is None else d + sum(margin) for d, margin in zip(dims, margins, strict=True)])


def _check_paddings(input: Array, paddings: Array) -> list[list[int]]:
    if np.ndim(paddings) != 2 or paddings.shape[1] != 2:
        raise ValueError(f"paddings must be a matrix with 2 columns: {dims_text(np.shape(paddings))}")
    if np.ndim(input) != len(paddings):
        raise ValueError(
            f"The first dimension of paddings must be the rank of inputs{dims_text(paddings.shape)} "
            f"{dims_text(np.shape(input))}"
        )
    margins: list[list[int]] = paddings.tolist()
    for before, after in margins:
        if before < 0 or after < 0:
            raise ValueError(f"Paddings must be non-negative: {before} {after}")
    return margins


def _padded(input: Array, paddings: Array, value: Any = None) -> Array:
    """With `value` around it (None: what is nothing of its type)."""
    margins = _check_paddings(input, paddings)
    input = np.asarray(input)
    dims = [d + before + after for d, (before, after) in zip(input.shape, margins, strict=True)]
    result = _nothing(dims, input.dtype) if value is None else np.full(dims, value, input.dtype)
    inside: list[Any] = [_python_slice(before, before + d) for d, (before, _) in zip(input.shape, margins, strict=True)]
    result[(*inside, ...)] = input  # without the dots the place of a lone string would get the array that holds it
    return result


def _nothing(dims: list[int], dtype: Any) -> Array:
    return np.full(dims, b"", dtype) if np.dtype(dtype).hasobject else np.zeros(dims, dtype)


pad_op.shape(_padded_shape)


@pad_op.kernel("CPU")
def _(ctx: Any, input: Array, paddings: Array) -> Array:
    return _padded(input, paddings)


def _bind_pad(node: BindRequest) -> Call | None:
    """`f(input, paddings[, value])` where all but the elements is known."""
    margins, dtype = node.input_values[1], node.output_dtypes[0].as_numpy_dtype
    dims, whole_dims = fixed_dims(node.input_shapes[0]), fixed_dims(node.output_shapes[0])
    has_number = all(value.rank == 0 for value in node.input_shapes[2:])
    if margins is None or dims is None or whole_dims is None or dtype is object or not has_number:
        return None
    pairs = _check_paddings(np.broadcast_to(False, dims), margins)
    inside = tuple(_python_slice(before, before + d) for d, (before, _) in zip(dims, pairs, strict=True))
    around = [
        (*inside[:axis], margin)
        for axis, part in enumerate(inside)
        for margin in (_python_slice(part.start), _python_slice(part.stop, None))
    ]

    def padded(input: Array, paddings: Array, value: Any = 0, out: Array | None = None) -> Array:
        whole = np.empty(whole_dims, dtype) if out is None else out
        for margin in around:
            whole[margin] = value
        copy_into(whole[inside] if inside else whole, input)
        return whole

    return Call(padded, out=True, lays=(0, inside) if node.op_type == "Pad" else None)


pad_op.bind(_bind_pad)


@pad_op.kernel("XLA", static=("paddings",))
def _(jax: Any, input: Array, paddings: Array) -> Array:
    margins = _check_paddings(input, paddings)
    return np.pad(input, margins) if margins else input


def _pad_gradient(op: Operation, grad: Tensor) -> Tensor:
    source, paddings = op.inputs[0], op.inputs[1]
    before = slice(paddings, [0, 0], stack([rank(source), 1]))
    begin = reshape(before, [-1])
    return slice(grad, begin, shape(source, out_type=begin.dtype.base_dtype))


@pad_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [_pad_gradient(op, grad), None]


pad_v2_op = define_op(
    "PadV2(input: T, paddings: Tpaddings, constant_values: T) -> (output: T) {T: type; "
    "Tpaddings: type in [int32,int64] = int32}"
)


@pad_v2_op.shape
def _(input: InputShape, paddings: InputShape, constant_values: InputShape) -> TensorShape:
    return _padded_shape(input, paddings)


@pad_v2_op.kernel("CPU")
def _(ctx: Any, input: Array, paddings: Array, constant_values: Array) -> Array:
    if np.ndim(constant_values):
        raise ValueError(f"constant_values must be a scalar. Found: {dims_text(np.shape(constant_values))}")
    return _padded(input, paddings, constant_values)


pad_v2_op.bind(_bind_pad)


@pad_v2_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [_pad_gradient(op, grad), None, None]


_MIRROR = "{T: type; Tpaddings: type in [int32,int64] = int32; mode: string in ['REFLECT','SYMMETRIC']}"

mirror_pad_op = define_op(f"MirrorPad(input: T, paddings: Tpaddings) -> (output: T) {_MIRROR}")


def _check_mirror(dims: Sequence[int], margins: list[list[int]], mode: str, what: str = "dimension") -> None:
    edge = mode == "REFLECT"
    for axis, (size, margin) in enumerate(zip(dims, margins, strict=True)):
        if max(margin) > size - edge:
            raise ValueError(
                f"paddings must be {'less than' if edge else 'no greater than'} the {what} size: {margin[0]}, "
                f"{margin[1]} {'not less than' if edge else 'greater than'} {size} (dimension {axis})"
            )


@mirror_pad_op.shape
def _(input: InputShape, paddings: InputShape, *, mode: str) -> TensorShape:
    return _padded_shape(input, paddings)


@mirror_pad_op.kernel("CPU", "XLA", static=("paddings",))
def _(ctx: Any, input: Array, paddings: Array, *, mode: str) -> Array:
    margins = _check_paddings(input, paddings)
    _check_mirror(np.shape(input), margins, mode)
    return np.pad(input, margins, mode.lower()) if margins else input.copy()  # type: ignore[call-overload]


@mirror_pad_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [mirror_pad_grad_op(grad, op.inputs[1], mode=op.attrs["mode"]), None]


mirror_pad_grad_op = define_op(f"MirrorPadGrad(input: T, paddings: Tpaddings) -> (output: T) {_MIRROR}")


@mirror_pad_grad_op.shape
def _(input: InputShape, paddings: InputShape) -> TensorShape:
    rows, pair = with_rank(paddings, 2).as_list()
    if pair not in (None, 2):
        raise ValueError(f"Dimension 1 in both shapes must be equal, but are {pair} and 2")
    if rows is None:
        return TensorShape(None)
    dims = with_rank(input, rows).as_list()
    if paddings.value is None:
        return TensorShape([None] * rows)
    return TensorShape([None if d is None else d - sum(m) for d, m in zip(dims, paddings.value.tolist(), strict=True)])


@mirror_pad_grad_op.kernel("CPU")
def _(ctx: Any, input: Array, paddings: Array, *, mode: str) -> Array:
    """Each margin, turned round, is added to the elements that it was copied from."""
    margins = _check_paddings(input, paddings)
    _check_mirror(
        [size - sum(m) for size, m in zip(np.shape(input), margins, strict=True)], margins, mode, "output dimension"
    )
    edge = int(mode == "REFLECT")
    result = np.array(input)
    for axis, (before, after) in enumerate(margins):
        moved = np.moveaxis(result, axis, 0)
        inner = moved[before : len(moved) - after].copy()
        if before:
            inner[edge : edge + before] += moved[before - 1 :: -1] if before == len(moved) else moved[:before][::-1]
        if after:
            stop = len(inner) - edge
            inner[stop - after : stop] += moved[len(moved) - after :][::-1]
        result = np.moveaxis(inner, 0, axis)
    return np.array(result, order="C")


@mirror_pad_grad_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [mirror_pad_op(grad, op.inputs[1], mode=op.attrs["mode"]), None]


def pad(tensor: Any, paddings: Any, mode: str = "CONSTANT", name: str | None = None, constant_values: Any = 0) -> Tensor:
    """`tensor` with `paddings[i] = [before, after]` elements around it along each axis i. Source: `tf.pad`.

    `mode`: CONSTANT (`constant_values`), REFLECT or SYMMETRIC; ValueError for another.
    """
    mode = mode.upper()
    if mode == "CONSTANT":
        if not isinstance(constant_values, Tensor) and np.ndim(constant_values) == 0 and constant_values == 0:
            result = pad_op(tensor, paddings, name=name)
        else:
            result = pad_v2_op(tensor, paddings, constant_values, name=name)
    elif mode in ("REFLECT", "SYMMETRIC"):
        result = mirror_pad_op(tensor, paddings, mode=mode, name=name)
    else:
        raise ValueError(f"Unknown padding mode: {mode}. Use 'CONSTANT', 'REFLECT' or 'SYMMETRIC'")
    _tell_known_sizes(result)
    return result  # type: ignore[no-any-return]


def _tell_known_sizes(padded: Tensor) -> None:
    """Of paddings that are packed from rows, those rows that are constants say how long their axes become."""
    if get_default_graph().is_eager:
        return
    input, paddings = padded._op.inputs[:2]
    if paddings._op.type != "Pack" or paddings._op.attrs["axis"] != 0 or input.shape.rank is None:
        return
    rows = [constant_value(row) for row in paddings._op.inputs]
    sizes = input.shape.as_list()
    padded.set_shape([None if n is None or row is None else n + int(sum(row)) for n, row in zip(sizes, rows, strict=True)])
