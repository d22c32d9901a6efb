"""`tensorflow.python.distribute.cross_device_utils`: values of several devices, keys of what they share. Source: TF 1.15."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Sequence
from typing import Any

from tfexp.core import nest
from tfexp.core.device import DeviceName
from tfexp.distribute.cross_device import divided as divide_by_n_tensors_or_indexed_slices
from tfexp.distribute.cross_device import summed
from tfexp.graph.convert import IndexedSlices
from tfexp.graph.scopes import device as placed
from tfexp.ops.array_identity import identity
from tfexp.ops.elementwise_binary import add_n

__all__ = ["divide_by_n_tensors_or_indexed_slices"]


def aggregate_tensors_or_indexed_slices(values: Sequence[Any], accumulation_fn: Callable[..., Any] = add_n) -> Any:
    """Tensors by `accumulation_fn`; IndexedSlices one behind the other, or dense where there are tensors among them."""
    return summed(values, accumulation_fn)


def copy_tensor_or_indexed_slices_to_device(value: Any, device: Any) -> Any:
    """The tensor, or the parts of IndexedSlices, on that device."""
    with placed(device):
        if not isinstance(value, IndexedSlices):
            return identity(value)
        shape = None if value.dense_shape is None else identity(value.dense_shape)
        return IndexedSlices(identity(value.values), identity(value.indices), shape)


def contains_indexed_slices(value: Any) -> bool:
    """Whether it is, or a list has, IndexedSlices."""
    return any(isinstance(one, IndexedSlices) for one in nest.flatten(value))


class CollectiveKeys:
    """Numbers by which collective ops of several workers, which all ask in the same order, find each other."""

    def __init__(
        self, group_key_start: int = 1, op_instance_key_start: int = 100, variable_instance_key_start: int = 1000000
    ):
        self._group_keys, self._groups = itertools.count(group_key_start), dict[tuple[str, ...], int]()
        self._variable_keys, self._first_op_key = itertools.count(variable_instance_key_start), op_instance_key_start
        self._of_thread, self._lock = threading.local(), threading.Lock()

    def get_group_key(self, devices: Sequence[str]) -> int:
        """That of these devices, whatever their order and their tasks."""
        names = [DeviceName.parse(one) for one in devices]
        group = tuple(sorted(f"{name.device_type}:{name.device_index}" for name in names))
        with self._lock:
            if group not in self._groups:
                self._groups[group] = next(self._group_keys)
            return self._groups[group]

    def get_op_instance_key(self) -> int:
        """The next one of this thread."""
        if not hasattr(self._of_thread, "op_keys"):
            self._of_thread.op_keys = itertools.count(self._first_op_key)
        return int(next(self._of_thread.op_keys))

    def get_variable_instance_key(self) -> int:
        """The next one of all threads."""
        with self._lock:
            return next(self._variable_keys)
