"""Layers: names, variables, what they gather, and what a call fills in. Names and texts are as TensorFlow gives them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.keras import backend as K
from tfexp.keras import layers as L
from tfexp.keras.engine.call_context import current_call
from tfexp.runtime.eager import eager_mode


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph, tf.Session().as_default():
        yield graph


class Mine(L.Layer):
    """Layers in attributes and lists, variables of each kind."""

    def __init__(self, **kwargs: Any):
        super().__init__(**kwargs)
        self.d = L.Dense(3)
        self.ds = [L.Dense(2), L.Dense(1)]
        self.v = tf.Variable(1.0)

    def build(self, input_shape: Any) -> None:
        self.w = self.add_weight("w", shape=(2,))
        self.b = self.add_weight(shape=(2,), trainable=False)

    def call(self, inputs: Any) -> Any:
        self.add_loss(tf.reduce_sum(inputs))
        return self.ds[1](self.ds[0](self.d(inputs)))


def names(variables: Any) -> list[str]:
    return [variable.name for variable in variables]


def test_variables_of_attributes_and_lists_in_tensorflows_order() -> None:
    layer = Mine()
    layer(tf.ones((2, 3)))
    second = layer(tf.ones((2, 3)))
    inner = [f"my/{name}:0" for n in ("dense", "dense_1", "dense_2") for name in (f"{n}/kernel", f"{n}/bias")]
    inner = [name.replace("my/", "mine/") for name in inner]
    assert names(layer.trainable_weights) == ["Variable:0", "mine/w:0", *inner]
    assert names(layer.weights) == ["Variable:0", "mine/w:0", *inner, "mine/Variable:0"]
    assert second.name == "mine_1/dense_2/BiasAdd:0"
    assert [loss.name for loss in layer.losses] == ["mine/Sum:0", "mine_1/Sum:0"]
    assert layer.count_params() == 1 + 2 + 12 + 8 + 3 + 2
    layer.trainable = False
    assert layer.trainable_weights == [] and len(layer.non_trainable_weights) == 9
    assert not layer.ds[0].trainable


def test_what_joins_a_list_later_counts_and_what_is_deleted_does_not() -> None:
    layer = L.Layer()
    layer.parts = []
    layer.by_name = {"a": L.Dense(1)}
    layer.parts.append(L.Dense(2))
    layer.v = tf.Variable(2.0, name="v")
    assert len(layer._inner_layers) == 2
    del layer.v
    assert layer.weights == []


def test_values() -> None:
    layer = L.Dense(2)
    assert layer.get_weights() == []
    layer.build((None, 3))
    assert names(layer.weights) == ["kernel:0", "bias:0"]
    values = [np.arange(6, dtype=np.float32).reshape(3, 2), np.ones(2, np.float32)]
    layer.set_weights(values)
    for found, wanted in zip(layer.get_weights(), values, strict=True):
        np.testing.assert_array_equal(found, wanted)
    with pytest.raises(ValueError, match='on layer "dense" with a  weight list of length 1, but the layer was expecting 2'):
        layer.set_weights(values[:1])
    with pytest.raises(ValueError, match=r"Layer weight shape \(3, 2\) not compatible with provided weight shape \(3,\)"):
        layer.set_weights([np.ones(3), np.ones(3)])
    begun = L.Dense(2, weights=values)
    begun(tf.ones((1, 3)))
    np.testing.assert_array_equal(begun.get_weights()[0], values[0])


def test_kinds_of_variables() -> None:
    layer = L.Layer(dtype="float16")
    assert layer.add_weight("f", (2,)).dtype == tf.float16
    assert layer.add_weight("i", (2,), dtype="int32").dtype == tf.int32
    on_read = layer.add_weight("r", (), synchronization=tf.VariableSynchronization.ON_READ)
    assert on_read in layer.non_trainable_weights
    with pytest.raises(ValueError, match="ON_READ only for non-trainable"):
        layer.add_weight("x", (), synchronization=tf.VariableSynchronization.ON_READ, trainable=True)
    with pytest.raises(TypeError, match="Unknown keyword argument"):
        layer.add_weight("x", (), surprise=1)
    with pytest.raises(ValueError, match="An initializer for variable s of type"):
        layer.add_weight("s", (), dtype=tf.string)
    with pytest.raises(TypeError, match="Keyword argument not understood:', 'foo'"):
        L.Dense(2, foo=1)
    with pytest.raises(ValueError, match=r"You tried to call `count_params` on dense\w*, but the layer isn't built"):
        L.Dense(2).count_params()


def test_losses_of_variables_and_of_outputs() -> None:
    inputs = L.Input((3,))
    layer = L.Dense(2, activity_regularizer="l2", kernel_regularizer="l2", kernel_initializer="ones")
    layer(inputs)
    activity, kernel = sorted(layer.losses, key=lambda loss: loss.name)
    assert (activity.name, kernel.name.rpartition("/")[0]) == (
        "dense/ActivityRegularizer/truediv:0",
        "dense/kernel/Regularizer",
    )
    assert layer.losses == [activity, kernel]  # what calls gave comes first
    assert layer.losses[1] is kernel  # its nodes are made once
    assert layer.get_losses_for(inputs) == [activity]
    assert layer.get_losses_for(None) == [kernel]
    values = K.get_session().run([activity, kernel], {inputs: np.full((2, 3), 2.0)})
    np.testing.assert_allclose(values, [0.01 * 2 * 36, 0.06], rtol=1e-6)


class Counter(L.Layer):
    def build(self, input_shape: Any) -> None:
        self.count = self.add_weight("count", (), initializer="zeros", trainable=False)

    def call(self, inputs: Any) -> Any:
        self.add_update(self.count.assign_add(tf.reduce_sum(inputs)), inputs=inputs)
        self.add_update(self.count.assign_add(100.0))
        return inputs * 1.0


def test_updates_are_kept_by_what_they_depend_on() -> None:
    inputs, others = L.Input((2,)), L.Input((2,))
    layer = Counter()
    layer(inputs)
    layer(others)
    assert len(layer.updates) == 4
    on_inputs, on_others = layer.get_updates_for(inputs), layer.get_updates_for(others)
    assert len(on_inputs) == len(on_others) == 1 and on_inputs != on_others
    assert len(layer.get_updates_for(None)) == 2
    model = tf.keras.Model(inputs, layer.get_output_at(0))
    assert model.updates == layer.updates  # as in 1.15.0, which leaves to `get_updates_for` what they depend on
    session = K.get_session()
    session.run(on_inputs, {inputs: np.ones((3, 2))})
    assert session.run(layer.count) == 6
    layer.trainable = False
    assert layer.updates == []
    layer(inputs)
    layer.trainable = True
    assert len(layer.updates) == 4


class Told(L.Layer):
    """Says what it was told."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[Any] = []

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        self.told.append((training, mask))
        return inputs * 1.0


