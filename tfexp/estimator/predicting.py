"""How an Estimator predicts: the predictions of a checkpoint, batch by batch. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tfexp.core.log import get_logger
from tfexp.estimator.model import Model
from tfexp.estimator.modes import ModeKeys
from tfexp.estimator.warm_starting import WarmStartSettings, begin_with
from tfexp.graph.collections import GraphKeys
from tfexp.graph.graph import Graph
from tfexp.graph.scopes import get_default_graph
from tfexp.train.monitored_session import MonitoredSession
from tfexp.train.session_creators import ChiefSessionCreator
from tfexp.train.session_hooks import SessionRunContext, SessionRunHook, SessionRunValues

_log = get_logger()


def predict(
    model: Model,
    input_fn: Callable[..., Any],
    checkpoint_path: str | None,
    keys: Sequence[str] | None,
    hooks: Sequence[SessionRunHook],
    single_examples: bool,
    warm_start: WarmStartSettings | None = None,
) -> Iterator[Any]:
    """The predictions of each example, or each batch, until the input ends; the session closes with the iterator.

    Dicts of arrays, with only the `keys` if they are given, or arrays. warm_start: what variables begin with, where there is
    no checkpoint. ValueError for keys that are none of the model's, and for predictions of different lengths when they are
    to be taken apart.
    """
    with model.graph() as graph:
        given = model.input(input_fn, ModeKeys.PREDICT)
        spec = model.spec(given.features, None, ModeKeys.PREDICT)
        if warm_start is not None:
            begin_with(warm_start)
        stops = any(isinstance(hook, OneBatchWithoutEnd) for hook in hooks)
        if not stops and not given.hooks and not has_end(graph):
            _log.warning(
                "Input graph does not use tf.data.Dataset or contain a QueueRunner. That means predict yields forever. This "
                "is probably a mistake."
            )
        predictions = _chosen(spec.predictions, keys)
        creator = ChiefSessionCreator(
            checkpoint_filename_with_path=checkpoint_path,
            master=model.config.evaluation_master,
            scaffold=spec.scaffold,
            config=model.config.session_config,
        )
        session = MonitoredSession(creator, [*given.hooks, *hooks, *spec.prediction_hooks])
    # The graph is the default one no more: between two predictions the caller builds what it likes.
    with session:
        while not session.should_stop():
            batch = session.run(predictions)
            yield from _examples(batch) if single_examples else [batch]


class OneBatchWithoutEnd(SessionRunHook):
    """Of an input that never ends, such as a constant, there is one batch."""

    def begin(self) -> None:
        self._is_endless = not has_end(get_default_graph())

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if self._is_endless:
            run_context.request_stop()


def has_end(graph: Graph) -> bool:
    """Whether the input may come to an end: it has queues, or data sets."""
    runners = graph.get_collection(GraphKeys.QUEUE_RUNNERS)
    return bool(runners) or any(op.type == "IteratorGetNext" for op in graph.get_operations())


def _chosen(predictions: Any, keys: Any) -> Any:
    if not keys:
        return predictions
    if not isinstance(predictions, Mapping):
        raise ValueError("predict_keys argument is not valid in case of non-dict predictions.")
    wanted = [keys] if isinstance(keys, str) else list(keys)
    chosen = {key: value for key, value in predictions.items() if key in wanted}
    if not chosen:
        raise ValueError(f"Expected to run at least one output from {dict(predictions).keys()}, provided {keys}.")
    return chosen


def _examples(batch: Any) -> Iterator[Any]:
    if not isinstance(batch, Mapping):
        yield from batch
        return
    lengths = {key: len(value) for key, value in batch.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(
            f"Batch length of predictions should be same, to give them one by one: {lengths}. With "
            "yield_single_examples=False they come as they are."
        )
    for row in range(next(iter(lengths.values()))):
        yield {key: value[row] for key, value in batch.items()}
