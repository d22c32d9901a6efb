"""Queues in sessions: what programs can say of them, both forms of their ops, errors in TensorFlow's words.

Who is served when is test_queue_resource.py's, how steps wait is tests/runtime/test_flow.py's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.runtime.asleep import soon
from tfexp.core.errors import CancelledError, DeadlineExceededError, InvalidArgumentError, OutOfRangeError
from tfexp.core.op import get_op


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as g:
        yield g


# --- the four kinds ----------------------------------------------------------------------------------------------------

KINDS = {
    "FIFOQueue": lambda: tf.FIFOQueue(3, [tf.float32], [[2]], name="q"),
    "RandomShuffleQueue": lambda: tf.RandomShuffleQueue(3, 0, [tf.float32], [[2]], name="q"),
    "PaddingFIFOQueue": lambda: tf.PaddingFIFOQueue(3, [tf.float32], [[2]], name="q"),
}


@pytest.fixture(params=KINDS)
def queue(request: pytest.FixtureRequest) -> Any:
    return KINDS[request.param]()


def test_full_empty_closed(queue: Any) -> None:
    fed, count = tf.placeholder(tf.float32), tf.placeholder(tf.int32, [])
    give, several = queue.enqueue([fed]), queue.enqueue_many([fed])
    take, many, up_to = queue.dequeue(), queue.dequeue_many(count), queue.dequeue_up_to(count)
    size, close, is_closed = queue.size(), queue.close(), queue.is_closed()
    with tf.Session() as session:
        for waits in (take, [many], [up_to]):
            with pytest.raises(DeadlineExceededError, match="Timed out waiting for notification"):
                soon(session, waits, {count: 5})
        session.run(several, {fed: [[1, 2], [3, 4], [5, 6]]})
        with pytest.raises(DeadlineExceededError, match=r"it waited for room in \w+Queue '_\d+_q' \(3 of 3 elements"):
            soon(session, give, {fed: [7, 8]})
        with pytest.raises(DeadlineExceededError):
            soon(session, many, {count: 4})
        assert session.run(size) == 3
        assert sorted(session.run(many, {count: 2}).ravel().tolist() + session.run(take).tolist()) == [1, 2, 3, 4, 5, 6]
        assert session.run(many, {count: 0}).shape == (0, 2)
        session.run(several, {fed: [[1, 2], [3, 4], [5, 6]]})
        assert not session.run(is_closed)
        session.run(close)
        assert session.run(is_closed)
        for closed, text in ((give, r"Queue '_\d+_q' is closed\."), (close, r"Queue '_\d+_q' is already closed\.")):
            with pytest.raises(CancelledError, match=text):
                session.run(closed, {fed: [7, 8]})
        session.run(several, {fed: np.zeros([0, 2])})
        with pytest.raises(
            OutOfRangeError, match=r"insufficient elements \(requested 4, current size 3\)\n\t \[\[{{node q_De"
        ):
            session.run(many, {count: 4})
        assert session.run(up_to, {count: 4}).shape == (3, 2)
        for ended in (take, many, up_to):
            with pytest.raises(OutOfRangeError, match=r"current size 0\)"):
                session.run(ended, {count: 4})
        assert session.run(up_to, {count: 0}).shape == (0, 2)


def test_what_does_not_fit(queue: Any) -> None:
    fed, count = tf.placeholder(tf.float32), tf.placeholder(tf.int32)
    give, several = queue.enqueue(fed), queue.enqueue_many([fed])
    many, up_to = queue.dequeue_many(count), queue.dequeue_up_to(count)
    refused = [
        (give, {fed: [1.0, 2.0, 3.0]}, r"Shape mismatch in tuple component 0. Expected \[2\], got \[3\]"),
        (give, {fed: 1.0}, r"Shape mismatch in tuple component 0. Expected \[2\], got \[\]"),
        (several, {fed: [[1.0, 2.0, 3.0]]}, r"Expected \[1,2\], got \[1,3\]"),
        (several, {fed: 1.0}, r"Expected \[\?,2\], got \[\]"),
        (several, {fed: [1.0, 2.0]}, r"Expected \[2,2\], got \[2\]"),
        (many, {count: -1}, "DequeueManyOp requested -1 < 0 elements"),
        (up_to, {count: -1}, "DequeueUpToOp requested -1 < 0 elements"),
        (many, {count: [1, 2]}, r"DequeueManyOp wants a scalar number of elements, not one of shape \[2\]"),
    ]
    with tf.Session() as session:
        for fetch, feeds, text in refused:
            with pytest.raises(InvalidArgumentError, match=text):
                session.run(fetch, feeds)


def test_tuples_and_names() -> None:
    pairs = tf.FIFOQueue(10, [tf.int32, tf.float32], shapes=[[], [3, 2]], shared_name="shared_q")
    named = tf.FIFOQueue(10, [tf.int32, tf.string], names=["id", "word"])
    a, b = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [3, 2])
    give, (take_a, take_b), (many_a, many_b) = pairs.enqueue((a, b)), pairs.dequeue(), pairs.dequeue_many(2)
    matrix = np.arange(6.0).reshape(3, 2)
    put, got = named.enqueue({"word": "x", "id": 7}), named.dequeue()
    with tf.Session() as session:
        for number in (10, 11, 12, 13):
            session.run(give, {a: number, b: matrix + number})
        first, second = session.run([take_a, take_b])
        assert first == 10 and second.tolist() == (matrix + 10).tolist()
        numbers, matrices = session.run([many_a, many_b])
        assert numbers.tolist() == [11, 12]
        assert matrices.tolist() == [(matrix + 11).tolist(), (matrix + 12).tolist()]
        assert session.run(take_b).shape == (3, 2)  # the other component is gone with it
        assert session.run(pairs.size()) == 0
        session.run(put)
        assert session.run(got) == {"id": 7, "word": b"x"}
        with pytest.raises(InvalidArgumentError, match="require the components to have specified shapes"):
            session.run(named.dequeue_many(2))


def test_padding() -> None:
    queue = tf.PaddingFIFOQueue(50, [tf.float32, tf.string], [(None, None), (None,)])
    matrix, words = tf.placeholder(tf.float32), tf.placeholder(tf.string)
    give, many = queue.enqueue([matrix, words]), queue.dequeue_many(3)
    with tf.Session() as session:
        for m, w in (([[1, 2], [3, 4], [5, 6]], ["a"]), ([[1]], ["b", "c"]), ([[7, 8, 9, 5], [6, 7, 8, 9]], [])):
            session.run(give, {matrix: m, words: np.array(w, object)})
        padded, padded_words = session.run(many)
        assert padded.tolist() == [
            [[1, 2, 0, 0], [3, 4, 0, 0], [5, 6, 0, 0]],
            [[1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
            [[7, 8, 9, 5], [6, 7, 8, 9], [0, 0, 0, 0]],
        ]
        assert padded_words.tolist() == [[b"a", b""], [b"b", b"c"], [b"", b""]]
        assert [v.shape for v in session.run(queue.dequeue_many(0))] == [(0, 0, 0), (0, 0)]
        session.run(give, {matrix: [[1.0, 2.0]], words: ["a"]})
        assert session.run(queue.dequeue())[0].tolist() == [[1.0, 2.0]]
        with pytest.raises(InvalidArgumentError, match=r"component 0. Expected \[\?,\?\], got \[1\]"):
            session.run(give, {matrix: [1.0], words: ["a"]})


def test_priorities() -> None:
    queue = tf.PriorityQueue(20, [tf.string], [[]])
    assert queue.dtypes == [tf.int64, tf.string]
    give = queue.enqueue_many([[3, 1, 2], ["c", "a", "b"]])
    uneven = queue.enqueue_many([tf.placeholder_with_default(np.int64([1, 2]), None), ["a"]])
    with tf.Session() as session:
        session.run(give)
        priorities, words = session.run(queue.dequeue_many(3))
        assert priorities.tolist() == [1, 2, 3] and words.tolist() == [b"a", b"b", b"c"]
        with pytest.raises(InvalidArgumentError, match=r"component 1. Expected \[2\], got \[1\]"):
            session.run(uneven)


def test_what_is_in_a_queue_is_nobody_else_s() -> None:
    """Neither the caller's array nor a variable's buffer changes it."""
    queue, v = tf.FIFOQueue(5, [tf.float32], [[2]]), tf.Variable([1.0, 2.0])
    fed = tf.placeholder(tf.float32, [2])
    give, give_variable, take = queue.enqueue(fed), queue.enqueue(v), queue.dequeue()
    change = v.assign_add([5.0, 5.0])
    array = np.float32([1, 2])
    with tf.Session() as session:
        session.run(v.initializer)
        for _ in range(3):
            session.run(give, {fed: array})
            session.run(give_variable)
            array += 1
            session.run(change)
            assert session.run(take).tolist() == (array - 1).tolist()
            taken = session.run(take)
            assert taken.tolist() == (session.run(v) - 5).tolist()


# --- who shares --------------------------------------------------------------------------------------------------------


def test_sessions_have_queues_of_their_own() -> None:
    queue = tf.FIFOQueue(5, [tf.int32], [[]], shared_name="shared")
    give, size = queue.enqueue(1), queue.size()
    with tf.Session() as one, tf.Session() as other:
        one.run(give)
        assert one.run(size) == 1
        assert other.run(size) == 0


def test_a_shared_name_is_one_queue_in_a_container() -> None:
    first, second = (tf.FIFOQueue(5, [tf.int32], [[]], shared_name="shared") for _ in range(2))
    with tf.container("box"):
        boxed = tf.FIFOQueue(5, [tf.int32], [[]], shared_name="shared")
    variable = tf.Variable(1.0, name="shared")  # another kind of thing
    own = tf.FIFOQueue(5, [tf.int32], [[]], name="shared_2")
    with tf.Session() as session:
        session.run([first.enqueue(1), variable.initializer])
        assert session.run([second.size(), boxed.size(), own.size()]) == [1, 0, 0]


def test_a_shared_queue_is_what_it_is_taken_for() -> None:
    queue = tf.FIFOQueue(3, [tf.float32], [[2]], shared_name="s")
    shuffling = tf.RandomShuffleQueue(3, 1, [tf.float32], [[2]], seed=2, shared_name="r")
    others = [
        (
            tf.FIFOQueue(4, [tf.float32], [[2]], shared_name="s"),
            "Shared queue 's' has capacity 3 but requested capacity was 4",
        ),
        (
            tf.FIFOQueue(3, [tf.int32], [[2]], shared_name="s"),
            "Shared queue 's' has component types float but requested component types were int32",
        ),
        (
            tf.FIFOQueue(3, [tf.float32], [[3]], shared_name="s"),
            r"Shared queue 's' has component shapes \[\[2\]\] but requested component shapes were \[\[3\]\]",
        ),
        (tf.FIFOQueue(3, [tf.float32], shared_name="s"), r"but requested component shapes were \[\]"),
        (
            tf.RandomShuffleQueue(3, 1, [tf.float32], [[2]], shared_name="s"),
            "Expected FIFOQueue, found RandomShuffleQueueV2",
        ),
        (
            tf.RandomShuffleQueue(3, 2, [tf.float32], [[2]], seed=2, shared_name="r"),
            "has min_after_dequeue 1 but requested min_after_dequeue was 2.",
        ),
        (
            tf.RandomShuffleQueue(3, 1, [tf.float32], [[2]], seed=3, shared_name="r"),
            r"has random seeds \(87654321, 2\) but requested seeds are \(87654321, 3\).",
        ),
    ]
    with tf.Session() as session:
        session.run([queue.size(), shuffling.size()])
        for other, text in others:
            with pytest.raises(InvalidArgumentError, match=text):
                session.run(other.size())
        with pytest.raises(InvalidArgumentError, match="min_after_dequeue 5 must be < capacity 3"):
            session.run(tf.RandomShuffleQueue(3, 5, [tf.int32]).size())


def test_one_of_several_queues() -> None:
    which = tf.placeholder(tf.int32, [])
    queues = [tf.FIFOQueue(3, [tf.int32], [[]], name=f"q{i}") for i in range(3)]
    chosen = tf.QueueBase.from_list(which, queues)
    give = chosen.enqueue(which * 10)
    with tf.Session() as session:
        for i in (2, 0, 2):
            session.run(give, {which: i})
        assert session.run([q.size() for q in queues]) == [1, 0, 2]
        assert session.run(chosen.dequeue(), {which: 2}) == 20


def test_nodes_that_take_the_queue_for_another() -> None:
    queue = tf.FIFOQueue(3, [tf.int32, tf.float32])
    with tf.Session() as session:
        with pytest.raises(
            InvalidArgumentError, match=r"has components of types \(int32, float32\), but the node's are \(int32\)"
        ):
            session.run(queue.enqueue([1]))
        with pytest.raises(InvalidArgumentError, match="Timeout not supported yet"):
            session.run(get_op("QueueDequeueV2")(queue.queue_ref, component_types=[tf.int32, tf.float32], timeout_ms=5))
        uneven = queue.enqueue_many([[1, 2], tf.placeholder_with_default([1.0], None)])
        with pytest.raises(InvalidArgumentError, match=r"Component 1 has 1, and should have 2"):
            session.run(uneven)


def test_gradients_stop_at_queues() -> None:
    x, queue = tf.constant(2.0), tf.FIFOQueue(3, [tf.float32], [[]])
    with tf.control_dependencies([queue.enqueue(x)]):
        y = queue.dequeue() * x
    with tf.Session() as session:
        assert session.run(tf.gradients(y, x))[0] == 2.0


def test_what_they_cannot_be() -> None:
    with pytest.raises(ValueError, match="All shapes must have a defined rank"):
        tf.PaddingFIFOQueue(3, [tf.int32], [tf.TensorShape(None)])
    with tf.Session() as session, pytest.raises(InvalidArgumentError, match="min_after_dequeue -1 must be >= 0"):
        session.run(tf.RandomShuffleQueue(3, -1, [tf.int32]).size())
