"""`python -m tfexp.tflite_convert`, and TensorFlow Lite's modules under their names within TensorFlow."""

import numpy as np
import pytest

import tfexp as tf
from tests.lite.lite_models import run_model
from tfexp import tflite_convert
from tfexp.stand_ins.modules import stand_for

pytest.importorskip("flatbuffers", reason="models in TensorFlow Lite's files need the extra `lite`")


@pytest.fixture
def graph_file(tmp_path):
    with tf.Graph().as_default() as graph:
        tf.multiply(tf.placeholder(tf.float32, [None, 3], name="x"), 2.0, name="y")
        tf.io.write_graph(graph, str(tmp_path), "graph.pb", as_text=False)
    return str(tmp_path / "graph.pb")


def test_a_frozen_graph(graph_file, tmp_path):
    output = tmp_path / "model.tflite"
    arguments = ["--graph_def_file", graph_file, "--input_arrays", "x", "--output_arrays", "y", "--input_shapes", "2,3"]
    assert tflite_convert.main([*arguments, "--output_file", str(output)]) == 0
    assert run_model(output.read_bytes(), np.ones([2, 3], np.float32))[0].tolist() == [[2, 2, 2]] * 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--input_arrays", "z", "--output_arrays", "y"], "Invalid tensors 'z' were found."),
        (["--input_arrays", "x", "--output_arrays", "y", "--input_shapes", "1:2"], "a shape for each of --input_arrays"),
    ],
)
def test_what_does_not_fit(graph_file, tmp_path, capsys, arguments, message):
    path = str(tmp_path / "model.tflite")
    assert tflite_convert.main(["--graph_def_file", graph_file, "--output_file", path, *arguments]) == 1
    assert message in capsys.readouterr().err


def test_a_file_that_cannot_be_written(graph_file, tmp_path, capsys):
    path = str(tmp_path / "none" / "model.tflite")
    arguments = ["--graph_def_file", graph_file, "--output_file", path, "--input_arrays", "x", "--output_arrays", "y"]
    assert tflite_convert.main(arguments) == 1
    assert path in capsys.readouterr().err


def test_names_that_a_frozen_graph_needs(graph_file, capsys):
    with pytest.raises(SystemExit):
        tflite_convert.main(["--graph_def_file", graph_file, "--output_file", "x"])
    assert "--input_arrays and --output_arrays are required" in capsys.readouterr().err


def test_modules_of_tensorflow():
    places = {
        name: stand_for(f"tensorflow.lite.python.{name}") for name in ("convert", "interpreter", "lite", "lite_constants")
    }
    assert places["interpreter"].Interpreter is places["lite"].Interpreter is tf.lite.Interpreter
    assert places["lite"].TFLiteConverter is tf.lite.TFLiteConverter
    assert places["convert"].ConverterError.__name__ == "ConverterError"
    assert tf.uint8 == places["lite_constants"].QUANTIZED_UINT8
