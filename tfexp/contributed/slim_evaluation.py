"""`tf.contrib.slim.evaluation`: metrics of checkpoints, with a summary of each. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.contributed.variables import get_variables_to_restore
from tfexp.ops.summary import merge_all
from tfexp.train import evaluation
from tfexp.train.evaluation import StopAfterNEvalsHook, SummaryAtEndHook
from tfexp.train.saver import Saver
from tfexp.train.scaffold import Scaffold

_USE_DEFAULT = 0


def evaluate_once(
    master: str,
    checkpoint_path: str,
    logdir: str | None,
    num_evals: int = 1,
    initial_op: Any = None,
    initial_op_feed_dict: Any = None,
    eval_op: Any = None,
    eval_op_feed_dict: Any = None,
    final_op: Any = None,
    final_op_feed_dict: Any = None,
    summary_op: Any = _USE_DEFAULT,
    summary_op_feed_dict: Any = None,
    variables_to_restore: Any = None,
    session_config: Any = None,
    hooks: Sequence[Any] | None = None,
) -> Any:
    """`final_op`'s value after `eval_op` has run `num_evals` times with a checkpoint's variables.

    summary_op: by default all summaries; None: nothing is written to `logdir`. variables_to_restore: by default the model's
    and those of the training. `tf.contrib.slim.evaluation.evaluate_once`.
    """
    return evaluation.evaluate_once(
        checkpoint_path,
        master=master,
        scaffold=_scaffold(variables_to_restore, initial_op, initial_op_feed_dict),
        eval_ops=eval_op,
        feed_dict=eval_op_feed_dict,
        final_ops=final_op,
        final_ops_feed_dict=final_op_feed_dict,
        hooks=_hooks(num_evals, logdir, summary_op, summary_op_feed_dict, hooks),
        config=session_config,
    )


def evaluation_loop(
    master: str,
    checkpoint_dir: str,
    logdir: str | None,
    num_evals: int = 1,
    initial_op: Any = None,
    initial_op_feed_dict: Any = None,
    init_fn: Callable[[Any], Any] | None = None,
    eval_op: Any = None,
    eval_op_feed_dict: Any = None,
    final_op: Any = None,
    final_op_feed_dict: Any = None,
    summary_op: Any = _USE_DEFAULT,
    summary_op_feed_dict: Any = None,
    variables_to_restore: Any = None,
    eval_interval_secs: float = 60,
    max_number_of_evaluations: int | None = None,
    session_config: Any = None,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
    hooks: Sequence[Any] | None = None,
) -> Any:
    """`evaluate_once` for each new checkpoint of a folder, every `eval_interval_secs` at most; the last `final_op`'s value.

    Ends after `max_number_of_evaluations`, or when no checkpoint comes for `timeout` seconds and `timeout_fn`, if there is
    one, agrees. `tf.contrib.slim.evaluation.evaluation_loop`.
    """
    return evaluation.evaluate_repeatedly(
        checkpoint_dir,
        master=master,
        scaffold=_scaffold(variables_to_restore, initial_op, initial_op_feed_dict, init_fn),
        eval_ops=eval_op,
        feed_dict=eval_op_feed_dict,
        final_ops=final_op,
        final_ops_feed_dict=final_op_feed_dict,
        eval_interval_secs=eval_interval_secs,
        hooks=_hooks(num_evals, logdir, summary_op, summary_op_feed_dict, hooks),
        config=session_config,
        max_number_of_evaluations=max_number_of_evaluations,
        timeout=timeout,
        timeout_fn=timeout_fn,
    )


def _scaffold(variables: Any, initial_op: Any, feed_dict: Any, init_fn: Callable[[Any], Any] | None = None) -> Scaffold:
    return Scaffold(
        init_op=initial_op,
        init_feed_dict=feed_dict,
        init_fn=None if init_fn is None else lambda scaffold, session: init_fn(session),
        saver=Saver(variables or get_variables_to_restore()),
    )


def _hooks(num_evals: int, logdir: str | None, summary_op: Any, feed_dict: Any, hooks: Sequence[Any] | None) -> list[Any]:
    summaries = merge_all() if summary_op is _USE_DEFAULT else summary_op
    ends: list[Any] = [StopAfterNEvalsHook(num_evals)]
    if summaries is not None:
        ends.append(SummaryAtEndHook(log_dir=logdir, summary_op=summaries, feed_dict=feed_dict))
    return [*ends, *(hooks or [])]
