"""Cells of several dimensions: their variables, and values that TensorFlow 1.15 gives."""

import numpy as np
import pytest

import tfexp as tf

grid = tf.contrib.grid_rnn
nest = tf.contrib.framework.nest


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def step(cell):
    """The flat values that come out of a step from states of 0.1, all weights being 0.3."""
    with tf.variable_scope("root", initializer=tf.constant_initializer(0.3)):
        inputs = tf.constant(np.linspace(-1, 1, 6).reshape(2, 3), tf.float32)
        found = cell(inputs, nest.map_structure(lambda size: tf.fill([2, size], 0.1), cell.state_size))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return nest.flatten(session.run(found))


def variables():
    return [(v.op.name.removeprefix("root/"), v.shape.as_list()) for v in tf.trainable_variables()]


@pytest.mark.parametrize(
    ("make", "size", "outputs"),
    [
        (lambda: grid.Grid1BasicRNNCell(2), (2,), [-0.31312, 0.31312]),
        (lambda: grid.Grid1BasicLSTMCell(2), ((2, 2),), [-0.19042, 0.31503]),
        (lambda: grid.Grid1LSTMCell(2), ((2, 2),), [-0.19042, 0.31503]),
        (lambda: grid.Grid2BasicRNNCell(2), (2, 2), [-0.4453, 0.49579]),
        (lambda: grid.Grid2BasicLSTMCell(2), ((2, 2),) * 2, [-0.18982, 0.35776]),
        (lambda: grid.Grid2LSTMCell(2, tied=True), ((2, 2),) * 2, [-0.18982, 0.35776]),
        (lambda: grid.Grid2LSTMCell(2, use_peepholes=True), ((2, 2),) * 2, [-0.16469, 0.40103]),
        (lambda: grid.Grid2LSTMCell(2, non_recurrent_fn=tf.tanh), ((2, 2),), [-0.32353, 0.40302]),
        (lambda: grid.Grid2GRUCell(2), (2, 2), [-0.12352, 0.19545]),
        (lambda: grid.Grid3LSTMCell(2), ((2, 2),) * 3, [-0.18982, 0.4116]),
    ],
)
def test_values_are_those_of_tensorflow(make, size, outputs):
    cell = make()
    assert cell.output_size == (2,) and cell.state_size == size
    np.testing.assert_allclose(step(cell)[0], np.repeat(outputs, 2).reshape(2, 2), atol=2e-5)


def test_each_dimension_has_its_cell_and_input_its_projections():
    step(grid.Grid2LSTMCell(2))
    scope = "Grid2LSTMCell"
    assert variables() == [
        (f"{scope}/project_m_0", [3, 2]),
        (f"{scope}/project_c_0", [3, 2]),
        (f"{scope}/recurrent/cell_1/lstm_cell/kernel", [4, 8]),
        (f"{scope}/recurrent/cell_1/lstm_cell/bias", [8]),
        (f"{scope}/recurrent/cell_0/lstm_cell/kernel", [4, 8]),
        (f"{scope}/recurrent/cell_0/lstm_cell/bias", [8]),
    ]


def test_tied_dimensions_share_their_weights():
    step(grid.Grid3LSTMCell(2, tied=True, non_recurrent_fn=tf.tanh))
    assert variables()[2:] == [
        ("Grid3LSTMCell/recurrent/lstm_cell/kernel", [6, 8]),
        ("Grid3LSTMCell/recurrent/lstm_cell/bias", [8]),
        ("Grid3LSTMCell/non_recurrent/fully_connected/weights", [6, 2]),
        ("Grid3LSTMCell/non_recurrent/fully_connected/biases", [2]),
    ]


def test_states_and_outputs_in_one_piece():
    joined = grid.Grid2LSTMCell(2, state_is_tuple=False, output_is_tuple=False)
    assert (joined.output_size, joined.state_size) == (2, 8)
    output, state = step(joined)
    with tf.variable_scope("other"):
        apart = step(grid.Grid2LSTMCell(2))
    np.testing.assert_allclose(output, apart[0])
    np.testing.assert_allclose(state, np.concatenate(apart[1:], 1))


def test_a_grid_unrolls():
    outputs, _ = tf.nn.dynamic_rnn(grid.Grid2LSTMCell(2), tf.ones([2, 5, 3]), dtype=tf.float32)
    assert outputs[0].shape == [2, 5, 2]


def test_what_a_grid_refuses():
    with pytest.raises(ValueError, match=r"Invalid dims: \[3\]. Must be in \[0, 2\)"):
        grid.GridRNNCell(2, 2, input_dims=[3])
    with pytest.raises(ValueError, match="dims must be >= 1: 0"):
        grid.GridRNNCell(2, 0)
    with pytest.raises(TypeError, match="cell_fn must return an RNNCell"):
        grid.GridRNNCell(2, cell_fn=lambda units: units)
    with pytest.raises(ValueError, match="state as a tuple of 2"):
        grid.Grid2GRUCell(2)(tf.ones([2, 3]), (tf.ones([2, 2]),))
