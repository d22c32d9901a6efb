"""`python -m tfexp.graph_tools`: graphs and checkpoints in files."""

from __future__ import annotations

from pathlib import Path

import pytest
from google.protobuf import text_format

import tfexp as tf
from tfexp.graph_tools import main


@pytest.fixture(scope="module", name="files")
def _files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tools")
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [None], name="x")
        v = tf.get_variable("v", initializer=[3.0, 5.0])
        tf.identity(tf.identity(x * v, name="between"), name="y")
        session.run(tf.global_variables_initializer())
        saver = tf.train.Saver(name="saving")
        saver.save(session, str(folder / "model"))
        tf.train.write_graph(graph, str(folder), "graph.txt")
        (folder / "saver.txt").write_text(text_format.MessageToString(saver.as_saver_def()))
    return folder


def read(path: Path) -> dict[str, tf.NodeDef]:
    return {node.name: node for node in tf.GraphDef.FromString(path.read_bytes()).node}


@pytest.fixture(name="frozen")
def _frozen(files: Path, tmp_path: Path) -> Path:
    out = tmp_path / "frozen.pb"
    flags = [f"--input_checkpoint={files}/model", f"--output_graph={out}", "--output_node_names=y"]
    assert main(["freeze_graph", f"--input_graph={files}/graph.txt", *flags]) == 0
    return out


def test_freezing(files, frozen, tmp_path):
    assert read(frozen)["v"].op == "Const"
    by_saver, again = [f"--input_graph={files}/graph.txt", f"--input_saver={files}/saver.txt"], tmp_path / "again.pb"
    flags = [f"--input_checkpoint={files}/model", f"--output_graph={again}", "--output_node_names=y"]
    assert main(["freeze_graph", *by_saver, *flags, "--clear_devices=false"]) == 0
    assert read(again) == read(frozen)


def test_what_inference_needs(frozen, tmp_path):
    out = tmp_path / "out.pb"
    assert (
        main(["optimize_for_inference", f"--input={frozen}", f"--output={out}", "--input_names=x", "--output_names=y"]) == 0
    )
    assert set(read(out)) == {"x", "v", "mul", "y"}
    flags = ["--input_node_names=between", "--output_node_names=y", "--placeholder_type_enum=3", "--input_binary"]
    assert main(["strip_unused", f"--input_graph={frozen}", f"--output_graph={out}", *flags]) == 0
    assert set(read(out)) == {"between", "y"} and read(out)["between"].attr["dtype"].type == 3


def test_transforming(frozen, tmp_path):
    out = tmp_path / "out.pb"
    flags = ["--inputs=x", "--outputs=y", "--transforms=remove_nodes(op=Identity) obfuscate_names"]
    assert main(["transform_graph", f"--in_graph={frozen}", f"--out_graph={out}", *flags]) == 0
    assert set(read(out)) == {"x", "0", "1", "y"}


def test_looking_into_a_checkpoint(files, capsys):
    assert main(["inspect_checkpoint", f"--file_name={files}/model", "--all_tensors", "--printoptions=precision=1"]) == 0
    assert capsys.readouterr().out == "tensor_name:  v\n[3. 5.]\n# Total number of params: 2\n"


def test_a_graph_for_tensorboard(frozen, tmp_path, capsys):
    assert main(["import_pb_to_tensorboard", f"--model_dir={frozen}", f"--log_dir={tmp_path}/log"]) == 0
    assert "tensorboard --logdir=" in capsys.readouterr().out
    (events,) = (tmp_path / "log").iterdir()
    graphs = [event.graph_def for event in tf.train.summary_iterator(str(events)) if event.graph_def]
    assert "import/y" in {node.name for node in tf.GraphDef.FromString(graphs[0]).node}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["freeze_graph", "--input_graph=nowhere", "--output_graph=x", "--output_node_names=y"], "'nowhere' does not exist"),
        (
            ["transform_graph", "--in_graph=nowhere", "--out_graph=x", "--inputs=x", "--outputs=y", "--transforms="],
            "nowhere",
        ),
    ],
)
def test_what_goes_wrong_is_said(arguments, text, capsys):
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"{arguments[0]}: ") and text in error


def test_flags_that_are_no_truth_values(capsys):
    with pytest.raises(SystemExit):
        main(["freeze_graph", "--output_graph=x", "--output_node_names=y", "--clear_devices=perhaps"])
    assert "true or false" in capsys.readouterr().err
