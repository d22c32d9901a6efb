"""`tf.function` in eager execution: steps that run, tapes that watch them, variables that they update."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.runtime.eager import eager_mode


@pytest.fixture(autouse=True)
def world() -> Iterator[Any]:
    with eager_mode() as made:
        yield made


def test_a_call_runs_and_keeps_to_the_structure() -> None:
    sums = tf.function(lambda x, y: {"sum": x + y, "pair": (x, None)})
    results = sums(tf.constant([1.0, 2.0]), 3.0)
    np.testing.assert_array_equal(results["sum"].numpy(), [4, 5])
    assert results["pair"][1] is None and results["sum"].shape.as_list() == [2]


def test_what_is_read_before_an_update_stays() -> None:
    v = tf.Variable([1.0, 2.0])
    before = v.read_value()

    @tf.function
    def step(x: Any) -> Any:
        y = v * x
        v.assign_add([1.0, 1.0])
        return y, v

    y, after = step(tf.constant(2.0))
    step(tf.constant(2.0))
    for value, expected in ((before, [1, 2]), (y, [2, 4]), (after, [2, 3]), (v, [3, 4])):
        np.testing.assert_array_equal(value.numpy(), expected)


def test_values_around_a_function_are_known_to_shapes() -> None:
    rows, offset = tf.constant(3), tf.constant([10.0, 20.0])
    reshaped = tf.function(lambda x: tf.reshape(x, [rows, -1]) + offset)
    concrete = reshaped.get_concrete_function(tf.TensorSpec([6], tf.float32))
    assert concrete.outputs[0].shape.as_list() == [3, 2] and len(concrete.captured_inputs) == 2
    np.testing.assert_array_equal(concrete(tf.zeros([6])).numpy(), [[10, 20]] * 3)


def test_random_numbers_go_on_from_call_to_call() -> None:
    draw = tf.function(lambda: tf.random.uniform([3], seed=5))
    first, second = draw().numpy(), draw().numpy()
    assert not np.array_equal(first, second)
    with eager_mode():
        np.testing.assert_array_equal(tf.function(lambda: tf.random.uniform([3], seed=5))().numpy().shape, [3])


def loss(x: Any, v: Any) -> Any:
    y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.sin(y) * v + x), [0, v * x])[1]
    return tf.reduce_sum(y * tf.cond(x > 0, lambda: v, lambda: x - v))


@pytest.mark.parametrize("start", [0.7, -0.7])
def test_tapes_differentiate_calls_as_often_as_they_like(start: float) -> None:
    v, found = tf.Variable([1.0, 2.0]), []
    for function in (tf.function(lambda x: loss(x, v)), lambda x: loss(x, v)):
        x = tf.constant(start)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape(persistent=True) as inner:
                inner.watch(x)
                y = function(x)
            first = inner.gradient(y, [x, v])
            again = inner.gradient(y, v)
        second = outer.gradient(first, [x, v])
        np.testing.assert_array_equal(first[1].numpy(), again.numpy())
        found.append([t.numpy() for t in (y, *first, *second)])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


def test_gradients_inside_a_function_train_a_model() -> None:
    w, optimizer, taken = tf.Variable([0.0, 0.0]), tf.train.AdamOptimizer(0.1), []

    @tf.function
    def train(x: Any, y: Any) -> Any:
        taken.append(1)
        with tf.GradientTape() as tape:
            error = tf.reduce_mean((w * x - y) ** 2)
        optimizer.apply_gradients([(tape.gradient(error, w), w)])
        return error

    x, y = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    errors = [train(x, y).numpy() for _ in range(100)]
    assert errors[0] == pytest.approx(12.5) and errors[-1] < 1e-2 and len(taken) == 1
    np.testing.assert_allclose(w.numpy(), [3, 2], atol=0.2)
    minimize = tf.function(lambda: optimizer.minimize(lambda: tf.reduce_sum((w - 1.0) ** 2)) and None)
    before = abs(w.numpy() - 1)
    for _ in range(5):
        minimize()
    assert (abs(w.numpy() - 1) < before).all()


def test_variables_made_in_the_first_call_have_values_that_may_depend_on_it() -> None:
    class Dense:
        kernel: Any = None

        @tf.function
        def __call__(self, x: Any) -> Any:
            if self.kernel is None:
                self.kernel = tf.Variable(tf.fill([int(x.shape[-1]), 1], 2.0) + x[0][0])
            return tf.matmul(x, self.kernel)

    dense = Dense()
    np.testing.assert_array_equal(dense(tf.constant([[1.0, 2.0]])).numpy(), [[9]])
    np.testing.assert_array_equal(dense(tf.constant([[5.0, 5.0]])).numpy(), [[30]])
    with pytest.raises(ValueError, match="tried to create variables on non-first call"):
        tf.function(lambda x: tf.Variable(1.0) * x)(1.0)


@pytest.mark.usefixtures("only_new_garbage")
def test_a_function_is_forgotten_with_who_may_call_it(world: Any) -> None:
    big = tf.Variable(np.zeros(1000, np.float32))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.function(lambda: big * big)())
    np.testing.assert_array_equal(tape.gradient(y, big).numpy(), np.zeros(1000))
    del tape, y
    gc.collect()
    assert not world._functions


def test_errors_in_a_step_are_eager_executions() -> None:
    divide = tf.function(lambda x, y: x // y)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Integer division by zero"):
        divide(tf.constant(1), tf.constant(0))


def test_functions_can_be_run_eagerly() -> None:
    calls: list[Any] = []
    function = tf.function(lambda x: calls.append(x) or x + 1)
    try:
        tf.config.experimental_run_functions_eagerly(True)
        for _ in range(3):
            assert function(tf.constant(1)).numpy() == 2
    finally:
        tf.config.experimental_run_functions_eagerly(False)
    assert [int(x) for x in calls] == [1, 1, 1]


def test_data_sets_and_functions_use_each_other() -> None:
    v, doubled = tf.Variable(3.0), tf.function(lambda x: x * 2)
    elements = tf.data.Dataset.range(4).map(lambda x: doubled(tf.cast(x, tf.float32)) * v)
    assert [x.numpy() for x in elements] == [0, 6, 12, 18]
    numbers = tf.data.Dataset.range(5)
    total = tf.function(lambda: numbers.reduce(tf.constant(0, tf.int64), lambda a, b: a + b))
    assert total().numpy() == 10


def test_arrays_have_gradients() -> None:
    x = tf.Variable([2.0, 3.0])

    def product() -> Any:
        with tf.GradientTape() as tape:
            parts = tf.TensorArray(tf.float32, size=2, clear_after_read=False).unstack(x * 1.0)
            which = tf.TensorArray(tf.bool, size=2).unstack([True, False])
            written = tf.TensorArray(tf.float32, size=2)
            _, written = tf.while_loop(
                lambda i, _: i < 2,
                lambda i, w: (i + 1, w.write(i, tf.where(which.read(i), parts.read(i) * 5.0, parts.read(i) ** 2.0))),
                (0, written),
            )
            loss = tf.reduce_sum(written.stack())
        return tape.gradient(loss, [x, x])

    for first, second in (product(), tf.function(product)()):
        np.testing.assert_allclose(first.numpy(), [5, 6])
        np.testing.assert_allclose(second.numpy(), [5, 6])
