"""Nodes that run at the same time: which ones the plan takes for it, and that nobody can tell from the results."""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.core import errors, workers
from tfexp.plan import fuse, strands
from tfexp.plan.plan import Plan
from tfexp.runtime import compiled

N = 100_003  # elements: a tanh of so many is heavy, a sum of two is not


@pytest.fixture(autouse=True)
def _two_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = workers._team
    monkeypatch.setattr("tfexp.runtime.cpu._install_workers", lambda wanted: None)
    monkeypatch.setattr(fuse, "_WORTH_FUSING", 1 << 60)
    workers.install(workers.Team(2))
    yield
    workers.install(before)


@pytest.fixture
def everything_is_heavy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_HEAVY", "_LIGHT", "_FORKING"):
        monkeypatch.setattr(strands, name, 0.0)
    monkeypatch.setattr(strands, "_WORTH_IT", 1.0)
    monkeypatch.setattr(strands, "seconds", lambda node: 1.0 if node.inputs and node.call is not None else 0.0)


def chain(x: tf.Tensor, length: int = 3) -> tf.Tensor:
    for _ in range(length):
        x = tf.tanh(x) + x
    return x


def plan_of(session: tf.Session, fetches: Any) -> Plan:
    return session.explain(fetches).plan


def names(plan: Plan) -> list[list[set[str]]]:
    """The types of the nodes of each strand of each section."""
    return [[{plan.steps[p].name for p in strand} for strand in section.strands] for section in plan.sections]


# --- what runs at the same time ----------------------------------------------------------------------------------


def test_branches_are_strands_and_what_joins_them_is_none() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        one, two = (chain(tf.get_variable(name, [N])) for name in ("x", "y"))
        result = tf.reduce_sum(one + two)
        ((first, second),) = names(plan_of(session, result))
    assert {"Tanh", "Tanh_1", "Tanh_2"} <= first and {"Tanh_3", "Tanh_4", "Tanh_5"} <= second
    assert "Sum" not in first | second and not first & second


@pytest.mark.parametrize(
    "build",
    [
        lambda x: chain(x, 6),
        lambda x: tf.tanh(tf.tanh(x) + tf.square(x)),
        lambda x: [chain(x[:50]), chain(x[50:100])],
        lambda x: [chain(x), tf.reduce_sum(x)],
        lambda x: [tf.gather(tf.get_variable(name, [10 * N]), [3, 5]) for name in "abc"],
    ],
    ids=["one chain", "one heavy node", "light branches", "a heavy branch and a light one", "rows of tables"],
)
def test_without_two_heavy_branches_there_are_no_strands(build: Callable[[tf.Tensor], Any]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.get_variable("x", [N])
        plan = plan_of(session, build(x))
    assert plan.sections == () and not plan.shares


@pytest.mark.usefixtures("everything_is_heavy")
def test_what_waits_for_a_part_of_a_group_runs_before_the_group_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuse, "_WORTH_FUSING", 1)
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.get_variable("x", [7], initializer=tf.ones_initializer())
        first = tf.tanh(x)
        with tf.control_dependencies([first]):
            between = tf.nn.l2_loss(x)
        with tf.control_dependencies([between]):
            last = tf.square(first)
        session.run(x.initializer)
        for _ in range(2):
            np.testing.assert_allclose(session.run(last), [np.tanh(1) ** 2] * 7, rtol=1e-6)
            assert session.run([between, last])[0] == 3.5


