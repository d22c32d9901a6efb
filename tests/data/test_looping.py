"""Control flow in the functions of data sets, and loops over data sets in converted functions."""

from typing import Any

import pytest

import tfexp as tf
from tests.data.running import numbers

_convert = tf.autograph.to_graph


def test_functions_of_data_sets_are_converted() -> None:
    def steps(n: Any) -> Any:
        count = 0
        while n > 1:
            if n % 2 > 0:
                n = 3 * n + 1
            else:
                n = n // 2
            count += 1
        return count

    def odd(n: Any) -> Any:
        return n % 2 > 0 and n > 1

    def up_to(n: Any) -> Any:
        if n > 3:
            n = tf.constant(2, tf.int64)
        return tf.data.Dataset.range(n)

    def largest(state: Any, n: Any) -> Any:
        return n if n > state else state

    source = tf.data.Dataset.range(8)
    assert numbers(source.map(steps)) == [0, 0, 1, 7, 2, 5, 8, 16]
    assert numbers(source.filter(odd)) == [3, 5, 7]
    assert numbers(source.filter(lambda n: not (n < 2 or n > 4))) == [2, 3, 4]
    assert numbers(source.flat_map(up_to).take(6)) == [0, 0, 1, 0, 1, 2]
    assert numbers(tf.data.Dataset.from_tensors(source.reduce(tf.constant(3, tf.int64), largest))) == [7]
    assert numbers(source.apply(tf.data.experimental.take_while(lambda n: n < 2 or n == 1))) == [0, 1]


def test_what_is_marked_is_not_converted() -> None:
    @tf.autograph.experimental.do_not_convert
    def sign(n: Any) -> Any:
        return 1 if n > 0 else -1

    with pytest.raises(TypeError, match="as a Python `bool`"):
        tf.data.Dataset.range(3).map(sign)


@pytest.mark.parametrize("limit", [0, 5])
def test_loops_over_data_sets(limit: int) -> None:
    def total(n: Any) -> Any:
        sums, products = tf.constant(0, tf.int64), tf.constant(1, tf.int64)
        for a, b in tf.data.Dataset.zip((tf.data.Dataset.range(n), tf.data.Dataset.range(1, n + 1))):
            sums += a
            products *= b
        return sums, products

    with tf.Session() as session:
        n = tf.placeholder(tf.int64, [])
        assert session.run(_convert(total)(n), {n: limit}) == ((0, 1) if limit == 0 else (10, 120))


def test_loops_over_data_sets_that_end_early() -> None:
    def first_above(n: Any) -> Any:
        skipped = tf.constant(0, tf.int64)
        for a in tf.data.Dataset.range(1000).repeat():
            if a > n:
                return a * 100 + skipped
            if a % 2 > 0:
                continue
            skipped += 1
        return tf.constant(-1, tf.int64)

    def count(n: Any) -> Any:
        found = 0
        for a in tf.data.Dataset.range(10):
            if a >= n:
                break
            found += 1
        else:
            found = -1
        return found

    with tf.Session() as session:
        n = tf.placeholder(tf.int64, [])
        found = _convert(count)(n)
        assert [session.run(found, {n: k}) for k in (0, 4, 10)] == [0, 4, -1]
        above = _convert(first_above)(n)
        assert [session.run(above, {n: k}) for k in (0, 4)] == [101, 503]
