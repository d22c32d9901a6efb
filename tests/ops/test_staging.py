"""Staging areas: what waits for what, elements by key and in parts, limits, and the nodes that TensorFlow makes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.runtime.asleep import soon
from tfexp.ops.staging import MapStagingArea, StagingArea
from tfexp.ops.staging_resource import Row


@pytest.fixture(name="run")
def _run() -> Iterator[Any]:
    with tf.Graph().as_default(), tf.Session() as session:
        yield session.run


def test_elements_come_in_order(run):
    area = StagingArea([tf.float32, tf.int32], names=["x", "n"], shapes=[[], []])
    x = tf.placeholder(tf.float32, [])
    put, taken, peeked, size = area.put({"x": x, "n": tf.constant(3)}), area.get(), area.peek(1), area.size()
    for value in (1.0, 2.0):
        run(put, {x: value})
    assert run(size) == 2 and run(peeked) == {"x": 2.0, "n": 3}
    assert run(taken) == {"x": 1.0, "n": 3} and taken["x"].shape == []
    run(area.clear())
    assert run(size) == 0


@pytest.mark.parametrize("limits", [{"capacity": 2}, {"memory_limit": 16}])
def test_a_full_area_makes_wait(run, limits):
    area = StagingArea([tf.float64], **limits)
    x = tf.placeholder(tf.float64, [])
    put, taken = area.put([x]), area.get()
    for value in (1.0, 2.0):
        run(put, {x: value})
    session = tf.get_default_session()
    third = threading.Thread(target=lambda: session.run(put, {x: 3.0}))
    third.start()
    assert [run(taken)[0] for _ in range(3)] == [1.0, 2.0, 3.0]
    third.join()


def test_who_waits_is_named_when_time_is_up(run):
    taken = StagingArea([tf.float32]).get()
    with pytest.raises(tf.errors.DeadlineExceededError):
        soon(tf.get_default_session(), taken)


@pytest.mark.parametrize(("ordered", "keys"), [(False, [3, 1, 2]), (True, [1, 2, 3])])
def test_elements_by_key(run, ordered, keys):
    area = MapStagingArea([tf.float32, tf.float32], ordered=ordered)
    key, x = tf.placeholder(tf.int64, []), tf.placeholder(tf.float32, [])
    first, second, taken = area.put(key, [x], [0]), area.put(key, [-x], [1]), area.get()
    for number in (3, 1, 2):
        run(first, {key: number, x: number})
    assert run([area.size(), area.incomplete_size()]) == [0, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="for index '0' for key '3' was already initialized"):
        run(first, {key: 3, x: 0})
    for number in (3, 1, 2):
        run(second, {key: number, x: number})
    assert run(area.peek(key, [1]), {key: 2}) == [-2.0]
    assert [run(taken) for _ in keys] == [(number, [number, -number]) for number in keys]


def test_values_are_taken_one_by_one(run):
    area = MapStagingArea([tf.float32, tf.int32], names=["x", "n"])
    key = tf.constant(5, tf.int64)
    run(area.put(key, {"x": tf.constant(1.5), "n": tf.constant(2)}))
    assert run(area.get(key, ["n"])[1]) == {"n": 2}
    with pytest.raises(tf.errors.InvalidArgumentError, match="Tensor at index '1' for key '5' has already been removed"):
        run(area.get(key, ["n"])[1])
    assert run(area.size()) == 1 and run(area.get(key, ["x"])[1]) == {"x": 1.5} and run(area.size()) == 0


def test_what_never_fits(run):
    big = tf.zeros([200], tf.uint8)
    for put in (
        StagingArea([tf.uint8], memory_limit=100).put([big]),
        MapStagingArea([tf.uint8], memory_limit=100).put(tf.constant(1, tf.int64), [big], [0]),
    ):
        with pytest.raises(tf.errors.ResourceExhaustedError, match=r"size of '200' bytes .* memory limit of '100'"):
            run(put)


def test_nodes(run):
    area = StagingArea([tf.float32])
    area.put([tf.ones([2])])
    area.get()
    nodes = {node.name: node for node in tf.get_default_graph().as_graph_def().node}
    assert {"StagingArea_root/NoOp", "StagingArea_put", "StagingArea_get"} <= set(nodes)
    put = nodes["StagingArea_put"]
    assert (put.op, put.attr["shared_name"].s, put.attr["_class"].list.s) == (
        "Stage",
        b"StagingArea",
        [b"loc:@StagingArea_root/NoOp"],
    )


ONE, KEY = np.float32(1), np.int64(1)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: StagingArea([tf.float32], shapes=[[2], [3]]), "StagingArea shapes must be the same length as dtypes"),
        (lambda: StagingArea([tf.float32], names=["a", "b"]), "StagingArea names must be the same length as dtypes"),
        (lambda: StagingArea([tf.float32]).put({"x": ONE}), "must have names to enqueue a dictionary"),
        (lambda: StagingArea([tf.float32], names=["x"]).put({"y": ONE}), "do not match names of staging area"),
        (lambda: StagingArea([tf.float32], names=["x"]).put([ONE]), "must enqueue a dictionary"),
        (lambda: StagingArea([tf.float32]).put([ONE, ONE]), "Unexpected number of inputs 2 vs 1"),
        (lambda: StagingArea([tf.float32], shapes=[[2]]).put([tf.ones([3])]), "Shapes .* are incompatible"),
        (lambda: StagingArea([tf.float32]).put([tf.constant(1)]), "Datatypes do not match"),
        (lambda: MapStagingArea([tf.float32]).put(KEY, [ONE]), "Indices must be supplied"),
        (lambda: MapStagingArea([tf.float32], names=["a"]).get(KEY, ["q"]), "Named index not in Staging Area names"),
        (lambda: MapStagingArea([tf.float32]).get(KEY, ["q"]), "was created without names"),
        (lambda: MapStagingArea([tf.float32]).get(KEY, ["q", 0]), "Mixed types in indices"),
    ],
)
def test_what_does_not_fit_together(run, make, text):
    with pytest.raises(ValueError, match=text):
        make()


def test_what_was_taken_by_a_step_that_gives_up_too_late_is_not_lost():
    """It was served already, and is only to be told so."""
    area = Row("area", 0, 0)
    first, second = area.get(), area.get()
    first.on_settled(lambda: second.give_up(tf.errors.CancelledError(None, None, "not wanted")))

    with area._lock:
        area._elements.extend([[np.ones(1)], [np.ones(2)]])
        settled = area._served()
    for settle in settled:
        settle()
    assert [len(taken.result()[0]) for taken in (first, second)] == [1, 2]
