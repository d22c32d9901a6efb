"""RMSProp, plain and centered (Tieleman and Hinton 2012; Graves 2013). Source: `tf.train.RMSPropOptimizer`."""

from __future__ import annotations

from typing import Any

from tfexp.graph.convert import IndexedSlices, convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.ops import training
from tfexp.ops.cast import cast
from tfexp.ops.initializers import Ones, Zeros, ones_initializer
from tfexp.ops.update import Updates
from tfexp.train.optimizer import Optimizer, call_if_callable


class RMSPropOptimizer(Optimizer):
    """Steps divided by the running root mean square of the gradient (`centered`: of its deviation from its mean)."""

    _first_rms: type[Ones | Zeros] = ones_initializer
    """What the running mean of squares starts from."""

    def __init__(
        self,
        learning_rate: Any,
        decay: Any = 0.9,
        momentum: Any = 0.0,
        epsilon: Any = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ):
        super().__init__(use_locking, name)
        self._learning_rate, self._decay, self._momentum, self._epsilon = learning_rate, decay, momentum, epsilon
        self._centered = centered

    def _create_slots(self, var_list: list[Any]) -> None:
        for v in var_list:
            dtype = v.dtype.base_dtype
            initializer = self._first_rms(dtype=dtype)
            self._get_or_make_slot_with_initializer(v, initializer, v.get_shape(), dtype, "rms", self._name)
            if self._centered:
                self._zeros_slot(v, "mg", self._name)
            self._zeros_slot(v, "momentum", self._name)

    def _prepare(self) -> None:
        self._scalars = [
            convert_to_tensor(call_if_callable(self._learning_rate), name="learning_rate"),
            convert_to_tensor(call_if_callable(self._decay), name="decay"),
            convert_to_tensor(call_if_callable(self._momentum), name="momentum"),
            convert_to_tensor(call_if_callable(self._epsilon), name="epsilon"),
        ]

    def _updates(self) -> Updates:
        return training.centered_rms_prop if self._centered else training.rms_prop

    def _operands(self, var: Any) -> list[Any]:
        slots = ["mg", "rms", "momentum"] if self._centered else ["rms", "momentum"]
        scalars = [cast(scalar, var.dtype.base_dtype) for scalar in self._scalars]
        return [var, *(self.get_slot(var, slot) for slot in slots), *scalars]

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        return self._updates().dense.operation(*self._operands(var), grad, use_locking=self._use_locking)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        return self._updates().sparse(*self._operands(var), grad.values, grad.indices, use_locking=self._use_locking)
