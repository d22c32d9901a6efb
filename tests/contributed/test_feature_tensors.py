"""Tensors of feature columns, under the names of tf.contrib.layers."""

import numpy as np
import pytest

import tfexp as tf

layers = tf.contrib.layers


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def columns():
    words = layers.sparse_column_with_keys("word", ["p", "q", "r"])
    return layers.real_valued_column("x", dimension=2), words


def examples():
    def one(x, word):
        feature = {
            "x": tf.train.Feature(float_list=tf.train.FloatList(value=x)),
            "word": tf.train.Feature(bytes_list=tf.train.BytesList(value=[word])),
        }
        return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()

    return tf.constant([one([1.0, 2.0], b"q"), one([3.0, 4.0], b"r")])


def run(fetches):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return session.run(fetches)


def test_examples_become_an_input():
    x, words = columns()
    spec = layers.create_feature_spec_for_parsing([x, words])
    assert (spec["x"].dtype, list(spec["x"].shape), spec["word"]) == (tf.float32, [2], tf.VarLenFeature(tf.string))
    features = layers.parse_feature_columns_from_examples(examples(), [x, words])
    outputs = {}
    hot = layers.one_hot_column(words)
    made = layers.input_from_feature_columns(features, [x, hot], cols_to_outs=outputs)
    assert made.op.name.startswith("input_from_feature_columns/") and set(outputs) == {x, hot}
    np.testing.assert_array_equal(run(made), [[0, 1, 0, 1, 2], [0, 0, 1, 3, 4]])


def test_examples_become_weighted_sums():
    x, words = columns()
    features = layers.parse_feature_columns_from_examples(examples(), [x, words])
    with tf.variable_scope("model"):
        outputs, weights, bias = layers.weighted_sum_from_feature_columns(features, [x, words], 3, scope="linear")
    assert {column.name: [v.shape.as_list() for v in own] for column, own in weights.items()} == {
        "word": [[3, 3]],
        "x": [[2, 3]],
    }
    assert bias.shape == [3] and bias.op.name == "model/linear/bias_weights"
    before = run(outputs)
    np.testing.assert_array_equal(before, np.zeros([2, 3]))
    with tf.control_dependencies([weights[x][0].assign(tf.ones([2, 3])), bias.assign([1.0, 2.0, 3.0])]):
        changed = tf.group()
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        session.run(changed)
        np.testing.assert_array_equal(session.run(outputs), [[4, 5, 6], [8, 9, 10]])


def test_categories_have_to_be_made_dense():
    x, words = columns()
    features = layers.parse_feature_columns_from_examples(examples(), [x, words])
    with pytest.raises(ValueError, match="must be a _DenseColumn"):
        layers.input_from_feature_columns(features, [words])
