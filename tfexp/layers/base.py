"""What every layer of `tf.layers` and every recurrent cell is: a layer of Keras's, whose variables are `tf.get_variable`'s.

A layer's scope is opened by the first call (or by `name`, when a functional form made the layer) and kept: later calls put
their nodes below the name scope that it had then, and share its variables. Source: `tf.layers.Layer`, TF 1.15.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core import dtypes, nest
from tfexp.core.shape import as_shape
from tfexp.core.text import snake_case
from tfexp.graph.collections import GraphKeys
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.graph import Graph
from tfexp.graph.scopes import collect, executing_eagerly, get_collection_ref, get_default_graph, name_scope
from tfexp.keras import backend
from tfexp.keras.engine import base_layer
from tfexp.keras.engine.input_spec import InputSpec
from tfexp.keras.engine.weights import is_trained
from tfexp.keras.mixed_precision.policy import INFER
from tfexp.layers.keras_style import is_keras_style
from tfexp.ops.variable_base import VariableAggregation, VariableSynchronization
from tfexp.ops.variable_scope import VariableScope, get_variable, variable_scope


class Layer(base_layer.Layer):
    """Variables and a computation: subclasses make the variables in `build(input_shape)` and compute in `call(inputs)`.

    trainable: whether its variables join TRAINABLE_VARIABLES. name: of its scope; by default the class's in snake case,
    made unique. dtype: of its variables; by default that of the first input.
    """

    # Attributes are no parts: what counts is what `add_weight` made, and the layers in `_layers`.
    _setattr_tracking = False

    def __init__(self, trainable: bool = True, name: Any = None, dtype: Any = None, **kwargs: Any):
        scope, self._reuse = kwargs.pop("_scope", None), kwargs.pop("_reuse", None)
        self._graph: Graph | None = None
        self._scope: VariableScope | None = None
        self._current_scope: VariableScope | None = None
        class_name = snake_case(type(self).__name__)
        self._base_name = name.name if isinstance(name, VariableScope) else name or class_name
        self._keras_style = is_keras_style()
        if self._keras_style:
            _refuse(scope=scope, reuse=self._reuse)
        own_name = name if name and not isinstance(name, VariableScope) else self._default_name(class_name)
        super().__init__(trainable, own_name, INFER if dtype is None else dtype, **kwargs)
        if scope:
            with variable_scope(scope) as captured:
                self._scope = captured

    def _default_name(self, base_name: str) -> str:
        """A name that no layer of the graph has, one of Keras's neither: both count together, Keras's style from 1."""
        return str(backend.unique_object_name(base_name, zero_based=not self._keras_style))

    # --- what it is called ----------------------------------------------------------------------------------------------

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

    def _scope_name(self) -> str:
        if self._keras_style:
            return self.name
        assert self._current_scope is not None
        return self._current_scope.original_name_scope

    # --- variables, losses ----------------------------------------------------------------------------------------------

    def add_weight(  # type: ignore[override]
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
        experimental_autocast: bool = True,
    ) -> Any:
        """A variable of the layer, made or shared below its scope as `tf.get_variable` does.

        experimental_autocast: for Keras's layers; here variables read as what they are.
        """
        if self._keras_style:
            return super().add_weight(
                name,
                shape,
                dtype,
                initializer,
                regularizer,
                trainable,
                constraint,
                partitioner,
                use_resource,
                synchronization,
                aggregation,
            )
        trainable = is_trained(trainable, synchronization)
        dtype = dtypes.as_dtype(dtype or self._dtype or dtypes.float32)
        self._dtype = self._dtype or dtype.base_dtype.name
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
        for part in _parts(variable):
            backend.track_variable(part)  # Keras's models initialize what their layers have
        self._keep_weight(variable, trainable, name)
        return variable

    def add_variable(self, *args: Any, **kwargs: Any) -> Any:
        """The same as `add_weight`."""
        return self.add_weight(*args, **kwargs)

    def _regularize(self, name: str, variable: Any, regularizer: Callable[[Any], Any]) -> None:
        for part in _parts(variable):
            with name_scope(f"{name}/Regularizer"):
                loss = regularizer(part)
            if loss is not None:
                self.add_loss(loss)

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Keep losses, in the layer and in REGULARIZATION_LOSSES; `inputs`: they depend on inputs, unless that is None."""
        for loss in nest.flatten(losses):
            value = loss() if callable(loss) else loss
            if value is not None:
                tensor = convert_to_tensor(value)
                super().add_loss(tensor, inputs)
                collect(GraphKeys.REGULARIZATION_LOSSES, tensor)

    # --- calling --------------------------------------------------------------------------------------------------------

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Build on the first call, then compute. `scope`: the variable scope to open on the first call."""
        scope = kwargs.pop("scope", None)
        if self._keras_style:
            _refuse(scope=scope)
            return super().__call__(inputs, *args, **kwargs)
        self._set_scope(scope)
        assert self._scope is not None
        self._check_graph(inputs)
        reuse = True if self.built else self._reuse
        with variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False) as self._current_scope:
            outputs = super().__call__(inputs, *args, **kwargs)
        if executing_eagerly():
            return outputs
        kept = get_collection_ref(GraphKeys.UPDATE_OPS)
        kept.extend(update for update in self.updates if not any(update is other for other in kept))
        return outputs

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
        graph = get_default_graph().outermost  # functions use the layers of the graph around them
        if self._graph is None:
            self._graph = graph
        elif self._graph is not graph and (self.weights or not self.built):
            raise ValueError(
                f"Input graph and Layer graph are not the same: {nest.flatten(inputs)} is not from the passed-in graph."
            )


def _refuse(**arguments: Any) -> None:
    for name, value in arguments.items():
        if value is not None:
            raise ValueError(f"{name} argument not allowed when keras style layers are enabled, but saw: {value}")


def _parts(variable: Any) -> list[Any]:
    """The variables that a partitioned one is made of; another alone."""
    return list(variable) if hasattr(variable, "_get_variable_list") else [variable]


def dimension(value: Any) -> int | None:
    """The plain number of a `tf.Dimension`, or of what stands for one."""
    return getattr(value, "value", value)


__all__ = ["InputSpec", "Layer", "dimension", "snake_case"]
