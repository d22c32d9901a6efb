"""The global step: the variable that counts training steps. Source: `tf.train.get_or_create_global_step`, TF 1.15."""

from __future__ import annotations

import logging
from typing import Any

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.graph.collections import GraphKeys
from tfexp.graph.scopes import add_to_collection, executing_eagerly, get_collection, get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.ops.initializers import zeros_initializer
from tfexp.ops.variable_base import VariableAggregation, node_name
from tfexp.ops.variable_scope import get_variable

_log = logging.getLogger("tensorflow")

# Where TensorFlow keeps the tensor that reads the step.
GLOBAL_STEP_READ_KEY = "global_step_read_op_cache"


def global_step(sess: Any, global_step_tensor: Any) -> int:
    """The value of the step in `sess`, which is not asked in eager execution."""
    if executing_eagerly():
        return int(global_step_tensor.numpy())
    return int(sess.run(global_step_tensor))


def get_global_step(graph: Any = None) -> Any:
    """The graph's global step, or None; a tensor or variable called `global_step` counts too.

    A function that is being built has that of the graph around it.
    """
    graph = graph or get_default_graph()
    found = graph.outermost.get_collection(GraphKeys.GLOBAL_STEP)
    if len(found) > 1:
        _log.error("Multiple tensors in global_step collection.")
        return None
    if found:
        step = found[0]
    else:
        try:
            step = graph.get_tensor_by_name("global_step:0")
        except KeyError:
            return None
    assert_global_step(step)
    return step


def create_global_step(graph: Any = None) -> Any:
    """A new int64 variable `global_step` at zero. ValueError if the graph has one."""
    graph = graph or get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    with graph.as_default(), graph.name_scope(None):
        step = get_variable(
            GraphKeys.GLOBAL_STEP,
            shape=[],
            dtype=dtypes.int64,
            initializer=zeros_initializer(),
            trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
            aggregation=VariableAggregation.ONLY_FIRST_REPLICA,
        )
        if executing_eagerly() and not get_collection(GraphKeys.GLOBAL_STEP):
            add_to_collection(GraphKeys.GLOBAL_STEP, step)  # where it is looked for
        return step


def get_or_create_global_step(graph: Any = None) -> Any:
    """The graph's global step, made if there is none. Source: `tf.train.get_or_create_global_step`."""
    graph = graph or get_default_graph()
    step = get_global_step(graph)
    return create_global_step(graph) if step is None else step


def global_step_read() -> Any:
    """A tensor with the value of the graph's global step, or of its initial value as long as it has none; one per graph.

    None where the graph has no global step. Unlike the variable itself, it is a copy that later updates leave alone.
    """
    graph = get_default_graph()
    step = get_global_step(graph)
    found = graph.get_collection(GLOBAL_STEP_READ_KEY)
    if step is None or found:
        return found[0] if found else None
    with graph.as_default(), graph.name_scope(None), graph.name_scope(f"{node_name(step)}/"):
        # Hooks read it before anything is initialised in the session.
        value = (step.initialized_value() if hasattr(step, "initialized_value") else step) + 0
    graph.add_to_collection(GLOBAL_STEP_READ_KEY, value)
    return value


def required_step_read(hook: str) -> Any:
    """`global_step_read`, for the hook of that name. RuntimeError in a graph without a global step."""
    value = global_step_read()
    if value is None:
        raise RuntimeError(f"Global step should be created to use {hook}.")
    return value


def assert_global_step(global_step_tensor: Any) -> None:
    """TypeError unless it is a scalar integer variable or tensor."""
    if not (isinstance(global_step_tensor, Tensor) or hasattr(global_step_tensor, "_as_graph_element")):
        raise TypeError(f'Existing "global_step" must be a Variable or Tensor: {global_step_tensor}.')
    if not global_step_tensor.dtype.base_dtype.is_integer:
        raise TypeError(f'Existing "global_step" does not have integer type: {global_step_tensor.dtype}')
    shape = global_step_tensor.get_shape()
    if shape.ndims not in (0, None) or not shape.is_compatible_with(TensorShape(())):
        raise TypeError(f'Existing "global_step" is not scalar: {shape}')
