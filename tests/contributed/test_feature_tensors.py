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


def texts(*values):
    return tf.SparseTensor([[n, 0] for n in range(len(values))], tf.constant(values), [len(values), 1])


def test_crossings_are_of_what_columns_say():
    hashed, (x, words) = layers.sparse_column_with_hash_bucket("a", 2), columns()
    buckets = layers.bucketized_column(layers.real_valued_column("n"), [0.0])
    crossed = layers.crossed_column([hashed, words], 1000)
    deeper = layers.crossed_column(columns=[crossed, buckets], hash_bucket_size=1000, combiner="sum")
    assert set(layers.create_feature_spec_for_parsing([deeper])) == {"a", "word", "n"}
    features = {
        "a": texts("k", "l", "m", "k"),
        "word": texts("p", "?", "!", "p"),
        "n": tf.constant([[1.0], [1.0], [1.0], [-1.0]]),
    }
    made = layers.transform_features(features, [crossed, deeper])
    plain, with_buckets = (ids.values.tolist() for ids in run([made[crossed], made[deeper]]))
    # Neither buckets of the hash nor words beyond the vocabulary come together.
    assert plain[0] == plain[3] and len(set(plain)) == 3
    assert len(set(with_buckets)) == 4
    for given, error in (([x, words], TypeError), (["a", "word"], TypeError), ([words], ValueError)):
        with pytest.raises(error):
            layers.crossed_column(given, 10)
    with pytest.raises(ValueError, match="init_from_checkpoint"):
        layers.crossed_column([hashed, words], 10, ckpt_to_load_from="model")


def test_columns_share_a_table_or_have_weights():
    first, second = (layers.sparse_column_with_keys(name, ["p", "q"]) for name in ("a", "b"))
    shared = layers.shared_embedding_columns([second, first], 3)
    weighted = layers.weighted_sparse_column(first, "weight")
    features = {"a": texts("p", "q"), "b": texts("q", "p"), "weight": tf.SparseTensor([[0, 0], [1, 0]], [0.5, 2.0], [2, 1])}
    made = layers.input_from_feature_columns(features, shared)
    sums, weights, _ = layers.weighted_sum_from_feature_columns(features, [weighted], 1)
    assert made.shape.as_list() == [2, 6] and len(tf.trainable_variables()) == 3
    with tf.control_dependencies([weights[weighted][0].assign(tf.ones([2, 1]))]):
        changed = tf.group()
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        a, b = np.split(session.run(made), 2, axis=1)
        np.testing.assert_array_equal(a, b[::-1])
        session.run(changed)
        np.testing.assert_array_equal(session.run(sums), [[0.5], [2.0]])
    for given, error in (("ab", TypeError), ([], ValueError)):
        with pytest.raises(error):
            layers.shared_embedding_columns(given, 3)


def test_columns_are_found_and_checked():
    found = layers.infer_real_valued_columns({"f": tf.zeros([2, 3]), "g": tf.zeros([2, 1], tf.int32)})
    assert [(one.name, one.shape, one.dtype) for one in found] == [("f", (3,), tf.float32), ("g", (1,), tf.int32)]
    for features in (tf.constant(["a"]), texts("a")):
        with pytest.raises(ValueError, match="columns of their own"):
            layers.infer_real_valued_columns(features)
    layers.check_feature_columns(columns())
    for given, told in (({}, "found dict"), ([*columns(), *columns()], "Duplicate feature column key")):
        with pytest.raises(ValueError, match=told):
            layers.check_feature_columns(given)
    fed = layers.make_place_holder_tensors_for_base_features(columns())
    assert fed["x"].shape.as_list() == [None, 2] and isinstance(fed["word"], tf.SparseTensor)
