"""`tf.keras.experimental.SequenceFeatures`: the input layer of sequences as a layer of Keras. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tfexp.core.shape import TensorShape
from tfexp.feature_column.column import DenseColumn, Features
from tfexp.feature_column.dense import EmbeddingColumn, SharedEmbeddingColumn
from tfexp.feature_column.model import ordered
from tfexp.feature_column.sequence import SequenceNumericColumn, sequence_lengths
from tfexp.feature_column.serialization import deserialize, serialize
from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.scopes import name_scope
from tfexp.keras.engine.base_layer import Layer
from tfexp.ops.array import reshape, shape
from tfexp.ops.array_join import concat
from tfexp.ops.check_compare import assert_equal


class SequenceFeatures(Layer):
    """A dict of features as ([batch, time, width], lengths [batch]): all columns of sequences side by side, by their names.

    Embeddings are the layer's variables NAME/embedding_weights. ValueError for columns without a time, that are categorical
    or share a table, and for features that are not a dict; InvalidArgumentError of the run where lengths differ.
    """

    def __init__(self, feature_columns: Any, trainable: bool = True, name: str | None = None, **kwargs: Any):
        super().__init__(trainable=trainable, name=name, **kwargs)
        self._feature_columns = ordered(feature_columns)
        for column in self._feature_columns:
            dense = isinstance(column, DenseColumn) and column.is_sequence
            if not dense or isinstance(column, SharedEmbeddingColumn):
                raise ValueError(
                    "All feature_columns must be sequences made dense: sequence_numeric_column, or embedding_column or "
                    "indicator_column of a sequence_categorical_column_with_*. Given "
                    f"(type {type(column).__name__}): {column}"
                )

    @property
    def _widths(self) -> list[int]:
        return [int(np.prod(column.variable_shape, dtype=np.int64)) for column in self._feature_columns]

    def build(self, input_shape: Any) -> None:
        self._tables: dict[str, Any] = {}
        for column in self._feature_columns:
            if isinstance(column, EmbeddingColumn):
                with name_scope(column.name):
                    self._tables[column.name] = self.add_weight(
                        "embedding_weights",
                        shape=(column.categorical_column.num_buckets, column.dimension),
                        dtype="float32",
                        initializer=column.initializer,
                        trainable=self.trainable and column.trainable,
                    )
        self.built = True

    def call(self, features: Any) -> Any:
        if not isinstance(features, Mapping):
            raise ValueError(f"We expected a dictionary here. Instead we got: {features}")
        made = Features(features)
        outputs, lengths = [], []
        for column, width in zip(self._feature_columns, self._widths, strict=True):
            with name_scope(column.name):
                if isinstance(column, EmbeddingColumn):
                    tensor = column.looked_up(made, self._tables[column.name])
                else:
                    tensor = column.dense(made)
                numeric = isinstance(column, SequenceNumericColumn)
                found = column.lengths(made) if numeric else sequence_lengths(column.categorical_column.ids(made).ids)
                lengths.append(found)
                outputs.append(reshape(tensor, concat([shape(tensor)[:2], [width]], 0)))  # type: ignore[index]
        told = "The columns' sequences differ in length."
        checks = [assert_equal(lengths[0], other, message=told) for other in lengths[1:]]
        return concat(outputs, -1), with_dependencies(checks, lengths[0]) if checks else lengths[0]

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        return TensorShape([None, None, sum(self._widths)])

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "feature_columns": [serialize(column) for column in self._feature_columns]}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        rest = dict(config)
        columns = [deserialize(column, custom_objects) for column in rest.pop("feature_columns")]
        return cls(columns, **rest)
