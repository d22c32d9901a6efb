"""The dynamic placer: what it may move, what it learns from steps, and that what is faster stays."""

from collections.abc import Callable
from typing import Any

import pytest
from tensorboard.compat.proto import step_stats_pb2

import tfexp as tf
from tfexp.plan.assign import Assignment
from tfexp.plan.dynamic import DynamicPlacer, Placement
from tfexp.plan.measured import Measured, makespan
from tfexp.plan.trials import Trials

TASKS = tuple(f"/job:worker/replica:0/task:{i}/device:CPU:0" for i in range(2))
HERE, THERE = TASKS


def stats(*nodes: tuple[str, str, float, float]) -> Any:
    """Statistics of nodes (name, device, beginning and end in ms)."""
    found = step_stats_pb2.StepStats()
    for name, device, began, ended in nodes:
        found.dev_stats.add(device=device).node_stats.add(
            node_name=name, all_start_nanos=int(1e9 + began * 1e6), all_end_rel_nanos=int((ended - began) * 1e6)
        )
    return found


def placed(build: Callable[[], tf.Tensor], costs: dict[str, float] | None = None, **options: Any) -> dict[str, str]:
    """What is moved when these nodes take so many ms, by name."""
    with tf.Graph().as_default():
        fetch = build()
    placer = DynamicPlacer(Assignment(TASKS), **options)
    placer.measured.learn(stats(*((name, HERE, 0.0, ms) for name, ms in (costs or {}).items())))
    return {op.name: device for op, device in placer.place([fetch], [], [], []).moved.items()}


def two_branches() -> tf.Tensor:
    x = tf.random_uniform([7, 5], seed=3)
    return tf.add(tf.exp(x, name="a"), tf.sin(x, name="b"), name="c")


def test_a_heavy_branch_moves_and_what_is_random_stays() -> None:
    moved = placed(two_branches, {"a": 40, "b": 30})
    assert len({"a", "b"} & moved.keys()) == 1
    assert set(moved) <= {"a", "b"}
    assert set(moved.values()) == {THERE}


def test_light_branches_stay() -> None:
    assert placed(two_branches, {"a": 0.1, "b": 0.1}) == {}


def test_a_pinned_node_stays_also_if_only_its_job_and_task_are_given() -> None:
    def build() -> tf.Tensor:
        x = tf.random_uniform([7, 5], seed=3)
        with tf.device("/job:worker/task:0"):
            a, b = tf.exp(x, name="a"), tf.sin(x, name="b")
        return a + b

    assert placed(build, {"a": 40, "b": 30}) == {}


def test_colocated_nodes_stay_together() -> None:
    def build() -> tf.Tensor:
        x = tf.random_uniform([7, 5], seed=3)
        a, b = tf.exp(x, name="a"), tf.sin(x, name="b")
        with tf.colocate_with(b.op):
            d = tf.cos(b, name="d")
        return a + d

    moved = placed(build, {"a": 60, "b": 30, "d": 31})
    assert moved.get("b") == moved.get("d")
    assert ("a" in moved) != ("b" in moved)


def test_variables_and_what_reads_and_updates_them_stay() -> None:
    def build() -> tf.Tensor:
        v = tf.Variable(tf.zeros([7, 5]), name="v")
        with tf.control_dependencies([tf.assign_add(v, tf.ones([7, 5]), name="up")]):
            read = tf.identity(v, name="look")
        return tf.exp(read, name="a") + tf.sin(read, name="b")

    moved = placed(build, {"a": 40, "b": 30, "up": 50, "look": 50, "v/read": 50})
    assert len(moved) == 1
    assert moved.keys() <= {"a", "b"}


def test_a_conditional_stays_whole() -> None:
    def build() -> tf.Tensor:
        x = tf.random_uniform([7, 5], seed=3)
        return tf.cond(x[0, 0] > 0.5, lambda: tf.exp(x, name="a"), lambda: tf.sin(x, name="b")) + tf.cos(x, name="c")

    moved = placed(build, {"cond/a": 40, "cond/b": 40, "c": 40})
    assert moved.keys() <= {"c"}


