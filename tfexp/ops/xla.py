"""`tf.xla.experimental`: parts of a graph that its program wants compiled. Attributes of nodes tell `plan.segment` so.

`jit_scope` marks nodes with `_XlaCompile`. `compile` builds a computation of its own: its nodes have `_xla_compile_id`,
those without inputs wait for the computation's pivot, and what leaves it goes through `XlaClusterOutput`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tfexp.core import nest
from tfexp.core.op import define_op
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import group, no_op
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies, executing_eagerly, get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import same_shape
from tfexp.ops.array_identity import identity
from tfexp.ops.compiled_context import CompiledContext, converted, is_flat, tensors_and_operations
from tfexp.ops.variable_scope import get_variable_scope

cluster_output_op = define_op("XlaClusterOutput(input: T) -> (outputs: T) {T: type}")
cluster_output_op.shape(same_shape)


@cluster_output_op.kernel("CPU", "XLA", view=True)
def _(ctx: Any, input: Any) -> Any:
    return input


@cluster_output_op.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    return grad


@contextlib.contextmanager
def jit_scope(compile_ops: Any = True, separate_compiled_gradients: bool = False) -> Iterator[None]:
    """Mark new nodes as to be compiled, with those of their gradients. Source: `tf.xla.experimental.jit_scope`, TF 1.15.

    `compile_ops`: whether, or a function that says so of a NodeDef. With `separate_compiled_gradients`, the gradients are
    compiled apart from the rest.
    """
    if executing_eagerly():
        raise RuntimeError("xla.experimental.jit_scope is not supported when eager execution is enabled.")
    graph = get_default_graph()
    scope = graph._attr_scopes.get("_XlaScope") or f"jit_scope_{graph._next_jit_scope()}"
    marks = {
        "_XlaCompile": compile_ops if callable(compile_ops) else bool(compile_ops),
        "_XlaSeparateCompiledGradients": bool(separate_compiled_gradients),
        "_XlaScope": scope,
    }
    with graph._attr_scope(marks):
        yield


class _Cluster(CompiledContext):
    mark = "_xla_compile_id"
    kind = "XLA compiled computations"


def compile(computation: Callable[..., Any], inputs: Sequence[Any] | None = None) -> Any:
    """What `computation(*inputs)` gives, compiled as one. Source: `tf.xla.experimental.compile`, TF 1.15.

    Variables that it makes are resource variables. Tensors come before Operations in what it returns, which run with every
    tensor of it; the result is a list of tensors (of one tensor too), a structure of them, or an Operation where there is
    none.
    """
    if inputs is not None and not isinstance(inputs, (list, tuple)):
        raise TypeError("inputs must be a list")
    graph = get_default_graph()
    tensors = [convert_to_tensor(value) for value in nest.flatten(list(inputs or ()))]
    cluster = graph.unique_name("cluster")
    pivot = no_op(name=f"{cluster}/pivot")
    context = _Cluster(cluster, pivot)
    variables = get_variable_scope()
    saved = variables.use_resource
    with context.entered():
        given = [identity(tensor, name=f"input_{number}") for number, tensor in enumerate(tensors)]
        variables.set_use_resource(True)
        try:
            made = computation(*nest.pack_sequence_as(list(inputs or ()), given))
        finally:
            variables.set_use_resource(saved)
        outputs, operations = _results(made)
        outputs = [identity(output) for output in outputs]
    leaving = [cluster_output_op(output, name=f"output{number}") for number, output in enumerate(outputs)]
    with control_dependencies(operations):
        if not leaving:
            return group(*operations, name="output_0")
        results = [identity(output, name=f"output_{number}") for number, output in enumerate(leaving)]
    return results if is_flat(made) else nest.pack_sequence_as(made, results)


def _results(made: Any) -> tuple[list[Tensor], list[Operation]]:
    """The tensors and the operations of what a computation returned."""
    if is_flat(made):
        in_order = "XLA computation function must return zero or more Tensor values followed by zero or more Operations."
        return tensors_and_operations(made, "XLA computation function", in_order)
    flat = nest.flatten(made)
    if any(isinstance(one, Operation) for one in flat):
        raise ValueError("XLA computation function cannot return Operations within a structure.")
    return [converted(one, "XLA computation function") for one in flat], []
