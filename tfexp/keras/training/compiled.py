"""What `compile` decided, and the steps that follow from it. Source: `tf.keras.Model.compile`, TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfexp.graph.replica_modes import distributing
from tfexp.graph.scopes import executing_eagerly
from tfexp.keras import backend
from tfexp.keras.training.arrays import as_fed, check_lengths, check_targets, in_order
from tfexp.keras.training.batches import Batch
from tfexp.keras.training.eager_steps import EagerSteps
from tfexp.keras.training.feeding import Feeding
from tfexp.keras.training.outputs import prepare
from tfexp.keras.training.replica_steps import ReplicaSteps
from tfexp.keras.training.sample_weights import weights_of
from tfexp.keras.training.steps import TEST, TRAIN, GraphSteps, Steps, Weighted


class Compiled(Feeding):
    """A compiled model. A model with known inputs is prepared at once, so that what does not fit is said at once."""

    def __init__(
        self,
        model: Any,
        loss: Any,
        metrics: Any,
        loss_weights: Any,
        weighted_metrics: Any,
        sample_weight_mode: Any,
        target_tensors: Any,
        run_arguments: Mapping[str, Any],
    ):
        super().__init__(model)
        self.given_metrics, self.given_weighted_metrics = metrics, weighted_metrics
        self._arguments = (loss, loss_weights, metrics, weighted_metrics, sample_weight_mode, target_tensors)
        self._run_arguments = dict(run_arguments)
        self._trainable = model._get_trainable_state()
        mode = distributing()
        self._strategy = None if mode is None else mode.strategy
        if model.inputs:
            self.prepare()

    def _with_outputs(self, names: Sequence[str], shapes: Sequence[Any], tensors: Sequence[Any]) -> None:
        self.outputs = prepare(names, shapes, tensors, *self._arguments)
        self.trained = self.model._unique_trainable_weights
        super()._with_outputs(names, shapes, tensors)
        self.steps.check(self.announced_weights)

    def _make_steps(self) -> Steps:
        if executing_eagerly():
            return EagerSteps(self.model, self.outputs, self._trainable)
        if self._strategy is not None:
            return ReplicaSteps(self.model, self.outputs, self._run_arguments, self._strategy)
        return GraphSteps(self.model, self.outputs, self._run_arguments)

    # --- what it reports ------------------------------------------------------------------------------------------------

    @property
    def loss_metrics(self) -> list[Any]:
        """The means of the losses of several outputs."""
        return [output.loss_metric for output in self.outputs if output.loss_metric is not None]

    @property
    def metrics(self) -> list[Any]:
        return [metric for output in self.outputs for metric in (*output.metrics, *output.weighted_metrics)]

    @property
    def metrics_and_results(self) -> list[tuple[Any, Any]]:
        """Of each metric in a graph, the tensor whose computation takes in a batch and gives the value so far."""
        steps = self.steps
        if not isinstance(steps, GraphSteps):
            raise RuntimeError("Metrics have no tensors in eager execution")
        built, _ = steps.objective(self.announced_weights)
        return list(zip([*self.loss_metrics, *self.metrics], built.results, strict=True))

    @property
    def total_loss(self) -> Any:
        """The tensor that is minimized; None in eager execution, and where each replica has its own."""
        steps = self.steps
        if not isinstance(steps, GraphSteps) or isinstance(steps, ReplicaSteps):
            return None
        return steps.objective(self.announced_weights)[0].total_loss

    @property
    def announced_weights(self) -> Weighted:
        return tuple(output.weight_mode is not None and output.loss is not None for output in self.outputs)

    @property
    def sample_weights(self) -> list[Any]:
        """Of each output the tensor of its weights, if `compile` announced any in a graph."""
        steps, announced = self.steps, self.announced_weights
        if not isinstance(steps, GraphSteps):
            return [None] * len(announced)
        weights = iter(steps.objective(announced)[1])
        return [next(weights) if has_weights else None for has_weights in announced]

    # --- data -----------------------------------------------------------------------------------------------------------

    def arranged(self, x: Any, y: Any, sample_weight: Any, class_weight: Any) -> tuple[list[Any], Weighted]:
        """Inputs, targets and weights as a flat list, and which outputs have weights. ValueError for what does not fit."""
        inputs = self.arranged_inputs(x)
        trained = [output for output in self.outputs if output.loss is not None and output.fed]
        names = [output.name for output in trained]
        targets = in_order(y, names, "target", [output.target_shape for output in trained])
        if y is None and names:
            raise ValueError(f"Error when checking model target: no data was given for {names}")
        by_name = dict(zip(names, targets, strict=True))
        all_targets = [by_name.get(output.name) for output in self.outputs]
        weights = weights_of(all_targets, self.outputs, sample_weight, class_weight)
        check_lengths(inputs, targets, weights)
        # In a graph nothing runs eagerly, which to find out would mean to look at every layer in every step.
        if self.model._is_graph_network and (isinstance(self.steps, GraphSteps) or not self.model.run_eagerly):
            check_targets(targets, trained)
        with_loss = [
            weight if output.loss is not None else None for weight, output in zip(weights, self.outputs, strict=True)
        ]
        fed = [
            as_fed(target, output.target_dtype, backend.is_sparse(output.target))
            for target, output in zip(targets, trained, strict=True)
        ]
        given = [weight for weight in with_loss if weight is not None]
        return [*inputs, *fed, *given], tuple(weight is not None for weight in with_loss)

    # --- steps ----------------------------------------------------------------------------------------------------------

    def train(self, batch: Batch) -> list[Any]:
        """One step of training: the loss, and the metrics so far."""
        return list(self.steps.function(TRAIN, batch.weighted)(batch.values))

    def test(self, batch: Batch) -> list[Any]:
        """The loss of a batch, and the metrics so far."""
        return list(self.steps.function(TEST, batch.weighted)(batch.values))