def test_shapes_tell_heavy_nodes_before_anything_is_measured() -> None:
    def build() -> tf.Tensor:
        x = tf.random_uniform([701, 701], seed=3)
        return tf.matmul(x, x, name="a") + tf.matmul(x, x, transpose_b=True, name="b")

    assert len({"a", "b"} & placed(build).keys()) == 1


def test_a_task_with_two_threads_has_room_for_two_branches() -> None:
    assert placed(two_branches, {"a": 40, "b": 30}, threads=2) == {}


# --- measuring ----------------------------------------------------------------------------------------------------


def test_the_least_time_of_a_node_counts() -> None:
    measured = Measured()
    for ms in (5.0, 3.0, 4.0):
        measured.learn(stats(("a", HERE, 0.0, ms)))
    assert measured.seconds("a", "CPU") == pytest.approx(3e-3)
    assert measured.seconds("a", "GPU") == pytest.approx(3e-3)
    assert measured.seconds("b", "CPU") is None


@pytest.mark.parametrize("skew", [0.0, 250.0])
def test_transfers_are_measured_both_ways_so_that_clocks_need_not_agree(skew: float) -> None:
    measured = Measured()
    step = stats(("a", HERE, 0, 10), ("b", THERE, 12 + skew, 20 + skew), ("c", HERE, 24, 30))
    measured.learn(step, [("a", "b", 100), ("b", "c", 100)])
    assert measured.transfer(HERE, THERE, 0) == pytest.approx(3e-3)
    assert measured.transfer(HERE, HERE, 10**9) == 0.0


def test_large_values_tell_how_fast_bytes_are() -> None:
    measured = Measured()
    step = stats(("a", HERE, 0, 10), ("b", THERE, 11, 12), ("d", THERE, 111, 112))
    measured.learn(step, [("a", "b", 100), ("a", "d", 10**8)])
    assert measured.transfer(HERE, THERE, 10**8) == pytest.approx(101e-3)


def test_the_makespan_is_from_the_first_node_to_the_last() -> None:
    assert makespan(stats(("a", HERE, 3, 10), ("b", THERE, 12, 20))) == pytest.approx(17e-3)
    assert makespan(step_stats_pb2.StepStats()) == 0.0


# --- trials -------------------------------------------------------------------------------------------------------


def trials(took: dict[bool, float], known: bool = False) -> tuple[Trials, int]:
    """The trials of two branches of which each step takes so many ms, by whether a node is moved; and how many it took."""
    with tf.Graph().as_default():
        fetch = two_branches()
    placer = DynamicPlacer(Assignment(TASKS))
    placer.measured.learn(stats(("a", HERE, 0, 40), ("b", HERE, 0, 40)))

    def propose() -> Placement:
        return placer.place([fetch], [], [], [])

    found = Trials(propose, lambda step_stats, placement: None, period=3, known=known)
    assert bool(found.placement.moved) == known
    steps = 0
    while found.measuring and steps < 100:
        found.ended(stats(("a", HERE, 0, took[bool(found.placement.moved)])))
        steps += 1
    return found, steps


@pytest.mark.parametrize("known", [False, True])
def test_what_is_faster_when_it_runs_is_kept(known: bool) -> None:
    found, steps = trials({False: 80, True: 45}, known)
    assert found.placement.moved
    assert steps < 30
    assert "1 nodes moved" in found.describe()
    assert "it took 45.00 ms" in found.describe()


@pytest.mark.parametrize("known", [False, True])
def test_what_is_slower_when_it_runs_is_taken_back(known: bool) -> None:
    found, steps = trials({False: 80, True: 95}, known)
    assert not found.placement.moved
    assert steps < 30


def test_trials_that_cannot_be_measured_stop() -> None:
    found, _ = trials({False: 80, True: 45})
    with tf.Graph().as_default():
        fetch = two_branches()
    placer = DynamicPlacer(Assignment(TASKS))
    begun = Trials(lambda: placer.place([fetch], [], [], []), placer.learn, period=3)
    begun.stop()
    assert not begun.measuring
    assert not begun.ended(stats(("a", HERE, 0, 1)))
    assert found.placement.moved
