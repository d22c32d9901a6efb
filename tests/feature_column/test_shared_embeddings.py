"""`tf.compat.v2.feature_column.shared_embeddings`: columns of one table, in layers of Keras."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.runtime.eager import eager_mode

COLUMN = tf.feature_column
shared_embeddings = tf.compat.v2.feature_column.shared_embeddings
TABLE = np.array([[1.0, 2.0], [3.0, 5.0], [7.0, 11.0]], np.float32)


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as one:
        yield one


def identity(name: str) -> Any:
    return COLUMN.categorical_column_with_identity(name, 3)


def columns(**how: Any) -> Any:
    return shared_embeddings([identity("b"), identity("a")], 2, initializer=tf.constant_initializer(TABLE), **how)


def features() -> dict[str, Any]:
    return {
        "a": tf.SparseTensor([[0, 0], [1, 0], [1, 1]], np.array([0, 1, 2]), [2, 2]),
        "b": tf.SparseTensor([[0, 0]], np.array([2]), [2, 2]),
    }


def evaluate(tensor: Any) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(tensor)


def test_layers_have_one_table_in_each_graph() -> None:
    made = columns(combiner="sum")
    assert [column.name for column in made] == ["b_shared_embedding", "a_shared_embedding"]
    for _ in range(2):
        with tf.Graph().as_default():
            first, second = (tf.keras.layers.DenseFeatures(made) for _ in range(2))
            outputs = [first(features()), second(features())]
            assert [v.name for v in tf.trainable_variables()] == ["a_b_shared_embedding:0"] and first.weights == []
            for found in evaluate(outputs):
                np.testing.assert_array_equal(found, [[*TABLE[0], *TABLE[2]], [*(TABLE[1] + TABLE[2]), 0, 0]])


def test_functions_have_the_table_of_their_graph() -> None:
    layer = tf.keras.layers.DenseFeatures(columns())
    outputs = [layer(features()), tf.function(lambda: layer(features()))()]
    assert [v.name for v in tf.global_variables()] == ["a_b_shared_embedding:0"]
    np.testing.assert_array_equal(*evaluate(outputs))


@pytest.mark.usefixtures("only_new_garbage")
def test_graphs_go_though_their_columns_stay() -> None:
    made = columns()
    with tf.Graph().as_default() as graph:
        tf.keras.layers.DenseFeatures(made)(features())
        tf.train.export_meta_graph()
    seen = weakref.ref(graph)
    del graph
    gc.collect()
    assert seen() is None


def test_a_table_from_a_checkpoint(tmp_path: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(tf.get_variable("table", initializer=2 * TABLE).initializer)
        path = tf.train.Saver().save(session, str(tmp_path / "model"))
    made = columns(
        ckpt_to_load_from=path, tensor_name_in_ckpt="table", trainable=False, shared_embedding_collection_name="t"
    )
    output = tf.keras.layers.DenseFeatures(made[0])(features())
    assert [v.name for v in tf.global_variables()] == ["t:0"] and tf.trainable_variables() == []
    np.testing.assert_array_equal(evaluate(output), [2 * TABLE[2], [0, 0]])


def test_sequences_share_a_table() -> None:
    words = [COLUMN.sequence_categorical_column_with_identity(name, 3) for name in "ab"]
    made = shared_embeddings(words, 2, initializer=tf.constant_initializer(TABLE))
    both = {"a": features()["a"], "b": features()["a"]}
    output, lengths = tf.keras.experimental.SequenceFeatures(made)(both)
    found, steps = evaluate([output, lengths])
    np.testing.assert_array_equal(found[1], np.concatenate([TABLE[1:], TABLE[1:]], axis=1))
    assert steps.tolist() == [1, 2]


@pytest.mark.parametrize("layer", [COLUMN.input_layer, COLUMN.linear_model])
def test_first_layers_do_not_take_them(layer: Any) -> None:
    with pytest.raises(ValueError, match="SharedEmbeddingColumns are not supported"):
        layer(features(), columns())


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="the same number of buckets"):
        shared_embeddings([identity("a"), COLUMN.categorical_column_with_identity("b", 4)], 2)
    with pytest.raises(NotImplementedError, match="no config"):
        tf.keras.layers.DenseFeatures(columns()).get_config()
    with eager_mode(), pytest.raises(RuntimeError, match="not supported when eager execution is enabled"):
        COLUMN.shared_embedding_columns([identity("a")], 2)
