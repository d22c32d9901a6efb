"""Sums over the shards of a TPU: CrossReplicaSum, for which there is no kernel here. Source: `tf.tpu`, TF 1.15."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from tfexp.core.log import get_logger
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor

_log = get_logger()

cross_replica_sum_op = define_op(
    "CrossReplicaSum(input: T, group_assignment: int32) -> (output: T) "
    "{T: type in [half,bfloat16,float,double,int32,uint32]} #stateful"
)


@cross_replica_sum_op.shape
def _(input: InputShape, group_assignment: InputShape) -> TensorShape:
    return TensorShape(input.dims)


@cross_replica_sum_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [cross_replica_sum_op(grad, op.inputs[1]), None]


class TpuContext(threading.local):
    """How many shards the computation has that is being built; None outside of one."""

    number_of_shards: int | None = None


_CONTEXT = TpuContext()


def get_tpu_context() -> TpuContext:
    """Source: `tpu_function.get_tpu_context`."""
    return _CONTEXT


@contextlib.contextmanager
def tpu_shard_context(number_of_shards: int) -> Iterator[None]:
    """A computation of that many shards is built within. NotImplementedError within another one.

    Source: `tpu_function.tpu_shard_context`.
    """
    if _CONTEXT.number_of_shards is not None:
        raise NotImplementedError("tpu_shard_context cannot be nested.")
    _CONTEXT.number_of_shards = number_of_shards
    try:
        yield
    finally:
        _CONTEXT.number_of_shards = None


def shards_or_one(what: str) -> int:
    """The number of shards of the computation that is being built; 1, with a warning, outside of one."""
    shards = _CONTEXT.number_of_shards
    if shards is None:
        _log.warning("%s should be used within a tpu_shard_context, but got unset number_of_shards. Assuming 1.", what)
        return 1
    return shards


def cross_replica_sum(x: Any, group_assignment: Any = None, name: str | None = None) -> Tensor:
    """The sum of `x` over the shards of each group; `group_assignment` has a row of shards for each, all in one by default.

    It is part of a graph for TPUs: InvalidArgumentError where it runs without them. Source: `tf.tpu.cross_replica_sum`.
    """
    if group_assignment is None:
        group_assignment = [list(range(shards_or_one("cross_replica_sum")))]
    summed: Tensor = cross_replica_sum_op(x, group_assignment, name=name)
    return summed
