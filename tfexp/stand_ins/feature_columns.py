"""Feature columns of programs' own, in the terms of `tensorflow.python.feature_column`. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tfexp.feature_column.column import DenseColumn, Features
from tfexp.graph.tensor import Tensor


class FeatureTransformationCache(Features):
    """The features of a batch, for columns. `state_manager` and `training` change nothing."""

    def get(self, key: Any, state_manager: Any = None, training: bool | None = None) -> Any:
        return super().get(key)


_LazyBuilder = FeatureTransformationCache


def _transform_features_v2(
    features: Mapping[Any, Any], feature_columns: Iterable[Any], state_manager: Any
) -> dict[Any, Any]:
    """{column: the feature as it needs it}."""
    cache = FeatureTransformationCache(features)
    return {column: cache.get(column) for column in sorted(feature_columns, key=lambda column: column.name)}


class _DenseColumn(DenseColumn):
    """A subclass says with underscored methods what it is; `inputs` of these are features by name and by column."""

    _parse_example_spec: dict[str, Any]

    def _transform_feature(self, inputs: Features) -> Any:
        raise NotImplementedError

    def _get_dense_tensor(self, inputs: Features, weight_collections: Any = None, trainable: bool | None = None) -> Tensor:
        raise NotImplementedError

    @property
    def _variable_shape(self) -> Any:
        raise NotImplementedError

    @property
    def variable_shape(self) -> tuple[int, ...]:
        return tuple(int(size) for size in self._variable_shape)

    def transformed(self, features: Features) -> Any:
        return self._transform_feature(features)

    def dense(self, features: Features, trainable: bool = True) -> Tensor:
        return self._get_dense_tensor(features, trainable=trainable)

    def spec(self) -> dict[str, Any]:
        return self._parse_example_spec
