"""`tf.lite.TFLiteConverter`: what it fuses, names and refuses, and where its graphs come from."""

import numpy as np
import pytest

import tfexp as tf
from tests.lite.lite_models import converted, random_values, run_model
from tfexp.formats.lite_model import read_model
from tfexp.lite.converter import ConverterError

pytest.importorskip("flatbuffers", reason="models in TensorFlow Lite's files need the extra `lite`")


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def steps(model):
    return [step.op for step in read_model(model).operators]


def test_a_layer_is_one_step():
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    y = tf.nn.relu(tf.matmul(x, tf.Variable(tf.ones([3, 2]))) + 1.0, name="y")
    model = read_model(converted([x], [y]))
    assert [tensor.name for tensor in model.tensors] == ["MatMul_bias", "Variable/transpose", "x", "y"]
    (step,) = model.operators
    assert (step.op, step.inputs, step.outputs, step.options["activation"]) == ("FULLY_CONNECTED", [2, 1, 0], [3], "RELU")
    assert model.tensors[0].data.tolist() == [1, 1] and model.tensors[2].shape == (1, 3)


def test_statistics_of_batches_go_into_weights():
    x = tf.placeholder(tf.float32, [1, 5, 7, 3])
    filters, *channels = random_values((3, 3, 3, 4), (4,), (4,), (4,), (4,))
    h = tf.nn.conv2d(x, tf.Variable(filters), 1, "SAME")
    scale, offset, mean, variance = map(tf.constant, channels)
    h = tf.nn.relu6(tf.nn.fused_batch_norm(h, scale, offset, mean, tf.square(variance), is_training=False)[0])
    h = h * tf.constant([2.0, 3.0, 5.0, 7.0])  # behind an activation: it stays
    model = converted([x], [h])
    assert steps(model) == ["CONV_2D", "MUL"]
    (value,) = random_values((1, 5, 7, 3), seed=2)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        expected = session.run(h, {x: value})
    np.testing.assert_allclose(run_model(model, value)[0], expected, rtol=1e-4, atol=1e-5)


def test_weights_that_two_products_share_are_not_scaled():
    x = tf.placeholder(tf.float32, [1, 3])
    weights = tf.constant(random_values((3, 5))[0])
    first, second = tf.matmul(x, weights, transpose_b=False), tf.matmul(x + 1.0, weights)
    model = converted([x], [first * 2.0, second])
    (value,) = random_values((1, 3), seed=3)
    with tf.Session() as session:
        expected = session.run([first * 2.0, second], {x: value})
    for got, want in zip(run_model(model, value), expected):
        np.testing.assert_allclose(got, want, rtol=1e-5)


def test_any_batch_goes_through_what_was_flat():
    x = tf.placeholder(tf.float32, [None, 2, 2], name="x")
    h = tf.reshape(x, [-1, 4])
    model = converted([x], [tf.matmul(h, tf.ones([4, 3]))])
    assert steps(model) == ["FULLY_CONNECTED"]
    interpreter = tf.lite.Interpreter(model_content=model)
    index = interpreter.get_input_details()[0]["index"]
    interpreter.resize_tensor_input(index, [5, 2, 2])
    interpreter.allocate_tensors()
    assert interpreter.get_output_details()[0]["shape"].tolist() == [5, 3]


def test_names_and_shapes_instead_of_tensors():
    tf.identity(tf.placeholder(tf.float32, [None, 3], name="x") * 2.0, name="y")
    definition = tf.get_default_graph().as_graph_def()
    converter = tf.lite.TFLiteConverter(definition, None, None, [("x", [2, 3])], ["y"])
    assert run_model(converter.convert(), np.ones([2, 3], np.float32))[0].tolist() == [[2, 2, 2]] * 2
    with pytest.raises(ValueError, match="both input_arrays_with_shape and output_arrays must be defined"):
        tf.lite.TFLiteConverter(definition, None, None)


def test_outputs_keep_their_names():
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    outputs = [tf.identity(x, name="same"), tf.identity(tf.nn.relu(x), name="other"), tf.constant([1.0, 2.0], name="fixed")]
    model = converted([x], outputs)
    parsed = read_model(model)
    assert [parsed.tensors[number].name for number in parsed.outputs] == ["same", "other", "fixed"]
    (value,) = random_values((2, 3))
    same, other, fixed = run_model(model, value)
    assert same.tolist() == value.tolist() and other.tolist() == np.maximum(value, 0).tolist() and fixed.tolist() == [1, 2]


def test_an_op_that_cannot_be_converted_is_named():
    x = tf.placeholder(tf.float32, [3, 3])
    y = tf.erf(tf.linalg.inv(x)) + 1.0
    with pytest.raises(ConverterError, match=r"(?s)you are using: ADD\..*custom implementations: Erf, MatrixInverse\."):
        converted([x], [y])
    model = converted([x], [y], allow_custom_ops=True)
    assert steps(model) == ["CUSTOM", "CUSTOM", "ADD"]
    with pytest.raises(RuntimeError, match="Encountered unresolved custom op: MatrixInverse"):
        tf.lite.Interpreter(model_content=model).allocate_tensors()


