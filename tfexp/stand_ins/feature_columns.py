"""Feature columns of programs' own, in the terms of `tensorflow.python.feature_column`. Source: TF 1.15."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tfexp.feature_column import categorical, dense, numeric, sequence
from tfexp.feature_column import column as columns
from tfexp.feature_column.column import Features, SparseIds, check_batch_sizes
from tfexp.feature_column.model import input_in_scope, linear_in_scope
from tfexp.feature_column.model import ordered as _normalize_feature_columns
from tfexp.graph.tensor import Tensor
from tfexp.ops.template import make_template

FeatureTransformationCache = _LazyBuilder = Features
is_feature_column_v2 = columns.is_feature_column_v2


def _verify_static_batch_size_equality(tensors: Sequence[Tensor], columns: Sequence[Any]) -> None:
    """ValueError where what two columns give is known to have different first dimensions."""
    check_batch_sizes(columns, tensors)


def _transform_features_v2(
    features: Mapping[Any, Any], feature_columns: Iterable[Any], state_manager: Any
) -> dict[Any, Any]:
    """{column: the feature as it needs it}."""
    cache = FeatureTransformationCache(features)
    return {column: cache.get(column) for column in _normalize_feature_columns(feature_columns)}


def _transform_features(features: Mapping[Any, Any], feature_columns: Iterable[Any]) -> dict[Any, Any]:
    return _transform_features_v2(features, feature_columns, None)


# --- columns of one's own -----------------------------------------------------------------------------------------------
#
# A subclass says what it is either with the methods of the later columns, which take a state manager, or with the
# underscored ones of the first. `inputs`, or `transformation_cache`, are features by name and by column. Both have classes
# of their own, so that a column may be of both.


class _AnyColumn(columns.FeatureColumn, metaclass=ABCMeta):
    """Any column."""

    def transformed(self, features: Features) -> Any:
        return self.transform_feature(features, None)

    def transform_feature(self, transformation_cache: Features, state_manager: Any = None) -> Any:
        return self._transform_feature(transformation_cache)

    def _transform_feature(self, inputs: Features) -> Any:
        raise NotImplementedError

    def spec(self) -> dict[str, Any]:
        return self.parse_example_spec

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return self._parse_example_spec

    @property
    def _parse_example_spec(self) -> dict[str, Any]:
        raise NotImplementedError


class _Dense(_AnyColumn, columns.DenseColumn):
    """One of numbers."""

    @property
    def variable_shape(self) -> Any:
        return self._variable_shape

    @property
    def _variable_shape(self) -> Any:
        raise NotImplementedError

    def dense(self, features: Features, trainable: bool = True) -> Tensor:
        if type(self)._get_dense_tensor is _Dense._get_dense_tensor:
            return self.get_dense_tensor(features, None)
        return self._get_dense_tensor(features, trainable=trainable)

    def get_dense_tensor(self, transformation_cache: Features, state_manager: Any = None) -> Tensor:
        return self._get_dense_tensor(transformation_cache)

    def _get_dense_tensor(self, inputs: Features, weight_collections: Any = None, trainable: bool | None = None) -> Tensor:
        raise NotImplementedError


class _Categorical(_AnyColumn, columns.CategoricalColumn):
    """One of ids."""

    @property
    def num_buckets(self) -> int:
        return self._num_buckets

    @property
    def _num_buckets(self) -> int:
        raise NotImplementedError

    def ids(self, features: Features) -> SparseIds:
        return SparseIds(*self.get_sparse_tensors(features, None))

    def get_sparse_tensors(self, transformation_cache: Features, state_manager: Any = None) -> Any:
        return self._get_sparse_tensors(transformation_cache)

    def _get_sparse_tensors(self, inputs: Features, weight_collections: Any = None, trainable: bool | None = None) -> Any:
        raise NotImplementedError


class FeatureColumn(_AnyColumn):
    """Any column, as the later ones."""


class DenseColumn(_Dense, FeatureColumn):
    """One of numbers, as the later ones."""


class CategoricalColumn(_Categorical, FeatureColumn):
    """One of ids, as the later ones."""


class _FeatureColumn(_AnyColumn):
    """Any column, as the first ones."""


class _DenseColumn(_Dense, _FeatureColumn):
    """One of numbers, as the first ones."""


class _CategoricalColumn(_Categorical, _FeatureColumn):
    """One of ids, as the first ones."""


class SequenceDenseColumn(FeatureColumn):
    """One of numbers at each step of a sequence."""

    TensorSequenceLengthPair = sequence.DenseAndLengths


for _room in (categorical, dense, numeric, sequence):
    for _found in vars(_room).values():
        for _own in (FeatureColumn, DenseColumn, CategoricalColumn, _FeatureColumn, _DenseColumn, _CategoricalColumn):
            if hasattr(_found, "_fields") and issubclass(_found, getattr(columns, _own.__name__.lstrip("_"))):
                _own.register(_found)
        if hasattr(_found, "_fields") and hasattr(_found, "get_sequence_dense_tensor"):
            SequenceDenseColumn.register(_found)


# --- layers of columns that keep their variables ------------------------------------------------------------------------


class InputLayer:
    """`tf.feature_column.input_layer` of these columns: all calls share the variables."""

    def __init__(
        self,
        feature_columns: Any,
        weight_collections: Any = None,
        trainable: bool = True,
        cols_to_vars: dict[Any, Any] | None = None,
        name: str = "feature_column_input_layer",
        create_scope_now: bool = True,
    ):
        self._template = make_template(
            name,
            input_in_scope,
            create_scope_now,
            feature_columns=feature_columns,
            weight_collections=weight_collections,
            trainable=trainable,
            cols_to_vars=cols_to_vars,
        )

    def __call__(self, features: Mapping[str, Any]) -> Tensor:
        return self._template(features)  # type: ignore[no-any-return]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._template, name)


class _LinearModel:
    """`tf.feature_column.linear_model` of these columns: all calls share the variables."""

    def __init__(
        self,
        feature_columns: Any,
        units: int = 1,
        sparse_combiner: str = "sum",
        weight_collections: Any = None,
        trainable: bool = True,
        name: str | None = None,
    ):
        self._cols_to_vars: dict[Any, Any] = {}
        self._template = make_template(
            name or "private__linear_model",
            linear_in_scope,
            feature_columns=_normalize_feature_columns(feature_columns),
            units=units,
            sparse_combiner=sparse_combiner,
            weight_collections=weight_collections,
            trainable=trainable,
            cols_to_vars=self._cols_to_vars,
        )

    def __call__(self, features: Mapping[str, Any]) -> Tensor:
        return self._template(features)  # type: ignore[no-any-return]

    def cols_to_vars(self) -> dict[Any, Any]:
        """The variables of each column, and those of "bias"; none before the first call."""
        return self._cols_to_vars

    @property
    def variables(self) -> list[Any]:
        return self._template.variables
