"""Convolutional cells of one's own in `ConvRNN2D`, as programs derive them. The numbers are TensorFlow 1.15's."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.stand_ins.modules import stand_for

convolutional = stand_for("tensorflow.python.keras.layers.convolutional_recurrent")


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        tf.keras.backend.set_session(session)
        yield session
        tf.keras.backend.set_session(None)


class Cell(tf.keras.layers.Layer):
    """The sum of two convolutions, with a state (or two) that is what it gives."""

    kernel_size, dilation_rate, data_format = (3, 3), (1, 1), "channels_last"

    def __init__(self, filters, strides=(1, 1), padding="valid", states=1):
        super().__init__()
        self.filters, self.strides, self.padding = filters, strides, padding
        self.state_size = (filters,) * states if states > 1 else filters

    def build(self, input_shape):
        self.kernel_shape = (3, 3, int(input_shape[-1]), self.filters)
        self.kernel = self.add_weight("kernel", shape=self.kernel_shape, initializer="ones")
        self.recurrent = self.add_weight("recurrent", shape=(3, 3, self.filters, self.filters), initializer="ones")
        self.built = True

    def input_conv(self, x, w, b=None, padding="valid"):
        return tf.keras.backend.conv2d(x, w, strides=self.strides, padding=padding)

    def call(self, inputs, states):
        entering = self.input_conv(inputs, self.kernel, padding=self.padding)
        output = 0.01 * entering + 0.02 * tf.keras.backend.conv2d(states[0], self.recurrent, padding="same")
        return output, [output] * len(states)


def example():
    return np.arange(2 * 4 * 7 * 5 * 3, dtype=np.float32).reshape(2, 4, 7, 5, 3) / 100


@pytest.mark.parametrize(
    ("of_cell", "of_layer", "shape", "sums"),
    [
        ({}, {}, (None, 5, 3, 2), [116.508]),
        ({"padding": "same", "strides": (2, 2)}, {"return_sequences": True}, (None, 4, 4, 3, 2), [168.0324]),
        ({"states": 2}, {"return_state": True, "go_backwards": True}, (None, 5, 3, 2), [63.2778] * 3),
    ],
)
@pytest.mark.parametrize("known", [True, False])
def test_a_cell_over_images(of_cell, of_layer, shape, sums, known):
    layer = convolutional.ConvRNN2D(Cell(2, **of_cell), **of_layer)
    dims = (None, 4, 7, 5, 3)
    outputs = layer(tf.keras.Input(batch_shape=dims if known else (None, None, None, None, 3)))
    model = tf.keras.Model(layer.input, outputs)
    found = model.predict(example())
    found = found if isinstance(found, list) else [found]
    np.testing.assert_allclose([array.sum(dtype=np.float64) for array in found], sums, rtol=1e-6)
    declared = layer.compute_output_shape(dims)
    assert (declared[0] if isinstance(declared, list) else declared).as_list() == list(shape)
    assert {array.shape[-3:] for array in found} == {shape[-3:]}


def test_a_state_between_batches():
    layer = convolutional.ConvRNN2D(Cell(2), stateful=True)
    model = tf.keras.Sequential([tf.keras.layers.InputLayer(batch_input_shape=(2, 4, 7, 5, 3)), layer])
    first, second = model.predict(example()).sum(), model.predict(example()).sum()
    np.testing.assert_allclose([first, second], [116.508, 117.0267], rtol=1e-6)
    layer.reset_states()
    np.testing.assert_allclose(model.predict(example()).sum(), first, rtol=1e-6)
    with pytest.raises(ValueError, match=r"expected shape=\(2, 5, 3, 2\)"):
        layer.reset_states(np.ones(3))


def test_what_it_refuses():
    with pytest.raises(TypeError, match="cells cannot be stacked"):
        convolutional.ConvRNN2D([Cell(2), Cell(3)])
    with pytest.raises(TypeError, match="Unrolling"):
        convolutional.ConvRNN2D(Cell(2), unroll=True)


def test_the_cell_of_conv_lstm(session):
    cell = convolutional.ConvLSTM2DCell(2, 3, (1, 1), "same", activation="relu")
    output, states = cell(tf.ones([2, 5, 5, 3]), [tf.ones([2, 5, 5, 2])] * 2)
    assert [one.shape.as_list() for one in (output, *states)] == [[2, 5, 5, 2]] * 3
    assert cell.state_size == (2, 2)
    assert cell.kernel_shape == (3, 3, 3, 8)
    again = convolutional.ConvLSTM2DCell.from_config(cell.get_config())
    assert again.get_config() == cell.get_config()
    assert "units" not in cell.get_config()
    sums = cell.input_conv(tf.ones([1, 3, 3, 3]), tf.ones([3, 3, 3, 2]), tf.constant([1.0, 2.0]))
    kept = cell.recurrent_conv(tf.ones([1, 3, 3, 2]), tf.ones([3, 3, 2, 1]))
    assert session.run(sums).ravel().tolist() == [28.0, 29.0]
    assert session.run(kept).ravel().tolist() == [8.0, 12.0, 8.0, 12.0, 18.0, 12.0, 8.0, 12.0, 8.0]


def test_it_takes_the_cell_of_conv_lstm(session):
    x = tf.constant(example())
    layer = convolutional.ConvRNN2D(convolutional.ConvLSTM2DCell(2, 3), return_state=True)
    like = convolutional.ConvLSTM2D(2, 3, return_state=True)
    found, wanted = layer(x), like(x)
    assert isinstance(like, convolutional.ConvRNN2D)
    layer.set_weights(like.get_weights())
    for one, other in zip(*session.run([found, wanted]), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
