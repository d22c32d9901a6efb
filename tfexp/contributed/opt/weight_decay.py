"""Weights that decay apart from the gradient (Loshchilov and Hutter 2017), with any optimizer.

Source: `tf.contrib.opt.{DecoupledWeightDecayExtension,extend_with_decoupled_weight_decay,AdamWOptimizer,
MomentumWOptimizer}`, TF 1.15.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfexp.graph.convert import IndexedSlices, convert_to_tensor
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.ops import state
from tfexp.ops.array_gather import gather
from tfexp.ops.cast import cast
from tfexp.ops.scatter import scatter_sub
from tfexp.train.adam import AdamOptimizer
from tfexp.train.momentum import MomentumOptimizer
from tfexp.train.optimizer import Optimizer, call_if_callable


class DecoupledWeightDecayExtension:
    """Mixed in before an optimizer: before each of its updates, var -= weight_decay * var.

    `weight_decay` is not multiplied by the learning rate: a schedule has to decay both. Of a sparse gradient only the rows
    that have one decay. `decay_var_list` of `minimize` and `apply_gradients`: the variables to decay, all if None.
    """

    _use_locking: bool
    _decayed: list[Any] | None = None

    def __init__(self, weight_decay: Any, **kwargs: Any):
        self._weight_decay = weight_decay
        super().__init__(**kwargs)

    def minimize(
        self,
        loss: Any,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
        decay_var_list: Iterable[Any] | None = None,
    ) -> Any:
        """As the optimizer's; `decay_var_list`: see the class."""
        self._decayed = None if decay_var_list is None else list(decay_var_list)
        return super().minimize(  # type: ignore[misc]
            loss,
            global_step=global_step,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            name=name,
            grad_loss=grad_loss,
        )

    def apply_gradients(
        self,
        grads_and_vars: Iterable[Any],
        global_step: Any = None,
        name: str | None = None,
        decay_var_list: Iterable[Any] | None = None,
    ) -> Any:
        """As the optimizer's; `decay_var_list`: see the class."""
        if decay_var_list is not None:
            self._decayed = list(decay_var_list)
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)  # type: ignore[misc]

    def _prepare(self) -> None:
        decay = call_if_callable(self._weight_decay)
        self._weight_decay_tensor = convert_to_tensor(decay, name="weight_decay")
        super()._prepare()  # type: ignore[misc]

    def _decays(self, var: Any) -> bool:
        return self._decayed is None or any(var is other for other in self._decayed)

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        with control_dependencies(self._decay_weights(var)):
            return super()._apply_dense(grad, var)  # type: ignore[misc]

    def _resource_apply_dense(self, grad: Tensor, handle: Any) -> Any:
        with control_dependencies(self._decay_weights(handle)):
            return super()._resource_apply_dense(grad, handle)  # type: ignore[misc]

    def _decay_weights(self, var: Any) -> list[Any]:
        if not self._decays(var):
            return []
        share = cast(self._weight_decay_tensor, var.dtype.base_dtype) * var  # type: ignore[operator]
        return [state.assign_sub(var, share, use_locking=self._use_locking)]

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        with control_dependencies(self._decay_rows(var, grad.indices)):
            return super()._apply_sparse(grad, var)  # type: ignore[misc]

    def _resource_apply_sparse(self, grad: Tensor, handle: Any, indices: Tensor) -> Any:
        with control_dependencies(self._decay_rows(handle, indices)):
            return super()._resource_apply_sparse(grad, handle, indices)  # type: ignore[misc]

    def _decay_rows(self, var: Any, indices: Tensor) -> list[Any]:
        if not self._decays(var):
            return []
        share = cast(self._weight_decay_tensor, var.dtype.base_dtype) * gather(var, indices)  # type: ignore[operator]
        return [scatter_sub(var, indices, share, use_locking=self._use_locking)]


def extend_with_decoupled_weight_decay(base_optimizer: type[Optimizer]) -> type[Optimizer]:
    """A class as `base_optimizer` whose first argument is `weight_decay`, the others being given by name."""

    class OptimizerWithDecoupledWeightDecay(DecoupledWeightDecayExtension, base_optimizer):  # type: ignore[misc, valid-type]
        def __init__(self, weight_decay: Any, *args: Any, **kwargs: Any):
            base_optimizer.__init__(self, *args, **kwargs)
            self._weight_decay = weight_decay

    return OptimizerWithDecoupledWeightDecay


class MomentumWOptimizer(DecoupledWeightDecayExtension, MomentumOptimizer):  # type: ignore[misc]
    """Momentum with decaying weights."""

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "MomentumW",
        use_nesterov: bool = False,
    ):
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            momentum=momentum,
            use_locking=use_locking,
            name=name,
            use_nesterov=use_nesterov,
        )


class AdamWOptimizer(DecoupledWeightDecayExtension, AdamOptimizer):  # type: ignore[misc]
    """Adam with decaying weights."""

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "AdamW",
    ):
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
            use_locking=use_locking,
            name=name,
        )
