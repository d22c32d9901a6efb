"""`LinearModel` and its layer, of `tensorflow.python.feature_column.feature_column_v2`. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfexp.feature_column.column import CategoricalColumn, Features, check_batch_sizes
from tfexp.feature_column.model import check_weighable, ordered, weighed
from tfexp.feature_column.serialization import deserialize_all, serialize_all
from tfexp.feature_column.states import LayerStates
from tfexp.graph.scopes import name_scope
from tfexp.keras.engine.base_layer import Layer
from tfexp.keras.engine.model import Model
from tfexp.ops.elementwise_binary import add_n
from tfexp.ops.nn_bias import bias_add
from tfexp.ops.variable_scope import get_variable, variable_scope


class _LinearModelLayer(Layer):
    """A dict of features as [batch, units]: the sum over columns of their values times weights, and a bias.

    Variables are `NAME/weights` of each column, beginning at 0, and `bias_weights`.
    """

    def __init__(
        self,
        feature_columns: Any,
        units: int = 1,
        sparse_combiner: str = "sum",
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(name=name or "private__linear_model_layer", trainable=trainable, **kwargs)
        self._feature_columns = ordered(feature_columns, "FeatureColumn")
        for column in self._feature_columns:
            check_weighable(column)
        self._units, self._sparse_combiner = units, sparse_combiner
        self._states = LayerStates(self, self.trainable)
        self.bias: Any = None

    def build(self, input_shape: Any) -> None:
        self._states.make(self._feature_columns, self._make_weights)
        with variable_scope(self.name, auxiliary_name_scope=False):
            self.bias = self.add_weight("bias_weights", [self._units], "float32", "zeros", getter=get_variable)
        super().build(input_shape)

    def _make_weights(self, column: Any) -> None:
        of_ids = isinstance(column, CategoricalColumn)
        width = column.num_buckets if of_ids else column.variable_shape.num_elements()
        self._states.create_variable(column, "weights", (width, self._units), "float32", initializer="zeros")

    def call(self, features: Any) -> Any:
        if not isinstance(features, Mapping):
            raise ValueError(f"We expected a dictionary here. Instead we got: {features}")
        made, outputs = Features(features), []
        for column in self._feature_columns:
            with name_scope(column.name):
                outputs.append(
                    weighed(
                        column,
                        made,
                        self._units,
                        self._sparse_combiner,
                        lambda _, column=column: self._states.get_variable(column, "weights"),  # type: ignore[misc]
                        lambda one: one.get_dense_tensor(made, self._states),
                    )
                )
        check_batch_sizes(self._feature_columns, outputs)
        return bias_add(add_n(outputs, name="weighted_sum_no_bias"), self.bias, name="weighted_sum")

    def get_config(self) -> dict[str, Any]:
        own = {"units": self._units, "sparse_combiner": self._sparse_combiner}
        return {**super().get_config(), "feature_columns": serialize_all(self._feature_columns), **own}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        rest = dict(config)
        columns = deserialize_all(rest.pop("feature_columns"), custom_objects)
        return cls(columns, **rest)


class LinearModel(Model):
    """The layer as a model."""

    def __init__(
        self,
        feature_columns: Any,
        units: int = 1,
        sparse_combiner: str = "sum",
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(name=name, **kwargs)
        self.layer = _LinearModelLayer(feature_columns, units, sparse_combiner, trainable, name=self.name)

    def call(self, features: Any) -> Any:  # type: ignore[override]  # which knows no phases
        return self.layer(features)

    @property
    def bias(self) -> Any:
        return self.layer.bias
