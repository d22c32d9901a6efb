"""`tf.keras.experimental.SequenceFeatures`: the input layer of sequences as a layer of Keras. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfexp.core.shape import TensorShape
from tfexp.feature_column.column import Features
from tfexp.feature_column.dense import SharedEmbeddingColumn
from tfexp.feature_column.model import ordered
from tfexp.feature_column.serialization import deserialize_all, serialize_all
from tfexp.feature_column.states import LayerStates
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
        self._feature_columns = ordered(feature_columns, "FeatureColumn")
        self._states = LayerStates(self, self.trainable)
        for column in self._feature_columns:
            if not hasattr(column, "get_sequence_dense_tensor") or isinstance(column, SharedEmbeddingColumn):
                raise ValueError(
                    "Items of feature_columns must be a SequenceDenseColumn. You can wrap a categorical column with an "
                    f"embedding_column or indicator_column. Given: {column}"
                )

    @property
    def _widths(self) -> list[int]:
        return [column.variable_shape.num_elements() for column in self._feature_columns]

    def build(self, input_shape: Any) -> None:
        self._states.make(self._feature_columns)
        self.built = True

    def call(self, features: Any) -> Any:
        if not isinstance(features, Mapping):
            raise ValueError(f"We expected a dictionary here. Instead we got: {features}")
        made = Features(features)
        outputs, lengths = [], []
        for column, width in zip(self._feature_columns, self._widths, strict=True):
            with name_scope(column.name):
                tensor, length = column.get_sequence_dense_tensor(made, self._states)
                lengths.append(length)
                outputs.append(reshape(tensor, concat([shape(tensor)[:2], [width]], 0)))  # type: ignore[index]
        told = "The columns' sequences differ in length."
        checks = [assert_equal(lengths[0], other, message=told) for other in lengths[1:]]
        return concat(outputs, -1), with_dependencies(checks, lengths[0]) if checks else lengths[0]

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        return TensorShape([None, None, sum(self._widths)])

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "feature_columns": serialize_all(self._feature_columns)}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        rest = dict(config)
        columns = deserialize_all(rest.pop("feature_columns"), custom_objects)
        return cls(columns, **rest)
