"""Functions that TensorFlow keeps in its own modules and does not publish, but that its tests and many scripts call.

Sources: `tensorflow.python.framework.ops`, `.tensor_util`, `tensorflow.python.ops.control_flow_ops`, `.control_flow_util`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tfexp.core.op import get_op
from tfexp.core.shape import TensorShape
from tfexp.formats.tensor import make_ndarray
from tfexp.graph.behavior import control_flow_v2_enabled
from tfexp.graph.collections import GraphKeys as GraphKeys
from tfexp.graph.constant_value import constant_value
from tfexp.graph.control_flow import CondContext as CondContext
from tfexp.graph.control_flow import merge as _merged
from tfexp.graph.convert import IndexedSlices, convert_n_to_tensor, convert_to_tensor
from tfexp.graph.dependencies import with_dependencies as with_dependencies
from tfexp.graph.eager_tensor import EagerTensor
from tfexp.graph.loop_nodes import is_loop_exit as IsLoopExit
from tfexp.graph.scope_names import prepend_name_scope as prepend_name_scope
from tfexp.graph.scope_names import strip_name_scope as strip_name_scope
from tfexp.graph.scopes import get_default_graph, name_scope
from tfexp.graph.shape_inference import static_value_as_shape_outside
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor
from tfexp.graph.while_context import WhileContext as WhileContext
from tfexp.graph.while_context import enter as _enter
from tfexp.graph.while_context import leave as _leave
from tfexp.graph.while_context import next_iteration as _next_iteration
from tfexp.graph.while_context import same as _same

MakeNdarray = make_ndarray


def internal_convert_to_tensor(
    value: Any,
    dtype: Any = None,
    name: str | None = None,
    as_ref: bool = False,
    preferred_dtype: Any = None,
    ctx: Any = None,
) -> Tensor:
    """`tf.convert_to_tensor`; with `as_ref`, a reference stays one. `ops.internal_convert_to_tensor`."""
    return convert_to_tensor(value, dtype, name, preferred_dtype, as_ref=as_ref)


def internal_convert_n_to_tensor(
    values: Any,
    dtype: Any = None,
    name: str | None = None,
    as_ref: bool = False,
    preferred_dtype: Any = None,
    ctx: Any = None,
) -> list[Tensor]:
    """The same of each of a sequence. `ops.internal_convert_n_to_tensor`."""
    return convert_n_to_tensor(values, dtype, name, preferred_dtype, as_ref)


# --- names and numbers -------------------------------------------------------------------------------------------------

_numbers = itertools.count(1)


def uid() -> int:
    """A number that this process has not had before. `ops.uid`."""
    return next(_numbers)


def get_name_scope() -> str:
    """The default graph's current name scope, without its last slash. `ops.get_name_scope`."""
    return get_default_graph().get_name_scope()


def get_all_collection_keys() -> list[Any]:
    """The names of the default graph's collections that are strings."""
    return [key for key in get_default_graph().get_all_collection_keys() if isinstance(key, str)]


def executing_eagerly_outside_functions() -> bool:
    """Whether ops run at once here, or would around the functions that are being built."""
    return get_default_graph().outermost.is_eager


# --- values and shapes ---------------------------------------------------------------------------------------------------


def constant_value_as_shape(tensor: Tensor) -> TensorShape:
    """The shape that an integer vector describes, as far as it is known: a -1 is an unknown size.

    Source: `tensor_util.constant_value_as_shape`.
    """
    if tensor.get_shape().ndims == 0:
        value = constant_value(tensor)
        if value is None or int(value) != -1:
            raise ValueError(
                "Received a scalar with unknown value as shape; require a statically known scalar with value -1"
            )
        return TensorShape(None)
    shape = tensor.get_shape().with_rank(1)
    if shape == TensorShape([0]):
        return TensorShape([])
    if isinstance(tensor, EagerTensor):
        return TensorShape([None if size == -1 else size for size in tensor.numpy().tolist()])
    op = tensor.op
    if op.type == "Cast":
        return constant_value_as_shape(op.inputs[0])
    if op.type == "Shape":
        return op.inputs[0].get_shape()
    if op.type == "Pack":
        sizes = [constant_value(part) for part in op.inputs]
        return TensorShape([None if size is None or size < 0 else int(size) for size in sizes])
    if op.type == "ConcatV2":
        result = TensorShape([])
        for part in op.inputs[:-1]:
            result = result.concatenate(constant_value_as_shape(part))
        return result
    value = constant_value(tensor)
    if value is None:
        return static_value_as_shape_outside(tensor)
    return TensorShape([None if size < 0 else int(size) for size in np.asarray(value)])


# --- control flow --------------------------------------------------------------------------------------------------------


