"""Cells of Keras around others: `tf.compat.v2.nn.RNNCell…Wrapper`."""

import numpy as np
import pytest

import tfexp as tf

nn, L = tf.compat.v2.nn, tf.keras.layers


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session().as_default() as session:
        yield session


def test_the_inputs_are_added_in_layers_and_by_hand(session):
    cell = nn.RNNCellResidualWrapper(L.GRUCell(3, kernel_initializer="zeros", recurrent_initializer="zeros"))
    assert (cell.state_size, cell.output_size, cell.wrapped_cell) == (3, 3, cell.cell)
    output, states = cell(tf.ones((2, 3)), [tf.zeros((2, 3))])
    assert len(states) == 1 and cell.weights[0].name == "residual_wrapper/kernel:0" and cell.cell.built
    outputs = L.RNN(cell)(tf.ones((2, 5, 3)))
    session.run(tf.global_variables_initializer())
    for value in session.run([output, outputs]):
        np.testing.assert_array_equal(value, np.ones((2, 3)))


def test_states_and_outputs_are_dropped(session):
    cell = nn.RNNCellDropoutWrapper(L.LSTMCell(3, unit_forget_bias=True), output_keep_prob=1e-7, state_keep_prob=1e-7)
    output, states = cell(tf.ones((2, 3)), [tf.ones((2, 3))] * 2)
    session.run(tf.global_variables_initializer())
    for value in session.run([output, *states]):
        np.testing.assert_array_equal(value, np.zeros((2, 3)))


def test_a_device_is_entered():
    output, _ = nn.RNNCellDeviceWrapper(L.GRUCell(3), "/cpu:0")(tf.ones((2, 3)), [tf.zeros((2, 3))])
    assert output.device == "/device:CPU:0"


def test_they_are_made_anew_with_their_cells():
    for wrapper in (
        nn.RNNCellResidualWrapper(L.GRUCell(3), residual_fn=lambda inputs, outputs: inputs - outputs),
        nn.RNNCellDropoutWrapper(L.LSTMCell(3), input_keep_prob=0.5, seed=5),
        nn.RNNCellDeviceWrapper(L.SimpleRNNCell(3), "/cpu:0"),
    ):
        config = wrapper.get_config()
        again = type(wrapper).from_config(config).get_config()
        assert again.keys() == config.keys() and again["cell"] == config["cell"] and again["name"] == config["name"]
    with pytest.raises(TypeError, match="not an RNNCell"):
        nn.RNNCellDropoutWrapper(3)
