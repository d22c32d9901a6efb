"""Producers and batches at work; their graphs are compared with TensorFlow's in tests/golden/programs/queues.py."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.core import errors


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as g:
        yield g


@contextlib.contextmanager
def fed_session() -> Iterator[tf.Session]:
    """A session whose queues are filled; at the end everything has stopped in order."""
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coord)
        yield session
        coord.request_stop()
        coord.join(threads)


def until_the_end(session: tf.Session, fetches: Any) -> list[Any]:
    found: list[Any] = []
    while True:
        try:
            found.append(session.run(fetches))
        except errors.OutOfRangeError:
            return found


def test_files_in_order_and_shuffled() -> None:
    names = [f"file{i}" for i in range(7)]
    ordered = tf.train.string_input_producer(names, num_epochs=2, shuffle=False).dequeue()
    mixed = tf.train.string_input_producer(names, num_epochs=3, seed=5).dequeue()
    with fed_session() as session:
        assert until_the_end(session, ordered) == [n.encode() for n in names] * 2
        found = until_the_end(session, mixed)
    epochs = [found[i : i + 7] for i in (0, 7, 14)]
    assert all(sorted(epoch) == [n.encode() for n in names] for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs}) > 1


def test_the_same_seed_gives_the_same_order() -> None:
    orders = []
    for _ in range(2):
        with tf.Graph().as_default():
            numbers = tf.train.range_input_producer(20, num_epochs=2, seed=3).dequeue()
            with fed_session() as session:
                orders.append(until_the_end(session, numbers))
    assert orders[0] == orders[1] and sorted(orders[0]) == sorted([*range(20)] * 2)


def test_no_files() -> None:
    with pytest.raises(ValueError, match="requires a non-null input tensor"):
        tf.train.string_input_producer([])
    names = tf.train.string_input_producer(tf.placeholder_with_default(np.array([], object), [None])).dequeue()
    with tf.Session() as session:
        coord = tf.train.Coordinator()
        tf.train.start_queue_runners(session, coord)
        with pytest.raises(errors.InvalidArgumentError, match="requires a non-null input tensor"):
            coord.join()
        with pytest.raises(errors.OutOfRangeError):
            session.run(names)


def test_slices_stay_together() -> None:
    numbers, words = tf.train.slice_input_producer([[1, 2, 3], [["a"], ["b"], ["c"]]], num_epochs=2, seed=1)
    with fed_session() as session:
        found = [(int(n), w[0]) for n, w in until_the_end(session, [numbers, words])]
    assert sorted(found) == sorted([(1, b"a"), (2, b"b"), (3, b"c")] * 2)


def test_limited_epochs() -> None:
    limited = tf.train.limit_epochs(tf.constant([1.0, 2.0]), 2)
    assert tf.train.limit_epochs(limited) is limited
    with tf.Session() as session:
        with pytest.raises(errors.FailedPreconditionError, match="uninitialized value limit_epochs/epochs"):
            session.run(limited)
        session.run(tf.local_variables_initializer())
        assert len(until_the_end(session, limited)) == 2


def test_files_are_matched_once(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"")
    names = tf.train.match_filenames_once(str(tmp_path / "*.csv"))
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        (tmp_path / "b.csv").write_bytes(b"")
        assert session.run(names).tolist() == [str(tmp_path / "a.csv").encode()]


@pytest.mark.parametrize("smaller_final", [False, True])
def test_batches(smaller_final: bool) -> None:
    numbers = tf.train.range_input_producer(7, num_epochs=1, shuffle=False).dequeue()
    batch = tf.train.batch({"n": numbers, "square": numbers * numbers}, 3, allow_smaller_final_batch=smaller_final)
    with fed_session() as session:
        found = until_the_end(session, batch)
    expected = [[0, 1, 2], [3, 4, 5], [6]][: 3 if smaller_final else 2]
    assert [b["n"].tolist() for b in found] == expected
    assert [b["square"].tolist() for b in found] == [[n * n for n in e] for e in expected]


def test_shuffled_batches_by_several_threads() -> None:
    numbers = tf.train.range_input_producer(40, num_epochs=1, shuffle=False).dequeue()
    batch = tf.train.shuffle_batch([numbers], 4, capacity=20, min_after_dequeue=10, num_threads=3, seed=1)
    with fed_session() as session:
        found = np.concatenate(until_the_end(session, batch)).tolist()
    assert sorted(found) == list(range(40)) and found != sorted(found)


def test_joined_batches() -> None:
    lists = [[tf.train.range_input_producer(6, num_epochs=1, shuffle=False).dequeue() + 10 * i] for i in range(2)]
    batch = tf.train.batch_join(lists, 3)
    with fed_session() as session:
        found = np.concatenate(until_the_end(session, batch)).tolist()
    assert sorted(found) == [*range(6), *range(10, 16)]
    # What one thread brings stays in order.
    assert [n for n in found if n < 10] == list(range(6))


def test_batches_of_what_is_kept() -> None:
    numbers = tf.train.range_input_producer(10, num_epochs=1, shuffle=False).dequeue()
    odd = tf.train.maybe_batch([numbers], tf.equal(numbers % 2, 1), 2)
    rows = tf.reshape(tf.train.range_input_producer(3, num_epochs=1, shuffle=False).dequeue_many(3), [3, 1])
    kept = tf.train.maybe_batch([rows], [True, False, True], 2, enqueue_many=True)
    with fed_session() as session:
        assert [b.tolist() for b in until_the_end(session, odd)] == [[1, 3], [5, 7]]
        assert [b.tolist() for b in until_the_end(session, kept)] == [[[0], [2]]]


def test_padded_batches() -> None:
    number = tf.train.range_input_producer([1, 2, 3][2], num_epochs=1, shuffle=False).dequeue()
    ragged = tf.fill([number], 7)
    with pytest.raises(ValueError, match="All shapes must be fully defined"):
        tf.train.batch([ragged], 3)
    batch = tf.train.batch([ragged], 3, dynamic_pad=True)
    with fed_session() as session:
        assert session.run(batch).tolist() == [[0, 0], [7, 0], [7, 7]]


def test_how_full_a_queue_is_is_summarized() -> None:
    numbers = tf.train.range_input_producer(5, shuffle=False, capacity=4)
    batch = tf.train.shuffle_batch([tf.constant(1.0)], 2, capacity=20, min_after_dequeue=10)
    assert batch.shape == [2]
    first, second = tf.get_collection(tf.GraphKeys.SUMMARIES)
    with tf.Session() as session:
        session.run(numbers.enqueue_many([[1, 2, 3]]))
        (value,) = tf.Summary.FromString(session.run(first)).value
        assert (value.tag, value.simple_value) == ("input_producer/fraction_of_4_full", 0.75)
        (value,) = tf.Summary.FromString(session.run(second)).value
        assert (value.tag, value.simple_value) == ("shuffle_batch/fraction_over_10_of_10_full", 0.0)


def test_several_readers_of_several_files(tmp_path: Path) -> None:
    """Every line of every file once in an epoch, whoever reads it."""
    files = []
    for i in range(5):
        path = tmp_path / f"part{i}.txt"
        path.write_text("header\n" + "".join(f"{i}.{n}\n" for n in range(i * 3)))
        files.append(str(path))
    names = tf.train.string_input_producer(files, num_epochs=2, seed=2)
    examples = [[tf.TextLineReader(skip_header_lines=1).read(names)[1]] for _ in range(3)]
    batch = tf.train.shuffle_batch_join(examples, 4, capacity=30, min_after_dequeue=8, allow_smaller_final_batch=True)
    with fed_session() as session:
        found = [line.decode() for lines in until_the_end(session, batch) for line in lines]
    assert sorted(found) == sorted([f"{i}.{n}" for i in range(5) for n in range(i * 3)] * 2)


def test_what_makes_no_batch() -> None:
    x = tf.constant([1.0, 2.0])
    refused = [
        (lambda: tf.train.batch([], 2), "Expected at least one tensor"),
        (lambda: tf.train.batch_join([], 2), "Expected at least one input"),
        (lambda: tf.train.batch_join([{"a": x}, {"b": x}], 2), "must have the same keys"),
        (lambda: tf.train.maybe_batch([x], [True], 2), "cannot be a vector when `enqueue_many=False`"),
        (lambda: tf.train.maybe_batch([x], tf.placeholder(tf.bool), 2), "dimensions must be known"),
        (lambda: tf.train.maybe_batch([x], [[True]], 2, enqueue_many=True), "must be 0 or 1 dimensions"),
        (lambda: tf.train.shuffle_batch([x], 2, 5, 5), "capacity 5 must be bigger than min_after_dequeue 5"),
        (lambda: tf.train.batch_join([[x], [x, x]], 2), "as many tensors as the others, and they have 1, 2"),
        (lambda: tf.train.slice_input_producer([]), "Expected at least one tensor"),
        (lambda: tf.train.input_producer(tf.placeholder(tf.float32)), "must have a fully defined shape"),
        (lambda: tf.train.limit_epochs(x, 0), "num_epochs must be > 0 not 0"),
    ]
    for call, text in refused:
        with pytest.raises(ValueError, match=text):
            call()
    with pytest.raises(TypeError, match=r"Expected types to be consistent: float32 vs\. int32"):
        tf.train.batch_join([[x], [tf.constant([1, 2])]], 2)


def test_batches_need_a_rank_and_threads() -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match="Must provide queue and enqueue_ops"):
        tf.train.batch([tf.constant(1)], 2, num_threads=0)
    with tf.Graph().as_default(), pytest.raises(ValueError, match="Cannot infer Tensor's rank"):
        tf.train.batch([tf.placeholder(tf.float32)], 2)


def test_a_size_that_only_another_list_knows_is_not_claimed() -> None:
    open_ended, fixed = tf.placeholder(tf.float32, [None, 5]), tf.zeros([3, 5])
    assert tf.train.batch_join([[open_ended], [fixed]], 2, dynamic_pad=True).shape.as_list() == [2, None, 5]
    assert tf.train.batch_join([[fixed], [open_ended]], 2, dynamic_pad=True).shape.as_list() == [2, 3, 5]
    with pytest.raises(ValueError, match=r"\(3, 5\) and \(7, 5\) are"):
        tf.train.batch_join([[fixed], [tf.zeros([7, 5])]], 2, dynamic_pad=True)
    with pytest.raises(ValueError, match="Cannot infer Tensor's rank"):
        tf.train.batch_join([[fixed], [tf.placeholder(tf.float32)]], 2, dynamic_pad=True)