def test_a_convolution_that_cannot_work_is_its_own_error() -> None:
    """The estimate of its cost takes whatever shapes a graph has."""
    with tf.Graph().as_default() as graph:
        tf.constant(np.ones([1, 5, 5, 1], np.float32), name="image")
        tf.placeholder(tf.int32, name="sizes")
        tf.placeholder(tf.float32, name="filter")
        definition = graph.as_graph_def()
    node = definition.node.add(name="conv", op="Conv2DBackpropInput", input=["sizes", "filter", "filter"])
    node.attr["T"].type = tf.float32.as_datatype_enum
    node.attr["strides"].list.i.extend([1, 1, 1, 1])
    node.attr["padding"].s = b"SAME"
    with tf.Graph().as_default(), tf.Session() as session:
        conv, sizes, array = tf.import_graph_def(definition, return_elements=["conv:0", "sizes:0", "filter:0"], name="")
        for _ in range(2):
            with pytest.raises(errors.InvalidArgumentError, match="conv"):
                session.run(conv, {sizes: [1, 5, 5, 1], array: np.ones([2, 2], np.float32)})


def test_one_thread_has_no_strands() -> None:
    with tf.Graph().as_default():
        x = tf.get_variable("x", [N])
        fetches = [chain(x), chain(-x)]
        for config, several in ((None, True), (tf.ConfigProto(inter_op_parallelism_threads=1), False)):
            with tf.Session(config=config) as session:
                assert bool(plan_of(session, fetches).sections) is several


def test_towers_of_a_model_run_at_the_same_time() -> None:
    """Forward and backward, up to where the gradients are added up."""
    with tf.Graph().as_default(), tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        w = tf.get_variable("w", [N])
        losses = []
        for device in range(2):
            with tf.device(f"/cpu:{device}"), tf.name_scope(f"tower{device}"):
                losses.append(tf.reduce_sum(chain(w * float(device + 2))))
        gradients = [tf.gradients(loss, w)[0] for loss in losses]
        update = w.assign_sub((gradients[0] + gradients[1]) * 0.5)
        plan = plan_of(session, update)
    (section,) = names(plan)
    assert len(section) == 2
    assert {node.partition("/")[0] for node in section[0] if node.startswith("tower")} == {"tower0"}
    assert not any("AssignSub" in node for strand in section for node in strand)


# --- nobody can tell ---------------------------------------------------------------------------------------------