def test_ops_whose_shapes_nobody_knows_are_named_as_well():
    x = tf.placeholder(tf.float32, [3, 2])
    with pytest.raises(ConverterError, match="custom implementations: Merge, Switch, Unique"):
        converted([x], [tf.cond(x[0, 0] > 0, lambda: tf.unique(x[0])[0], lambda: x[1])])


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (None, "Provide an input shape for input array 'x'."),
        ([3, None], r"None is only supported in the 1st dimension. Tensor 'x' has invalid shape '\[3, None\]'."),
    ],
)
def test_inputs_need_shapes(shape, message):
    x = tf.placeholder(tf.float32, shape, name="x")
    with pytest.raises(ValueError, match=message):
        converted([x], [x + 1.0])


def test_what_can_be_converted():
    names = [supported.op for supported in tf.lite.experimental.get_potentially_supported_ops()]
    assert {"Conv2D", "MatMul", "Identity", "Reshape", "Shape"} <= set(names) and "Erf" not in names


def test_settings_that_contradict():
    x = tf.placeholder(tf.float32, [3])
    with pytest.raises(ValueError, match="representative_dataset is required"):
        converted([x], [x + 1.0], target_ops={tf.lite.OpsSet.TFLITE_BUILTINS_INT8})
    with pytest.raises(ValueError, match="std_dev and mean must be defined"):
        converted([x], [x + 1.0], inference_type=tf.uint8)
    with pytest.raises(ConverterError, match="output_format"):
        converted([x], [x + 1.0], output_format=tf.lite.constants.GRAPHVIZ_DOT)


# --- where graphs come from --------------------------------------------------------------------------------------------


def test_a_frozen_graph(tmp_path):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    tf.multiply(x, 2.0, name="y")
    path = str(tmp_path / "graph.pb")
    tf.io.write_graph(tf.get_default_graph(), str(tmp_path), "graph.pb", as_text=False)
    converter = tf.lite.TFLiteConverter.from_frozen_graph(path, ["x"], ["y"], {"x": [2, 3]})
    assert converter.get_input_arrays() == ["x"]
    assert run_model(converter.convert(), np.ones([2, 3], np.float32))[0].tolist() == [[2, 2, 2]] * 2
    for names, shapes, message in [
        (["nope"], None, "Invalid tensors 'nope' were found."),
        (["x"], {"y": [1]}, "Invalid tensor 'y' found in tensor shapes map."),
        (["x"], {"x": [2, 4]}, "The shape of tensor 'x' cannot be changed from"),
    ]:
        with pytest.raises(ValueError, match=message):
            tf.lite.TFLiteConverter.from_frozen_graph(path, names, ["y"], shapes)
    with pytest.raises(OSError, match="does not exist"):
        tf.lite.TFLiteConverter.from_frozen_graph(path + "x", ["x"], ["y"])


def test_a_graph_with_variables_is_not_frozen(tmp_path):
    tf.identity(tf.placeholder(tf.float32, [3], name="x") + tf.Variable(1.0), name="y")
    tf.io.write_graph(tf.get_default_graph(), str(tmp_path), "graph.pbtxt")
    with pytest.raises(ValueError, match="Please freeze the graph"):
        tf.lite.TFLiteConverter.from_frozen_graph(str(tmp_path / "graph.pbtxt"), ["x"], ["y"])


def test_a_saved_model(tmp_path):
    b, a = tf.placeholder(tf.float32, [None, 3], name="b"), tf.placeholder(tf.float32, [None, 3], name="a")
    folder = str(tmp_path / "model")
    with tf.Session() as session:
        variable = tf.Variable([2.0, 3.0, 5.0])
        session.run(variable.initializer)
        outputs = {"first": tf.identity(a * variable, name="z"), "second": tf.identity(a - b, name="y")}
        tf.saved_model.simple_save(session, folder, {"k1": b, "k2": a}, outputs)
    converter = tf.lite.TFLiteConverter.from_saved_model(folder)
    assert converter.get_input_arrays() == ["a", "b"]
    y, z = run_model(converter.convert(), np.ones([1, 3], np.float32), np.full([1, 3], 3, np.float32))
    assert y.tolist() == [[-2, -2, -2]] and z.tolist() == [[2, 3, 5]]
    for settings, message in [
        ({"input_arrays": ["q"]}, "Invalid tensors 'q' were found."),
        ({"signature_key": "q"}, "No 'q' in the SavedModel's SignatureDefs. Possible values are 'serving_default'."),
        ({"input_shapes": {"q": [1]}}, "Invalid tensor 'q' found in tensor shapes map."),
    ]:
        with pytest.raises(ValueError, match=message):
            tf.lite.TFLiteConverter.from_saved_model(folder, **settings)
