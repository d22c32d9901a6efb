"""`tf.profiler` on graphs and sessions: what it measures, where it puts it, and what it says of what cannot be."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.golden import profile_cases
from tfexp.formats.protos.profiler import ProfileProto
from tfexp.graph.statistics import OpStats, RegisterStatistics, get_stats_for_node_def
from tfexp.profiler.pprof import _MESSAGES

Builder = tf.profiler.ProfileOptionBuilder
QUIET = Builder().with_empty_output().build()


@pytest.fixture
def graph() -> Any:
    with tf.Graph().as_default() as graph:
        yield graph


def traced(fetch: Any, feeds: dict[Any, Any]) -> Any:
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        session.run(fetch, feeds, options=options, run_metadata=metadata)
    return metadata


def rows(message: Any) -> dict[str, Any]:
    """All rows of a profile by name."""
    found = {message.name: message}
    for child in message.children:
        found.update(rows(child))
    return found


def test_a_traced_step_tells_times_memory_and_shapes_that_the_graph_does_not(graph: tf.Graph) -> None:
    x = tf.placeholder(tf.float32, [None, 5], name="x")
    w = tf.get_variable("w", [5, 3], use_resource=False)
    y = tf.square(tf.reshape(tf.matmul(x, w, name="product"), [-1], name="flat"), name="y")
    assert rows(tf.profiler.profile(graph, cmd="scope", options=QUIET))["product"].float_ops == 0
    found = rows(tf.profiler.profile(graph, traced(y, {x: np.ones([7, 5])}), cmd="scope", options=QUIET))
    assert found["product"].float_ops == 2 * 7 * 5 * 3
    assert found["product"].requested_bytes == found["product"].output_bytes == 4 * 7 * 3
    assert found["flat"].requested_bytes == 0 and found["flat"].output_bytes == 4 * 7 * 3, "a view has no memory of its own"
    assert found["product"].exec_micros == found["product"].cpu_exec_micros > 0
    assert found["product"].devices == ["/job:localhost/replica:0/task:0/device:cpu:0"]
    assert found["w"].requested_bytes == 0, "a variable was there before"


def test_a_loop_is_measured_as_a_whole(graph: tf.Graph) -> None:
    x = tf.placeholder(tf.float32, [11])
    end = tf.while_loop(lambda i, _: i < 5, lambda i, v: (i + 1, tf.square(v)), (0, x), name="loop")
    found = rows(tf.profiler.profile(graph, traced(end, {x: np.ones(11)}), cmd="op", options=QUIET))
    assert found["While"].exec_micros > 0 and found["While"].graph_nodes[0].name == "loop/while_context"


def test_lines_of_the_program_are_told_apart(graph: tf.Graph, tmp_path: Path) -> None:
    a = tf.ones([3, 5], name="a")
    tf.matmul(a, a, transpose_b=True)
    tf.square(a)
    options = Builder(QUIET).with_min_float_operations(1).order_by("float_ops")
    first, second = tf.profiler.profile(graph, cmd="code", options=options.build()).children
    assert re.fullmatch(r"test_profiler\.py:\d+", first.name)
    assert (first.float_ops, second.float_ops) == (90, 15)
    assert [node.name for node in first.graph_nodes] == ["MatMul"]
    file = tmp_path / "lines"
    tf.profiler.profile(graph, cmd="code", options=options.with_pprof_output(str(file)).build())
    profile = _MESSAGES["Profile"].FromString(gzip.decompress(file.read_bytes()))
    assert [profile.string_table[function.name] for function in profile.function] == [first.name, second.name]
    assert [len(sample.value) for sample in profile.sample] == [len(profile.sample_type)] * 2


def test_statistics_of_ones_own_count(graph: tf.Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tfexp.graph.statistics._RULES", {})
    node = tf.tanh(tf.ones([3, 5]), name="t").op
    assert get_stats_for_node_def(graph, node.node_def, "flops").value is None

    @RegisterStatistics("Tanh", "flops")
    def _(graph: tf.Graph, node: Any) -> OpStats:
        shape = tf.graph_util.tensor_shape_from_node_def_name(graph, node.input[0])
        return OpStats("flops", 7 * shape.num_elements())

    assert get_stats_for_node_def(graph, node.node_def, "flops").value == 105
    assert rows(tf.profiler.profile(graph, options=QUIET))["t"].float_ops == 105
    with pytest.raises(KeyError, match="two statistical functions with name 'Tanh,flops'"):
        RegisterStatistics("Tanh", "flops")(lambda graph, node: None)
    with pytest.raises(TypeError, match="op_type must not contain a comma"):
        RegisterStatistics("Tanh,Exp", "flops")


def test_an_op_log_adds_to_what_is_known_and_is_written_with_it(graph: tf.Graph, tmp_path: Path) -> None:
    profile_cases.build(tf)
    log = tf.profiler.OpLogProto()
    log.log_entries.add(name="m/in/sq", float_ops=1234567, types=["mine"])
    options = Builder(QUIET).with_accounted_types(["mine"]).build()
    assert tf.profiler.profile(graph, op_log=log, options=options).total_float_ops == 1234567
    tf.profiler.write_op_log(graph, str(tmp_path), log, profile_cases.step())
    written = tf.profiler.OpLogProto.FromString((tmp_path / "tfprof_log").read_bytes())
    entries = {entry.name: entry for entry in written.log_entries}
    assert (entries["m/in/sq"].float_ops, list(entries["m/in/sq"].types)) == (1234567, ["mine"])
    assert entries["m/mm"].float_ops == 210
    assert list(entries["m/w"].types) == ["_trainable_variables"]
    assert written.id_to_string[entries["x"].code_def.traces[0].file_id] == profile_cases.__file__
    tf.profiler.write_op_log(graph, str(tmp_path), add_trace=False)
    written = tf.profiler.OpLogProto.FromString((tmp_path / "tfprof_log").read_bytes())
    assert {entry.name for entry in written.log_entries} == {"m/w", "m/r"}
    with pytest.raises(tf.errors.NotFoundError, match="nowhere"):
        tf.profiler.write_op_log(graph, str(tmp_path / "nowhere"))


def test_the_terminal_gets_the_options_and_the_report(graph: tf.Graph, capsys: pytest.CaptureFixture[str]) -> None:
    profile_cases.build(tf)
    tf.profiler.profile()
    shown = capsys.readouterr().out
    assert "-max_depth                  10000\n" in shown and "-output                     stdout:\n\n====" in shown
    assert "\n  m (--/21 params)\n    m/r (3x2, 6/6 params)\n    m/w (5x3, 15/15 params)\n\n====" in shown
    tf.profiler.profile(options=QUIET)
    assert capsys.readouterr().out == ""


def test_timelines_are_chrome_traces(graph: tf.Graph, tmp_path: Path) -> None:
    profile_cases.build(tf)
    options = Builder().with_timeline_output(str(tmp_path / "t")).build()
    tf.profiler.profile(graph, profile_cases.step(), cmd="scope", options=options)
    bars = [bar for bar in json.loads((tmp_path / "t_-1").read_text())["traceEvents"] if bar["ph"] == "X"]
    spans = {bar["name"]: (bar["pid"], bar["ts"], bar["dur"]) for bar in bars}
    assert spans["m/in"] == (2, 1, 76)
    assert spans["m/in/mm2"] == (3, 1, 41) and spans["m/in/sq"] == (3, 42, 35), "one after another, below their scope"
    tf.profiler.profile(graph, profile_cases.step(), cmd="graph", options=options)
    bars = [bar for bar in json.loads((tmp_path / "t_0").read_text())["traceEvents"] if bar["ph"] == "X"]
    assert [bar["args"]["name"] for bar in bars].count("m/mm") == 2


def test_advice_is_printed_and_returned(graph: tf.Graph, capsys: pytest.CaptureFixture[str]) -> None:
    image = tf.placeholder(tf.float32, [2, 7, 5, 3], name="image")
    tf.nn.conv2d(image, tf.ones([3, 3, 3, 4]), [1, 1, 1, 1], "SAME", name="layer/conv")
    metadata = tf.RunMetadata()
    gpu = "/job:localhost/replica:0/task:0/device:GPU:0"
    for device, end in (gpu, 7), (f"{gpu}/stream:all", 150), (f"{gpu}/stream:0", 50):
        node = metadata.step_stats.dev_stats.add(device=device).node_stats.add(node_name="layer/conv")
        node.all_start_micros, node.op_end_rel_micros = 1000, end
    advice = tf.profiler.advise(graph, metadata)
    found = {name: list(checker.reports) for name, checker in advice.checkers.items()}
    assert found["ExpensiveOperationChecker"][:2] == [
        "top 1 operation type: Conv2D, cpu: 7us, accelerator: 200us, total: 207us (100.00%)",
        "top 1 graph node: layer, cpu: 7us, accelerator: 200us, total: 207us",
    ]
    assert found["ExpensiveOperationChecker"][2].startswith("test_profiler.py:")
    assert found["OperationChecker"] == ["Found operation using NHWC data_format on GPU. Maybe NCHW is faster."]
    assert found["AcceleratorUtilizationChecker"] == [f"device: {gpu.replace('GPU', 'gpu')} utilization: 1.00"]
    assert "\nOperationChecker:\nFound operation" in capsys.readouterr().out
    assert list(tf.profiler.advise(graph, metadata, {"OperationChecker": {}}).checkers) == ["OperationChecker"]
    assert not any(checker.reports for checker in tf.profiler.advise(graph).checkers.values())


def test_a_profiler_tells_all_that_it_has_as_a_message(graph: tf.Graph) -> None:
    profile_cases.build(tf)
    profiler = tf.profiler.Profiler(graph)
    profiler.add_step(3, profile_cases.step())
    profile = ProfileProto.FromString(profiler.serialize_to_string())
    nodes = {node.name: node for node in profile.nodes.values()}
    assert list(profile.steps) == [3]
    assert profile.nodes[nodes["m/mm"].inputs[1]].name == "m/w/read"
    assert list(nodes["m/mm"].input_shapes[0].int64_values) == [7, 5]
    assert (nodes["m/mm"].execs[3].run_count, nodes["m/mm"].execs[3].memory_execs[0].requested_bytes) == (2, 833)


def test_what_the_tracer_tells_again_ran_no_second_time(graph: tf.Graph) -> None:
    profile_cases.build(tf)
    profiler, step = tf.profiler.Profiler(graph), profile_cases.step()
    again = step.step_stats.dev_stats.add(device="/host:CPU").node_stats.add(node_name="m/mm:MatMul")
    again.all_start_micros = again.all_end_rel_micros = 1000
    profiler.add_step(3, step)
    profile = ProfileProto.FromString(profiler.serialize_to_string())
    assert next(node for node in profile.nodes.values() if node.name == "m/mm").execs[3].run_count == 2


WRONG: dict[str, tuple[Callable[[Any], Any], str]] = {
    "view": (
        lambda g: tf.profiler.profile(g, cmd="scopes"),
        "unknown cmd: scopes: a profile is by scope, graph, op or code",
    ),
    "option": (lambda g: tf.profiler.profile(g, options={"depth": 3}), "option 'depth' of a profile is none of max_depth"),
    "column": (lambda g: tf.profiler.profile(g, options=Builder().select(["flops"]).build()), "select 'flops' .*float_ops"),
    "order": (lambda g: tf.profiler.profile(g, options=Builder().order_by("time").build()), "order_by 'time' .*micros"),
    "expression": (
        lambda g: tf.profiler.profile(g, options=Builder().with_accounted_types(["("]).build()),
        r"account_type_regexes has '\(', which is no regular expression: missing \)",
    ),
    "step": (
        lambda g: tf.profiler.profile(g, profile_cases.step(), options=Builder().with_step(5).build()),
        "no step 5: of its steps it has 0",
    ),
    "number": (lambda g: tf.profiler.Profiler(g).add_step(-1, None), "A step of a profile is a number from 0 on, not -1"),
    "checker": (
        lambda g: tf.profiler.advise(g, options={"Foo": {}}),
        "'Foo' is no checker of a profile: these are Exp",
    ),
    "timeline": (
        lambda g: tf.profiler.profile(g, cmd="op", options=Builder().with_timeline_output("t").build()),
        "A profile by op has no timeline",
    ),
    "untraced": (
        lambda g: tf.profiler.profile(g, cmd="graph", options=Builder().with_timeline_output("t").build()),
        "A timeline of a graph needs a traced step",
    ),
    "pprof": (
        lambda g: tf.profiler.profile(g, cmd="op", options=Builder().with_pprof_output("t").build()),
        "Only a profile by code goes to pprof, and this one is by op",
    ),
    "file": (
        lambda g: tf.profiler.profile(g, options=Builder().with_file_output("").build()),
        "output is 'file:outfile=', but has to be 'file:outfile=PATH'",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_cannot_be_is_said(graph: tf.Graph, what: str) -> None:
    profile, message = WRONG[what]
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        profile(graph)


def test_deep_graphs_have_profiles(graph: tf.Graph) -> None:
    value = tf.ones([])
    for _ in range(1500):
        value = tf.negative(value)
    assert tf.profiler.profile(graph, cmd="graph", options=Builder(QUIET).with_max_depth(10).build()).total_float_ops == 1500
