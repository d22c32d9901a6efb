"""Ops that draw from the stream in a variable and move it on: those that TF 1.15's `Generator` writes into its graphs.

Each is a read of the state (`random_generator`) and a stateless draw (`random_stateless`) in one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.dtypes import DType
from tfexp.core.kernel import Ref
from tfexp.core.op import Op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.ops import random_stateless
from tfexp.ops.array import Array
from tfexp.ops.random import checked_shape, described_shape
from tfexp.ops.random_generator import taken
from tfexp.ops.resource_state import variable_op
from tfexp.ops.shape_rules import with_rank

_HEAD = "(resource: resource, algorithm: int64, shape: shape_dtype"
_TAIL = "-> (output: dtype) {dtype: type = %s; shape_dtype: type = int64} #stateful"

normal_op = variable_op(f"StatefulStandardNormalV2{_HEAD}) {_TAIL % 'float'}")
truncated_normal_op = variable_op(f"StatefulTruncatedNormal{_HEAD}) {_TAIL % 'float'}")
uniform_op = variable_op(f"StatefulUniform{_HEAD}) {_TAIL % 'float'}")
full_int_op = variable_op(f"StatefulUniformFullInt{_HEAD}) {_TAIL % 'uint64'}")
uniform_int_op = variable_op(f"StatefulUniformInt{_HEAD}, minval: dtype, maxval: dtype) {_TAIL % 'int64'}")


def _attach(op: Op, stateless: Op) -> None:
    @op.shape
    def _(resource: InputShape, algorithm: InputShape, shape: InputShape, *bounds: InputShape) -> TensorShape:
        for scalar in (resource, algorithm, *bounds):
            with_rank(scalar, 0)
        return described_shape(shape)

    @op.kernel("CPU")
    def _(ctx: Any, resource: Ref, algorithm: Array, shape: Array, *bounds: Array, dtype: DType) -> Array:
        low, high, key = taken(resource, algorithm, checked_shape(shape)[1]).view(np.uint64)
        stream = np.array([key]), np.array([low, high]), np.int32(algorithm)
        drawn: Array = stateless.kernels["CPU"].compute(ctx, shape, *stream, *bounds, dtype=dtype)
        return drawn


_attach(normal_op, random_stateless.normal_op)
_attach(truncated_normal_op, random_stateless.truncated_normal_op)
_attach(uniform_op, random_stateless.uniform_op)
_attach(full_int_op, random_stateless.full_int_op)
_attach(uniform_int_op, random_stateless.uniform_int_op)

skip_op = variable_op("RngSkip(resource: resource, algorithm: int64, delta: int64) -> () #stateful")


@skip_op.shape
def _(resource: InputShape, algorithm: InputShape, delta: InputShape) -> list[TensorShape]:
    for scalar in (resource, algorithm, delta):
        with_rank(scalar, 0)
    return []


@skip_op.kernel("CPU")
def _(ctx: Any, resource: Ref, algorithm: Array, delta: Array) -> list[Any]:
    taken(resource, algorithm, int(delta))
    return []
