"""`tensorflow.python.ops.nccl_ops`: tensors of several devices together. Source: TF 1.15.

Each result is computed on its device from copies of all tensors: what NCCL's rings give, with ops that every device has.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from tfexp.graph.scopes import device
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_identity import identity
from tfexp.ops.elementwise_binary import add_n, maximum, minimum, mul


def all_sum(tensors: Sequence[Any]) -> list[Tensor]:
    """The sum of tensors of equal shapes, on the device of each. ValueError for none, or for one that has no device."""
    return _on_all(tensors, add_n)


def all_prod(tensors: Sequence[Any]) -> list[Tensor]:
    return _on_all(tensors, functools.partial(functools.reduce, mul))


def all_min(tensors: Sequence[Any]) -> list[Tensor]:
    return _on_all(tensors, functools.partial(functools.reduce, minimum))


def all_max(tensors: Sequence[Any]) -> list[Tensor]:
    return _on_all(tensors, functools.partial(functools.reduce, maximum))


def reduce_sum(tensors: Sequence[Any]) -> Tensor:
    """The sum on the device that is current. ValueError unless one of the tensors is there."""
    if not tensors:
        raise ValueError("Must pass >0 tensors to reduce operations")
    devices = [_device_of(tensor) for tensor in tensors]
    result = add_n(tensors)
    if result.device not in devices:
        raise ValueError("One input tensor must be assigned to current device")
    return result


def broadcast(tensor: Any) -> Tensor:
    """The tensor, for ops of any device. ValueError for one that has no device."""
    with device(_device_of(tensor)):
        return identity(tensor)


def _on_all(tensors: Sequence[Any], reduction: Callable[[Sequence[Any]], Any]) -> list[Tensor]:
    if not tensors:
        raise ValueError("Must pass >0 tensors to all reduce operations")
    results = []
    for place in [_device_of(tensor) for tensor in tensors]:
        with device(place):
            results.append(reduction(tensors))
    return results


def _device_of(tensor: Any) -> str:
    if not tensor.device:
        raise ValueError("Device assignment required for nccl collective ops")
    place: str = tensor.device
    return place
