"""Parts of a tensor: Slice, StridedSlice (what `x[…]` makes)."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core.kernel import BindRequest, Call, Place
from tfexp.core.merged_shape import merged
from tfexp.core.op import define_op, get_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.operation import Operation
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array, element_array, rank, reshape, shape
from tfexp.ops.array_fill import ones_like
from tfexp.ops.array_join import concat, stack
from tfexp.ops.shape_rules import fixed_dims, with_rank

_python_slice = builtins.slice

# --- slice ------------------------------------------------------------------------------------------------------------

slice_op = define_op("Slice(input: T, begin: Index, size: Index) -> (output: T) {T: type; Index: type in [int32,int64]}")


@slice_op.shape
def _(input: InputShape, begin: InputShape, size: InputShape) -> TensorShape:
    count = merged(with_rank(begin, 1), with_rank(size, 1)).as_list()[0]
    dims = input.known_dims
    if dims is not None and count is not None and len(dims) != count:
        raise ValueError(f"Shape must be rank {count} but is rank {len(dims)}")
    sizes = None if size.value is None else size.value.tolist()
    # Of a computed beginning, elements may be known by themselves.
    starts = begin.value_as_shape.known_dims if begin.value is None else begin.value.tolist()
    if sizes is None:
        # Of a computed size, elements that are known are sizes of their own (-1 reads as unknown).
        partial = size.value_as_shape.known_dims
        if partial is not None:
            return TensorShape(partial)
        return TensorShape([None] * count if count is not None else None if dims is None else [None] * len(dims))
    out: list[int | None] = []
    for i, length in enumerate(sizes):
        whole = None if dims is None else dims[i]
        start = None if starts is None else starts[i]
        if length == -1:
            out.append(None if whole is None or start is None else whole - start)
        else:
            out.append(length)
        if out[-1] is not None and out[-1] < 0:
            raise ValueError(f"Dimension {out[-1]} must be >= 0: slice of {length} elements from {start} of {whole}")
    return TensorShape(out)


def _slice_index(dims: Sequence[int], begin: list[int], size: list[int]) -> tuple[Any, ...]:
    if len(begin) != len(dims) or len(size) != len(dims):
        raise ValueError(
            f"Expected begin and size arguments to be 1-D tensors of size {len(dims)}, but got shapes [{len(begin)}] and "
            f"[{len(size)}] instead."
        )
    index: list[Any] = []
    for i, (whole, start, length) in enumerate(zip(dims, begin, size, strict=True)):
        if length == -1:
            length = whole - start
        if not 0 <= start <= whole:
            raise ValueError(f"Expected begin[{i}] in [0, {whole}], but got {start}")
        if length < 0 or start + length > whole:
            raise ValueError(f"Expected size[{i}] in [0, {whole - start}], but got {length}")
        index.append(_python_slice(start, start + length))
    return (*index, ...)  # of a scalar, too, an array: alone, its string is none any more


@slice_op.kernel("CPU", "XLA", view=True, static=("begin", "size"))
def _(ctx: Any, input: Array, begin: Array, size: Array) -> Array:
    return input[_slice_index(np.shape(input), begin.tolist(), size.tolist())]


@slice_op.bind
def _(node: BindRequest) -> Call | None:
    begin, size = node.input_values[1:]
    if begin is None or size is None or not node.input_shapes[0].is_fully_defined():
        return None
    try:
        index = _slice_index(tuple(node.input_shapes[0].as_list()), begin.tolist(), size.tolist())  # type: ignore[arg-type]
    except ValueError:
        return None  # the kernel's to say, when it runs
    return Call(lambda input, begin, size: input[index], view=True)


@slice_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    source, begin = op.inputs[0], op.inputs[1]
    count = rank(source)
    taken = shape(op.outputs[0], out_type=begin.dtype.base_dtype)
    column = stack([count, 1])
    before = reshape(begin, column)
    dims = shape(source, out_type=begin.dtype.base_dtype)
    left = get_op("Sub")(get_op("Sub")(dims, taken, name="sub"), begin, name="sub")
    after = reshape(left, column)
    return [get_op("Pad")(grad, concat([before, after], 1)), None, None]


def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Tensor:
    """`size` elements from `begin` on, along every axis (-1: all that follow). Source: `tf.slice`."""
    result: Tensor = slice_op(input_, begin, size, name=name)
    return result


# --- strided slice ----------------------------------------------------------------------------------------------------

_MASKS = "begin_mask: int = 0; end_mask: int = 0; ellipsis_mask: int = 0; new_axis_mask: int = 0; shrink_axis_mask: int = 0"
_MASK_NAMES = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")

strided_slice_op = define_op(
    "StridedSlice(input: T, begin: Index, end: Index, strides: Index) -> (output: T) {T: type; "
    f"Index: type in [int16,int32,int64]; {_MASKS}}}"
)


def strided_index(begin: list[int], end: list[int], strides: list[int], masks: dict[str, int]) -> tuple[Any, ...]:
    """The NumPy index that a strided slice with these masks means. ValueError for strides that cannot be."""
    index: list[Any] = []
    for i, (start, stop, step) in enumerate(zip(begin, end, strides, strict=True)):
        if masks["ellipsis_mask"] >> i & 1:
            if Ellipsis in index:
                raise ValueError("Multiple ellipses in slice spec not allowed")
            index.append(Ellipsis)
        elif masks["new_axis_mask"] >> i & 1:
            index.append(None)
        elif step == 0:
            raise ValueError(f"strides[{i}] must be non-zero")
        elif masks["shrink_axis_mask"] >> i & 1:
            if step < 0:
                raise ValueError("only stride 1 allowed on non-range indexing.")
            index.append(start)
        else:
            first = None if masks["begin_mask"] >> i & 1 else start
            last = None if masks["end_mask"] >> i & 1 else stop
            index.append(_python_slice(first, last, step))
    return tuple(index)


def _input_axes(index: Sequence[Any], dims: int) -> list[tuple[Any, int | None]]:
    """Each entry of an index with the input's axis that it is about; an ellipsis becomes whole axes."""
    used = sum(entry is not None and entry is not Ellipsis for entry in index)
    if used > dims:
        raise ValueError(f"Index out of range using input dim {dims}; input has only {dims} dims")
    entries = list(index) if Ellipsis in index else [*index, Ellipsis]
    out: list[tuple[Any, int | None]] = []
    axis = 0
    for entry in entries:
        if entry is Ellipsis:
            for _ in range(dims - used):
                out.append((_python_slice(None), axis))
                axis += 1
        elif entry is None:
            out.append((None, None))
        else:
            out.append((entry, axis))
            axis += 1
    return out


