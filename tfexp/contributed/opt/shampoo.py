"""Preconditioners for each dimension of a tensor (Gupta, Koren and Singer 2018). Source: `tf.contrib.opt`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.graph.control_flow import cond
from tfexp.graph.tensor import Tensor
from tfexp.ops import state
from tfexp.ops.array import shape as shape_
from tfexp.ops.array_fill import zeros_like
from tfexp.ops.array_gather import gather, scatter_nd
from tfexp.ops.array_mask import where
from tfexp.ops.array_order import transpose
from tfexp.ops.cast import cast
from tfexp.ops.diagonal import eye
from tfexp.ops.elementwise_binary import maximum
from tfexp.ops.elementwise_division import floormod
from tfexp.ops.linalg import self_adjoint_eig
from tfexp.ops.matmul import matmul
from tfexp.ops.reduce import reduce_sum
from tfexp.ops.scatter import scatter_add, scatter_sub
from tfexp.ops.tensor_products import tensordot
from tfexp.train.optimizer import Optimizer


class ShampooOptimizer(Optimizer):
    """w -= learning_rate * G_1^(-alpha / n) ... G_n^(-alpha / n) gbar, each matrix applied to its dimension of n.

    gbar = gbar_decay * gbar + gbar_weight * g, and G_i = mat_gbar_decay * G_i + mat_gbar_weight * g_i g_iᵀ of the gradient
    as a matrix [d_i, the rest]; of G_i / d_i + epsilon the power is taken. For sizes over `max_matrix_size` G_i is the
    diagonal, without epsilon. precond_update_interval, svd_interval: after how many steps the matrices and their powers
    are made anew. Each number may be a function of the step, a float32 scalar: `global_step` + 1. use_iterative_root is
    not used: powers are by eigenvalues. A sparse gradient of a large first dimension moves its rows alone.
    """

    def __init__(
        self,
        global_step: Any = 0,
        max_matrix_size: int = 768,
        gbar_decay: Any = 0.0,
        gbar_weight: Any = 1.0,
        mat_gbar_decay: Any = 1.0,
        mat_gbar_weight: Any = 1.0,
        learning_rate: Any = 1.0,
        svd_interval: Any = 1,
        precond_update_interval: Any = 1,
        epsilon: float = 1e-4,
        alpha: Any = 0.5,
        use_iterative_root: bool = False,
        use_locking: bool = False,
        name: str = "Shampoo",
    ):
        super().__init__(use_locking, name)
        self._step: Any = cast(global_step, dtypes.float32)
        self._largest, self._epsilon = max_matrix_size, epsilon
        self._mean_decay, self._mean_weight = gbar_decay, gbar_weight
        self._decay, self._weight = mat_gbar_decay, mat_gbar_weight
        self._rate, self._alpha = learning_rate, alpha
        self._root_interval, self._interval = svd_interval, precond_update_interval

    def _now(self, given: Any) -> Any:
        return given(self._step + 1) if callable(given) else given

    def _keeps_roots(self) -> bool:
        return callable(self._root_interval) or self._root_interval > 1

    def _create_slots(self, var_list: list[Any]) -> None:
        for v in var_list:
            self._zeros_slot(v, "gbar", self._name)
            for i, size in enumerate(v.get_shape().as_list()):
                whole = size <= self._largest
                identity = eye(size, dtype=v.dtype.base_dtype)
                if whole and self._keeps_roots():
                    self._get_or_make_slot(v, identity, f"H_{i}", self._name)
                start = zeros_like(identity if whole else identity[0])  # type: ignore[index]
                self._get_or_make_slot(v, start, f"Gbar_{i}", self._name)

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        mean = self._averaged(self.get_slot(var, "gbar"), self._mean_decay, self._now(self._mean_weight) * grad)
        return state.assign_sub(var, self._now(self._rate) * self._conditioned(mean, grad, var))

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._resource_apply_sparse(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        momentum = callable(self._mean_decay) or self._mean_decay != 0.0
        if handle.get_shape()[0].value <= self._largest or momentum:
            dense = scatter_nd(indices[:, None], grad, shape_(handle, out_type=indices.dtype))
            return self._apply_dense(dense, handle)
        return scatter_sub(handle, indices, self._now(self._rate) * self._conditioned(grad, grad, handle, indices))

    def _averaged(self, slot: Any, decay: Any, new: Any) -> Any:
        """The slot after decay * slot + new; where nothing is kept, it stays as it is."""
        if not callable(decay) and decay == 0.0:
            return new
        if not callable(decay) and decay == 1.0:
            return state.assign_add(slot, new)
        return state.assign_add(slot, (self._now(decay) - 1) * slot + new)

    def _conditioned(self, direction: Any, grad: Any, var: Any, indices: Any = None) -> Any:
        """The direction by all preconditioners. Each is applied to the first dimension, which then is the last."""
        sizes = var.get_shape().as_list()
        power = -self._now(self._alpha) / len(sizes)
        for i, size in enumerate(sizes):
            others = [j for j in range(len(sizes)) if j != i]
            slot = self.get_slot(var, f"Gbar_{i}")
            if size <= self._largest:
                direction = tensordot(direction, self._root(var, slot, i, size, grad, others, power), [[0], [0]])
            else:
                scale = self._diagonal_power(slot, i, size, grad, others, power, indices)
                direction = transpose(direction, [*range(1, len(sizes)), 0]) * scale
        return direction

    def _root(self, var: Any, slot: Any, i: int, size: int, grad: Any, others: list[int], power: Any) -> Any:
        interval = self._now(self._interval)
        weight = self._now(self._weight) * interval

        def outer() -> Any:
            return self._averaged(slot, self._decay, weight * tensordot(grad, grad, [others, others]))

        if callable(self._interval) or self._interval > 1:
            matrix: Any = cond(self._is_time(interval), outer, slot.read_value)
        else:
            matrix = outer()
        matrix = matrix / float(size)
        if not self._keeps_roots():
            return self._power(matrix, size, power)
        kept = self.get_slot(var, f"H_{i}")
        return cond(
            self._is_time(self._now(self._root_interval)),
            lambda: state.assign(kept, self._power(matrix, size, power)),
            kept.read_value,
        )

    def _is_time(self, interval: Any) -> Any:
        return floormod(self._step + 1, cast(interval, dtypes.float32)) < 1

    def _power(self, matrix: Any, size: int, power: Any) -> Any:
        """Of a symmetric matrix, damped."""
        values, vectors = self_adjoint_eig(matrix + self._epsilon * eye(size, dtype=matrix.dtype))
        return matmul(vectors * maximum(values, self._epsilon) ** power, vectors, transpose_b=True)

    def _diagonal_power(self, slot: Any, i: int, size: int, grad: Any, others: list[int], power: Any, indices: Any) -> Any:
        """Of the diagonal, of what is positive; of the rows `indices`, where the gradient has these alone."""
        squares: Any = reduce_sum(grad * grad, others) if others else grad * grad
        if others and indices is None:
            squares = squares / float(size)
        squares = self._now(self._weight) * squares
        if i == 0 and indices is not None:
            diagonal: Any = gather(scatter_add(slot, indices, squares), indices)
        else:
            diagonal = self._averaged(slot, self._decay, squares)
        return where(diagonal > 0, diagonal**power, zeros_like(diagonal))
