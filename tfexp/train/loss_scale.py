"""Loss scales: the loss is multiplied before gradients are taken, so that small ones do not vanish in half precision.

Source: `tf.train.experimental.LossScale` and the optimizer that uses one, TF 1.15; after Micikevicius et al., "Mixed
Precision Training" (2018).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.control_flow import cond
from tfexp.graph.convert import IndexedSlices, constant
from tfexp.graph.dependencies import group, no_op
from tfexp.graph.replica_modes import distributing
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_join import stack
from tfexp.ops.cast import cast
from tfexp.ops.clip import values_of
from tfexp.ops.elementwise_binary import mul
from tfexp.ops.elementwise_rounding import is_finite
from tfexp.ops.elementwise_unary import reciprocal
from tfexp.ops.logical import logical_and
from tfexp.ops.reduce import reduce_all
from tfexp.ops.state import assign, assign_add
from tfexp.ops.variable_base import Variable
from tfexp.train.optimizer import Optimizer


class LossScale:
    """What says how much the loss is multiplied by: calling it gives a float32 scalar."""

    def __call__(self) -> Any:
        raise NotImplementedError

    def update(self, grads: Sequence[Any]) -> tuple[Any, Any]:
        """(an op that learns from the gradients, whether they should be applied: a bool, in the graph or not)."""
        raise NotImplementedError

    @property
    def weights(self) -> list[Any]:
        """The variables that it keeps."""
        return []

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another one like it."""
        raise NotImplementedError

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        return cls(**config)


class FixedLossScale(LossScale):
    """Always the same. ValueError below 1. Source: `tf.train.experimental.FixedLossScale`."""

    def __init__(self, loss_scale_value: float):
        if not isinstance(loss_scale_value, (int, float)):
            raise ValueError(f"loss_scale_value must be a Python int or float, got {loss_scale_value!r}")
        if loss_scale_value < 1:
            raise ValueError("loss_scale_value must be at least 1.")
        self._value = float(loss_scale_value)

    def __call__(self) -> Tensor:
        return constant(self._value, dtypes.float32)

    def update(self, grads: Sequence[Any]) -> tuple[Any, Any]:
        return no_op(), True

    def get_config(self) -> dict[str, Any]:
        return {"loss_scale_value": self._value}

    def __repr__(self) -> str:
        return f"FixedLossScale({self._value})"


class DynamicLossScale(LossScale):
    """Multiplied by `multiplier` after `increment_period` steps of finite gradients, divided by it after one of others.

    Never below 1. Source: `tf.train.experimental.DynamicLossScale`.
    """

    def __init__(self, initial_loss_scale: float = 2.0**15, increment_period: int = 2000, multiplier: float = 2.0):
        self._initial, self._period, self._multiplier = float(initial_loss_scale), int(increment_period), float(multiplier)
        self._scale: Any = Variable(self._initial, trainable=False, dtype=dtypes.float32, name="current_loss_scale")
        self._good_steps: Any = Variable(0, trainable=False, dtype=dtypes.int64, name="good_steps")

    @property
    def weights(self) -> list[Any]:
        return [self._scale, self._good_steps]

    @property
    def initial_loss_scale(self) -> float:
        return self._initial

    @property
    def increment_period(self) -> int:
        return self._period

    @property
    def multiplier(self) -> float:
        return self._multiplier

    def __call__(self) -> Any:
        return self._scale.read_value()

    def update(self, grads: Sequence[Any]) -> tuple[Any, Any]:
        finite = all_finite(grads)

        def grown() -> Any:
            scale: Any = self._scale * self._multiplier
            safe = cond(is_finite(scale), lambda: scale, lambda: self._scale.read_value())
            return group(assign(self._scale, safe), assign(self._good_steps, 0))

        def after_finite() -> Any:
            due = self._good_steps + 1 >= self._period
            return cond(due, grown, lambda: group(assign_add(self._good_steps, 1)))

        def after_other() -> Any:
            scale: Any = self._scale / self._multiplier
            safe = cond(scale < 1.0, lambda: constant(1.0), lambda: scale)
            return group(assign(self._scale, safe), assign(self._good_steps, 0))

        return cond(finite, after_finite, after_other), finite

    def get_config(self) -> dict[str, Any]:
        return {
            "initial_loss_scale": self._initial,
            "increment_period": self._period,
            "multiplier": self._multiplier,
        }

    def __repr__(self) -> str:
        settings = ", ".join(f"{key}={value}" for key, value in self.get_config().items())
        return f"DynamicLossScale({settings})"


def all_finite(grads: Sequence[Any]) -> Any:
    """Whether no gradient has a NaN or an infinity in it: a scalar bool tensor."""
    found = [reduce_all(is_finite(values_of(g))) for g in grads if g is not None]
    if not found:
        return constant(True)
    return reduce_all(stack(found)) if len(found) != 2 else logical_and(*found)


def as_loss_scale(value: Any) -> LossScale:
    """A LossScale of itself, of a number, or of "dynamic". ValueError for anything else."""
    if isinstance(value, LossScale):
        return value
    if value == "dynamic":
        return DynamicLossScale()
    if isinstance(value, (int, float)):
        return FixedLossScale(value)
    raise ValueError(f"Could not interpret loss scale identifier: {value} (it is a LossScale, a number or 'dynamic')")


