"""What becomes a segment, where it stands in the step, and that the step computes what it computed before.

The compiler here is a loop over the members' kernels: on NumPy's arrays they are what XLA compiles.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.core.op import flatten_args, group_inputs
from tfexp.plan import segment
from tfexp.plan.segment import Jit, Segment
from tfexp.runtime import local


def run_members(made: Segment) -> Callable[..., tuple[Any, ...]]:
    def run(*flat: Any) -> tuple[Any, ...]:
        values: dict[int, Any] = dict(made.constants)
        numbers = [n for n, _ in made.inputs] + [v.number for v in made.variables]
        values.update(zip(numbers, flat, strict=True))
        for member in made.members:
            inputs = [
                values[n].value.copy() if through else values[n]
                for n, through in zip(member.inputs, member.reads_through, strict=True)
            ]
            kernel = member.op.kernels["CPU"]
            result = kernel.compute(None, *group_inputs(member.op, inputs, member.attrs), **member.attrs)
            if kernel.reads_variable:
                result = result.copy()
            flat_result = [result] if member.op.has_single_output else flatten_args(result or ())
            values.update(zip(member.outputs, flat_result, strict=False))
        return tuple(np.array(values[n]) for n in made.outputs)

    return run


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[Segment]:
    """Sessions compile everything; the segments that they had compiled."""
    seen: list[Segment] = []

    def compiler(made: Segment) -> Callable[..., tuple[Any, ...]]:
        seen.append(made)
        return run_members(made)

    monkeypatch.setattr(local, "jit_of", lambda config, devices: Jit(compiler, everywhere=True))
    return seen


def _types(made: Segment) -> list[str]:
    return [member.op.name for member in made.members]


def _run_twice(fetches: Any, feeds: dict[Any, Any] | None = None) -> list[Any]:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [session.run(fetches, feeds) for _ in range(2)]


def test_a_training_step_is_one_segment_with_its_updates(compiled: list[Segment]) -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [5, 3])
        w = tf.get_variable("w", initializer=np.ones((3, 2), np.float32))
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
        train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
        _run_twice([loss, train], {x: np.ones((5, 3), np.float32)})
    (made,) = compiled
    assert "ApplyMomentum" in _types(made) and "MatMul" in _types(made)
    assert [(v.updated, v.stays) for v in made.variables] == [(True, True)] * 2
    assert len(made.outputs) == 1 and len(made.inputs) == 1


def test_what_numpy_must_do_splits_a_step_into_segments(compiled: list[Segment]) -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [7])
        before = tf.exp(tf.sin(x) * 2.0) + x
        middle = tf.py_func(lambda a: a + np.float32(1), [before], tf.float32)
        middle.set_shape([7])
        after = tf.cos(tf.square(middle) - x) * 0.5
        first, second = _run_twice(after, {x: np.arange(7, dtype=np.float32)})
    np.testing.assert_array_equal(first, second)
    assert [set(_types(made)) for made in compiled] == [{"Sin", "Mul", "Exp", "AddV2"}, {"Square", "Sub", "Cos", "Mul"}]


def test_a_step_calls_its_segment_itself(compiled: list[Segment]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [7])
        (step,) = session.explain(tf.exp(tf.sin(x) * 2.0) + x, {x: np.zeros(7)}).plan.steps
    assert step.op is segment.SEGMENT and step.call is not None


def test_few_nodes_are_not_worth_it(compiled: list[Segment]) -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [7])
        _run_twice(tf.exp(tf.sin(x)) + x, {x: np.ones(7, np.float32)})
    assert not compiled


def test_a_variable_that_numpy_touches_too_is_updated_by_numpy(compiled: list[Segment]) -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [3])
        v, other = (tf.get_variable(name, initializer=np.ones(3, np.float32)) for name in ("v", "other"))
        shown = tf.py_func(lambda a: a * np.float32(2), [v], tf.float32)
        train = tf.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_sum(tf.square(v * other - x)))
        results = _run_twice([shown, train], {x: np.zeros(3, np.float32)})
    (made,) = compiled
    assert [(v.updated, v.stays) for v in made.variables] == [(False, False), (True, True)]
    assert _types(made).count("ApplyGradientDescent") == 1
    assert not np.array_equal(results[0][0], results[1][0])


def test_unknown_shapes_strings_and_random_numbers_stay(compiled: list[Segment]) -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None])
        mask = tf.boolean_mask(x, x > 0)
        noise = tf.random_uniform([7])
        text = tf.as_string(x)
        _run_twice(
            [tf.exp(mask) * 2 + tf.sin(mask) - tf.cos(mask), tf.strings.length(text), noise], {x: np.ones(7, np.float32)}
        )
    assert not any({"Exp", "AsString", "RandomUniform"} & set(_types(made)) for made in compiled)


def test_the_first_assignment_is_not_compiled(compiled: list[Segment]) -> None:
    """Compiled code takes the values of its variables; before the first assignment there is none."""
    with tf.Graph().as_default():
        v = tf.get_variable("v", initializer=lambda: tf.exp(tf.ones([5])) * 2.0 - tf.sin(tf.fill([5], 0.5)))
        with tf.Session() as session:
            for _ in range(2):
                session.run(v.initializer)
    assert not any("Assign" in _types(made) for made in compiled)


def random_program(seed: int) -> tuple[list[tf.Tensor], list[tf.Operation]]:
    """Nodes that can be compiled among some that cannot, with updates of what they read, in both kinds of variables."""
    choose = random.Random(seed)
    start = np.random.default_rng(seed).standard_normal(5).astype(np.float32)
    v = tf.get_variable("v", initializer=start, use_resource=seed % 2 == 1)
    w = tf.get_variable("w", initializer=start[::-1].copy())
    values, updates = [v.read_value() * 1.0, tf.tanh(w)], []
    for _ in range(choose.randrange(8, 40)):
        a, b = choose.choice(values), choose.choice([*values, v, w])
        kind = choose.randrange(10)
        if kind == 0:
            updates.append(choose.choice([v, w]).assign(a * 0.5).op)
        elif kind == 1:
            updates.append(choose.choice([v, w]).assign_sub(a * 0.1).op)
        elif kind == 2:
            same = tf.py_func(lambda x: x.copy(), [a], tf.float32)
            same.set_shape([5])
            values.append(same)
        elif kind == 3 and updates:
            with tf.control_dependencies([choose.choice(updates)]):
                values.append(tf.tanh(choose.choice([v.read_value(), w.read_value()])))
        elif kind == 4:
            values.append(tf.cond(tf.reduce_sum(a) > 0, lambda a=a: a * 0.9, lambda b=b: b + 0.1))
        else:
            values.append(choose.choice([tf.add, tf.subtract, tf.maximum, lambda x, y: tf.sin(x) * y])(a, b))
    return values[-4:], updates


@pytest.mark.parametrize("seed", range(24))
def test_any_step_computes_the_same_in_segments(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def trajectory() -> list[np.ndarray]:
        with tf.Graph().as_default() as graph, tf.Session() as session:
            values, updates = random_program(seed)
            session.run(tf.global_variables_initializer())
            runs = [session.run([values, *updates])[0] for _ in range(4)]
            return [*np.ravel(runs), *(x for v in graph.get_collection("variables") for x in session.run(v))]

    plain = trajectory()
    monkeypatch.setattr(segment, "_WORTH_COMPILING", 1)
    monkeypatch.setattr(local, "jit_of", lambda config, devices: Jit(run_members, everywhere=True))
    np.testing.assert_allclose(trajectory(), plain, rtol=1e-5, atol=1e-6)
