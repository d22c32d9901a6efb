"""`tf.keras.layers.DenseFeatures`: `input_layer` as a layer of Keras. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfexp.core import nest
from tfexp.core.shape import TensorShape, as_shape
from tfexp.feature_column.column import DenseColumn, Features, check_batch_sizes
from tfexp.feature_column.dense import SharedEmbeddingColumn
from tfexp.feature_column.model import ordered
from tfexp.feature_column.sequence import SequenceNumericColumn
from tfexp.feature_column.serialization import deserialize_all, serialize_all
from tfexp.feature_column.states import LayerStates
from tfexp.graph.scopes import name_scope
from tfexp.keras.engine.base_layer import Layer
from tfexp.ops.array import reshape, shape
from tfexp.ops.array_join import concat


class DenseFeatures(Layer):
    """A dict of features as [batch, width]: all dense columns side by side, in the order of their names.

    Embeddings are the layer's variables NAME/embedding_weights. ValueError for columns that are categorical, of sequences,
    or of `shared_embedding_columns`, and for features that are not a dict.
    """

    def __init__(self, feature_columns: Any, trainable: bool = True, name: str | None = None, **kwargs: Any):
        super().__init__(trainable=trainable, name=name, **kwargs)
        self._feature_columns = ordered(feature_columns, "FeatureColumn")
        self._states = LayerStates(self, self.trainable)
        for column in self._feature_columns:
            if not isinstance(column, DenseColumn) or isinstance(column, (SharedEmbeddingColumn, SequenceNumericColumn)):
                raise ValueError(
                    f"Items of feature_columns must be a {DenseColumn.__name__}. You can wrap a categorical column with an "
                    f"embedding_column or indicator_column. Given: {column}"
                )

    @property
    def _width(self) -> int:
        return sum(column.variable_shape.num_elements() for column in self._feature_columns)

    def build(self, input_shape: Any) -> None:
        self._states.make(self._feature_columns)
        self.built = True

    def call(self, features: Any, cols_to_output_tensors: dict[Any, Any] | None = None) -> Any:
        """cols_to_output_tensors: a dict to fill with what each column gives."""
        if not isinstance(features, Mapping):
            raise ValueError(f"We expected a dictionary here. Instead we got: {features}")
        made, outputs = Features(features), []
        for column in self._feature_columns:
            with name_scope(column.name):
                tensor = column.get_dense_tensor(made, self._states)
                width = column.variable_shape.num_elements()
                flat = reshape(tensor, (shape(tensor)[0], width))  # type: ignore[index]
            outputs.append(flat)
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = flat
        check_batch_sizes(self._feature_columns, outputs)
        return concat(outputs, -1)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        first = next(iter(input_shape.values())) if isinstance(input_shape, Mapping) else nest.flatten(input_shape)[0]
        return TensorShape([as_shape(first)[0], self._width])

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "feature_columns": serialize_all(self._feature_columns)}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        config = dict(config)
        columns = deserialize_all(config.pop("feature_columns"), custom_objects)
        return cls(columns, **config)
