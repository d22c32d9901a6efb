"""`tf.feature_column`; the numbers are TensorFlow's."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import tfexp as tf
from tfexp.core.errors import InvalidArgumentError

fc = tf.feature_column


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as one:
        yield one


def features():
    return {
        "x": tf.constant([[1.0], [2.0], [3.0]]),
        "y": tf.constant([[1.0, 2], [2, 3], [3, 4]]),
        "c": tf.constant([["a"], ["b"], ["zz"]]),
        "i": tf.constant([[1], [0], [2]], tf.int64),
        "s": tf.SparseTensor([[0, 0], [0, 1], [2, 0]], ["a", "b", "c"], [3, 2]),
        "w": tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [0.5, 2.0, 3.0], [3, 2]),
    }


def value(tensor):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return session.run(tensor)


def counted(shape, dtype=None, partition_info=None):
    return tf.reshape(tf.range(float(np.prod(shape))), shape)


X = fc.numeric_column("x")
PAIR = fc.numeric_column("y", shape=(2,), normalizer_fn=lambda v: v * 2)
BUCKETS = fc.bucketized_column(X, [1.5, 2.5])
LETTERS = fc.categorical_column_with_vocabulary_list("c", ["a", "b", "d"])
SPARSE = fc.categorical_column_with_vocabulary_list("s", ["a", "b"], num_oov_buckets=2)
HASHED = fc.categorical_column_with_hash_bucket("s", 5)
IDENTITY = fc.categorical_column_with_identity("i", 3)
CROSS = fc.crossed_column(["c", "s"], 11)
CROSS_BUCKETS = fc.crossed_column([BUCKETS, "c"], 7)
WEIGHTED = fc.weighted_categorical_column(SPARSE, "w")


@pytest.mark.parametrize(
    ("columns", "wanted"),
    [
        ([X, PAIR, BUCKETS], [[1, 1, 0, 0, 2, 4], [2, 0, 1, 0, 4, 6], [3, 0, 0, 1, 6, 8]]),
        (fc.indicator_column(LETTERS), [[1, 0, 0], [0, 1, 0], [0, 0, 0]]),
        ([fc.indicator_column(SPARSE)], [[1, 1, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0]]),
        ([fc.indicator_column(HASHED)], [[0, 0, 1, 0, 1], [0, 0, 0, 0, 0], [0, 0, 1, 0, 0]]),
        ([fc.indicator_column(IDENTITY)], [[0, 1, 0], [1, 0, 0], [0, 0, 1]]),
        (
            [fc.indicator_column(CROSS)],
            [[1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0], [0] * 11, [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]],
        ),
        (
            [fc.indicator_column(CROSS_BUCKETS)],
            [[0, 0, 0, 0, 0, 1, 0], [0, 1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0, 0]],
        ),
        ([fc.indicator_column(WEIGHTED)], [[0.5, 2, 0, 0], [0, 0, 0, 0], [0, 0, 3, 0]]),
        ([fc.embedding_column(SPARSE, 2, initializer=counted)], [[1, 2], [0, 0], [4, 5]]),
        ([fc.embedding_column(WEIGHTED, 2, "sum", counted)], [[4, 6.5], [0, 0], [12, 15]]),
        ([fc.embedding_column(LETTERS, 2, initializer=counted), X], [[0, 1, 1], [2, 3, 2], [0, 0, 3]]),
    ],
)
def test_input_layer(columns, wanted) -> None:
    assert value(fc.input_layer(features(), columns)).tolist() == wanted


@pytest.mark.parametrize(
    ("columns", "wanted"),
    [
        ([X, PAIR], [[16, 24], [25, 38], [34, 52]]),
        ([LETTERS, SPARSE, CROSS], [[12, 18], [4, 6], [17, 20]]),
        ([WEIGHTED, BUCKETS], [[8.5, 13], [4, 6], [21, 26]]),
    ],
)
def test_linear_model(columns, wanted) -> None:
    made: dict = {}
    y = fc.linear_model(features(), columns, units=2, cols_to_vars=made)
    names = [f"linear_model/{name}/weights" for name in sorted(column.name for column in columns)]
    assert [v.op.name for v in tf.trainable_variables()] == [*names, "linear_model/bias_weights"]
    assert tf.get_collection(tf.GraphKeys.MODEL_VARIABLES) == tf.trainable_variables()
    assert made["bias"] == [tf.trainable_variables()[-1]]
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        assert not session.run(y).any()
        for v in tf.global_variables():
            dims = v.shape.as_list()
            session.run(v.assign(np.arange(float(np.prod(dims))).reshape(dims) + 1))
        assert session.run(y).tolist() == wanted


def test_names_of_a_linear_model_are_those_of_a_layer() -> None:
    """Of its nodes; and its columns' scopes count among those around it, where they have been opened once before."""
    names = [fc.linear_model({"x": [[1.0]]}, [fc.numeric_column("x")]).op.name for _ in range(2)]
    assert names == [f"{scope}/weighted_sum" for scope in ("linear_model_1/linear_model", "linear_model_1_1/linear_model_1")]
    weights = [v.op.name for v in tf.trainable_variables() if "bias" not in v.name]
    assert weights == ["linear_model/x/weights", "linear_model_1/x_1/weights"]


