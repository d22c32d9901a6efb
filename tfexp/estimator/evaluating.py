"""How an Estimator evaluates: the metrics of a checkpoint, and their summaries. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from tensorboard.compat.proto.summary_pb2 import Summary

from tfexp.core import nest
from tfexp.core.log import get_logger
from tfexp.core.text import as_text
from tfexp.estimator import replicas
from tfexp.estimator.model import Model
from tfexp.estimator.modes import ModeKeys
from tfexp.estimator.warm_starting import WarmStartSettings, begin_with
from tfexp.formats.tensor import make_tensor_proto
from tfexp.graph.collections import GraphKeys
from tfexp.graph.dependencies import group
from tfexp.metrics.means import mean
from tfexp.train.evaluation import StopAfterNEvalsHook, evaluate_once, get_or_create_eval_step
from tfexp.train.global_step import get_global_step
from tfexp.train.scaffold import Scaffold
from tfexp.train.session_hooks import SessionRunHook
from tfexp.train.summary_writer import FileWriterCache

_log = get_logger()
_LOSS = "loss"


class Evaluation(NamedTuple):
    """What is run for each batch, and what is read at the end."""

    update: Any
    values: dict[str, Any]
    scaffold: Scaffold
    hooks: tuple[SessionRunHook, ...]


def build(model: Model, input_fn: Callable[..., Any], warm_start: WarmStartSettings | None = None) -> Evaluation:
    """The evaluation of a model in the default graph: its metrics, the mean `loss` over the batches, `global_step`.

    warm_start: what variables begin with, where no checkpoint is evaluated. ValueError for a metric of the model with one of
    these names.
    """
    strategy = model.config.eval_distribute
    loss: Any = None
    if strategy is None:
        given = model.input(input_fn, ModeKeys.EVAL)
        spec = model.spec(given.features, given.labels, ModeKeys.EVAL)
    else:
        given, spec, loss = replicas.evaluation(model, strategy, input_fn)
    if warm_start is not None:
        begin_with(warm_start)
    for name in (_LOSS, GraphKeys.GLOBAL_STEP):
        if name in spec.eval_metric_ops:
            raise ValueError(
                f'Metric with name "{name}" is not allowed, because Estimator already defines a default metric with the '
                "same name."
            )
    metrics = {**spec.eval_metric_ops, _LOSS: mean(spec.loss) if loss is None else loss}
    return Evaluation(
        group(*(update for _, update in metrics.values())),
        {**{name: value for name, (value, _) in sorted(metrics.items())}, GraphKeys.GLOBAL_STEP: get_global_step()},
        _beginning_metrics(spec.scaffold),
        (*given.hooks, *spec.evaluation_hooks),
    )


def _beginning_metrics(scaffold: Scaffold) -> Scaffold:
    """One whose own local_init_op, if it has one, is told of the local variables that an evaluation adds."""
    if scaffold.local_init_op is None:
        return scaffold
    get_or_create_eval_step()
    begin = group(scaffold.local_init_op, Scaffold.default_local_init_op())
    return Scaffold(local_init_op=begin, copy_from_scaffold=scaffold)


def run(
    evaluation: Evaluation,
    model: Model,
    checkpoint_path: str | None,
    output_dir: str,
    steps: int | None = None,
    hooks: Sequence[SessionRunHook] = (),
    scaffold: Scaffold | None = None,
) -> dict[str, Any]:
    """The metrics over `steps` batches, or all there are; they are written into `output_dir` too.

    In the default graph, which is the evaluation's. None for a checkpoint: the variables as the scaffold makes them.
    """
    limit = [] if steps is None else [StopAfterNEvalsHook(num_evals=steps)]
    results: dict[str, Any] = evaluate_once(
        checkpoint_path=checkpoint_path,
        master=model.config.evaluation_master,
        scaffold=scaffold or evaluation.scaffold,
        eval_ops=evaluation.update,
        final_ops=evaluation.values,
        hooks=[*hooks, *limit, *evaluation.hooks],
        config=model.config.session_config,
    )
    _write(results, output_dir, checkpoint_path)
    return results


def _write(results: Mapping[str, Any], output_dir: str, checkpoint_path: str | None) -> None:
    step = int(results[GraphKeys.GLOBAL_STEP])
    said = ", ".join(f"{name} = {value!s}" for name, value in sorted(results.items()))
    _log.info("Saving dict for global step %d: %s", step, said)
    summary = Summary()
    for name, value in sorted(results.items()):
        if name != GraphKeys.GLOBAL_STEP:
            _add(summary, name, value)
    writer = FileWriterCache.get(output_dir)
    writer.add_summary(summary, step)
    if checkpoint_path is not None:
        _log.info("Saving 'checkpoint_path' summary for global step %d: %s", step, checkpoint_path)
        where = Summary()
        where.value.add(tag="checkpoint_path").tensor.CopyFrom(make_tensor_proto(checkpoint_path))
        writer.add_summary(where, step)
    writer.flush()


def _add(summary: Summary, name: str, value: Any) -> None:
    """Numbers as scalars, arrays as tensors, bytes as the summaries that they are. Structures of them have no summary."""
    has_numbers = not nest.is_nested(value) and np.asarray(value).dtype.kind in "fiub"
    if isinstance(value, bytes):
        for number, one in enumerate(Summary.FromString(value).value):
            summary.value.add().CopyFrom(one)
            summary.value[-1].tag = f"{name}/{number}"
    elif isinstance(value, str):
        summary.value.add(tag=name).tensor.CopyFrom(make_tensor_proto(as_text(value)))
    elif has_numbers and np.ndim(value) == 0:
        summary.value.add(tag=name, simple_value=float(value))
    elif has_numbers:
        summary.value.add(tag=name).tensor.CopyFrom(make_tensor_proto(value))
    else:
        _log.warning("Skipping summary for %s: it is neither a number, an array of them nor a summary: %r", name, value)
