"""`tf.contrib.mixed_precision`: losses scaled up, and gradients down again, so that half precision keeps small ones.

Source: TF 1.15; after Micikevicius et al., "Mixed Precision Training" (2018).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfexp.contributed.opt.wrapper import OptimizerWrapper
from tfexp.core import dtypes
from tfexp.graph.control_flow import cond
from tfexp.graph.convert import IndexedSlices, convert_to_tensor
from tfexp.graph.dependencies import group, no_op
from tfexp.ops.array_identity import identity
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_binary import maximum
from tfexp.ops.elementwise_rounding import is_finite
from tfexp.ops.state import assign, assign_add
from tfexp.ops.variable_base import Variable
from tfexp.train.loss_scale import all_finite
from tfexp.train.optimizer import Optimizer


class LossScaleManager:
    """What says how much a loss is multiplied by, and learns from whether the gradients were finite."""

    def get_loss_scale(self) -> Any:
        """The factor: a float32 scalar."""
        raise NotImplementedError

    def update_loss_scale(self, finite_grads: Any) -> Any:
        """An op that learns from a step. finite_grads: whether all its gradients were finite, a scalar bool."""
        raise NotImplementedError


class FixedLossScaleManager(LossScaleManager):
    """Always the same factor. ValueError below 1."""

    def __init__(self, loss_scale: float):
        if loss_scale < 1:
            raise ValueError("loss scale must be at least 1.")
        self._loss_scale = convert_to_tensor(loss_scale, dtypes.float32)

    def get_loss_scale(self) -> Any:
        return self._loss_scale

    def update_loss_scale(self, finite_grads: Any) -> Any:
        return no_op()


class ExponentialUpdateLossScaleManager(LossScaleManager):
    """Times `incr_ratio` after `incr_every_n_steps` finite steps, times `decr_ratio` after `decr_every_n_nan_or_inf` others.

    Steps are counted in a row; the factor stays finite and at least 1.
    """

    def __init__(
        self,
        init_loss_scale: float,
        incr_every_n_steps: int,
        decr_every_n_nan_or_inf: int = 2,
        incr_ratio: float = 2,
        decr_ratio: float = 0.8,
    ):
        self._enough_good, self._enough_bad = incr_every_n_steps, decr_every_n_nan_or_inf
        self._up, self._down = incr_ratio, decr_ratio
        self._scale: Any = Variable(float(init_loss_scale), trainable=False, dtype=dtypes.float32, name="loss_scale")
        self._good: Any = Variable(0, trainable=False, dtype=dtypes.int32, name="good_steps")
        self._bad: Any = Variable(0, trainable=False, dtype=dtypes.int32, name="bad_steps")

    def get_loss_scale(self) -> Any:
        return self._scale

    def update_loss_scale(self, finite_grads: Any) -> Any:
        def became(scale: Any) -> Any:
            return group(assign(self._scale, scale), assign(self._good, 0), assign(self._bad, 0))

        def up() -> Any:
            larger = self._scale * self._up
            return became(cond(is_finite(larger), lambda: larger, lambda: identity(self._scale)))

        def after_good() -> Any:
            return cond(self._good + 1 < self._enough_good, lambda: group(assign_add(self._good, 1)), up)

        def after_bad() -> Any:
            return cond(
                self._bad + 1 < self._enough_bad,
                lambda: group(assign_add(self._bad, 1), assign(self._good, 0)),
                lambda: became(maximum(1.0, self._scale * self._down)),
            )

        return cond(finite_grads, after_good, after_bad)


class LossScaleOptimizer(OptimizerWrapper):
    """`opt` on a scaled loss, whose gradients are scaled back; a step whose gradients are not finite changes no variable.

    ValueError for what is no optimizer.
    """

    def __init__(self, opt: Optimizer, loss_scale_manager: LossScaleManager):
        if not isinstance(opt, Optimizer):
            raise ValueError(f'"opt" must be an instance of Optimizer, but got: {type(opt)}')
        super().__init__(opt, False, "LossScaleOptimizer")
        self._manager = loss_scale_manager

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[Any]:
        """Pairs of gradients of the loss and variables; the loss is a tensor, or when executing eagerly a function."""
        scale = self._manager.get_loss_scale()
        pairs = self._opt.compute_gradients(
            _scaled(loss, scale),
            var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        return [(_divided(gradient, scale), variable) for gradient, variable in pairs]

    def apply_gradients(self, grads_and_vars: Iterable[Any], global_step: Any = None, name: str | None = None) -> Any:
        """The update by these gradients when all are finite, and what the manager learns of that."""
        pairs = list(grads_and_vars)
        finite = all_finite([gradient for gradient, _ in pairs])

        def update() -> Any:
            return group(self._opt.apply_gradients(pairs, global_step, name))

        return group(cond(finite, update, no_op), self._manager.update_loss_scale(finite))


def _scaled(loss: Any, scale: Any) -> Any:
    if callable(loss):
        return lambda: _scaled(loss(), scale)
    return loss * cast(scale, loss.dtype.base_dtype)


def _divided(gradient: Any, scale: Any) -> Any:
    if gradient is None:
        return None
    if isinstance(gradient, IndexedSlices):
        return IndexedSlices(_divided(gradient.values, scale), gradient.indices, gradient.dense_shape)
    return gradient / cast(scale, gradient.dtype.base_dtype)
