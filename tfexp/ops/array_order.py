"""The same elements in another order: transpose, reverse, inverse permutations, distinct values."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.deprecation import deprecated_argument_lookup
from tfexp.core.dtypes import DType
from tfexp.core.kernel import BindRequest, Call
from tfexp.core.op import Op, define_op, get_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.convert import IndexedSlices, convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array, rank
from tfexp.ops.array_fill import range_op
from tfexp.ops.shape_rules import required_dim, with_rank

# --- transpose --------------------------------------------------------------------------------------------------------

invert_permutation_op = define_op(
    "InvertPermutation(x: T) -> (y: T) {T: type in [int32,int64] = int32}"
).not_differentiable()


@invert_permutation_op.shape
def _(x: InputShape) -> TensorShape:
    return with_rank(x, 1)


@invert_permutation_op.kernel("CPU")
def _(ctx: Any, x: Array) -> Array:
    if np.ndim(x) != 1:
        raise ValueError("invert_permutation expects a 1D vector.")
    inverse = np.full_like(x, -1)
    for position, index in enumerate(x.tolist()):
        if not 0 <= index < len(x):
            raise ValueError(f"{index} is not between 0 and {len(x)}")
        if inverse[index] != -1:
            raise ValueError(f"{index} is duplicated in the input.")
        inverse[index] = position
    return inverse


def invert_permutation(x: Any, name: str | None = None) -> Tensor:
    """The permutation that undoes `x`. Source: `tf.invert_permutation`."""
    result: Tensor = invert_permutation_op(x, name=name)
    return result


def _transposed_shape(x: InputShape, perm: InputShape) -> TensorShape:
    with_rank(perm, 1)
    order = perm.value
    dims = x.known_dims
    length = perm.known_dims[0] if perm.known_dims else None
    if dims is None:
        return TensorShape(None if length is None else [None] * length)
    required_dim(length, len(dims))
    if order is None:
        return TensorShape([None] * len(dims))
    for axis in order.tolist():
        if not -len(dims) <= axis < len(dims):
            raise ValueError(f"perm dim {axis} is out of range of input rank {len(dims)}")
    return TensorShape([dims[axis] for axis in order.tolist()])


def _transposed(x: Array, perm: Array) -> Array:
    axes = perm.tolist()
    if len(axes) != np.ndim(x):
        raise ValueError(f"transpose expects a vector of size {np.ndim(x)}. But input(1) is a vector of size {len(axes)}")
    for axis in axes:
        if not -len(axes) <= axis < len(axes):
            raise ValueError(f"{axis} is out of range [0 .. {len(axes)})")
    if len({axis % len(axes) for axis in axes}) < len(axes):
        missing = next(a for a in range(len(axes)) if a not in [b % len(axes) for b in axes])
        raise ValueError(f"{missing} is missing from {{{','.join(map(str, axes))}}}.")
    return np.transpose(x, axes)


def _bind_transpose(node: BindRequest, conjugate: bool) -> Call | None:
    perm = node.input_values[1]
    if perm is None or node.input_shapes[0].rank is None:
        return None
    axes = tuple(perm.tolist())
    if sorted(axes) != list(range(len(node.input_shapes[0]))):
        return None  # negative, or wrong: the kernel's to say
    if conjugate and node.output_dtypes[0].is_complex:
        return Call(lambda x, perm: x.transpose(axes).conj())
    return Call(lambda x, perm: x.transpose(axes), view=True)


transpose_op = define_op("Transpose(x: T, perm: Tperm) -> (y: T) {T: type; Tperm: type in [int32,int64] = int32}")
transpose_op.shape(_transposed_shape)


@transpose_op.kernel("CPU", "XLA", view=True, static=("perm",))
def _(ctx: Any, x: Array, perm: Array) -> Array:
    return _transposed(x, perm)


@transpose_op.bind
def _(node: BindRequest) -> Call | None:
    return _bind_transpose(node, conjugate=False)


@transpose_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [transpose(grad, invert_permutation(op.inputs[1])), None]


conjugate_transpose_op = define_op(
    "ConjugateTranspose(x: T, perm: Tperm) -> (y: T) {T: type; Tperm: type in [int32,int64] = int32}"
)
conjugate_transpose_op.shape(_transposed_shape)


@conjugate_transpose_op.kernel("CPU", "XLA", view=True, static=("perm",))
def _(ctx: Any, x: Array, perm: Array) -> Array:
    result = _transposed(x, perm)
    return result.conj() if np.iscomplexobj(result) else result


@conjugate_transpose_op.bind
def _(node: BindRequest) -> Call | None:
    return _bind_transpose(node, conjugate=True)


@conjugate_transpose_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [transpose(grad, invert_permutation(op.inputs[1]), conjugate=True), None]


def transpose(a: Any, perm: Any = None, name: str = "transpose", conjugate: bool = False) -> Tensor:
    """`a` with its axes in the order `perm` (reversed if None). Source: `tf.transpose`."""
    with name_scope(name, "transpose", [a]) as scope:
        node: Op = transpose_op
        tensor: Any = a if isinstance(a, (Tensor, IndexedSlices)) else convert_to_tensor(a, name="a")
        if conjugate and tensor.dtype.is_complex:
            node = conjugate_transpose_op
        if perm is not None:
            given: Tensor = node(tensor, perm, name=scope)
            return given
        dims = tensor.get_shape().ndims
        if dims is None:
            count = rank(tensor)
            perm = range_op(get_op("Sub")(count, 1, name="sub"), -1, -1)
        else:
            perm = list(range(dims))[::-1]
        result: Tensor = node(tensor, np.array(perm, np.int32) if isinstance(perm, list) else perm, name=scope)
        if tensor.get_shape().known_dims is not None:
            result.set_shape(tensor.get_shape().known_dims[::-1])  # type: ignore[index]
        return result


def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Tensor:
    """`a` with its last two axes exchanged. Source: `tf.matrix_transpose` (`tf.linalg.transpose`)."""
    with name_scope(name, "matrix_transpose", [a]):
        a = convert_to_tensor(a, name="a")
        dims = a.get_shape().ndims
        if dims is not None:
            if dims < 2:
                raise ValueError(f"Argument 'a' should be a (batch) matrix, with rank >= 2.  Found: {a.get_shape()}")
            return transpose(a, perm=[*range(dims - 2), dims - 1, dims - 2], conjugate=conjugate)
        count = rank(a)
        perm = get_op("ConcatV2")(
            [
                range_op(0, get_op("Sub")(count, 2, name="sub"), 1),
                get_op("Pack")(
                    [get_op("Sub")(count, 1, name="sub_1"), get_op("Sub")(count, 2, name="sub_2")], name="concat/values_1"
                ),
            ],
            0,
            name="concat",
        )
        return transpose(a, perm=perm, conjugate=conjugate)


# --- reverse ----------------------------------------------------------------------------------------------------------


reverse_v2_op = define_op(
    "ReverseV2(tensor: T, axis: Tidx) -> (output: T) {Tidx: type in [int32,int64] = int32; "
    "T: type in [uint8,int8,uint16,int16,int32,uint32,int64,uint64,bool,bfloat16,half,float,double,complex64,complex128,"
    "string]}"
)


_ALL, _BACKWARDS = slice(None), slice(None, None, -1)


def _check_reverse_axes(axes: list[int], dims: int) -> None:
    seen = set()
    for i, axis in enumerate(axes):
        if not -dims <= axis < dims:
            raise ValueError(f"'axis'[{i}] = {axis} is out of valid range [0, {dims - 1}]")
        if axis % dims in seen:
            raise ValueError(f"axis {axis % dims} specified more than once.")
        seen.add(axis % dims)


@reverse_v2_op.shape
def _(tensor: InputShape, axis: InputShape) -> TensorShape:
    with_rank(axis, 1)
    if axis.value is not None and tensor.rank is not None:
        _check_reverse_axes(axis.value.tolist(), tensor.rank)
    return tensor


@reverse_v2_op.kernel("CPU", "XLA", view=True, static=("axis",))
def _(ctx: Any, tensor: Array, axis: Array) -> Array:
    axes = axis.tolist()
    _check_reverse_axes(axes, np.ndim(tensor))
    turned = {axis % np.ndim(tensor) for axis in axes}
    return tensor[tuple([_BACKWARDS if axis in turned else _ALL for axis in range(np.ndim(tensor))])] if axes else tensor


@reverse_v2_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [reverse(grad, op.inputs[1]), None]


def reverse(tensor: Any, axis: Any, name: str | None = None) -> Tensor:
    """`tensor` with the order of its elements turned round along these axes. Source: `tf.reverse`."""
    result: Tensor = reverse_v2_op(tensor, axis, name=name)
    return result


reverse_sequence_op = define_op(
    "ReverseSequence(input: T, seq_lengths: Tlen) -> (output: T) {seq_dim: int; batch_dim: int = 0; T: type; "
    "Tlen: type in [int32,int64] = int64}"
)


@reverse_sequence_op.shape
def _(input: InputShape, seq_lengths: InputShape, *, seq_dim: int, batch_dim: int) -> TensorShape:
    lengths = with_rank(seq_lengths, 1)
    dims = input.known_dims
    if dims is None:
        return TensorShape(None)
    for name, axis in (("batch_dim", batch_dim), ("seq_dim", seq_dim)):
        if axis >= len(dims):
            raise ValueError(f"{name} must be < input rank: {axis} vs. {len(dims)}")
    batch = lengths.as_list()[0]
    if dims[batch_dim] is not None and batch is not None and dims[batch_dim] != batch:
        raise ValueError(f"Dimensions must be equal, but are {dims[batch_dim]} and {batch}")
    return TensorShape([batch if i == batch_dim and d is None else d for i, d in enumerate(dims)])


@reverse_sequence_op.kernel("CPU")
def _(ctx: Any, input: Array, seq_lengths: Array, *, seq_dim: int, batch_dim: int) -> Array:
    if seq_dim == batch_dim:
        raise ValueError(f"batch_dim == seq_dim == {seq_dim}")
    if len(seq_lengths) != input.shape[batch_dim]:
        raise ValueError(f"len(seq_lens) != input.dims({batch_dim}), ({len(seq_lengths)} vs. {input.shape[batch_dim]})")
    wrong = np.flatnonzero((seq_lengths < 0) | (seq_lengths > input.shape[seq_dim]))
    if wrong.size:
        first = wrong[0]
        raise ValueError(f"seq_lens({first}) {'< 0' if seq_lengths[first] < 0 else f'> input.dims({seq_dim})'}")
    positions = np.arange(input.shape[seq_dim])
    lengths = seq_lengths[:, None]
    source = np.where(positions < lengths, lengths - 1 - positions, positions)
    index_shape = [1] * input.ndim
    index_shape[batch_dim], index_shape[seq_dim] = source.shape
    if batch_dim > seq_dim:
        source = source.T
    return np.take_along_axis(input, source.reshape(index_shape), seq_dim)


@reverse_sequence_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    back = reverse_sequence_op(grad, op.inputs[1], seq_dim=op.attrs["seq_dim"], batch_dim=op.attrs["batch_dim"])
    return [back, None]


def reverse_sequence(
    input: Any,
    seq_lengths: Any,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
    seq_dim: int | None = None,
    batch_dim: int | None = None,
) -> Tensor:
    """Row i of `input` with its first `seq_lengths[i]` elements turned round. Source: `tf.reverse_sequence`."""
    seq = deprecated_argument_lookup("seq_axis", seq_axis, "seq_dim", seq_dim)
    batch = deprecated_argument_lookup("batch_axis", batch_axis, "batch_dim", batch_dim)
    result: Tensor = reverse_sequence_op(input, seq_lengths, seq_dim=seq, batch_dim=0 if batch is None else batch, name=name)
    return result


# --- what one vector has and another lacks ---------------------------------------------------------------------------

list_diff_op = define_op("ListDiff(x: T, y: T) -> (out: T, idx: out_idx) {T: type; out_idx: type in [int32,int64] = int32}")


@list_diff_op.shape
def _(x: InputShape, y: InputShape) -> list[TensorShape]:
    with_rank(x, 1)
    with_rank(y, 1)
    return [TensorShape([None]), TensorShape([None])]


@list_diff_op.kernel("CPU")
def _(ctx: Any, x: Array, y: Array, *, out_idx: DType) -> list[Array]:
    for name, values in (("x", x), ("y", y)):
        if values.ndim != 1:
            raise ValueError(f"{name} should be a 1D vector, got shape {dims_text(values.shape)}")
    unwanted = set(y.tolist())
    kept: Array = np.array([i for i, value in enumerate(x.tolist()) if value not in unwanted], out_idx.as_numpy_dtype)
    return [x[kept], kept]


def setdiff1d(x: Any, y: Any, index_dtype: Any = dtypes.int32, name: str | None = None) -> Any:
    """(out, idx): the elements of `x` that `y` does not have, and where they are. Source: `tf.setdiff1d`."""
    return list_diff_op(x, y, out_idx=index_dtype, name=name)
