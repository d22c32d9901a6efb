"""Columns of sequences, and the layer that takes them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import tfexp as tf

fc = tf.feature_column
layers = tf.contrib.feature_column


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as one:
        yield one


def value(tensor):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return session.run(tensor)


def ragged(rows, dtype):
    """Rows of several lengths as a SparseTensor, the last of which is empty."""
    places = [[i, j] for i, row in enumerate(rows) for j in range(len(row))]
    flat = [one for row in rows for one in row]
    return tf.SparseTensor(places, tf.constant(flat, dtype), [len(rows), max(map(len, rows))])


WORDS = [["a", "b", "a"], ["c"], []]
IDS = [[1, 2, 1], [0], []]
NUMBERS = [[1.0, 2.0, 3.0], [4.0], []]
TABLE = np.arange(8.0).reshape(4, 2).astype(np.float32)


def test_embeddings_and_indicators_and_numbers_side_by_side() -> None:
    features = {"w": ragged(WORDS, tf.string), "i": ragged(IDS, tf.int64), "n": ragged(NUMBERS, tf.float32)}
    words = fc.sequence_categorical_column_with_vocabulary_list("w", ["b", "a"], num_oov_buckets=2)
    columns = [
        fc.sequence_numeric_column("n", default_value=-1.0, normalizer_fn=lambda v: v * 10),
        fc.indicator_column(fc.sequence_categorical_column_with_identity("i", 3)),
        fc.embedding_column(words, 2, initializer=tf.constant_initializer(TABLE)),
    ]
    layer, lengths = layers.sequence_input_layer(features, columns)
    assert [v.op.name for v in tf.global_variables()] == ["sequence_input_layer/w_embedding/embedding_weights"]
    assert tf.get_collection(tf.GraphKeys.MODEL_VARIABLES) == tf.global_variables()
    rows, found = value([layer, lengths])
    assert found.tolist() == [3, 1, 0]
    one_hot = np.eye(3)
    oov = rows[1, 0, 4:]
    assert oov.tolist() in TABLE[2:].tolist()
    nothing = [0, 0, 0, -1, 0, 0]
    np.testing.assert_array_equal(
        rows,
        [
            [[*one_hot[i], n, *TABLE[w]] for i, n, w in ((1, 10, 1), (2, 20, 0), (1, 30, 1))],
            [[*one_hot[0], 40, *oov], nothing, nothing],
            [nothing] * 3,
        ],
    )


def test_numbers_of_a_shape() -> None:
    """Two numbers for each step, one after the other or a dimension of their own; half a step counts as one."""
    column = fc.sequence_numeric_column("n", shape=2)
    flat = ragged([[1, 2, 3, 4], [5, 6], [7]], tf.float32)
    deep = tf.SparseTensor(
        [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 0, 1]], [1.0, 2, 3, 4, 5, 6], [2, 2, 2]
    )
    rows, lengths = value(layers.sequence_input_layer({"n": flat}, [column]))
    assert rows.tolist() == [[[1, 2], [3, 4]], [[5, 6], [0, 0]], [[7, 0], [0, 0]]]
    assert lengths.tolist() == [2, 1, 1]
    rows, lengths = value(layers.sequence_input_layer({"n": deep}, [column]))
    assert rows.tolist() == [[[1, 2], [3, 4]], [[5, 6], [0, 0]]]
    assert lengths.tolist() == [2, 1]


def test_several_ids_of_a_step_are_combined() -> None:
    ids = tf.SparseTensor([[0, 0, 0], [0, 0, 1], [0, 2, 0], [1, 0, 0]], tf.constant([0, 2, 3, 1], tf.int64), [2, 3, 2])
    column = fc.sequence_categorical_column_with_identity("i", 4)
    made = fc.embedding_column(column, 2, combiner="sum", initializer=tf.constant_initializer(TABLE))
    rows, lengths = value(layers.sequence_input_layer({"i": ids}, made))
    np.testing.assert_array_equal(rows, [[TABLE[0] + TABLE[2], [0, 0], TABLE[3]], [TABLE[1], [0, 0], [0, 0]]])
    assert lengths.tolist() == [3, 1]
    counts, _ = value(layers.sequence_input_layer({"i": ids}, fc.indicator_column(column)))
    assert counts[0].tolist() == [[1, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 1]]


def test_shared_embeddings_and_hashes_and_files(tmp_path) -> None:
    path = tmp_path / "words"
    path.write_text("b\na\n")
    listed = fc.sequence_categorical_column_with_vocabulary_file("w", str(path), num_oov_buckets=1)
    hashed = fc.sequence_categorical_column_with_hash_bucket("h", 3)
    shared = fc.shared_embedding_columns([listed, hashed], 2, initializer=tf.constant_initializer(TABLE[:3]))
    features = {"w": ragged(WORDS, tf.string), "h": tf.constant([["a", "", "b"], ["", "", ""], ["c", "", ""]])}
    with pytest.raises(tf.errors.InvalidArgumentError, match="sequences differ in length"):
        value(layers.sequence_input_layer(features, shared)[1])
    del features["h"]
    rows, _ = value(layers.sequence_input_layer(features, shared[0]))
    assert len(tf.global_variables()) == 1
    np.testing.assert_array_equal(rows[0], TABLE[[1, 0, 1]])
    np.testing.assert_array_equal(rows[1:], [[TABLE[2], [0, 0], [0, 0]], [[0, 0]] * 3])


def test_a_recurrent_network_takes_them_with_a_context() -> None:
    column = fc.sequence_numeric_column("n")
    steps, lengths = layers.sequence_input_layer({"n": ragged(NUMBERS, tf.float32)}, column)
    context = fc.input_layer({"c": tf.constant([[5.0], [6.0], [7.0]])}, fc.numeric_column("c"))
    joined = layers.concatenate_context_input(context, steps)
    assert value(joined).tolist() == [
        [[n, c] for n in row] for row, c in zip(value(steps)[..., 0].tolist(), (5, 6, 7), strict=True)
    ]
    outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(3), joined, lengths, dtype=tf.float32)
    found = value(outputs)
    assert (found[1, 1:] == 0).all() and (found[2] == 0).all() and (found[0] != 0).all()
    with pytest.raises(ValueError, match="context_input must have rank 2"):
        layers.concatenate_context_input(steps, steps)
    with pytest.raises(TypeError, match="sequence_input must have dtype float32"):
        layers.concatenate_context_input(context, tf.zeros([3, 2, 1], tf.int32))


def test_examples_are_parsed_by_their_spec() -> None:
    columns = [
        fc.sequence_numeric_column("n", dtype=tf.int64),
        fc.indicator_column(fc.sequence_categorical_column_with_identity("i", 3)),
    ]
    assert fc.make_parse_example_spec(columns) == {"n": tf.VarLenFeature(tf.int64), "i": tf.VarLenFeature(tf.int64)}


def test_refusals() -> None:
    identity = fc.sequence_categorical_column_with_identity("i", 3)
    features = {"i": ragged(IDS, tf.int64), "n": ragged(NUMBERS, tf.float32)}
    for column in (identity, fc.numeric_column("n"), fc.indicator_column(fc.categorical_column_with_identity("i", 3))):
        with pytest.raises(ValueError, match="must be sequences made dense"):
            layers.sequence_input_layer(features, column)
    for column in (fc.sequence_numeric_column("n"), fc.embedding_column(identity, 2)):
        with pytest.raises(ValueError, match=r"is one of sequences|must not be of type _SequenceCategoricalColumn"):
            fc.input_layer(features, column)
    assert fc.linear_model(features, [identity]).shape.as_list() == [3, 1]  # of each example all steps
    with pytest.raises(ValueError, match="shape dimensions must be greater than 0"):
        fc.sequence_numeric_column("n", shape=(0,))
    with pytest.raises(TypeError, match="normalizer_fn must be a callable"):
        fc.sequence_numeric_column("n", normalizer_fn=3)
