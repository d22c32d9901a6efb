"""`tensorflow.python.framework.kernels`: which ops have kernels, and on what. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfexp.core.op import Op, all_ops, find_op
from tfexp.formats.protos.kernels import KernelDef, KernelList


def get_all_registered_kernels() -> Any:
    """A KernelList of all kernels: one for each op and kind of device, whatever the types."""
    return _listed(all_ops().values())


def get_registered_kernels_for_op(name: str) -> Any:
    """A KernelList of the op's kernels; an empty one for an op that there is not."""
    op = find_op(name)
    return _listed([] if op is None else [op])


def _listed(ops: Iterable[Op]) -> Any:
    return KernelList(kernel=[KernelDef(op=op.name, device_type=device) for op in ops for device in sorted(op.kernels)])
