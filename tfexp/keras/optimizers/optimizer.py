"""`Optimizer`: what Keras's optimizers share. Source: `tf.keras.optimizers.Optimizer` (OptimizerV2), TF 1.15.

A subclass names its hyperparameters (`_set_hyper`), says which slots it keeps (`_create_slots`), and updates a variable
from a dense gradient (`_resource_apply_dense`) or from rows of one (`_resource_apply_sparse`). Hyperparameters are
variables, made when they are first used: `optimizer.lr = …` and `K.set_value(optimizer.lr, …)` change the next step.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tfexp.core import dtypes, nest
from tfexp.core.log import get_logger
from tfexp.graph.convert import IndexedSlices
from tfexp.graph.gradients import gradients
from tfexp.graph.replica_modes import distributing
from tfexp.graph.scopes import control_dependencies, device, executing_eagerly, init_scope, name_scope
from tfexp.graph.tape import GradientTape
from tfexp.graph.tensor import Tensor
from tfexp.keras import backend
from tfexp.keras.optimizers.state import OptimizerState
from tfexp.ops import array, scatter
from tfexp.ops.array_identity import identity
from tfexp.ops.array_unique import unique
from tfexp.ops.clip import clip_by_norm, clip_by_value
from tfexp.ops.segment import unsorted_segment_sum
from tfexp.ops.trackable import variables_made
from tfexp.ops.variable_base import Variable, node_name

# What is computed of the hyperparameters once for all variables of one device and type, by names.
Coefficients = dict[str, Any]
ApplyState = dict[tuple[str, Any], Coefficients]


class Optimizer(OptimizerState):
    """Base class. `name` scopes its ops and variables.

    kwargs: `clipnorm` (the largest norm of each gradient), `clipvalue` (the largest absolute value of their elements),
    `decay` (the rate is divided by 1 + decay * iterations), `lr` (older for `learning_rate`). TypeError for others.
    """

    # --- a step ---------------------------------------------------------------------------------------------------------

    def minimize(self, loss: Any, var_list: Any, grad_loss: Any = None, name: str | None = None) -> Any:
        """The op that takes one step against the gradient of `loss()`, a function without arguments.

        var_list: variables, or a function that gives them once `loss` has been called. Eagerly the step is taken at once.
        ValueError when no variable gets a gradient.
        """
        pairs = self._compute_gradients(loss, var_list=var_list, grad_loss=grad_loss)
        return self.apply_gradients(pairs, name=name)

    def _compute_gradients(self, loss: Any, var_list: Any, grad_loss: Any = None) -> list[tuple[Any, Any]]:
        """[(gradient or None, variable), …], clipped."""
        if not callable(loss):
            raise TypeError(f"`loss` has to be a function without arguments that gives the loss, got {loss!r}")
        with GradientTape() as tape:
            if not callable(var_list):
                tape.watch(var_list)
            value = loss()
            variables = nest.flatten(var_list() if callable(var_list) else var_list)
        with name_scope(self._name + "/gradients"):
            found = self._clipped(tape.gradient(value, variables, grad_loss))
        pairs = list(zip(found, variables, strict=True))
        self._assert_valid_dtypes([v for g, v in pairs if g is not None])
        return pairs

    def get_gradients(self, loss: Any, params: Any) -> list[Any]:
        """The gradients of a tensor in a graph, clipped. ValueError for a parameter that the loss does not depend on."""
        params = nest.flatten(params)
        with backend.get_graph().as_default(), name_scope(self._name + "/gradients"):
            found = gradients(loss, [v._ref() if isinstance(v, Variable) else v for v in params])
            for grad, param in zip(found, params, strict=True):
                if grad is None:
                    raise ValueError(
                        f"Variable {param} has `None` for gradient. Please make sure that all of your ops have a gradient "
                        "defined (i.e. are differentiable). Common ops without gradient: K.argmax, K.round, K.eval."
                    )
            return self._clipped(found)

    def _create_all_weights(self, var_list: list[Any]) -> None:
        """Make what a step for these variables needs, where it is not there."""
        self.iterations  # noqa: B018 (they come first among the weights)
        if not self._hypers_created:
            self._create_hypers()
        self._create_slots(var_list)
        variables_made(self)

    def get_updates(self, loss: Any, params: Any) -> list[Any]:
        """[the op that takes one step against the gradient of a tensor in a graph]."""
        pairs = list(zip(self.get_gradients(loss, params), nest.flatten(params), strict=True))
        self._assert_valid_dtypes([v for _, v in pairs])
        return [self.apply_gradients(pairs)]

    def _clipped(self, grads: Sequence[Any]) -> list[Any]:
        """With gradients of which each is at most so long, and then each element at most so large."""
        clipped = list(grads)
        if hasattr(self, "clipnorm"):
            clipped = [g if g is None else clip_by_norm(g, self.clipnorm) for g in clipped]
        if hasattr(self, "clipvalue"):
            clipped = [g if g is None else clip_by_value(g, -self.clipvalue, self.clipvalue) for g in clipped]
        return clipped

    def apply_gradients(self, grads_and_vars: Iterable[tuple[Any, Any]], name: str | None = None) -> Any:
        """The op that applies [(gradient or None, variable), …] and counts the step. Eagerly that happens at once.

        ValueError when there are only Nones.
        """
        pairs = _with_gradients(grads_and_vars)
        variables = [v for _, v in pairs]
        with name_scope(self._name):
            with init_scope():
                self._create_all_weights(variables)
            mode = distributing()
            if mode is not None and mode.replica is None:
                raise RuntimeError(
                    "`apply_gradients()` cannot be called in cross-replica context. Call it in the function that "
                    "`tf.distribute.Strategy.experimental_run_v2` runs for each replica."
                )
            if mode is None:
                return self._apply(pairs, name, self._prepare(variables))
            return mode.replica.merge_call(self._distributed_apply, args=(pairs,), kwargs={"name": name})

    def _apply(self, pairs: list[tuple[Any, Any]], name: str | None, state: ApplyState) -> Any:
        with name_scope(name or self._name):
            updates = []
            for grad, variable in pairs:
                with name_scope(f"update_{node_name(variable)}"), device(variable.device):
                    updates.append(self._update(variable, grad, state))
            return self._counted(updates)

    def _distributed_apply(self, distribution: Any, grads_and_vars: Any, name: str | None) -> Any:
        """As `_apply`, once for all replicas of a strategy, whose gradients are summed."""
        extended = distribution.extended
        summed = extended.batch_reduce_to("SUM", grads_and_vars)
        state = self._prepare([copy for _, variable in grads_and_vars for copy in variable._every_copy])
        with name_scope(name or self._name):
            updates: list[Any] = []
            for grad, (_, variable) in zip(summed, grads_and_vars, strict=True):
                with name_scope(f"update_{node_name(variable)}"):
                    updates += extended.update(
                        variable, functools.partial(self._update, state=state), args=(grad,), group=False
                    )
            with control_dependencies(updates):
                return extended.update(self._iterations, lambda counter: counter.assign_add(1))

    def _counted(self, updates: list[Any]) -> Any:
        if executing_eagerly():
            return self._iterations.assign_add(1)
        with control_dependencies(updates):
            return self._iterations.assign_add(1).op

    def _update(self, variable: Any, grad: Any, state: ApplyState) -> Any:
        if isinstance(variable, Tensor):
            raise NotImplementedError("Trying to update a Tensor ", variable)
        constraint = getattr(variable, "constraint", None)
        if isinstance(grad, IndexedSlices):
            if constraint is not None:
                raise RuntimeError("Cannot use a constraint function on a sparse variable.")
            rows = self._resource_apply_sparse_duplicate_indices
            return rows(grad.values, variable, grad.indices, **_if_taken(self._resource_apply_sparse, state))
        update = self._resource_apply_dense(grad, variable, **_if_taken(self._resource_apply_dense, state))
        if constraint is None:
            return update
        with control_dependencies([update] if not executing_eagerly() else []):
            return variable.assign(constraint(variable))

    # --- what a subclass says -------------------------------------------------------------------------------------------

    def _create_slots(self, var_list: list[Any]) -> None:
        """Create the slots for these variables; none by default."""

    def _prepare(self, var_list: list[Any]) -> ApplyState:
        """What the updates need of the hyperparameters, for each device and type of the variables."""
        state: ApplyState = {}
        for place, dtype in dict.fromkeys((v.device, v.dtype.base_dtype) for v in var_list):
            state[place, dtype] = {}
            with device(place):
                self._prepare_local(place, dtype, state)
        return state

    def _prepare_local(self, var_device: str, var_dtype: Any, apply_state: ApplyState) -> None:
        """Put coefficients into `apply_state[var_device, var_dtype]`: here `lr_t`, the rate."""
        if "learning_rate" in self._hyper:
            apply_state[var_device, var_dtype]["lr_t"] = identity(self._decayed_lr(var_dtype))

    def _coefficients(self, var: Any, apply_state: ApplyState | None) -> Coefficients:
        """The coefficients for a variable; made now for one of a place that was not prepared, such as a copy's."""
        key = (var.device, var.dtype.base_dtype)
        if apply_state is not None and key in apply_state:
            return apply_state[key]
        own: ApplyState = {key: {}}
        self._prepare_local(*key, own)
        return own[key]

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: ApplyState | None = None) -> Any:
        """The op that updates `var` from a dense gradient. `apply_state` may be left out of the parameters."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it applies a dense gradient")

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any, apply_state: ApplyState | None = None) -> Any:
        """The op that updates the rows `indices` of `var`."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it applies a sparse gradient")

    def _resource_apply_sparse_duplicate_indices(self, grad: Any, var: Any, indices: Any, **kwargs: Any) -> Any:
        """As `_resource_apply_sparse`, for indices that may repeat: their rows are summed first."""
        rows, positions = unique(indices)
        summed = unsorted_segment_sum(grad, positions, array.shape(rows)[0])  # type: ignore[index]
        return self._resource_apply_sparse(summed, var, rows, **kwargs)

    def _resource_scatter_add(self, x: Any, i: Any, v: Any) -> Any:
        """Add rows to a variable; the value after that."""
        with control_dependencies([scatter.scatter_add_op.of_handle(x.handle, i, v)]):
            return x.value()

    def _resource_scatter_update(self, x: Any, i: Any, v: Any) -> Any:
        """Replace rows of a variable; the value after that."""
        with control_dependencies([scatter.scatter_update_op.of_handle(x.handle, i, v)]):
            return x.value()

    def _decayed_and_added(self, slot: Any, decay: Any, indices: Any, rows: Any) -> Any:
        """All of a slot decays, and rows are added to it; its value after that."""
        with control_dependencies([slot.assign(slot * decay)]):
            return self._resource_scatter_add(slot, indices, rows)

    def _assert_valid_dtypes(self, tensors: Iterable[Any]) -> None:
        valid = {dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64}
        for tensor in tensors:
            dtype = tensor.dtype.base_dtype
            if dtype not in valid and dtype is not dtypes.resource:
                raise ValueError(f"Invalid type {dtype!r} for {tensor.name}, expected: {sorted(valid, key=repr)}.")


def _with_gradients(grads_and_vars: Iterable[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """The pairs that have a gradient; a warning names the variables of the others."""
    pairs = list(grads_and_vars)
    found = [(g, v) for g, v in pairs if g is not None]
    missing = [v.name for g, v in pairs if g is None]
    if pairs and not found:
        raise ValueError(f"No gradients provided for any variable: {missing}.")
    if missing:
        get_logger().warning("Gradients do not exist for variables %s when minimizing the loss.", missing)
    return found


def _if_taken(method: Callable[..., Any], state: ApplyState) -> dict[str, Any]:
    parameters = inspect.signature(method).parameters
    return {"apply_state": state} if "apply_state" in parameters else {}
