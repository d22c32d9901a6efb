"""`tf.contrib.layers.optimize_loss`: a whole training operation from a loss. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.graph.collections import GraphKeys
from tfexp.graph.convert import IndexedSlices, convert_to_tensor
from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.scopes import get_collection
from tfexp.graph.tensor import Tensor
from tfexp.ops.cast import cast
from tfexp.ops.clip import clip_by_global_norm, global_norm, values_of
from tfexp.ops.initializers import constant_initializer
from tfexp.ops.random import random_normal
from tfexp.ops.summary import histogram, scalar
from tfexp.ops.variable_base import Variable
from tfexp.ops.variable_lists import trainable_variables
from tfexp.ops.variable_scope import get_variable, variable_scope
from tfexp.train.adagrad import AdagradOptimizer
from tfexp.train.adam import AdamOptimizer
from tfexp.train.ftrl import FtrlOptimizer
from tfexp.train.global_step import get_global_step
from tfexp.train.gradient_descent import GradientDescentOptimizer
from tfexp.train.momentum import MomentumOptimizer
from tfexp.train.optimizer import Optimizer
from tfexp.train.rmsprop import RMSPropOptimizer

OPTIMIZER_CLS_NAMES: dict[str, Callable[..., Optimizer]] = {
    "Adagrad": AdagradOptimizer,
    "Adam": AdamOptimizer,
    "Ftrl": FtrlOptimizer,
    "Momentum": lambda learning_rate: MomentumOptimizer(learning_rate, momentum=0.9),
    "RMSProp": RMSPropOptimizer,
    "SGD": GradientDescentOptimizer,
}
OPTIMIZER_SUMMARIES = ["learning_rate", "loss", "gradients", "gradient_norm", "global_gradient_norm"]


def optimize_loss(
    loss: Any,
    global_step: Any,
    learning_rate: Any,
    optimizer: Any,
    gradient_noise_scale: float | None = None,
    gradient_multipliers: Any = None,
    clip_gradients: Any = None,
    learning_rate_decay_fn: Callable[[Any, Any], Any] | None = None,
    update_ops: Any = None,
    variables: Any = None,
    name: str | None = None,
    summaries: Sequence[str] | None = None,
    colocate_gradients_with_ops: bool = False,
    increment_global_step: bool = True,
) -> Any:
    """The loss, which is there once the variables have been updated.

    optimizer: a name of OPTIMIZER_CLS_NAMES, a class or function of the learning rate, or an optimizer. clip_gradients: a
    global norm, or a function of (gradient, variable) pairs. gradient_multipliers: {variable or its name: factor}.
    update_ops run first; default: UPDATE_OPS. The learning rate has a summary where a function decays it. ValueError for an
    optimizer or clip_gradients that is none of these, for unknown summaries.
    """
    with variable_scope(name, "OptimizeLoss", [loss, global_step]):
        step = get_global_step() if global_step is None else global_step
        updates = list(get_collection(GraphKeys.UPDATE_OPS) if update_ops is None else update_ops)
        if updates:
            loss = with_dependencies(updates, loss)
        wanted = _checked_summaries(summaries)
        rate = _learning_rate(learning_rate)
        if rate is not None and learning_rate_decay_fn is not None:
            if step is None:
                raise ValueError("global_step is required for learning_rate_decay_fn.")
            rate = learning_rate_decay_fn(rate, step)
            if "learning_rate" in wanted:
                scalar("learning_rate", rate)
        made = _optimizer(optimizer, rate)
        pairs = made.compute_gradients(
            loss,
            trainable_variables() if variables is None else variables,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
        )
        if gradient_noise_scale is not None:
            pairs = _noisy(pairs, gradient_noise_scale)
        if gradient_multipliers is not None:
            pairs = multiplied(pairs, gradient_multipliers)
        of_all = "global_gradient_norm" in wanted or "gradient_norm" in wanted
        if of_all:
            scalar("global_norm/gradient_norm", global_norm([g for g, _ in pairs]))
        pairs = _clipped(pairs, clip_gradients)
        if "loss" in wanted:
            scalar("loss", loss)
        _summarize(pairs, wanted)
        if of_all and clip_gradients is not None:
            scalar("global_norm/clipped_gradient_norm", global_norm([g for g, _ in pairs]))
        train = made.apply_gradients(pairs, global_step=step if increment_global_step else None, name="train")
        return with_dependencies([train], loss)


def _checked_summaries(summaries: Sequence[str] | None) -> Sequence[str]:
    if summaries is None:
        return ["loss", "learning_rate", "global_gradient_norm"]
    for summary in summaries:
        if summary not in OPTIMIZER_SUMMARIES:
            raise ValueError(f"Summaries should be one of [{', '.join(OPTIMIZER_SUMMARIES)}], you provided {summary}.")
    return summaries


def _learning_rate(value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, (Tensor, Variable)) and convert_to_tensor(value).get_shape().ndims == 0:
        return value
    if isinstance(value, float):
        if value < 0.0:
            raise ValueError(f"Invalid learning_rate {value}.")
        return get_variable("learning_rate", [], trainable=False, initializer=constant_initializer(value))
    raise ValueError(f"Learning rate should be 0d Tensor or float. Got {value} of type {type(value)}")


def _noisy(pairs: Any, scale: float) -> list[Any]:
    """Gradients with normal noise of that deviation added to them."""
    return [(g if g is None else values_of(g) + random_normal(values_of(g).get_shape()) * scale, v) for g, v in pairs]


def _clipped(pairs: Any, clip_gradients: Any) -> Any:
    """Gradients that `clip_gradients` of `optimize_loss` has cut."""
    if callable(clip_gradients):
        return clip_gradients(pairs)
    if isinstance(clip_gradients, float):
        clipped, _ = clip_by_global_norm([g for g, _ in pairs], clip_gradients)
        return list(zip(clipped, [v for _, v in pairs], strict=True))
    if clip_gradients is not None:
        raise ValueError(f"Unknown type {type(clip_gradients)} for clip_gradients")
    return pairs


def _summarize(pairs: Any, wanted: Sequence[str]) -> None:
    """Summaries of each gradient: its values, its norm."""
    for gradient, variable in pairs:
        name = variable.name.replace(":", "_")
        if gradient is not None and "gradients" in wanted:
            histogram(f"gradients/{name}", values_of(gradient))
        if gradient is not None and "gradient_norm" in wanted:
            scalar(f"gradient_norm/{name}", global_norm([gradient]))


def _optimizer(optimizer: Any, rate: Any) -> Optimizer:
    if isinstance(optimizer, str):
        if rate is None:
            raise ValueError(f"Learning rate is None, but should be specified if optimizer is string ({optimizer}).")
        if optimizer not in OPTIMIZER_CLS_NAMES:
            raise ValueError(
                f"Optimizer name should be one of [{', '.join(OPTIMIZER_CLS_NAMES)}], you provided {optimizer}."
            )
        return OPTIMIZER_CLS_NAMES[optimizer](learning_rate=rate)
    if isinstance(optimizer, Optimizer):
        return optimizer
    if callable(optimizer):
        made = optimizer() if rate is None and not isinstance(optimizer, type) else optimizer(rate)
        if not isinstance(made, Optimizer):
            raise ValueError(f"Unrecognized optimizer: function should return subclass of Optimizer. Got {made}.")
        return made
    raise ValueError(
        "Unrecognized optimizer: should be string, subclass of Optimizer, instance of subclass of Optimizer or function "
        f"with one argument. Got {optimizer}."
    )


def multiplied(pairs: Any, multipliers: Any) -> list[Any]:
    """Gradients times the factors of their variables."""
    result = []
    for gradient, variable in pairs:
        key = variable if variable in multipliers else variable.op.name
        if gradient is not None and key in multipliers:
            factor = multipliers[key]
            if isinstance(gradient, IndexedSlices):
                gradient = IndexedSlices(gradient.values * factor, gradient.indices, gradient.dense_shape)
            else:
                gradient = gradient * cast(factor, gradient.dtype)
        result.append((gradient, variable))
    return result
