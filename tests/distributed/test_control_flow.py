"""Conditionals, loops and functions on servers: on one task, and with nodes that were pinned to several."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.distributed.clusters import leave_nothing, running

PS, WORKER = "/job:ps/task:0", "/job:worker/task:0"


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, tf.train.Server]]:
    with running(ps=1, worker=2) as servers:
        yield servers


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def counting_loop(x: Any) -> list[Any]:
    count, total = tf.while_loop(lambda i, a: i < 5, lambda i, a: (i + 1, a * x + 1.0), [0, x])
    return [count, total, *tf.gradients(total, x)]


def nested_loops(x: Any) -> list[Any]:
    def outer(i: Any, a: Any) -> Any:
        inner = tf.while_loop(lambda j, b: j < i, lambda j, b: (j + 1, b + x), [0, a])
        return i + 1, inner[1]

    return list(tf.while_loop(lambda i, a: i < 4, outer, [0, x]))


def array_loop(x: Any) -> list[Any]:
    return [
        tf.map_fn(lambda v: v * x, tf.constant([1.0, 2.0, 5.0])),
        tf.scan(lambda a, v: a + v * x, tf.constant([1.0, 3.0])),
    ]


def conditional(x: Any) -> list[Any]:
    y = tf.cond(x > 1.0, lambda: x * 3.0, lambda: x - 1.0)
    return [y, *tf.gradients(y, x)]


def loop_with_conditional(x: Any) -> list[Any]:
    body = lambda i, a: (i + 1, tf.cond(a > 4.0, lambda: a / 2.0, lambda: a * x))  # noqa: E731
    return list(tf.while_loop(lambda i, a: i < 7, body, [0, x]))


PROGRAMS: list[Callable[[Any], list[Any]]] = [
    counting_loop,
    nested_loops,
    array_loop,
    conditional,
    loop_with_conditional,
]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("value", [0.5, 2.0])
@pytest.mark.parametrize("pinned", [None, WORKER, PS])
def test_a_server_runs_what_a_local_session_runs(servers: Any, program: Any, value: float, pinned: str | None) -> None:
    x = tf.placeholder(tf.float32, [])
    with tf.device(pinned):
        fetches = program(x)
    with tf.Session(servers["worker:0"].target) as remote:
        found = [remote.run(fetches, {x: value}) for _ in range(2)]
    with tf.Graph().as_default(), tf.Session() as local:
        x = tf.placeholder(tf.float32, [])
        expected = local.run(program(x), {x: value})
    for values in found:
        for one, other in zip(values, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize("value", [0.5, 2.0])
def test_a_conditional_around_a_variable_of_another_task(servers: Any, value: float) -> None:
    x = tf.placeholder(tf.float32, [])
    with tf.device(PS):
        v = tf.Variable(10.0, name="v")
    with tf.device(WORKER):
        y = tf.cond(x > 1.0, lambda: x * v, lambda: v - x)
        update = tf.cond(x > 1.0, lambda: tf.assign_add(v, 1.0), lambda: tf.identity(v))
    gradient = tf.gradients(y, [x, v])
    with tf.Session(servers["worker:1"].target) as session:
        session.run(v.initializer)
        expected = [value * 10.0, 10.0, value] if value > 1 else [10.0 - value, -1.0, 1.0]
        for _ in range(2):
            assert session.run([y, *gradient], {x: value}) == expected
        session.run(update, {x: value})
        assert session.run(v) == (11.0 if value > 1 else 10.0)


def test_a_loop_whose_body_was_pinned_to_another_task(servers: Any) -> None:
    with tf.device(PS):
        step = tf.Variable(2.0, name="step")

    def body(i: Any, a: Any) -> Any:
        with tf.device("/job:worker/task:1"):
            return i + 1, a + step

    with tf.device(WORKER):
        count, total = tf.while_loop(lambda i, a: i < 4, body, [0, 1.0])
    with tf.Session(servers["worker:0"].target) as session:
        session.run(step.initializer)
        assert session.run([count, total]) == [4, 9.0]


OTHER = "/job:worker/task:1"


def _variables() -> tuple[Any, Any]:
    with tf.device(PS):
        a = tf.Variable(1.0, name="a")
    with tf.device(OTHER):
        b = tf.Variable([10.0, 20.0], name="b")
    return a, b


def update_both(x: Any, a: Any, b: Any) -> Any:
    return tf.cond(x > 1.0, lambda: tf.assign_add(a, x) + tf.assign_add(b, [x, 1.0]), lambda: b - 1.0)


def update_one_of_both(x: Any, a: Any, b: Any) -> Any:
    return tf.cond(x > 1.0, lambda: tf.assign_add(a, x), lambda: tf.assign_add(b, [x, 1.0])[0])


def update_in_order(x: Any, a: Any, b: Any) -> Any:
    def both() -> Any:
        first = tf.assign(b, b * 2.0)
        with tf.control_dependencies([first]), tf.device(PS):
            second = tf.assign(a, 5.0)
        with tf.control_dependencies([second]), tf.device(OTHER):
            return tf.reduce_sum(tf.assign_add(b, [1.0, 1.0]))

    return tf.cond(x > 1.0, both, lambda: x)


def nested(x: Any, a: Any, b: Any) -> Any:
    inner = lambda: tf.cond(x > 3.0, lambda: tf.assign_add(a, 1.0) + b[0], lambda: tf.assign(b, b * a)[1])  # noqa: E731
    return tf.cond(x > 1.0, inner, lambda: tf.assign_sub(a, x) * b[1])


def groups_of_both(x: Any, a: Any, b: Any) -> Any:
    """As a layer keeps its moving averages, or a loss scale its counter."""
    done = tf.cond(
        x > 1.0,
        lambda: tf.group(tf.assign_add(a, 1.0), tf.assign_add(b, [1.0, 1.0])),
        lambda: tf.group(tf.assign_sub(a, 2.0)),
    )
    with tf.control_dependencies([done]):
        return tf.identity(x)


def words(x: Any, a: Any, b: Any) -> Any:
    text = tf.cond(x > 1.0, lambda: tf.as_string(tf.assign_add(a, x)), lambda: tf.as_string(tf.assign_add(b, [1.0, x])[1]))
    return tf.strings.join([text, "!"])


def gradients(x: Any, a: Any, b: Any) -> Any:
    y = tf.cond(x > 1.0, lambda: tf.assign_add(a, x) * x * b[0], lambda: x * tf.assign_sub(b, [0.0, 1.0])[1])
    return tf.stack([y, *tf.gradients(y, x)])


@pytest.mark.parametrize(
    "program", [update_both, update_one_of_both, update_in_order, nested, groups_of_both, words, gradients]
)
@pytest.mark.parametrize("master", ["ps:0", "worker:0", "worker:1"])
def test_a_conditional_with_state_on_two_tasks(servers: Any, program: Any, master: str) -> None:
    def run(session: Any, x: Any, fetches: list[Any], first: Any) -> list[Any]:
        session.run(first)
        return [session.run(fetches, {x: value}) for value in (0.5, 2.0, 4.0, 0.25)]

    x = tf.placeholder(tf.float32, [])
    a, b = _variables()
    result = program(x, a, b)
    tf.Session.reset(servers[master].target)
    with tf.Session(servers[master].target) as session:
        found, state = run(session, x, [result], tf.global_variables_initializer()), session.run([a, b])
    leave_nothing(servers)
    with tf.Graph().as_default(), tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
        x = tf.placeholder(tf.float32, [])
        a, b = _variables()
        result = program(x, a, b)
        for op in x.graph.get_operations():
            op._set_device("")
        expected, there = run(session, x, [result], tf.global_variables_initializer()), session.run([a, b])
    for one, other in zip([*found, state], [*expected, there], strict=True):
        for value, should in zip(one, other, strict=True):
            np.testing.assert_array_equal(value, should)


def test_a_conditional_with_queues_on_two_tasks(servers: Any) -> None:
    x = tf.placeholder(tf.float32, [])
    with tf.device(PS):
        first = tf.FIFOQueue(9, tf.float32, [[]])
    with tf.device(OTHER):
        second = tf.FIFOQueue(9, tf.float32, [[]])

    def move() -> Any:
        moved = first.dequeue()
        with tf.control_dependencies([second.enqueue(moved * x)]):
            return tf.identity(moved)

    result = tf.cond(x > 1.0, move, lambda: x)
    sizes = [first.size(), second.size()]
    with tf.Session(servers["worker:0"].target) as session:
        session.run(first.enqueue_many([[3.0, 4.0, 5.0]]))
        assert [session.run(result, {x: value}) for value in (2.0, 0.5, 10.0)] == [3.0, 0.5, 4.0]
        assert session.run(sizes) == [1, 2]
        assert session.run(second.dequeue_many(2)).tolist() == [6.0, 40.0]


def trained_recurrent(target, setter):
    """The losses of a recurrent network, and its variables, after some steps."""
    with tf.Graph().as_default(), tf.device(setter):
        tf.set_random_seed(3)
        x = np.random.default_rng(5).standard_normal([3, 5, 2]).astype(np.float32)
        cell = tf.nn.rnn_cell.BasicLSTMCell(7)
        outputs, _ = tf.nn.dynamic_rnn(cell, tf.constant(x), sequence_length=[5, 2, 3], dtype=tf.float32)
        loss = tf.nn.l2_loss(outputs - 1.0)
        step = tf.train.get_or_create_global_step()
        train = tf.train.AdamOptimizer(0.05).minimize(loss, step)
        with tf.Session(target) as session:
            session.run(tf.global_variables_initializer())
            losses = [session.run([loss, train])[0] for _ in range(4)]
            return losses, session.run(tf.trainable_variables())


def test_a_loop_on_the_worker_trains_variables_on_several_servers():
    """What leaves a loop is not dead: the updates on the servers are not part of it."""
    expected, values = trained_recurrent("", None)
    with running(ps=2, worker=1) as servers:
        setter = tf.train.replica_device_setter(2, worker_device="/job:worker/task:0")
        losses, trained = trained_recurrent(servers["worker:0"].target, setter)
        leave_nothing(servers)
    assert losses == sorted(losses, reverse=True)
    np.testing.assert_allclose(losses, expected, rtol=1e-5)
    for value, wanted in zip(trained, values, strict=True):
        np.testing.assert_allclose(value, wanted, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("taken", [True, False])
def test_a_loop_in_a_branch_that_is_not_taken_leaves_nothing_alive(taken):
    """Its result on the worker feeds an update on a server, which is in the same branch."""
    with running(ps=1, worker=1) as servers, tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            total = tf.get_variable("total", initializer=1.0)
        with tf.device("/job:worker/task:0"):
            choice = tf.placeholder(tf.bool, [])
            looped = tf.cond(
                choice,
                lambda: tf.while_loop(lambda i: i < 5.0, lambda i: i + 2.0, [tf.constant(0.0)]),
                lambda: tf.constant(-1.0),
            )
        with tf.device("/job:ps/task:0"):
            update = total.assign_add(looped)
        with tf.Session(servers["worker:0"].target) as session:
            session.run(total.initializer)
            assert session.run(update, {choice: taken}) == (7.0 if taken else 0.0)
