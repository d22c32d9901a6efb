"""`tf.SparseTensor`: three tensors that stand for one which is mostly zeros. Source: TF 1.15."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.nest import Composite
from tfexp.core.shape import TensorShape
from tfexp.graph.constant_value import constant_value
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import name_scope
from tfexp.graph.shape_inference import static_value_as_shape
from tfexp.graph.tensor import Tensor

# Of what these make, besides constants, TensorFlow knows sizes while a graph is built.
_SHAPE_OPS = ("Shape", "Pack", "ConcatV2", "StridedSlice")

# Ops that are applied to the values alone, as in 1.15.
_OF_VALUES = frozenset(["Abs", "Neg", "Sign", "Square", "Sqrt", "Tanh", "Erf"])

# What fetching a SparseTensor gives, and feeding one takes: NumPy arrays.
SparseTensorValue = namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])


class SparseTensor(Composite):
    """`indices` (int64, [n, rank]) are the places of `values` ([n]) in a tensor of `dense_shape` (int64, [rank]).

    Raises ValueError when the three shapes do not agree.
    """

    def __init__(self, indices: Any, values: Any, dense_shape: Any):
        with name_scope(None, "SparseTensor", [indices, values, dense_shape]):
            self._indices = convert_to_tensor(indices, name="indices", dtype=dtypes.int64)
            self._values = convert_to_tensor(values, name="values")
            self._dense_shape = convert_to_tensor(dense_shape, name="dense_shape", dtype=dtypes.int64)
        places, count, rank = (t.shape for t in (self._indices, self._values, self._dense_shape))
        places, count, rank = places.with_rank(2), count.with_rank(1), rank.with_rank(1)
        places[0].assert_is_compatible_with(count[0])
        places[1].assert_is_compatible_with(rank[0])
        self._declared = TensorShape(None)

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """A SparseTensor of a SparseTensorValue (or of a SparseTensor). TypeError for anything else."""
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
    def parts(self) -> tuple[Tensor, ...]:
        """The three tensors, in the order in which ops take them."""
        return self._indices, self._values, self._dense_shape

    def with_parts(self, parts: Sequence[Tensor]) -> SparseTensor:
        return SparseTensor(*parts)

    def fetched(self, values: Sequence[Any]) -> SparseTensorValue:
        return SparseTensorValue(*values)

    def fed(self, value: Any) -> Sequence[Any]:
        return tuple(value)

    def of_values(self, name: str, function: Callable[..., Any], node_name: str | None) -> Any:
        if name not in _OF_VALUES:
            return NotImplemented
        return self.with_parts([self.indices, function(self.values, name=node_name), self.dense_shape])

    @property
    def op(self) -> Operation:
        """The operation that makes the values."""
        return self._values.op

    @property
    def dtype(self) -> DType:
        return self._values.dtype

    @property
    def graph(self) -> Graph:
        return self._indices.graph

    @property
    def shape(self) -> TensorShape:
        """What is known of the dense shape."""
        tensor = self._dense_shape
        if constant_value(tensor) is not None or tensor._op.type in _SHAPE_OPS:
            return self._declared.merge_with(static_value_as_shape(tensor))
        rank = tensor.shape.with_rank(1)[0].value
        return self._declared.merge_with(TensorShape(None if rank is None else [None] * rank))

    def set_shape(self, shape: Any) -> None:
        """Say more about the dense shape. ValueError when that cannot be."""
        self._declared = self.shape.merge_with(shape)

    def get_shape(self) -> TensorShape:
        return self.shape

    def consumers(self) -> list[Operation]:
        """The operations that read the values."""
        return self._values.consumers()

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """The SparseTensorValue of one run in `session` (None: the default one)."""
        return self.graph._session_for(session, "evaluate tensor", "eval").run(self, feed_dict)

    def __repr__(self) -> str:
        return f"SparseTensor(indices={self._indices!s}, values={self._values!s}, dense_shape={self._dense_shape!s})"

    __str__ = __repr__


def is_sparse(x: Any) -> bool:
    """Whether `x` is a SparseTensor or a SparseTensorValue."""
    return isinstance(x, (SparseTensor, SparseTensorValue))


def as_sparse_tensor(x: Any) -> SparseTensor:
    """A SparseTensor, of a SparseTensorValue too. TypeError for anything else."""
    if isinstance(x, SparseTensorValue):
        return SparseTensor.from_value(x)
    if not isinstance(x, SparseTensor):
        raise TypeError("Input must be a SparseTensor.")
    return x


def convert_to_tensor_or_sparse_tensor(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A SparseTensor as it is, or of a SparseTensorValue; anything else as a tensor.

    RuntimeError when a SparseTensor has another dtype than `dtype`. `tf.convert_to_tensor_or_sparse_tensor`.
    """
    if isinstance(value, SparseTensorValue):
        value = SparseTensor.from_value(value)
    if isinstance(value, SparseTensor):
        if dtype is not None and dtypes.as_dtype(dtype) != value.dtype:
            raise RuntimeError(
                f"Sparse dtype mismatch. Requested: {dtypes.as_dtype(dtype).name},  Actual: {value.dtype.name}"
            )
        return value
    return convert_to_tensor(value, dtype=dtype, name=name)
