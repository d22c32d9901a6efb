"""Steps are dumped as TensorFlow's debugger does, and what was dumped can be asked for."""

import os

import numpy as np
import pytest

import tfexp as tf
from tfexp.debug.dump_dir import DebugDumpDir, WatchKeyDoesNotExistInDebugDumpDirError
from tfexp.debug.graphs import reconstruct_non_debug_graph_def
from tfexp.debug.tensors import DebugTensorDatum, InconvertibleTensorProto, has_inf_or_nan, load_tensor_from_event
from tfexp.debug.watching import add_debug_tensor_watch, watch_graph, watch_graph_with_blacklists
from tfexp.formats.debug_dump import as_dumped, device_of_folder, folder_of_device

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"


def dumped(path, fetches, feeds=None, session=None, watch=watch_graph, **how):
    """The dump of a step, and its fetched values."""
    options, path = tf.RunOptions(), os.fspath(path)
    watch(options, tf.get_default_graph(), debug_urls=f"file://{path}", **how)
    fetched = (session or tf.Session()).run(fetches, feeds, options=options)
    return DebugDumpDir(path), fetched


def small_graph():
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    v = tf.Variable([[1.0], [2.0]], name="layer/v")
    return x, v, tf.log(tf.matmul(x, v, name="layer/product"), name="z")


def test_every_node_of_a_step_is_dumped_with_its_value(tmp_path):
    x, v, z = small_graph()
    with tf.Session() as session:
        session.run(v.initializer)
        dump, fetched = dumped(tmp_path, z, {x: [[1, 1], [2, -1]]}, session)
    keys = {datum.watch_key for datum in dump.dumped_tensor_data}
    names = ("_arg_x_0_0", "layer/v", "layer/v/read", "layer/product", "z")
    assert keys == {f"{name}:0:DebugIdentity" for name in names} and dump.size == 5
    assert dump.get_tensors("_arg_x_0_0", 0, "DebugIdentity")[0].tolist() == [[1, 1], [2, -1]]
    assert dump.get_tensors("layer/product", 0, "DebugIdentity")[0].tolist() == [[3], [0]]
    np.testing.assert_array_equal(dump.get_tensors("z", 0, "DebugIdentity")[0], fetched)
    assert [datum.node_name for datum in dump.find(has_inf_or_nan)] == ["z"]
    assert dump.find(has_inf_or_nan, exclude_node_names="z") == []
    assert len(dump.find(lambda datum, value: True, first_n=2)) == 2
    assert dump.core_metadata[:] == (-1, 1, 0, ["x:0"], ["z:0"], [])
    assert dump.get_rel_timestamps("z", 0, "DebugIdentity")[0] > 0 and dump.run_fetches_info is None


def test_nodes_of_a_dump(tmp_path):
    x, v, z = small_graph()
    with tf.Session() as session:
        session.run(v.initializer)
        dump, _ = dumped(tmp_path, z, {x: [[1, 1]]}, session)
    assert dump.devices() == [CPU] and dump.node_device("z") == CPU and dump.node_op_type("layer/product") == "MatMul"
    assert dump.nodes() == ["layer/v", "layer/v/read", "layer/product", "z", "_arg_x_0_0"]
    assert dump.node_inputs("layer/product") == ["_arg_x_0_0", "layer/v/read"]
    assert dump.node_recipients("layer/product") == ["z"] and dump.node_attributes("z")["T"].type == tf.float32
    assert dump.transitive_inputs("z") == ["layer/product", "_arg_x_0_0", "layer/v/read", "layer/v"]
    assert dump.find_some_path("layer/v", "z") == ["layer/v", "layer/v/read", "layer/product", "z"]
    assert dump.find_some_path("z", "layer/v") is None and not dump.node_exists("other")
    assert dump.debug_watch_keys("z") == ["z:0:DebugIdentity"]
    with pytest.raises(LookupError, match="Python graph is not available"):
        dump.node_traceback("z")
    dump.set_python_graph(tf.get_default_graph())
    assert dump.node_traceback("z:0")[-1][2] == "small_graph"


