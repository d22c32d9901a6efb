"""Nodes that call Python functions: independent ones run at the same time, as many as the inter-op pool has threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.plan.test_compiled_segments import random_program
from tfexp.runtime import executor, own_thread

PATIENCE = 60.0  # seconds until a test fails that would wait for ever


def calls(function: Callable[..., Any], inputs: Any = (), **kwargs: Any) -> Any:
    return tf.py_func(function, list(inputs), tf.float32, **kwargs)


class Meeting:
    """Two functions, the first of which waits until the second has begun."""

    def __init__(self) -> None:
        self._began = threading.Event()

    def first(self, *_: Any) -> Any:
        met = self._began.wait(PATIENCE)
        self._began.clear()
        return np.float32(met)

    def second(self, *_: Any) -> Any:
        self._began.set()
        return np.float32(2)


@pytest.mark.parametrize("config", [None, tf.ConfigProto(inter_op_parallelism_threads=2, intra_op_parallelism_threads=1)])
@pytest.mark.parametrize("stateful", [True, False])
def test_two_functions_begin_at_once(config: Any, stateful: bool) -> None:
    meeting, x = Meeting(), tf.placeholder(tf.float32, [None])
    both = [calls(meeting.first, [x], stateful=stateful), calls(meeting.second, [x], stateful=stateful)]
    added = tf.add_n(both)
    with tf.Session(config=config) as session:
        for _ in range(3):  # interpreted, then generated code
            assert session.run([*both, added], {x: [1.0, 2.0]}) == [1.0, 2.0, 3.0]


def test_the_second_may_depend_on_other_nodes() -> None:
    meeting, x = Meeting(), tf.placeholder(tf.float32, [])
    first, second = calls(meeting.first), calls(meeting.second, [tf.sqrt(x)])
    with tf.Session() as session:
        for _ in range(3):
            assert session.run([first, second], {x: 4.0}) == [1.0, 2.0]


def test_a_function_may_wait_for_one_that_comes_after_a_third() -> None:
    meeting = Meeting()
    third = calls(lambda: np.float32(3))
    first, second = calls(meeting.first), calls(meeting.second, [third])
    with tf.Session() as session:
        for _ in range(3):
            assert session.run([third, first, second]) == [3.0, 1.0, 2.0]


def test_functions_in_a_loop_and_outside_begin_at_once() -> None:
    meeting = Meeting()
    looped = tf.while_loop(lambda i, x: i < 1, lambda i, x: (i + 1, tf.reshape(calls(meeting.first), [])), [0, 0.0])[1]
    second = calls(meeting.second)
    with tf.Session() as session:
        for _ in range(3):
            assert session.run([looped, second]) == [1.0, 2.0]


def test_one_thread_runs_one_after_the_other() -> None:
    running, most = 0, 0

    def count() -> Any:
        nonlocal running, most
        running += 1
        most = max(most, running)
        result = np.float32(running)
        running -= 1
        return result

    nodes = [calls(count) for _ in range(5)]
    with tf.Session(config=tf.ConfigProto(inter_op_parallelism_threads=1)) as session:
        plan = session.explain(nodes).plan
        for _ in range(3):
            assert session.run(nodes) == [1.0] * 5
    assert most == 1
    assert not any(step.own_thread for step in plan.steps)


def test_no_more_run_than_there_are_threads() -> None:
    lock, running, most, arrived = threading.Lock(), 0, 0, threading.Barrier(2)

    def count() -> Any:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        arrived.wait(PATIENCE)  # two at a time can go on
        with lock:
            running -= 1
        return np.float32(1)

    nodes = [calls(count) for _ in range(6)]
    with tf.Session(config=tf.ConfigProto(inter_op_parallelism_threads=2)) as session:
        for _ in range(2):
            assert session.run(nodes) == [1.0] * 6
    assert most == 2


def test_functions_keep_what_they_were_given() -> None:
    """The step goes on to update the variable while the function has not looked at it yet."""
    updated = threading.Event()

    def look(array: Any) -> Any:
        assert updated.wait(PATIENCE)
        return array

    def tell(_: Any) -> Any:
        updated.set()
        return np.float32(0)

    v = tf.Variable(np.zeros(3, np.float32))
    seen = calls(look, [v])
    after = tf.assign_add(v, [1.0, 1.0, 1.0])
    told = calls(tell, [after])
    with tf.Session() as session:
        session.run(v.initializer)
        for n in range(3):
            updated.clear()
            assert session.run([seen, after, told])[0].tolist() == [n] * 3


def test_failures_name_the_node_and_end_the_step() -> None:
    never, x = threading.Event(), tf.placeholder(tf.float32, [])

    def fail(x: Any) -> Any:
        if x > 0:
            raise ValueError("no")
        return x

    waiting = tf.py_func(lambda x: (never.wait(PATIENCE) if x > 0 else 0, x)[1], [x], tf.float32, name="waiting")
    failing = tf.py_func(fail, [x], tf.float32, name="failing")
    with tf.Session() as session:
        for value in (1.0, 0.0, 0.0, 1.0):
            if value == 0:
                assert session.run([waiting, failing], {x: value}) == [0.0, 0.0]
                continue
            with pytest.raises(tf.errors.InvalidArgumentError, match="no") as caught:
                session.run([waiting, failing], {x: value})
            assert caught.value.op is failing.op
    never.set()


def test_a_step_ends_at_its_deadline_though_functions_go_on() -> None:
    never = threading.Event()
    nodes = [calls(lambda: np.float32(never.wait(PATIENCE))) for _ in range(2)]
    with tf.Session() as session:
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(nodes, options=tf.RunOptions(timeout_in_ms=50))
        never.set()
        assert session.run(nodes) == [1.0, 1.0]


def test_one_function_runs_in_the_threads_of_its_step() -> None:
    here = threading.get_ident()
    node = calls(lambda: np.float32(threading.get_ident() == here))
    after = calls(lambda x: np.float32(x + (threading.get_ident() == here)), [node])
    with tf.Session() as session:
        for _ in range(3):
            assert session.run([node, after]) == [1.0, 2.0]


def test_the_program_may_exit_from_a_function() -> None:
    def leave() -> Any:
        raise SystemExit(3)

    nodes = [calls(leave), calls(lambda: np.float32(1))]
    with tf.Session() as session:
        for _ in range(3):
            with pytest.raises(SystemExit):
                session.run(nodes)


@pytest.mark.parametrize("threads", [2, 5])
@pytest.mark.parametrize("seed", range(24))
def test_variables_are_read_and_updated_in_the_plans_order(seed: int, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same comes out whether functions run one after the other, at the same time, or are heard of as late as can be."""

    def trajectory() -> list[np.ndarray]:
        config = tf.ConfigProto(inter_op_parallelism_threads=threads)
        with tf.Graph().as_default() as graph, tf.Session(config=config) as session:
            values, updates = random_program(seed)
            session.run(tf.global_variables_initializer())
            runs = [session.run([*values, *updates])[: len(values)] for _ in range(3)]
            return [*np.ravel(runs), *(x for v in graph.get_collection("variables") for x in session.run(v))]

    at_once = trajectory()
    monkeypatch.setattr(own_thread, "_run_in_thread", lambda work: work())  # its result is taken after what else can run
    late = trajectory()
    monkeypatch.setattr(executor, "in_own_thread", lambda kernel, step, what: kernel)
    in_turn = trajectory()
    np.testing.assert_array_equal(at_once, in_turn)
    np.testing.assert_array_equal(late, in_turn)