def test_variables_of_embeddings() -> None:
    made: dict = {}
    first, second = fc.embedding_column(SPARSE, 2), fc.embedding_column(LETTERS, 3, trainable=False)
    assert fc.input_layer(features(), [first, X, second], cols_to_vars=made).shape.as_list() == [3, 6]
    fc.input_layer(features(), [first])
    names = ["input_layer/c_embedding", "input_layer/s_embedding", "input_layer_1/s_embedding"]
    assert [v.op.name for v in tf.global_variables()] == [f"{name}/embedding_weights" for name in names]
    assert [v.op.name for v in tf.trainable_variables()] == [f"{name}/embedding_weights" for name in names[1:]]
    assert [[v.op.name for v in made[c]] for c in (first, second, X)] == [
        [f"{names[1]}/embedding_weights"],
        [f"{names[0]}/embedding_weights"],
        [],
    ]


def test_parts_of_partitioned_variables_are_the_models() -> None:
    with tf.variable_scope("cut", partitioner=tf.fixed_size_partitioner(2)):
        fc.linear_model({"x": [[1.0, 2.0]]}, fc.numeric_column("x", shape=2))
    names = [variable.op.name for variable in tf.get_collection(tf.GraphKeys.MODEL_VARIABLES)]
    weights = [f"cut/linear_model/x/weights/part_{part}" for part in (0, 1)]
    assert names == [*weights, "cut/linear_model/bias_weights/part_0"]


def test_variables_are_listed_below_their_columns() -> None:
    """A table that is shared belongs to the first column that needs it; partitioned variables are their parts."""
    words = [fc.categorical_column_with_identity(name, 3) for name in "ba"]
    given, of_columns = {"a": tf.constant([[0]]), "b": tf.constant([[1]])}, [{}, {}]
    shared = fc.shared_embedding_columns(words, 2)
    with tf.variable_scope("", partitioner=tf.fixed_size_partitioner(2)):
        fc.linear_model(given, shared, weight_collections=["mine"], cols_to_vars=of_columns[0])
    fc.input_layer(given, shared, weight_collections=["mine"], cols_to_vars=of_columns[1])
    names = [{getattr(of, "name", of): [v.op.name for v in vs] for of, vs in found.items()} for found in of_columns]
    parts = [[f"{name}/part_{i}" for i in range(2)] for name in ("weights", "embedding_weights")]
    assert names[0] == {
        "a_shared_embedding": [f"linear_model/a_b_shared_embedding/{part}" for part in [*parts[0], *parts[1]]],
        "b_shared_embedding": [f"linear_model/a_b_shared_embedding_1/{part}" for part in parts[0]],
        "bias": ["linear_model/bias_weights/part_0"],
    }
    assert names[1] == {"a_shared_embedding": [], "b_shared_embedding": []}
    assert tf.get_collection("mine") == [v for variables in of_columns[0].values() for v in variables]


def test_weights_of_linear_models_are_resources_and_tables_references() -> None:
    fc.linear_model(features(), [X, LETTERS])
    fc.input_layer(features(), [fc.embedding_column(LETTERS, 2)])
    assert [v.op.type for v in tf.global_variables()] == ["VarHandleOp"] * 3 + ["VariableV2"]


def test_weights_are_in_the_collections_that_are_asked_for_wherever_they_are() -> None:
    with tf.variable_scope("", custom_getter=lambda getter, *args, **how: getter(*args, **{**how, "collections": ["own"]})):
        fc.linear_model(features(), [X], weight_collections=["mine"])
    assert tf.get_collection("mine") == tf.get_collection("model_variables") == tf.get_collection("own") != []


