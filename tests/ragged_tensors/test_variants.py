"""Ragged tensors as variants: RaggedTensorToVariant, RaggedTensorFromVariant."""

import pytest

import tfexp as tf

raw = tf.raw_ops
ROWS = [[[1, 2], []], [[3]]]


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


def stored(ragged, batched):
    splits, values = list(ragged.nested_row_splits), ragged.flat_values
    return raw.RaggedTensorToVariant(rt_nested_splits=splits, rt_dense_values=values, batched_input=batched)


def restored(variant, rank, of=-1, dtype=tf.int32):
    splits, values = raw.RaggedTensorFromVariant(
        encoded_ragged=variant, input_ragged_rank=of, output_ragged_rank=rank, Tvalues=dtype, Tsplits=tf.int64
    )
    return tf.RaggedTensor.from_nested_row_splits(values, splits, validate=False)


def test_whole_in_rows_and_in_a_grid():
    ragged = tf.ragged.constant(ROWS, dtype=tf.int32)
    whole, rows = stored(ragged, False), stored(ragged, True)
    assert (whole.shape.as_list(), rows.shape.as_list()) == ([], [2])
    grid = tf.stack([tf.stack([whole, whole, whole]), tf.stack([whole, whole, whole])])
    with tf.Session() as session:
        back = session.run([restored(whole, 2), restored(rows, 2, 1), restored(grid, 4)])
    assert [value.to_list() for value in back] == [ROWS, ROWS, [[ROWS] * 3] * 2]


def test_what_does_not_fit_is_refused():
    whole = stored(tf.ragged.constant(ROWS, dtype=tf.int32), False)
    for variant, message in (
        (restored(whole, 3, 2), "must be equal to input_ragged_rank"),
        (restored(whole, 1), "ragged_rank 1, found 2"),
        (restored(whole, 2, dtype=tf.float32), "values of type float32 in the variant, found int32"),
    ):
        with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.run(variant)
