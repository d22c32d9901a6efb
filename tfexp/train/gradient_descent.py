"""Gradient descent, plain and proximal. Source: `tf.train.GradientDescentOptimizer`, `ProximalGradientDescentOptimizer`."""

from __future__ import annotations

from typing import Any

from tfexp.graph.convert import IndexedSlices, convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.ops import scatter, training
from tfexp.ops.cast import cast
from tfexp.ops.resource_variables import is_resource_variable
from tfexp.train.optimizer import Optimizer, call_if_callable


class GradientDescentOptimizer(Optimizer):
    """var -= learning_rate * grad."""

    def __init__(self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent"):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._learning_rate_tensor: Any = None

    def _prepare(self) -> None:
        self._learning_rate_tensor = convert_to_tensor(call_if_callable(self._learning_rate), name="learning_rate")

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        rate = cast(self._learning_rate_tensor, var.dtype.base_dtype)
        return training.apply_gradient_descent.operation(var, rate, grad, use_locking=self._use_locking)

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Any) -> Any:
        # Subtracting row by row needs no unique indices.
        rate = cast(self._learning_rate_tensor, var.dtype.base_dtype)
        if is_resource_variable(var):
            return scatter.scatter_add_op.of_handle(var.handle, grad.indices, -grad.values * rate)
        values = grad.values * rate
        return var.scatter_sub(IndexedSlices(values, grad.indices, grad.dense_shape), use_locking=self._use_locking)


class ProximalGradientDescentOptimizer(Optimizer):
    """Gradient descent, then the proximal operator of the l1 and l2 penalties (FOBOS, Duchi and Singer 2009)."""

    def __init__(
        self,
        learning_rate: float,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalGradientDescent",
    ):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def _prepare(self) -> None:
        self._learning_rate_tensor = convert_to_tensor(call_if_callable(self._learning_rate), name="learning_rate")
        self._l1_tensor = convert_to_tensor(self._l1, name="l1_regularization_strength")
        self._l2_tensor = convert_to_tensor(self._l2, name="l2_regularization_strength")

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        return training.apply_proximal_gradient_descent.operation(
            var, self._learning_rate_tensor, self._l1_tensor, self._l2_tensor, grad, use_locking=self._use_locking
        )

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        given = self._learning_rate_tensor, self._l1_tensor, self._l2_tensor
        scalars = [cast(scalar, grad.dtype) for scalar in given]
        return training.sparse_apply_proximal_gradient_descent.operation(
            var, *scalars, grad.values, grad.indices, use_locking=self._use_locking
        )
