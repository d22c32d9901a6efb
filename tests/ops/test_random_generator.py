"""Generators with a state of their own; TensorFlow's numbers are in tests/golden/programs/random_stateless.py."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import tfexp as tf
from tfexp.core.op import get_op
from tfexp.runtime.eager import eager_mode

experimental = tf.random.experimental
Generator = experimental.Generator


@pytest.fixture
def session() -> Iterator[tf.Session]:
    with tf.Graph().as_default(), tf.Session() as one:
        yield one


def ready(session: tf.Session) -> None:
    session.run(tf.global_variables_initializer())


def test_a_state_decides_what_comes(session: tf.Session) -> None:
    first, second = Generator.from_seed(5), Generator.from_seed(5, "philox")
    one, other = first.normal([7]), second.normal([7])
    ready(session)
    runs = [session.run([one, other]) for _ in range(2)]
    np.testing.assert_array_equal(*runs[0])
    np.testing.assert_array_equal(*runs[1])
    assert (runs[0][0] != runs[1][0]).all()
    reset = first.reset_from_seed(5)
    session.run(reset)
    np.testing.assert_array_equal(session.run(one), runs[0][0])
    again = first.reset(second.state)
    session.run(again)
    np.testing.assert_array_equal(session.run(first.state), session.run(second.state))
    session.run(first.reset_from_key_counter(3, [2**63 - 1, 4]))
    assert session.run(first.state).tolist() == [2**63 - 1, 4, 3]
    assert session.run([first.key, tf.constant(first.algorithm)]) == [3, 1]


def test_a_counter_carries_into_its_upper_half(session: tf.Session) -> None:
    made = Generator.from_key_counter(9, [-256, 0], "philox")
    copy = Generator(copy_from=made)
    before, after = made.skip(2), made.state
    session.run(made.state.initializer)
    session.run(copy.state.initializer)
    assert session.run(before).tolist() == [-256, 0, 9]
    assert session.run(after).tolist() == [256, 1, 9]
    assert session.run(copy.state).tolist() == [-256, 0, 9]
    top = Generator.from_state([-1, -1, 9], 1)
    session.run(top.state.initializer)
    session.run(top.skip(1))
    assert session.run(top.state).tolist() == [255, 0, 9]


def test_generators_of_the_system_differ(session: tf.Session) -> None:
    drawn = [Generator.from_non_deterministic_state().state for _ in range(2)]
    ready(session)
    one, other = session.run(drawn)
    assert (one != other).any()
    ints = get_op("NonDeterministicInts")
    found = session.run(ints(tf.constant([2, 3]), dtype=tf.int32))
    assert (found.shape, found.dtype) == ((2, 3), np.int32)


def test_each_graph_has_its_global_generator(session: tf.Session) -> None:
    own = experimental.get_global_generator()
    assert experimental.get_global_generator() is own
    with tf.Graph().as_default():
        assert experimental.get_global_generator() is not own
    other = Generator.from_seed(3)
    experimental.set_global_generator(other)
    assert experimental.get_global_generator() is other


def test_eager_ones_draw_the_same(session: tf.Session) -> None:
    def draws(made):
        return [made.normal([3]), made.uniform([2], maxval=9, dtype=tf.int32), made.make_seeds(2), made.skip(3)]

    with eager_mode():
        own = Generator.from_seed(7)
        wanted = [one.numpy() for one in draws(own)]
        moved = own.state.numpy()
        own.reset_from_seed(7)
        np.testing.assert_array_equal(own.normal([3]).numpy(), wanted[0])
    made = Generator.from_seed(7)
    steps = draws(made)
    ready(session)
    for step, expected in zip(steps, wanted, strict=True):
        np.testing.assert_array_equal(session.run(step), expected)
    np.testing.assert_array_equal(session.run(made.state), moved)


def test_binomial_numbers(session: tf.Session) -> None:
    made = Generator.from_seed(3)
    counts, probs = np.array([5.0, 100, 1000, 40]), np.array([0.3, 0.5, 0.7, 0.9])
    drawn = made.binomial([4, 3000], counts, probs, dtype=tf.float64, name="drawn")
    edges = made.binomial([6, 2], [0.0, 9, 9, -1, 9, np.nan], [0.5, 0, 1, 0.5, 1.5, 0.5], dtype=tf.float64)
    same = made.binomial([7], 11, 1)
    ready(session)
    values = session.run(drawn)
    np.testing.assert_allclose(values.mean(1), counts * probs, rtol=0.03)
    np.testing.assert_allclose(values.var(1), counts * probs * (1 - probs), rtol=0.1)
    assert (values >= 0).all() and (values.max(1) <= counts).all()
    assert drawn.op.type == "StatefulRandomBinomial" and (session.run(drawn) != values).any()
    assert session.run(edges)[:3].tolist() == [[0, 0], [0, 0], [9, 9]] and np.isnan(session.run(edges)[3:]).all()
    assert (session.run(same) == 11).all() and same.dtype == tf.int32
    with pytest.raises(tf.errors.InvalidArgumentError, match="counts should have length 1"):
        session.run(made.binomial([3], [1.0, 2.0], 0.5))


def test_seeds_for_stateless_ops(session: tf.Session) -> None:
    made = Generator.from_seed(1)
    seeds = made.make_seeds(2)
    numbers = tf.random.stateless_uniform([3], seeds[:, 0])
    ready(session)
    assert seeds.shape.as_list() == [2, 2]
    assert (session.run(numbers) != session.run(numbers)).all()


def test_refusals(session: tf.Session) -> None:
    with pytest.raises(ValueError, match="Unsupported algorithm 'threefry'"):
        Generator.from_seed(1, "threefry")
    with pytest.raises(ValueError, match="Unsupported algorithm 7"):
        experimental.create_rng_state(1, 7)
    with pytest.raises(ValueError, match="needs a state and an algorithm"):
        Generator(state=[1, 2, 3])
    with pytest.raises(ValueError, match="not both"):
        Generator(copy_from=Generator.from_seed(1), alg=1)
    with pytest.raises(ValueError, match="are incompatible"):
        Generator.from_state([1, 2], 1)
    with pytest.raises(ValueError, match="Must specify maxval"):
        Generator.from_seed(1).uniform([2], dtype=tf.int64)
    read = get_op("RngReadAndSkip")
    made = Generator.from_seed(1)
    with pytest.raises(ValueError, match="Unsupported algorithm 2"):
        read(made.state.handle, tf.constant(2), tf.constant(1, tf.uint64))
    unset = made.normal([2])
    with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized"):
        session.run(unset)
    alg, delta = tf.placeholder(tf.int32, []), tf.constant(1, tf.uint64)
    ready(session)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unsupported algorithm 2"):
        session.run(read(made.state.handle, alg, delta), {alg: 2})
    wide = tf.Variable(np.zeros(5, np.int64), use_resource=True)
    session.run(wide.initializer)
    with pytest.raises(tf.errors.InvalidArgumentError, match="has 3 elements"):
        session.run(read(wide.handle, alg, delta), {alg: 1})


def test_generators_that_one_draws_have_streams_of_their_own(session: tf.Session) -> None:
    parent = Generator.from_seed(5)
    children = parent.split(3)
    session.run(parent.state.initializer)
    session.run([child.state.initializer for child in children])
    drawn = session.run([child.normal([2]) for child in children])
    assert len({tuple(numbers) for numbers in drawn}) == 3
