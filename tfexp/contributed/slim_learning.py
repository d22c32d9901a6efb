"""`tf.contrib.slim.learning`: a training loop in a supervisor's session. Source: TF 1.15."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Any

from tensorboard.compat.proto.config_pb2 import RunMetadata, RunOptions

from tfexp.contributed import learning
from tfexp.contributed.learning import clip_gradient_norms, multiply_gradients
from tfexp.core.errors import AbortedError, OutOfRangeError
from tfexp.core.log import get_logger
from tfexp.graph.convert import constant
from tfexp.graph.graph import Graph
from tfexp.graph.scopes import get_default_graph, name_scope
from tfexp.ops.comparison import equal, greater_equal
from tfexp.ops.elementwise_division import floormod
from tfexp.runtime.timeline import Timeline
from tfexp.train.global_step import get_or_create_global_step
from tfexp.train.optimizer import Optimizer
from tfexp.train.supervisor import Supervisor
from tfexp.train.sync_replicas import SyncReplicasOptimizer

_log = get_logger()
_USE_DEFAULT = Supervisor.USE_DEFAULT


def create_train_op(
    total_loss: Any,
    optimizer: Optimizer,
    global_step: Any = _USE_DEFAULT,
    update_ops: Any = None,
    variables_to_train: Any = None,
    clip_gradient_norm: float = 0,
    summarize_gradients: bool = False,
    gate_gradients: int = Optimizer.GATE_OP,
    aggregation_method: Any = None,
    colocate_gradients_with_ops: bool = False,
    gradient_multipliers: Any = None,
    check_numerics: bool = True,
) -> Any:
    """The loss, which is there once the variables have been updated. `tf.contrib.slim.learning.create_train_op`.

    update_ops run first; default: UPDATE_OPS. Gradients are multiplied by `gradient_multipliers` ({variable or its name:
    factor}), then each is cut to a norm of `clip_gradient_norm`. check_numerics: an error when the loss is not finite.
    """

    def transformed(pairs: Any) -> Any:
        if gradient_multipliers:
            pairs = multiply_gradients(pairs, gradient_multipliers)
        return clip_gradient_norms(pairs, clip_gradient_norm) if clip_gradient_norm > 0 else pairs

    return learning.create_train_op(
        total_loss,
        optimizer,
        global_step,
        update_ops,
        variables_to_train,
        transformed,
        summarize_gradients,
        gate_gradients,
        aggregation_method,
        colocate_gradients_with_ops,
        check_numerics,
    )


def train_step(sess: Any, train_op: Any, global_step: Any, train_step_kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """(the loss, whether to stop) of one step. `tf.contrib.slim.learning.train_step`.

    train_step_kwargs: tensors `should_stop`, `should_log` and `should_trace`, of which any may be missing; with the last
    also `logdir`, where a trace of the step goes, and `summary_writer`.
    """
    began = time.time()
    traced: dict[str, Any] = {}
    if "should_trace" in train_step_kwargs:
        if "logdir" not in train_step_kwargs:
            raise ValueError("logdir must be present in train_step_kwargs when should_trace is present")
        if sess.run(train_step_kwargs["should_trace"]):
            traced = {"options": RunOptions(trace_level=RunOptions.FULL_TRACE), "run_metadata": RunMetadata()}
    loss, reached = sess.run([train_op, global_step], **traced)
    took = time.time() - began
    if traced:
        text = Timeline(traced["run_metadata"].step_stats).generate_chrome_trace_format()
        with open(os.path.join(train_step_kwargs["logdir"], f"tf_trace-{reached}.json"), "w", encoding="utf-8") as file:
            file.write(text)
        if (writer := train_step_kwargs.get("summary_writer")) is not None:
            writer.add_run_metadata(traced["run_metadata"], f"run_metadata-{reached}")
    if "should_log" in train_step_kwargs and sess.run(train_step_kwargs["should_log"]):
        _log.info("global step %d: loss = %.4f (%.3f sec/step)", reached, loss, took)
    stop = sess.run(train_step_kwargs["should_stop"]) if "should_stop" in train_step_kwargs else False
    return loss, stop


def train(
    train_op: Any,
    logdir: str | None,
    train_step_fn: Callable[..., tuple[Any, Any]] = train_step,
    train_step_kwargs: Any = _USE_DEFAULT,
    log_every_n_steps: int | None = 1,
    graph: Graph | None = None,
    master: str = "",
    is_chief: bool = True,
    global_step: Any = None,
    number_of_steps: int | None = None,
    init_op: Any = _USE_DEFAULT,
    init_feed_dict: Any = None,
    local_init_op: Any = _USE_DEFAULT,
    init_fn: Callable[[Any], Any] | None = None,
    ready_op: Any = _USE_DEFAULT,
    summary_op: Any = _USE_DEFAULT,
    save_summaries_secs: float = 600,
    summary_writer: Any = _USE_DEFAULT,
    startup_delay_steps: int = 0,
    saver: Any = None,
    save_interval_secs: float = 600,
    sync_optimizer: Any = None,
    session_config: Any = None,
    session_wrapper: Callable[[Any], Any] | None = None,
    trace_every_n_steps: int | None = None,
    ignore_live_threads: bool = False,
) -> Any:
    """Call `train_step_fn` until it says to stop, or the inputs end; the last loss. `tf.contrib.slim.learning.train`.

    train_step_fn: of the session, `train_op`, the global step and `train_step_kwargs`, by default tensors that say when to
    stop (after `number_of_steps`), to log and, on the chief, to trace; gives (loss, whether to stop). In `logdir` are
    checkpoints, summaries and traces. startup_delay_steps: another task than the chief waits for the global step to be that
    large. sync_optimizer: a SyncReplicasOptimizer or a list of them, whose queues the chief fills. session_wrapper: gives
    the session that the steps run in.

    ValueError without `train_op`, for what writes to a `logdir` that is not given, for a number of steps below 1, and for a
    delay beside sync_optimizer; TypeError for other optimizers.
    """
    if train_op is None:
        raise ValueError("train_op cannot be None.")
    if logdir is None:
        _refuse_what_is_written(summary_op, saver, trace_every_n_steps)
        summary_op, summary_writer = None, None
    synchronized = _listed(sync_optimizer)
    if sync_optimizer is not None and startup_delay_steps > 0:
        raise ValueError("startup_delay_steps must be zero when sync_optimizer is supplied.")
    if number_of_steps is not None and number_of_steps <= 0:
        raise ValueError("`number_of_steps` must be either None or a positive number.")

    graph = graph or get_default_graph()
    with graph.as_default():
        step = get_or_create_global_step() if global_step is None else global_step
        ready_for_local = _USE_DEFAULT
        if synchronized:
            first = synchronized[0]
            if local_init_op == _USE_DEFAULT:
                local_init_op = first.chief_init_op if is_chief else first.local_step_init_op
            ready_for_local = first.ready_for_local_init_op
            tokens = [optimizer.get_init_tokens_op() for optimizer in synchronized]
            runners = [optimizer.get_chief_queue_runner() for optimizer in synchronized]
        if train_step_kwargs == _USE_DEFAULT:
            trace_every = trace_every_n_steps if is_chief else None
            train_step_kwargs = _asked(step, number_of_steps, log_every_n_steps, trace_every, logdir)
    supervisor = Supervisor(
        graph=graph,
        is_chief=is_chief,
        logdir=logdir,
        init_op=init_op,
        init_feed_dict=init_feed_dict,
        local_init_op=local_init_op,
        ready_for_local_init_op=ready_for_local,
        ready_op=ready_op,
        summary_op=summary_op,
        summary_writer=summary_writer,
        global_step=step,
        saver=_USE_DEFAULT if saver is None else saver,
        save_summaries_secs=save_summaries_secs,
        save_model_secs=save_interval_secs,
        init_fn=init_fn,
    )
    if supervisor.summary_writer is not None:
        train_step_kwargs["summary_writer"] = supervisor.summary_writer
    loss = None

    def train_in(session: Any) -> None:
        nonlocal loss
        if is_chief and logdir:
            supervisor.start_standard_services(session)
        elif not is_chief and startup_delay_steps > 0:
            _wait_for_step(session, step, min(startup_delay_steps, number_of_steps or startup_delay_steps))
        threads = supervisor.start_queue_runners(session)
        if is_chief and synchronized:
            supervisor.start_queue_runners(session, runners)
            session.run(tokens)
        try:
            while not supervisor.should_stop():
                loss, stop = train_step_fn(session, train_op, step, train_step_kwargs)
                if stop:
                    supervisor.request_stop()
        except OutOfRangeError as ended:
            _log.info("The inputs have ended: %s", ended)
        if logdir and is_chief and supervisor.saver is not None:
            supervisor.saver.save(session, supervisor.save_path, global_step=supervisor.global_step)
        supervisor.stop(threads, close_summary_writer=True, ignore_live_threads=ignore_live_threads)

    while True:
        try:
            with supervisor.managed_session(master, start_standard_services=False, config=session_config) as session:
                train_in(session if session_wrapper is None else session_wrapper(session))
        except AbortedError as lost:
            _log.info("A task was lost; training goes on from the last checkpoint: %s", lost)
        else:
            return loss


def _refuse_what_is_written(summary_op: Any, saver: Any, trace_every_n_steps: int | None) -> None:
    """ValueError for what would write to a `logdir` that is not given."""
    if summary_op != _USE_DEFAULT:
        refused = "summary_op"
    elif saver is not None:
        refused = "saver"
    elif trace_every_n_steps is not None:
        refused = "trace_every_n_steps"
    else:
        return
    raise ValueError(f"Cannot provide {refused} because logdir=None")


def _listed(optimizers: Any) -> Sequence[SyncReplicasOptimizer]:
    if optimizers is None:
        return ()
    listed = optimizers if isinstance(optimizers, (list, tuple)) else [optimizers]
    for optimizer in listed:
        if not isinstance(optimizer, SyncReplicasOptimizer):
            raise TypeError(f"`sync_optimizer` must be a tf.train.SyncReplicasOptimizer, got {optimizer!r}.")
    return listed


def _asked(
    step: Any, number_of_steps: int | None, log_every: int | None, trace_every: int | None, logdir: str | None
) -> dict[str, Any]:
    """The tensors that a step looks at, and where it leaves its trace."""
    asked: dict[str, Any] = {}
    with name_scope("train_step"):
        asked["should_stop"] = constant(False) if number_of_steps is None else greater_equal(step, number_of_steps)
        if log_every is not None and log_every > 0:
            asked["should_log"] = equal(floormod(step, log_every), 0)
        if trace_every is not None:
            asked["should_trace"], asked["logdir"] = equal(floormod(step, trace_every), 0), logdir
        return asked


def _wait_for_step(session: Any, global_step: Any, wanted: int) -> None:
    while session.run(global_step) < wanted:
        time.sleep(1)
