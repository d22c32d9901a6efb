"""`python -m tfexp.saved_model_cli`: what is in a SavedModel, and what it gives."""

import pickle
import shutil

import numpy as np
import pytest

import tfexp as tf
from tfexp import saved_model_cli as cli
from tfexp.train import saved_model_files


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("saved") / "model")
    builder = tf.saved_model.builder.SavedModelBuilder(folder)
    info, signature = tf.saved_model.utils.build_tensor_info, tf.saved_model.signature_def_utils.build_signature_def
    with tf.Graph().as_default(), tf.Session() as session:
        x, examples = tf.placeholder(tf.float32, [None, 1], "x"), tf.placeholder(tf.string, [None], "examples")
        half = tf.Variable(0.5)
        parsed = tf.parse_example(examples, {"x": tf.FixedLenFeature([1], tf.float32)})
        y, z = tf.add(half * x, 2.0, name="y"), tf.multiply(parsed["x"], half, name="z")
        session.run(tf.global_variables_initializer())
        method = tf.saved_model.signature_constants.PREDICT_METHOD_NAME
        signatures = {
            "line": signature({"x": info(x)}, {"y": info(y)}, method),
            "half": signature({"examples": info(examples)}, {"z": info(z)}, method),
        }
        builder.add_meta_graph_and_variables(session, ["serve"], signatures)
        builder.add_meta_graph(["serve", "gpu"])
    builder.save()
    return folder


@pytest.fixture
def said(model, capsys):
    def run(command, *arguments):
        status = cli.main([command, "--dir", model, *arguments])
        found = capsys.readouterr()
        return found.out if status == 0 else f"{status}: {found.err}"

    return run


INFO = """\
The given SavedModel SignatureDef contains the following input(s):
  inputs['examples'] tensor_info:
      dtype: DT_STRING
      shape: (-1)
      name: examples:0
The given SavedModel SignatureDef contains the following output(s):
  outputs['z'] tensor_info:
      dtype: DT_FLOAT
      shape: (-1, 1)
      name: z:0
Method name is: tensorflow/serving/predict
"""


def test_show(said):
    assert said("show") == "The given SavedModel contains the following tag-sets:\nserve\ngpu, serve\n"
    assert said("show", "--tag_set", "serve").splitlines()[1:] == ['SignatureDef key: "half"', 'SignatureDef key: "line"']
    assert said("show", "--tag_set", "serve", "--signature_def", "half") == INFO
    everything = said("show", "--all")
    assert "MetaGraphDef with tag-set: 'serve, gpu'" in everything and "\n  " + INFO.replace("\n", "\n  ")[:-2] in everything
    assert "following tag-sets: ['serve', 'serve,gpu']" in said("show", "--tag_set", "none")
    assert 'Could not find signature "none"' in said("show", "--tag_set", "serve", "--signature_def", "none")


def test_run(said, tmp_path):
    np.save(tmp_path / "x.npy", [[1.0], [2.0]])
    np.savez(tmp_path / "two.npz", a=[[4.0]], b=[[6.0]])
    line = ["run", "--tag_set", "serve", "--signature_def", "line"]
    assert said(*line, "--inputs", f"x={tmp_path}/x.npy") == "Result for output key y:\n[[2.5]\n [3. ]]\n"
    assert "[[5.]]" in said(*line, "--inputs", f"x={tmp_path}/two.npz[b]", "--outdir", str(tmp_path / "out"))
    assert np.load(tmp_path / "out" / "y.npy").tolist() == [[5.0]]
    (tmp_path / "dict.pkl").write_bytes(pickle.dumps({"a": np.array([[6.0]]), "b": np.array([[8.0]])}))
    assert "[[6.]]" in said(*line, "--inputs", f"x={tmp_path}/dict.pkl[b]")
    assert said(*line, "--inputs", f"x={tmp_path}/x.npy[ignored]").endswith("[[2.5]\n [3. ]]\n")
    assert 'Add "--overwrite"' in said(*line, "--input_exprs", "x=[[1]]", "--outdir", str(tmp_path / "out"))
    assert "is saved" in said(*line, "--input_exprs", "x=np.ones((1, 1))", "--outdir", str(tmp_path / "out"), "--overwrite")
    (tmp_path / "text").write_text("no array")
    half = ["run", "--tag_set", "serve", "--signature_def", "half", "--input_examples"]
    assert "[[4.]\n [2.]]" in said(*half, 'examples=[{"x": [8.0]}, {"x": [4.0]}]')
    for arguments, message in (
        ([*line, "--inputs", f"x={tmp_path}/two.npz"], "specify the name of ndarray"),
        ([*line, "--inputs", f"x={tmp_path}/dict.pkl[c]"], "does not contain variable with name 'c'"),
        ([*line, "--inputs", f"z={tmp_path}/x.npy"], '"z" is not a valid input key. Please choose from "x"'),
        ([*line, "--inputs", "x"], "format is incorrect"),
        ([*line, "--inputs", f"x={tmp_path}/text"], "is neither .npy, .npz nor a pickle"),
        ([*line, "--input_exprs", "x=[1,"], "cannot be computed: '[' was never closed"),
        ([*line, "--input_exprs", "x=other"], "cannot be computed: name 'other' is not defined"),
        (line, "At least one of --inputs"),
        ([*half, "examples=[{"], "is no Python literal"),
        ([*half, "examples=3"], "must be a list of dictionaries"),
        ([*half, 'examples=[{"x": 8.0}]'], "feature value must be a list"),
    ):
        assert said(*arguments).startswith("1: saved_model_cli: ") and message in said(*arguments)


def test_what_is_damaged_or_missing_is_said(model, tmp_path, capsys):
    assert cli.main(["show", "--dir", str(tmp_path / "none")]) == 1
    assert capsys.readouterr().out == ""
    damaged = shutil.copytree(model, tmp_path / "damaged")
    next((damaged / "variables").glob("*.data-*")).write_bytes(b"")
    run = ["run", "--dir", str(damaged), "--tag_set", "serve", "--signature_def", "line", "--input_exprs", "x=[[1.0]]"]
    assert cli.main(run) == 1
    error = capsys.readouterr().err
    assert error.startswith("saved_model_cli: ") and "the file is truncated" in error


def test_scan(said, capsys):
    assert said("scan", "--tag_set", "serve") == "MetaGraph with tag set serve does not contain blacklisted ops.\n"
    with tf.Graph().as_default() as graph:
        tf.io.read_file("a")
        meta_graph = tf.train.export_meta_graph(graph=graph)
    cli.scan_meta_graph_def(meta_graph)
    assert "blacklisted ops: ReadFile" in capsys.readouterr().out


def test_files(model):
    assert saved_model_files.get_saved_model_tag_sets(model) == [["serve"], ["serve", "gpu"]]
    assert list(saved_model_files.get_meta_graph_def(model, "gpu,serve").meta_info_def.tags) == ["serve", "gpu"]