def _check_bounds(index: Sequence[Any], dims: Sequence[int | None]) -> None:
    for entry, axis in _input_axes(index, len(dims)):
        if isinstance(entry, int) and axis is not None:
            size = dims[axis]
            if size is not None and not -size <= entry < size:
                raise ValueError(f"slice index {entry} of dimension {axis} out of bounds.")


@strided_slice_op.shape
def _(input: InputShape, begin: InputShape, end: InputShape, strides: InputShape, **attrs: Any) -> TensorShape:
    masks = {name: attrs[name] for name in _MASK_NAMES}
    dims = input.known_dims
    count = merged(merged(with_rank(begin, 1), with_rank(end, 1)), with_rank(strides, 1)).as_list()[0]
    if dims is None or count is None or strides.value is None:
        return TensorShape(None)
    known = begin.value is not None and end.value is not None
    placeholder = [1] * count
    index = strided_index(
        begin.value.tolist() if known else placeholder,
        end.value.tolist() if known else placeholder,
        strides.value.tolist(),
        masks,
    )
    if known:
        _check_bounds(index, dims)
    out: list[int | None] = []
    for entry, axis in _input_axes(index, len(dims)):
        if entry is None:
            out.append(1)
        elif isinstance(entry, _python_slice):
            assert axis is not None
            open_ended = entry.start is None and entry.stop is None
            size = dims[axis]
            out.append(
                len(range(*entry.indices(size)))
                if size is not None and (known or open_ended)
                else _open_length(entry, known)
            )
    return TensorShape(out)


def _open_length(entry: Any, known: bool) -> int | None:
    """The length of a slice of an axis of unknown size: 0 where no size can give more, else unknown."""
    if not known or entry.start is None or entry.stop is None or (entry.start < 0) != (entry.stop < 0):
        return None
    empty = entry.start >= entry.stop if entry.step > 0 else entry.start <= entry.stop
    return 0 if empty else None


@strided_slice_op.kernel("CPU", view=True)
def _(ctx: Any, input: Array, begin: Array, end: Array, strides: Array, **attrs: Any) -> Array:
    index = strided_index(begin.tolist(), end.tolist(), strides.tolist(), attrs)
    _check_bounds(index, np.shape(input))
    return element_array(np.asarray(input)[index])


@strided_slice_op.kernel("XLA", static=("begin", "end", "strides"))
def _(jax: Any, input: Array, begin: Array, end: Array, strides: Array, **attrs: Any) -> Array:
    index = strided_index(begin.tolist(), end.tolist(), strides.tolist(), attrs)
    _check_bounds(index, input.shape)
    return input[index]


@strided_slice_op.bind
def _(node: BindRequest) -> Call | None:
    begin, end, strides = node.input_values[1:]
    if begin is None or end is None or strides is None or not node.input_shapes[0].is_fully_defined():
        return None
    if node.output_dtypes[0].as_numpy_dtype is object:
        return None
    try:
        index = strided_index(begin.tolist(), end.tolist(), strides.tolist(), node.attrs)
        _check_bounds(index, node.input_shapes[0].as_list())
    except ValueError:
        return None  # the kernel's to say, when it runs
    return Call(lambda input, begin, end, strides: input[index], view=True)


