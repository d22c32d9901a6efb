"""`tf.lite.Interpreter`: details, memory, errors."""

import numpy as np
import pytest

import tfexp as tf
from tests.lite.lite_models import converted
from tfexp.formats.lite_model import read_model, write_model
from tfexp.formats.lite_schema import ENUMS

pytest.importorskip("flatbuffers", reason="models in TensorFlow Lite's files need the extra `lite`")


@pytest.fixture
def model():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        return converted([x], [tf.identity(tf.exp(x * 2.0) + 1.0, name="y")])


@pytest.fixture
def interpreter(model):
    made = tf.lite.Interpreter(model_content=model)
    made.allocate_tensors()
    return made


def index_of(interpreter, name):
    (found,) = [details["index"] for details in interpreter.get_tensor_details() if details["name"] == name]
    return found


def test_details(interpreter):
    (details,) = interpreter.get_input_details()
    assert details.keys() == {"name", "index", "shape", "dtype", "quantization"}
    assert (details["name"], details["dtype"], details["quantization"]) == ("x", np.float32, (0.0, 0))
    assert details["shape"].dtype == np.int32 and details["shape"].tolist() == [1, 3]
    assert [details["name"] for details in interpreter.get_output_details()] == ["y"]


def test_what_a_run_makes(interpreter):
    x, y = index_of(interpreter, "x"), index_of(interpreter, "y")
    value = np.array([[1, 2, 3]], np.float32)
    interpreter.set_tensor(x, value)
    interpreter.invoke()
    np.testing.assert_allclose(interpreter.get_tensor(y), np.exp(2 * value) + 1, rtol=1e-6)
    np.testing.assert_allclose(interpreter.get_tensor(index_of(interpreter, "Exp")), np.exp(2 * value), rtol=1e-6)
    interpreter.get_tensor(y)[...] = 0  # a copy
    assert interpreter.get_tensor(y).all()
    interpreter.reset_all_variables()


def test_inputs_of_another_size(interpreter):
    x, y = index_of(interpreter, "x"), index_of(interpreter, "y")
    interpreter.resize_tensor_input(x, [4, 3])
    assert interpreter.get_input_details()[0]["shape"].tolist() == [4, 3]
    with pytest.raises(RuntimeError, match="Invoke called on model that is not ready"):
        interpreter.invoke()
    interpreter.allocate_tensors()
    interpreter.set_tensor(x, np.zeros([4, 3], np.float32))
    interpreter.invoke()
    assert interpreter.get_tensor(y).tolist() == [[2, 2, 2]] * 4
    assert interpreter.get_output_details()[0]["shape"].tolist() == [4, 3]


def test_memory_that_a_program_holds(interpreter):
    x, y = (interpreter.tensor(index_of(interpreter, name)) for name in "xy")
    x()[...] = 0
    interpreter.invoke()
    assert y().tolist() == [[2, 2, 2]]
    held = y()[0]
    for call in (interpreter.invoke, interpreter.allocate_tensors):
        with pytest.raises(RuntimeError, match="at least 1 reference to internal data"):
            call()
    del held
    interpreter.invoke()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.ones([1, 3], np.int64), "Got tensor of type INT64 but expected type FLOAT32 for input 3, name: x"),
        ([[1.0, 2.0, 3.0]], "Got tensor of type NOTYPE but expected type FLOAT32 for input 3, name: x"),
        (np.ones([1, 4], np.float32), "Dimension mismatch. Got 4 but expected 3 for dimension 1 of input 3."),
        (np.ones([3], np.float32), "Dimension mismatch. Got 1 but expected 2 for input 3."),
    ],
)
def test_values_that_an_input_cannot_have(interpreter, value, message):
    interpreter.resize_tensor_input(index_of(interpreter, "x"), [1, 3])
    interpreter.allocate_tensors()
    with pytest.raises(ValueError, match=message.replace("input 3", f"input {index_of(interpreter, 'x')}")):
        interpreter.set_tensor(index_of(interpreter, "x"), value)


def test_what_is_no_tensor(interpreter):
    for call in (interpreter.get_tensor, interpreter.tensor, lambda index: interpreter.set_tensor(index, 1)):
        with pytest.raises(ValueError, match="Invalid tensor index 99 exceeds max tensor index"):
            call(99)
    with pytest.raises(RuntimeError, match="Invalid tensor index 99"):
        interpreter.resize_tensor_input(99, [1])


def test_what_is_no_model(tmp_path, model):
    path = tmp_path / "model.tflite"
    path.write_bytes(model)
    tf.lite.Interpreter(str(path)).allocate_tensors()
    for settings, message in [
        ({}, "`model_path` or `model_content` must be specified."),
        ({"model_path": str(path), "model_content": model}, "Can't both provide"),
        ({"model_path": str(tmp_path / "none")}, "Could not open"),
        ({"model_content": b"abcdefghijkl"}, "Model provided has model identifier 'efgh', should be 'TFL3'"),
    ]:
        with pytest.raises(ValueError, match=message):
            tf.lite.Interpreter(**settings)


def _broken(model, what):
    parsed = read_model(model)
    if what == "no such tensor":
        parsed.operators[0].inputs[0] = 99
        return write_model(parsed)
    if what == "cut off":
        return model[: len(model) // 2]
    return model[:8] + b"\xff" * 400 + model[408:]


@pytest.mark.parametrize("what", ["cut off", "no such tensor", "overwritten"])
def test_files_that_are_broken(model, what):
    with pytest.raises(ValueError, match="The model is not a valid Flatbuffer buffer"):
        tf.lite.Interpreter(model_content=_broken(model, what))


def test_types_that_are_not_known(model, monkeypatch):
    parsed = read_model(model)
    parsed.tensors[parsed.inputs[0]].type = "OF_LATER"
    with monkeypatch.context() as later:
        later.setitem(ENUMS, "TensorType", (*ENUMS["TensorType"], "OF_LATER"))
        data = write_model(parsed)
    with pytest.raises(ValueError, match=f"the type TensorType {len(ENUMS['TensorType'])} are not known"):
        tf.lite.Interpreter(model_content=data)
