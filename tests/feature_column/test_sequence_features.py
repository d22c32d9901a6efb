"""`tf.keras.experimental.SequenceFeatures` gives what `tf.contrib.feature_column.sequence_input_layer` gives."""

from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.api import keras


def columns() -> list[Any]:
    words = tf.feature_column.sequence_categorical_column_with_identity("words", 5)
    weights = tf.constant_initializer(np.arange(10).reshape(5, 2))
    return [
        tf.feature_column.sequence_numeric_column("sizes"),
        tf.feature_column.embedding_column(words, 2, initializer=weights),
        tf.feature_column.indicator_column(words),
    ]


def features() -> dict[str, Any]:
    places = [[0, 0], [0, 1], [1, 0]]
    return {
        "words": tf.SparseTensor(places, np.array([1, 4, 2], np.int64), (2, 2)),
        "sizes": tf.SparseTensor(places, np.array([0.5, 1.5, 2.5], np.float32), (2, 2)),
    }


def test_columns_stand_side_by_side() -> None:
    layer = keras.experimental.SequenceFeatures(columns(), name="steps")
    found = layer(features())
    wanted = tf.contrib.feature_column.sequence_input_layer(features(), columns())
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        (mine, lengths), (theirs, their_lengths) = session.run([found, wanted])
    np.testing.assert_array_equal(mine, theirs)
    np.testing.assert_array_equal(lengths, their_lengths)
    assert lengths.tolist() == [2, 1] and mine.shape == (2, 2, 8)
    assert [weight.name for weight in layer.weights] == ["steps/words_embedding/embedding_weights:0"]
    again = keras.experimental.SequenceFeatures.from_config(layer.get_config())
    assert [column.name for column in again._feature_columns] == [column.name for column in layer._feature_columns]


def test_what_has_no_time() -> None:
    with pytest.raises(ValueError, match="must be a SequenceDenseColumn"):
        keras.experimental.SequenceFeatures([tf.feature_column.numeric_column("x")])
    with pytest.raises(ValueError, match="expected a dictionary"):
        keras.experimental.SequenceFeatures(columns())(tf.zeros([2, 2]))
