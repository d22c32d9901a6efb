"""Collective ops between the devices of one process: what they compute, and what they say of members that do not fit."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.runtime.asleep import Background
from tfexp.core.waiting import Waiting
from tfexp.ops import collective
from tfexp.runtime.collectives import LocalExchange

NODES = {
    ("Add", "Id"): lambda xs: xs[0] + xs[1] + xs[2],
    ("Mul", "Id"): lambda xs: xs[0] * xs[1] * xs[2],
    ("Max", "Id"): lambda xs: np.maximum(np.maximum(xs[0], xs[1]), xs[2]),
    ("Min", "Id"): lambda xs: np.minimum(np.minimum(xs[0], xs[1]), xs[2]),
    ("Add", "Div"): lambda xs: (xs[0] + xs[1] + xs[2]) / np.float32(3),
}


def _on_each(make: Callable[[int], Any], count: int, steps: int = 2) -> list[np.ndarray]:
    """What `make(device's number)` gives on each of so many devices, in the last of some steps."""
    with tf.Graph().as_default():
        results = []
        for number in range(count):
            with tf.device(f"/cpu:{number}"):
                results.append(make(number))
        with tf.Session(config=tf.ConfigProto(device_count={"CPU": count}, operation_timeout_in_ms=10000)) as session:
            for _ in range(steps):
                values = session.run(results)
    return values


def _reduced(values: Sequence[Any], merge: str = "Add", final: str = "Id", **settings: Any) -> list[np.ndarray]:
    def make(number: int) -> Any:
        x = tf.placeholder_with_default(values[number], np.shape(values[number]))
        return collective.all_reduce(x, len(values), 1, 1, merge, final, **settings)

    return _on_each(make, len(values))


@pytest.mark.parametrize(("merge", "final"), NODES)
@pytest.mark.parametrize("shape", [(), (5,), (89, 97)], ids=["scalar", "whole", "in_shares"])
def test_all_devices_get_the_values_merged_by_rank(merge, final, shape):
    draws = np.random.RandomState(7).randn(3, *shape).astype(np.float32)
    for value in _reduced(list(draws), merge, final):
        np.testing.assert_array_equal(value, NODES[merge, final](draws))


def test_fewer_elements_than_devices(monkeypatch):
    monkeypatch.setattr(collective, "_SMALL", 0)
    for value in _reduced([np.array([i, 2.0 * i]) for i in range(3)]):
        np.testing.assert_array_equal(value, [3.0, 6.0])


def test_integers_are_divided_towards_zero():
    np.testing.assert_array_equal(_reduced([[-1, -2, 3], [0, -5, 4]], final="Div")[0], [0, -3, 3])


def test_what_is_for_rings_changes_nothing():
    given = _reduced([[1.0, 2.0], [3.0, 4.0]], subdiv_offsets=(0, 1), communication_hint="RING")
    np.testing.assert_array_equal(given[1], [4.0, 6.0])


def test_gathered_rows_are_in_the_order_of_the_ranks():
    def make(number: int) -> Any:
        rows = collective.all_gather(tf.constant([[number, 1], [number, 2]]), 3, 1, 1)
        assert rows.shape == [6, 2]
        return rows

    for value in _on_each(make, 3):
        np.testing.assert_array_equal(value, [[0, 1], [0, 2], [1, 1], [1, 2], [2, 1], [2, 2]])


@pytest.mark.parametrize("source", [0, 2])
def test_everybody_gets_what_the_source_has(source):
    def make(number: int) -> Any:
        if number == source:
            return collective.broadcast_send(tf.constant([True, False]), [2], tf.bool, 3, 1, 1)
        return collective.broadcast_recv([2], tf.bool, 3, 1, 1)

    for value in _on_each(make, 3):
        np.testing.assert_array_equal(value, [True, False])


def test_instances_need_no_common_order():
    """Each device has the second of its nodes wait for the first, and the two are not the same on both."""

    def make(number: int) -> Any:
        first = collective.all_reduce(tf.constant(1.0), 2, 1, 1, "Add", "Id")
        with tf.control_dependencies([first] if number == 0 else []):
            second = collective.all_reduce(tf.constant(2.0), 2, 1, 2, "Add", "Id")
        return first + second

    assert _on_each(make, 2) == [6.0, 6.0]


def _pair(first: Callable[[], Any], second: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: _on_each(lambda number: (first, second)[number](), 2)


def _reduce(value: Any, size: int = 2, merge: str = "Add") -> Callable[[], Any]:
    return lambda: collective.all_reduce(tf.constant(value), size, 1, 1, merge, "Id")


def _gather(value: Any) -> Callable[[], Any]:
    return lambda: collective.all_gather(tf.constant(value), 2, 1, 1)


def _send() -> Any:
    return collective.broadcast_send(tf.constant([1.0, 2.0]), [2], tf.float32, 2, 1, 1)


def _receive(shape: Any = (2,), dtype: Any = tf.float32) -> Callable[[], Any]:
    return lambda: collective.broadcast_recv(shape, dtype, 2, 1, 1)


INVALID, INTERNAL = tf.errors.InvalidArgumentError, tf.errors.InternalError
MISFITS = {
    "shapes": (
        _pair(_reduce([1.0, 2.0]), _reduce([1.0, 2.0, 3.0])),
        INVALID,
        r"Shape mismatch in the collective instance 1",
    ),
    "dtypes": (_pair(_reduce(1.0), _reduce(1)), INVALID, r"Data type mismatch in the collective instance 1"),
    "ops": (_pair(_reduce(1.0), _reduce(1.0, merge="Mul")), INVALID, r"Op mismatch in the collective instance 1"),
    "sizes": (_pair(_reduce(1.0), _reduce(1.0, size=3)), INVALID, r"joining a group with size 3, but that group has size 2"),
    "rows": (_pair(_gather([1.0]), _gather([1.0, 2.0])), INVALID, r"Shape mismatch in the collective instance 1"),
    "received_shape": (_pair(_send, _receive((3,))), INVALID, r"Shape mismatch"),
    "received_dtype": (_pair(_send, _receive(dtype=tf.int32)), INVALID, r"Data type mismatch"),
    "two_sources": (_pair(_send, _send), INTERNAL, r"Instance 1 already has source 0, received second claim from 1"),
    "no_source": (_pair(_receive(), _receive()), INTERNAL, r"Nobody broadcasts in instance 1"),
}


@pytest.mark.parametrize("case", MISFITS)
def test_members_that_do_not_fit_end_the_step(case):
    run, error, text = MISFITS[case]
    with pytest.raises(error, match=text):
        run()


def test_the_group_forms_anew_after_an_error():
    def make(number: int) -> Any:
        x = tf.placeholder_with_default(np.ones(2, np.float32), [None], name=f"x{number}")
        return collective.all_reduce(x, 2, 1, 1, "Add", "Id")

    with tf.Graph().as_default():
        with tf.device("/cpu:0"):
            first = make(0)
        with tf.device("/cpu:1"):
            second = make(1)
        with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2}, operation_timeout_in_ms=10000)) as session:
            with pytest.raises(INVALID, match="Shape mismatch"):
                session.run([first, second], {"x1:0": [1.0]})
            np.testing.assert_array_equal(session.run([first, second]), [[2.0, 2.0]] * 2)
            with pytest.raises(INVALID, match="Shape mismatch"):  # by now nobody says what he is about
                session.run([first, second], {"x1:0": [1.0]})
            np.testing.assert_array_equal(session.run([first, second]), [[2.0, 2.0]] * 2)


def test_the_others_hear_of_a_step_that_the_keyboard_interrupts():
    interrupted = set()

    def pass_on(number: int, total: np.ndarray) -> np.ndarray:
        if number in interrupted:
            raise KeyboardInterrupt
        return total

    with tf.Graph().as_default():
        sums = []
        for number in range(2):
            with tf.device(f"/cpu:{number}"):
                total = collective.all_reduce(tf.constant(1.0), 2, 1, 1, "Add", "Id")
                total = tf.py_func(functools.partial(pass_on, number), [total], tf.float32)
                sums.append(collective.all_reduce(total, 2, 1, 2, "Add", "Id"))
        with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2}, operation_timeout_in_ms=10000)) as session:
            assert session.run(sums) == [4.0, 4.0]
            interrupted.add(1)
            waits = Background(lambda: session.run(sums[0]))
            with pytest.raises(KeyboardInterrupt):
                session.run(sums[1])
            with pytest.raises(tf.errors.AbortedError, match="gave it up"):
                waits.result()


def test_nothing_is_kept_for_a_group_that_has_ended():
    exchange = LocalExchange()
    first, second = (exchange.group(f"/cpu:{number}", 1, 2, {}) for number in range(2))
    assert isinstance(first, Waiting)
    first.result().leave(tf.errors.CancelledError(None, None, "over"))
    second.result().send(0, "late", np.ones(3))
    assert not exchange._values


def test_a_member_that_does_not_come_is_waited_for_until_the_time_is_over():
    with tf.Graph().as_default(), tf.Session() as session:
        alone = collective.all_reduce(tf.constant(1.0), 2, 1, 1, "Add", "Id")
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(alone, options=tf.RunOptions(timeout_in_ms=20))


def test_a_group_of_none_is_refused_and_one_of_one_is_alone():
    def reduced(size: int) -> Any:
        return collective.collective_reduce_op(
            [2.0, 4.0], group_size=size, group_key=1, instance_key=1, merge_op="Add", final_op="Id", subdiv_offsets=[0]
        )

    with tf.Graph().as_default(), tf.Session() as session:
        np.testing.assert_array_equal(session.run(reduced(1)), [2.0, 4.0])
        with pytest.raises(INVALID, match="group_size must be positive"):
            session.run(reduced(0))


@pytest.mark.parametrize(
    "make",
    [
        lambda: collective.all_reduce(1.0, 1, 1, 1, "Add", "Id"),
        lambda: collective.all_gather([1.0], 1, 1, 1),
        lambda: collective.broadcast_send(1.0, [], tf.float32, 1, 1, 1),
        lambda: collective.broadcast_recv([], tf.float32, 1, 1, 1),
        lambda: collective.broadcast_send(1.0, [2], tf.float32, 2, 1, 1),
        lambda: collective.all_gather(1.0, 2, 1, 1),
        lambda: collective.all_reduce(1.0, 2, 1, 1, "Foo", "Id"),
    ],
)
def test_what_makes_no_node(make):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=r"group_size|not equal to shape|at least rank 1|merge_op"):
        make()
