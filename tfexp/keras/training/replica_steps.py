"""Steps of a model that was compiled under a distribution strategy: each replica takes its part of the batch.

Where several workers train, all of them are given the same batches.

Losses and gradients of the replicas are averaged, metrics add up what all of them saw. Source: `fit` under
`tf.distribute.MirroredStrategy`, TF 1.15.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfexp.core import nest
from tfexp.graph.dependencies import group
from tfexp.graph.replica_modes import current_mode
from tfexp.graph.scopes import control_dependencies, name_scope
from tfexp.keras.engine.node import as_called_with, masks_of
from tfexp.keras.training.objective import objective
from tfexp.keras.training.outputs import Output
from tfexp.keras.training.steps import PREDICT, TRAIN, GraphSteps, Weighted
from tfexp.ops.array import shape
from tfexp.ops.array_join import concat


class ReplicaSteps(GraphSteps):
    """Steps that all replicas of `strategy` take together. The model is called anew for each."""

    def __init__(
        self, model: Any, outputs: Sequence[Output], run_arguments: Mapping[str, Any] | None = None, strategy: Any = None
    ):
        super().__init__(model, outputs, run_arguments)
        self._strategy = strategy

    def check(self, weighted: Weighted) -> None:
        """Nothing: what there is to minimize each replica builds for itself."""

    def _prepare(self, mode: str, weighted: Weighted) -> tuple[Any, list[Any]]:
        fed = list(self.inputs)
        targets: list[Any] = [None] * len(self.outputs)
        weights: list[Any] = [None] * len(self.outputs)
        if mode != PREDICT:
            weights = self._placeholders(weighted)
            targets = [output.target for output in self.outputs]
            fed += [*self.targets, *(weight for weight in weights if weight is not None)]
        extended = self._strategy.extended
        count, here = self._strategy.num_replicas_in_sync, extended._replicas_here
        if mode == PREDICT and extended.experimental_between_graph:
            count, here = 1, range(1)  # each worker for itself
        parts = [_parts([*self.inputs, *targets, *weights], number, count) for number in here]

        def step() -> Any:
            mode_here = current_mode()
            assert mode_here is not None
            return self._in_replica(mode, parts[mode_here.replica._replica_id], count)

        with self._strategy.scope():
            found = self._strategy.experimental_run_v2(step)
            results, updates = self._together(mode, found)
        return self._function_of(mode, fed, results, updates)

    def _in_replica(self, mode: str, part: Sequence[Any], count: int) -> Any:
        """One replica's share: its predictions, or its loss and what is to be run besides."""
        model, number = self._model, len(self.inputs)
        inputs = list(part[:number])
        predictions = nest.flatten(model(as_called_with(model, inputs)))
        if mode == PREDICT:
            return tuple(predictions)
        masks = masks_of(predictions)
        targets, weights = part[number : number + len(self.outputs)], part[number + len(self.outputs) :]
        further = [*model.get_losses_for(None), *model.get_losses_for(inputs)]
        built = objective(self.outputs, predictions, masks, targets, weights, further)
        loss = built.total_loss / count
        updates: list[Any] = list(built.results)
        if mode == TRAIN:
            with name_scope("training"):
                updates += model.optimizer.get_updates(params=self.trained, loss=loss)
            updates += [*model.get_updates_for(None), *model.get_updates_for(inputs)]
        return loss, group(*updates)

    def _together(self, mode: str, found: Any) -> tuple[list[Any], list[Any]]:
        """What the step gives, and runs besides, of what the replicas gave."""
        local = self._strategy.experimental_local_results
        if mode == PREDICT:
            return [concat(list(local(one)), axis=0) for one in found], []
        loss, run = found
        updates = list(local(run))
        metrics = [output.loss_metric for output in self.outputs if output.loss_metric is not None]
        with control_dependencies(updates):
            results = [metric.result() for metric in (*metrics, *self._model.metrics)]
        return [self._strategy.reduce("SUM", loss), *results], updates


def _parts(tensors: Sequence[Any], number: int, count: int) -> list[Any]:
    """A replica's rows of each tensor: as many as the others', or one more."""
    found: list[Any] = []
    for tensor in tensors:
        if tensor is None:
            found.append(None)
            continue
        rows = shape(tensor)[0]
        found.append(tensor[rows * number // count : rows * (number + 1) // count])
    return found