def test_what_a_dump_does_not_have(tmp_path):
    dump, _ = dumped(tmp_path, tf.identity(tf.constant(1.0), name="a"))
    with pytest.raises(WatchKeyDoesNotExistInDebugDumpDirError, match='Watch key "b:0:DebugIdentity" does not exist'):
        dump.get_tensors("b", 0, "DebugIdentity")
    with pytest.raises(ValueError, match=r"None of the 1 device\(s\) has a node named 'b'"):
        dump.node_inputs("b")
    with pytest.raises(ValueError, match="Invalid device name: q"):
        dump.nodes("q")
    with pytest.raises(OSError, match="does not exist"):
        DebugDumpDir(os.path.join(tmp_path, "none"))
    (tmp_path / "empty").mkdir()
    empty = DebugDumpDir(os.path.join(tmp_path, "empty"))
    assert empty.t0 is None and empty.core_metadata is None
    with pytest.raises(LookupError, match="No partition graphs"):
        empty.nodes()
    with pytest.raises(ValueError, match="naming pattern"):
        DebugTensorDatum("/", f"{folder_of_device(CPU)}/a_0")


def test_values_without_numbers_are_dumped(tmp_path):
    v = tf.Variable(0.0, name="v")
    dump, _ = dumped(tmp_path, [v.initializer, tf.constant(["a", "bc"], name="words"), tf.constant([], name="none")])
    assert dump.get_tensors("words", 0, "DebugIdentity")[0].tolist() == [b"a", b"bc"]
    assert dump.get_tensors("none", 0, "DebugIdentity")[0].shape == (0,)
    (before,), (after,) = (dump.get_tensors(name, 0, "DebugIdentity") for name in ("v", "v/Assign"))
    assert isinstance(before, InconvertibleTensorProto) and not before.initialized
    assert str(before).startswith("Uninitialized tensor:") and after == 0 and not has_inf_or_nan(None, before)


def test_what_functions_do_is_not_taken_for_nodes_of_their_names(tmp_path):
    tf.enable_control_flow_v2()
    try:
        start = tf.multiply(3, 2, name="mul")
        loop = tf.while_loop(lambda i: i < 20, lambda i: tf.multiply(i, 2, name="mul"), [start], name="loop")
    finally:
        tf.disable_control_flow_v2()
    dump, fetched = dumped(tmp_path, loop)
    assert fetched == 24
    assert dump.get_tensors("mul", 0, "DebugIdentity") == [6]


def test_loops_are_dumped_round_by_round_and_dead_branches_not(tmp_path):
    loop = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)], name="loop")
    branch = tf.cond(tf.constant(True), lambda: tf.constant(1.0, name="yes"), lambda: tf.constant(2.0, name="no"))
    dump, _ = dumped(tmp_path, [loop, branch])
    assert [int(value) for value in dump.get_tensors("loop/add", 0, "DebugIdentity")] == [1, 2, 3]
    assert [bool(value) for value in dump.get_tensors("loop/Less", 0, "DebugIdentity")] == [True, True, True, False]
    assert dump.get_tensors("loop/Exit", 0, "DebugIdentity") == [3]
    found = {datum.node_name for datum in dump.dumped_tensor_data}
    assert "cond/yes" in found and "cond/no" not in found and "cond/no" in dump.nodes()


def test_debug_ops_count_and_summarise(tmp_path):
    x = tf.constant([1.0, np.nan, -np.inf, 0, -3, np.inf, 5])
    tf.identity(x, name="y"), tf.identity(tf.constant("a"), name="s")
    ops = ["DebugNanCount", "DebugNumericSummary"]
    dump, _ = dumped(tmp_path / "a", ["y:0", "s:0"], debug_ops=ops, node_name_regex_whitelist="[ys]$")
    assert {datum.node_name for datum in dump.dumped_tensor_data} == {"y"}  # there is nothing to count in strings
    assert [count.tolist() for count in dump.get_tensors("y", 0, "DebugNanCount")] == [[1]]
    summary = dump.get_tensors("y", 0, "DebugNumericSummary")[0]
    np.testing.assert_allclose(summary, [1, 7, 1, 1, 1, 1, 2, 1, -3, 5, 0.75, 8.1875, 1, 1, 7])
    bounded = "DebugNumericSummary(lower_bound=-1.5; upper_bound=2; mute_if_healthy=true)"
    dump, _ = dumped(tmp_path / "b", "y:0", debug_ops=bounded, node_name_regex_whitelist="y$")
    assert dump.get_tensors("y", 0, "DebugNumericSummary")[0][2:8].tolist() == [1, 2, 0, 1, 1, 2]


