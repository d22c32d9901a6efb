"""Steps scaled by the covariance of the last gradients (Agarwal et al. 2018). Source: `tf.contrib.opt`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.graph.dependencies import group
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.ops import state
from tfexp.ops.array import expand_dims, reshape
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_fill import zeros, zeros_like
from tfexp.ops.array_mask import where
from tfexp.ops.array_order import transpose
from tfexp.ops.cast import cast
from tfexp.ops.diagonal import eye
from tfexp.ops.elementwise_binary import minimum
from tfexp.ops.elementwise_division import floormod
from tfexp.ops.elementwise_unary import sqrt
from tfexp.ops.linalg import svd
from tfexp.ops.matmul import matmul
from tfexp.ops.reduce import reduce_min
from tfexp.ops.scatter import scatter_update
from tfexp.ops.variable_base import graph_of
from tfexp.train.optimizer import Optimizer


class GGTOptimizer(Optimizer):
    """w -= learning_rate * (M Mᵀ)^(-1/2) m, where M has the last `window` moments m of the gradient of all variables.

    m = beta1 * m + (1 - beta1) * gradient. By Mᵀ M = U diag(s) Uᵀ, with svd_eps on its diagonal, the root's inverse is
    M U diag((√s + sigma_eps)^-3) Uᵀ Mᵀ; where the least √s is above `eps`, what no moment spans is divided by that.
    NotImplementedError for sparse gradients. Variables are of one type, in the order of their names in the moments.
    """

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta1: float = 0.9,
        use_locking: bool = False,
        name: str = "GGT",
        window: int = 10,
        eps: float = 1e-4,
        svd_eps: float = 1e-6,
        sigma_eps: float = 1e-2,
    ):
        super().__init__(use_locking, name)
        self._rate, self._beta, self._window = learning_rate, beta1, window
        self._eps, self._svd_eps, self._sigma_eps = eps, svd_eps, sigma_eps
        self._places: dict[str, tuple[int, int]] = {}
        self._moved: list[Any] = []

    def _create_slots(self, var_list: list[Any]) -> None:
        dtype, end = var_list[0].dtype.base_dtype, 0
        for var in sorted(var_list, key=lambda v: v.name):
            begin, end = end, end + var.get_shape().num_elements()
            self._places[var.name] = begin, end
        first = min(var_list, key=lambda v: v.name)
        self._create_non_slot_variable(zeros([], dtype), "global_step", first)
        self._create_non_slot_variable(zeros([self._window, end], dtype), "grad_buffer", first)
        self._create_non_slot_variable(zeros([end], dtype), "moment1", first)
        self._create_non_slot_variable(zeros([end], dtype), "flat_grad", first)

    def _prepare(self) -> None:
        self._moved = []

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        self._moved.append(var)
        at = range_(*self._places[var.name])
        return scatter_update(self._kept("flat_grad"), at, reshape(grad, [-1]))

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        raise NotImplementedError("Sparse gradient updates are not supported.")

    def _kept(self, name: str) -> Any:
        return self._get_non_slot_variable(name, graph_of(self._moved[0]))

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        with control_dependencies(update_ops):
            step = self._step()
        moves = []
        for var in self._moved:
            begin, end = self._places[var.name]
            moves.append(state.assign_sub(var, reshape(step[begin:end], var.get_shape())))
        return group(*moves, name=name_scope)

    def _step(self) -> Any:
        """What all variables move by, [elements, 1]."""
        moment = self._kept("moment1")
        moment = state.assign(moment, self._beta * moment + (1 - self._beta) * self._kept("flat_grad").read_value())
        count = state.assign_add(self._kept("global_step"), 1)
        row = floormod(cast(count - 1, dtypes.int32), self._window)
        buffer = scatter_update(self._kept("grad_buffer"), row, moment)
        moments = transpose(buffer / sqrt(minimum(count, float(self._window))))
        damping = self._svd_eps * eye(self._window, dtype=moments.dtype)
        values, vectors, _ = svd(matmul(moments, moments, transpose_a=True) + damping)
        roots = sqrt(values)
        least = reduce_min(roots)
        span, along = matmul(moments, vectors), expand_dims(moment, -1)
        seen = matmul(span, along, transpose_a=True)
        inside = matmul(span, seen / expand_dims(roots + self._sigma_eps, -1) ** 3)
        outside = (along - matmul(span, seen / expand_dims(values, -1))) / least
        return self._rate * (inside + where(least > self._eps, outside, zeros_like(outside)))
