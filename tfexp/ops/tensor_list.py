"""TensorLists: the lists of tensors that TensorFlow 2's loops keep their values in. Imported graphs have them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core.dtypes import DType
from tfexp.core.errors import invalid
from tfexp.core.merged_shape import merged
from tfexp.core.op import define_op
from tfexp.core.shape import HandleShape, InputShape, TensorShape, dims_text
from tfexp.ops.shape_rules import with_rank, with_rank_at_least
from tfexp.ops.tensor_list_shapes import asked, changed, check_elements, concat_shapes, made, read
from tfexp.ops.tensor_list_value import TensorList, check_list, nothing, shape_of_value, shape_text, value_of

Array = np.ndarray
_SHAPE_TYPE = "shape_type: type in [int32,int64]"


# --- making lists ------------------------------------------------------------------------------------------------------

empty_tensor_list = define_op(
    "EmptyTensorList(element_shape: shape_type, max_num_elements: int32) -> (handle: variant) "
    f"{{element_dtype: type; {_SHAPE_TYPE}}}"
)


@empty_tensor_list.shape
def _(element_shape: InputShape, max_num_elements: InputShape, *, element_dtype: DType) -> TensorShape:
    return made(asked(element_shape), element_dtype)


@empty_tensor_list.kernel("CPU")
def _(ctx: Any, element_shape: Array, max_num_elements: Array, *, element_dtype: DType) -> TensorList:
    return TensorList(element_dtype, shape_of_value(element_shape), limit=int(max_num_elements))


tensor_list_reserve = define_op(
    "TensorListReserve(element_shape: shape_type, num_elements: int32) -> (handle: variant) "
    f"{{element_dtype: type; {_SHAPE_TYPE}}}"
)


@tensor_list_reserve.shape
def _(element_shape: InputShape, num_elements: InputShape, *, element_dtype: DType) -> TensorShape:
    return made(asked(element_shape), element_dtype)


@tensor_list_reserve.kernel("CPU")
def _(ctx: Any, element_shape: Array, num_elements: Array, *, element_dtype: DType) -> TensorList:
    if num_elements < 0:
        raise invalid(f"The num_elements to reserve must be a non negative number, but got {num_elements}")
    return TensorList(element_dtype, shape_of_value(element_shape), int(num_elements))


tensor_list_from_tensor = define_op(
    "TensorListFromTensor(tensor: element_dtype, element_shape: shape_type) -> (output_handle: variant) "
    f"{{element_dtype: type; {_SHAPE_TYPE}}}"
)


@tensor_list_from_tensor.shape
def _(tensor: InputShape, element_shape: InputShape, *, element_dtype: DType) -> TensorShape:
    shape = asked(element_shape)
    merged(TensorShape(tensor[1:]), shape)
    return made(shape, element_dtype)


@tensor_list_from_tensor.kernel("CPU")
def _(ctx: Any, tensor: Array, element_shape: Array, *, element_dtype: DType) -> TensorList:
    shape = shape_of_value(element_shape)
    if np.ndim(tensor) < 1:
        raise invalid("Tensor must be at least a vector, but saw shape: []")
    if not shape.is_compatible_with(tensor.shape[1:]):
        raise invalid(f"Specified a list with shape {shape} from a tensor with shape {list(tensor.shape[1:])}")
    return TensorList.of(element_dtype, shape, [np.array(row, tensor.dtype) for row in tensor])


tensor_list_scatter = define_op(
    "TensorListScatter(tensor: element_dtype, indices: int32, element_shape: shape_type) -> (output_handle: variant) "
    f"{{element_dtype: type; {_SHAPE_TYPE}}}"
)


@tensor_list_scatter.shape
def _(tensor: InputShape, indices: InputShape, element_shape: InputShape, *, element_dtype: DType) -> TensorShape:
    return made(asked(element_shape), element_dtype)


@tensor_list_scatter.kernel("CPU")
def _(ctx: Any, tensor: Array, indices: Array, element_shape: Array, *, element_dtype: DType) -> TensorList:
    return _scattered(tensor, indices, element_shape, element_dtype, -1)


tensor_list_scatter_v2 = define_op(
    "TensorListScatterV2(tensor: element_dtype, indices: int32, element_shape: shape_type, num_elements: int32) -> "
    f"(output_handle: variant) {{element_dtype: type; {_SHAPE_TYPE}}}"
)


@tensor_list_scatter_v2.shape
def _(
    tensor: InputShape, indices: InputShape, element_shape: InputShape, num_elements: InputShape, *, element_dtype: DType
) -> TensorShape:
    return made(asked(element_shape), element_dtype)


@tensor_list_scatter_v2.kernel("CPU")
def _(
    ctx: Any, tensor: Array, indices: Array, element_shape: Array, num_elements: Array, *, element_dtype: DType
) -> TensorList:
    return _scattered(tensor, indices, element_shape, element_dtype, int(num_elements))


def _scattered(tensor: Array, indices: Array, element_shape: Array, dtype: DType, size: int) -> TensorList:
    """A list with the rows of `tensor` at `indices`; as long as the largest of them asks for if `size` is -1."""
    indices = indices.ravel()
    if np.ndim(tensor) < 1 or tensor.shape[0] != indices.size:
        raise invalid(
            f"Invalid number of rows in input tensor. Expected: {indices.size} Actual: {(*np.shape(tensor), 0)[0]}"
        )
    if indices.size and indices.min() < 0:
        raise invalid("Indices in TensorListScatter must all be non-negative.")
    length = max((int(i) + 1 for i in indices), default=0) if size < 0 else size
    return TensorList(dtype, shape_of_value(element_shape), length).with_items(indices.tolist(), tensor)


tensor_list_scatter_into = define_op(
    "TensorListScatterIntoExistingList(input_handle: variant, tensor: element_dtype, indices: int32) -> "
    "(output_handle: variant) {element_dtype: type}"
)


@tensor_list_scatter_into.shape
def _(input_handle: InputShape, tensor: InputShape, indices: InputShape, *, element_dtype: DType) -> TensorShape:
    return changed(input_handle, element_dtype)


@tensor_list_scatter_into.kernel("CPU")
def _(ctx: Any, input_handle: TensorList, tensor: Array, indices: Array, *, element_dtype: DType) -> TensorList:
    check_list(input_handle, element_dtype)
    longest = max((int(i) + 1 for i in indices), default=0)
    grown = input_handle.resized(max(longest, len(input_handle)))
    return grown.with_items(indices.tolist(), tensor)


tensor_list_split = define_op(
    "TensorListSplit(tensor: element_dtype, element_shape: shape_type, lengths: int64) -> (output_handle: variant) "
    f"{{element_dtype: type; {_SHAPE_TYPE}}}"
)


@tensor_list_split.shape
def _(tensor: InputShape, element_shape: InputShape, lengths: InputShape, *, element_dtype: DType) -> TensorShape:
    shape = asked(element_shape)
    with_rank(lengths, 1)
    merged(TensorShape([None]).concatenate(with_rank_at_least(tensor, 1)[1:]), shape)
    return made(shape, element_dtype)


@tensor_list_split.kernel("CPU")
def _(ctx: Any, tensor: Array, element_shape: Array, lengths: Array, *, element_dtype: DType) -> TensorList:
    if lengths.ndim != 1:
        raise invalid(f"Expected lengths to be a vector, received shape: {dims_text(lengths.shape)}")
    if np.ndim(tensor) < 1:
        raise invalid(f"Tensor must be at least a vector, but saw shape: {dims_text(np.shape(tensor))}")
    start = 0
    for length in lengths.tolist():
        if length < 0:
            raise invalid(f"Invalid value in lengths: {length}")
        if start + length > len(tensor):
            raise invalid(f"Attempting to slice [{start}, {start + length}] from tensor with length {len(tensor)}")
        start += length
    if start != len(tensor):
        raise invalid(f"Unused values in tensor. Length of tensor: {len(tensor)} Values used: {start}")
    shape = shape_of_value(element_shape)
    rows = TensorList(element_dtype, shape if shape.rank is None else TensorShape([None]).concatenate(shape[1:]))
    parts = np.split(tensor, np.cumsum(lengths)[:-1]) if lengths.size else []
    return TensorList.of(element_dtype, shape, [rows.own(part) for part in parts])


# --- lists from lists --------------------------------------------------------------------------------------------------

tensor_list_set_item = define_op(
    "TensorListSetItem(input_handle: variant, index: int32, item: element_dtype) -> (output_handle: variant) "
    "{element_dtype: type; resize_if_index_out_of_bounds: bool = false}"
)


@tensor_list_set_item.shape
def _(input_handle: InputShape, index: InputShape, item: InputShape, *, element_dtype: DType) -> TensorShape:
    merged(item, input_handle.of_handle)
    return changed(input_handle, element_dtype)


@tensor_list_set_item.kernel("CPU")
def _(
    ctx: Any,
    input_handle: TensorList,
    index: Array,
    item: Array,
    *,
    element_dtype: DType,
    resize_if_index_out_of_bounds: bool,
) -> TensorList:
    check_list(input_handle, element_dtype)
    return input_handle.with_item(int(index), np.asarray(item), resize_if_index_out_of_bounds)


tensor_list_push_back = define_op(
    "TensorListPushBack(input_handle: variant, tensor: element_dtype) -> (output_handle: variant) {element_dtype: type}"
)


@tensor_list_push_back.shape
def _(input_handle: InputShape, tensor: InputShape, *, element_dtype: DType) -> TensorShape:
    check_elements(
        input_handle,
        element_dtype,
        "Trying to push to list with wrong element dtype. List has type {held} but trying to push element with type {given}",
    )
    return changed(input_handle, element_dtype)


@tensor_list_push_back.kernel("CPU")
def _(ctx: Any, input_handle: TensorList, tensor: Array, *, element_dtype: DType) -> TensorList:
    check_list(input_handle, element_dtype)
    return input_handle.pushed(np.asarray(tensor))


tensor_list_push_back_batch = define_op(
    "TensorListPushBackBatch(input_handles: variant, tensor: element_dtype) -> (output_handles: variant) "
    "{element_dtype: type}"
).not_differentiable()


@tensor_list_push_back_batch.shape
def _(input_handles: InputShape, tensor: InputShape) -> TensorShape:
    merged(with_rank(input_handles, 1), with_rank_at_least(tensor, 1)[:1])
    return input_handles


@tensor_list_push_back_batch.kernel("CPU")
def _(ctx: Any, input_handles: Array, tensor: Array, *, element_dtype: DType) -> Array:
    if tensor.shape[:1] != input_handles.shape:
        raise invalid(
            "Expected tensor.shape[0] == input_handles.size, but saw: "
            f"{dims_text(tensor.shape)} and {dims_text(input_handles.shape)}"
        )
    longer = np.empty(len(input_handles), object)
    for i, handle in enumerate(input_handles):
        check_list(handle, element_dtype)
        longer[i] = handle.pushed(tensor[i])
    return longer


tensor_list_resize = define_op("TensorListResize(input_handle: variant, size: int32) -> (output_handle: variant)")


@tensor_list_resize.shape
def _(input_handle: InputShape, size: InputShape) -> TensorShape:
    with_rank(size, 0)
    return changed(input_handle, input_handle.dtype_of_handle)


@tensor_list_resize.kernel("CPU")
def _(ctx: Any, input_handle: TensorList, size: Array) -> TensorList:
    return input_handle.resized(int(size))


tensor_list_concat_lists = define_op(
    "TensorListConcatLists(input_a: variant, input_b: variant) -> (output: variant) {element_dtype: type}"
)


@tensor_list_concat_lists.shape
def _(input_a: InputShape, input_b: InputShape, *, element_dtype: DType) -> TensorShape:
    check_elements(input_a, element_dtype, "input_a.type != element_dtype: {held} vs. {given}")
    check_elements(input_b, element_dtype, "input_b.type != element_dtype: {held} vs. {given}")
    return HandleShape(merged(input_a, input_b), merged(input_a.of_handle, input_b.of_handle), element_dtype)


@tensor_list_concat_lists.kernel("CPU")
def _(ctx: Any, input_a: Any, input_b: Any, *, element_dtype: DType) -> Any:
    if isinstance(input_a, TensorList):
        return _appended(input_a, input_b, element_dtype)
    if input_a.shape != np.shape(input_b):
        shapes = f"{dims_text(input_a.shape)} and {dims_text(np.shape(input_b))}"
        raise invalid(f"Lists to append to each other must be as many on both sides; their shapes are {shapes}")
    longer = np.empty(input_a.shape, object)
    for where in np.ndindex(input_a.shape):
        longer[where] = _appended(input_a[where], input_b[where], element_dtype)
    return longer


def _appended(a: TensorList, b: TensorList, dtype: DType) -> TensorList:
    check_list(a, dtype)
    check_list(b, dtype)
    if a.element_shape.known_dims != b.element_shape.known_dims:
        shapes = f"{shape_text(a.element_shape)} vs. {shape_text(b.element_shape)}"
        raise invalid(f"input_a and input_b TensorList element shapes are not identical.  Saw {shapes}")
    return a.followed_by(b)


tensor_list_pop_back = define_op(
    "TensorListPopBack(input_handle: variant, element_shape: int32) -> (output_handle: variant, tensor: element_dtype) "
    "{element_dtype: type}"
)


@tensor_list_pop_back.shape
def _(input_handle: InputShape, element_shape: InputShape, *, element_dtype: DType) -> list[TensorShape]:
    # What is asked for does not count here, in TensorFlow either.
    return [changed(input_handle, element_dtype), read(input_handle, TensorShape(None), element_dtype)]


@tensor_list_pop_back.kernel("CPU")
def _(ctx: Any, input_handle: TensorList, element_shape: Array, *, element_dtype: DType) -> list[Any]:
    check_list(input_handle, element_dtype)
    if not len(input_handle):
        raise invalid("Trying to pop from an empty list.")
    last = len(input_handle) - 1
    (item,) = input_handle.filled([last], input_handle.known_shape(shape_of_value(element_shape)))
    return [input_handle.resized(last), value_of(item)]


# --- what is in a list -------------------------------------------------------------------------------------------------

tensor_list_get_item = define_op(
    "TensorListGetItem(input_handle: variant, index: int32, element_shape: Tshape) -> (item: element_dtype) "
    "{element_dtype: type; Tshape: type in [int32,int64] = int32}"
)


@tensor_list_get_item.shape
def _(input_handle: InputShape, index: InputShape, element_shape: InputShape, *, element_dtype: DType) -> TensorShape:
    with_rank(index, 0)
    check_elements(
        input_handle, element_dtype, "Expected list with element dtype {given} but got list with element dtype {held}"
    )
    return merged(input_handle.of_handle, asked(element_shape))


@tensor_list_get_item.kernel("CPU")
def _(ctx: Any, input_handle: TensorList, index: Array, element_shape: Array, *, element_dtype: DType) -> Any:
    check_list(input_handle, element_dtype)
    input_handle.check_index(int(index))
    (item,) = input_handle.elements.at([int(index)])
    if item is None:  # what has been set has its own shape, whatever is asked for
        (item,) = input_handle.filled([int(index)], input_handle.merged_shape(shape_of_value(element_shape)))
    return value_of(item)


tensor_list_stack = define_op(
    "TensorListStack(input_handle: variant, element_shape: int32) -> (tensor: element_dtype) "
    "{element_dtype: type; num_elements: int = -1}"
)


@tensor_list_stack.shape
def _(input_handle: InputShape, element_shape: InputShape, *, element_dtype: DType, num_elements: int) -> TensorShape:
    elements = read(input_handle, asked(element_shape), element_dtype)
    return TensorShape([None if num_elements < 0 else num_elements]).concatenate(elements)


@tensor_list_stack.kernel("CPU")
def _(ctx: Any, input_handle: TensorList, element_shape: Array, *, element_dtype: DType, num_elements: int) -> Array:
    check_list(input_handle, element_dtype)
    if num_elements not in (-1, len(input_handle)):
        raise invalid(
            f"Operation expected a list with {num_elements} elements but got a list with {len(input_handle)} elements."
        )
    return input_handle.stacked(range(len(input_handle)), input_handle.merged_shape(shape_of_value(element_shape)))


tensor_list_gather = define_op(
    "TensorListGather(input_handle: variant, indices: int32, element_shape: int32) -> (values: element_dtype) "
    "{element_dtype: type}"
)


@tensor_list_gather.shape
def _(input_handle: InputShape, indices: InputShape, element_shape: InputShape, *, element_dtype: DType) -> TensorShape:
    rows = TensorShape(indices.known_dims if indices.rank in (None, 1) else [None])
    return rows.concatenate(read(input_handle, asked(element_shape), element_dtype))


@tensor_list_gather.kernel("CPU")
def _(ctx: Any, input_handle: TensorList, indices: Array, element_shape: Array, *, element_dtype: DType) -> Array:
    check_list(input_handle, element_dtype)
    positions = indices.ravel().tolist()
    return input_handle.stacked(positions, input_handle.merged_shape(shape_of_value(element_shape), positions))


def _joined(value: TensorList, dtype: DType, asked: TensorShape, leading: Sequence[int]) -> list[Array]:
    """The elements along their first dimension, and their lengths; `leading`: of those that have not been set."""
    check_list(value, dtype)
    held = value.items
    found = [item for item in held if item is not None]
    alike = len(found) < len(value) and not leading  # then what is missing has all of the others' shape
    shape = value.merged_shape(asked) if alike else value.known_shape(asked)
    if shape.rank == 0:
        raise invalid("Concat requires elements to be at least vectors, found scalars instead.")
    scalar = next((i for i, item in enumerate(held) if item is not None and not item.ndim), None)
    if scalar is not None:
        raise invalid(f"Concat saw a scalar shape at index {scalar} but requires at least vectors.")
    first, rest = (None, TensorShape(None)) if shape.rank is None else (shape.as_list()[0], shape[1:])
    for each in found:
        other = TensorShape(each.shape[1:])
        if not rest.is_compatible_with(other):
            kind = "shapes" if rest.rank == other.rank else "ranks"
            raise invalid(f"Tried to concat tensors of unequal shapes: Incompatible {kind}: {rest} vs. {other}")
        rest = rest.merge_with(other)
    if len(found) < max(len(value), 1) and not rest.is_fully_defined():
        raise invalid(
            "All except the first dimension must be fully defined when concating an empty tensor list, or one with "
            f"uninitialized tensors: {shape_text(rest)}"
        )
    sizes: list[Any] = []
    for i, item in enumerate(held):
        sizes.append(len(item) if item is not None else leading[i] if i < len(leading) else first)
        if item is not None and asked.rank and asked.as_list()[0] not in (None, len(item)):
            raise invalid(
                f"First entry of element_shape input does not match the first dim of list element at index: {i} Expected: "
                f"{asked.as_list()[0]} Actual: {len(item)}"
            )
    if None in sizes:
        raise invalid(
            f"Trying to concat an uninitialized tensor but element_shape is not fully defined: {shape_text(shape)}"
        )
    items = [nothing((n, *rest.as_list()), dtype) if item is None else item for n, item in zip(sizes, held, strict=True)]
    joined = np.concatenate(items) if items else nothing((0, *rest.as_list()), dtype)
    return [joined, np.array(sizes, np.int64)]


tensor_list_concat = define_op(
    "TensorListConcat(input_handle: variant) -> (tensor: element_dtype, lengths: int64) "
    "{element_dtype: type; element_shape: shape = unknown}"
)


@tensor_list_concat.shape
def _(input_handle: InputShape, *, element_dtype: DType, element_shape: TensorShape) -> list[TensorShape]:
    return concat_shapes(read(input_handle, element_shape, element_dtype))


@tensor_list_concat.kernel("CPU")
def _(ctx: Any, input_handle: TensorList, *, element_dtype: DType, element_shape: TensorShape) -> list[Array]:
    return _joined(input_handle, element_dtype, element_shape, ())


tensor_list_concat_v2 = define_op(
    "TensorListConcatV2(input_handle: variant, element_shape: shape_type, leading_dims: int64) -> "
    f"(tensor: element_dtype, lengths: int64) {{element_dtype: type; {_SHAPE_TYPE}}}"
)


@tensor_list_concat_v2.shape
def _(
    input_handle: InputShape, element_shape: InputShape, leading_dims: InputShape, *, element_dtype: DType
) -> list[TensorShape]:
    return concat_shapes(read(input_handle, asked(element_shape), element_dtype))


@tensor_list_concat_v2.kernel("CPU")
def _(ctx: Any, input_handle: TensorList, element_shape: Array, leading_dims: Array, *, element_dtype: DType) -> list[Array]:
    return _joined(input_handle, element_dtype, shape_of_value(element_shape), leading_dims.tolist())


tensor_list_length = define_op("TensorListLength(input_handle: variant) -> (length: int32)")


@tensor_list_length.shape
def _(input_handle: InputShape) -> TensorShape:
    return TensorShape([])


@tensor_list_length.kernel("CPU")
def _(ctx: Any, input_handle: TensorList) -> Array:
    return np.array(len(input_handle), np.int32)


tensor_list_element_shape = define_op(
    f"TensorListElementShape(input_handle: variant) -> (element_shape: shape_type) {{{_SHAPE_TYPE}}}"
)


@tensor_list_element_shape.shape
def _(input_handle: InputShape) -> TensorShape:
    rank = input_handle.of_handle.rank
    return TensorShape(None if rank is None else [rank])


@tensor_list_element_shape.kernel("CPU")
def _(ctx: Any, input_handle: TensorList, *, shape_type: DType) -> Array:
    dims = input_handle.element_shape.known_dims
    return np.array(-1 if dims is None else [-1 if d is None else d for d in dims], shape_type.as_numpy_dtype)