@strided_slice_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    begin = op.inputs[1]
    dims = shape(op.inputs[0], out_type=begin.dtype.base_dtype)
    bounds = [v if static_value(v) is None else static_value(v) for v in (dims, *op.inputs[1:])]
    masks = {name: op.attrs[name] for name in _MASK_NAMES}
    return [strided_slice_grad_op(*bounds, grad, **masks), None, None, None]


def strided_slice(
    input_: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: str | None = None,
) -> Tensor:
    """What `input_[begin:end:strides]` means; the masks are bit sets over its positions. Source: `tf.strided_slice`.

    With `var` (the variable that `input_` is the value of), the result's `assign` writes into that slice of it.
    """
    if strides is None:
        strides = ones_like(begin)
    masks = dict(zip(_MASK_NAMES, (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask), strict=True))
    result: Tensor = strided_slice_op(input_, begin, end, strides, name=name, **masks)
    parent_name = name

    def assign(val: Any, name: str | None = None) -> Any:
        if var is None:
            raise ValueError("Sliced assignment is only supported for variables")
        return var._strided_slice_assign(
            begin=begin, end=end, strides=strides, value=val, name=name or f"{parent_name}_assign", **masks
        )

    result.assign = assign  # type: ignore[attr-defined]
    return result


strided_slice_grad_op = define_op(
    "StridedSliceGrad(shape: Index, begin: Index, end: Index, strides: Index, dy: T) -> (output: T) {T: type; "
    f"Index: type in [int32,int64]; {_MASKS}}}"
)


@strided_slice_grad_op.shape
def _(shape: InputShape, begin: InputShape, end: InputShape, strides: InputShape, dy: InputShape) -> TensorShape:
    with_rank(shape, 1)
    return shape.value_as_shape


@strided_slice_grad_op.kernel("CPU")
def _(ctx: Any, shape: Array, begin: Array, end: Array, strides: Array, dy: Array, **attrs: Any) -> Array:
    dy = np.asarray(dy)
    if not begin.shape == end.shape == strides.shape:
        sizes = f"{dims_text(begin.shape)}, {dims_text(end.shape)}, and {dims_text(strides.shape)}"
        raise ValueError(f"Expected begin, end, and strides to be 1D equal size tensors, but got shapes {sizes} instead.")
    result = np.zeros(tuple(shape.tolist()), dy.dtype)
    index = strided_index(begin.tolist(), end.tolist(), strides.tolist(), attrs)
    _check_bounds(index, result.shape)
    expected = result[index].shape
    if expected != dy.shape:
        raise ValueError(f"shape of dy was {dims_text(dy.shape)} instead of {dims_text(expected)}")
    result[index] = dy
    return result


@strided_slice_grad_op.bind
def _(node: BindRequest) -> Call | None:
    _, begin, end, strides, _ = node.input_values
    dims, part, dtype = fixed_dims(node.output_shapes[0]), fixed_dims(node.input_shapes[4]), node.output_dtypes[0]
    if begin is None or end is None or strides is None or dims is None or dtype.as_numpy_dtype is object:
        return None
    index = strided_index(begin.tolist(), end.tolist(), strides.tolist(), node.attrs)
    _check_bounds(index, dims)
    if np.broadcast_to(False, dims)[index].shape != part:
        return None  # the kernel's to say, when it runs

    def laid(shape: Array, begin: Array, end: Array, strides: Array, dy: Array, out: Array | None = None) -> Array:
        whole = np.empty(dims, dtype.as_numpy_dtype) if out is None else out
        whole.fill(0)
        whole[index] = dy
        return whole

    place = _place(index, dims)
    return Call(laid, out=True, lays=None if place is None else (4, place))


def _place(index: Sequence[Any], dims: Sequence[int]) -> Place | None:
    """Where the parts of an array lie that an index means, if they are in one piece and in order."""
    place = []
    for entry, axis in _input_axes(index, len(dims)):
        if axis is None:
            continue
        stretch = entry
        if isinstance(entry, int):
            first = entry % dims[axis]
            stretch = _python_slice(first, first + 1)
        start, stop, step = stretch.indices(dims[axis])
        if step != 1:
            return None
        place.append(_python_slice(start, max(start, stop)))
    return tuple(place)


@strided_slice_grad_op.kernel("XLA", static=("shape", "begin", "end", "strides"))
def _(jax: Any, shape: Array, begin: Array, end: Array, strides: Array, dy: Array, **attrs: Any) -> Array:
    index = strided_index(begin.tolist(), end.tolist(), strides.tolist(), attrs)
    _check_bounds(index, shape.tolist())
    result = np.broadcast_to(np.zeros_like(dy, shape=()), tuple(shape.tolist())).copy()
    result[index] = dy
    return result


@strided_slice_grad_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    masks = {name: op.attrs[name] for name in _MASK_NAMES}
    return [None, None, None, None, strided_slice_op(grad, *op.inputs[1:4], **masks)]
