"""Mixed precision: policies, variables that read as halves, optimizers that scale the loss."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.keras import backend as K
from tfexp.keras import layers as L
from tfexp.runtime.eager import eager_mode

mixed = tf.keras.mixed_precision.experimental


@pytest.fixture(autouse=True)
def anew() -> Iterator[None]:
    K.clear_session()
    yield
    mixed.set_policy(None)
    K.clear_session()


def _halves(loss_scale: Any = None) -> Any:
    return mixed.Policy("mixed_float16", loss_scale=loss_scale)


@pytest.mark.parametrize(
    ("name", "compute", "variable"),
    [
        ("float32", "float32", "float32"),
        ("mixed_float16", "float16", "float32"),
        ("mixed_bfloat16", "bfloat16", "float32"),
        ("float16_with_float32_vars", "float16", "float32"),
        ("infer", None, None),
        ("infer_with_float32_vars", None, "float32"),
    ],
)
def test_a_policy_says_two_types(name: str, compute: str | None, variable: str | None) -> None:
    policy = mixed.Policy(name)
    assert (policy.name, policy.compute_dtype, policy.variable_dtype) == (name, compute, variable)
    again = mixed.Policy.from_config(policy.get_config())
    assert (again.name, repr(again)) == (name, f'<Policy "{name}">')


def test_the_global_policy_is_that_of_new_layers() -> None:
    assert mixed.global_policy().name == "infer"
    mixed.set_policy("mixed_float16")
    assert mixed.global_policy().name == "mixed_float16"
    assert isinstance(mixed.global_policy().loss_scale, tf.train.experimental.DynamicLossScale)
    layer = L.Dense(2)
    inputs = L.Input((3,))
    outputs = layer(inputs)
    assert (inputs.dtype, outputs.dtype, layer.kernel.dtype, layer.dtype) == (tf.float32, tf.float16, tf.float32, "float32")
    assert layer.get_weights()[0].dtype == np.float32
    assert L.Activation("relu", dtype="float16")(outputs).dtype == tf.float16
    for name, error in (("halves", ValueError), (3, TypeError), (tf.float16, TypeError)):
        with pytest.raises(error):
            mixed.Policy(name)


class Reading(L.Layer):
    def build(self, input_shape: Any) -> None:
        self.w = self.add_weight("w", (3,), initializer="ones")
        self.own = self.add_weight("own", (3,), initializer="ones", experimental_autocast=False)
        self.count = self.add_weight("count", (), dtype="int32", initializer="zeros")

    def call(self, inputs: Any) -> Any:
        self.seen = inputs.dtype, self.w.dtype, self.own.dtype, self.count.dtype, (self.w * 2).dtype, self.own.value().dtype
        return inputs * self.w


@pytest.mark.parametrize("eagerly", [False, True])
def test_variables_read_as_halves_inside_calls_alone(eagerly: bool) -> None:
    with eager_mode() if eagerly else tf.Graph().as_default():
        layer = Reading(dtype=_halves())
        assert layer(tf.ones([2, 3])).dtype == tf.float16
        half, single = tf.float16, tf.float32
        assert layer.seen == (half, half, single, tf.int32, half, single)
        assert (layer.w.dtype, (layer.w * 2).dtype) == (single, single)
        assert layer.weights[0] is layer.w


@pytest.mark.parametrize(
    "make",
    [
        lambda: L.Conv2D(2, 2),
        lambda: L.BatchNormalization(),
        lambda: L.TimeDistributed(L.LSTM(2)),
        lambda: L.Lambda(lambda x: x * 2),
        lambda: L.Dropout(0.5),
        lambda: L.TimeDistributed(L.LayerNormalization()),
    ],
)
def test_layers_compute_in_halves(make: Any) -> None:
    values = np.random.RandomState(1).rand(2, 3, 4, 2).astype(np.float32)
    inputs = L.Input((3, 4, 2))
    layer = make()
    plain = layer(inputs)
    expected = K.get_session().run(plain, {inputs: values})
    mixed.set_policy(_halves())
    half = make()
    outputs = half(inputs)
    half.set_weights(layer.get_weights())
    assert outputs.dtype == tf.float16
    np.testing.assert_allclose(K.get_session().run(outputs, {inputs: values}), expected, atol=2e-2)


def test_a_model_learns_and_comes_back(tmp_path: Any) -> None:
    mixed.set_policy(_halves(loss_scale=128))
    model = tf.keras.Sequential([L.Dense(8, activation="relu", input_shape=(4,)), L.Dense(1, dtype="float32")])
    model.compile(tf.keras.optimizers.SGD(0.1), "mse")
    assert isinstance(model.optimizer, mixed.LossScaleOptimizer)
    assert {variable.dtype for variable in model.weights} == {tf.float32}
    random = np.random.RandomState(0)
    x = random.rand(32, 4).astype(np.float32)
    history = model.fit(x, x.sum(axis=1, keepdims=True), epochs=20, batch_size=8, verbose=0).history["loss"]
    assert history[-1] < 0.1 * history[0]
    model.save(str(tmp_path / "m.h5"))
    again = tf.keras.models.load_model(str(tmp_path / "m.h5"))
    assert again.layers[0].get_config()["dtype"] == {
        "class_name": "Policy",
        "config": {"name": "mixed_float16", "loss_scale": 128},
    }
    np.testing.assert_array_equal(again.predict(x), model.predict(x))
    assert K.get_value(again.optimizer.iterations) == 80


def test_the_scale_of_the_loss_changes_no_step_but_one_that_overflows() -> None:
    weight = K.variable(2.0)
    optimizer = mixed.LossScaleOptimizer(
        tf.keras.optimizers.SGD(0.5, momentum=0.1), tf.train.experimental.DynamicLossScale(8.0, increment_period=2)
    )
    factor = K.placeholder(shape=())
    step = K.function([factor], [], updates=optimizer.get_updates(factor * weight, [weight]))
    for value in (1.0, np.inf, 1.0, 1.0):
        step([value])
    np.testing.assert_allclose(K.get_value(weight), 2.0 - 0.5 - 0.55 - 0.555, rtol=1e-6)
    assert [K.get_value(one) for one in optimizer.loss_scale.weights] == [8.0, 0]  # halved, then doubled
    assert K.get_value(optimizer.iterations) == 3
    optimizer.lr = 0.25
    assert K.get_value(optimizer.learning_rate) == 0.25
    again = tf.keras.optimizers.deserialize(tf.keras.optimizers.serialize(optimizer))
    assert again.get_config() == optimizer.get_config()


def test_what_an_optimizer_with_a_loss_scale_refuses() -> None:
    with pytest.raises(ValueError, match="does not support wrapping optimizers with a clipnorm"):
        mixed.LossScaleOptimizer(tf.keras.optimizers.SGD(clipnorm=1.0), 8)
    with pytest.raises(ValueError, match=r"must be an instance of tf\.keras\.optimizers\.Optimizer"):
        mixed.LossScaleOptimizer("sgd", 8)


def test_steps_of_a_tape() -> None:
    with eager_mode():
        layer = L.Dense(1, kernel_initializer="ones", dtype=_halves())
        optimizer = mixed.LossScaleOptimizer(tf.keras.optimizers.SGD(1.0), 64)
        with tf.GradientTape() as tape:
            loss = optimizer.get_scaled_loss(tf.reduce_sum(tf.cast(layer(tf.ones([1, 2])), tf.float32)))
        scaled = tape.gradient(loss, layer.trainable_weights)
        assert [grad.dtype for grad in scaled] == [tf.float32, tf.float32]
        optimizer.apply_gradients(zip(optimizer.get_unscaled_gradients(scaled), layer.trainable_weights, strict=True))
        np.testing.assert_array_equal(layer.get_weights()[0], [[0.0], [0.0]])
