"""The plan as a whole: graphs drawn at random give what the graph gives that runs as it is, a node at a time."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np
import pytest

import tfexp as tf
from tfexp.runtime.executor import Interpreter

UNARY = [
    *[tf.square, tf.tanh, tf.negative, tf.abs, tf.identity, tf.exp, tf.sigmoid, tf.sign, tf.floor, tf.sin],
    *[lambda t: tf.sqrt(tf.abs(t)), lambda t: tf.rsqrt(1.0 + tf.abs(t)), lambda t: tf.log1p(tf.abs(t))],
    *[lambda t: tf.reshape(t, [-1, 3]), lambda t: t + 2.0 * tf.ones_like(t), lambda t: 1.0 / (1.0 + t * t), tf.zeros_like],
    *[lambda t: t - tf.reduce_mean(t, 1, keepdims=True), lambda t: tf.pow(t, 2.0), tf.stop_gradient],
    lambda t: tf.reshape(tf.transpose(tf.transpose(t)), tf.shape(t)),
    lambda t: tf.concat(tf.split(t, [1, 2], 1)[::-1], 1),
    lambda t: tf.gather(t, tf.range(tf.shape(t)[0])[::-1]),
]
BINARY = [
    *[tf.add, tf.subtract, tf.multiply, tf.maximum, tf.minimum, tf.squared_difference],
    lambda a, b: tf.add_n([a + b, b + a]),
    lambda a, b: tf.where(a + b > 0, a - b, b * a),
    # Control flow of both kinds of choice, by a value that only the run knows, and by one that the plan knows.
    lambda a, b: tf.cond(tf.reduce_sum(a) > tf.reduce_sum(b), lambda: tf.tanh(a) + b, lambda: a - tf.sin(b)),
    lambda a, b: tf.cond(tf.equal(tf.rank(a), 2), lambda: a + b, lambda: a - b),
    lambda a, b: tf.while_loop(lambda i, _: i < 3, lambda i, t: (i + 1, tf.tanh(t + b)), [0, a + b])[1],
    lambda a, b: tf.while_loop(
        lambda i, t: tf.logical_and(i < 4, tf.reduce_sum(t) < 2.0), lambda i, t: (i + 1, t + tf.sigmoid(b)), [0, a + b]
    )[1],
]
SHAPES: list[Any] = [[None, 3], [None, None], None]
SIZES = (2, 2, 5, 2, 2, 5, 5, 2)


class Drawn(NamedTuple):
    x: tf.Tensor
    values: list[tf.Tensor]  # what reads nothing that changes
    fetches: list[tf.Tensor]
    targets: list[tf.Operation]


def drawn(seed: int) -> Drawn:
    """A step with control flow, updates of variables, and a queue; the placeholder's shape may be known in part or not."""
    random = np.random.default_rng(seed)
    x = tf.placeholder(tf.float32, SHAPES[seed % len(SHAPES)], name="x")
    resources = bool(seed % 2)
    variables = [
        tf.Variable(random.standard_normal((1, 3)).astype(np.float32), use_resource=resources, name=f"v{i}")
        for i in range(2)
    ]
    values = [x, *[v.value() for v in variables]]

    def any_value() -> tf.Tensor:
        return values[random.integers(len(values))]

    for _ in range(40):
        if random.random() < 0.5:
            values.append(UNARY[random.integers(len(UNARY))](any_value()))
        else:
            values.append(tf.tanh(BINARY[random.integers(len(BINARY))](any_value(), any_value())))
    updates: list[tf.Operation] = []
    for v in variables:
        amount = tf.reduce_mean(tf.tanh(any_value()), axis=0, keepdims=True)
        with tf.control_dependencies(updates[: random.integers(2)]):
            updates.append(tf.assign_add(v, amount).op)
    queue = tf.FIFOQueue(3, [tf.float32], name="queue")
    with tf.control_dependencies([queue.enqueue([any_value()])]):
        passed = queue.dequeue()
    with tf.control_dependencies(updates):
        after = variables[0].read_value() * 2.0
    return Drawn(x, values, [*(any_value() for _ in range(3)), passed, after], updates)


