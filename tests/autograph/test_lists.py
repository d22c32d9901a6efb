"""Lists that grow in loops of the graph."""

from typing import Any

import pytest

import tfexp as tf


def _converted(function: Any) -> Any:
    return tf.autograph.to_graph(function, experimental_optional_features=tf.autograph.experimental.Feature.LISTS)


def test_a_list_that_a_loop_makes_longer() -> None:
    def odd_squares(n: Any) -> Any:
        found = [7]
        for i in tf.range(n):
            if i % 2 > 0:
                found.append(i * i)
        total = 0
        for square in found:
            total += square
        return tf.stack(found), len(found), found[0], found[-1], total

    with tf.Graph().as_default(), tf.Session() as session:
        n = tf.placeholder(tf.int32, [])
        result = _converted(odd_squares)(n)
        assert [part.tolist() for part in session.run(result, {n: 5})] == [[7, 1, 9], 3, 7, 9, 17]
        assert [part.tolist() for part in session.run(result, {n: 0})] == [[7], 1, 7, 7, 7]


def test_lists_of_python_stay_pythons() -> None:
    kept: list[int] = []

    def grows(n: Any) -> Any:
        values = []
        for i in range(3):
            values.append(i)
            kept.append(i)
        values.append(n)
        return values

    assert _converted(grows)(7) == [0, 1, 2, 7]
    assert kept == [0, 1, 2]


def test_gradients_go_through_lists() -> None:
    def cubes(x: Any) -> Any:
        rows = []
        for i in tf.range(2):
            rows.append(tf.stack([x, x * x]) * tf.cast(i + 1, tf.float32))
        return tf.reduce_sum(tf.stack(rows))

    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(5.0)
        assert session.run(tf.gradients(_converted(cubes)(x), x)) == [33.0]


def test_items_are_of_one_type() -> None:
    def mixes(n: Any) -> Any:
        values = [1.5]
        for i in tf.range(n):
            values.append(i)
        return values

    with tf.Graph().as_default(), pytest.raises(TypeError, match="int32"):
        _converted(mixes)(tf.constant(3))
