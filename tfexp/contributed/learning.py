"""`tf.contrib.training` and `slim.learning`: training operations and training loops. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.contributed.optimize_loss import multiplied, values_of
from tfexp.core.errors import OutOfRangeError
from tfexp.core.log import get_logger
from tfexp.graph.collections import GraphKeys
from tfexp.graph.convert import IndexedSlices
from tfexp.graph.dependencies import group, with_dependencies
from tfexp.graph.scopes import add_to_collection, control_dependencies, get_collection, name_scope
from tfexp.ops.array_identity import identity
from tfexp.ops.check import check_numerics as check_numerics_op
from tfexp.ops.clip import clip_by_norm
from tfexp.ops.summary import histogram
from tfexp.ops.variable_lists import trainable_variables
from tfexp.train.global_step import get_or_create_global_step
from tfexp.train.optimizer import Optimizer
from tfexp.train.supervisor import Supervisor

_log = get_logger()


_USE_GLOBAL_STEP = 0


def multiply_gradients(grads_and_vars: Any, gradient_multipliers: Any) -> list[Any]:
    """`tf.contrib.training.multiply_gradients`. ValueError for what is no list, no dict, or has nothing in it."""
    if not isinstance(grads_and_vars, list):
        raise ValueError("`grads_and_vars` must be a list.")
    if not gradient_multipliers:
        raise ValueError("`gradient_multipliers` is empty.")
    return multiplied(grads_and_vars, gradient_multipliers)


def clip_gradient_norms(gradients_to_variables: Any, max_norm: float) -> list[Any]:
    """Each gradient by itself cut to a norm of `max_norm`."""
    result = []
    for gradient, variable in gradients_to_variables:
        if isinstance(gradient, IndexedSlices):
            cut = clip_by_norm(gradient.values, max_norm)
            gradient = IndexedSlices(cut, gradient.indices, gradient.dense_shape)
        elif gradient is not None:
            gradient = clip_by_norm(gradient, max_norm)
        result.append((gradient, variable))
    return result


def create_train_op(
    total_loss: Any,
    optimizer: Optimizer,
    global_step: Any = _USE_GLOBAL_STEP,
    update_ops: Any = None,
    variables_to_train: Any = None,
    clip_gradient_norm: float = 0,
    summarize_gradients: bool = False,
    gate_gradients: int = Optimizer.GATE_OP,
    aggregation_method: Any = None,
    colocate_gradients_with_ops: bool = False,
    gradient_multipliers: Any = None,
    check_numerics: bool = True,
    transform_grads_fn: Callable[..., Any] | None = None,
) -> Any:
    """The loss, which is there once the variables have been updated. `slim.learning.create_train_op`.

    update_ops run first; default: UPDATE_OPS. check_numerics: an error when the loss is not finite.
    """
    step = get_or_create_global_step() if global_step is _USE_GLOBAL_STEP else global_step
    updates = list(dict.fromkeys(get_collection(GraphKeys.UPDATE_OPS) if update_ops is None else update_ops))
    if updates:
        with control_dependencies([group(*updates)]):
            total_loss = identity(total_loss)
    pairs = optimizer.compute_gradients(
        total_loss,
        trainable_variables() if variables_to_train is None else variables_to_train,
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
    )
    if gradient_multipliers:
        pairs = multiply_gradients(pairs, gradient_multipliers)
    if transform_grads_fn is not None:
        pairs = transform_grads_fn(pairs)
    if clip_gradient_norm > 0:
        pairs = clip_gradient_norms(pairs, clip_gradient_norm)
    if summarize_gradients:
        for gradient, variable in pairs:
            if gradient is not None:
                histogram(f"{variable.op.name}/gradient", values_of(gradient))
    updated = optimizer.apply_gradients(pairs, global_step=step)
    with name_scope("train_op"):
        if check_numerics:
            total_loss = _checked(total_loss)
        train = with_dependencies([updated], total_loss)
    kept = get_collection(GraphKeys.TRAIN_OP)
    if train not in kept:
        add_to_collection(GraphKeys.TRAIN_OP, train)
    return train


def _checked(loss: Any) -> Any:
    return check_numerics_op(loss, "LossTensor is inf or nan")


def train(
    train_op: Any,
    logdir: str | None,
    master: str = "",
    is_chief: bool = True,
    global_step: Any = None,
    number_of_steps: int | None = None,
    init_op: Any = Supervisor.USE_DEFAULT,
    init_feed_dict: Any = None,
    local_init_op: Any = Supervisor.USE_DEFAULT,
    init_fn: Callable[[Any], None] | None = None,
    summary_op: Any = Supervisor.USE_DEFAULT,
    save_summaries_secs: int = 600,
    saver: Any = Supervisor.USE_DEFAULT,
    save_interval_secs: int = 600,
    session_config: Any = None,
    log_every_n_steps: int = 1,
    **_: Any,
) -> Any:
    """Run `train_op` until `number_of_steps` or the end of the inputs, and give the last loss. `slim.learning.train`."""
    step = get_or_create_global_step() if global_step is None else global_step
    start = init_fn

    supervisor = Supervisor(
        is_chief=is_chief,
        logdir=logdir,
        init_op=init_op,
        init_feed_dict=init_feed_dict,
        local_init_op=local_init_op,
        summary_op=summary_op,
        global_step=step,
        saver=saver,
        save_summaries_secs=save_summaries_secs,
        save_model_secs=save_interval_secs,
        init_fn=None if start is None else lambda session: start(session),
    )
    loss = None
    with supervisor.managed_session(master, config=session_config) as session:
        try:
            while not supervisor.should_stop():
                loss, reached = session.run([train_op, step])
                if log_every_n_steps and reached % log_every_n_steps == 0:
                    _log.info("global step %d: loss = %.4f", reached, loss)
                if number_of_steps is not None and reached >= number_of_steps:
                    break
        except OutOfRangeError:
            _log.info("the inputs have ended")
        if logdir and is_chief and supervisor.saver is not None:
            supervisor.saver.save(session, supervisor.save_path, global_step=supervisor.global_step)
    return loss
