"""Subclasses of `Model`, checkpoints of models, the table of a summary."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboard.compat.proto.trackable_object_graph_pb2 import TrackableObjectGraph

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


class Mine(Model):
    def __init__(self) -> None:
        super().__init__()
        self.a = L.Dense(3)
        self.ds = [L.Dense(2), L.Dense(1)]
        self.dd = {"k": L.Dense(2)}

    def call(self, inputs: Any, training: Any = None) -> Any:
        return self.ds[1](self.ds[0](self.a(self.dd["k"](inputs))))


def names(values: Any) -> list[str]:
    return [value.name for value in values]


def test_layers_in_attributes() -> None:
    model = Mine()
    for read in (lambda: model.input, lambda: model.output_shape):
        with pytest.raises(AttributeError):
            read()
    with pytest.raises(NotImplementedError, match=r"Model mine of class Mine .* override `get_config`"):
        model.get_config()
    output = model(tf.ones((2, 3)))
    assert (model.name, output.name) == ("mine", "mine/dense_2/BiasAdd:0")
    assert names(model.layers) == ["dense", "dense_1", "dense_2", "dense_3"]
    assert names(model.weights)[:3] == ["mine/dense/kernel:0", "mine/dense/bias:0", "mine/dense_1/kernel:0"]
    on_layers = model(L.Input((3,)))
    assert Model(on_layers._keras_history.layer.input, on_layers).layers[1] is model


def test_build_by_hand() -> None:
    model = Mine()
    with pytest.raises(ValueError, match="Input shape must be defined"):
        model.build(None)
    with pytest.raises(ValueError, match="not one of the valid types"):
        model.build(3)
    model.build((None, 3))
    assert names(model.weights)[:2] == ["dense/kernel:0", "dense/bias:0"]

    class NoCall(Model):
        pass

    for use in (lambda: NoCall()(tf.ones((2, 3))), lambda: NoCall().build((2, 3))):
        with pytest.raises(NotImplementedError, match="you should implement a `call` method"):
            use()

    class Hasty(Model):
        def __init__(self) -> None:
            self.a = L.Dense(2)

    with pytest.raises(RuntimeError, match="forgot to call `super"):
        Hasty()


def test_at_once() -> None:
    with eager_mode():
        model = Mine()
        value = model(tf.ones((2, 3)))
        np.testing.assert_allclose(tf.function(lambda x: model(x))(tf.ones((2, 3))).numpy(), value.numpy(), rtol=1e-6)
        built = Mine()
        built.build((None, 3))
        built.set_weights(model.get_weights())
        np.testing.assert_allclose(built(tf.ones((2, 3))).numpy(), value.numpy(), rtol=1e-6)


def _saved(model: Any, folder: Path) -> tuple[list[str], list[list[str]]]:
    """The keys of the variables, and the children of each object."""
    path = tf.train.Checkpoint(model=model).save(str(folder / "saved"), session=K.get_session())
    reader = tf.train.load_checkpoint(path)
    proto = TrackableObjectGraph.FromString(reader.get_tensor("_CHECKPOINTABLE_OBJECT_GRAPH"))
    keys = [key.removesuffix("/.ATTRIBUTES/VARIABLE_VALUE") for key in sorted(reader.get_variable_to_shape_map())]
    return keys[1:], [sorted(child.local_name for child in node.children) for node in proto.nodes]


def test_checkpoints_of_models_joined_in_advance(tmp_path: Path) -> None:
    layer = L.Dense(3)
    a, b = L.Input((3,)), L.Input((3,))
    model = Model([a, b], L.add([layer(a), layer(b)]))
    K.get_session()
    keys, children = _saved(model, tmp_path)
    assert keys == ["model/layer_with_weights-0/bias", "model/layer_with_weights-0/kernel", "save_counter"]
    assert children[1] == ["layer-0", "layer-1", "layer-2", "layer-3", "layer_with_weights-0"]
    values = model.get_weights()
    model.set_weights([np.zeros_like(value) for value in values])
    tf.train.Checkpoint(model=model).restore(tf.train.latest_checkpoint(str(tmp_path))).run_restore_ops(K.get_session())
    np.testing.assert_array_equal(model.get_weights()[0], values[0])


def test_checkpoints_of_sequences_and_subclasses(tmp_path: Path) -> None:
    K.get_session()
    keys, children = _saved(Sequential([L.Flatten(input_shape=(3,)), L.Dense(2)]), tmp_path)
    # The input layer counts, as in TensorFlow, which could not bind the layers otherwise.
    assert children[1] == ["layer-0", "layer-1", "layer-2", "layer_with_weights-0"]
    assert keys[0] == "model/layer_with_weights-0/bias"
    model = Mine()
    model(tf.ones((2, 3)))
    keys, children = _saved(model, tmp_path)
    parts = [f"model/{part}/{name}" for part in ("a", "dd/k", "ds/0", "ds/1") for name in ("bias", "kernel")]
    assert keys == [*parts, "save_counter"]
    assert children[1] == ["a", "dd", "ds"]


def test_variables_are_saved_under_the_names_that_they_were_given(tmp_path: Path) -> None:
    class Named(L.Layer):
        def build(self, input_shape: Any) -> None:
            self.attribute = self.add_weight("given", (2,))
            self.other = tf.Variable(1.0)

    model = Sequential([Named(input_shape=(2,))])
    K.get_session().run(tf.global_variables_initializer())
    keys, children = _saved(model, tmp_path)
    assert keys == ["model/layer_with_weights-0/given", "model/layer_with_weights-0/other", "save_counter"]
    assert ["attribute", "given", "other"] in children


CHAIN = """\
Model: "sequential"
_________________________________________________________________
Layer (type)                 Output Shape              Param #   
=================================================================
dense (Dense)                (None, 2)                 8         
_________________________________________________________________
batch_normalization (BatchNo (None, 2)                 8         
=================================================================
Total params: 16
Trainable params: 12
Non-trainable params: 4
_________________________________________________________________
"""  # noqa: W291 (as it is printed)

BRANCHES = """\
Layer (type)            Output Shap Param Connected to      
============================================================
input_1 (InputLayer)    [(None, 3)] 0                       
____________________________________________________________
input_2 (InputLayer)    [(None, 3)] 0                       
____________________________________________________________
dense_1 (Dense)         (None, 3)   12    input_1[0][0]     
                                          input_2[0][0]     
____________________________________________________________
add (Add)               (None, 3)   0     dense_1[0][0]     
                                          dense_1[1][0]     
============================================================
"""  # noqa: W291


def test_summaries(capsys: pytest.CaptureFixture[str]) -> None:
    Sequential([L.Dense(2, input_shape=(3,)), L.BatchNormalization()]).summary()
    assert capsys.readouterr().out == CHAIN
    layer = L.Dense(3)
    a, b = L.Input((3,)), L.Input((3,))
    lines: list[str] = []
    Model([a, b], L.add([layer(a), layer(b)])).summary(60, [0.4, 0.6, 0.7, 1.0], print_fn=lines.append)
    assert "\n".join(lines[2:-4]) + "\n" == BRANCHES
    with pytest.raises(ValueError, match="This model has not yet been built"):
        Mine().summary()
    model = Mine()
    model(tf.ones((2, 3)))
    model.summary()
    assert "dense_5 (Dense)" in (out := capsys.readouterr().out) or "multiple" in out


class _Named(tf.keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.dense = tf.keras.layers.Dense(1, kernel_initializer="ones")

    def call(self, inputs: Any) -> Any:
        return self.dense(inputs["b"]) * inputs["a"]


@pytest.mark.parametrize("eagerly", [False, True])
def test_a_subclass_called_with_a_dictionary_is_trained_on_one(eagerly: bool) -> None:
    with eager_mode() if eagerly else contextlib.nullcontext():
        model = _Named()
        model.compile("sgd", "mse")
        x, y = {"b": np.ones((5, 3), np.float32), "a": np.full((5, 1), 2.0, np.float32)}, np.full((5, 1), 6.0, np.float32)
        assert model.predict(x).tolist() == y.tolist() and model.input_names == ["a", "b"]
        assert model.evaluate(x, y, verbose=0) == 0.0
        assert model.fit(x, y, verbose=0).history["loss"] == [0.0]


def test_one_size_is_a_shape() -> None:
    assert tf.keras.Input(5).shape.as_list() == [None, 5]


class _Layered(tf.keras.Model):
    def __init__(self, **kwargs: Any):
        super().__init__(**kwargs)
        self.dense, self.saw = L.Dense(1), []

    def call(self, inputs: Any) -> Any:
        self.saw.append(tf.is_tensor(inputs) and hasattr(inputs, "numpy"))
        return self.dense(inputs)


def test_an_eager_subclass_knows_its_ends_once_it_has_seen_data() -> None:
    x, y = np.ones((4, 3), np.float32), np.ones((4, 1), np.float32)
    with eager_mode():
        model = _Layered()
        assert (model.inputs, model.outputs) == ([], [])
        model.compile("sgd", "mse")
        model.fit(x, y, verbose=0)
        assert [one.shape.as_list() for one in (*model.inputs, *model.outputs)] == [[None, 3], [None, 1]]
        assert model.saw == [False, True]
        model = _Layered(dynamic=True)  # which cannot be drawn
        model.compile("sgd", "mse")
        model.fit(x, y, verbose=0)
        assert all(model.saw) and tf.is_tensor(model.predict_on_batch(x))


def test_a_subclass_knows_its_ends_by_tensors_too() -> None:
    class Seeing(Model):
        def __init__(self) -> None:
            super().__init__()
            self.dense = L.Dense(1)

        def call(self, inputs: Any) -> Any:
            self.seen = inputs
            return self.dense(inputs)

    model = Seeing()
    model.compile("sgd", "mse")
    assert not hasattr(model, "input_names")
    assert not hasattr(model, "output_names")
    model.fit(tf.constant(np.ones((2, 3))), tf.constant(np.ones((2, 1))), steps_per_epoch=1, verbose=0)
    assert (model.input_names, model.output_names) == (["input_1"], ["output_1"])
    assert model.seen.dtype == tf.float32  # Keras's float type


def test_a_subclass_is_called_with_names_beside_tensors_and_with_unknown_ranks() -> None:
    class OfPairs(Model):
        def __init__(self) -> None:
            super().__init__()
            self.dense = L.Dense(2)

        def call(self, pairs: Any) -> Any:
            return {name: self.dense(tf.reshape(x, [-1, 3])) for name, x in pairs}

    model = OfPairs()
    outputs = model([("one", tf.ones([5, 3])), ("other", tf.placeholder(tf.float32))])
    assert outputs["one"].shape == [5, 2]
    assert outputs["other"].shape.as_list() == [None, 2]
    assert model.built and len(model.weights) == 2
    one = Mine()
    one.ds[0] = L.Lambda(lambda x: x[:, :1])
    one.dd["k"] = L.Lambda(lambda x: tf.reshape(x, [-1, 3]))
    assert one(tf.placeholder(tf.float32)).shape.as_list() == [None, 1]


@pytest.mark.parametrize("kind", [L.Layer, Model])
def test_layers_may_be_in_an_attribute_of_tensorflows_name(kind: Any) -> None:
    class Chain(kind):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self._layers: list[Any] = []
            for units in (3, 4):
                self._layers.append(L.Dense(units))

        def call(self, inputs: Any) -> Any:
            return self._layers[1](self._layers[0](inputs))

    chain = Chain()
    chain(tf.ones([2, 5]))
    assert [v.shape.as_list() for v in chain.weights] == [[5, 3], [3], [3, 4], [4]]
    assert [name for name, _ in chain._checkpoint_children()] == ["_layers"]


@pytest.mark.parametrize("kind", [L.Layer, Model])
def test_layers_may_be_appended_to_those_of_attributes(kind: Any) -> None:
    class Chain(kind):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.first = L.Dense(3)
            self._layers.append(L.Dense(4))
            self.last = L.Dense(2)

        def call(self, inputs: Any) -> Any:
            for layer in self._layers:
                inputs = layer(inputs)
            return inputs

    chain = Chain()
    assert chain(tf.ones([2, 5])).shape == [2, 2]
    assert [v.shape.as_list() for v in chain.weights] == [[5, 3], [3], [3, 4], [4], [4, 2], [2]]
    assert [name for name, _ in chain._checkpoint_children()] == ["first", "last"]
