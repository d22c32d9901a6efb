"""What training needs of a layer besides its output: losses, updates and metrics, its own and those of layers inside."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.replica_modes import current_mode
from tfexp.graph.scopes import executing_eagerly, get_default_graph, init_scope
from tfexp.graph.tensor import Tensor
from tfexp.keras import backend
from tfexp.keras.engine.call_context import current_call
from tfexp.keras.engine.dependencies import depending_on, is_symbolic
from tfexp.keras.engine.weights import Weights
from tfexp.ops.variable_base import Variable


class _Later:
    """A loss that is a function without arguments: in a graph its nodes are made once."""

    def __init__(self, function: Callable[[], Any]):
        self._function = function
        self._tensors: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

    def value(self) -> Any:
        graph = get_default_graph()
        mode = current_mode()
        in_replica = mode is not None and mode.replica is not None  # of each copy of the variables there is a loss
        if graph.is_eager or graph.building_function or in_replica:
            return self._function()
        if graph not in self._tensors:
            with graph.control_dependencies(None):
                self._tensors[graph] = self._function()
        return self._tensors[graph]


class Gathered(Weights):
    """`losses`, `updates` and `metrics`, by `add_loss`, `add_update` and `add_metric`."""

    stateful: bool
    _losses: list[tuple[Any, bool]]  # (a tensor or `_Later`, whether it depends on no inputs)
    _updates: list[tuple[Operation, bool]]
    _metrics: list[Any]
    _metrics_tensors: dict[str, Any]
    _inbound_nodes: list[Any]

    # --- losses ---------------------------------------------------------------------------------------------------------

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Keep losses: tensors, or functions without arguments that make one. inputs: what they depend on, if on any.

        ValueError in eager execution for a value, outside of the layer's call.
        """
        self._note_added("_callable_losses")
        for loss in _as_list(losses):
            if _is_function(loss):
                self._losses.append((_Later(loss), inputs is None))
            elif loss is not None:
                tensor = convert_to_tensor(loss, preferred_dtype=backend.floatx())
                if current_call() is None and not is_symbolic(tensor):
                    raise ValueError(
                        "Expected a symbolic Tensors or a callable for the loss value. Please wrap your loss computation in "
                        "a zero argument `lambda`."
                    )
                self._losses.append((tensor, inputs is None))

    def _all_losses(self, symbolic: bool) -> list[tuple[Any, bool]]:
        """(loss, whether it depends on no inputs): tensors, then what functions make, then those of the layers inside.

        symbolic: whether in eager execution a layer that no call at once left any has those of its symbolic calls.
        """
        tensors = [pair for pair in self._losses if not isinstance(pair[0], _Later)]
        here = [(loss, free) for loss, free in tensors if _is_of_here(loss)]
        if symbolic and not here and executing_eagerly():
            here = tensors
        made = [(loss.value(), free) for loss, free in self._losses if isinstance(loss, _Later)]
        here += [(loss, free) for loss, free in made if loss is not None and _is_of_here(loss)]
        return here + [loss for layer in self._inner_layers for loss in layer._all_losses(symbolic)]

    @property
    def has_losses(self) -> bool:
        """Whether there are losses, here or inside, wherever they can be used."""
        return bool(self._losses) or any(layer.has_losses for layer in self._inner_layers)

    def losses_of_weights(self) -> list[Callable[[], Any]]:
        """The layer's own losses that are functions without arguments: what regularizers say of its variables."""
        return [loss.value for loss, _ in self._losses if isinstance(loss, _Later)]

    def losses_made_in(self, graph: Any) -> list[Any]:
        """The tensors among the losses, here and inside, that calls in a graph left."""
        own = [loss for loss, _ in self._losses if not isinstance(loss, _Later) and loss._graph is graph]
        return own + [loss for layer in self._inner_layers for loss in layer.losses_made_in(graph)]

    @property
    def losses(self) -> list[Any]:
        """The losses of the layer and of the layers inside, once for each way to them; eagerly those of the last call.

        Eagerly, a layer that was called on symbolic tensors alone has those of these calls.
        """
        return [loss for loss, _ in self._all_losses(symbolic=True)]

    @property
    def losses_of_last_call(self) -> list[Any]:
        """What a step in eager execution minimizes of them: those that have values."""
        return [loss for loss, _ in self._all_losses(symbolic=False)]

    def get_losses_for(self, inputs: Any) -> list[Any]:
        """The losses that depend on `inputs`; for None those that depend on none."""
        found = [loss for loss, free in self._all_losses(symbolic=True) if free is (inputs is None)]
        return found if inputs is None else depending_on(inputs, found)

    def _forget_eager_losses(self) -> None:
        """Before a call in eager execution: the last call's losses are no more."""
        self._losses[:] = [(loss, free) for loss, free in self._losses if isinstance(loss, _Later) or is_symbolic(loss)]
        for layer in self._inner_layers:
            layer._forget_eager_losses()

    # --- updates --------------------------------------------------------------------------------------------------------

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Keep operations that each step of training runs besides. Eagerly they have run: there is nothing to keep."""
        self._note_added("_updates")
        call = current_call()
        if call is not None and call.frozen:
            return
        made = [update() if _is_function(update) else update for update in _as_list(updates)]
        if executing_eagerly():
            return
        operations = [operation_of(update) for update in made if update is not None]
        around = call.inputs if call is not None else [node.input_tensors for node in self._inbound_nodes]
        on_inputs = depending_on(around, operations)
        self._updates += [(op, not any(op is one for one in on_inputs)) for op in operations]

    def _all_updates(self) -> list[tuple[Any, bool]]:
        """(update, whether it depends on no inputs), of the layer and of the layers inside."""
        if not self.trainable and not self.stateful:
            return []
        return self._updates + [update for layer in self._inner_layers for update in layer._all_updates()]

    @property
    def updates(self) -> list[Any]:
        """The updates of the layer and of the layers inside; none of one that is neither trainable nor stateful."""
        return [update for update, _ in self._all_updates()]

    def get_updates_for(self, inputs: Any) -> list[Any]:
        """The updates that depend on `inputs`; for None those that depend on none."""
        found = [update for update, free in self._all_updates() if free is (inputs is None)]
        return found if inputs is None else depending_on(inputs, found)

    # --- metrics --------------------------------------------------------------------------------------------------------

    @property
    def metrics(self) -> list[Any]:
        """The metrics of the layer and of the layers inside."""
        return self.added_metrics

    @property
    def added_metrics(self) -> list[Any]:
        """Those of `add_metric`, and of networks' attributes, here and inside: not what a model inside was compiled with."""
        return self._metrics + [metric for layer in self._inner_layers for metric in layer.added_metrics]

    def add_metric(self, value: Any, aggregation: str | None = None, name: str | None = None) -> None:
        """Report a tensor in training: its mean over batches (`aggregation="mean"`), or as a metric object gave it.

        ValueError for a plain tensor without a name, for another aggregation, and outside of calls for what is not symbolic.
        """
        if aggregation is not None and aggregation != "mean":
            raise ValueError(
                f"We currently support only `mean` sample-wise metric aggregation. You provided aggregation=`{aggregation}`"
            )
        metric = getattr(value, "_metric_obj", None)
        if metric is None and name is None:
            raise ValueError(
                "Please provide a name for your metric like `self.add_metric(tf.reduce_sum(inputs), name='mean_activation', "
                "aggregation='mean')`"
            )
        if metric is None and current_call() is None and not is_symbolic(value):
            raise ValueError(f"Expected a symbolic Tensor for the metric value, received: {value}")
        if metric is None and aggregation is None:
            raise ValueError(
                "We do not support adding an aggregated metric result tensor that is not the output of a "
                "`tf.keras.metrics.Metric` metric instance, whose state is reset after each epoch: say "
                "`aggregation='mean'`, or pass the result of such a metric."
            )
        name = metric.name if metric is not None and name is None else name
        found = next((kept for kept in self._metrics if kept.name == name), None)
        if metric is not None:
            if found is None:
                self._metrics.append(metric)
            self._metrics_tensors[metric.name] = value
            return
        if found is None:
            from tfexp.keras.metrics import Mean

            with init_scope():  # its variables are to outlive the graph of symbolic tensors
                found = Mean(name=name)
            self._metrics.append(found)
        self._metrics_tensors[str(name)] = found(value)


def _is_of_here(loss: Any) -> bool:
    """Whether what is computed here can use it: a call in a function leaves losses that are of that function alone."""
    graph: Any = get_default_graph()
    if graph.is_eager or not isinstance(loss, Tensor):
        return not is_symbolic(loss)
    while graph is not None:
        if loss._graph is graph:
            return True
        graph = getattr(graph, "outer", None)
    return False


def _as_list(values: Any) -> list[Any]:
    return list(values) if isinstance(values, (list, tuple)) else [values]


def _is_function(value: Any) -> bool:
    return callable(value) and not isinstance(value, (Tensor, Variable, Operation))


def operation_of(update: Any) -> Operation:
    """What runs an update: of a tensor, or of a variable that was assigned to, the operation behind it."""
    if isinstance(update, Operation):
        return update
    operation: Operation = update.op if hasattr(update, "op") else convert_to_tensor(update).op
    return operation
