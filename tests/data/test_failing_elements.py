"""What an element that fails does to those around it: each error comes once and in its place, and nothing else is lost.

What is expected was seen with TensorFlow 1.15.
"""

import numpy as np
import pytest

import tfexp as tf
from tests.data.running import numbers

Data = tf.data.Dataset
experimental = tf.data.experimental


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


def checked(value):
    """Of multiples of 3, an error."""
    return value + 0 * (6 // (value % 3))


def singly(value):
    """The same, of one element at a time."""
    return checked(tf.unique([value]).y[0])


@pytest.fixture(params=[checked, singly])
def failing(request):
    """(0), 1, 2, (3), 4, 5, (6), 7, where those in brackets fail; elements that come in blocks, and others."""
    return Data.range(8).map(request.param)


def story(dataset):
    """The elements of a run, with "error" for each error."""
    element = tf.data.make_one_shot_iterator(dataset).get_next()
    told = []
    with tf.Session() as session:
        while True:
            try:
                told.append(np.asarray(session.run(element)).tolist())
            except tf.errors.OutOfRangeError:
                return told
            except tf.errors.InvalidArgumentError:
                told.append("error")


@pytest.mark.parametrize(("first", "second"), [(None, 2), (None, 3), (2, 2), (3, 2), (-1, -1)])
def test_parallel_maps_of_what_fails_keep_the_order_and_lose_nothing(first, second):
    data = Data.range(8).map(singly, num_parallel_calls=first).map(lambda v: v + 10, num_parallel_calls=second)
    assert story(data) == ["error", 11, 12, "error", 14, 15, "error", 17]
    assert numbers(data.apply(experimental.ignore_errors())) == [11, 12, 14, 15, 17]


def test_a_failing_element_is_none_of_those_that_are_taken(failing):
    assert story(failing.take(4)) == ["error", 1, 2, "error", 4, 5]


def test_a_shuffle_keeps_what_it_has_drawn_when_the_next_one_fails(failing):
    assert story(failing.shuffle(3, seed=3)) == ["error", "error", 1, 2, "error", 4, 5, 7]
    assert story(failing.shuffle(2, seed=3).batch(5)) == ["error"] * 3 + [[5, 7]]


def test_a_batch_of_mapped_elements_fails_as_one(failing):
    assert story(failing.batch(2)) == ["error", "error", [4, 5], "error"]
    assert story(failing.batch(3)) == ["error"] * 3
    assert story(failing.batch(2).map(lambda v: v + 1)) == ["error", "error", [5, 6], "error"]
    together = experimental.map_and_batch(singly, 2, num_parallel_calls=2)
    assert story(Data.range(8).apply(together)) == ["error", "error", [4, 5], "error"]


def test_a_batch_of_other_elements_begins_again_after_the_one_that_fails(failing):
    assert story(failing.filter(lambda v: v < 9).batch(2)) == ["error", [1, 2], "error", [4, 5], "error", [7]]


def test_windows_fail_with_their_elements_and_the_others_stay(failing):
    def windows(size, shift, stride=1):
        return story(failing.window(size, shift, stride).flat_map(lambda window: window.batch(size)))

    assert windows(2, 2) == ["error", "error", [4, 5], "error"]
    assert windows(2, 1) == ["error", [1, 2], "error", "error", [4, 5], "error", "error", [7]]
    assert windows(2, 2, 3) == ["error", [2, 5], [4, 7], "error"]
