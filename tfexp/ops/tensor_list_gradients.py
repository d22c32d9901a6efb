"""Gradients of TensorLists: the gradient of a list is a list, that of what is read from one a list with that alone in it."""

from __future__ import annotations

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.shape import TensorShape, sizes_of
from tfexp.graph.gradients import is_trainable
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops import array, array_fill, array_join, array_slice, tensor_list


def _row_shape(tensor: Tensor) -> Tensor:
    """The sizes of the elements that the rows of `tensor` became."""
    return array_slice.slice(array.shape(tensor), [1], [-1])


def _like(handle: Tensor, dtype: DType) -> Tensor:
    """A list as long as `handle`'s, of elements not set."""
    shape = tensor_list.tensor_list_element_shape(handle, shape_type=dtypes.int32)
    return tensor_list.tensor_list_reserve(shape, tensor_list.tensor_list_length(handle), element_dtype=dtype)


@tensor_list.tensor_list_from_tensor.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    rows = op.inputs[0].shape
    return [
        tensor_list.tensor_list_stack(
            grad,
            _row_shape(op.inputs[0]),
            element_dtype=op.inputs[0].dtype,
            num_elements=-1 if rows.known_dims is None or rows.known_dims[0] is None else rows.known_dims[0],
        ),
        None,
    ]


@tensor_list.tensor_list_stack.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    rows = TensorShape(None) if grad.shape.rank is None else grad.shape[1:]
    return [tensor_list.tensor_list_from_tensor(grad, element_shape=sizes_of(rows)), None]


@tensor_list.tensor_list_push_back.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    item = op.inputs[1]
    rest, popped = tensor_list.tensor_list_pop_back(grad, array.shape(item), element_dtype=item.dtype)
    return [rest, popped if is_trainable(item) else None]  # a loop also keeps numbers and flags for its gradient


@tensor_list.tensor_list_pop_back.gradient
def _(op: Operation, list_grad: Tensor | None, item_grad: Tensor | None) -> list[Tensor | None]:
    dtype = op.get_attr("element_dtype")
    if list_grad is None:
        shape = tensor_list.tensor_list_element_shape(op.outputs[0], shape_type=dtypes.int32)
        list_grad = tensor_list.empty_tensor_list(shape, -1, element_dtype=dtype)
    if item_grad is None:
        item_grad = array_fill.zeros_like(op.outputs[1])
    return [tensor_list.tensor_list_push_back(list_grad, item_grad), None]


@tensor_list.tensor_list_set_item.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    handle, index, item = op.inputs
    rest = tensor_list.tensor_list_set_item(grad, index, array_fill.zeros_like(item))
    of_item = tensor_list.tensor_list_get_item(grad, index, array.shape(item), element_dtype=item.dtype)
    if op.get_attr("resize_if_index_out_of_bounds"):
        rest = tensor_list.tensor_list_resize(rest, tensor_list.tensor_list_length(handle))
    return [rest, None, of_item]


@tensor_list.tensor_list_get_item.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    handle, index, _ = op.inputs
    length = tensor_list.tensor_list_length(handle)
    shape = tensor_list.tensor_list_element_shape(handle, shape_type=dtypes.int32)
    empty = tensor_list.tensor_list_reserve(shape, length, element_dtype=grad.dtype)
    return [tensor_list.tensor_list_set_item(empty, index, grad), None, None]


@tensor_list.tensor_list_gather.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    handle, indices, _ = op.inputs
    return [tensor_list.tensor_list_scatter_into(_like(handle, grad.dtype), grad, indices), None, None]


def _gathered(op: Operation, grad: Tensor, indices: Tensor) -> Tensor:
    gathered: Tensor = tensor_list.tensor_list_gather(
        grad, indices, _row_shape(op.inputs[0]), element_dtype=op.inputs[0].dtype
    )
    return gathered


@tensor_list.tensor_list_scatter.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [_gathered(op, grad, op.inputs[1]), None, None]


@tensor_list.tensor_list_scatter_v2.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [_gathered(op, grad, op.inputs[1]), None, None, None]


@tensor_list.tensor_list_scatter_into.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    _, rows, indices = op.inputs
    rows_grad = tensor_list.tensor_list_gather(grad, indices, _row_shape(rows), element_dtype=rows.dtype)
    rest = tensor_list.tensor_list_scatter_into(grad, array_fill.zeros_like(rows), indices)
    return [rest, rows_grad, None]


@tensor_list.tensor_list_split.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    tensor, _, lengths = op.inputs
    shape = array_join.concat([[-1], _row_shape(tensor)], 0)
    return [tensor_list.tensor_list_concat_v2(grad, shape, lengths, element_dtype=tensor.dtype)[0], None, None]


def _split(op: Operation, grad: Tensor) -> Tensor:
    shape = tensor_list.tensor_list_element_shape(op.inputs[0], shape_type=dtypes.int32)
    split: Tensor = tensor_list.tensor_list_split(grad, shape, op.outputs[1])
    return split


@tensor_list.tensor_list_concat.gradient
def _(op: Operation, grad: Tensor, lengths: Tensor | None) -> Tensor:
    return _split(op, grad)


@tensor_list.tensor_list_concat_v2.gradient
def _(op: Operation, grad: Tensor, lengths: Tensor | None) -> list[Tensor | None]:
    return [_split(op, grad), None, None]


@tensor_list.tensor_list_resize.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [tensor_list.tensor_list_resize(grad, tensor_list.tensor_list_length(op.inputs[0])), None]


for _op in (tensor_list.tensor_list_length, tensor_list.tensor_list_element_shape, tensor_list.tensor_list_concat_lists):
    _op.not_differentiable()