def test_patterns_say_what_is_watched():
    tf.constant(1.0, name="a"), tf.identity(tf.constant(2, name="b"), name="c")
    graph = tf.get_default_graph()

    def watched(watch, **patterns):
        options = tf.RunOptions()
        watch(options, graph, debug_urls="file:///x", **patterns)
        return [watch.node_name for watch in options.debug_options.debug_tensor_watch_opts]

    assert watched(watch_graph) == ["a", "b", "c", "*"] and watched(watch_graph_with_blacklists) == ["a", "b", "c"]
    assert watched(watch_graph, op_type_regex_whitelist="Const", tensor_dtype_regex_whitelist="int") == ["b"]
    assert watched(watch_graph_with_blacklists, node_name_regex_blacklist="a", op_type_regex_blacklist="Id") == ["b"]
    with pytest.raises(ValueError, match="debug_urls must not be empty"):
        watch_graph(tf.RunOptions(), graph)
    with pytest.raises(ValueError, match="debug_ops must not be empty"):
        watch_graph(tf.RunOptions(), graph, debug_ops=[], debug_urls="file:///x")


def test_only_files_are_places_to_dump_to():
    options = tf.RunOptions()
    add_debug_tensor_watch(options, "a", debug_urls="grpc://localhost:7000")
    with pytest.raises(tf.errors.UnimplementedError, match="file:// URLs only"):
        tf.Session().run(tf.identity(tf.constant(1.0), name="a"), options=options)


def test_a_watched_step_is_traced_too(tmp_path):
    options, metadata = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), tf.RunMetadata()
    y = tf.identity(tf.constant(1.0), name="y")
    watch_graph(options, tf.get_default_graph(), debug_urls=f"file://{tmp_path}")
    tf.Session().run(y, options=options, run_metadata=metadata)
    assert [node.node_name for node in metadata.step_stats.dev_stats[0].node_stats] == ["y"]
    assert DebugDumpDir(os.fspath(tmp_path)).size == 2


def test_nodes_that_copy_and_watch_are_taken_out():
    graph = tf.GraphDef()
    graph.node.add(name="a", op="Split")
    graph.node.add(name="__copy_a_1", op="Copy", input=["a:1"])
    graph.node.add(name="__dbg_a:1_0_DebugIdentity", op="DebugIdentity", input=["__copy_a_1"])
    graph.node.add(name="b", op="Neg", input=["__copy_a_1", "^__dbg_a:1_0_DebugIdentity", "^a"])
    assert [(node.name, list(node.input)) for node in reconstruct_non_debug_graph_def(graph).node] == [
        ("a", []),
        ("b", ["a:1", "^a"]),
    ]


def test_devices_are_folders():
    for device in (CPU, "/job:my_worker/replica:0/task:12/device:GPU:3"):
        assert device_of_folder(folder_of_device(device)) == device
    assert folder_of_device(CPU) == "_tfdbg_device_,job_localhost,replica_0,task_0,device_CPU_0"


def test_single_numbers_are_told_from_nothing():
    event = tf.Event()
    event.summary.value.add(tensor=as_dumped(np.float32(0), tf.float32))
    assert load_tensor_from_event(event) == 0


def test_a_value_without_a_folder_has_no_device(tmp_path):
    datum = DebugTensorDatum(os.fspath(tmp_path), "a_1_DebugIdentity_42")
    assert datum.device_name is None and datum.watch_key == "a:1:DebugIdentity"


def test_nodes_of_one_device_have_names_of_their_own(tmp_path):
    os.mkdir(tmp_path / folder_of_device(CPU))
    twice = tf.GraphDef()
    for _ in range(2):
        twice.node.add(name="a", op="NoOp", device=CPU)
    with pytest.raises(ValueError, match=f"Duplicate node name on device {CPU}: 'a'"):
        DebugDumpDir(os.fspath(tmp_path), [twice])
