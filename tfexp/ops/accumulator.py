"""`tf.ConditionalAccumulator` and its sparse kind: what programs hold of one. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.core.dtypes import DType, as_dtype
from tfexp.core.shape import TensorShape, as_shape
from tfexp.graph.convert import IndexedSlices, convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops.accumulator_ops import (
    accumulator_apply_gradient,
    accumulator_num_accumulated,
    accumulator_set_global_step,
    accumulator_take_gradient,
    conditional_accumulator,
    sparse_accumulator_apply_gradient,
    sparse_accumulator_take_gradient,
    sparse_conditional_accumulator,
)
from tfexp.ops.cast import cast
from tfexp.ops.handle_ops import Twins


class ConditionalAccumulatorBase:
    """Adds up gradients. Those whose local step is below the accumulator's global step are stale and dropped.

    Taking waits for enough gradients, hands out their mean (or sum), and makes the next global step.
    """

    def __init__(self, dtype: Any, shape: Any, accumulator_ref: Tensor):
        self._dtype = as_dtype(dtype)
        self._shape = _shape(shape)
        self._accumulator_ref = accumulator_ref
        self._name = accumulator_ref.op.name.rpartition("/")[2]

    @property
    def accumulator_ref(self) -> Tensor:
        """The accumulator's handle."""
        return self._accumulator_ref

    @property
    def name(self) -> str:
        return self._name

    @property
    def dtype(self) -> DType:
        return self._dtype

    def num_accumulated(self, name: str | None = None) -> Tensor:
        """How many gradients have been added up since the last take, an int32."""
        count: Tensor = self._on(accumulator_num_accumulated, name=name or f"{self._name}_NumAccumulated")
        return count

    def set_global_step(self, new_global_step: Any, name: str | None = None) -> Operation:
        """A node that sets the step below which gradients are stale."""
        step = _as_step(new_global_step)
        made: Operation = self._on(accumulator_set_global_step, step, name=name)
        return made

    def _on(self, op: Twins, *args: Any, **kwargs: Any) -> Any:
        """A node of the form that fits the handle."""
        form = op.newer if self._accumulator_ref.dtype == dtypes.resource else op.older
        return form(self._accumulator_ref, *args, **kwargs)


def _shape(shape: Any) -> TensorShape:
    return TensorShape(None) if shape is None else as_shape(shape)


def _as_step(step: Any) -> Tensor:
    return cast(convert_to_tensor(step), dtypes.int64)


class ConditionalAccumulator(ConditionalAccumulatorBase):
    """Of gradients that are tensors. `shape` may be partly unknown; `reduction_type` is MEAN or SUM (else ValueError).

    Those of one `shared_name` are one in all sessions of a server. Source: `tf.ConditionalAccumulator`.
    """

    def __init__(
        self,
        dtype: Any,
        shape: Any = None,
        shared_name: str | None = None,
        name: str = "conditional_accumulator",
        reduction_type: str = "MEAN",
    ):
        ref = conditional_accumulator(
            dtype=dtype, shape=_shape(shape), shared_name=shared_name or "", name=name, reduction_type=reduction_type
        )
        super().__init__(dtype, shape, ref)

    def apply_grad(self, grad: Any, local_step: Any = 0, name: str | None = None) -> Operation:
        """A node that adds a gradient of this type and shape (ValueError if it cannot have it), computed at `local_step`."""
        grad = convert_to_tensor(grad, self._dtype)
        grad.get_shape().assert_is_compatible_with(self._shape)
        made: Operation = self._on(accumulator_apply_gradient, _as_step(local_step), grad, name=name)
        return made

    def take_grad(self, num_required: Any, name: str | None = None) -> Tensor:
        """The mean (or sum) of all gradients once there are `num_required` (> 0) of them."""
        taken: Tensor = self._on(accumulator_take_gradient, num_required, dtype=self._dtype, name=name)
        taken.set_shape(self._shape)
        return taken


class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """Of gradients that are rows of a tensor of `shape`: int64 `indices` [n], values [n, ...].

    Each row's mean is that of the gradients that have it. Source: `tf.SparseConditionalAccumulator`.
    """

    def __init__(
        self,
        dtype: Any,
        shape: Any = None,
        shared_name: str | None = None,
        name: str = "sparse_conditional_accumulator",
        reduction_type: str = "MEAN",
    ):
        ref = sparse_conditional_accumulator(
            dtype=dtype, shape=_shape(shape), shared_name=shared_name or "", name=name, reduction_type=reduction_type
        )
        super().__init__(dtype, shape, ref)

    def apply_indexed_slices_grad(self, grad: IndexedSlices, local_step: Any = 0, name: str | None = None) -> Operation:
        """`apply_grad` of an IndexedSlices."""
        return self.apply_grad(grad.indices, grad.values, grad.dense_shape, local_step, name)

    def apply_grad(
        self, grad_indices: Any, grad_values: Any, grad_shape: Any = None, local_step: Any = 0, name: str | None = None
    ) -> Operation:
        """A node that adds the rows of a gradient; `grad_shape` [rank] is checked where it is given."""
        step = _as_step(local_step)
        made: Operation = sparse_accumulator_apply_gradient(
            self._accumulator_ref,
            step,
            cast(grad_indices, dtypes.int64),
            grad_values,
            cast([] if grad_shape is None else grad_shape, dtypes.int64),
            has_known_shape=grad_shape is not None,
            name=name,
        )
        return made

    def take_grad(self, num_required: Any, name: str | None = None) -> Any:
        """(indices, values, shape) of the result once there are `num_required` (> 0) gradients; -1 for unknown rows."""
        return sparse_accumulator_take_gradient(self._accumulator_ref, num_required, dtype=self._dtype, name=name)

    def take_indexed_slices_grad(self, num_required: Any, name: str | None = None) -> IndexedSlices:
        """`take_grad`, as an IndexedSlices."""
        taken = self.take_grad(num_required, name)
        return IndexedSlices(indices=taken.indices, values=taken.values, dense_shape=taken.shape)
