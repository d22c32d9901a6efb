"""How the work grows with its size: Python's calls are counted, so no clock and no machine has a say.

Four times the size may take four times the calls and what is the same for every size; a quadratic part would take up to
sixteen times as many.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf

SMALL, FACTOR = 50, 4
MOST = 1.25 * FACTOR


def calls_of(work: Callable[[], object]) -> int:
    """How often Python and C functions are called while `work` runs in this thread."""
    count = 0

    def saw(frame: Any, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(saw)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def assert_linear(
    prepare: Callable[[int], Callable[[], object]], count: Callable[[Callable[[], object]], int] = calls_of
) -> None:
    """`prepare(size)` gives the work of that size. What is only needed once is needed before it is counted."""
    prepare(SMALL)()
    counts = {size: count(prepare(size)) for size in (SMALL, FACTOR * SMALL)}
    assert counts[SMALL] > SMALL / 10, "too little was counted to tell how it grows"
    assert counts[FACTOR * SMALL] < MOST * counts[SMALL], counts


# --- graphs ----------------------------------------------------------------------------------------------------------


def chain(size: int) -> tf.Tensor:
    y = x = tf.placeholder(tf.float32, [3], name="x")
    for _ in range(size):
        with tf.name_scope("layer"):
            y = tf.tanh(y + x)
    return y


def wide(size: int) -> tf.Tensor:
    x = tf.placeholder(tf.float32, [3], name="x")
    return tf.add_n([tf.tanh(x * float(i)) for i in range(size)])


def loops(size: int) -> tf.Tensor:
    y = tf.placeholder(tf.float32, [3], name="x")
    for _ in range(size // 10):
        y = tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, tf.tanh(y)), (0, y))[1]
    return y


def of_variables(size: int) -> tf.Tensor:
    x = tf.placeholder(tf.float32, [3], name="x")
    return tf.add_n([x * tf.get_variable(f"v{i}", [3], initializer=tf.zeros_initializer()) for i in range(size)])


GRAPHS = pytest.mark.parametrize("build", [chain, wide, loops, of_variables], ids=lambda build: build.__name__)


def fresh(build: Callable[[int], tf.Tensor], size: int) -> tf.Tensor:
    tf.reset_default_graph()
    return build(size)


@GRAPHS
def test_building(build: Callable[[int], tf.Tensor]) -> None:
    def prepare(size: int) -> Callable[[], object]:
        tf.reset_default_graph()
        return lambda: build(size)

    assert_linear(prepare)


@GRAPHS
def test_gradients(build: Callable[[int], tf.Tensor]) -> None:
    def prepare(size: int) -> Callable[[], object]:
        y = fresh(build, size)
        x = tf.get_default_graph().get_tensor_by_name("x:0")
        return lambda: tf.gradients(y, [x, *tf.trainable_variables()])

    assert_linear(prepare)


@GRAPHS
def test_graph_defs_both_ways(build: Callable[[int], tf.Tensor]) -> None:
    def export(size: int) -> Callable[[], object]:
        return fresh(build, size).graph.as_graph_def

    def read(size: int) -> Callable[[], object]:
        definition = fresh(build, size).graph.as_graph_def()
        tf.reset_default_graph()
        return lambda: tf.import_graph_def(definition, name="")

    assert_linear(export)
    assert_linear(read)


def test_importing_again_and_again() -> None:
    """One small graph, so often into one large one."""

    def prepare(size: int) -> Callable[[], object]:
        tf.reset_default_graph()
        tf.constant(1.0, name="one")
        definition = tf.get_default_graph().as_graph_def()
        return lambda: [tf.import_graph_def(definition, name=f"copy_{i}") for i in range(size)]

    assert_linear(prepare)


@GRAPHS
@pytest.mark.parametrize("times", [1, 2, 4])
def test_planning_and_running(build: Callable[[int], tf.Tensor], times: int) -> None:
    """The first runs, in which plans are made and compiled."""

    def prepare(size: int) -> Callable[[], object]:
        y = fresh(build, size)
        session = tf.Session()
        session.run(tf.global_variables_initializer())
        feeds = {"x:0": np.ones(3, np.float32)}

        def run() -> None:
            for _ in range(times):
                session.run(y, feeds)

        return run

    assert_linear(prepare)


@GRAPHS
def test_training(build: Callable[[int], tf.Tensor]) -> None:
    def prepare(size: int) -> Callable[[], object]:
        y = fresh(build, size)
        with tf.variable_scope("more"):
            y *= tf.get_variable("scale", [3])
        train = tf.train.AdamOptimizer().minimize(tf.reduce_sum(y))
        session = tf.Session()
        session.run(tf.global_variables_initializer())
        return lambda: session.run(train, {"x:0": np.ones(3, np.float32)})

    assert_linear(prepare)


def test_fetching_and_feeding_many() -> None:
    def prepare(size: int) -> Callable[[], object]:
        tf.reset_default_graph()
        fed = [tf.placeholder(tf.float32, []) for _ in range(size)]
        fetched = [x + 1.0 for x in fed]
        session = tf.Session()
        return lambda: session.run(fetched, dict.fromkeys(fed, 1.0))

    assert_linear(prepare)


def test_initializing_and_saving_variables(tmp_path: Path) -> None:
    def start(size: int) -> tuple[tf.Session, tf.Operation]:
        fresh(of_variables, size)
        return tf.Session(), tf.global_variables_initializer()

    def initialize(size: int) -> Callable[[], object]:
        session, initializer = start(size)
        return lambda: session.run(initializer)

    def save(size: int) -> Callable[[], object]:
        session, initializer = start(size)
        session.run(initializer)
        saver = tf.train.Saver()

        def both() -> None:
            saver.restore(session, saver.save(session, str(tmp_path / f"model-{size}")))

        return both

    assert_linear(initialize)
    assert_linear(save)


def test_queues_and_data_sets() -> None:
    def queue(size: int) -> Callable[[], object]:
        tf.reset_default_graph()
        queue = tf.FIFOQueue(size, tf.float32, shapes=[[]])
        filling, taking = queue.enqueue_many([np.zeros(size, np.float32)]), queue.dequeue()
        session = tf.Session()

        def work() -> None:
            session.run(filling)
            for _ in range(size):
                session.run(taking)

        return work

    def data(size: int) -> Callable[[], object]:
        tf.reset_default_graph()
        numbers = tf.data.Dataset.range(size).shuffle(size, seed=1).map(lambda x: x + 1)
        element = tf.data.make_one_shot_iterator(numbers).get_next()
        session = tf.Session()
        return lambda: [session.run(element) for _ in range(size)]

    assert_linear(queue)
    assert_linear(data)
