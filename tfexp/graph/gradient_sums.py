"""Gradients that meet at a tensor are summed: dense ones by AddN, sparse ones by concatenating their rows."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.op import get_op
from tfexp.graph.convert import IndexedSlices, constant, convert_to_tensor, register_tensor_conversion_function
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import get_default_graph, name_scope
from tfexp.graph.tensor import Tensor

Gradient = Tensor | IndexedSlices


def add_by_device(grads: list[Any]) -> Tensor:
    """AddN per device, then over the devices' sums: fewer transfers."""
    by_device: dict[str, list[Tensor]] = defaultdict(list)
    for grad in grads:
        by_device[grad.device].append(grad)
    graph = get_default_graph()
    sums: list[Tensor] = []
    for device in sorted(by_device):
        tensors = by_device[device]
        with graph.colocate_with(tensors[0].op, ignore_existing=True):
            sums.append(add_n(tensors))
    return add_n(sums)


def add_n(tensors: list[Tensor], name: str | None = None) -> Tensor:
    """AddN, or the tensor itself when it is alone."""
    if len(tensors) == 1:
        return tensors[0]
    result: Tensor = get_op("AddN")(tensors, name=name)
    return result


def add_pairwise(op: Operation, grads: list[Any]) -> Tensor:
    with name_scope(op.name + "_gradient_sum"):
        total: Tensor = grads[0]
        for grad in grads[1:]:
            total = add_n([total, grad])
        return total


def add_slices(grads: list[Any]) -> Gradient:
    """Sparse gradients are concatenated, if there is more than one; with a dense one among them, all become dense."""
    if len(grads) == 1:
        return grads[0]
    if any(isinstance(g, Tensor) for g in grads):
        result: Tensor = get_op("AddN")(grads)
        return result
    indices = [convert_to_tensor(g.indices) for g in grads]
    if len({i.dtype.base_dtype for i in indices}) > 1:
        indices = [i if i.dtype is dtypes.int64 else get_op("Cast")(i, DstT=dtypes.int64) for i in indices]
    return IndexedSlices(
        _concat_rows([convert_to_tensor(g.values) for g in grads]),
        _concat_rows(indices),
        grads[0].dense_shape,
    )


def _concat_rows(tensors: list[Tensor]) -> Tensor:
    with name_scope("concat") as scope:
        axis = constant(0, dtype=dtypes.int32, name="axis")
        result: Tensor = get_op("ConcatV2")(tensors, axis, name=scope)
        return result


def _dense(value: IndexedSlices, dtype: DType | None = None, name: str | None = None, as_ref: bool = False) -> Tensor:
    """IndexedSlices as a dense Tensor: the segment sum over its rows."""
    if dtype is not None and not dtype.is_compatible_with(value.dtype):
        raise ValueError(f"Tensor conversion requested dtype {dtype.name} for IndexedSlices with dtype {value.dtype.name}")
    if value.dense_shape is None:
        raise ValueError(f"Tensor conversion requested for IndexedSlices without dense_shape: {value}")
    with name_scope("strided_slice") as scope:
        bounds = constant([0], name="stack"), constant([1], name="stack_1"), constant([1], name="stack_2")
        rows = get_op("StridedSlice")(value.dense_shape, *bounds, shrink_axis_mask=1, name=scope)
    result: Tensor = get_op("UnsortedSegmentSum")(value.values, value.indices, rows, name=name)
    return result


register_tensor_conversion_function(IndexedSlices, _dense)
