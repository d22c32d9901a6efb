"""Evaluating checkpoints, once or as they come: what `tf.contrib.training` has for it. Source: TF 1.15."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.core.log import get_logger
from tfexp.graph.collections import GraphKeys
from tfexp.graph.dependencies import group
from tfexp.graph.scopes import get_default_graph
from tfexp.ops.initializers import zeros_initializer
from tfexp.ops.state import assign_add
from tfexp.ops.summary import merge_all
from tfexp.ops.variable_scope import get_variable
from tfexp.train.checkpoint_watching import checkpoints_iterator
from tfexp.train.global_step import get_global_step
from tfexp.train.monitored_session import MonitoredSession
from tfexp.train.scaffold import Scaffold
from tfexp.train.session_creators import ChiefSessionCreator
from tfexp.train.session_hooks import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from tfexp.train.stopping_hooks import FinalOpsHook
from tfexp.train.summary_writer import FileWriterCache

_log = get_logger()


def get_or_create_eval_step() -> Any:
    """The graph's variable that counts the batches of an evaluation: local, int64. ValueError when there are several."""
    found = get_default_graph().get_collection(GraphKeys.EVAL_STEP)
    if len(found) > 1:
        raise ValueError("Multiple tensors added to tf.GraphKeys.EVAL_STEP")
    if found:
        return found[0]
    return get_variable(
        GraphKeys.EVAL_STEP,
        shape=[],
        dtype=dtypes.int64,
        initializer=zeros_initializer(),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.EVAL_STEP],
    )


class StopAfterNEvalsHook(SessionRunHook):
    """Asks for the end of an evaluation after `num_evals` batches; None: at the end of the input."""

    def __init__(self, num_evals: int | None, log_progress: bool = True):
        self._num_evals = num_evals
        self._evals_completed: Any = None
        self._log_progress = log_progress
        # Ten lines for an evaluation, or all of a short one.
        self._log_every = 1 if num_evals is None or num_evals < 20 else math.floor(num_evals / 10.0)

    def _set_evals_completed_tensor(self, updated_eval_step: Any) -> None:
        self._evals_completed = updated_eval_step

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs({"evals_completed": self._evals_completed})

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        done = run_values.results["evals_completed"]
        if self._log_progress and (done % self._log_every == 0 or done == self._num_evals):
            if self._num_evals is None:
                _log.info("Evaluation [%d]", done)
            else:
                _log.info("Evaluation [%d/%d]", done, self._num_evals)
        if self._num_evals is not None and done >= self._num_evals:
            run_context.request_stop()


class SummaryAtEndHook(SessionRunHook):
    """Writes the summaries, into `log_dir` or with `summary_writer`, when an evaluation ends."""

    def __init__(
        self, log_dir: str | None = None, summary_writer: Any = None, summary_op: Any = None, feed_dict: Any = None
    ):
        self._log_dir, self._summary_writer = log_dir, summary_writer
        self._summary_op, self._feed_dict = summary_op, feed_dict
        self._replace_summary_op = summary_op is None
        self._global_step: Any = None

    def begin(self) -> None:
        if self._replace_summary_op:
            self._summary_op = merge_all()
        self._global_step = get_global_step()

    def after_create_session(self, session: Any, coord: Any) -> None:
        if self._summary_writer is None and self._log_dir:
            self._summary_writer = FileWriterCache.get(self._log_dir)

    def end(self, session: Any) -> None:
        if self._summary_op is not None:
            fetches = [self._summary_op] + ([] if self._global_step is None else [self._global_step])
            text, *step = session.run(fetches, self._feed_dict)
            if self._summary_writer:
                self._summary_writer.add_summary(text, step[0] if step else None)
        if self._summary_writer:
            self._summary_writer.flush()


def evaluate_once(
    checkpoint_path: str | None,
    master: str = "",
    scaffold: Any = None,
    eval_ops: Any = None,
    feed_dict: Any = None,
    final_ops: Any = None,
    final_ops_feed_dict: Any = None,
    hooks: Sequence[Any] | None = None,
    config: Any = None,
) -> Any:
    """Run `eval_ops` on a checkpoint's variables until a hook asks for the end; what `final_ops` then are."""
    step = get_or_create_eval_step()
    hooks = list(hooks or [])
    if eval_ops is not None:
        counted = assign_add(step, 1)
        for hook in hooks:
            if isinstance(hook, StopAfterNEvalsHook):
                hook._set_evals_completed_tensor(counted)
        if isinstance(eval_ops, dict):
            eval_ops["update_eval_step"] = counted
        elif isinstance(eval_ops, (tuple, list)):
            eval_ops = [*eval_ops, counted]
        else:
            eval_ops = group(eval_ops, counted)
    _log.info("Starting evaluation at %s", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.localtime()))
    creator = ChiefSessionCreator(
        scaffold=scaffold or Scaffold(), checkpoint_filename_with_path=checkpoint_path, master=master, config=config
    )
    final = FinalOpsHook(final_ops, final_ops_feed_dict)
    with MonitoredSession(session_creator=creator, hooks=[*hooks, final]) as session:
        if eval_ops is not None:
            while not session.should_stop():
                session.run(eval_ops, feed_dict)
    _log.info("Finished evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S", time.localtime()))
    return final.final_ops_values


def evaluate_repeatedly(
    checkpoint_dir: str,
    master: str = "",
    scaffold: Any = None,
    eval_ops: Any = None,
    feed_dict: Any = None,
    final_ops: Any = None,
    final_ops_feed_dict: Any = None,
    eval_interval_secs: float = 60,
    hooks: Sequence[Any] | None = None,
    config: Any = None,
    max_number_of_evaluations: int | None = None,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Any:
    """`evaluate_once` for each new checkpoint of a folder, at most so many times; the last one's `final_ops`."""
    step = get_or_create_eval_step()
    hooks = list(hooks or [])
    if eval_ops is not None:
        counted = assign_add(step, 1)
        for hook in hooks:
            if isinstance(hook, StopAfterNEvalsHook):
                hook._set_evals_completed_tensor(counted)
        eval_ops = group(eval_ops, counted)
    final = FinalOpsHook(final_ops, final_ops_feed_dict)
    scaffold = scaffold or Scaffold()
    paths = checkpoints_iterator(checkpoint_dir, eval_interval_secs, timeout=timeout, timeout_fn=timeout_fn)
    for evaluation, path in enumerate(paths, 1):
        creator = ChiefSessionCreator(scaffold=scaffold, checkpoint_filename_with_path=path, master=master, config=config)
        with MonitoredSession(session_creator=creator, hooks=[*hooks, final]) as session:
            _log.info("Starting evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S", time.gmtime()))
            if eval_ops is not None:
                while not session.should_stop():
                    session.run(eval_ops, feed_dict)
            _log.info("Finished evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S", time.gmtime()))
        if max_number_of_evaluations is not None and evaluation >= max_number_of_evaluations:
            break
    return final.final_ops_values