def as_loss_scale_or_none(value: Any) -> LossScale | None:
    """The same; None, for no scaling, stays None."""
    return None if value is None else as_loss_scale(value)


def loss_scale_of_config(config: dict[str, Any]) -> LossScale:
    """The loss scale of a `{"class_name": …, "config": …}`. ValueError for a class that is none of these."""
    kinds = {kind.__name__: kind for kind in (FixedLossScale, DynamicLossScale)}
    if config["class_name"] not in kinds:
        raise ValueError(f"Unknown loss scale {config['class_name']!r}: known are {sorted(kinds)}")
    made: LossScale = kinds[config["class_name"]].from_config(config["config"])
    return made


def unscaled(loss_scale: LossScale, grads: Sequence[Any]) -> list[Any]:
    """Gradients of a scaled loss as those of the loss itself; None stays."""
    back = reciprocal(loss_scale())
    return [_scaled(grad, back) for grad in grads]


def apply_where_finite(loss_scale: LossScale, grads: Sequence[Any], apply: Callable[[], Any]) -> Any:
    """`apply()`, where the loss scale finds that these gradients may be, and what changes the loss scale."""
    update, may_apply = loss_scale.update(grads)
    made = apply() if may_apply is True else cond(may_apply, lambda: group(apply()), no_op)
    return group(made, update)


def enable_mixed_precision_graph_rewrite(opt: Any, loss_scale: Any = "dynamic") -> Optimizer:
    """An optimizer with a loss scale. TensorFlow also has its sessions compute in half precision on GPUs that can.

    On CPUs it computes as the graph says, and so does tfexp. ValueError for what is no optimizer, or has a loss scale.
    Source: `tf.train.experimental.enable_mixed_precision_graph_rewrite`.
    """
    if isinstance(opt, MixedPrecisionLossScaleOptimizer):
        raise ValueError(
            '"opt" must not already be an instance of a MixedPrecisionLossScaleOptimizer: '
            "`enable_mixed_precision_graph_rewrite` wraps the optimizer in one"
        )
    if not isinstance(opt, Optimizer):
        raise ValueError(f'"opt" must be an instance of a tf.train.Optimizer, but got: {opt!r}')
    return MixedPrecisionLossScaleOptimizer(opt, loss_scale)


def disable_mixed_precision_graph_rewrite() -> None:
    """There is nothing to end: see `enable_mixed_precision_graph_rewrite`. Source: `tf.train.experimental`."""


class MixedPrecisionLossScaleOptimizer(Optimizer):
    """Another optimizer's steps, on a loss that is scaled and gradients that are scaled back.

    A step whose gradients are not finite is left out where the loss scale says so.
    Source: `tf.train.experimental.MixedPrecisionLossScaleOptimizer`.
    """

    def __init__(self, opt: Optimizer, loss_scale: Any):
        if not isinstance(opt, Optimizer):
            raise ValueError(f'"opt" must be an instance of Optimizer, but got: {type(opt)}')
        super().__init__(opt._use_locking, opt._name)
        self._optimizer = opt
        self._loss_scale = as_loss_scale(loss_scale)

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        """Of the scaled loss, scaled back; arguments as those of the other optimizer."""
        scale = self._loss_scale()
        found = self._optimizer.compute_gradients(mul(loss, cast(scale, loss.dtype)), *args, **kwargs)
        back = unscaled(self._loss_scale, [grad for grad, _ in found])
        return [(grad, variable) for grad, (_, variable) in zip(back, found, strict=True)]

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        pairs = tuple(grads_and_vars)
        mode = distributing()
        if mode is not None and mode.replica is not None:
            return mode.replica.merge_call(self._distributed_apply, args=(pairs, global_step, name))
        grads = [grad for grad, _ in pairs]
        return apply_where_finite(self._loss_scale, grads, lambda: self._optimizer.apply_gradients(pairs, global_step, name))

    def _distributed_apply(
        self, distribution: Any, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """A step of all replicas, left out where the gradients of one are not finite."""
        each = [part for grad, _ in grads_and_vars for part in distribution.experimental_local_results(grad)]
        args = (grads_and_vars, global_step, name)

        def apply() -> Any:
            return distribution.group(
                distribution.extended.call_for_each_replica(self._optimizer.apply_gradients, args=args)
            )

        return apply_where_finite(self._loss_scale, each, apply)

    def get_slot_names(self) -> list[str]:
        return self._optimizer.get_slot_names()

    def get_slot(self, var: Any, name: str) -> Any:
        return self._optimizer.get_slot(var, name)

    def variables(self) -> list[Any]:
        return self._optimizer.variables()


def _scaled(grad: Any, factor: Any) -> Any:
    if grad is None:
        return None
    if isinstance(grad, IndexedSlices):
        return IndexedSlices(mul(grad.values, cast(factor, grad.values.dtype)), grad.indices, grad.dense_shape)
    return mul(grad, cast(factor, grad.dtype))
