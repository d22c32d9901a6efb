"""Adagrad, plain and proximal. Source: `tf.train.AdagradOptimizer`, `tf.train.ProximalAdagradOptimizer`."""

from __future__ import annotations

from typing import Any

from tfexp.graph.convert import IndexedSlices, constant, convert_to_tensor
from tfexp.graph.scopes import colocate_with, device
from tfexp.graph.tensor import Tensor
from tfexp.ops import training
from tfexp.ops.array import shape as shape_of
from tfexp.ops.array_fill import fill
from tfexp.ops.array_identity import identity
from tfexp.ops.cast import cast
from tfexp.ops.initializers import constant_initializer
from tfexp.train.optimizer import Optimizer, call_if_callable


class AdagradOptimizer(Optimizer):
    """accum += grad ** 2; var -= learning_rate * grad / sqrt(accum) (Duchi et al. 2011)."""

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "Adagrad",
    ):
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value

    def _create_slots(self, var_list: list[Any]) -> None:
        for v in var_list:
            dtype, shape = v.dtype.base_dtype, v.get_shape()
            if shape.is_fully_defined():
                initializer = constant_initializer(self._initial_accumulator_value, dtype=dtype)
                self._get_or_make_slot_with_initializer(v, initializer, shape, dtype, "accumulator", self._name)
            else:
                initial = fill(shape_of(v), cast(self._initial_accumulator_value, dtype))
                self._get_or_make_slot(v, initial, "accumulator", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = convert_to_tensor(call_if_callable(self._learning_rate), name="learning_rate")

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        rate = cast(self._learning_rate_tensor, var.dtype.base_dtype)
        slot = self.get_slot(var, "accumulator")
        return training.adagrad.dense(var, slot, rate, grad, use_locking=self._use_locking)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        rate = cast(self._learning_rate_tensor, var.dtype.base_dtype)
        slot = self.get_slot(var, "accumulator")
        return training.adagrad.sparse(var, slot, rate, grad.values, grad.indices, use_locking=self._use_locking)


class ProximalAdagradOptimizer(Optimizer):
    """Adagrad, then the proximal operator of the l1 and l2 penalties at each weight's own rate."""

    def __init__(
        self,
        learning_rate: float,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalAdagrad",
    ):
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def _create_slots(self, var_list: list[Any]) -> None:
        for v in var_list:
            with colocate_with(v):
                initial = constant(self._initial_accumulator_value, shape=v.get_shape(), dtype=v.dtype.base_dtype)
            self._get_or_make_slot(v, initial, "accumulator", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = convert_to_tensor(call_if_callable(self._learning_rate), name="learning_rate")
        self._l1_tensor = convert_to_tensor(self._l1, name="l1_regularization_strength")
        self._l2_tensor = convert_to_tensor(self._l2, name="l2_regularization_strength")

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        slot = self.get_slot(var, "accumulator")
        return training.proximal_adagrad.dense(
            var, slot, self._learning_rate_tensor, self._l1_tensor, self._l2_tensor, grad, use_locking=self._use_locking
        )

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        slot, given = self.get_slot(var, "accumulator"), (self._learning_rate_tensor, self._l1_tensor, self._l2_tensor)
        scalars = [cast(scalar, grad.dtype) for scalar in given]
        return training.proximal_adagrad.sparse(
            var, slot, *scalars, grad.values, grad.indices, use_locking=self._use_locking
        )


class AdagradDAOptimizer(Optimizer):
    """Adagrad with dual averaging: weights follow from the sums of all gradients so far, so that l1 makes them sparse.

    `global_step` counts the steps that the sums cover; `minimize` must be given the same variable.
    """

    def __init__(
        self,
        learning_rate: Any,
        global_step: Any,
        initial_gradient_squared_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "AdagradDA",
    ):
        if initial_gradient_squared_accumulator_value <= 0.0:
            raise ValueError(
                f"initial_gradient_squared_accumulator_value must be positive: {initial_gradient_squared_accumulator_value}"
            )
        super().__init__(use_locking, name)
        self._learning_rate, self._global_step = learning_rate, global_step
        self._initial_square = initial_gradient_squared_accumulator_value
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def _create_slots(self, var_list: list[Any]) -> None:
        for v in var_list:
            dtype, shape = v.dtype.base_dtype, v.get_shape()
            with colocate_with(v):
                total = constant(0.0, shape=shape, dtype=dtype)
                squares = constant(self._initial_square, shape=shape, dtype=dtype)
            self._get_or_make_slot(v, total, "gradient_accumulator", self._name)
            self._get_or_make_slot(v, squares, "gradient_squared_accumulator", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = convert_to_tensor(self._learning_rate, name="learning_rate")
        with colocate_with(self._learning_rate_tensor):
            # The step that is being taken: the variable still holds the number of those before it.
            self._step_on_worker = identity(self._global_step) + 1

    def _operands(self, var: Any) -> list[Any]:
        return [var, self.get_slot(var, "gradient_accumulator"), self.get_slot(var, "gradient_squared_accumulator")]

    def _hyperparameters(self, var: Any) -> list[Any]:
        with device(var.device):
            step = identity(self._step_on_worker)
        return [cast(scalar, var.dtype.base_dtype) for scalar in (self._learning_rate_tensor, self._l1, self._l2)] + [step]

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        return training.adagrad_da.dense(
            *self._operands(var), grad, *self._hyperparameters(var), use_locking=self._use_locking
        )

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        return training.adagrad_da.sparse(
            *self._operands(var), grad.values, grad.indices, *self._hyperparameters(var), use_locking=self._use_locking
        )
