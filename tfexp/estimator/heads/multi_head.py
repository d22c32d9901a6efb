"""`MultiHead`: several heads of one model. Source: `tf.estimator`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tfexp.estimator.export_outputs import ExportOutput, PredictOutput
from tfexp.estimator.heads.head import Head, Losses, Metrics, SingleHead, training_step
from tfexp.estimator.heads.labels import no_labels
from tfexp.estimator.modes import ModeKeys
from tfexp.estimator.spec import EstimatorSpec
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.metrics.means import mean
from tfexp.ops.array_split import split
from tfexp.ops.elementwise_binary import add_n, mul
from tfexp.ops.losses import Reduction
from tfexp.ops.summary import scalar
from tfexp.train import saved_model_names as names


class MultiHead(Head):
    """Heads with names of their own; labels are a dict by these names, predictions have keys (head, key).

    Logits are such a dict too, or one tensor with each head's beside the other's. The loss is the sum of the heads',
    times `head_weights`. ValueError for heads without a name, or of the same name.
    """

    def __init__(self, heads: Sequence[SingleHead], head_weights: Sequence[float] | None = None):
        if not heads:
            raise ValueError("Must specify heads. Given: []")
        if head_weights is not None and len(head_weights) != len(heads):
            raise ValueError(
                f"heads and head_weights must have the same size. Given len(heads): {len(heads)}. "
                f"Given len(head_weights): {len(head_weights)}."
            )
        unnamed = [head for head in heads if not head.name]
        own_names = [str(head.name) for head in heads]
        if unnamed:
            raise ValueError(f"All given heads must have name specified. Given: {', '.join(map(repr, unnamed))}")
        if len(set(own_names)) < len(own_names):
            raise ValueError(f"All heads must have different names. Given: {', '.join(own_names)}")
        self._heads = dict(zip(own_names, heads, strict=True))
        self._head_weights = [1.0] * len(heads) if head_weights is None else list(head_weights)

    @property
    def name(self) -> str:
        return "_".join(self._heads)

    @property
    def loss_reduction(self) -> str:
        return Reduction.SUM

    @property
    def logits_dimension(self) -> int:
        return sum(head.logits_dimension for head in self._heads.values())

    def loss(
        self,
        labels: Any,
        logits: Any,
        features: Any = None,
        mode: str | None = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> Tensor:
        """The heads' losses, weighted and summed, with the regularization losses."""
        own = self._own_losses(labels, self._by_head(logits), features)
        return self._total([losses.total for losses in own.values()], regularization_losses)

    def predictions(self, logits: Any, keys: Iterable[Any] | None = None) -> dict[Any, Any]:
        """The heads' predictions by (head, key), or those named. ValueError for a name that is none."""
        made: dict[Any, Any] = {}
        for name, own in self._by_head(logits).items():
            with name_scope(name):
                made |= {(name, key): value for key, value in self._heads[name].predictions(own).items()}
        unknown = [key for key in keys or () if key not in made]
        if unknown:
            raise ValueError(f"Prediction keys must be among {list(made)}. Given: {unknown}")
        return made if keys is None else {key: made[key] for key in keys}

    def create_estimator_spec(
        self,
        features: Any,
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        trainable_variables: Sequence[Any] | None = None,
        train_op_fn: Callable[[Tensor], Any] | None = None,
        update_ops: Sequence[Any] | None = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> EstimatorSpec:
        """As that of one head."""
        with name_scope(self.name):
            by_head = self._by_head(logits)
            predictions = self.predictions(by_head)
            if mode == ModeKeys.PREDICT:
                return EstimatorSpec(mode, predictions, export_outputs=self._export_outputs(predictions))
            own = self._own_losses(labels, by_head, features)
            total = self._total([losses.total for losses in own.values()], regularization_losses)
            if mode == ModeKeys.EVAL:
                metrics: Metrics = {}
                for name, losses in own.items():
                    of_head = {key: value for (head, key), value in predictions.items() if head == name}
                    metrics[f"loss/{name}"] = mean(losses.total)
                    metrics |= self._heads[name].metrics_of(losses, of_head, None)
                return EstimatorSpec(mode, predictions, total, eval_metric_ops=metrics)
            train_op = training_step(total, optimizer, trainable_variables, train_op_fn, update_ops)
            for name, losses in own.items():
                self._heads[name].summarize(losses, losses.total, None)
            with name_scope(""):
                scalar("loss", total)
            return EstimatorSpec(mode, predictions, total, train_op)

    def _by_head(self, logits: Any) -> dict[str, Any]:
        """Each head's logits."""
        if isinstance(logits, Mapping):
            missing = [name for name in self._heads if name not in logits]
            if missing:
                raise ValueError(f"logits has missing values for head(s): {missing}. Given: {', '.join(map(str, logits))}")
            return {name: logits[name] for name in self._heads}
        logits = convert_to_tensor(logits)
        if not logits.shape[-1:].is_compatible_with([self.logits_dimension]):
            own = [head.logits_dimension for head in self._heads.values()]
            raise ValueError(
                f"Could not split logits of shape {logits.shape.as_list()} among the heads with individual logits "
                f"dimensions: {own}. The last dimension of the logits should be {self.logits_dimension}."
            )
        parts = split(logits, [head.logits_dimension for head in self._heads.values()], axis=-1, name="split_logits")
        return dict(zip(self._heads, parts, strict=True))

    def _own_losses(self, labels: Any, logits: Mapping[str, Any], features: Any) -> dict[str, Losses]:
        if labels is None:
            raise no_labels()
        if not isinstance(labels, Mapping):
            raise ValueError(f"labels must be a dict with the heads' names {list(self._heads)}. Given: {labels}")
        if missing := [name for name in self._heads if name not in labels]:
            raise ValueError(f"labels has missing values for head(s): {missing}. Given: {', '.join(map(str, labels))}")
        return {name: head.losses_of(labels[name], logits[name], features) for name, head in self._heads.items()}

    def _total(self, losses: Sequence[Any], regularization_losses: Sequence[Any] | None) -> Tensor:
        weighted = [mul(loss, weight) for loss, weight in zip(losses, self._head_weights, strict=True)]
        return add_n([*weighted, *(regularization_losses or ())])

    def _export_outputs(self, predictions: Mapping[Any, Any]) -> dict[str, ExportOutput]:
        """The first head's way is the default; the others' begin with their names; `predict` gives everything."""
        outputs: dict[str, ExportOutput] = {}
        for name, head in self._heads.items():
            own = head.export_outputs({key: value for (of, key), value in predictions.items() if of == name})
            default = own.pop(names.DEFAULT_SERVING_SIGNATURE_DEF_KEY)
            outputs.setdefault(names.DEFAULT_SERVING_SIGNATURE_DEF_KEY, default)
            outputs |= {name: default, **{f"{name}/{key}": output for key, output in own.items()}}
        return {**outputs, "predict": PredictOutput(predictions)}
