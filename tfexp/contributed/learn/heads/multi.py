"""Several heads of one model. Source: `tf.contrib.learn.multi_head`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfexp.contributed.learn.heads.head import Head, check_mode, no_op_train_fn
from tfexp.contributed.learn.model_fn_ops import ModeKeys, ModelFnOps
from tfexp.graph.dependencies import group
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_slice import slice as slice_
from tfexp.ops.elementwise_binary import add_n, mul


def multi_head(heads: Sequence[Head], loss_weights: Sequence[float] | None = None) -> Head:
    """Heads with names of their own; logits have theirs side by side, or are a dict by names. Predictions have keys
    (name, key). The loss is the sum of theirs, times `loss_weights`. ValueError for heads without names, and other weights
    than heads."""
    if loss_weights and len(loss_weights) != len(heads):
        raise ValueError("heads and loss_weights must have same size")
    return _MultiHead(heads, loss_weights)


class _MultiHead(Head):
    def __init__(self, heads: Sequence[Head], loss_weights: Sequence[float] | None):
        if not all(head.head_name for head in heads):
            raise ValueError("Members of MultiHead must have names.")
        self._heads, self._loss_weights = heads, loss_weights

    @property
    def logits_dimension(self) -> int:
        return sum(head.logits_dimension for head in self._heads)

    def create_model_fn_ops(
        self,
        features: Any,
        mode: str,
        labels: Any = None,
        train_op_fn: Callable[[Tensor], Any] | None = None,
        logits: Any = None,
        logits_input: Any = None,
        scope: Any = None,
    ) -> ModelFnOps:
        check_mode(mode)
        parts = [None] * len(self._heads) if logits is None else self._parts(logits)
        below = logits_input if logits is None else None
        made = [
            head.create_model_fn_ops(features, mode, labels, no_op_train_fn, part, below, scope)
            for head, part in zip(self._heads, parts, strict=True)
        ]
        predictions = {
            (head.head_name, key): value
            for head, ops in zip(self._heads, made, strict=True)
            for key, value in ops.predictions.items()
        }
        if mode == ModeKeys.INFER:
            alternatives = {name: one for ops in made for name, one in (ops.output_alternatives or {}).items()}
            return ModelFnOps(mode, predictions, output_alternatives=alternatives)
        loss = self._loss([ops.loss for ops in made])
        metrics = {key: pair for ops in made for key, pair in ops.eval_metric_ops.items()}
        if mode == ModeKeys.EVAL:
            return ModelFnOps(mode, predictions, loss, eval_metric_ops=metrics)
        if train_op_fn is None:
            raise ValueError("train_op_fn can not be None in TRAIN mode.")
        step = group(train_op_fn(loss), *(ops.train_op for ops in made))
        return ModelFnOps(mode, loss=loss, train_op=step, eval_metric_ops=metrics)

    def _parts(self, logits: Any) -> list[Any]:
        if isinstance(logits, Mapping):
            return [logits[head.head_name] for head in self._heads]
        parts, begin = [], 0
        for head in self._heads:
            parts.append(slice_(logits, [0, begin], [-1, head.logits_dimension]))
            begin += head.logits_dimension
        return parts

    def _loss(self, losses: Sequence[Any]) -> Tensor:
        if not self._loss_weights:
            return add_n(losses)
        return add_n([mul(loss, weight) for loss, weight in zip(losses, self._loss_weights, strict=True)])
