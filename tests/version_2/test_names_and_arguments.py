"""`tf.compat.v2` has TensorFlow 2.0's names, and its functions the arguments that they have there."""

import inspect
from pathlib import Path

import pytest

import tfexp as tf
from tfexp import symbols
from tfexp.core import dtypes
from tfexp.core.gone import public_symbols
from tfexp.runtime.eager import eager_mode
from tfexp.stand_ins.inspecting import getfullargspec

tf2 = tf.compat.v2

# Recorded from TensorFlow 2.0: those functions that 1.15 has under the same name with other arguments.
SIGNATURES = (Path(__file__).parent / "signatures_2_0.txt").read_text().splitlines()

# What is not here; a name that comes is taken out of this list.
MISSING = {
    *(f"tf.estimator.experimental.{name}" for name in ("RNNClassifier", "RNNEstimator")),
    "tf.lite.experimental.load_delegate",
    *("tf.saved_model.SaveOptions", "tf.test.compute_gradient"),
    *(f"tf.summary.{name}" for name in ("trace_export", "trace_off", "trace_on")),
    *("tf.tpu.experimental.DeviceAssignment", "tf.tpu.experimental.initialize_tpu_system"),
}


def find(symbol):
    found = tf2
    for part in symbol.split(".")[1:]:
        found = getattr(found, part, MISSING)
    return found


def test_every_name_is_here_but_those_known_to_be_missing():
    assert {symbol for symbol in public_symbols("2.0") if find(symbol) is MISSING} == MISSING


@pytest.mark.parametrize("line", SIGNATURES, ids=lambda line: line.partition("(")[0])
def test_arguments(line):
    name, _, arguments = line.removesuffix(")").partition("(")
    wanted = inspect.signature(eval(f"lambda {arguments}: 0", dict(vars(dtypes))))
    shown = getfullargspec(find(name))
    assert shown.args == list(wanted.parameters)
    given = [p.default for p in wanted.parameters.values() if p.default is not inspect.Parameter.empty]
    assert len(shown.defaults or ()) == len(given)


def test_names_of_version_1_alone_are_not_there():
    assert not hasattr(tf2, "Session")
    assert not hasattr(tf2.train, "AdamOptimizer")
    with pytest.raises(AttributeError, match=r"'tfexp\.compat\.v2\.nn' has no attribute 'static_rnn'"):
        tf2.nn.static_rnn  # noqa: B018
    assert "Session" not in dir(tf2) and "conv2d" in dir(tf2.nn)


def test_what_version_1_has_under_a_name_of_another_function_is_not_taken_for_it():
    with pytest.raises(AttributeError, match="tfexp does not have TensorFlow 2's"):
        tf2.test.compute_gradient  # noqa: B018


def test_what_there_is_can_be_counted(capsys):
    assert symbols.main(["tf.compat.v2.summary"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "+ tf.compat.v2.summary.scalar" in lines and "- tf.compat.v2.summary.trace_on" in lines


def test_what_is_the_same_is_the_same_object():
    assert tf2.Tensor is tf.Tensor
    assert tf2.nn.relu is tf.nn.relu
    assert tf2.metrics.Mean is tf.keras.metrics.Mean
    assert tf2.optimizers.Adam is tf.keras.optimizers.Adam
    assert tf2.compat.v1 is tf and tf2.compat.v2 is tf2
    assert tf2.nn is tf2.nn


def test_objects_are_saved_and_loaded_with_their_files(tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("a b")
    with eager_mode():
        model = tf2.Module()
        model.words, model.factor = tf2.saved_model.Asset(str(words)), tf2.Variable(3.0)
        model.scaled = tf2.function(lambda x: x * model.factor, input_signature=[tf2.TensorSpec([], tf2.float32)])
        tf2.saved_model.save(model, str(tmp_path / "model"))
        words.unlink()
        loaded = tf2.saved_model.load(str(tmp_path / "model"))
        assert loaded.scaled(tf2.constant(2.0)).numpy() == 6
        assert Path(loaded.words.asset_path.numpy().decode()).read_text() == "a b"
