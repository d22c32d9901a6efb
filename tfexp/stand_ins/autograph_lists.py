"""What only tests take from `tensorflow.python.autograph` for lists and their items: `operators.data_structures`,
`operators.slices` and `lang.special_functions`. Source: TF 1.15.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import tfexp as tf
from tfexp.core.op import get_op
from tfexp.graph.tensor import Tensor
from tfexp.ops.inplace import inplace_update
from tfexp.ops.tensor_array import TensorArray
from tfexp.ops.tensor_list import tensor_list_push_back
from tfexp.stand_ins import list_ops
from tfexp.stand_ins.autograph_operators import is_tensor_list


class ListPopOpts(NamedTuple):
    """What the items of a list are like from which one is taken."""

    element_dtype: Any
    element_shape: Any


class ListStackOpts(NamedTuple):
    """What the items of a list are like, and what stacks those of other sequences."""

    element_dtype: Any
    original_call: Any


class GetItemOpts(NamedTuple):
    """What the items of a list are like."""

    element_dtype: Any


# --- making lists -----------------------------------------------------------------------------------------------------


def new_list(iterable: Any = None) -> Any:
    """A list of the graph where there are no items, else a Python list."""
    if iterable is None or (isinstance(iterable, (list, tuple)) and not iterable):
        return tf_tensor_list_new([])
    return list(iterable)


def tf_tensor_list_new(elements: Any, element_dtype: Any = None, element_shape: Any = None) -> Tensor:
    """A list of the graph; of a tensor, of its rows. ValueError for items of several types, and of others than are named."""
    if isinstance(elements, Tensor):
        if element_shape is not None:
            raise ValueError("element shape may not be specified when creating list from tensor")
        return list_ops.tensor_list_from_tensor(elements, elements.shape[1:])
    tensors = [tf.convert_to_tensor(element) for element in elements]
    if len({tensor.dtype for tensor in tensors}) > 1:
        raise ValueError(f"Cannot convert items of several types to a list: {elements}")
    _check_items(tensors, element_dtype, element_shape)
    if len({tensor.shape.rank for tensor in tensors}) > 1:
        items = list_ops.empty_tensor_list(element_shape=None, element_dtype=tensors[0].dtype)
        for tensor in tensors:
            items = tensor_list_push_back(items, tensor)
        return items
    if tensors:
        return list_ops.tensor_list_from_tensor(tf.stack(tensors), tensors[0].shape)
    shape = () if element_shape is None else element_shape
    return list_ops.empty_tensor_list(element_shape=shape, element_dtype=element_dtype or tf.variant)


def _check_items(tensors: list[Tensor], dtype: Any, shape: Any) -> None:
    """ValueError for items that are not what is said of them, where something is."""
    inferred = f"inferred from {tuple(tensors)}"
    for tensor in tensors:
        if dtype is not None and tf.as_dtype(dtype) != tensor.dtype:
            raise ValueError(f"incompatible dtype; specified: {dtype!r}, {inferred}: {tensor.dtype!r}")
        if shape is not None and not tf.TensorShape(shape).is_compatible_with(tensor.shape):
            raise ValueError(f"incompatible shape; specified: {shape}, {inferred}: {tensor.shape}")


def tf_tensor_array_new(elements: Any, element_dtype: Any = None, element_shape: Any = None) -> TensorArray:
    """A TensorArray of the items, which may grow. ValueError for no items without a type, and for unlike ones."""
    tensors = [tf.convert_to_tensor(element) for element in elements]
    for what, kinds in (("dtype", {t.dtype for t in tensors}), ("shape", {tuple(t.shape.as_list()) for t in tensors})):
        if len(kinds) > 1:
            raise ValueError(f"TensorArray requires all elements to have the same {what}: {tuple(tensors)}")
    _check_items(tensors, element_dtype, element_shape)
    if not tensors and element_dtype is None:
        raise ValueError("dtype is required to create an empty TensorArray")
    dtype = tensors[0].dtype if tensors else element_dtype
    array = TensorArray(dtype, size=len(tensors), dynamic_size=True, infer_shape=False, element_shape=element_shape)
    for place, tensor in enumerate(tensors):
        array = array.write(place, tensor)
    return array


def tensor_list(elements: Any, element_dtype: Any = None, element_shape: Any = None, use_tensor_array: bool = False) -> Any:
    """A list of the graph, or a TensorArray. ValueError without items and their type and shape."""
    if not ((isinstance(elements, (list, tuple)) and elements) or element_dtype):
        raise ValueError("element_dtype and element_shape are required for empty lists")
    make = tf_tensor_array_new if use_tensor_array else tf_tensor_list_new
    return make(elements, element_dtype, element_shape)


# --- their items ------------------------------------------------------------------------------------------------------


def list_append(list_: Any, x: Any) -> Any:
    """The list with `x` at its end. A list of the graph without items takes the type of its first one."""
    if is_tensor_list(list_):
        item = tf.convert_to_tensor(x)
        empty = functools.partial(list_ops.empty_tensor_list, element_shape=item.shape, element_dtype=item.dtype)
        return tensor_list_push_back(tf.cond(get_op("TensorListLength")(list_) > 0, lambda: list_, empty), item)
    if isinstance(list_, TensorArray):
        return list_.write(list_.size(), x)
    if isinstance(list_, Tensor):
        raise ValueError(f"tensor lists are expected to be Tensors with dtype=tf.variant, instead found {list_}")
    list_.append(x)
    return list_


def list_pop(list_: Any, i: int | None, opts: ListPopOpts) -> tuple[Any, Any]:
    """(the list without its item `i`, or the last one; that item). NotImplementedError for `i` in lists of the graph.

    ValueError for a TensorArray.
    """
    if isinstance(list_, TensorArray):
        raise ValueError("TensorArray does not support item removal")
    if is_tensor_list(list_):
        if i is not None:
            raise NotImplementedError("tensor lists only support removing from the end")
        rest, item = list_ops.tensor_list_pop_back(list_, opts.element_dtype)
        return rest, item
    return list_, list_.pop() if i is None else list_.pop(i)


def list_stack(list_: Any, opts: ListStackOpts) -> Any:
    """The items along a new first dimension. ValueError for a list of the graph without `element_dtype`."""
    if is_tensor_list(list_):
        if opts.element_dtype is None:
            raise ValueError("cannot stack a list without knowing its element type")
        return list_ops.tensor_list_stack(list_, opts.element_dtype)
    return list_.stack() if isinstance(list_, TensorArray) else opts.original_call(list_)


def stack(list_or_tensor: Any, element_dtype: Any = None, strict: bool = True) -> Any:
    """`list_stack`. What is neither a list of the graph nor a TensorArray is given back, or a ValueError if `strict`."""

    def of_others(value: Any) -> Any:
        if strict:
            raise ValueError(f"{value} must be stackable when strict=True")
        return value

    return list_stack(list_or_tensor, ListStackOpts(element_dtype, of_others))


def get_item(target: Any, i: Any, opts: GetItemOpts) -> Any:
    """`target[i]`; of a string, the character."""
    if is_tensor_list(target):
        if opts.element_dtype is None:
            raise ValueError(
                "cannot retrieve from a list without knowing its element type; use set_element_type to annotate it"
            )
        return list_ops.tensor_list_get_item(target, i, opts.element_dtype)
    if isinstance(target, TensorArray):
        return target.read(i)
    if isinstance(target, Tensor) and target.dtype is tf.string and target.shape.rank == 0:
        return tf.strings.substr(target, i, 1)
    return target[i]


def set_item(target: Any, i: Any, x: Any) -> Any:
    """`target` after `target[i] = x`; tensors and lists of the graph stay as they were."""
    if is_tensor_list(target):
        return list_ops.tensor_list_set_item(target, i, x)
    if isinstance(target, TensorArray):
        return target.write(i, x)
    if isinstance(target, Tensor):
        return inplace_update(tf.identity(target), i, x)
    target[i] = x
    return target


def match_staging_level(value: Any, like_value: Any) -> Any:
    """The value, as a constant where the other one is a tensor."""
    return tf.constant(value) if isinstance(like_value, Tensor) else value


def dynamic_list_append(target: Any, element: Any) -> Any:
    """`utils.tensor_list`: the list with one more item."""
    return list_append(target, element)
