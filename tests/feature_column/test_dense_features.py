"""`tf.keras.layers.DenseFeatures`: columns as a layer, alone and in models."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import tfexp as tf

COLUMN = tf.feature_column


def _columns() -> list[Any]:
    age = COLUMN.numeric_column("age", shape=2)
    return [
        age,
        COLUMN.embedding_column(COLUMN.categorical_column_with_identity("id", 5), 3),
        COLUMN.indicator_column(COLUMN.categorical_column_with_vocabulary_list("word", ["a", "b"])),
        COLUMN.bucketized_column(COLUMN.numeric_column("w"), [0.0, 1.0]),
        COLUMN.indicator_column(COLUMN.crossed_column(["id", "word"], 7)),
    ]


def _features() -> dict[str, Any]:
    return {
        "age": tf.constant([[1.0, 2.0], [3.0, 4.0]]),
        "id": tf.constant([[1], [2]]),
        "word": tf.constant([["a"], ["b"]]),
        "w": tf.constant([[-1.0], [2.0]]),
    }


def test_columns_side_by_side() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        layer = tf.keras.layers.DenseFeatures(_columns()[:4])
        by_column: dict[Any, Any] = {}
        output = layer(_features(), cols_to_output_tensors=by_column)
        assert output.name == "dense_features/concat:0"
        assert output.shape.as_list() == [2, 10]
        assert [w.name for w in layer.weights] == ["dense_features/id_embedding/embedding_weights:0"]
        assert {column.name for column in by_column} == {"age", "id_embedding", "w_bucketized", "word_indicator"}
        shapes = {name: value.shape for name, value in _features().items()}
        assert layer.compute_output_shape(shapes).as_list() == [2, 10]
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        found, table = session.run([output, layer.weights[0]])
    wanted = [[1, 2, *table[1], 1, 0, 0, 1, 0], [3, 4, *table[2], 0, 0, 1, 0, 1]]
    np.testing.assert_allclose(found, wanted)


def test_a_config_makes_the_same_columns() -> None:
    with tf.Graph().as_default():
        layer = tf.keras.layers.DenseFeatures(_columns(), trainable=False, name="mine")
        config = json.loads(json.dumps(tf.keras.layers.serialize(layer)))
        assert config["config"]["feature_columns"][0] == {
            "class_name": "NumericColumn",
            "config": {"key": "age", "shape": [2], "default_value": None, "dtype": "float32", "normalizer_fn": None},
        }
        again = tf.keras.layers.deserialize(config)
        assert again.name == "mine"
        assert not again.trainable
        assert again.get_config() == layer.get_config()
        width = layer(_features()).shape.as_list()
        with pytest.raises(ValueError, match=r"mine/.*/embedding_weights already exists"):
            again(_features())
    with tf.Graph().as_default():
        again = tf.keras.layers.deserialize(config)
        assert again(_features()).shape.as_list() == width


def test_functions_in_configs_are_found_among_the_custom_ones() -> None:
    def doubled(x: Any) -> Any:
        return x * 2

    with tf.Graph().as_default(), tf.Session() as session:
        layer = tf.keras.layers.DenseFeatures([COLUMN.numeric_column("age", 2, normalizer_fn=doubled)])
        config = tf.keras.layers.serialize(layer)
        again = tf.keras.layers.deserialize(config, custom_objects={"doubled": doubled})
        np.testing.assert_array_equal(session.run(again(_features())), [[2, 4], [6, 8]])
        with pytest.raises(ValueError, match="Unknown normalizer_fn"):
            tf.keras.layers.deserialize(config)


def test_models_take_features_by_name() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        inputs = {"age": tf.keras.Input((2,), name="age"), "w": tf.keras.Input((1,), name="w")}
        columns = [COLUMN.numeric_column("w"), COLUMN.numeric_column("age", 2)]
        output = tf.keras.layers.DenseFeatures(columns)(inputs)
        model = tf.keras.Model(list(inputs.values()), output)
        found = session.run(model([tf.ones([3, 2]), tf.zeros([3, 1])]))
    np.testing.assert_array_equal(found, [[1, 1, 0]] * 3)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: tf.keras.layers.DenseFeatures([]), "must not be empty"),
        (lambda: tf.keras.layers.DenseFeatures(COLUMN.categorical_column_with_identity("id", 5)), "embedding_column or"),
        (lambda: tf.keras.layers.DenseFeatures(COLUMN.sequence_numeric_column("x")), "embedding_column or"),
        (lambda: tf.keras.layers.DenseFeatures(_columns()[0])(tf.ones([2, 2])), "expected a dictionary"),
        (lambda: tf.keras.layers.DenseFeatures(_columns()[0])({"x": tf.ones([2, 2])}), "age is not in features"),
        (
            lambda: tf.keras.layers.DenseFeatures(
                COLUMN.shared_embedding_columns([COLUMN.categorical_column_with_identity("id", 5)], 2)
            ),
            "embedding_column or",
        ),
        (
            lambda: tf.keras.layers.DenseFeatures.from_config({"feature_columns": [{"class_name": "Odd", "config": {}}]}),
            "Unknown feature_column_v2: Odd",
        ),
    ],
)
def test_what_it_refuses(make: Any, text: str) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match=text):
        make()


def test_it_takes_no_partitioner() -> None:
    with pytest.raises(TypeError, match="partitioner"):
        tf.keras.layers.DenseFeatures(_columns(), partitioner=tf.fixed_size_partitioner(2))


def test_columns_come_from_any_iterable() -> None:
    columns = {"age": COLUMN.numeric_column("age", shape=2), "w": COLUMN.numeric_column("w")}
    with tf.Graph().as_default():
        features = {"age": tf.zeros([3, 2]), "w": tf.ones([3, 1])}
        assert tf.keras.layers.DenseFeatures(columns.values())(features).shape == [3, 3]
        assert COLUMN.input_layer(features, (column for column in columns.values())).shape == [3, 3]


def test_layers_of_version_2_may_share_a_name() -> None:
    columns = [COLUMN.embedding_column(COLUMN.categorical_column_with_identity("a", 3), 2)]
    with tf.Graph().as_default():
        made = [tf.compat.v2.keras.layers.DenseFeatures(columns, name="one") for _ in range(2)]
        for layer in made:
            layer({"a": tf.constant([1])})
        assert [layer.weights[0].name for layer in made] == [f"one{n}/a_embedding/embedding_weights:0" for n in ("", "_1")]
        first, second = (tf.keras.layers.DenseFeatures(columns, name="two") for _ in range(2))
        first({"a": tf.constant([1])})
        with pytest.raises(ValueError, match="already exists"):
            second({"a": tf.constant([1])})
