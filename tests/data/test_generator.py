"""`Dataset.from_generator`: what is yielded, when it begins and ends, what is refused."""

import gc
import sys

import numpy as np
import pytest

import tfexp as tf
from tests.data.running import drain, elements, numbers
from tfexp.runtime.eager import eager_mode

Data = tf.data.Dataset


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_each_run_has_a_generator_of_its_own():
    begun, ended = [], []

    def count(limit):
        begun.append(int(limit))
        try:
            yield from range(limit)
        finally:
            ended.append(int(limit))

    data = Data.from_generator(count, tf.int64, [], args=(3,))
    assert numbers(data.repeat(2)) == [0, 1, 2, 0, 1, 2]
    assert begun == ended == [3, 3]
    assert elements(Data.zip((data, data))) == [(0, 0), (1, 1), (2, 2)]
    assert numbers(data.take(1)) == [0]
    assert begun == ended == [3] * 5
    assert numbers(Data.range(3).flat_map(lambda n: Data.from_generator(count, tf.int64, [], args=(n,)))) == [0, 0, 1]


def test_structures_and_types():
    rows = [({"b": np.ones([2, 2]), "a": "text"}, 3), ({"b": [[0.0]], "a": b"bytes"}, True)]
    data = Data.from_generator(
        lambda: rows, ({"b": tf.float32, "a": tf.string}, tf.int32), ({"b": [None, None], "a": []}, [])
    )
    first, second = elements(data)
    assert first[0]["b"].dtype == np.float32
    assert (first[0]["a"], first[1], second[0]["a"]) == (b"text", 3, b"bytes")
    assert second[0]["b"].tolist() == [[0.0]]
    assert Data.from_generator(lambda: rows, tf.int32).output_shapes.rank is None


@pytest.mark.parametrize(
    ("yielded", "types", "shapes", "message"),
    [
        (
            ["x"],
            tf.int32,
            None,
            "could not be converted .* The expected type was int32, but the yielded element was x",
        ),
        ([1.7], tf.int32, None, "element was 1.7"),
        ([(1, 2)], (tf.int32, tf.int32, tf.int32), None, "did not match the expected structure"),
        ([[1, 2]], tf.int32, [3], r"yielded an element of shape \(2,\) where an element of shape \(3,\) was expected"),
    ],
)
def test_what_does_not_fit_is_refused(yielded, types, shapes, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        elements(Data.from_generator(lambda: yielded, types, shapes))


def test_what_a_generator_raises_arrives():
    def failing():
        yield 1
        raise RuntimeError("boom")

    iterator = tf.data.make_initializable_iterator(Data.from_generator(failing, tf.int32, []).prefetch(1))
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        assert session.run(element) == 1
        with pytest.raises(tf.errors.UnknownError, match="RuntimeError: boom"):
            session.run(element)


def test_what_is_no_generator():
    with pytest.raises(TypeError, match="must be callable"):
        Data.from_generator([1, 2], tf.int32)
    with pytest.raises(TypeError, match="must be a sequence"):
        Data.from_generator(list, tf.int32, args=3)


def test_a_generator_streams():
    """Nothing is asked for long before it is needed."""
    asked = []

    def endless():
        for number in range(10**9):
            asked.append(number)
            yield number

    iterator = tf.data.make_initializable_iterator(Data.from_generator(endless, tf.int64, []).batch(3))
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        assert next(drain(session, element)).tolist() == [0, 1, 2]
    assert asked == [0, 1, 2]


@pytest.mark.usefixtures("only_new_garbage")
def test_a_generator_that_is_left_in_the_middle_goes_quietly(monkeypatch):
    raised = []
    monkeypatch.setattr(sys, "unraisablehook", raised.append)

    def begin():
        assert int(next(iter(Data.from_generator(lambda: iter(range(9)), tf.int32)))) == 0

    with eager_mode():
        begin()
        gc.collect()
    assert not raised


def test_a_generator_of_which_enough_is_taken_ends():
    ended = []

    def numbers():
        try:
            yield from range(10)
        finally:
            ended.append(True)

    taken = Data.from_generator(numbers, tf.int64).take(2).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert [session.run(taken) for _ in range(2)] == [0, 1] and not ended
        for _ in range(2):
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(taken)
        assert ended == [True]