def switch(data: Any, pred: Any, dtype: Any = None, name: str | None = None) -> tuple[Any, Any]:
    """(output_false, output_true): `data` on the one of the two that `pred` says. `control_flow_ops.switch`.

    data: a tensor, IndexedSlices or a SparseTensor.
    """
    pred = convert_to_tensor(pred, name="pred")
    if isinstance(data, (IndexedSlices, SparseTensor)):
        with name_scope(name, "Switch", [data, pred]):
            return _each_switched(data, pred)
    data = convert_to_tensor(data, dtype=dtype, name="data")
    output: tuple[Tensor, Tensor] = get_op("Switch")(data, pred, name=name)
    return output


def _each_switched(data: Any, pred: Tensor) -> tuple[Any, Any]:
    parts = (data.indices, data.values, data.dense_shape)
    sides = [(None, None) if part is None else switch(part, pred) for part in parts]
    no, yes = zip(*sides, strict=True)
    if isinstance(data, SparseTensor):
        return SparseTensor(*no), SparseTensor(*yes)
    return tuple(IndexedSlices(values, indices, dims) for indices, values, dims in (no, yes))  # type: ignore[return-value]


class Merge(NamedTuple):
    """What `merge` gives."""

    output: Any
    value_index: Tensor


def merge(inputs: Any, name: str | None = None) -> Merge:
    """Whichever of `inputs` is alive, and its number. ValueError for a None. `control_flow_ops.merge`."""
    if any(value is None for value in inputs):
        raise ValueError(f"At least one of the merge inputs is None: {inputs}")
    kept = [value if isinstance(value, IndexedSlices) else convert_to_tensor(value, as_ref=True) for value in inputs]
    output = _merged(kept, name=name)
    node = output.values.op if isinstance(output, IndexedSlices) else output.op
    return Merge(output, node.outputs[1])


def enter(
    data: Any, frame_name: str, is_constant: bool = False, parallel_iterations: int = 10, name: str | None = None, **_: Any
) -> Any:
    """`data` in the frame of a loop. `control_flow_ops._Enter`."""

    def entered(tensor: Tensor, name: str | None = None) -> Tensor:
        return _enter(tensor, frame_name, is_constant, parallel_iterations, name)

    return _by_parts(entered, data, name)


def exit(data: Any, name: str | None = None) -> Any:
    """`data`, as it is when its loop ends, outside of it. `control_flow_ops.exit`."""
    return _by_parts(_leave, data, name)


def next_iteration(data: Any, name: str | None = None) -> Any:
    """`data` for the iteration after this one. `control_flow_ops._NextIteration`."""
    return _by_parts(_next_iteration, data, name)


def identity_of(data: Any, name: str | None = None) -> Any:
    """`data` as it is, a reference where it is one. `control_flow_ops._Identity`."""
    return _by_parts(_same, data, name)


def _by_parts(node: Callable[..., Tensor], data: Any, name: str | None) -> Any:
    """The node of a tensor, or of what can be one; or of each part of a SparseTensor or IndexedSlices, without the name."""
    if isinstance(data, SparseTensor):
        return SparseTensor(node(data.indices), node(data.values), node(data.dense_shape))
    if isinstance(data, IndexedSlices):
        values, indices = node(data.values), node(data.indices)
        return IndexedSlices(values, indices, None if data.dense_shape is None else node(data.dense_shape))
    return node(convert_to_tensor(data, as_ref=True), name)


def IsInWhileLoop(op: Any) -> bool:
    """Whether the operation is in a loop's body or condition."""
    return GetContainingWhileContext(op._get_control_flow_context()) is not None


def IsInCond(op: Any) -> bool:
    """Whether the operation is in a branch of a cond."""
    return GetContainingCondContext(op._get_control_flow_context()) is not None


def GetContainingWhileContext(ctxt: Any, stop_ctxt: Any = None) -> Any:
    """The innermost loop around a context, itself included; None where there is none, or `stop_ctxt` comes first."""
    while ctxt is not None and not isinstance(ctxt, WhileContext):
        if ctxt is stop_ctxt:
            return None
        ctxt = ctxt.outer_context
    return ctxt


def GetContainingCondContext(ctxt: Any) -> Any:
    """The innermost branch of a cond around a context, itself included; None where there is none."""
    while ctxt is not None and not isinstance(ctxt, CondContext):
        ctxt = ctxt.outer_context
    return ctxt


def GetContainingXLAContext(ctxt: Any) -> None:
    """None: no part of a graph is built for XLA here, which compiles plans."""


def GetOutputContext(op: Any) -> Any:
    """The context that an operation's outputs are in: outside of the loop for one that leaves it."""
    context = op._get_control_flow_context()
    return context.outer_context if context is not None and IsLoopExit(op) else context


def __getattr__(name: str) -> Any:
    if name == "ENABLE_CONTROL_FLOW_V2":  # which changes
        return control_flow_v2_enabled()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def EnableControlFlowV2(graph: Any) -> bool:
    return control_flow_v2_enabled() or graph.is_traced


def InXlaContext(graph: Any) -> bool:
    return False


GraphOrParentsInXlaContext = InXlaContext