class Around(L.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Told()

    def call(self, inputs: Any, training: Any = None) -> Any:
        assert current_call() is not None
        return self.inner(inputs)


def test_training_goes_inwards_and_masks_along() -> None:
    inputs = L.Input((2, 3))
    masked = L.Masking()(inputs)
    around = Around()
    for training in (True, None, False):
        around(masked, training=training)
    assert [training for training, _ in around.inner.told] == [True, None, False]
    layer = Told()
    layer(masked)
    assert layer.told[-1][1] is masked._keras_mask
    layer(masked, mask=None)
    assert layer.told[-1][1] is None
    assert layer(masked, True)._keras_history.node_index == 2
    assert layer._inbound_nodes[-1].arguments == {"training": True}
    assert not hasattr(layer(inputs), "_keras_mask")
    assert current_call() is None


def test_a_layer_that_hands_its_input_through_has_an_output_of_its_own() -> None:
    inputs = L.Input((3,))
    assert L.Activation("linear")(inputs).name == "activation/activation/Identity:0"


def test_calls_by_number() -> None:
    a, b = L.Input((3,)), L.Input((3,))
    layer = L.Dense(2)
    for read, message in [
        (lambda: layer.input, "Layer dense is not connected, no input to return."),
        (lambda: layer.output, "Layer dense has no inbound nodes."),
        (lambda: layer.input_shape, "The layer has never been called and thus has no defined input shape"),
    ]:
        with pytest.raises(AttributeError, match=message):
            read()
    with pytest.raises(RuntimeError, match=r"The layer has never been called and thus has no defined input\."):
        layer.get_input_at(0)
    first, second = layer(a), layer(b)
    assert (layer.get_input_at(1), layer.get_output_at(1)) == (b, second)
    assert (layer.input, layer.output, layer.input_shape, layer.output_shape) == (a, first, (None, 3), (None, 2))
    assert layer.get_output_shape_at(1) == (None, 2)
    with pytest.raises(ValueError, match=r"Asked to get input at node 2, but the layer has only 2 inbound nodes\."):
        layer.get_input_at(2)
    node = layer.inbound_nodes[1]
    assert (node.inbound_layers.name, node.node_indices, node.tensor_indices) == ("input_2", [0], [0])
    assert node.get_config()["outbound_layer"] == "dense"


class WithArgument(L.Layer):
    def __init__(self, size: int, **kwargs: Any):
        super().__init__(**kwargs)


class WithOthers(L.Layer):
    def __init__(self, **others: Any):
        super().__init__(**others)


def test_configs() -> None:
    assert WithOthers(name="a").get_config() == {"name": "a", "trainable": True, "dtype": None}
    assert L.Layer(name="a", input_shape=(3,)).get_config() == {
        "name": "a",
        "trainable": True,
        "batch_input_shape": (None, 3),
        "dtype": None,
    }
    assert L.Layer.from_config({"name": "b", "trainable": False, "dtype": "float64"}).dtype == "float64"
    with pytest.raises(NotImplementedError, match=r"Layers with arguments in `__init__` must override `get_config`\."):
        WithArgument(2).get_config()
    with pytest.raises(NotImplementedError, match="does not say what shape its output has"):
        Mine().compute_output_shape((None, 3))


def test_inputs() -> None:
    fixed = L.Input((3,), batch_size=4, dtype="int32")
    assert (fixed.name, fixed.shape.as_list(), fixed.dtype) == ("input_1:0", [4, 3], tf.int32)
    given = L.Input(tensor=tf.ones((2, 3)))
    assert given._keras_history.layer.get_config() == {
        "batch_input_shape": (2, 3),
        "dtype": "float32",
        "sparse": False,
        "ragged": False,
        "name": "input_2",
    }
    sparse = L.Input((3,), sparse=True)
    assert isinstance(sparse, tf.SparseTensor) and sparse._keras_history.layer.name == "input_3"
    with pytest.raises(ValueError, match="Please provide to Input either a `shape` or a `tensor` argument"):
        L.Input()
    with pytest.raises(ValueError, match="Only provide the `shape` OR `batch_input_shape` argument to Input"):
        L.Input((3,), batch_shape=(2, 3))
    with pytest.raises(ValueError, match="Cannot set both sparse and ragged"):
        L.Input((3,), sparse=True, ragged=True)


def test_dynamic_layers_only_promise_shapes_in_a_graph() -> None:
    class Dynamic(L.Layer):
        def call(self, inputs: Any) -> Any:
            raise AssertionError("not in a graph")

        def compute_output_shape(self, input_shape: Any) -> Any:
            return tf.TensorShape([input_shape[0], 7])

    layer = Dynamic(dynamic=True)
    assert layer(L.Input((3,))).shape.as_list() == [None, 7]
    assert layer.get_config()["dynamic"] and layer.dynamic


def test_at_once_and_in_functions() -> None:
    with eager_mode():
        layer = Mine()
        value = layer(np.ones((2, 3), np.float32))
        assert value.numpy().shape == (2, 1)
        assert names(layer.weights)[1:3] == ["mine/w:0", "mine/dense/kernel:0"]
        assert len(layer.losses) == 1
        layer(tf.ones((2, 3)))
        assert len(layer.losses) == 1  # those of the last call
        assert layer.compute_output_shape((None, 3)).as_list() == [None, 1]
        traced = tf.function(lambda x: layer(x))
        np.testing.assert_allclose(traced(tf.ones((2, 3))).numpy(), value.numpy(), rtol=1e-6)
        fresh = L.Dense(2)
        assert tf.function(lambda x: fresh(x))(tf.ones((2, 3))).numpy().shape == (2, 2)
        counter = Counter()
        counter(tf.ones((2, 2)))
        assert counter.count.numpy() == 104 and counter.updates == []


def test_control_flow_of_calls_is_converted() -> None:
    class Branching(L.Layer):
        def call(self, inputs: Any) -> Any:
            if tf.reduce_sum(inputs) > 0:
                result = inputs * 2.0
            else:
                result = inputs - 1.0
            return result

    found = K.get_session().run([Branching()(tf.ones(3)), Branching()(-tf.ones(3))])
    np.testing.assert_array_equal(found, [[2, 2, 2], [-2, -2, -2]])


def test_an_input_spec_is_made_again_of_its_config() -> None:
    config = tf.keras.layers.InputSpec(shape=(1, 2)).get_config()
    assert config == {"dtype": None, "shape": (1, 2), "ndim": 2, "max_ndim": None, "min_ndim": None, "axes": {}}
    assert tf.keras.layers.InputSpec.from_config(config).get_config() == config


def test_input_specs_and_signatures() -> None:
    layer = L.Dense(3)
    layer.input_spec = [None, L.InputSpec(ndim=2)]
    with pytest.raises(TypeError, match="must be an instance of InputSpec"):
        layer.input_spec = 3
    signature = L.Dense(3).compute_output_signature(tf.TensorSpec((None, 5), tf.float32))
    assert (signature.shape.as_list(), signature.dtype) == ([None, 3], tf.float32)
    assert L.Flatten().compute_output_signature(tf.TensorSpec((2, 5), tf.int32)).dtype == tf.int32
    with pytest.raises(TypeError, match="Only TensorSpec signature types are supported"):
        L.Dense(3).compute_output_signature((2, 3))


def test_a_loss_outside_of_a_call_is_no_value() -> None:
    with eager_mode():
        layer = L.Layer()
        with pytest.raises(ValueError, match="Expected a symbolic Tensors or a callable"):
            layer.add_loss(tf.constant(1.0))
        layer.add_loss(lambda: tf.constant(1.0))
        assert [loss.numpy() for loss in layer.losses] == [1.0]


def test_variables_in_attributes_are_initialized_with_the_layers_own() -> None:
    layer = L.Layer()
    layer.factor = tf.Variable(2.0)
    given = tf.keras.Input((3,))
    model = tf.keras.Model(given, L.Lambda(lambda x: x * layer.factor)(given))
    np.testing.assert_array_equal(model.predict(np.ones((1, 3))), [[2, 2, 2]])


def test_eagerly_losses_of_symbolic_calls_are_there_until_a_call_has_values() -> None:
    class Summed(L.Layer):
        def call(self, inputs: Any) -> Any:
            self.add_loss(tf.reduce_sum(inputs))
            return inputs

    with eager_mode():
        inputs = L.Input((3,))
        model = tf.keras.Model(inputs, Summed()(inputs))
        (symbolic,) = model.losses
        assert symbolic.graph is K.get_graph() and model.losses_of_last_call == []
        model(tf.ones((2, 3)))
        assert [loss.numpy() for loss in model.losses] == [6.0]


def test_python_that_needs_a_value_says_how_to_be_dynamic() -> None:
    class Loops(L.Layer):
        def call(self, inputs: Any) -> Any:
            return list(inputs)

    with pytest.raises(TypeError, match="attempting to use Python control flow"):
        Loops()(L.Input((3,)))
