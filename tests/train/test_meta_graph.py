"""MetaGraphs: collections of every kind, scopes, savers, files."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboard.compat.proto import meta_graph_pb2
from tensorboard.compat.proto.graph_debug_info_pb2 import GraphDebugInfo

import tfexp as tf


class Odd:
    """Something that no MetaGraph can hold."""


def build() -> dict[str, Any]:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    with tf.name_scope("net"), tf.device("/cpu:0"):
        w = tf.Variable(tf.ones([2, 1]), name="w")
        y = tf.matmul(x, w, name="y")
        with tf.control_dependencies([x]):
            z = tf.identity(y, name="z")
    with tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(2)):
        tf.get_variable("v", [4, 3], initializer=tf.zeros_initializer())
    tf.get_variable("local", [], collections=[tf.GraphKeys.LOCAL_VARIABLES], initializer=tf.zeros_initializer())
    for key, items in {
        "tensors": [y, z],
        "ops": [z.op],
        "floats": [1.5],
        "ints": [3, True],
        "texts": ["a", b"b"],
        "odd": [Odd()],
        "mixed": [1, "a"],
    }.items():
        for item in items:
            tf.add_to_collection(key, item)
    tf.add_to_collection(("not", "text"), 1)
    return {"x": x, "y": y}


def variable_names(key: str) -> list[str]:
    return [v.op.name for v in tf.get_collection(key)]


def test_collections_come_back(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    build()
    with caplog.at_level(logging.WARNING, "tensorflow"):
        definition = tf.train.export_meta_graph(str(tmp_path / "g.meta"))
    assert [record.args[0] for record in caplog.records if isinstance(record.args, tuple)] == ["odd", "mixed"]
    kinds = {key: value.WhichOneof("kind") for key, value in definition.collection_def.items()}
    assert kinds == {
        "floats": "float_list",
        "ints": "int64_list",
        "local_variables": "bytes_list",
        "ops": "node_list",
        "tensors": "node_list",
        "texts": "bytes_list",
        "trainable_variables": "bytes_list",
        "variables": "bytes_list",
    }
    with tf.Graph().as_default():
        assert tf.train.import_meta_graph(str(tmp_path / "g.meta")) is not None  # a Saver for its variables
        assert [t.name for t in tf.get_collection("tensors")] == ["net/y:0", "net/z:0"]
        assert [op.type for op in tf.get_collection("ops")] == ["Identity"]
        assert tf.get_collection("floats") == [1.5]
        assert tf.get_collection("ints") == [3, 1]
        assert tf.get_collection("texts") == [b"a", b"b"]
        assert variable_names("variables") == ["net/w", "p/v/part_0", "p/v/part_1"]
        assert variable_names("trainable_variables") == ["net/w", "p/v/part_0", "p/v/part_1", "local"]
        assert variable_names("local_variables") == ["local"]
        # One variable in two collections is one object, and its place in the whole is known.
        assert tf.global_variables()[0] is tf.trainable_variables()[0]
        assert tf.global_variables()[2]._get_save_slice_info().spec == "4 3 2,2:0,3"
        assert tf.get_default_graph().get_tensor_by_name("net/w:0").op.device == "/device:CPU:0"


def test_a_graph_runs_after_the_journey(tmp_path: Path) -> None:
    build()
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run("net/w/Assign", {"net/ones:0": [[2.0], [3.0]]})
        path = saver.save(session, str(tmp_path / "m"))
    for as_text in (False, True):
        saver.export_meta_graph(str(tmp_path / "other.meta"), as_text=as_text)
        with tf.Graph().as_default(), tf.Session() as session:
            again = tf.train.import_meta_graph(str(tmp_path / "other.meta"), clear_devices=True)
            assert again is not None
            assert again.as_saver_def() == saver.as_saver_def()
            again.restore(session, str(path))
            assert session.run("net/y:0", {"x:0": [[1.0, 1.0]]}).tolist() == [[5.0]]
            assert tf.get_default_graph().get_operation_by_name("net/y").device == ""


def test_losses_of_regularizers_come_along() -> None:
    tf.get_variable("w", [2], regularizer=lambda w: 0.1 * tf.reduce_sum(w * w))
    definition = tf.train.export_meta_graph()
    with tf.Graph().as_default():
        tf.train.import_meta_graph(definition, import_scope="a")
        (loss,) = tf.losses.get_regularization_losses()
        assert isinstance(loss, tf.Tensor) and loss.name.startswith("a/w/Regularizer/")


def test_only_some_collections_and_attributes() -> None:
    build()
    definition = tf.train.export_meta_graph(collection_list=["ints"], strip_default_attrs=True, clear_devices=True)
    assert list(definition.collection_def) == ["ints"]
    assert definition.meta_info_def.stripped_default_attrs
    (product,) = (node for node in definition.graph_def.node if node.op == "MatMul")
    assert product.device == "" and sorted(product.attr) == ["T", "_output_shapes"]
    assert "MatMul" in [op.name for op in definition.meta_info_def.stripped_op_list.op]
    assert not definition.HasField("saver_def")


def test_a_scope_of_a_graph() -> None:
    build()
    definition = tf.train.export_meta_graph(export_scope="net")
    assert [node.name for node in definition.graph_def.node] == ["ones", "w", "w/Assign", "w/read", "y", "z"]
    assert list(definition.graph_def.node[-1].input) == ["y", "^$unbound_inputs_x"]
    unbound = [b"$unbound_inputs_x", b"^$unbound_inputs_x"]
    assert list(definition.collection_def["unbound_inputs"].bytes_list.value) == unbound
    assert list(definition.collection_def["tensors"].node_list.value) == ["y:0", "z:0"]
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match=r"unbound inputs: \$unbound_inputs_x"):
            tf.train.import_meta_graph(definition)
        given = tf.constant([[1.0, 2.0]])
        replaced = {"$unbound_inputs_x": given, "^$unbound_inputs_x": given}
        tf.train.import_meta_graph(definition, import_scope="new", input_map=replaced)
        assert variable_names("variables") == ["new/w"]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            assert session.run("new/z:0").tolist() == [[3.0]]


def test_a_scope_whose_name_others_begin_with_takes_them_along() -> None:
    for scope in ("net", "net2"):
        with tf.variable_scope(scope):
            queue = tf.queue.FIFOQueue(3, tf.int32, name="q")
            tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(1)]))
            chosen = tf.cond(tf.constant(True), lambda: tf.get_variable("w", []), lambda: tf.constant(2.0))
            tf.add_to_collection("chosen", chosen + tf.get_variable("r", [], use_resource=True))
    for scope, names in (("net", ["w", "r", "net2/w", "net2/r"]), ("net/", ["w", "r"])):
        definition = tf.train.export_meta_graph(export_scope=scope)
        with tf.Graph().as_default(), tf.Session() as session:
            tf.train.import_meta_graph(definition)
            assert variable_names("variables") == names
            runners = [runner.name for runner in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)]
            assert runners == ["q", "net2/q"][: len(names) // 2]
            session.run(tf.global_variables_initializer())
            assert len(session.run(tf.get_collection("chosen"))) == len(runners)


def test_savers_in_collections() -> None:
    build()
    one, two = tf.train.Saver(name="one"), tf.train.Saver(name="two")
    for saver in (one, two):
        tf.add_to_collection(tf.GraphKeys.SAVERS, saver)
    definition = one.export_meta_graph()
    with tf.Graph().as_default():
        tf.train.import_meta_graph(definition, import_scope="in")
        names = [s.as_saver_def().filename_tensor_name for s in tf.get_collection(tf.GraphKeys.SAVERS)]
        assert names == ["in/one/Const:0", "in/two/Const:0"]
    tf.train.Saver(name="apart")
    definition = one.export_meta_graph(clear_extraneous_savers=True)
    scopes = {node.name.partition("/")[0] for node in definition.graph_def.node}
    assert "one" in scopes and "two" not in scopes and "apart" not in scopes
    assert len(definition.collection_def[tf.GraphKeys.SAVERS].bytes_list.value) == 1
    assert one.to_proto(export_scope="two") is None
    inside = one.to_proto(export_scope="one")
    assert inside is not None and inside.restore_op_name == "restore_all"
    beside = one.to_proto(export_scope="on")
    assert beside is not None and beside.restore_op_name == "one/restore_all"


def test_a_saver_that_is_not_built_is_not_written(caplog: pytest.LogCaptureFixture) -> None:
    """A FileWriter may write the graph before a session is made, which is when Scaffold builds the saver."""
    tf.get_variable("v", [])
    waiting = tf.train.Saver(defer_build=True)
    tf.add_to_collection(tf.GraphKeys.SAVERS, waiting)
    assert "savers" not in tf.train.export_meta_graph().collection_def
    waiting.build()
    assert len(tf.train.export_meta_graph().collection_def["savers"].bytes_list.value) == 1
    assert not caplog.records


def test_a_graph_without_variables() -> None:
    tf.constant(1.0, name="c")
    definition = tf.train.export_meta_graph()
    with tf.Graph().as_default() as graph:
        assert tf.train.import_meta_graph(definition) is None
        assert [op.name for op in graph.get_operations()] == ["c"]


def test_where_nodes_were_made_stands_beside_the_graph(tmp_path: Path) -> None:
    tf.constant(1.0, name="c")
    tf.train.export_meta_graph(str(tmp_path / "graph.meta"), save_debug_info=True)
    info = GraphDebugInfo.FromString((tmp_path / "graph.debug").read_bytes())
    innermost = info.traces["c"].file_line_cols[0]
    assert info.files[innermost.file_index] == __file__
    assert Path(__file__).read_text().splitlines()[innermost.line - 1] == '    tf.constant(1.0, name="c")'


def test_input_map_and_protos() -> None:
    build()
    definition = tf.train.export_meta_graph()
    with tf.Graph().as_default() as graph:
        mine = tf.zeros([1, 2], name="mine")
        tf.train.import_meta_graph(definition, input_map={"x:0": mine})
        assert graph.get_operation_by_name("net/y").inputs[0] is mine
    copy = meta_graph_pb2.MetaGraphDef.FromString(definition.SerializeToString())
    assert copy == definition


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"none\.meta does not exist"):
        tf.train.import_meta_graph(str(tmp_path / "none.meta"))
    for content in (b"\xff\x00nonsense", b"not a field"):
        (tmp_path / "bad.meta").write_bytes(content)
        with pytest.raises(OSError, match=r"Cannot parse file .*bad\.meta"):
            tf.train.import_meta_graph(str(tmp_path / "bad.meta"))


def test_write_graph(tmp_path: Path) -> None:
    build()
    graph = tf.get_default_graph()
    text = tf.train.write_graph(graph, str(tmp_path / "new" / "folder"), "g.pbtxt")
    binary = tf.train.write_graph(graph.as_graph_def(), str(tmp_path), "g.pb", as_text=False)
    assert text == str(tmp_path / "new" / "folder" / "g.pbtxt")
    assert Path(text).read_text().startswith('node {\n  name: "x"')
    assert Path(binary).read_bytes() == graph.as_graph_def().SerializeToString()


@pytest.mark.parametrize("scope", [None, "again"])
def test_loops_and_branches_are_known_after_the_journey(scope: str | None) -> None:
    def nested(i: tf.Tensor, a: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        _, inner = tf.while_loop(lambda j, b: j < 2, lambda j, b: (j + 1, b * b), (0, a))
        return i + 1, inner + tf.cond(i > 0, lambda: 2.0 * a, lambda: a)

    x = tf.placeholder_with_default([0.5, 1.5], [2], name="x")
    _, y = tf.while_loop(lambda i, a: i < 2, nested, (0, x), maximum_iterations=3)
    tf.cond(x[0] > 0, lambda: x, lambda: y, name="branches")
    tf.identity(y, name="y")
    expected = tf.gradients(y, x)[0]
    with tf.Session() as session:
        wanted = session.run(expected)
    definition = tf.train.export_meta_graph(collection_list=["cond_context", "while_context"])
    keys = {key: len(tf.get_collection(key)) for key in definition.collection_def}
    assert keys["cond_context"] == 2 and keys["while_context"] >= 1
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(definition, import_scope=scope)
        prefix = f"{scope}/" if scope else ""
        tensors = [graph.get_tensor_by_name(f"{prefix}{name}:0") for name in ("y", "x")]
        gradient = tf.gradients(*tensors)[0]
        with tf.Session() as session:
            np.testing.assert_allclose(session.run(gradient), wanted)
        if scope is not None:  # what lies elsewhere is not written
            assert "while_context" not in tf.train.export_meta_graph(export_scope="elsewhere").collection_def
        again = tf.train.export_meta_graph(export_scope=scope)
        assert again.collection_def["cond_context"] == definition.collection_def["cond_context"]


def test_a_name_scope_around_an_import_is_around_its_nodes() -> None:
    with tf.Graph().as_default():
        v = tf.Variable(1.0, name="v")
        tf.add_to_collection("read", v.read_value())
        exported = tf.train.export_meta_graph()
    with tf.Graph().as_default() as graph, tf.Session() as session:
        with tf.name_scope("around"):
            saver = tf.train.import_meta_graph(exported)
        assert saver is not None and [v.name for v in tf.global_variables()] == ["around/v:0"]
        assert all(op.name.startswith("around/") for op in graph.get_operations() if not op.name.startswith("save"))
        session.run(tf.global_variables_initializer())
        assert session.run(tf.get_collection("read")) == [1.0]


def test_collections_that_are_not_wanted_stay_out() -> None:
    with tf.Graph().as_default():
        tf.Variable(1.0)
        tf.add_to_collection("mine", 3)
        exported = tf.train.export_meta_graph()
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(exported, restore_collections_predicate=lambda key: key == "mine")
        assert graph.get_all_collection_keys() == ["mine"]


