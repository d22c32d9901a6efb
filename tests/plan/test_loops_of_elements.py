"""Which nodes of a step become loops, that updates do, and that the step computes the same bits.

The compiler here is Python itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.plan.test_recording import run_as_python
from tfexp.core import workers
from tfexp.plan import compiled_loops
from tfexp.plan.loop_source import LoopSource
from tfexp.runtime import local


@pytest.fixture
def loops(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Sessions have loops; the names of the nodes whose loops have run."""
    seen: list[str] = []

    def compiler(name: str, source: LoopSource) -> Callable[..., bool]:
        def run(*arguments: Any) -> bool:
            seen.append(name)
            return run_as_python(source.text, *arguments)

        return run

    monkeypatch.setattr(local, "loop_compiler_of", lambda config: compiler)
    return seen


def _floats(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


def _direct(session: tf.Session, fetches: Any, feeds: Any = None) -> list[str]:
    """The nodes that a loop computes, by the plan."""
    lines = repr(session.explain(fetches, feeds)).splitlines()
    return [line.split()[1] for line in lines if "[direct: loop of " in line]


def test_nodes_that_follow_each_other_are_one_loop(loops: list[str]) -> None:
    x = tf.placeholder(tf.float32, [3, 5])
    inside = tf.nn.relu(tf.nn.bias_add(x * 0.5, [1.0, -1.0, 0.0, 2.0, -2.0]), name="last")
    outside = tf.tanh(inside)
    fed = {x: _floats(3, 5)}
    with tf.Session() as session:
        actual = session.run(outside, fed)
        assert _direct(session, outside, fed) == ["last"] == loops
    wanted = np.tanh(np.maximum(fed[x] * np.float32(0.5) + np.array([1, -1, 0, 2, -2], np.float32), 0))
    np.testing.assert_array_equal(actual, wanted)


def test_one_operation_and_unknown_shapes_stay_numpys(loops: list[str]) -> None:
    x, y = tf.placeholder(tf.float32, [7]), tf.placeholder(tf.float32, None)
    with tf.Session() as session:
        session.run([x + 1.0, tf.sin(x) * 2.0], {x: _floats(7)})
        session.run(tf.strings.as_string(x), {x: _floats(7)})
        session.run(y * 2.0 + 1.0, {y: 3.0})
    assert loops == []


def test_what_is_read_elsewhere_or_fetched_is_computed_once(loops: list[str]) -> None:
    x = tf.placeholder(tf.float32, [7])
    shared = tf.square(x) - x
    results = [shared, tf.sqrt(tf.abs(shared)) * 2.0, tf.reduce_sum(shared)]
    fed = _floats(7)
    with tf.Session() as session:
        middle, last, _ = session.run(results, {x: fed})
    assert len(loops) == 2
    np.testing.assert_array_equal(middle, fed * fed - fed)
    np.testing.assert_array_equal(last, np.sqrt(np.abs(middle)) * np.float32(2))


OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "gradient descent": lambda: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adagrad": lambda: tf.train.AdagradOptimizer(0.1),
    "adadelta": lambda: tf.train.AdadeltaOptimizer(1.0),
    "rmsprop": lambda: tf.train.RMSPropOptimizer(0.01),
    "centered rmsprop": lambda: tf.train.RMSPropOptimizer(0.01, centered=True),
    "adam": lambda: tf.train.AdamOptimizer(0.01),
    "adam in double precision": lambda: tf.train.AdamOptimizer(0.01),
}


