"""Base class of the layers of `tf.layers` and of recurrent cells: makes its variables on first use, below one scope.

A layer's scope is opened by the first call (or by `name`, when a functional form made the layer) and kept: later calls put
their nodes below the name scope that it had then, and share its variables. Source: `tf.layers.Layer`, TF 1.15.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core import dtypes, nest
from tfexp.core.shape import TensorShape, as_shape
from tfexp.graph.collections import GraphKeys
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.graph import Graph
from tfexp.graph.scopes import add_to_collection, executing_eagerly, get_collection_ref, get_default_graph, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.layers.input_spec import InputSpec, check_inputs
from tfexp.ops.array import shape
from tfexp.ops.cast import cast
from tfexp.ops.variable_base import VariableAggregation, VariableSynchronization
from tfexp.ops.variable_scope import VariableScope, get_variable, get_variable_scope, variable_scope

_LAYER_NAMES = ("layer names",)


def snake_case(name: str) -> str:
    """`BasicLSTMCell` -> `basic_lstm_cell`, as TensorFlow names layers after their classes."""
    words = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    spelled = re.sub(r"([a-z])([A-Z])", r"\1_\2", words).lower()
    return f"private{spelled}" if spelled.startswith("_") else spelled


def _unique_layer_name(base_name: str) -> str:
    kept = get_default_graph().get_collection_ref(_LAYER_NAMES)
    if not kept:
        kept.append({})
    counts: dict[tuple[str, str], int] = kept[0]
    key = get_variable_scope().name, base_name
    count = counts.get(key, 0)
    counts[key] = count + 1
    return f"{base_name}_{count}" if count else base_name


class Layer:
    """Variables and a computation: subclasses make the variables in `build(input_shape)` and compute in `call(inputs)`.

    trainable: whether its variables join TRAINABLE_VARIABLES. name: of its scope; by default the class's in snake case,
    made unique. dtype: of its variables; by default that of the first input.
    """

    def __init__(self, trainable: bool = True, name: Any = None, dtype: Any = None, **kwargs: Any):
        scope, self._reuse = kwargs.pop("_scope", None), kwargs.pop("_reuse", None)
        self._activity_regularizer = kwargs.pop("activity_regularizer", None)
        if kwargs:
            raise TypeError(f"Keyword argument not understood: {sorted(kwargs)[0]}")
        self.trainable = trainable
        self.built = False
        self.stateful = False
        self.input_spec: Any = None
        self._dtype = None if dtype is None else dtypes.as_dtype(dtype).base_dtype
        self._trainable_weights: list[Any] = []
        self._non_trainable_weights: list[Any] = []
        self._updates: list[Any] = []
        self._losses: list[Any] = []
        self._graph: Graph | None = None
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._scope: VariableScope | None = None
        self._current_scope: VariableScope | None = None
        class_name = snake_case(type(self).__name__)
        if isinstance(name, VariableScope):
            self._base_name, self._name = name.name, _unique_layer_name(class_name)
        elif name:
            self._base_name = self._name = name
        else:
            self._base_name, self._name = class_name, _unique_layer_name(class_name)
        if scope:
            with variable_scope(scope) as captured:
                self._scope = captured

    # --- what it is called and what it has ----------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self._name

    @property
    def dtype(self) -> Any:
        """The name of the variables' type; None before the first call, unless it was given."""
        return None if self._dtype is None else self._dtype.name

    @property
    def graph(self) -> Graph | None:
        """The graph of the first call."""
        return self._graph

    @property
    def scope_name(self) -> str:
        """The name of its variable scope. ValueError before that is known."""
        if self._scope is None:
            raise ValueError(
                f'No name available for layer scope because the layer "{self._name}" has not been used yet. The scope name '
                "is determined the first time the layer instance is called. You must therefore call the layer before "
                "querying `scope_name`."
            )
        return self._scope.name

    @property
    def activity_regularizer(self) -> Any:
        return self._activity_regularizer

    @property
    def trainable_weights(self) -> list[Any]:
        return list(self._trainable_weights) if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Any]:
        return list(self._non_trainable_weights) if self.trainable else self._all_weights()

    def _all_weights(self) -> list[Any]:
        return [*self._trainable_weights, *self._non_trainable_weights]

    @property
    def weights(self) -> list[Any]:
        return self.trainable_weights + self.non_trainable_weights

    @property
    def trainable_variables(self) -> list[Any]:
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> list[Any]:
        return self.non_trainable_weights

    @property
    def variables(self) -> list[Any]:
        return self.weights

    @property
    def updates(self) -> list[Any]:
        """Operations that training must run besides, such as a batch normalization's moving averages."""
        return list(self._updates) if self.trainable else []

    @property
    def losses(self) -> list[Any]:
        return list(self._losses)

    @property
    def input(self) -> Any:
        """The inputs of the layer's only call; AttributeError unless it was called exactly once."""
        return self._of_the_only_call(self._inputs, "input")

    @property
    def output(self) -> Any:
        return self._of_the_only_call(self._outputs, "output")

    @property
    def input_shape(self) -> Any:
        return nest.map_structure(lambda t: tuple(t.get_shape().as_list()), self.input)

    @property
    def output_shape(self) -> Any:
        return nest.map_structure(lambda t: tuple(t.get_shape().as_list()), self.output)

    def _of_the_only_call(self, calls: list[Any], what: str) -> Any:
        if not calls:
            raise AttributeError(f"Layer {self._name} is not connected, no {what}.")
        if len(calls) > 1:
            raise AttributeError(f"Layer {self._name} was called {len(calls)} times: its {what} is ill-defined.")
        return calls[0]

    def count_params(self) -> int:
        """The number of elements of all its variables. ValueError before they are made."""
        if not self.built:
            raise ValueError(
                f"You tried to call `count_params` on {self._name}, but the layer isn't built. You can build it by hand via:"
                f" `{self._name}.build(batch_input_shape)`."
            )
        return sum(int(np.prod(v.get_shape().as_list())) for v in self.weights)

    # --- what subclasses define ---------------------------------------------------------------------------------------

    def build(self, input_shape: Any) -> None:
        """Make the variables for inputs of this shape (or structure of shapes)."""
        self.built = True

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The computation."""
        return inputs

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The shape of what `call` gives for inputs of this shape."""
        raise NotImplementedError(f"{type(self).__name__} does not say what shape its output has")

    # --- variables, losses, updates -----------------------------------------------------------------------------------

    def add_weight(
        self,
        name: str,
        shape: Any,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Callable[[Any], Any] | None = None,
        trainable: bool | None = None,
        constraint: Callable[[Any], Any] | None = None,
        use_resource: bool | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
        partitioner: Callable[..., Any] | None = None,
    ) -> Any:
        """A variable of the layer, made or shared below its scope as `tf.get_variable` does."""
        if synchronization is VariableSynchronization.ON_READ:
            if trainable:
                raise ValueError(
                    "Synchronization value can be set to VariableSynchronization.ON_READ only for non-trainable variables. "
                    "You have specified trainable=True and synchronization=VariableSynchronization.ON_READ."
                )
            trainable = False
        trainable = trainable is None or trainable
        dtype = dtypes.as_dtype(dtype or self._dtype or dtypes.float32)
        self._set_scope(None)
        assert self._scope is not None
        reuse = self.built or self._reuse
        existing = {id(v) for v in get_collection_ref(GraphKeys.GLOBAL_VARIABLES)}
        with variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False) as scope:
            self._current_scope = scope
            with name_scope(scope.original_name_scope):
                variable = get_variable(
                    name,
                    shape=as_shape(shape),
                    dtype=dtype,
                    initializer=initializer or scope.initializer,
                    trainable=trainable and self.trainable,
                    constraint=constraint,
                    partitioner=partitioner,
                    use_resource=use_resource,
                    synchronization=synchronization,
                    aggregation=aggregation,
                )
                if regularizer is not None and id(variable) not in existing:
                    self._regularize(name, variable, regularizer)
        self._keep_weight(variable, trainable)
        return variable

    add_variable = add_weight

    def _keep_weight(self, variable: Any, trainable: bool) -> None:
        kept = self._trainable_weights if trainable else self._non_trainable_weights
        if not any(variable is other for other in kept):
            kept.append(variable)

    def _regularize(self, name: str, variable: Any, regularizer: Callable[[Any], Any]) -> None:
        parts = list(variable) if hasattr(variable, "_get_variable_list") else [variable]
        for part in parts:
            with name_scope(f"{name}/Regularizer"):
                loss = regularizer(part)
            if loss is not None:
                self.add_loss(loss)

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Keeps losses in the layer and, in a graph, in REGULARIZATION_LOSSES. `inputs` has no effect."""
        for loss in nest.flatten(losses):
            value = loss() if callable(loss) else loss
            if value is None:
                continue
            tensor = convert_to_tensor(value)
            self._losses.append(tensor)
            if not executing_eagerly():
                add_to_collection(GraphKeys.REGULARIZATION_LOSSES, tensor)

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Keep operations to run at each training step, in the layer and in UPDATE_OPS."""
        for update in nest.flatten(updates):
            operation = update.op if isinstance(update, Tensor) else update
            self._updates.append(operation)

    # --- calling ------------------------------------------------------------------------------------------------------

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Build on the first call, then compute. `scope`: the variable scope to open on the first call."""
        self._set_scope(kwargs.pop("scope", None))
        assert self._scope is not None
        inputs = nest.map_structure(_as_tensor, inputs)
        self._check_graph(inputs)
        reuse = True if self.built else self._reuse
        with variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False) as scope:
            self._current_scope = scope
            with name_scope(scope.original_name_scope):
                if not self.built:
                    self._build_for(inputs)
                check_inputs(self.input_spec, inputs, self._name)
                outputs = self.call(inputs, *args, **kwargs)
                if self._activity_regularizer is not None:
                    self._regularize_activity(outputs, inputs)
        self._inputs.append(inputs)
        self._outputs.append(outputs)
        kept = get_collection_ref(GraphKeys.UPDATE_OPS)
        kept.extend(update for update in self.updates if not any(update is other for other in kept))
        return outputs

    def apply(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The same as calling the layer."""
        return self(inputs, *args, **kwargs)

    def _build_for(self, inputs: Any) -> None:
        leaves = [leaf for leaf in nest.flatten(inputs) if isinstance(leaf, Tensor)]
        if self._dtype is None and leaves:
            self._dtype = leaves[0].dtype.base_dtype
        check_inputs(self.input_spec, inputs, self._name)
        self.build(nest.map_structure(lambda leaf: leaf.get_shape() if isinstance(leaf, Tensor) else None, inputs))
        self.built = True

    def _regularize_activity(self, outputs: Any, inputs: Any) -> None:
        with name_scope("ActivityRegularizer"):
            for output in nest.flatten(outputs):
                loss = self._activity_regularizer(output)
                if loss is not None:
                    # Per example: a batch of twice the size is not to weigh twice as much against the mean of a loss.
                    self.add_loss(loss / cast(shape(output)[0], loss.dtype), inputs=inputs)  # type: ignore[index]

    def _set_scope(self, scope: Any) -> None:
        if self._scope is not None:
            return
        if self._reuse:
            with variable_scope(scope if scope is not None else self._base_name) as captured:
                self._scope = captured
        else:
            with variable_scope(scope, default_name=self._base_name) as captured:
                self._scope = captured

    def _check_graph(self, inputs: Any) -> None:
        graph = get_default_graph()
        if self._graph is None:
            self._graph = graph
        elif self._graph is not graph and (self.weights or not self.built):
            raise ValueError(
                f"Input graph and Layer graph are not the same: {nest.flatten(inputs)} is not from the passed-in graph."
            )

    def __repr__(self) -> str:
        return f"<{type(self).__module__}.{type(self).__name__} {self._name!r}>"


def _as_tensor(value: Any) -> Any:
    return convert_to_tensor(value) if isinstance(value, (np.ndarray, float, int)) else value


def dimension(value: Any) -> int | None:
    """The plain number of a `tf.Dimension`, or of what stands for one."""
    return getattr(value, "value", value)


def normalized(values: Any, count: int, name: str) -> tuple[int, ...]:
    """`count` whole numbers: one for all, or so many (a TensorShape's too). ValueError, naming the argument, for others."""
    if isinstance(values, (int, np.integer)):
        return (int(values),) * count
    try:
        numbers = tuple(int(value) for value in values)
    except (TypeError, ValueError):
        numbers = ()
    if isinstance(values, str) or len(numbers) != count:
        raise ValueError(f"The `{name}` argument must be a tuple of {count} integers. Received: {values}")
    return numbers


__all__ = ["InputSpec", "Layer", "dimension", "normalized", "snake_case"]
