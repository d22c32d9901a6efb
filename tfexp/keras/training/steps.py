"""One step of training, of testing or of prediction in a graph: one call of a function that was prepared once.

`Steps` answers `function(mode, weighted)` with what takes a batch as a flat list (inputs, then targets, then weights) and
gives a list: the loss and the metrics so far, or the predictions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, cast

from tfexp.core import log
from tfexp.graph.scopes import name_scope
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.keras import backend
from tfexp.keras.backend.phases import fed_learning_phase
from tfexp.keras.engine.dependencies import graph_of
from tfexp.keras.engine.node import masks_of
from tfexp.keras.training.objective import Objective, objective
from tfexp.keras.training.outputs import Output
from tfexp.ops.array_identity import placeholder_with_default

TRAIN, TEST, PREDICT = "train", "test", "predict"

Weighted = tuple[bool, ...]
Step = Callable[[list[Any]], list[Any]]


class Steps(Protocol):
    """What computes steps. weighted: for each output whether a batch has weights for it, which makes other functions."""

    def function(self, mode: str, weighted: Weighted) -> Step:
        """What computes such steps."""
        ...


class GraphSteps:
    """Steps as functions of the model's graph, each built when it is first asked for.

    What is trainable when this is made is trained, whatever is said about it later.
    """

    def __init__(self, model: Any, outputs: Sequence[Output], run_arguments: Mapping[str, Any] | None = None):
        """run_arguments: of `Session.run`, for training and testing."""
        self._model = model
        self._run_arguments = dict(run_arguments or {})
        self.outputs = list(outputs)
        self.trained = model._unique_trainable_weights
        self.inputs = [tensor for tensor in model.inputs if backend.is_placeholder(tensor)]
        self._graph = graph_of(model.outputs[0])
        self._masks = masks_of(list(model.outputs))
        self._objectives: dict[Weighted, tuple[Objective, list[Any]]] = {}
        self._functions: dict[tuple[str, Weighted], Any] = {}
        self._watched: dict[str, dict[Any, Callable[[Any], None]]] = {}

    @property
    def targets(self) -> list[Any]:
        """The target tensors that are fed."""
        return [output.target for output in self.outputs if output.loss is not None and output.fed]

    def objective(self, weighted: Weighted) -> tuple[Objective, list[Any]]:
        """What is minimized, and the placeholders of the weights that go into it."""
        if weighted not in self._objectives:
            with self._graph.as_default():
                self._objectives[weighted] = self._build(weighted)
        return self._objectives[weighted]

    def check(self, weighted: Weighted) -> None:
        """Build what is minimized, so that what does not fit is said. ValueError where there is nothing."""
        self.objective(weighted)

    def _placeholders(self, weighted: Weighted) -> list[Any]:
        """Those of the weights, by output; targets get theirs, too."""
        weights = []
        for output, has_weights in zip(self.outputs, weighted, strict=True):
            tensor = output.tensor
            if output.loss is not None and output.target is None:
                output.target = backend.placeholder(
                    ndim=len(output.shape),
                    name=f"{output.name}_target",
                    sparse=isinstance(tensor, SparseTensor),
                    dtype=tensor.dtype.base_dtype.name,
                )
            weights.append(_weight_placeholder(output) if has_weights and output.loss is not None else None)
        return weights

    def _build(self, weighted: Weighted) -> tuple[Objective, list[Any]]:
        weights, model = self._placeholders(weighted), self._model
        further = [*model.get_losses_for(None), *model.get_losses_for(model.inputs)]
        tensors = [output.tensor for output in self.outputs]
        targets = [output.target for output in self.outputs]
        built = objective(self.outputs, tensors, self._masks, targets, weights, further)
        return built, [weight for weight in weights if weight is not None]

    def function(self, mode: str, weighted: Weighted) -> Step:
        key = (mode, weighted)
        if key not in self._functions:
            with self._graph.as_default():
                self._functions[key] = self._prepare(mode, weighted)
            self._have_watched(mode)
        found, tail = self._functions[key]
        if not tail:
            return cast(Step, found)
        return lambda values: found(values + tail)

    def backend_function(self, mode: str, weighted: Weighted) -> Any:
        """The function of `tf.keras.backend.function` behind a step."""
        self.function(mode, weighted)
        return self._functions[mode, weighted][0]

    def watch(self, mode: str, tensor: Any, called: Callable[[Any], None] | None) -> None:
        """Compute a tensor in each step of this mode besides, and hand its value on; None ends that."""
        watched = self._watched.setdefault(mode, {})
        if called is None:
            watched.pop(tensor, None)
        else:
            watched[tensor] = called
        self._have_watched(mode)

    def _have_watched(self, mode: str) -> None:
        watched = self._watched.get(mode, {})
        for (of_mode, _), (function, _) in self._functions.items():
            if of_mode == mode:
                function.fetches, function.fetch_callbacks = list(watched), dict(watched)

    def _prepare(self, mode: str, weighted: Weighted) -> tuple[Any, list[Any]]:
        """The function, and the values that it takes behind those of a batch."""
        model = self._model
        if mode == PREDICT:
            inputs, outputs, updates = list(self.inputs), list(model.outputs), list(model.state_updates)
        else:
            built, weights = self.objective(weighted)
            inputs = [*self.inputs, *self.targets, *weights]
            outputs = [built.total_loss, *built.results, *results_of_layers(model)]
            updates = self._training_updates(built) if mode == TRAIN else list(model.state_updates)
        return self._function_of(mode, inputs, outputs, updates)

    def _function_of(self, mode: str, inputs: list[Any], outputs: list[Any], updates: list[Any]) -> tuple[Any, list[Any]]:
        """As `_prepare`, once it is known what goes in and comes out: the phase is one more input, where it is fed."""
        phase = fed_learning_phase(self._graph)
        fed, tail = (inputs, []) if phase is None else ([*inputs, phase], [mode == TRAIN])
        arguments = {} if mode == PREDICT else self._run_arguments
        return backend.function(fed, outputs, updates=updates, name=f"{mode}_function", **arguments), tail

    def _training_updates(self, built: Objective) -> list[Any]:
        model = self._model
        if len(model._unique_trainable_weights) != len(self.trained):
            log.warn(
                "Discrepancy between trainable weights and collected trainable weights, did you set `model.trainable` "
                "without calling `model.compile` after ?"
            )
        with name_scope("training"):
            updates = list(model.optimizer.get_updates(params=self.trained, loss=built.total_loss))
        return updates + list(model.get_updates_for(None)) + list(model.get_updates_for(model.inputs))


def results_of_layers(layer: Any) -> list[Any]:
    """The values of what `add_metric` reported, of a model and of all inside, in the order of `metrics`."""
    own = [layer._metrics_tensors[metric.name] for metric in layer._metrics if metric.name in layer._metrics_tensors]
    return own + [result for inner in layer._inner_layers for result in results_of_layers(inner)]


def _weight_placeholder(output: Output) -> Any:
    shape, default = ([None, None], [[1.0]]) if output.weight_mode == "temporal" else ([None], [1.0])
    return placeholder_with_default(backend.cast_to_floatx(default), shape=shape, name=f"{output.name}_sample_weights")
