"""How an Estimator builds its model under a distribution strategy: input, model function and hooks of each replica. TF 1.15.

An input function's batches are a replica's: they go to the replicas in turn. The replicas' losses are the parts of a mean,
unless they were summed (`tf.losses.Reduction.SUM`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from tfexp.distribute.input import DistributedIterator, InputContext
from tfexp.distribute.reductions import get_loss_reduction
from tfexp.distribute.strategy import Strategy
from tfexp.estimator.arguments import call_with_wanted
from tfexp.estimator.model import Input, IteratorStart, Model, split_input
from tfexp.estimator.modes import ModeKeys
from tfexp.estimator.spec import EstimatorSpec
from tfexp.metrics.means import mean


@contextlib.contextmanager
def scope(strategy: Strategy | None) -> Iterator[None]:
    """The strategy's scope, losses being those of an Estimator; nothing without a strategy."""
    if strategy is None:
        yield
        return
    before, strategy._scale_loss_for_estimator = strategy._scale_loss_for_estimator, True
    try:
        with strategy.scope():
            yield
    finally:
        strategy._scale_loss_for_estimator = before


def training(model: Model, strategy: Strategy, input_fn: Callable[..., Any]) -> tuple[Input, EstimatorSpec]:
    """The input, and the training of all replicas as one. In the strategy's scope."""
    given, specs, (loss, train_op) = _built(
        model, strategy, input_fn, ModeKeys.TRAIN, lambda spec: (spec.loss, spec.train_op)
    )
    first = specs[0]
    return given, first._replace(loss=strategy.reduce(get_loss_reduction(), loss), train_op=strategy.group(train_op))


def evaluation(model: Model, strategy: Strategy, input_fn: Callable[..., Any]) -> tuple[Input, EstimatorSpec, Any]:
    """The input, the evaluation with metrics of all replicas, and the metric of the loss. In the strategy's scope."""

    def metrics(spec: EstimatorSpec) -> Any:
        return dict(spec.eval_metric_ops), mean(spec.loss)

    given, specs, (own, loss) = _built(model, strategy, input_fn, ModeKeys.EVAL, metrics)
    whole = {name: (value, strategy.group(update)) for name, (value, update) in own.items()}
    return given, specs[0]._replace(eval_metric_ops=whole), (loss[0], strategy.group(loss[1]))


def _built(
    model: Model, strategy: Strategy, input_fn: Callable[..., Any], mode: str, results: Callable[[EstimatorSpec], Any]
) -> tuple[Input, list[EstimatorSpec], Any]:
    """The input, each replica's EstimatorSpec, and what `results` gives of them."""
    given = _input(model, strategy, input_fn, mode)
    specs: list[EstimatorSpec] = []

    def build(features: Any, labels: Any) -> Any:
        specs.append(model.spec(features, labels, mode))
        return results(specs[-1])

    return given, specs, strategy.extended.call_for_each_replica(build, args=(given.features, given.labels))


def _input(model: Model, strategy: Strategy, input_fn: Callable[..., Any], mode: str) -> Input:
    model.check_input(input_fn)

    def dataset_fn(context: InputContext) -> Any:
        return call_with_wanted(input_fn, mode=mode, params=model.params, config=model.config, input_context=context)

    iterator: DistributedIterator = strategy.make_input_fn_iterator(dataset_fn)
    return split_input(iterator.get_next(), (IteratorStart(iterator),))
