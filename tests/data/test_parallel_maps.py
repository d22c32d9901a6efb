"""Calls of parallel maps that run at the same time, and the options that say how. Nothing waits but where a test fails."""

import threading

import numpy as np
import pytest

import tfexp as tf
from tests.data.running import numbers, unbatched

Data = tf.data.Dataset
GENEROUS = 2  # seconds


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


class Meeting:
    """A Python function whose call for element `first` waits for the call for the next one."""

    def __init__(self, first):
        self.first, self._there, self.met = first, threading.Event(), None

    def __call__(self, value):
        if value == self.first:
            self.met = self._there.wait(GENEROUS)
        if value == self.first + 1:
            self._there.set()
        return np.int64(value)

    def function(self, stateful):
        return lambda value: tf.py_func(self, [value], tf.int64, stateful=stateful)


# Elements after many quick ones, of which several are handed over at a time.
FIRSTS = [0, 41]
SOURCES = {
    "in blocks": lambda: Data.range(60),
    "singly": lambda: Data.range(60).map(lambda i: tf.unique([i]).y[0]),
    "in stacks": lambda: unbatched(Data.range(60).batch(3)),
}


@pytest.mark.parametrize("first", FIRSTS)
@pytest.mark.parametrize("source", list(SOURCES))
@pytest.mark.parametrize("stateful", [True, False])
def test_a_python_function_may_wait_for_another_call(first, source, stateful):
    meeting = Meeting(first)
    assert numbers(SOURCES[source]().map(meeting.function(stateful), num_parallel_calls=2)) == list(range(60))
    assert meeting.met


def test_calls_that_are_mapped_into_batches_may_wait_for_each_other():
    meeting = Meeting(41)
    data = Data.range(60).apply(tf.data.experimental.map_and_batch(meeting.function(True), 10, num_parallel_calls=2))
    assert [batch[0] for batch in numbers(data)] == [0, 10, 20, 30, 40, 50]
    assert meeting.met


def test_an_element_may_wait_in_a_queue_for_what_a_later_call_puts_in():
    queue = tf.FIFOQueue(1, tf.int64, [])

    def taken_or_given(value):
        def give():
            with tf.control_dependencies([queue.enqueue(value)]):
                return tf.identity(value)

        is_even = tf.equal(value % 2, 0)
        return tf.cond(is_even, queue.dequeue, give)

    assert numbers(Data.range(40).map(taken_or_given, num_parallel_calls=2)) == [v | 1 for v in range(40)]


def test_a_map_that_need_not_keep_the_order_gives_what_is_there():
    release = threading.Event()

    def slow_at_first(value):
        if value == 0:
            assert release.wait(GENEROUS)
        return np.int64(value)

    options = tf.data.Options()
    options.experimental_deterministic = False
    mapped = Data.range(6).map(lambda v: tf.py_func(slow_at_first, [v], tf.int64), num_parallel_calls=2)
    element = mapped.repeat(2).with_options(options).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        early = [int(session.run(element)) for _ in range(5)]
        release.set()
        late = [int(session.run(element)) for _ in range(7)]
    assert early == [1, 2, 3, 4, 5]
    assert late[0] == 0 and sorted(late[1:]) == [0, 1, 2, 3, 4, 5]


def test_a_map_has_no_more_threads_than_its_options_say():
    lock, running, most = threading.Lock(), [0], [0]

    def counted(value):
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        with lock:
            running[0] -= 1
        return np.int64(value)

    options = tf.data.Options()
    options.experimental_threading.private_threadpool_size = 1
    names = set()

    def named(value):
        names.add(threading.current_thread().name)
        return counted(value)

    mapped = Data.range(40).map(lambda v: tf.py_func(named, [v], tf.int64), num_parallel_calls=4).batch(2).cache()
    assert len(numbers(mapped.with_options(options))) == 20
    assert most[0] == len(names) == 1


def test_options_are_kept_and_merged():
    first, second = tf.data.Options(), tf.data.Options()
    first.experimental_threading.private_threadpool_size = 3
    second.experimental_deterministic = False
    data = Data.range(3).with_options(first).map(lambda v: v).with_options(second)
    assert data.options().experimental_threading.private_threadpool_size == 3
    assert data.options().experimental_deterministic is False
    assert Data.zip((Data.range(2), data)).options() == data.options()
    assert tf.data.Options() == tf.data.Options() != first
    assert repr(second) == "Options(experimental_deterministic=False, experimental_threading=ThreadingOptions())"
    second.experimental_threading = tf.data.experimental.ThreadingOptions()
    second.experimental_threading.private_threadpool_size = 2
    with pytest.raises(ValueError, match=r"incompatible values .3 and 2. of option: private_threadpool_size"):
        data.with_options(second)
    with pytest.raises(TypeError, match="Incompatible options type"):
        first.merge(3)


@pytest.mark.parametrize("message", [b"\x0a", b"\x0d\x00\x00\x00\x00"])
def test_a_message_that_is_no_options_is_refused(message):
    source = Data.range(3)
    node = tf.raw_ops.OptionsDataset(
        input_dataset=source._variant_tensor, serialized_options=message, output_types=[tf.int64], output_shapes=[[]]
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"serialized_options is no tf.data.Options message"):
        numbers(Data(node, source._element))
