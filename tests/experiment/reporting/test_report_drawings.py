"""What reports are drawn with: axes, thinned curves, the outline of a graph and its layers."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfexp as tf
from tfexp.experiment.reporting.graph_drawing import draw_graph
from tfexp.experiment.reporting.graph_outline import Box, Outline, outline
from tfexp.experiment.reporting.scale import Scale, digits, spans_decades
from tfexp.experiment.reporting.thin import thin

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)


@given(st.lists(NUMBERS, min_size=1, max_size=300), st.integers(4, 50))
@settings(max_examples=60, deadline=None)
def test_thinned_curves_keep_their_ends_and_extremes(values: list[float], most: int) -> None:
    kept = thin(values, most)
    assert kept == sorted(set(kept))
    assert len(kept) <= max(most, 1)
    assert (kept[0], kept[-1]) == (0, len(values) - 1)
    assert {min(values), max(values)} <= {values[place] for place in kept}
    if len(values) <= most:
        assert kept == list(range(len(values)))


@given(st.lists(NUMBERS, min_size=1, max_size=9), st.booleans())
@settings(max_examples=60, deadline=None)
def test_ticks_are_round_values_on_the_axis(values: list[float], log: bool) -> None:
    values = [abs(value) + 1e-3 for value in values] if log else values
    scale = Scale.over(values, 200.0, 0.0, log, 0.04)
    assert all(-1e-6 <= scale.place(value) <= 200 + 1e-6 for value in values)
    ticks = scale.ticks()
    assert 0 < len(ticks) <= 12
    assert ticks == sorted(ticks)
    assert all(-1e-3 <= scale.place(tick) <= 200 + 1e-3 for tick in ticks)


@pytest.mark.parametrize(
    ("values", "log", "ticks"),
    [
        ([0, 300], False, [0, 100, 200, 300]),
        ([0.07, 0.95], False, [0.2, 0.4, 0.6, 0.8]),
        ([0.1, 100], True, [0.1, 0.5, 2, 10, 50]),
        ([1e-6, 1e3], True, [1e-6, 1e-4, 1e-2, 1, 100]),
        ([2, 3], True, [2.0, 2.2, 2.4, 2.6, 2.8, 3.0]),
        ([5, 5], False, [3, 4, 5, 6, 7]),
    ],
)
def test_some_axes(values: list[float], log: bool, ticks: list[float]) -> None:
    assert Scale.over(values, 0, 1, log).ticks() == pytest.approx(ticks)


def test_numbers_of_ticks() -> None:
    assert [digits(value) for value in (0, 0.25, 1000, 1e-5, 2.5e-7, 3e6, 1234.5)] == [
        "0", "0.25", "1000", "1e-5", "2.5e-7", "3e6", "1234",
    ]  # fmt: skip
    assert spans_decades([0.1, 10])
    assert not spans_decades([1, 10])
    assert not spans_decades([0, 10])
    assert not spans_decades([])


def test_the_outline_opens_scopes_and_keeps_layers_whole() -> None:
    with tf.Graph().as_default() as graph:
        features = tf.placeholder(tf.float32, [None, 7], name="input/features")
        labels = tf.placeholder(tf.float32, [None, 3], name="input/labels")
        with tf.variable_scope("model"):
            hidden = tf.layers.dense(features, 5, tf.nn.relu, name="hidden")
            outputs = tf.layers.dense(hidden, 3, name="outputs")
        with tf.name_scope("loss"):
            loss = tf.reduce_mean(tf.square(outputs - labels))
        with tf.name_scope("train"):
            tf.train.AdamOptimizer().minimize(loss)
        tf.train.Saver()
    found = outline(graph.as_graph_def().node)
    names = [box.name for box in found.boxes]
    assert names == ["input/features", "input/labels", "model/hidden", "model/outputs", "loss", "train"]
    assert dict(found.sides).keys() == {"save"}
    assert {(names[source], names[target]) for source, target in found.edges} == {
        ("input/features", "model/hidden"), ("model/hidden", "model/outputs"), ("model/outputs", "loss"),
        ("input/labels", "loss"), ("loss", "train"),
    }  # fmt: skip
    hidden_box = found.boxes[2]
    assert hidden_box.variables == (("kernel", (7, 5)), ("bias", (5,)))
    assert dict(hidden_box.counts) == {"MatMul": 1, "BiasAdd": 1, "Relu": 1}
    assert found.boxes[-1].kind == "update"
    assert found.parameters == 7 * 5 + 5 + 5 * 3 + 3, "without what Adam keeps of each"
    assert found.ops == len(graph.as_graph_def().node)


def test_circles_are_opened() -> None:
    with tf.Graph().as_default() as graph:
        one = tf.constant(1.0, name="a/x")
        two = tf.negative(one, name="b/x")
        three = tf.negative(two, name="a/y")
        tf.negative(three, name="b/y")
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], name="loop")
    found = outline(graph.as_graph_def().node)
    assert [box.name for box in found.boxes[:2]] == ["a", "b"]
    assert (0, 1) in found.edges
    assert (1, 0) not in found.edges
    draw_graph(found)


def test_many_ops_stay_one_box() -> None:
    with tf.Graph().as_default() as graph:
        value = tf.constant(1.0)
        with tf.name_scope("deep"):
            for number in range(40):
                with tf.name_scope(f"part{number}"):
                    for _ in range(5):
                        value = tf.negative(value)
    found = outline(graph.as_graph_def().node)
    assert [(box.name, box.ops) for box in found.boxes] == [("deep", 200)]


def test_boxes_do_not_overlap_and_edges_go_down() -> None:
    counts = (("MatMul", 2), ("Add", 1))
    boxes = tuple(Box(f"scope{number}", "forward", 7, counts, (), ()) for number in range(9))
    edges = ((0, 2), (1, 2), (2, 3), (2, 4), (2, 5), (0, 6), (3, 6), (4, 6), (5, 7), (1, 8), (7, 8))
    svg = draw_graph(Outline(boxes, edges, (), 63, 0))
    found = re.findall(r'<rect x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)"', svg)
    places = [tuple(map(int, one)) for one in found]
    assert len(places) == 9
    width, height = map(int, re.findall(r'viewBox="0 0 (\d+) (\d+)"', svg)[0])
    for number, (x, y, w, h) in enumerate(places):
        assert x >= 0 and y >= 0 and x + w <= width and y + h <= height
        for other_x, other_y, other_w, other_h in places[number + 1 :]:
            apart = x + w <= other_x or other_x + other_w <= x or y + h <= other_y or other_y + other_h <= y
            assert apart
    for source, target in edges:
        assert places[source][1] + places[source][3] < places[target][1]
    assert svg.count('class="edge"') == len(edges)
