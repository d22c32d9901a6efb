"""A graph and a checkpoint made one GraphDef."""

import pytest

import tfexp as tf
from tfexp.train.freeze_graph import freeze_graph


@pytest.fixture
def saved(tmp_path):
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        y = tf.matmul(x, tf.get_variable("w", initializer=[[2.0], [3.0]]), name="y")
        session.run(tf.global_variables_initializer())
        tf.train.write_graph(graph, str(tmp_path), "graph.pbtxt")
        tf.train.write_graph(graph, str(tmp_path), "graph.pb", as_text=False)
        tf.train.Saver().save(session, str(tmp_path / "model"))
        tf.saved_model.simple_save(session, tmp_path / "saved", {"x": x}, {"y": y})
    return tmp_path


@pytest.mark.parametrize("source", ["text", "binary", "meta", "saved"])
def test_each_kind_of_graph(saved, source):
    checkpoint = None if source == "saved" else str(saved / "model")
    graph = {"text": str(saved / "graph.pbtxt"), "binary": str(saved / "graph.pb")}.get(source)
    more = {
        "meta": {"input_meta_graph": str(saved / "model.meta")},
        "saved": {"input_saved_model_dir": str(saved / "saved")},
    }.get(source, {})
    out = str(saved / "frozen.pb")
    arguments = (graph, "", source == "binary", checkpoint, "y", "save/restore_all", "save/Const:0", out, True, "")
    frozen = freeze_graph(*arguments, **more)
    assert {node.op for node in frozen.node} == {"Placeholder", "Const", "Identity", "MatMul"}
    with open(out, "rb") as file:
        assert tf.GraphDef.FromString(file.read()) == frozen
    with tf.Graph().as_default(), tf.Session() as session:
        (y,) = tf.import_graph_def(frozen, return_elements=["y:0"])
        assert session.run(y, {"import/x:0": [[1, 1]]}) == [[5.0]]


def test_what_is_not_there(saved):
    def freeze(graph, checkpoint, outputs):
        return freeze_graph(graph, "", False, checkpoint, outputs, "", "", None, True, "")

    with pytest.raises(OSError, match="Input graph file 'nowhere' does not exist"):
        freeze("nowhere", None, "y")
    with pytest.raises(ValueError, match="Input checkpoint 'nowhere' doesn't exist"):
        freeze(str(saved / "graph.pbtxt"), "nowhere", "y")
    with pytest.raises(ValueError, match="supply the name of a node"):
        freeze(str(saved / "graph.pbtxt"), None, "")
    with pytest.raises(ValueError, match="needs an input_graph"):
        freeze(None, None, "y")
