"""Loops whose state is on several tasks: they give what they give where all of it is on one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.distributed.clusters import leave_nothing, running

PS, OTHER = "/job:ps/task:0", "/job:worker/task:1"


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, tf.train.Server]]:
    with running(ps=1, worker=2) as servers:
        yield servers


class Variables:
    """One of each kind on each task, or all of them here."""

    def __init__(self, tasks: bool):
        def at(task: str) -> Any:
            return tf.device(task if tasks else "/cpu:0")

        with at(PS):
            self.a = tf.Variable(1.0, name="a")
            self.resource = tf.get_variable("r", [], initializer=tf.ones_initializer(), use_resource=True)
        with at(OTHER):
            self.b = tf.Variable([10.0, 20.0], name="b")
        self.all = [self.a, self.resource, self.b]


def updated(x: Any, v: Variables) -> Any:
    def body(i: Any, total: Any) -> Any:
        return i + tf.assign_add(v.a, 1.0), total + tf.assign_add(v.b, [x, 1.0])

    return tf.while_loop(lambda i, _: i < 30.0, body, [0.0, tf.zeros([2])])


def condition_elsewhere(x: Any, v: Variables) -> Any:
    def body(i: Any, more: Any) -> Any:
        with tf.control_dependencies([tf.assign_sub(v.b, [x, 2.0])]):
            return i + 1, tf.concat([more, [x]], 0)

    shapes = [tf.TensorShape([]), tf.TensorShape([None])]
    return tf.while_loop(lambda i, _: tf.reduce_sum(v.b.read_value()) + v.a > 3.0, body, [0, tf.zeros([0])], shapes)


def conditional_inside(x: Any, v: Variables) -> Any:
    def body(i: Any, total: Any) -> Any:
        step = tf.cond(i % 2 < 1, lambda: tf.assign_add(v.a, x), lambda: tf.assign_add(v.b, [x, x])[0])
        return i + 1, total + step * v.resource

    return tf.while_loop(lambda i, _: i < 5, body, [0, 0.0])


def nested(x: Any, v: Variables) -> Any:
    def outer(i: Any, total: Any) -> Any:
        def inner(j: Any, part: Any) -> Any:
            return j + 1, part + tf.assign_add(v.resource, 1.0) * tf.reduce_sum(tf.assign_add(v.b, [1.0, x]))

        with tf.control_dependencies([tf.assign_add(v.a, 1.0)]):
            return i + 1, tf.while_loop(lambda j, _: j < i, inner, [0, total])[1]

    return tf.while_loop(lambda i, _: i < 4, outer, [0, x])


def never_begun(x: Any, v: Variables) -> Any:
    return tf.while_loop(lambda i: i < 0.0, lambda i: i + tf.assign_add(v.a, x) + tf.assign_add(v.b, [x, x])[0], [x])


def one_after_another(x: Any, v: Variables) -> Any:
    first = updated(x, v)
    with tf.control_dependencies([first[0].op]):
        return tf.while_loop(
            lambda i: i < first[0] + 9.0,
            lambda i: i + tf.assign_add(v.resource, x) + tf.reduce_sum(tf.assign_add(v.b, [1.0, 2.0])),
            [first[1][0]],
        )


def tensor_arrays(x: Any, v: Variables) -> Any:
    given = tf.TensorArray(tf.float32, 3, clear_after_read=False).unstack([x, x + 1.0, x + 2.0])

    def body(i: Any, made: Any) -> Any:
        return i + 1, made.write(i, given.read(i) * tf.assign_add(v.a, 1.0) + tf.assign_add(v.b, [1.0, x]))

    return tf.while_loop(lambda i, _: i < 3, body, [0, tf.TensorArray(tf.float32, 3)])[1].stack()


def gradients(x: Any, v: Variables) -> Any:
    """Of weights on two tasks, which the body reads from their variables."""

    def body(i: Any, h: Any) -> Any:
        with tf.device(v.a.device):
            h = tf.tanh(h * v.a.read_value() + v.resource)
        with tf.device(v.b.device):
            return i + 1, h * v.b.read_value() * 0.1

    end = tf.while_loop(lambda i, _: i < 4, body, [0, tf.stack([x, 0.5])])[1]
    return [end, *tf.gradients(end, [x, *v.all])]


def gradients_of_nested_loops(x: Any, v: Variables) -> Any:
    def outer(i: Any, h: Any) -> Any:
        def inner(j: Any, g: Any) -> Any:
            with tf.control_dependencies([tf.assign_add(v.a, 0.0)]):
                scale = v.resource.read_value()
                return j + 1, tf.cond(j < 1, lambda: tf.sin(g) * scale, lambda: g * tf.assign_add(v.b, [0.5, 0.25]) * 0.1)

        return i + 1, tf.while_loop(lambda j, _: j < i, inner, [0, h])[1]

    end = tf.while_loop(lambda i, _: i < 4, outer, [0, tf.stack([x, 0.5])])[1]
    return [end, *tf.gradients(end, [x, v.resource])]


LOOPS: list[Callable[[Any, Variables], Any]] = [
    *(updated, condition_elsewhere, conditional_inside, nested, never_begun, one_after_another),
    *(tensor_arrays, gradients, gradients_of_nested_loops),
]


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
def test_gives_and_leaves_what_it_does_on_one_task(servers: Any, loop: Callable[[Any, Variables], Any]) -> None:
    found = []
    for target in "", servers["worker:0"].target:
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, [])
            variables = Variables(tasks=bool(target))
            results = loop(x, variables)
            with tf.Session(target) as session:
                session.run(tf.global_variables_initializer())
                steps = [session.run(results, {x: value}) for value in (2.0, 3.0)]
                found.append([*tf.nest.flatten(steps), *session.run(variables.all)])
    for here, there in zip(*found, strict=True):
        np.testing.assert_array_equal(here, there)
    leave_nothing(servers)
    until(lambda: not any(holder._held for server in servers.values() for holder in server._task._sessions.values()))


@pytest.fixture
def graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def test_an_error_in_a_round_ends_the_step_and_names_the_node(servers: Any, graph: None) -> None:
    v = Variables(tasks=True)

    def body(i: Any) -> Any:
        with tf.control_dependencies([tf.assign_add(v.a, 1.0), tf.assign_add(v.b, [1.0, 1.0])]):
            return tf.check_numerics(i + 1.0 + tf.log(2.0 - i), "round", name="checked")

    count = tf.while_loop(lambda i: i < 9.0, body, [1.0], name="loop")
    with tf.Session(servers["worker:0"].target) as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"round : Tensor had Inf values(.|\n)*loop/checked"):
            session.run(count)
        assert session.run(v.a) == 3.0, "in its second round"
        assert session.run(v.b[0]) == 12.0
    leave_nothing(servers)


def test_a_value_inside_is_not_fetched(servers: Any, graph: None) -> None:
    v = Variables(tasks=True)
    inside: list[Any] = []

    def body(i: Any) -> Any:
        inside.append(tf.assign_add(v.a, 1.0) + tf.assign_add(v.b, [1.0, 1.0]))
        return i + inside[0][0]

    tf.while_loop(lambda i: i < 9.0, body, [0.0])
    definition = inside[0].graph.as_graph_def()
    with tf.Graph().as_default(), tf.Session(servers["worker:0"].target) as session:
        (again,) = tf.import_graph_def(definition, return_elements=[inside[0].name], name="")
        with pytest.raises(tf.errors.UnimplementedError, match=r"add \(AddV2\) is inside of it and cannot be fetched"):
            session.run(again)


def test_what_is_held_goes_with_a_step_that_fails(servers: Any, graph: None) -> None:
    v = Variables(tasks=True)

    def body(i: Any, made: Any) -> Any:
        updated = tf.assign_add(v.a, 1.0) + tf.assign_add(v.b, [1.0, 1.0])
        return i + 1, made.write(i * 2, updated)

    made = tf.while_loop(lambda i, _: i < 5, body, [0, tf.TensorArray(tf.float32, 5)])[1].stack()
    with tf.Session(servers["worker:0"].target) as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.OpError, match=r"(?i)index 6"):
            session.run(made)
        leave_nothing(servers)
        until(lambda: not any(holder._held for server in servers.values() for holder in server._task._sessions.values()))


def until(holds: Callable[[], bool]) -> None:
    for _ in range(1000):
        if holds():
            return
        threading.Event().wait(0.01)
    assert holds()


def endless(v: Variables) -> Any:
    body = lambda i: i * 0.0 + tf.assign_add(v.a, 1.0) * 0.0 + tf.assign_add(v.b, [1.0, 1.0])[0] * 0.0  # noqa: E731
    return tf.while_loop(lambda i: i < 1.0, body, [0.0])


def test_a_deadline_ends_a_loop_that_does_not_end(servers: Any, graph: None) -> None:
    v = Variables(tasks=True)
    count = endless(v)
    with tf.Session(servers["worker:0"].target) as session:
        session.run(tf.global_variables_initializer())
        for milliseconds in (300, 3000, 30000):
            with pytest.raises(tf.errors.DeadlineExceededError):
                session.run(count, options=tf.RunOptions(timeout_in_ms=milliseconds))
            rounds = session.run(v.a)
            if rounds > 2.0:
                break
        assert rounds > 2.0
        assert session.run(v.a) == rounds, "nothing goes on behind the client's back"
    leave_nothing(servers)


def test_closing_the_session_ends_it(servers: Any, graph: None) -> None:
    v = Variables(tasks=True)
    count = endless(v)
    session = tf.Session(servers["worker:0"].target)
    session.run(tf.global_variables_initializer())
    ended: list[BaseException] = []

    def run() -> None:
        try:
            session.run(count)
        except tf.errors.OpError as error:
            ended.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    with tf.Session(servers["worker:0"].target, graph=v.a.graph) as other:
        while other.run(v.a) < 5.0:
            pass
    session.close()
    thread.join(30)
    assert not thread.is_alive() and isinstance(ended[0], (tf.errors.CancelledError, tf.errors.AbortedError))
    leave_nothing(servers)


def test_a_trace_has_the_nodes_of_all_rounds(servers: Any, graph: None) -> None:
    v = Variables(tasks=True)
    update = lambda i: i + 1.0 + 0.0 * (tf.assign_add(v.a, 1.0, name="one") + tf.assign_add(v.b, [1.0, 1.0])[0])  # noqa: E731
    count = tf.while_loop(lambda i: i < 3.0, update, [0.0], name="loop")
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True)
    with tf.Session(servers["worker:0"].target) as session:
        session.run(tf.global_variables_initializer())
        assert session.run(count, options=options, run_metadata=metadata) == 3.0
    ran = [(device.device, node.node_name) for device in metadata.step_stats.dev_stats for node in device.node_stats]
    assert ran.count((f"{PS.replace('task', 'replica:0/task')}/device:CPU:0", "loop/one")) == 3
    assert any(node.name == "loop/one" for graph_def in metadata.partition_graphs for node in graph_def.node)


def of_a_conditional(v: Variables) -> Any:
    return tf.cond(tf.equal(v.a, 1.0), lambda: endless(v), lambda: v.a + 0.0)


@pytest.mark.parametrize(
    ("loop", "reason"),
    [
        (of_a_conditional, "it belongs to a conditional, with cond/"),
    ],
)
def test_what_cannot_be_taken_apart_is_refused_by_name(servers: Any, graph: None, loop: Any, reason: str) -> None:
    v = Variables(tasks=True)
    result = loop(v)
    with tf.Session(servers["worker:0"].target) as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.UnimplementedError, match=f"belong to one loop, which .*: {reason}"):
            session.run(result)
