"""`tensorflow.python.ops.list_ops`: ops on lists of tensors, whose elements may have any shape. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.core.op import get_op
from tfexp.core.shape import Dimension, TensorShape
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.tensor import Tensor


def _build_element_shape(shape: Any) -> Any:
    """A shape as the ops take it: -1 for what is not known, a scalar -1 for an unknown rank."""
    if isinstance(shape, Tensor):
        return shape
    if isinstance(shape, TensorShape):
        shape = None if shape.rank is None else shape.as_list()
    if shape is None:
        return -1
    sizes = [size.value if isinstance(size, Dimension) else size for size in shape]
    return [-1 if size is None else size for size in sizes] or convert_to_tensor([], dtype=dtypes.int32)


def _listed(op: str, *inputs: Any, element_shape: Any, name: str | None, **attrs: Any) -> Any:
    return get_op(op)(*inputs, element_shape=_build_element_shape(element_shape), name=name, **attrs)


def empty_tensor_list(
    element_shape: Any, element_dtype: Any, max_num_elements: Any = None, name: str | None = None
) -> Tensor:
    shape = _build_element_shape(element_shape)
    most = -1 if max_num_elements is None else max_num_elements
    result: Tensor = get_op("EmptyTensorList")(shape, most, element_dtype=element_dtype, name=name)
    return result


def tensor_list_reserve(element_shape: Any, num_elements: Any, element_dtype: Any, name: str | None = None) -> Tensor:
    shape = _build_element_shape(element_shape)
    result: Tensor = get_op("TensorListReserve")(shape, num_elements, element_dtype=element_dtype, name=name)
    return result


def tensor_list_from_tensor(tensor: Any, element_shape: Any, name: str | None = None) -> Tensor:
    result: Tensor = _listed("TensorListFromTensor", tensor, element_shape=element_shape, name=name)
    return result


def tensor_list_get_item(
    input_handle: Any, index: Any, element_dtype: Any, element_shape: Any = None, name: str | None = None
) -> Tensor:
    found: Tensor = _listed(
        "TensorListGetItem", input_handle, index, element_shape=element_shape, element_dtype=element_dtype, name=name
    )
    return found


def tensor_list_pop_back(input_handle: Any, element_dtype: Any, name: str | None = None) -> Any:
    return _listed("TensorListPopBack", input_handle, element_shape=None, element_dtype=element_dtype, name=name)


def tensor_list_gather(
    input_handle: Any, indices: Any, element_dtype: Any, element_shape: Any = None, name: str | None = None
) -> Tensor:
    found: Tensor = _listed(
        "TensorListGather", input_handle, indices, element_shape=element_shape, element_dtype=element_dtype, name=name
    )
    return found


def tensor_list_scatter(
    tensor: Any,
    indices: Any,
    element_shape: Any = None,
    input_handle: Any = None,
    name: str | None = None,
) -> Tensor:
    """A list with rows of `tensor` at `indices`: a new one, or `input_handle` with these put in."""
    if input_handle is not None:
        changed: Tensor = get_op("TensorListScatterIntoExistingList")(input_handle, tensor, indices, name=name)
        return changed
    made: Tensor = get_op("TensorListScatterV2")(tensor, indices, _build_element_shape(element_shape), -1, name=name)
    return made


def tensor_list_stack(
    input_handle: Any, element_dtype: Any, num_elements: int = -1, element_shape: Any = None, name: str | None = None
) -> Tensor:
    attrs = {"element_dtype": element_dtype, "num_elements": num_elements}
    stacked: Tensor = _listed("TensorListStack", input_handle, element_shape=element_shape, name=name, **attrs)
    return stacked


def tensor_list_concat(input_handle: Any, element_dtype: Any, element_shape: Any = None, name: str | None = None) -> Tensor:
    """The elements along their first dimension, without the lengths that the op gives, too."""
    no_lengths = convert_to_tensor([], dtype=dtypes.int64)
    shape = _build_element_shape(element_shape)
    joined: Any = get_op("TensorListConcatV2")(input_handle, shape, no_lengths, element_dtype=element_dtype, name=name)
    return joined[0]  # type: ignore[no-any-return]


def tensor_list_split(tensor: Any, element_shape: Any, lengths: Any, name: str | None = None) -> Tensor:
    result: Tensor = get_op("TensorListSplit")(tensor, _build_element_shape(element_shape), lengths, name=name)
    return result


def tensor_list_set_item(
    input_handle: Any, index: Any, item: Any, resize_if_index_out_of_bounds: bool = False, name: str | None = None
) -> Tensor:
    """The list with another element; one that is too short is made longer if that is wanted."""
    if resize_if_index_out_of_bounds:
        longer = get_op("Maximum")(convert_to_tensor(index) + 1, get_op("TensorListLength")(input_handle))  # type: ignore[operator]
        input_handle = get_op("TensorListResize")(input_handle, longer)
    result: Tensor = get_op("TensorListSetItem")(input_handle, index, item, name=name)
    return result