def batches(seed: int) -> list[np.ndarray]:
    random = np.random.default_rng(1000 + seed)
    return [random.standard_normal((size, 3)).astype(np.float32) for size in SIZES]


def interpreted(
    session: tf.Session, fetches: list[tf.Tensor], targets: list[tf.Operation], feeds: list[tf.Tensor]
) -> Interpreter:
    as_it_is = session._backend.prepare(fetches, targets, feeds).plan(None, optimise=False)
    return Interpreter(as_it_is, session._backend.resources)


@pytest.mark.parametrize("seed", range(12))
def test_random_graphs_give_what_the_interpreter_gives(seed: int) -> None:
    """Interpreted, optimised and generated runs agree to the bit; updates of variables included."""
    with tf.Graph().as_default():
        step = drawn(seed)
        with tf.Session() as plain, tf.Session() as quick:
            for session in (plain, quick):
                session.run(tf.global_variables_initializer())
            interpreter = interpreted(plain, step.fetches, step.targets, [step.x])
            for batch in batches(seed):
                expected = interpreter.run([batch])
                found = quick.run([*step.fetches, *step.targets], {step.x: batch})
                assert found[len(step.fetches) :] == [None] * len(step.targets)
                for a, b in zip(expected, found):
                    np.testing.assert_array_equal(a, b)
            for v in tf.global_variables():
                np.testing.assert_array_equal(plain.run(v), quick.run(v))


@pytest.mark.parametrize("seed", range(6))
def test_what_is_fed_in_the_middle_of_random_graphs_is_taken(seed: int) -> None:
    random = np.random.default_rng(seed)
    with tf.Graph().as_default(), tf.Session() as session:
        step = drawn(seed)
        session.run(tf.global_variables_initializer())
        inside = [step.values[i] for i in random.choice(np.arange(3, len(step.values)), 3, replace=False)]
        feeds = [step.x, *inside]
        interpreter = interpreted(session, step.values, [], feeds)
        for batch in batches(seed):
            given = [batch, *session.run(inside, {step.x: batch[::-1] + 1.0})]
            expected = interpreter.run(given)
            for a, b in zip(expected, session.run(step.values, dict(zip(feeds, given)))):
                np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("seed", range(6))
def test_random_graphs_written_and_read_and_frozen_give_the_same(seed: int) -> None:
    with tf.Graph().as_default() as graph, tf.Session() as session:
        step = drawn(seed)
        session.run(tf.global_variables_initializer())
        names = [value.name for value in step.values]
        expected = [session.run(step.values, {step.x: batch}) for batch in batches(seed)]
        outputs = [value.op.name for value in step.values]
        frozen = tf.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), outputs)
        constants = {v.op.name: session.run(v) for v in tf.global_variables()}
    for definition in (graph.as_graph_def(), frozen):
        with tf.Graph().as_default() as again, tf.Session() as session:
            values = tf.import_graph_def(definition, return_elements=names, name="")
            if definition is not frozen:
                session.run([again.get_operation_by_name(f"{name}/Assign") for name in constants])
            for batch, wanted in zip(batches(seed), expected):
                for a, b in zip(wanted, session.run(values, {"x:0": batch})):
                    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("seed", range(3))
def test_random_graphs_give_each_of_several_threads_its_own(seed: int) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        step = drawn(seed)
        session.run(tf.global_variables_initializer())
        expected = [session.run(step.values, {step.x: batch}) for batch in batches(seed)]
        found: dict[int, list[np.ndarray]] = {}

        def run(number: int) -> None:
            for which in range(number, len(SIZES), 3):
                found[which] = session.run(step.values, {step.x: batches(seed)[which]})

        threads = [threading.Thread(target=run, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for which, wanted in enumerate(expected):
        for a, b in zip(wanted, found[which]):
            np.testing.assert_array_equal(a, b)
