"""What feature columns have in common: how they read the features of a batch, once each. TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.sparse_tensor import SparseTensor, is_sparse
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import expand_dims, shape
from tfexp.ops.array_gather import gather_nd
from tfexp.ops.array_mask import where
from tfexp.ops.cast import cast
from tfexp.ops.comparison import not_equal


class Features:
    """The features of a batch by name, and what columns made of them: each column is computed once.

    ValueError for a name that is not there, or a feature without a batch dimension.
    """

    def __init__(self, features: Mapping[Any, Any]):
        self._given = features
        self._made: dict[Any, Any] = {}

    def get(self, key: Any) -> Any:
        """A tensor or SparseTensor by name, or what a column makes."""
        if key not in self._made:
            self._made[key] = self._read(key) if isinstance(key, str) else key.transformed(self)
        return self._made[key]

    def _read(self, key: str) -> Any:
        if key not in self._given:
            raise ValueError(f"Feature {key} is not in features dictionary.")
        value = self._given[key]
        if is_sparse(value):
            return SparseTensor.from_value(value)
        tensor = convert_to_tensor(value)
        if tensor.shape.ndims == 0:
            raise ValueError(f"Feature (key: {key}) cannot have rank 0. Given: {tensor}")
        return expand_dims(tensor, -1) if tensor.shape.ndims == 1 else tensor

    def sparse(self, key: str, ignored: Any = None) -> SparseTensor:
        """A feature as a SparseTensor; of a dense one without the elements that are `ignored` ("" or -1 by default)."""
        value = self.get(key)
        if is_sparse(value):
            return value  # type: ignore[no-any-return]
        return dense_to_sparse(value, ignored)


def dense_to_sparse(value: Tensor, ignored: Any = None) -> SparseTensor:
    if ignored is None:
        ignored = "" if value.dtype.base_dtype is dtypes.string else -1
    places = where(not_equal(value, cast_constant(ignored, value)), name="indices")
    return SparseTensor(places, gather_nd(value, places, name="values"), cast(shape(value), dtypes.int64))


def cast_constant(value: Any, like: Tensor) -> Tensor:
    return convert_to_tensor(value, like.dtype.base_dtype, name="ignore_value")


class SparseIds(NamedTuple):
    """What a categorical column makes: [batch, n] ids, and their weights or None."""

    ids: SparseTensor
    weights: SparseTensor | None


class FeatureColumn:
    """A column, also by the names that TensorFlow has for what columns do; `state_manager` is not needed for it here."""

    name: str

    @property
    def is_sequence(self) -> bool:
        return False

    def transformed(self, features: Features) -> Any:
        """The feature as the column needs it."""
        raise NotImplementedError

    def spec(self) -> dict[str, Any]:
        """How `tf.parse_example` reads what the column needs."""
        raise NotImplementedError

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return self.spec()

    def transform_feature(self, transformation_cache: Features, state_manager: Any = None) -> Any:
        return self.transformed(transformation_cache)


class DenseColumn(FeatureColumn):
    """A column of numbers: [batch, *shape], of a sequence [batch, time, *shape]."""

    @property
    def variable_shape(self) -> tuple[int, ...]:
        raise NotImplementedError

    def dense(self, features: Features, trainable: bool = True) -> Tensor:
        """The column as a tensor; columns with variables make them in the current scope."""
        raise NotImplementedError

    def get_dense_tensor(self, transformation_cache: Features, state_manager: Any = None) -> Tensor:
        return self.dense(transformation_cache)


class _IdWeightPair(NamedTuple):
    """The ids that a categorical column makes, and their weights or None, as TensorFlow calls them."""

    id_tensor: SparseTensor
    weight_tensor: SparseTensor | None


class CategoricalColumn(FeatureColumn):
    """A column of ids below `num_buckets`."""

    IdWeightPair: ClassVar[type[_IdWeightPair]] = _IdWeightPair

    @property
    def num_buckets(self) -> int:
        raise NotImplementedError

    def ids(self, features: Features) -> SparseIds:
        return SparseIds(features.get(self), None)

    def get_sparse_tensors(self, transformation_cache: Features, state_manager: Any = None) -> _IdWeightPair:
        return _IdWeightPair(*self.ids(transformation_cache))


def check_batch_sizes(columns: Sequence[Any], outputs: Sequence[Tensor]) -> None:
    """ValueError where what two columns give is known to have different first dimensions."""
    sizes = [output.shape.as_list()[0] for output in outputs]
    known = [(column.name, size) for column, size in zip(columns, sizes, strict=True) if size is not None]
    for name, size in known[1:]:
        if size != known[0][1]:
            raise ValueError(
                "Batch size (first dimension) of each feature must be same. Batch size of columns "
                f"({known[0][0]}, {name}): ({known[0][1]}, {size})"
            )