def test_shared_embeddings() -> None:
    others = fc.categorical_column_with_vocabulary_list("s", ["a", "b", "d"])
    columns = fc.shared_embedding_columns([LETTERS, others], 2, initializer=counted)
    y = fc.input_layer(features(), columns)
    assert [v.op.name for v in tf.global_variables()] == ["input_layer/c_s_shared_embedding/embedding_weights"]
    assert value(y).tolist() == [[0, 1, 1, 2], [2, 3, 0, 0], [0, 0, 0, 0]]


def test_an_embedding_from_a_checkpoint(tmp_path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("table", initializer=np.float32([[1, 2], [3, 4], [5, 6]]))
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, str(tmp_path / "model"))
    column = fc.embedding_column(LETTERS, 2, ckpt_to_load_from=path, tensor_name_in_ckpt="table")
    assert value(fc.input_layer(features(), [column])).tolist() == [[1, 2], [3, 4], [0, 0]]


def test_vocabulary_of_a_file(tmp_path) -> None:
    (tmp_path / "words").write_text("b\na\n")
    column = fc.categorical_column_with_vocabulary_file("c", str(tmp_path / "words"), num_oov_buckets=1)
    assert value(fc.input_layer(features(), [fc.indicator_column(column)])).tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]


def test_types_of_vocabularies() -> None:
    lists = (["a"], [1, 2], np.array([1, 2], np.int32), [1, "a"])
    columns = [fc.categorical_column_with_vocabulary_list("x", values) for values in lists]
    assert [column.dtype for column in columns] == [tf.string, tf.int64, tf.int32, tf.string]


def test_learning_from_columns() -> None:
    """A wide model finds which letter counts for what."""
    given = {"c": tf.constant([["a"], ["b"], ["d"], ["a"]])}
    y = fc.linear_model(given, [LETTERS])
    loss = tf.losses.mean_squared_error([[1.0], [2.0], [-1.0], [1.0]], y)
    step = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        for _ in range(200):
            session.run(step)
        assert session.run(loss) < 1e-4


def test_parsing_what_columns_need() -> None:
    columns = [X, PAIR, BUCKETS, fc.indicator_column(LETTERS), WEIGHTED, CROSS_BUCKETS, fc.embedding_column(IDENTITY, 3)]
    assert fc.make_parse_example_spec(columns) == {
        "x": tf.FixedLenFeature((1,), tf.float32),
        "y": tf.FixedLenFeature((2,), tf.float32),
        "c": tf.VarLenFeature(tf.string),
        "s": tf.VarLenFeature(tf.string),
        "w": tf.VarLenFeature(tf.float32),
        "i": tf.VarLenFeature(tf.int64),
    }
    with pytest.raises(ValueError, match="different parse_spec for key x"):
        fc.make_parse_example_spec([X, fc.numeric_column("x", shape=(2,))])


