"""Buckets by way of queues, and where variables go."""

import numpy as np
import pytest

import tfexp as tf
from tests.contributed.draining import drained

training = tf.contrib.training


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_each_batch_is_of_one_bucket():
    x = tf.train.range_input_producer(12, num_epochs=1, shuffle=False).dequeue()
    which, batch = training.bucket({"x": x, "square": x * x}, x % 3, 2, 3, keep_input=x < 11)
    assert batch["x"].shape.as_list() == [2]
    found = drained([which, batch["x"], batch["square"]])
    assert sorted(tuple(b) for _, b, _ in found) == [(0, 3), (1, 4), (2, 5), (6, 9), (7, 10)]
    for number, numbers, squares in found:
        assert (numbers % 3 == number).all() and (squares == numbers**2).all()


def test_a_batch_of_one_tensor_is_a_tensor():
    which, batch = training.bucket([tf.constant([1.0, 2.0])], tf.constant(1), 3, 2)
    assert batch.shape == [3, 2] and which.shape == []


def test_sequences_of_similar_length_are_padded_together():
    n = tf.train.range_input_producer(9, num_epochs=1, shuffle=False).dequeue()
    lengths, (batch, numbers) = training.bucket_by_sequence_length(
        n, [tf.ones([n]), n], [3, 2, 2], [3, 6], dynamic_pad=True, allow_smaller_final_batch=True
    )
    found = drained([lengths, batch, numbers])
    assert sorted(tuple(length) for length, _, _ in found) == [(0, 1, 2), (3, 4), (5,), (6, 7), (8,)]
    for length, padded, same in found:
        assert padded.shape[1] == length.max() and (padded.sum(1) == length).all() and (same == length).all()


def test_what_buckets_refuse():
    x = tf.constant(1)
    for call, error, text in (
        (lambda: training.bucket([], x, 2, 2), ValueError, "at least one tensor"),
        (lambda: training.bucket([x], x, [2, 3], 3), ValueError, r"batch_size has to be a list .* 3 buckets: \[2, 3\]"),
        (lambda: training.bucket([x], x, 2, 2, bucket_capacities=[1]), ValueError, "bucket_capacities has to be"),
        (lambda: training.bucket_by_sequence_length(x, [x], 2, []), ValueError, "must not be empty"),
        (lambda: training.bucket_by_sequence_length(x, [x], 2, [1.5]), TypeError, "must be integers"),
        (lambda: training.bucket_by_sequence_length(x, [x], 2, [3, 3]), ValueError, "increasing boundaries"),
    ):
        with pytest.raises(error, match=text):
            call()


def test_variables_go_to_the_task_with_the_fewest_bytes_or_to_any():
    def tasks(strategy):
        with tf.Graph().as_default(), tf.device(tf.train.replica_device_setter(3, ps_strategy=strategy)):
            made = [tf.Variable(np.zeros(size, np.float32), name=f"v{i}") for i, size in enumerate((100, 10, 20, 5, 1))]
            return [tf.DeviceSpec.from_string(v.device).task for v in made]

    assert tasks(training.GreedyLoadBalancingStrategy(3, training.byte_size_load_fn)) == [0, 1, 2, 1, 1]
    first = tasks(training.RandomStrategy(3))
    assert first == tasks(training.RandomStrategy(3)) and set(first) <= {0, 1, 2}
    assert any(tasks(training.RandomStrategy(3, seed)) != first for seed in range(1, 5))
