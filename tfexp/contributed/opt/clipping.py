"""Norms held down: of variables after each step, and of gradients before it; and steps without a gradient left out.

Source: `tf.contrib.opt.{VariableClippingOptimizer,MultitaskOptimizerWrapper,clip_gradients_by_global_norm}` and
`tf.contrib.estimator.clip_gradients_by_norm`, TF 1.15.
"""

from __future__ import annotations

import contextlib
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tfexp.contributed.opt.wrapper import OptimizerWrapper
from tfexp.graph.control_flow import cond
from tfexp.graph.convert import IndexedSlices
from tfexp.graph.dependencies import group, no_op
from tfexp.graph.scopes import colocate_with, control_dependencies, name_scope
from tfexp.ops import state
from tfexp.ops.array_gather import gather
from tfexp.ops.clip import clip_by_global_norm, clip_by_norm, values_of
from tfexp.ops.comparison import equal
from tfexp.ops.reduce import reduce_all
from tfexp.ops.scatter import scatter_update
from tfexp.train.optimizer import Optimizer


class VariableClippingOptimizer(OptimizerWrapper):
    """After each step of `opt`, clips the norms of variables: `vars_to_clip_dims` says over which dimensions of which.

    For a matrix, [0] clips each column's norm to `max_norm`, [1] each row's. After a sparse gradient only the rows that had
    one are clipped, unless dimension 0 is among those. colocate_clip_ops_with_vars: clip where the variables are.
    """

    def __init__(
        self,
        opt: Optimizer,
        vars_to_clip_dims: Mapping[Any, Sequence[int]],
        max_norm: float,
        use_locking: bool = False,
        colocate_clip_ops_with_vars: bool = False,
        name: str = "VariableClipping",
    ):
        super().__init__(opt, use_locking, name)
        for variable, dims in vars_to_clip_dims.items():
            rank = variable.get_shape().ndims
            if any(not 0 <= dim < rank for dim in dims):
                raise ValueError(
                    f"Dims contains an invalid dimension: {list(dims)} of {variable.name}, of shape {variable.get_shape()}"
                )
        # Tensors and variables compare by value in some modes: their names are what they go by.
        self._dims = {variable.op.name: list(dims) for variable, dims in vars_to_clip_dims.items()}
        self._max_norm, self._colocates = max_norm, colocate_clip_ops_with_vars

    def apply_gradients(self, grads_and_vars: Iterable[Any], global_step: Any = None, name: str | None = None) -> Any:
        """The op that takes the step of `opt` and then clips."""
        with name_scope(self._name) as scope:
            pairs = list(grads_and_vars)
            step = self._opt.apply_gradients(pairs, global_step=global_step)
            clipped = [step]
            with control_dependencies([step]):
                for grad, variable in pairs:
                    if grad is None or variable.op.name not in self._dims:
                        continue
                    with colocate_with(variable) if self._colocates else contextlib.nullcontext():
                        clipped.append(self._clipped(grad, variable, self._dims[variable.op.name]))
            return group(*clipped, name=scope)

    def _clipped(self, grad: Any, variable: Any, dims: list[int]) -> Any:
        if not isinstance(grad, IndexedSlices) or 0 in dims:
            value = clip_by_norm(variable.read_value(), self._max_norm, dims)
            return state.assign(variable, value, use_locking=self._use_locking)
        rows = clip_by_norm(gather(variable, grad.indices), self._max_norm, dims)
        return scatter_update(variable, grad.indices, rows, use_locking=self._use_locking)


class MultitaskOptimizerWrapper:
    """An optimizer that does nothing to a variable whose gradient is zero throughout: not to its moments, either.

    So momentum of one task does not move what belongs to another, whose loss was not part of a step.
    """

    def __init__(self, opt: Optimizer):
        if not isinstance(opt, Optimizer):
            raise TypeError(f"Supplied optimizer must be an instance of tf.train.Optimizer: {opt!r}")
        self._opt = opt
        updates = ("_apply_dense", "_apply_sparse_duplicate_indices")
        for method in (*updates, *(f"_resource{update}" for update in updates)):
            setattr(opt, method, types.MethodType(_unless_zero(getattr(opt, method)), opt))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._opt, name)


def _unless_zero(update: Callable[..., Any]) -> Callable[..., Any]:
    def guarded(self: Optimizer, grad: Any, *of: Any) -> Any:
        values = values_of(grad)

        def updated() -> Any:
            return group(update(grad, *of))

        return cond(reduce_all(equal(values, 0)), no_op, updated).op

    return guarded


def clip_gradients_by_global_norm(
    gradients_variables: Iterable[Any], clip_norm: float = 20.0
) -> tuple[tuple[Any, Any], ...]:
    """((gradient, variable), …) with the gradients scaled so that their norm, all together, is at most `clip_norm`."""
    gradients, variables = zip(*gradients_variables, strict=True)
    clipped, _ = clip_by_global_norm(list(gradients), clip_norm)
    return tuple(zip(clipped, variables, strict=True))


class _ClippingGradients(OptimizerWrapper):
    def __init__(self, opt: Optimizer, norm: Any):
        super().__init__(opt, False, f"ClipByNorm{opt.get_name()}")
        self._norm = norm

    def apply_gradients(self, grads_and_vars: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
        return self._opt.apply_gradients(clip_gradients_by_global_norm(grads_and_vars, self._norm), *args, **kwargs)


def clip_gradients_by_norm(optimizer: Optimizer, clip_norm: Any) -> Optimizer:
    """An optimizer of gradients that are scaled so that their norm, all together, is at most `clip_norm`."""
    return _ClippingGradients(optimizer, clip_norm)
