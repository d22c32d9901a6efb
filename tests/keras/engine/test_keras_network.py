"""Networks of layers: order, calls on other inputs, configurations, masks, what belongs to which model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.keras import backend as K
from tfexp.keras import layers as L
from tfexp.keras.engine.model import Model
from tfexp.keras.engine.sequential import Sequential
from tfexp.runtime.eager import eager_mode


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph, tf.Session().as_default():
        yield graph


def names(values: Any) -> list[str]:
    return [value.name for value in values]


def shared() -> Any:
    """Two inputs, a shared layer, two outputs, the second from a third call of the shared layer."""
    layer = L.Dense(3)
    a, b = L.Input((3,)), L.Input((3,))
    both = L.add([layer(a), layer(b)])
    return Model([a, b], [both, layer(both)])


def run(outputs: Any, feeds: dict[Any, Any]) -> Any:
    return K.get_session().run(outputs, feeds)


VALUES = [np.arange(6, dtype=np.float32).reshape(2, 3), np.ones((2, 3), np.float32)]


def test_names_and_order(graph: tf.Graph) -> None:
    model = shared()
    assert model.name == "model"
    assert names(model.layers) == ["input_1", "input_2", "dense", "add"]
    assert (model.input_names, model.output_names) == (["input_1", "input_2"], ["add", "dense"])
    assert names(model.weights) == ["dense/kernel:0", "dense/bias:0"]
    assert model.input_shape == [(None, 3), (None, 3)] == model.output_shape
    assert names(model.outputs) == ["add/add:0", "dense_2/BiasAdd:0"]
    assert model.get_layer("add") is model.get_layer(index=3)
    for wanted, message in [
        ({"name": "zz"}, "No such layer: zz"),
        ({"index": 9}, "index 9 but model only has 4"),
        ({}, "Provide"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.get_layer(**wanted)


def test_deep_and_wide_networks_are_in_keras_order() -> None:
    a = L.Input((2,), name="a")
    b = L.Input((2,), name="b")
    long = L.Dense(2, name="l2")(L.Dense(2, name="l1")(b))
    short = L.Dense(2, name="s")(a)
    model = Model([a, b], L.concatenate([short, long], name="c"))
    assert names(model.layers) == ["b", "l1", "a", "s", "l2", "c"] or names(model.layers) == ["b", "a", "l1", "s", "l2", "c"]
    deep = a
    for _ in range(1500):
        deep = L.Activation("relu")(deep)
    assert len(Model(a, deep).layers) == 1501


def test_called_on_other_inputs(graph: tf.Graph) -> None:
    model = shared()
    before = len(graph.get_operations())
    inputs = [tf.constant(value) for value in VALUES]
    outputs = model(inputs)
    assert names(outputs) == ["model/add/add:0", "model/dense_2/BiasAdd:0"]
    assert len(graph.get_operations()) > before and len(model.layers[2]._inbound_nodes) == 3
    wanted = run(model.outputs, dict(zip(model.inputs, VALUES, strict=True)))
    for found, value in zip(run(outputs, {}), wanted, strict=True):
        np.testing.assert_allclose(found, value, rtol=1e-6)
    fresh = [L.Input((3,)), L.Input((3,))]
    outer = Model(fresh, model(fresh)[1])
    assert names(outer.layers) == ["input_3", "input_4", "model"]
    assert names(outer.weights) == ["dense/kernel:0", "dense/bias:0"]
    assert outer.output.name == "model_1/dense_2/BiasAdd:0" and outer.output_names == ["model"]
    assert len(model.inbound_nodes) == 2 and model.get_output_at(0) == model.outputs
    assert model.input == model.inputs
    np.testing.assert_allclose(run(outer.output, dict(zip(fresh, VALUES, strict=True))), wanted[1], rtol=1e-6)
    with pytest.raises(ValueError, match="Layer model expects 2 inputs, but it received 1 input tensors"):
        model(fresh[0])


def test_structures_of_inputs_and_outputs() -> None:
    given = {"b": L.Input((2,), name="b"), "a": L.Input((2,), name="a")}
    model = Model(given, {"sum": L.add([given["a"], given["b"]]), "a": L.Dense(1)(given["a"])})
    assert model.input_names == ["a", "b"]
    found = model({"a": tf.ones((1, 2)), "b": 2 * tf.ones((1, 2))})
    np.testing.assert_array_equal(run(found["sum"], {}), [[3, 3]])


def test_configuration_and_back() -> None:
    model = shared()
    config = json.loads(json.dumps(model.get_config()))
    assert config["name"] == "model" and sorted(config) == ["input_layers", "layers", "name", "output_layers"]
    dense, add = config["layers"][2:]
    assert dense["inbound_nodes"] == [[["input_1", 0, 0, {}]], [["input_2", 0, 0, {}]], [["add", 0, 0, {}]]]
    assert add["inbound_nodes"] == [[["dense", 0, 0, {}], ["dense", 1, 0, {}]]]
    assert (config["input_layers"], config["output_layers"]) == (
        [["input_1", 0, 0], ["input_2", 0, 0]],
        [["add", 0, 0], ["dense", 2, 0]],
    )
    again = Model.from_config(config)
    assert again.get_config() == model.get_config()
    again.set_weights(model.get_weights())
    _equal(again, model)
    config["layers"][3]["inbound_nodes"] = [[["dense", 2, 0, {}]]]
    with pytest.raises(ValueError, match="wait for each other"):
        Model.from_config(config)


def _equal(found: Any, wanted: Any) -> None:
    feeds = {**dict(zip(found.inputs, VALUES, strict=False)), **dict(zip(wanted.inputs, VALUES, strict=False))}
    for one, other in zip(run(found.outputs, feeds), run(wanted.outputs, feeds), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_text_and_back(form: str) -> None:
    inner = Sequential([L.Dense(2, input_shape=(3,)), L.Dropout(0.5)])
    a = L.Input((3,))
    model = Model(a, L.Dense(1)(inner(a, training=True)))
    text = model.to_json() if form == "json" else model.to_yaml()
    read = tf.keras.models.model_from_json if form == "json" else tf.keras.models.model_from_yaml
    again = read(text)
    assert names(again.layers) == names(model.layers)
    assert again.get_config() == model.get_config()
    assert model.get_config()["layers"][1]["inbound_nodes"] == [[["input_1", 0, 0, {"training": True}]]]
    assert json.loads(model.to_json())["keras_version"] == "2.2.4-tf"
    with pytest.raises(TypeError, match="expects a dictionary, not a list"):
        tf.keras.models.model_from_config([])


def test_nodes_of_other_models_are_not_counted() -> None:
    layer = L.Dense(2)
    layer(L.Input((3,)))
    a = L.Input((3,))
    config = Model(a, layer(a)).get_config()
    assert config["output_layers"] == [["dense", 0, 0]] and len(config["layers"][1]["inbound_nodes"]) == 1


def test_copies() -> None:
    model = shared()
    copy = tf.keras.models.clone_model(model)
    assert (copy.name, names(copy.layers)) == (model.name, names(model.layers))
    assert names(copy.weights) == ["dense_3/kernel:0", "dense_3/bias:0"]
    copy.set_weights(model.get_weights())
    _equal(copy, model)
    on_tensors = tf.keras.models.clone_model(model, [tf.constant(value) for value in VALUES])
    on_tensors.set_weights(model.get_weights())
    found = run(on_tensors.outputs[1], {})
    np.testing.assert_allclose(found, run(model.outputs[1], dict(zip(model.inputs, VALUES, strict=True))), rtol=1e-6)
    bare = tf.keras.models.clone_model(
        model, clone_function=lambda one: L.Dense(3, use_bias=False) if one.weights else L.Add()
    )
    assert len(bare.weights) == 1

    class Own(Model):
        pass

    with pytest.raises(ValueError, match="functional `Model` instance, but got a subclass model"):
        tf.keras.models.clone_model(Own())
    with pytest.raises(ValueError, match="Expected `model` argument to be a `Model` instance"):
        tf.keras.models.clone_model(L.Dense(1))


def test_plain_operations_become_layers() -> None:
    a = L.Input((3,))
    y = tf.nn.relu(a * 2.0 + 1.0)
    z = L.Dense(2)(y)
    model = Model(a, tf.concat([z, z], 1))
    assert names(model.layers) == [
        "input_1",
        "tf_op_layer_mul",
        "tf_op_layer_add",
        "tf_op_layer_Relu",
        "dense",
        "tf_op_layer_concat",
    ]
    assert model.get_config()["layers"][1]["config"] == {
        "name": "mul",
        "trainable": True,
        "dtype": None,
        "node_def": {"name": "mul", "op": "Mul", "input": ["input_1", "mul/y"], "attr": {"T": {"type": "DT_FLOAT"}}},
        "constants": {1: 2.0},
    }
    wanted = run(model.output, {a: VALUES[0]})
    np.testing.assert_allclose(run(model(tf.constant(VALUES[0])), {}), wanted, rtol=1e-6)
    again = tf.keras.models.model_from_json(model.to_json())
    again.set_weights(model.get_weights())
    np.testing.assert_allclose(run(again.output, {again.input: VALUES[0]}), wanted, rtol=1e-6)


def test_what_a_model_cannot_be_made_of() -> None:
    a, b = L.Input((3,)), L.Input((3,))
    y = L.Dense(2, name="s")(a)
    for inputs, outputs, message in [
        (b, y, 'Graph disconnected: cannot obtain value for tensor .*"input_1:0".* at layer "input_1". The .*: \\[\\]'),
        (tf.ones((2, 3)), y, "Input tensors to a Model must come from `tf.keras.Input`"),
        (a, tf.ones((2, 3)), "must be the output of a TensorFlow `Layer`"),
        ([a, a], y, "All inputs should only appear once"),
        (a, L.Dense(2, name="s")(y), 'The name "s" is used 2 times in the model'),
    ]:
        with pytest.raises(ValueError, match=message):
            Model(inputs, outputs)


def test_masks_go_through() -> None:
    a = L.Input((4,))
    masked = L.Masking()(L.Reshape((4, 1))(a))
    model = Model(a, masked)
    assert model.output_mask is masked._keras_mask
    values = np.array([[0.0, 1.0, 2.0, 0.0]], np.float32)
    outer = model(tf.constant(values))
    np.testing.assert_array_equal(run(outer._keras_mask, {}), [[False, True, True, False]])
    np.testing.assert_array_equal(run(model.compute_mask(tf.constant(values)), {}), [[False, True, True, False]])

    class Masked(L.Layer):
        supports_masking = True

        def call(self, inputs: Any, mask: Any = None) -> Any:
            return inputs * 1.0 if mask is None else inputs * tf.cast(mask, tf.float32)

    x = L.Input((4,))
    inner = Model(x, Masked()(x))
    np.testing.assert_array_equal(
        run(inner(tf.constant(values), mask=tf.constant([[True, True, False, False]])), {}), [[0, 1, 0, 0]]
    )


def test_shapes_of_outputs() -> None:
    model = shared()
    found = model.compute_output_shape([(5, 3), (5, 3)])
    assert [one.as_list() for one in found] == [[5, 3], [5, 3]]
    sequence = Sequential([L.Dense(4, input_shape=(3,)), L.Reshape((2, 2))])
    assert tf.TensorShape(sequence.compute_output_shape((None, 3))).as_list() == [None, 2, 2]
    with pytest.raises(ValueError, match="Invalid input_shape argument"):
        model.compute_output_shape((5, 3))


def test_losses_and_updates_of_a_model_are_those_of_its_layers() -> None:
    a = L.Input((3,))
    norm = L.BatchNormalization()
    model = Model(a, norm(a))
    assert model.get_updates_for(None) == [] and model.get_updates_for(model.inputs) == model.updates
    assert len(model.updates) == 2
    elsewhere = tf.ones((2, 3))
    model(elsewhere)
    assert (len(model.updates), len(model.get_updates_for(elsewhere)), len(norm.updates)) == (4, 2, 4)
    model.trainable = False
    assert not norm.trainable and model.updates == []
    assert (len(model.trainable_weights), len(model.non_trainable_weights)) == (0, 4)
    model.trainable = True
    model.add_loss(tf.reduce_sum(model.output))
    assert len(model.losses) == 1


def test_a_layer_that_is_reached_in_two_ways_has_its_losses_counted_twice() -> None:
    dense = L.Dense(3, kernel_initializer="ones", kernel_regularizer=tf.reduce_sum)
    inner = Sequential([dense])
    a = L.Input((3,))
    model = Model(a, dense(inner(a)))
    assert len(model.losses) == 2 and model.losses[0] is model.losses[1]
    model.compile("sgd", "mse")
    assert model.test_on_batch(np.ones((2, 3)), np.full((2, 3), 9.0)) == 2 * 9.0


class Halves(Model):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.dense = L.Dense(4, kernel_initializer="ones")

    def call(self, inputs: Any) -> Any:
        given = inputs["a"] + inputs["b"] if isinstance(inputs, dict) else inputs
        return tf.split(self.dense(given), 2, axis=1)


def test_the_first_tensors_in_a_graph_are_inputs_of_a_subclass() -> None:
    a, b = tf.placeholder(tf.float32, (None, 3)), tf.placeholder(tf.float32, (None, 3))
    model = Halves()
    outputs = model(a)
    model(b)
    assert (model.inputs, model.outputs) == ([a], outputs)
    assert (model.input_names, model.output_names) == (["input_1"], ["output_1", "output_2"])
    np.testing.assert_array_equal(model.predict(np.ones((2, 3)))[1], np.full((2, 2), 3.0))
    named = Halves()
    named({"b": b, "a": a})
    assert (named.inputs, named.input_names) == ([a, b], ["a", "b"])
    np.testing.assert_array_equal(named.predict({"a": np.ones((2, 3)), "b": np.ones((2, 3))})[0], np.full((2, 2), 6.0))
    # Arrays only build it, and leave to training what its inputs are.
    built = Halves()
    built(np.ones((2, 3), np.float32))
    assert built.built and built.inputs == []
    built.compile("sgd", "mse")
    assert len(built.train_on_batch(np.ones((5, 3)), [np.ones((5, 2))] * 2)) == 3


def test_stateful_layers() -> None:
    a = L.Input(batch_shape=(2, 3, 4))
    recurrent = L.LSTM(5, stateful=True)
    model = Model(a, recurrent(a))
    assert model.stateful and len(model.state_updates) == 2
    session = K.get_session()
    session.run(model.state_updates, {a: np.ones((2, 3, 4))})
    assert np.abs(session.run(recurrent.states[0])).sum() > 0
    model.reset_states()
    np.testing.assert_array_equal(session.run(recurrent.states[0]), np.zeros((2, 5)))


def test_models_where_ops_run_at_once() -> None:
    with eager_mode():
        a = L.Input((3,))
        y = L.Dense(2, kernel_regularizer="l2")(a)
        model = Model(a, L.Dense(1)(tf.nn.relu(y * 2.0)))
        assert names(model.layers)[2:4] == ["tf_op_layer_mul", "tf_op_layer_Relu"]
        values = tf.constant(VALUES[0])
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(values)) + tf.add_n(model.losses)
        assert all(gradient is not None for gradient in tape.gradient(loss, model.trainable_weights))
        again = Model.from_config(json.loads(json.dumps(model.get_config())))
        again.set_weights(model.get_weights())
        np.testing.assert_allclose(again(values).numpy(), model(values).numpy(), rtol=1e-6)
        np.testing.assert_allclose(tf.function(lambda x: model(x))(values).numpy(), model(values).numpy(), rtol=1e-6)


def test_losses_and_metrics_at_the_side_of_a_network() -> None:
    a = L.Input((3,))
    h = L.Dense(2)(a)
    model = Model(a, L.Dense(1)(h))
    model.add_loss(0.1 * tf.reduce_mean(tf.abs(h)))
    model.add_metric(h, name="mh", aggregation="mean")
    operations = ["tf_op_layer_Abs", "tf_op_layer_Mean", "tf_op_layer_mul"]
    wanted = ["input_1", "dense", "dense_1", *operations, "add_loss", "add_metric"]
    assert names(model.layers) == wanted and names(model.losses) == ["mul:0"] and names(model.metrics) == ["mh"]
    again = Model.from_config(json.loads(model.to_json())["config"])
    assert (
        names(again.layers) == wanted and names(again.losses) == ["tf_op_layer_mul/mul:0"] and names(again.metrics) == ["mh"]
    )
    copy = tf.keras.models.clone_model(model)
    assert names(copy.layers) == wanted and len(copy.losses) == 1 == len(copy.metrics)
    fresh = L.Input((3,))
    outer = Model(fresh, model(fresh))
    assert names(outer.losses) == ["mul:0", "model/tf_op_layer_mul/mul:0"]
    assert names(outer.get_losses_for(fresh)) == ["model/tf_op_layer_mul/mul:0"]
    model.add_loss(tf.reduce_sum(model.weights[0]))
    assert len(model.losses) == 2 + 1  # as in TensorFlow, those of its calls in other models, too


def test_losses_at_the_side_where_ops_run_at_once() -> None:
    with eager_mode():
        a = L.Input((3,))
        model = Model(a, L.Dense(2, kernel_initializer="ones")(a))
        model.add_loss(tf.reduce_sum(model.output))
        model(tf.ones((1, 3)))
        assert [loss.numpy() for loss in model.losses] == [6.0]
        model(tf.ones((2, 3)))
        assert [loss.numpy() for loss in model.losses] == [12.0]
        tf.function(lambda x: model(x))(tf.ones((2, 3)))
        assert all(hasattr(loss, "numpy") for loss in model.losses)


def test_plain_operations_on_eager_models_get_names_of_their_own() -> None:
    with eager_mode():
        output = L.Dense(2)(L.Input((3,)))
        names = [tf.reduce_sum(output).op.name for _ in range(2)]
        assert names[1] == f"{names[0]}_1"


def test_inputs_are_no_values() -> None:
    with eager_mode(), pytest.raises(ValueError, match="should not pass an EagerTensor to `Input`"):
        L.Input(tensor=tf.constant([[1.0]]))
    assert L.Input((None, 2), ragged=True).shape.as_list() == [None, None, 2]


@pytest.mark.parametrize("key", ["bogus", "dtype", "dynamic"])
def test_a_model_of_ends_takes_a_name_and_trainable_only(key: str) -> None:
    x = L.Input((2,))
    with pytest.raises(TypeError, match=f"Functional models may only specify `name` and `trainable`.*argument:', '{key}'"):
        tf.keras.Model(x, x, **{key: None})
    assert not tf.keras.Model(x, x, name="named", trainable=False).trainable


def test_a_model_without_both_ends_takes_keywords_only() -> None:
    x = L.Input((2,))
    with pytest.raises(TypeError, match="Keyword argument not understood:', 'bogus'"):
        tf.keras.Model(x, bogus=1)
    assert tf.keras.Model("given").name != "given"
