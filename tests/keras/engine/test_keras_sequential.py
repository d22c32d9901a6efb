"""`Sequential`: built at once or by its first call, changed, described."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.keras import layers as L
from tfexp.keras.engine.input_layer import Input
from tfexp.keras.engine.sequential import Sequential


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph, tf.Session().as_default():
        yield graph


def names(values: Any) -> list[str]:
    return [value.name for value in values]


def test_built_at_once() -> None:
    model = Sequential([L.Dense(2, input_shape=(3,)), L.BatchNormalization(), L.Dense(1)])
    assert (model.name, names(model.inputs), names(model.outputs)) == (
        "sequential",
        ["dense_input:0"],
        ["dense_1/BiasAdd:0"],
    )
    assert names(model.weights) == [
        "dense/kernel:0",
        "dense/bias:0",
        *(f"batch_normalization/{name}:0" for name in ("gamma", "beta", "moving_mean", "moving_variance")),
        "dense_1/kernel:0",
        "dense_1/bias:0",
    ]
    assert names(model.layers) == ["dense", "batch_normalization", "dense_1"]
    assert (model.input_names, model.output_names, model.output_shape) == (["dense_input"], ["dense_1"], (None, 1))
    assert model.built and model.count_params() == 19


def test_built_by_its_first_call(graph: tf.Graph) -> None:
    model = Sequential([L.Dense(2), L.Dense(1)])
    with pytest.raises(ValueError, match="Weights for model sequential have not yet been created"):
        _ = model.weights
    with pytest.raises(ValueError, match="This model has not yet been built"):
        model.summary()
    output = model(tf.ones((4, 3)))
    assert output.name == "sequential/dense_1/BiasAdd:0"
    assert names(model.weights) == [
        f"sequential/{name}:0" for name in ("dense/kernel", "dense/bias", "dense_1/kernel", "dense_1/bias")
    ]
    assert model.get_config()["build_input_shape"] == (4, 3)
    again = Sequential.from_config(json.loads(json.dumps(model.get_config())))
    assert [weight.shape for weight in again.get_weights()] == [(3, 2), (2,), (2, 1), (1,)]
    by_hand = Sequential([L.Dense(2)])
    with pytest.raises(ValueError, match=r"You must provide an `input_shape` argument\."):
        by_hand.build()
    by_hand.build((None, 5))
    assert by_hand.get_weights()[0].shape == (5, 2)


def test_other_beginnings() -> None:
    begun = Sequential()
    begun.add(L.InputLayer(input_shape=(3,)))
    begun.add(L.Dense(2))
    assert (begun.input_names, begun.output_names, names(begun.layers)) == (["input_1"], ["dense"], ["dense"])
    inner = Sequential([L.Dense(2, input_shape=(3,))])
    outer = Sequential([inner, L.Dense(1)])
    assert (outer.input_names, outer.output.name) == (["sequential_1_input"], "dense_2/BiasAdd:0")
    assert names(outer.weights) == ["dense_1/kernel:0", "dense_1/bias:0", "dense_2/kernel:0", "dense_2/bias:0"]
    again = Sequential.from_config(outer.get_config())
    assert again.get_config() == outer.get_config()
    assert names(Sequential.from_config(outer.get_config()["layers"]).layers) == ["sequential_1", "dense_2"]


def test_add_and_pop() -> None:
    model = Sequential([L.Dense(2, input_shape=(3,)), L.Dense(4)])
    model.pop()
    assert (names(model.layers), names(model.outputs), model.output_shape) == (["dense"], ["dense/BiasAdd:0"], (None, 2))
    model.add(L.Dense(5))
    assert model.output_shape == (None, 5)
    model.pop()
    model.pop()
    assert (model.layers, model.outputs) == ([], [])
    model.add(L.Dense(7, input_dim=2))
    assert model.output_shape == (None, 7)
    with pytest.raises(TypeError, match=r"The added layer must be an instance of class Layer\. Found: 3"):
        model.add(3)
    with pytest.raises(TypeError, match=r"There are no layers in the model\."):
        Sequential().pop()

    class Two(L.Layer):
        def call(self, inputs: Any) -> Any:
            return [inputs * 1.0, inputs * 2.0]

    with pytest.raises(ValueError, match="should have a single output tensor"):
        Sequential([Two(input_shape=(3,))])
    with pytest.raises(TypeError, match="should have a single output tensor"):
        model.add(Two())


def test_copies() -> None:
    model = Sequential([L.Dense(2, input_shape=(3,))], name="q")
    copy = tf.keras.models.clone_model(model)
    assert (copy.name, names(copy.layers), names(copy.weights)) == ("q", ["dense"], ["dense_1/kernel:0", "dense_1/bias:0"])
    on_tensor = tf.keras.models.clone_model(model, tf.ones((2, 3)))
    assert on_tensor.output_shape == (2, 2)
    assert tf.keras.models.clone_model(Sequential([L.Dense(2)])).inputs == []
    with pytest.raises(ValueError, match="at most one tensor"):
        tf.keras.models.clone_model(model, [tf.ones((2, 3)), tf.ones((2, 3))])


def test_masks_and_phase_before_it_is_built() -> None:
    model = Sequential([L.Embedding(5, 3, mask_zero=True), L.LSTM(2), L.Dropout(0.5)])
    output = model(tf.constant([[1, 0, 2]]), training=True)
    session = tf.keras.backend.get_session()
    assert session.run(output).shape == (1, 2)
    masked = Sequential([L.Masking(), L.Activation("relu")])(tf.constant([[[0.0], [1.0]]]))
    np.testing.assert_array_equal(session.run(masked._keras_mask), [[False, True]])


def test_input_in_a_list_of_layers() -> None:
    model = Sequential([Input((3,), name="given"), L.Dense(2)])
    assert model.input_names == ["given"] and model.output_shape == (None, 2) and len(model.layers) == 1


def test_it_demands_what_its_first_layer_does() -> None:
    model = Sequential([L.Dense(2)])
    assert model.input_spec is model.layers[0].input_spec
    assert Sequential().input_spec is None


def test_a_subclass_without_inputs_keeps_its_layers_in_checkpoints() -> None:
    class Own(tf.keras.Sequential):
        pass

    model = Own([L.Dense(3), L.ReLU(), L.Dense(2)])
    model(tf.ones([2, 5]))
    assert [name for name, _ in model._checkpoint_children()] == ["layer-0", "layer-1", "layer-2"]


def test_the_config_has_the_shape_of_inputs_that_a_layer_of_their_own_said() -> None:
    models = {
        "an InputLayer": Sequential([L.InputLayer((4,)), L.Dense(2, name="d")]),
        "an Input": Sequential([tf.keras.Input((4,)), L.Dense(2, name="d")]),
        "a model with one": Sequential([Sequential([L.InputLayer((4,)), L.Dense(2, name="d")], name="inner")]),
    }
    for kind, model in models.items():
        config = model.get_config()
        assert config["layers"][0]["config"]["batch_input_shape"] == (None, 4), kind
        again = Sequential.from_config(config)
        assert again.get_config() == config, kind
        assert again.output_shape == (None, 2), kind
    x = tf.keras.Input((4,))
    outer = tf.keras.Model(x, models["an InputLayer"](x))
    again = tf.keras.models.model_from_json(outer.to_json())
    assert [weight.shape.as_list() for weight in again.weights] == [[4, 2], [2]]
    assert list(outer.get_config()["layers"][0]) == ["name", "class_name", "config", "inbound_nodes"]
