"""Python's indexing of tensors: `x[1:, tf.newaxis, ..., -1]` is one `StridedSlice` node. Source: TF 1.15."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.op import get_op
from tfexp.core.shape import Dimension
from tfexp.graph import tape
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.eager_tensor import EagerOperation, EagerTensor
from tfexp.graph.scopes import get_default_graph, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import array_mask, cast

newaxis = None

SLICE_TYPE_ERROR = (
    "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors are valid "
    "indices"
)


def slice_of(tensor: Any, key: Any) -> Tensor:
    """`tensor[key]`: integers, slices, `...`, `tf.newaxis` and scalar integer tensors, or one bool mask.

    Raises TypeError for other indices; ValueError where they cannot fit the static shape.
    """
    if type(tensor) is EagerTensor:
        found = _slice_now(tensor, key)
        if found is not None:
            return found
    tensor = convert_to_tensor(tensor)
    return array_mask.boolean_mask(tensor, key) if is_mask(key) else strided_slice_of(tensor, key)[0]


def strided_slice_of(tensor: Tensor, key: Any) -> tuple[Tensor, list[Tensor], dict[str, int]]:
    """`tensor[key]` by a `StridedSlice`, the key being no mask; with the op's begin, end and strides, and its mask attrs."""
    spec = _Spec()
    for item in key if isinstance(key, (list, tuple)) else [key]:
        spec.add(item)
    with name_scope(None, "strided_slice", [tensor, *spec.begin, *spec.end, *spec.strides]) as scope:
        if spec.begin:
            vectors = [_packed(part) for part in spec.vectors()]
            if any(v.dtype.base_dtype is dtypes.int64 for v in vectors):
                vectors = [cast.cast(v, dtypes.int64) for v in vectors]
        else:
            vectors = [constant([], dtype=dtypes.int32)] * 3
        return get_op("StridedSlice")(tensor, *vectors, name=scope, **spec.masks), vectors, spec.masks


def _slice_now(tensor: EagerTensor, key: Any) -> EagerTensor | None:
    """The slice of a value by plain integers and slices, which mean the same to NumPy, in eager execution. None where it is
    not that, or the key does not fit, for which TensorFlow has words.
    """
    value = tensor._value
    if type(value) is not np.ndarray or value.dtype == object or not get_default_graph().is_eager:
        return None
    if type(key) is not int and not all(_is_plain(item) for item in (key if type(key) is tuple else (key,))):
        return None
    try:
        result = EagerTensor(value[key], tensor._dtype, tensor._graph)
    except (IndexError, ValueError):
        return None
    if tape.recording.tapes:
        spec = _Spec()
        for item in key if type(key) is tuple else (key,):
            spec.add(item)
        op = get_op("StridedSlice")
        vectors = [tensor._graph.value(np.asarray(part, np.int32), dtypes.int32) for part in spec.vectors()]
        types = {"T": tensor._dtype, "Index": dtypes.int32}
        tape.record(EagerOperation(tensor._graph, op, op.name, [tensor, *vectors], {**types, **spec.masks}, [result]))
    return result


def _is_plain(item: Any) -> bool:
    if type(item) is slice:
        return all(part is None or type(part) is int for part in (item.start, item.stop, item.step))
    return type(item) is int or item is None or item is Ellipsis


def is_mask(key: Any) -> bool:
    """Whether the key selects elements by a bool each."""
    if isinstance(key, bool):
        return True
    if isinstance(key, Tensor):
        return key.dtype.base_dtype is dtypes.bool
    return isinstance(key, np.ndarray) and key.dtype == np.bool_


class _Spec:
    """The three index vectors and five masks of a `StridedSlice`, one index after another."""

    def __init__(self) -> None:
        self.begin: list[Any] = []
        self.end: list[Any] = []
        self.strides: list[Any] = []
        self.masks = dict.fromkeys(("begin_mask", "end_mask", "shrink_axis_mask", "new_axis_mask", "ellipsis_mask"), 0)

    def add(self, item: Any) -> None:
        if isinstance(item, slice):
            self._add_slice(item)
        elif item is Ellipsis:
            self._add(0, 0, 1, "ellipsis_mask")
        elif item is newaxis:
            self._add(0, 0, 1, "new_axis_mask")
        else:
            index = _checked(item)
            wide = isinstance(index, Tensor) and index.dtype.base_dtype is dtypes.int64
            end = index + 1
            self._add(index, end, constant(1, dtype=dtypes.int64) if wide else 1, "shrink_axis_mask")

    def _add(self, begin: Any, end: Any, stride: Any, *masks: str) -> None:
        for mask in masks:
            self.masks[mask] |= 1 << len(self.begin)
        self.begin.append(begin)
        self.end.append(end)
        self.strides.append(stride)

    def _add_slice(self, item: slice) -> None:
        given = [None if _is_open(part) else _checked(part) for part in (item.start, item.stop, item.step)]
        # What is left open beside a tensor becomes a constant of the tensor's type.
        dtype = next((part.dtype.base_dtype for part in given if isinstance(part, Tensor)), None)
        start, stop, step = (
            part if part is not None else default if dtype is None else constant(default, dtype=dtype)
            for part, default in zip(given, (0, 0, 1), strict=True)
        )
        open_ends = [mask for mask, part in zip(("begin_mask", "end_mask"), given, strict=False) if part is None]
        self._add(start, stop, step, *open_ends)

    def vectors(self) -> tuple[list[Any], list[Any], list[Any]]:
        """The beginnings, the ends and the strides."""
        return self.begin, self.end, self.strides


def _packed(values: list[Any]) -> Tensor:
    return convert_to_tensor(values, name="stack")


def _is_open(part: Any) -> bool:
    return part is None or (isinstance(part, Dimension) and part.value is None)


def _checked(index: Any) -> Any:
    """An int or a scalar integer tensor; TypeError for anything else."""
    if isinstance(index, numbers.Integral):
        return int(index)
    if isinstance(index, Dimension):
        return index.value
    if hasattr(index, "_as_graph_element"):
        index = convert_to_tensor(index)
    if isinstance(index, Tensor) and index.dtype.base_dtype in (dtypes.int32, dtypes.int64, dtypes.int16):
        if index.shape.ndims in (None, 0):
            return index
    elif isinstance(index, np.ndarray) and index.ndim == 0 and index.dtype.kind in "iu":
        return int(index)
    raise TypeError(f"{SLICE_TYPE_ERROR}, got {index!r}")
