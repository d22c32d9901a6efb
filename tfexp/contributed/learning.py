"""`tf.contrib.training`: training operations, and what becomes of gradients. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.contributed.optimize_loss import multiplied, values_of
from tfexp.core.log import get_logger
from tfexp.graph.collections import GraphKeys
from tfexp.graph.convert import IndexedSlices
from tfexp.graph.dependencies import group, with_dependencies
from tfexp.graph.scopes import add_to_collection, control_dependencies, get_collection, name_scope
from tfexp.ops.array_identity import identity
from tfexp.ops.check import check_numerics as check_numerics_op
from tfexp.ops.clip import clip_by_norm, global_norm
from tfexp.ops.summary import histogram, scalar
from tfexp.ops.variable_lists import trainable_variables
from tfexp.train.global_step import get_or_create_global_step
from tfexp.train.optimizer import Optimizer

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


def clip_gradient_norms_fn(max_norm: float) -> Callable[[Any], list[Any]]:
    """`clip_gradient_norms` to that norm, as a function of the pairs of gradients and variables."""
    return lambda pairs: clip_gradient_norms(pairs, max_norm)


def add_gradients_summaries(grads_and_vars: Any) -> list[Any]:
    """For each gradient that there is a histogram, `w_gradient`, and a scalar summary of its norm. `tf.contrib.training`."""
    return _summaries(grads_and_vars, "_")


def add_slim_gradients_summaries(grads_and_vars: Any) -> list[Any]:
    """The same, called `w/gradient`. `tf.contrib.slim.learning.add_gradients_summaries`."""
    return _summaries(grads_and_vars, "/")


def _summaries(grads_and_vars: Any, between: str) -> list[Any]:
    made = []
    for gradient, variable in grads_and_vars:
        if gradient is None:
            _log.info("Var %s has no gradient", variable.op.name)
            continue
        values = values_of(gradient)
        made.append(histogram(f"{variable.op.name}{between}gradient", values))
        made.append(scalar(f"{variable.op.name}{between}gradient_norm", global_norm([values])))
    return made


def create_train_op(
    total_loss: Any,
    optimizer: Optimizer,
    global_step: Any = _USE_GLOBAL_STEP,
    update_ops: Any = None,
    variables_to_train: Any = None,
    transform_grads_fn: Callable[..., Any] | None = None,
    summarize_gradients: bool = False,
    gate_gradients: int = Optimizer.GATE_OP,
    aggregation_method: Any = None,
    colocate_gradients_with_ops: bool = False,
    check_numerics: bool = True,
) -> Any:
    """The loss, which is there once the variables have been updated. `tf.contrib.training.create_train_op`.

    update_ops run first; default: UPDATE_OPS. transform_grads_fn: of the list of pairs of gradients and variables, before
    they are applied. check_numerics: an error when the loss is not finite.
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
    if transform_grads_fn is not None:
        pairs = transform_grads_fn(pairs)
    if summarize_gradients:
        with name_scope("summarize_grads"):
            add_gradients_summaries(pairs)
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
