"""`ops.Operation` and `ops.EagerTensor`, which TensorFlow's tests also make without a graph's or a function's help.

Source: `tensorflow.python.framework.ops`, TF 1.15.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tensorboard.compat.proto import node_def_pb2

from tfexp.core.dtypes import as_dtype
from tfexp.graph import eager_tensor, operation
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.graph import Graph
from tfexp.graph.tensor import Tensor
from tfexp.runtime.eager import eager_mode

_NODE_NAME = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\\\-/]*")


class _StandsFor(type):
    """Instances of the class before this one count as this one's, and calling it makes one of those."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.__mro__[1])

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return cls._make(*args, **kwargs)  # type: ignore[attr-defined]


class Operation(operation.Operation, metaclass=_StandsFor):
    """A node of a graph."""

    @staticmethod
    def _make(
        node_def: node_def_pb2.NodeDef,
        g: Graph,
        inputs: Sequence[Any] | None = None,
        output_types: Sequence[Any] | None = None,
        control_inputs: Sequence[Any] | None = None,
        input_types: Sequence[Any] | None = None,
        original_op: Any = None,
        op_def: Any = None,
    ) -> operation.Operation:
        """Adds the node of that NodeDef, under that very name. Types are what the op's signature says.

        TypeError for what is no NodeDef and no graph, ValueError for a name that no node can have.
        """
        if not isinstance(node_def, node_def_pb2.NodeDef):
            raise TypeError(f"node_def needs to be a NodeDef: {node_def}")
        if not _NODE_NAME.fullmatch(node_def.name):
            raise ValueError(f"{node_def.name!r} is not a valid node name")
        if not isinstance(g, Graph):
            raise TypeError(f"g needs to be a Graph: {g}")
        awaited = g.control_dependencies(list(control_inputs or ()))
        with awaited, g.device(None), g.device(node_def.device), g._original_op(original_op):
            return g.create_op(
                node_def.op, list(inputs or ()), output_types, input_types, f"{node_def.name}/", dict(node_def.attr)
            )


class EagerTensor(eager_tensor.EagerTensor, metaclass=_StandsFor):
    """A tensor that holds its value."""

    @staticmethod
    def _make(value: Any, device: str | None = None, dtype: int | None = None) -> Tensor:
        """The value as a tensor of the dtype of that number; it is on the CPU, where all are.

        TypeError without a device and for a `dtype` that is no number.
        """
        if device is None:
            raise TypeError("Required argument 'device' (pos 2) not found")
        if not isinstance(dtype, (int, type(None))):
            raise TypeError(f"Expecting a DataType value for dtype. Got {type(dtype).__name__}")
        with eager_mode():
            return convert_to_tensor(value, None if dtype is None else as_dtype(dtype))
