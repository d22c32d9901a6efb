"""What feature columns have in common: how they read the features of a batch, once each. TF 1.15."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.feature_column.serialization import config_of, from_config
from tfexp.graph.control_flow import cond
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.sparse_tensor import SparseTensor, is_sparse
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import expand_dims, rank, shape
from tfexp.ops.array_gather import gather_nd
from tfexp.ops.array_mask import where
from tfexp.ops.cast import cast
from tfexp.ops.check_compare import assert_positive
from tfexp.ops.comparison import equal, not_equal
from tfexp.ops.sparse import sparse_reshape


class Features:
    """The features of a batch by name, and what columns made of them: each column is computed once.

    What a column made before may be given, too, by the column. ValueError for a name that is not there, or a feature without
    a batch dimension.
    """

    def __init__(self, features: Mapping[Any, Any]):
        self._given = features
        self._made = {key: value for key, value in features.items() if isinstance(key, FeatureColumn)}

    def get(self, key: Any, state_manager: Any = None, training: bool | None = None) -> Any:
        """A tensor or SparseTensor by name, or what a column makes; the other arguments are TensorFlow's and change nothing.

        TypeError for another key, ValueError for a column that makes nothing.
        """
        if key not in self._made:
            self._made[key] = self._read(key) if isinstance(key, str) else self._of_column(key)
        return self._made[key]

    def _of_column(self, column: Any) -> Any:
        if not isinstance(column, FeatureColumn):
            raise TypeError(f'"key" must be either a "str" or "FeatureColumn". Provided: {column}')
        made = column.transformed(self)
        if made is None:
            raise ValueError(f"Column {column.name} is not supported.")
        return made

    def _read(self, key: str) -> Any:
        if key not in self._given:
            raise ValueError(f"Feature {key} is not in features dictionary.")
        value = self._given[key]
        tensor = SparseTensor.from_value(value) if is_sparse(value) else convert_to_tensor(value)
        told = f"Feature (key: {key}) cannot have rank 0. Given: {tensor}"
        if tensor.shape.ndims == 0:
            raise ValueError(told)
        if tensor.shape.ndims is None:
            dims = rank(tensor)
            with control_dependencies([assert_positive(dims, message=told)]):
                return cond(equal(1, dims), lambda: _as_column(tensor), lambda: tensor)
        return _as_column(tensor) if tensor.shape.ndims == 1 else tensor

    def sparse(self, key: str, ignored: Any = None) -> SparseTensor:
        """A feature as a SparseTensor; of a dense one without the elements that are `ignored` ("" or -1 by default)."""
        value = self.get(key)
        if is_sparse(value):
            return value  # type: ignore[no-any-return]
        return dense_to_sparse(value, ignored)


def _as_column(tensor: Any) -> Any:
    """What is [batch] as [batch, 1]."""
    if is_sparse(tensor):
        return sparse_reshape(tensor, [shape(tensor)[0], 1])  # type: ignore[index]
    return expand_dims(tensor, -1)


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


_READ = ("source_column", "categorical_column", "key", "weight_feature_key")


class FeatureColumn:
    """A column. What columns do here has short names; what TensorFlow calls it, in 2.x and before, leads there.

    Every one is a named tuple: its fields are its config, and the columns and names of features among them its `parents`.
    """

    name: str
    _is_v2_column = True

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
    def parents(self) -> list[Any]:
        """The columns and names of features that it reads."""
        return [getattr(self, field) for field in _READ if hasattr(self, field)]

    def create_state(self, state_manager: Any) -> None:
        """Make its variables by the manager; most have none."""

    def transform_feature(self, transformation_cache: Features, state_manager: Any = None) -> Any:
        return self.transformed(transformation_cache)

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return self.spec()

    def _get_config(self) -> dict[str, Any]:
        return config_of(self)

    @classmethod
    def _from_config(cls, config: Any, custom_objects: Any = None, columns_by_name: Any = None) -> Any:
        return from_config(cls, config, custom_objects, columns_by_name)

    @property
    def _var_scope_name(self) -> str:
        return self.name

    @property
    def _parse_example_spec(self) -> dict[str, Any]:
        return self.parse_example_spec

    def _transform_feature(self, inputs: Features) -> Any:
        return self.transform_feature(inputs)


class DenseColumn(FeatureColumn):
    """A column of numbers: [batch, *shape], of a sequence [batch, time, *shape]."""

    @property
    def variable_shape(self) -> TensorShape:
        """What `dense` has of each example, or of each step of one."""
        raise NotImplementedError

    def dense(self, features: Features, trainable: bool = True) -> Tensor:
        """The column as a tensor; columns with variables make them in the current scope."""
        raise NotImplementedError

    def check_without_time(self, layer: str, of_sequences: str) -> None:
        """ValueError for a column of sequences: `layer` does not take these, `of_sequences` does."""
        if self.is_sequence:
            raise ValueError(
                f"Items of feature_columns must be a _DenseColumn. Column {self.name} is one of sequences, which "
                f"{of_sequences} takes, and {layer} does not. Given: {self}"
            )

    def get_dense_tensor(self, transformation_cache: Features, state_manager: Any = None) -> Tensor:
        return self.dense(transformation_cache)

    @property
    def _variable_shape(self) -> TensorShape:
        return self.variable_shape

    def _get_dense_tensor(self, inputs: Features, weight_collections: Any = None, trainable: bool | None = None) -> Tensor:
        return self.dense(inputs, trainable is not False)


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

    @property
    def _num_buckets(self) -> int:
        return self.num_buckets

    def _get_sparse_tensors(
        self, inputs: Features, weight_collections: Any = None, trainable: bool | None = None
    ) -> _IdWeightPair:
        return self.get_sparse_tensors(inputs)


def is_feature_column_v2(feature_columns: Iterable[Any]) -> bool:
    """Whether all columns are of the later kind, which Keras' layers take too."""
    return all(getattr(column, "_is_v2_column", False) for column in feature_columns)


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
