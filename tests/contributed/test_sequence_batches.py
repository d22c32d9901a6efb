"""Segments of sequences in batches, and the states between them."""

import numpy as np
import pytest

import tfexp as tf
from tests.contributed.draining import drained

training = tf.contrib.training


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def saver(**other):
    given = {
        "batch_size": 1,
        "num_unroll": 3,
        "input_length": 5,
        "input_key": "one",
        "input_sequences": {"x": tf.range(6)},
        "input_context": {"c": tf.constant([7, 11])},
        "initial_states": {"s": tf.constant([0.5])},
    }
    return training.SequenceQueueingStateSaver(**{**given, **other})


def test_states_go_from_one_segment_to_the_next():
    one = saver(name="saver")
    batch = one.next_batch
    assert (one.name, one.batch_size, one.num_unroll) == ("saver/", 1, 3)
    assert batch.sequences["x"].shape == [1, 3] and batch.context["c"].shape == [1, 2] and batch.state("s").shape == [1, 1]
    with tf.control_dependencies([batch.save_state("s", 2 * batch.state("s"))]):
        names = ("key", "next_key", "length", "total_length", "sequence", "sequence_count", "batch_size")
        fetches = [tf.identity(getattr(batch, name)) for name in names]
        fetches += [tf.identity(batch.sequences["x"]), tf.identity(batch.context["c"]), tf.identity(batch.state("s"))]
    with tf.Session() as session:
        session.run(one.prefetch_op)
        first, last = session.run(fetches), session.run(fetches)
        assert session.run(one.barrier.ready_size()) == 0
    as_lists = [[np.asarray(value).tolist() for value in found] for found in (first, last)]
    assert as_lists[0] == [
        [b"00000_of_00002:one"], [b"00001_of_00002:one"], [3], [5], [0], [2], 1, [[0, 1, 2]], [[7, 11]], [[0.5]]
    ]  # fmt: skip
    assert as_lists[1] == [[b"00001_of_00002:one"], [b"STOP:one"], [2], [5], [1], [2], 1, [[3, 4, 5]], [[7, 11]], [[1.0]]]


def test_many_sequences_of_other_lengths_are_batched_and_padded():
    n = tf.train.range_input_producer(5, num_epochs=1, shuffle=False).dequeue()
    rows = tf.range(n + 1)
    places = tf.cast(tf.stack([rows, tf.zeros_like(rows)], 1), tf.int64)
    batch = training.batch_sequences_with_states(
        tf.as_string(n),
        {
            "x": rows,
            "text": tf.fill([n + 1, 2], tf.as_string(n)),
            "sparse": tf.SparseTensor(places, rows + 1, tf.cast(tf.stack([n + 1, 2]), tf.int64)),
        },
        {"c": 100 * n, "sparse": tf.SparseTensor([[1]], tf.reshape(n, [1]), [3])},
        None,
        {"s": tf.constant(0)},
        num_unroll=3,
        batch_size=2,
        num_threads=1,
        capacity=4,
    )
    with tf.control_dependencies([batch.save_state("s", batch.state("s") + batch.context["c"])]):
        tensors = [batch.key, batch.length, batch.sequences["x"], batch.sequences["text"], batch.state("s")]
        dense = [tf.sparse.to_dense(batch.sequences["sparse"]), tf.sparse.to_dense(batch.context["sparse"])]
        fetches = [tf.identity(t) for t in tensors + dense]
    found = drained(fetches)
    assert [key for keys, *_ in found for key in keys] == [
        b"00000_of_00001:0", b"00000_of_00001:1", b"00000_of_00001:2", b"00000_of_00002:3",
        b"00001_of_00002:3", b"00000_of_00002:4", b"00001_of_00002:4",
    ]  # fmt: skip
    _, length, x, text, state, sparse, context = (np.concatenate(parts) for parts in zip(*found, strict=True))
    assert length.tolist() == [1, 2, 3, 3, 1, 3, 2] and state.tolist() == [0, 0, 0, 0, 300, 0, 400]
    whole = [[0, 0, 0], [0, 1, 0], [0, 1, 2], [0, 1, 2], [3, 0, 0], [0, 1, 2], [3, 4, 0]]
    np.testing.assert_array_equal(x, whole)
    steps = np.arange(3) < length[:, None]
    np.testing.assert_array_equal(sparse, np.stack([np.where(steps, x + 1, 0), np.zeros_like(x)], 2))
    number = np.array([0, 1, 2, 3, 3, 4, 4])
    np.testing.assert_array_equal(context, number[:, None] * [0, 1, 0])
    np.testing.assert_array_equal(text[..., 1], np.where(steps, number.astype("S1")[:, None], b""))


def test_keys_can_be_made_unique():
    batch = training.batch_sequences_with_states(
        "k", {"x": tf.range(2)}, {}, None, {"s": 0}, 2, 1, make_keys_unique=True, make_keys_unique_seed=3
    )
    with tf.Session() as session:
        enqueue = tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)[0].enqueue_ops[0]
        for _ in range(2):
            session.run(enqueue)
        keys = {session.run(batch.key)[0] for _ in range(2)}
    assert len(keys) == 2 and all(key.startswith(b"00000_of_00001:k") for key in keys)


def test_a_closed_saver_takes_no_new_sequence():
    one = saver()
    with tf.Session() as session:
        session.run(one.close())
        with pytest.raises(tf.errors.CancelledError):
            session.run(one.prefetch_op)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"initial_states": {}}, ValueError, "initial_states may not be empty"),
        ({"initial_states": []}, TypeError, "initial_states must be a dict"),
        ({"initial_states": {"a:b": 0}}, ValueError, "may not have a colon"),
        ({"input_sequences": {}}, ValueError, "at least one sequence"),
        ({"input_context": {3: 0}}, TypeError, "must have strings for names"),
        ({"capacity": 0}, ValueError, "capacity 0 needs to be >= batch_size 1"),
        ({"input_length": [3]}, ValueError, "must have rank 0"),
        ({"input_length": 3.0}, TypeError, "int32"),
    ],
)
def test_what_a_saver_refuses(given, error, message):
    with pytest.raises(error, match=message):
        saver(**given)


def test_shapes_have_to_be_known():
    with pytest.raises(ValueError, match="context/c is not fully defined"):
        saver(input_context={"c": tf.placeholder(tf.float32)})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"x": [0, 1, 2, 3]}, "should be a multiple of: 3, but saw value: 4"),
        ({"x": [0, 1, 2]}, "Input length should be <="),
        ({"w": [0, 1, 2, 3, 4, 5], "x": [0, 1, 2]}, r"Dimension 0 of tensor labeled sequence/x should be: 6, .*received: 3"),
    ],
)
def test_lengths_are_checked_in_the_run(given, message):
    sequences = {name: tf.placeholder_with_default(value, [None]) for name, value in given.items()}
    one = saver(input_sequences=sequences)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(one.prefetch_op)


def test_states_are_those_that_were_declared():
    batch = saver().next_batch
    with pytest.raises(KeyError, match="state was not declared: t"):
        batch.state("t")
    with pytest.raises(KeyError, match="state was not declared: t"):
        batch.save_state("t", 0.0)
    with pytest.raises(ValueError, match="not compatible"):
        batch.save_state("s", [1.0, 2.0])
