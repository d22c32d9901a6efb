"""Which values cross from one task to another in fewer bits than they have, and how a session is told so.

TensorFlow's own switch is `ConfigProto.graph_options.enable_bfloat16_sendrecv`. For float16 there is none: a custom
optimizer named `wire_dtype` in the rewriter's options, whose parameter `dtype` is the type, says it for both.

Only float32 is narrowed, and of it only what is computed with: parameters, activations and gradients. Scalars (a learning
rate, a loss) cross as they are, for they cost nothing, and so does what is kept or was kept: what is saved, restored,
assigned, queued or comes from a data set. Feeds and fetches are the client's, and exact.
"""

from __future__ import annotations

from collections.abc import Iterable

from tensorboard.compat.proto import config_pb2

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.errors import InvalidArgumentError
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.plan.rewriters import rewriter_of

__all__ = ["NAME", "kept_exact", "wire_dtype"]

NAME = "wire_dtype"

_KEEPS = ("Assign", "AssignVariableOp", "Save", "Restore", "Queue", "Iterator", "Stage", "Unstage")
"""How the types begin of the ops whose values are stored as they are; what adds to a variable does not."""
_CHANGES = ("AssignAdd", "AssignSub")


def wire_dtype(config: config_pb2.ConfigProto) -> DType | None:
    """The type in which a session's float32 values cross; None: their own.

    InvalidArgumentError for one that is not 16 bits.
    """
    rewriter = rewriter_of(config, NAME)
    if rewriter is None:
        return dtypes.bfloat16 if config.graph_options.enable_bfloat16_sendrecv else None
    asked = dtypes.as_dtype(rewriter.parameter_map["dtype"].type)
    if asked not in (dtypes.bfloat16, dtypes.float16):
        raise InvalidArgumentError(
            None, None, f"The wire_dtype of a session has to be bfloat16 or float16, and it is {asked.name}"
        )
    return asked


def kept_exact(ops: Iterable[Operation]) -> set[Tensor]:
    """The values of a step that are not to be narrowed."""
    exact: set[Tensor] = set()
    for op in ops:
        exact.update(t for t in op._outputs if t.dtype.base_dtype is not dtypes.float32 or t._shape.rank == 0)
        if op.type.startswith(_KEEPS) and not op.type.startswith(_CHANGES):
            exact.update(op._inputs)
            exact.update(op._outputs)
    return exact