def test_identities_out_of_range() -> None:
    with pytest.raises(InvalidArgumentError, match="exceeds number of buckets"):
        value(fc.input_layer({"i": tf.placeholder_with_default([[5]], [1, 1])}, [fc.indicator_column(IDENTITY)]))
    column = fc.indicator_column(fc.categorical_column_with_identity("i", 3, default_value=0))
    assert value(fc.input_layer({"i": tf.constant([[5], [-1]])}, [column])).tolist() == [[1, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: fc.numeric_column("x", shape=(0,)), "shape dimensions must be greater than 0"),
        (lambda: fc.categorical_column_with_vocabulary_list("x", ["a"], tf.float32), "must be string or integer"),
        (lambda: fc.categorical_column_with_vocabulary_file("x", "no file"), "vocabulary_file in x does not exist"),
        (lambda: fc.embedding_column(LETTERS, 2, initializer="no function"), "Embedding of column_name: "),
        (lambda: fc.make_parse_example_spec(["x"]), "must be _FeatureColumn instances"),
        (lambda: fc.numeric_column("x", dtype=tf.string), "dtype must be convertible to float"),
        (lambda: fc.numeric_column("x", shape=2, default_value=[1.0]), "shape of default_value must be equal"),
        (lambda: fc.numeric_column("x", (2, 2), [[1, 2], [3]]), "shape of default_value must be equal"),
        (
            lambda: fc.categorical_column_with_vocabulary_list("x", [True, False]),
            "vocabulary dtype must be string or integer",
        ),
        (lambda: fc.categorical_column_with_vocabulary_list("x", [1], tf.float32), "'int64'> do not match, column_name: x"),
        (lambda: fc.linear_model({}, fc.sequence_numeric_column("x")), "Column x is one of sequences"),
        (lambda: fc.numeric_column(3), "key must be a string"),
        (lambda: fc.bucketized_column(X, [2, 1]), "boundaries must be a sorted list"),
        (lambda: fc.bucketized_column(LETTERS, [1]), "must be a column generated with numeric_column"),
        (lambda: fc.categorical_column_with_hash_bucket("x", 0), "hash_bucket_size must be at least 1"),
        (lambda: fc.categorical_column_with_identity("x", 0), "num_buckets 0 < 1"),
        (lambda: fc.categorical_column_with_vocabulary_list("x", []), "must be non-empty"),
        (lambda: fc.categorical_column_with_vocabulary_list("x", ["a", "a"]), "Duplicate keys"),
        (lambda: fc.categorical_column_with_vocabulary_list("x", ["a"], None, 2, 1), "Can't specify both"),
        (lambda: fc.crossed_column(["a"], 3), "keys must be a list with length > 1"),
        (lambda: fc.crossed_column(["a", HASHED], 3), "not supported for crossing"),
        (lambda: fc.crossed_column([X, "c"], 3), "Unsupported key type"),
        (lambda: fc.indicator_column(X), "Input must be a CategoricalColumn"),
        (lambda: fc.embedding_column(LETTERS, 0), "Invalid dimension 0"),
        (lambda: fc.shared_embedding_columns([LETTERS, SPARSE], 2), "must have the same number of buckets"),
        (lambda: fc.shared_embedding_columns([LETTERS, fc.categorical_column_with_identity("i", 3)], 2), "the same type"),
        (lambda: fc.linear_model({"s": tf.constant([[1.5]])}, [HASHED]), "input_tensor dtype must be string or integer"),
        (lambda: fc.input_layer({}, [X]), "Feature x is not in features dictionary"),
        (lambda: fc.input_layer({"x": tf.constant(2.0)}, [X]), "cannot have rank 0"),
        (lambda: fc.input_layer(features(), [LETTERS]), "You can wrap a categorical column"),
        (lambda: fc.input_layer(features(), []), "must not be empty"),
        (lambda: fc.input_layer(features(), [X, X]), "Duplicate feature column name"),
        (lambda: fc.input_layer(features(), {"x": X}), "Expected feature_columns to be iterable, found dict"),
    ],
)
def test_what_is_refused(make, text) -> None:
    with pytest.raises(ValueError, match=text.replace("(", r"\(")):
        make()


@pytest.mark.parametrize(("dtype", "default"), [(tf.float32, "a"), (tf.int32, 1.5), (tf.int64, [1.0])])
def test_defaults_are_of_the_type(dtype, default) -> None:
    with pytest.raises(TypeError, match="default_value must be compatible with dtype"):
        fc.numeric_column("x", dtype=dtype, default_value=default)


@pytest.mark.parametrize("dtype", [None, tf.string])
def test_weights_are_numbers(dtype) -> None:
    with pytest.raises(ValueError, match=r"dtype .* is not convertible to float"):
        fc.weighted_categorical_column(SPARSE, "w", dtype)


def test_sizes_are_integers() -> None:
    for shape in ([1.0], 1.5, ["a"]):
        with pytest.raises(TypeError, match="shape dimensions must be integer"):
            fc.numeric_column("x", shape=shape)


def dense_features(features, columns):
    return tf.keras.layers.DenseFeatures(columns)(features)


@pytest.mark.parametrize("make", [fc.input_layer, fc.linear_model, dense_features])
def test_all_features_have_the_same_batch_size(make) -> None:
    columns = [fc.numeric_column("a"), fc.numeric_column("b")]
    with pytest.raises(ValueError, match=r"Batch size of columns \(a, b\): \(2, 3\)"):
        make({"a": tf.zeros([2, 1]), "b": tf.zeros([3, 1])}, columns)


def test_a_sparse_feature_of_one_dimension_has_one_value_in_each_row() -> None:
    column = fc.indicator_column(fc.categorical_column_with_vocabulary_list("s", ["a", "b", "c"]))
    asked = tf.sparse_placeholder(tf.string)
    value = tf.SparseTensorValue([[0], [1]], ["b", "a"], [2])
    made = [fc.input_layer({"s": given}, [column]) for given in (tf.SparseTensor(*value), asked)]
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        for one in made:
            assert session.run(one, {asked: value}).tolist() == [[0, 1, 0], [1, 0, 0]]
    with pytest.raises(ValueError, match="cannot have rank 0"):
        fc.input_layer({"s": tf.SparseTensor(np.zeros([1, 0], np.int64), ["a"], np.zeros([0], np.int64))}, [column])