class Interleaved:
    """Runs strands by threads of which one goes on at a time, a line of the generated code each, as a seed says."""

    def __init__(self, seed: int):
        self._random = random.Random(seed)
        self._turn = threading.Condition()
        self._current = 0
        self._alive: list[int] = []
        self.switches = 0

    def __call__(self, *tasks: tuple[Callable[..., Any], tuple[Any, ...]]) -> list[Any]:
        results: list[Any] = [None] * len(tasks)
        self._alive = list(range(len(tasks)))
        self._current = self._random.choice(self._alive)

        def run(number: int) -> None:
            def on_event(frame: FrameType, event: str, argument: Any) -> Any:
                if frame.f_code.co_filename != "<tfexp plan>":
                    return None
                if event == "line":
                    self._pass_on(number)
                return on_event

            self._await(number)
            sys.settrace(on_event)
            try:
                with np.errstate(all="ignore"):
                    results[number] = tasks[number][0](*tasks[number][1])
            finally:
                sys.settrace(None)
                self._pass_on(number, for_good=True)

        threads = [threading.Thread(target=run, args=(number,)) for number in range(len(tasks))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return results

    def _pass_on(self, number: int, for_good: bool = False) -> None:
        with self._turn:
            if for_good:
                self._alive.remove(number)
            if self._alive:
                self._current = self._random.choice(self._alive)
                self.switches += self._current != number
            self._turn.notify_all()
        if not for_good:
            self._await(number)

    def _await(self, number: int) -> None:
        with self._turn:
            assert self._turn.wait_for(lambda: self._current == number, timeout=60)


def random_program(seed: int) -> tuple[list[tf.Operation], list[Any]]:
    """A step of element-wise nodes, products, views, reads and updates of variables; and what to look at after it."""
    choose = random.Random(seed)
    variables = [tf.get_variable(f"v{i}", initializer=np.full((5, 5), 0.3 + i, np.float32)) for i in range(3)]
    values: list[tf.Tensor] = [v.read_value() for v in variables] + [tf.constant(np.eye(5, dtype=np.float32) * 0.7)]
    last: list[tf.Operation] = []
    for _ in range(choose.randrange(10, 40)):
        a, b = choose.choice(values), choose.choice(values)
        kind = choose.randrange(9)
        with tf.control_dependencies([choose.choice(last)] if last and choose.random() < 0.2 else []):
            if kind == 0:
                values.append(tf.matmul(a, b) * 0.1)
            elif kind == 1:
                values.append(tf.reshape(tf.transpose(a), [5, 5]))
            elif kind == 2:
                update = choose.choice(variables).assign_sub(a * 0.01)
                last.append(update.op)
            elif kind == 3:
                values.append(choose.choice(variables).read_value() + a)
            elif kind == 4:
                values.append(tf.reduce_mean(a, keepdims=True) + tf.zeros([5, 5]))
            else:
                values.append((tf.tanh, tf.sin, tf.square, tf.negative)[kind - 5](a) * 0.5 + b)
    return last, [*choose.sample(values, 3), values[-1]]


@pytest.mark.usefixtures("everything_is_heavy")
def test_any_interleaving_gives_the_same_results(monkeypatch: pytest.MonkeyPatch) -> None:
    sections = switches = 0
    for seed in range(40):
        results = []
        runner = Interleaved(seed)
        monkeypatch.setattr(compiled, "_run_strands", runner)
        for threads in (1, 2):
            with tf.Graph().as_default():
                tf.set_random_seed(1)
                updates, fetches = random_program(seed)
                config = tf.ConfigProto(inter_op_parallelism_threads=threads)
                with tf.Session(config=config) as session, np.errstate(all="ignore"):
                    session.run(tf.global_variables_initializer())
                    steps = [session.run((fetches, updates))[0] for _ in range(3)]
                    results.append([*steps, session.run(tf.global_variables())])
                    sections += len(plan_of(session, (fetches, updates)).sections)
        np.testing.assert_equal(results[1], results[0], err_msg=f"seed {seed}")
        switches += runner.switches
    assert sections > 20 and switches > 1000, "the programs have something to interleave"


@pytest.mark.usefixtures("everything_is_heavy")
def test_an_update_waits_for_the_readers_of_the_old_value() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=np.ones(7, np.float32))
        old = tf.tanh(v) * 2.0
        new = v.assign_add(tf.sin(v))
        session.run(v.initializer)
        for _ in range(4):
            before = session.run(v)
            seen, after = session.run([old, new])
            np.testing.assert_allclose(seen, np.tanh(before) * 2, rtol=1e-6)
            np.testing.assert_allclose(after, before + np.sin(before), rtol=1e-6)


# --- what can go wrong -------------------------------------------------------------------------------------------


def test_an_error_in_a_strand_names_its_node() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        fine = chain(tf.get_variable("x", initializer=np.ones(N, np.float32)))
        session.run(tf.global_variables_initializer())
        v = tf.get_variable("never_initialized", [N])
        bad = chain(v)
        assert plan_of(session, [fine, bad]).sections
        for _ in range(3):
            with pytest.raises(errors.FailedPreconditionError, match="never_initialized"):
                session.run([fine, bad])
        session.run(v.initializer)
        assert len(session.run([fine, bad])) == 2


@pytest.mark.usefixtures("everything_is_heavy")
def test_all_strands_have_ended_when_an_error_is_raised() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        wanted = tf.placeholder(tf.int32, [3])
        rows = tf.constant(np.arange(12, dtype=np.float32).reshape(4, 3))
        good = tf.tanh(tf.square(rows))
        bad = tf.square(tf.gather(tf.sin(rows), wanted))
        for _ in range(3):
            assert session.run([good, bad], {wanted: [0, 1, 2]})[1].shape == (3, 3)
        with pytest.raises(errors.InvalidArgumentError, match=r"indices\[1\] = 9 is not in \[0, 4\)"):
            session.run([good, bad], {wanted: [0, 9, 2]})
        assert session.run([good, bad], {wanted: [3, 1, 2]})[1].shape == (3, 3)
