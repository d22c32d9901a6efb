"""Element-wise nodes that become one: which do, how the cores are shared, and that the numbers stay as they are."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest

import tfexp as tf
from tfexp.core import workers
from tfexp.plan import fuse
from tfexp.plan.groups import FUSED


@pytest.fixture
def team(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Two threads, everything worth sharing; the numbers of threads that BLAS was given."""
    monkeypatch.setattr(fuse, "_WORTH_SHARING", 1)
    monkeypatch.setattr(fuse, "_WORTH_FUSING", 1)
    before = workers._team
    seen: list[int] = []
    tf.Session(graph=tf.Graph()).close()
    monkeypatch.setattr("tfexp.runtime.cpu._install_workers", lambda wanted: None)
    workers.install(workers.Team(2, seen.append, lambda: None))
    yield seen
    workers.install(before)


def _network(x: tf.Tensor, w: tf.Tensor, b: tf.Tensor) -> list[tf.Tensor]:
    y = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, w, 1, "SAME"), b))
    loss = tf.reduce_sum(tf.square(y) * 0.5)
    return [y, *tf.gradients(loss, [x, w, b])]


def test_shared_steps_compute_the_same(team: list[int]) -> None:
    random = np.random.default_rng(1)
    x, w, b = random.standard_normal((5, 4, 3, 2)), random.standard_normal((3, 3, 2, 3)), random.standard_normal(3)
    with tf.Graph().as_default(), tf.Session() as session:
        feeds = [tf.placeholder(tf.float64, a.shape) for a in (x, w, b)]
        results = _network(*feeds)
        first, second = (session.run(results, dict(zip(feeds, (x, w, b), strict=True))) for _ in range(2))
    for a, e in zip(second, first, strict=True):
        np.testing.assert_allclose(a, e, rtol=1e-12)
    assert team[0] == 1 and team[-1] == 2, "BLAS keeps to one thread while the step runs, and has two after it"


def program(seed: int) -> tuple[list[tf.Tensor], list[tf.Operation]]:
    """Element-wise nodes of any kind over matrices, columns, rows and scalars, among updates of what they read."""
    choose = random.Random(seed)
    v, row, column = (
        tf.get_variable(name, initializer=np.random.default_rng(seed).standard_normal(shape).astype(np.float32))
        for name, shape in (("v", [37, 5]), ("row", [5]), ("column", [37, 1]))
    )
    values, updates = [v.read_value() * 1.0, tf.tanh(v), v + row], []
    for _ in range(choose.randrange(5, 30)):
        a, b = choose.choice(values), choose.choice([*values, v, row, column, tf.constant(0.5)])
        kind = choose.randrange(12)
        if kind == 0:
            updates.append(v.assign(a * 0.5 + choose.choice(values)).op)
        elif kind == 1:
            values.append(tf.where(a > choose.choice(values), a, choose.choice(values)))
        elif kind == 2:
            values.append(tf.cast(tf.cast(a, tf.float64) * 2.0, tf.float32))
        elif kind == 3:
            values.append(tf.nn.softmax(a))
        elif kind == 4:
            values.append(tf.add_n([a, choose.choice(values), choose.choice(values)]))
        elif kind == 5:
            values.append(tf.gradients(tf.sigmoid(a), a)[0] + a)
        else:
            unary = (tf.tanh, tf.nn.relu, tf.square, tf.sin, tf.negative, tf.sigmoid)[kind - 6]
            values.append(choose.choice([tf.add, tf.subtract, tf.multiply])(unary(a), b))
    return [values[-1], *choose.sample(values, 2)], updates


@pytest.mark.usefixtures("team")
def test_groups_compute_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    grouped = 0
    for seed in range(60):
        results = []
        for piece, worth in ((1 << 15, 1 << 60), (1 << 15, 1), (20, 1)):
            monkeypatch.setattr(fuse, "_WORTH_FUSING", worth)
            monkeypatch.setattr(fuse, "_PIECE", piece)
            with tf.Graph().as_default(), tf.Session() as session:
                fetches, updates = program(seed)
                session.run(tf.global_variables_initializer())
                steps = [session.run((fetches, updates))[0] for _ in range(3)]
                results.append([*steps, session.run(tf.global_variables())])
                plan = session.explain((fetches, updates)).plan
                grouped += sum(len(step.attrs["nodes"]) > 1 for step in plan.steps if step.op is FUSED)
        np.testing.assert_equal(results[1], results[0], err_msg=f"seed {seed}")
        np.testing.assert_equal(results[2], results[0], err_msg=f"seed {seed}, small pieces")
    assert grouped > 200, "the programs have groups"


@pytest.mark.usefixtures("team")
def test_what_is_read_elsewhere_or_fetched_ends_a_group() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [7, 3])
        first = tf.sin(tf.square(x), name="first")
        second = tf.cos(first * 2.0, name="second")
        third = tf.exp(second + first, name="third")
        plan = session.explain([third, second], {x: np.ones((7, 3), np.float32)}).plan
        groups = [step.attrs["nodes"] for step in plan.steps if step.op is FUSED]
    assert groups == [["Square", "first"], ["mul", "second"], ["add", "third"]]


@pytest.mark.usefixtures("team")
def test_a_group_does_not_wait_beyond_an_update_of_what_it_reads() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=np.full([7, 3], 2, np.float32))
        early = tf.square(v)
        update = v.assign_add(tf.ones([7, 3]))
        with tf.control_dependencies([update]):
            late = tf.sin(early + v.read_value())
        session.run(v.initializer)
        for before in (2, 3, 4):
            np.testing.assert_allclose(session.run(late), np.full([7, 3], np.sin(before**2 + before + 1)), rtol=1e-6)


def test_a_traced_group_is_one_node_of_its_own_kind(team: list[int]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        y = tf.sin(tf.square(tf.get_variable("v", initializer=np.ones([7, 3], np.float32))))
        session.run(tf.global_variables_initializer())
        metadata = tf.RunMetadata()
        session.run(
            y,
            options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True),
            run_metadata=metadata,
        )
    (node,) = [node for node in metadata.function_graphs[0].post_optimization_graph.node if node.name == "Sin"]
    assert (node.op, list(node.input)) == ("_Fused", ["v"])
    labels = [n.timeline_label for device in metadata.step_stats.dev_stats for n in device.node_stats]
    assert "Sin = _Fused(v:0)" in labels


def test_steps_with_more_work_in_products_leave_blas_alone(team: list[int]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x, w = (
            tf.get_variable(name, initializer=np.ones(shape, np.float32))
            for name, shape in (("x", [3, 500]), ("w", [500, 2]))
        )
        y = tf.nn.relu(tf.matmul(x, w))
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            np.testing.assert_array_equal(session.run(y), np.full([3, 2], 500))
        assert team == []
        for _ in range(3):
            session.run(tf.tanh(w))
        assert team[0] == 1 and team[-1] == 2
