"""Feature columns of programs' own, as TensorFlow's first ones let them be written."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.stand_ins.modules import stand_for

older = stand_for("tensorflow.python.feature_column.feature_column")
later = stand_for("tensorflow.python.feature_column.feature_column_v2")
serialization = stand_for("tensorflow.python.feature_column.serialization")
base = older._DenseColumn  # type: ignore[union-attr]


@pytest.fixture(autouse=True)
def graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


class Scaled(base, namedtuple("Scaled", "key factor")):  # type: ignore[misc]
    """A feature times a variable."""

    @property
    def name(self) -> str:
        return f"{self.key}_scaled"

    @property
    def _parse_example_spec(self) -> dict[str, Any]:
        return {self.key: tf.FixedLenFeature([2], tf.float32)}

    @property
    def _variable_shape(self) -> Any:
        return tf.TensorShape([2])

    def _transform_feature(self, inputs: Any) -> Any:
        return inputs.get(self.key) * self.factor

    def _get_dense_tensor(self, inputs: Any, weight_collections: Any = None, trainable: Any = None) -> Any:
        return inputs.get(self) * tf.get_variable("by", [], initializer=tf.ones_initializer(), trainable=trainable)


def test_a_column_of_ones_own_is_among_the_others() -> None:
    columns = [Scaled("x", 3.0), tf.feature_column.numeric_column("y")]
    made = tf.feature_column.input_layer({"x": [[1.0, 2.0]], "y": [[5.0]]}, columns)
    assert tf.feature_column.make_parse_example_spec(columns)["x"].shape == [2]
    assert [v.op.name for v in tf.trainable_variables()] == ["input_layer/x_scaled/by"]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(sess.run(made), [[3, 6, 5]])


@pytest.mark.parametrize("bases", [(older._DenseColumn, later.DenseColumn), (later.DenseColumn, older._DenseColumn)])  # type: ignore[union-attr]
def test_a_column_may_be_a_first_and_a_later_one(bases: Any) -> None:
    def get_dense_tensor(self: Any, transformation_cache: Any, state_manager: Any) -> Any:
        return state_manager.get_resource(self, "by")

    both = type("Both", (*bases, *Scaled.__bases__[1:]), {**vars(Scaled), "get_dense_tensor": get_dense_tensor})
    assert tf.feature_column.input_layer({"x": [[1.0, 2.0]]}, [both("x", 3.0)]).shape == [1, 2]
    assert not isinstance(Scaled("x", 1.0), later.FeatureColumn)


def test_columns_are_of_the_classes_that_tests_name() -> None:
    bucketized = tf.feature_column.bucketized_column(tf.feature_column.numeric_column("x"), [0.0, 1.0])
    assert isinstance(bucketized, later.DenseColumn)
    assert isinstance(bucketized, later.CategoricalColumn)
    assert not isinstance(bucketized.source_column, later.CategoricalColumn)
    assert not isinstance(bucketized, later.SequenceDenseColumn)
    words = tf.feature_column.sequence_categorical_column_with_identity("s", 3)
    for column in (tf.feature_column.indicator_column(words), tf.feature_column.sequence_numeric_column("x")):
        assert isinstance(column, later.SequenceDenseColumn) and isinstance(column, older._SequenceDenseColumn)
    embedding = tf.feature_column.embedding_column(tf.feature_column.categorical_column_with_identity("i", 3), 2)
    assert isinstance(later._transform_features_v2({"i": [[1]]}, [embedding], None)[embedding], tf.SparseTensor)
    assert bucketized.parents == [bucketized.source_column]
    assert older._bucketized_column(bucketized.source_column, [0.0, 1.0]) == bucketized
    assert bucketized._variable_shape.num_elements() == bucketized._num_buckets == 3


def test_a_later_column_of_ones_own_is_asked_with_a_state_manager() -> None:
    class Doubled(later.DenseColumn):  # type: ignore[misc, name-defined]
        name = "doubled"
        variable_shape = tf.TensorShape([1])
        parse_example_spec = {"x": tf.FixedLenFeature([1], tf.float32)}

        def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
            return transformation_cache.get("x", state_manager) * 2

        def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
            return transformation_cache.get(self, state_manager)

    made = tf.keras.layers.DenseFeatures([Doubled()])({"x": [[3.0], [5.0]]})
    with tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(made), [[6], [10]])


def test_a_cache_says_what_it_cannot_make() -> None:
    class Nothing(later.FeatureColumn):  # type: ignore[misc, name-defined]
        name = "nothing"

        def transform_feature(self, transformation_cache: Any, state_manager: Any) -> None:
            return None

    cache = later.FeatureTransformationCache({"x": tf.placeholder(tf.float32)})
    with pytest.raises(TypeError, match='must be either a "str" or "FeatureColumn"'):
        cache.get(3, None)
    with pytest.raises(ValueError, match="Column nothing is not supported"):
        cache.get(Nothing(), None)
    with tf.Session() as sess:
        rows = cache.get("x", None)
        np.testing.assert_array_equal(sess.run(rows, {"Placeholder:0": [1.0, 2.0]}), [[1], [2]])
        with pytest.raises(tf.errors.InvalidArgumentError, match="cannot have rank 0"):
            sess.run(rows, {"Placeholder:0": 1.0})


class States(later.StateManager):  # type: ignore[misc, name-defined]
    """Variables by the names that columns give them."""

    def __init__(self) -> None:
        self.made: dict[Any, Any] = {}

    def create_variable(self, feature_column: Any, name: str, shape: Any, *args: Any, **kwargs: Any) -> Any:
        kwargs.pop("use_resource")
        self.made[feature_column, name] = tf.get_variable(name, shape, **kwargs)

    def get_variable(self, feature_column: Any, name: str) -> Any:
        return self.made[feature_column, name]


def test_an_embedding_keeps_its_table_with_the_manager() -> None:
    ids = tf.feature_column.categorical_column_with_identity("x", 3)
    column = tf.feature_column.embedding_column(ids, 2, initializer=lambda *_, **__: [[1.0, 2.0], [3.0, 5.0], [7.0, 11.0]])
    states = States()
    column.create_state(states)
    made = column.get_dense_tensor(later.FeatureTransformationCache({"x": [[2], [0]]}), states)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(sess.run(made), [[7, 11], [1, 2]])
    with pytest.raises(ValueError, match="must be of type SequenceCategoricalColumn"):
        column.get_sequence_dense_tensor(later.FeatureTransformationCache({"x": [[2], [0]]}), states)


@pytest.mark.parametrize("kind", ["LinearModel", "_LinearModel"])
def test_a_linear_model_keeps_its_weights_from_call_to_call(kind: str) -> None:
    columns = [tf.feature_column.numeric_column("y"), tf.feature_column.categorical_column_with_identity("x", 3)]
    features = {"x": [[2], [0]], "y": [[1.0], [2.0]]}
    model = getattr(later if kind == "LinearModel" else older, kind)(columns, name="linear_model")
    model(features)
    made = model(features)
    names = ["linear_model/x/weights:0", "linear_model/y/weights:0", "linear_model/bias_weights:0"]
    assert [v.name for v in tf.global_variables()] == names
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run([tf.assign(v, tf.ones_like(v)) for v in tf.global_variables()])
        np.testing.assert_array_equal(sess.run(made), [[3], [4]])


def test_an_input_layer_keeps_its_tables_from_call_to_call() -> None:
    column = tf.feature_column.embedding_column(tf.feature_column.categorical_column_with_identity("x", 3), 2)
    layer = older.InputLayer([column])
    assert layer({"x": [[2], [0]]}).shape == layer({"x": [[1]] * 2}).shape
    assert [v.op.name for v in layer.variables] == ["feature_column_input_layer/x_embedding/embedding_weights"]


def test_columns_of_configs_are_one_where_they_were_one() -> None:
    number = tf.feature_column.numeric_column("x", 2)
    configs = serialization.serialize_feature_columns([number, tf.feature_column.bucketized_column(number, [0.0])])
    first, second = serialization.deserialize_feature_columns(configs)
    assert first == number
    assert second.source_column is first
    with pytest.raises(ValueError, match=r"Improper config format: \{\}"):
        serialization.deserialize_feature_column({})
    with pytest.raises(ValueError, match="is not a FeatureColumn"):
        serialization.serialize_feature_column(3)


class _Neither(older._FeatureColumn):  # type: ignore[misc, union-attr]
    """A column of neither numbers nor ids."""

    name = "neither"

    def _transform_feature(self, inputs: Any) -> Any:
        return inputs.get("a")

    @property
    def _parse_example_spec(self) -> dict[str, Any]:
        return {"a": tf.FixedLenFeature([1], tf.float32)}


def test_columns_of_neither_numbers_nor_ids_are_read_and_transformed() -> None:
    column, features = _Neither(), {"a": tf.constant([[1.0]])}
    assert tf.feature_column.make_parse_example_spec([column]) == column._parse_example_spec
    assert older._transform_features(features, [column]) == {column: features["a"]}  # type: ignore[union-attr]
    with pytest.raises(ValueError, match="must be either a _DenseColumn or _CategoricalColumn"):
        tf.feature_column.linear_model(features, [column])
    with pytest.raises(ValueError, match="must be a _DenseColumn"):
        tf.feature_column.input_layer(features, [column])
