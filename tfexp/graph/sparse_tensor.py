"""Sparse tensors: three dense tensors that say which elements differ from the rest. Source: `tf.SparseTensor`, TF 1.15."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from tfexp.core import dtypes
from tfexp.core.dtypes import DType, as_dtype
from tfexp.core.shape import TensorShape
from tfexp.graph.constant_value import constant_value
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import name_scope
from tfexp.graph.shape_inference import static_value_as_shape
from tfexp.graph.tensor import Tensor

# Of these, besides constants, TensorFlow reads sizes while a graph is built.
_SHAPE_OPS = ("Shape", "Pack", "ConcatV2", "StridedSlice")

SparseTensorValue = namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])


class SparseTensor:
    """`values[i]` is the element at `indices[i]` of a tensor of shape `dense_shape`; the other elements are 0 or absent.

    indices: [n, rank] int64, values: [n] of any dtype, dense_shape: [rank] int64. Most ops want the indices in row-major
    order (`tf.sparse_reorder`). ValueError where the static shapes contradict each other.
    """

    def __init__(self, indices: Any, values: Any, dense_shape: Any):
        with name_scope(None, "SparseTensor", [indices, values, dense_shape]):
            self._indices = convert_to_tensor(indices, name="indices", dtype=dtypes.int64)
            self._values = convert_to_tensor(values, name="values")
            self._dense_shape = convert_to_tensor(dense_shape, name="dense_shape", dtype=dtypes.int64)
        rows = self._indices.get_shape().with_rank(2)
        elements = self._values.get_shape().with_rank(1)
        dims = self._dense_shape.get_shape().with_rank(1)
        rows[0].merge_with(elements[0])
        rows[1].merge_with(dims[0])

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """The SparseTensor of a SparseTensorValue; a SparseTensor's parts are taken over. TypeError for others."""
        if not isinstance(sparse_tensor_value, (SparseTensor, SparseTensorValue)):
            raise TypeError(f"Neither a SparseTensor nor SparseTensorValue: {sparse_tensor_value}.")
        return cls(sparse_tensor_value.indices, sparse_tensor_value.values, sparse_tensor_value.dense_shape)

    @property
    def indices(self) -> Tensor:
        return self._indices

    @property
    def values(self) -> Tensor:
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        return self._dense_shape

    @property
    def parts(self) -> list[Tensor]:
        """The three tensors, in the order in which ops take them."""
        return [self._indices, self._values, self._dense_shape]

    @property
    def shape(self) -> TensorShape:
        """What is known of the dense shape before running."""
        tensor = self._dense_shape
        if tensor.op.type == "PlaceholderWithDefault":
            tensor = tensor.op.inputs[0]
        if constant_value(tensor) is None and tensor.op.type not in _SHAPE_OPS:
            return TensorShape([None] * rank) if (rank := tensor.get_shape()[0].value) is not None else TensorShape(None)
        return static_value_as_shape(tensor)

    def get_shape(self) -> TensorShape:
        return self.shape

    @property
    def dtype(self) -> DType:
        return self._values.dtype

    @property
    def op(self) -> Operation:
        return self._values.op

    @property
    def graph(self) -> Any:
        return self._indices.graph

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """The SparseTensorValue that the default session (or `session`) computes; ValueError when there is none."""
        from tfexp.graph.defaults import get_default_session

        session = session or get_default_session()
        if session is None:
            raise ValueError("Cannot evaluate a SparseTensor: no default session, and none given.")
        indices, values, dense_shape = session.run(self.parts, feed_dict)
        return SparseTensorValue(indices, values, dense_shape)

    def __str__(self) -> str:
        return f"SparseTensor(indices={self._indices}, values={self._values}, dense_shape={self._dense_shape})"


def is_sparse(x: Any) -> bool:
    """Whether `x` is a SparseTensor or a SparseTensorValue."""
    return isinstance(x, (SparseTensor, SparseTensorValue))


def as_sparse_tensor(x: Any) -> SparseTensor:
    """A SparseTensor, of a SparseTensorValue too; TypeError for anything else."""
    if isinstance(x, SparseTensorValue):
        return SparseTensor.from_value(x)
    if not isinstance(x, SparseTensor):
        raise TypeError("Input must be a SparseTensor.")
    return x


def convert_to_tensor_or_sparse_tensor(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """`value` as a SparseTensor where it is sparse, else as a Tensor. `tf.convert_to_tensor_or_sparse_tensor`.

    RuntimeError when a sparse value has another dtype than `dtype`.
    """
    if isinstance(value, SparseTensorValue):
        value = SparseTensor.from_value(value)
    if not isinstance(value, SparseTensor):
        return convert_to_tensor(value, dtype=dtype, name=name)
    if dtype is not None and not as_dtype(dtype).is_compatible_with(value.dtype):
        raise RuntimeError(f"Sparse dtype: requested = {as_dtype(dtype).name}, actual = {value.dtype.name}")
    return value
