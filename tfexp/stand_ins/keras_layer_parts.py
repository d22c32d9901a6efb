"""`keras.engine.base_layer_utils`: what layers ask about calls, tensors and each other. Source: TF 1.15."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfexp.core import dtypes, nest
from tfexp.core.shape import as_shape
from tfexp.graph.function_graph import FunctionGraph
from tfexp.graph.scopes import executing_eagerly, get_default_graph, init_scope
from tfexp.graph.tensor import Tensor
from tfexp.keras import backend
from tfexp.keras.engine.call_context import Call, current_call
from tfexp.keras.engine.node import history_of
from tfexp.keras.engine.node import masks_of as collect_previous_mask
from tfexp.keras.engine.operation_layer import comes_from_layer, give_history
from tfexp.keras.metrics.means import Mean
from tfexp.keras.mixed_precision.autocast import reading_as
from tfexp.keras.mixed_precision.policy import follow_floatx
from tfexp.keras.mixed_precision.policy import follows_floatx as v2_dtype_behavior_enabled
from tfexp.ops.array_identity import placeholder
from tfexp.ops.variable_base import Variable, VariableAggregation, VariableSynchronization

__all__ = ["collect_previous_mask", "v2_dtype_behavior_enabled"]


def enable_v2_dtype_behavior() -> None:
    """Layers compute in Keras's float type and cast their inputs to it, unless they are told another."""
    follow_floatx(True)


def disable_v2_dtype_behavior() -> None:
    """Layers compute in the type of their first input, unless they are told another."""
    follow_floatx(False)


# --- calls --------------------------------------------------------------------------------------------------------------


class CallContext:
    """The call of a layer that is under way in this thread; outside of all, no layer and no inputs."""

    def __init__(self) -> None:
        call = current_call()
        self.in_call = call is not None
        found = call or Call(None, None, None, False)
        self.layer, self.inputs, self.training, self.frozen = found.layer, found.inputs, found.training, found.frozen

    @property
    def in_keras_graph(self) -> bool:
        """Whether what is computed is drawn into Keras's own graph, beside eager execution."""
        return is_in_keras_graph()


def call_context() -> CallContext:
    """The innermost call, as it is now."""
    return CallContext()


def is_in_keras_graph() -> bool:
    """Whether the graph is Keras's own."""
    return not executing_eagerly() and _outside_is_eager() and get_default_graph() is backend.get_graph()


def is_in_tf_function() -> bool:
    """Whether a function is being built, within eager execution."""
    return isinstance(get_default_graph(), FunctionGraph) and _outside_is_eager() and not is_in_keras_graph()


def is_in_eager_or_tf_function() -> bool:
    """Whether operations are computed in the order of the program."""
    return executing_eagerly() or is_in_tf_function()


def _outside_is_eager() -> bool:
    with init_scope():
        return executing_eagerly()


def training_arg_passed_to_call(argspec: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether `training` is among the arguments behind the inputs, and not None."""
    return {**dict(zip(argspec.args[2:], args, strict=False)), **kwargs}.get("training") is not None


def autocast_context_manager(dtype: Any) -> contextlib.AbstractContextManager[None]:
    """In the block variables of mixed policies read as this float type; as they are for None and other types."""
    floating = dtype is not None and dtypes.as_dtype(dtype).is_floating
    return reading_as(dtypes.as_dtype(dtype).name) if floating else contextlib.nullcontext()


# --- tensors ------------------------------------------------------------------------------------------------------------


def have_all_keras_metadata(tensors: Any) -> bool:
    """Whether a layer made each."""
    return all(history_of(tensor) is not None for tensor in nest.flatten(tensors))


def uses_keras_history(tensors: Any) -> bool:
    """Whether a layer's output goes into one of them."""
    return any(isinstance(tensor, Tensor) and comes_from_layer(tensor) for tensor in nest.flatten(tensors))


def needs_keras_history(tensors: Any, ignore_call_context: bool = False) -> bool:
    """Whether one of them is computed from a layer's output without being one. Never in a call, unless that is ignored."""
    inside = current_call() is not None and not ignore_call_context
    return not inside and not have_all_keras_metadata(tensors) and uses_keras_history(tensors)


def create_keras_history(tensors: Any) -> list[Any]:
    """Make layers of the operations between layers' outputs and these tensors, and return them."""
    return give_history(tensors)


def mark_checked(tensors: Any) -> None:
    """They are not looked into again: no layer's output goes into them."""
    for tensor in nest.flatten(tensors):
        tensor._without_keras_history = True


def generate_placeholders_from_shape(shape: Any) -> Tensor:
    """A placeholder of Keras's float type."""
    return placeholder(dtypes.as_dtype(backend.floatx()), shape=shape)


# --- layers -------------------------------------------------------------------------------------------------------------


def is_subclassed(layer: Any) -> bool:
    """Whether its class is the program's."""
    return ".keras.engine." not in type(layer).__module__ and ".keras.layers." not in type(layer).__module__


def from_saved_model(layer: Any) -> bool:
    """Whether it came out of a SavedModel as functions."""
    return ".keras.saving." in type(layer).__module__


def default(method: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator: this is what classes do that say nothing of their own."""
    method._is_default = True  # type: ignore[attr-defined]
    return method


def create_mean_metric(value: Any, name: str | None = None) -> tuple[Any, Any]:
    """The mean of the value over batches, and its result."""
    metric = Mean(name=name)
    return metric, metric(value)


def make_variable(
    name: str,
    shape: Any = None,
    dtype: Any = dtypes.float32,
    initializer: Any = None,
    trainable: bool | None = None,
    caching_device: Any = None,
    validate_shape: bool = True,
    constraint: Any = None,
    use_resource: bool | None = None,
    collections: Any = None,
    synchronization: Any = VariableSynchronization.AUTO,
    aggregation: Any = VariableAggregation.NONE,
    partitioner: Any = None,
) -> Variable:
    """A variable of an initializer, its class or a value, below the name scope that is open. The partitioner is not used."""
    initial: Any = initializer
    if callable(initializer):
        made = initializer() if isinstance(initializer, type) else initializer

        def initial() -> Any:
            return made(shape, dtype=dtype)

    return Variable(
        initial_value=initial,
        name=name,
        trainable=trainable,
        caching_device=caching_device,
        dtype=dtype if callable(initializer) else None,
        validate_shape=validate_shape,
        constraint=constraint,
        use_resource=use_resource is not False,
        collections=collections,
        synchronization=synchronization,
        aggregation=aggregation,
        shape=None if shape is None else as_shape(shape),
    )