@pytest.mark.parametrize("use_resource", [False, True], ids=["reference", "resource"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_updates_are_loops_and_follow_the_same_trajectory(
    name: str, use_resource: bool, loops: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    dtype = tf.float64 if "double" in name else tf.float32
    with tf.Graph().as_default():
        values = _floats(5, 7).astype(dtype.as_numpy_dtype)
        w = tf.get_variable("w", initializer=values, use_resource=use_resource)
        train = OPTIMIZERS[name]().minimize(tf.reduce_sum(tf.square(w - 1.0)))
        trajectories = []
        for is_looped in (True, False):
            if not is_looped:
                monkeypatch.setattr(local, "loop_compiler_of", lambda config: None)
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                loops.clear()
                for _ in range(4):
                    session.run(train)
                assert any("/Apply" in node or "Apply" in node for node in loops) == is_looped
                trajectories.append(session.run(w))
    np.testing.assert_array_equal(*trajectories)


ROWS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add": tf.scatter_add,
    "sub": tf.scatter_sub,
    "mul": tf.scatter_mul,
    "max": tf.scatter_max,
    "momentum": lambda v, i, u: tf.train.MomentumOptimizer(0.1, 0.9).apply_gradients([(tf.IndexedSlices(u, i), v)]),
    "adagrad": lambda v, i, u: tf.train.AdagradOptimizer(0.1).apply_gradients([(tf.IndexedSlices(u, i), v)]),
}


@pytest.mark.parametrize("use_resource", [False, True], ids=["reference", "resource"])
@pytest.mark.parametrize("shape", [(11, 5), (11,), (11, 2, 3)], ids=str)
@pytest.mark.parametrize("name", ROWS)
def test_updates_of_rows_are_loops_and_repeated_rows_are_updated_in_turn(
    name: str, shape: tuple[int, ...], use_resource: bool, loops: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    results = []
    for is_looped in (True, False):
        if not is_looped:
            monkeypatch.setattr(local, "loop_compiler_of", lambda config: None)
        with tf.Graph().as_default(), tf.Session() as session:
            v = tf.get_variable("v", initializer=_floats(*shape), use_resource=use_resource)
            indices = tf.placeholder(tf.int32, [7])
            update = ROWS[name](v, indices, _floats(7, *shape[1:]))
            session.run(tf.global_variables_initializer())
            loops.clear()
            for fed in ([3, 0, 3, 10, 1, 3, 0], range(7)):
                session.run(update, {indices: fed})
            assert bool(loops) == is_looped
            results.append(session.run(v))
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"11|out of range"):
                session.run(update, {indices: [0, 1, 2, 3, 4, 5, 11]})
            np.testing.assert_array_equal(session.run(v), results[-1], "nothing has been updated")
    np.testing.assert_array_equal(*results)


def test_a_variable_that_is_not_as_planned_is_refused_as_without_loops(loops: list[str]) -> None:
    v = tf.Variable(_floats(3, 2), validate_shape=False, name="v")
    fed = tf.placeholder(tf.float32, [3, 2])
    train = tf.train.MomentumOptimizer(0.1, 0.9).apply_gradients([(fed, v)])
    other = tf.assign(v, tf.zeros([5, 2]), validate_shape=False)
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v"):
            session.run(train, {fed: _floats(3, 2)})
        session.run(tf.global_variables_initializer())
        session.run(train, {fed: _floats(3, 2)})
        session.run(other)
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError, match="same shape"):
                session.run(train, {fed: _floats(3, 2)})


def test_an_input_that_is_not_as_planned_is_refused(loops: list[str]) -> None:
    lengths = iter([3, 3, 5])
    made = tf.py_func(lambda: np.ones(next(lengths), np.float32), [], tf.float32)
    made.set_shape([3])
    result = tf.add(tf.square(made), _floats(3), name="misfit")
    with tf.Session() as session:
        session.run(result)  # interpreted
        session.run(result)
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"shapes \(5,\), \(3,\) do not broadcast to \(3,\)[^$]*misfit"
        ):
            session.run(result)


def test_large_updates_are_shared_out_where_the_step_owns_the_cores(
    loops: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled_loops, "_WORTH_SHARING", 1)
    monkeypatch.setattr("tfexp.runtime.cpu._install_workers", lambda wanted: None)
    v = tf.get_variable("v", initializer=_floats(7, 2))
    train = tf.train.AdamOptimizer(0.1).apply_gradients([(tf.constant(_floats(7, 2)), v)])
    before = workers._team
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        workers.install(workers.Team(2))
        try:
            loops.clear()
            with workers.alone():
                session.run(train)
            shared = session.run(v)
        finally:
            workers.install(before)
        assert len(loops) == 2
        session.run(tf.global_variables_initializer())
        session.run(train)
        np.testing.assert_array_equal(session.run(v), shared)


@pytest.mark.parametrize("by_rows", [False, True])
def test_updates_of_a_variable_are_done_one_after_the_other(by_rows: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiled loop lets other threads go on."""
    done: list[str] = []

    def compiler(name: str, source: LoopSource) -> Callable[..., bool]:
        def run(*arguments: Any) -> bool:
            done.append("begins")
            if other.ident is None:
                other.start()
                other.join(0.05)  # it would be done, did it not wait
            done.append("ends")
            return run_as_python(source.text, *arguments)

        return run

    monkeypatch.setattr(local, "loop_compiler_of", lambda config: compiler)
    w = tf.Variable(_floats(5, 3))
    read = tf.gather(w, [0, 2]) if by_rows else w
    step = tf.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_sum(tf.square(read)))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        other = threading.Thread(target=session.run, args=[step])
        session.run(step)
        other.join(60)
    assert done == ["begins", "ends"] * 2
