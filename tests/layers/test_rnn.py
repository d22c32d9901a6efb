"""Recurrent networks: what they refuse, and values against NumPy. Their graphs: tests/golden/programs/rnn.py."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.graph.defaults import new_eager_world

rnn = tf.nn.rnn_cell


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def test_lstm_over_time_is_numpys():
    x = np.random.RandomState(0).uniform(-1, 1, (2, 5, 3)).astype(np.float32)
    cell = rnn.BasicLSTMCell(4)
    outputs, (c, h) = tf.nn.dynamic_rnn(cell, tf.constant(x), dtype=tf.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        (kernel, bias), found, found_c, found_h = session.run((cell.trainable_variables, outputs, c, h))
    memory = output = np.zeros((2, 4), np.float32)
    for time in range(5):
        gates = np.concatenate([x[:, time], output], 1) @ kernel + bias
        i, j, f, o = np.split(gates, 4, axis=1)
        memory = memory * sigmoid(f + 1) + sigmoid(i) * np.tanh(j)
        output = np.tanh(memory) * sigmoid(o)
        np.testing.assert_allclose(found[:, time], output, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found_c, memory, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found_h, output, rtol=1e-4, atol=1e-6)


def test_gradient_through_time_is_numeric():
    x = np.random.RandomState(0).uniform(-1, 1, (2, 3, 2))
    placed = tf.placeholder(tf.float64, [2, None, 2])
    outputs, _ = tf.nn.dynamic_rnn(rnn.GRUCell(3), placed, [3, 2], dtype=tf.float64)
    loss = tf.reduce_sum(outputs**2)
    grad = tf.gradients(loss, placed)[0]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = session.run(grad, {placed: x})
        for where in np.ndindex(*x.shape):
            step = np.zeros_like(x)
            step[where] = 1e-5
            above, below = (session.run(loss, {placed: x + sign * step}) for sign in (1, -1))
            assert found[where] == pytest.approx((above - below) / 2e-5, abs=1e-7)


def test_a_wrong_number_of_lengths_fails_at_run_time():
    lengths = tf.placeholder(tf.int32, [None])
    outputs, _ = tf.nn.dynamic_rnn(rnn.GRUCell(3), tf.zeros([2, 3, 2]), lengths, dtype=tf.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="Expected shape for Tensor"):
            session.run(outputs, {lengths: [1, 2, 3]})


def test_steps_drop_out_differently_unless_held():
    def kept(**options):
        cell = rnn.DropoutWrapper(rnn.BasicRNNCell(50, activation=tf.ones_like), output_keep_prob=0.5, seed=1, **options)
        return tf.nn.dynamic_rnn(cell, tf.zeros([1, 3, 2]), dtype=tf.float32)[0]

    with tf.variable_scope("a"):
        each = kept()
    with tf.variable_scope("b"):
        held = kept(variational_recurrent=True, dtype=tf.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        each, held = session.run([each, held])
    assert {*np.unique(each), *np.unique(held)} == {0.0, 2.0}
    assert (held[:, 0] == held[:, 1]).all() and not (each[:, 0] == each[:, 1]).all()


def sequence():
    return tf.zeros([2, 3, 4])


@pytest.mark.parametrize(
    ("build", "error", "text"),
    [
        (lambda: tf.nn.dynamic_rnn(rnn.GRUCell(3), sequence()), ValueError, "you must give a dtype"),
        (lambda: tf.nn.dynamic_rnn("cell", sequence(), dtype=tf.float32), TypeError, "is not an RNNCell"),
        (
            lambda: tf.nn.dynamic_rnn(rnn.GRUCell(3), sequence(), [[1]], dtype=tf.float32),
            ValueError,
            "sequence_length must be a vector",
        ),
        (
            lambda: tf.nn.dynamic_rnn(rnn.GRUCell(3), tf.placeholder(tf.float32, [2, 3, None]), dtype=tf.float32),
            ValueError,
            "Input size",
        ),
        (lambda: tf.nn.static_rnn(rnn.GRUCell(3), sequence(), dtype=tf.float32), TypeError, "must be a sequence"),
        (lambda: tf.nn.static_rnn(rnn.GRUCell(3), [], dtype=tf.float32), ValueError, "must not be empty"),
        (lambda: rnn.MultiRNNCell([]), ValueError, "at least one cell"),
        (lambda: rnn.MultiRNNCell([rnn.LSTMCell(3)], state_is_tuple=False), ValueError, "tuples of states"),
        (lambda: rnn.DropoutWrapper(rnn.GRUCell(3), 1.5), ValueError, "input_keep_prob must be between 0 and 1"),
        (
            lambda: rnn.DropoutWrapper(rnn.GRUCell(3), variational_recurrent=True),
            ValueError,
            "dtype must be provided",
        ),
        (lambda: rnn.GRUCell(3)(tf.zeros([2, 3, 4]), tf.zeros([2, 3])), ValueError, "expected ndim=2"),
        (
            lambda: [tf.nn.dynamic_rnn(rnn.GRUCell(3), sequence(), dtype=tf.float32) for _ in range(2)],
            ValueError,
            "already exists",
        ),
    ],
)
def test_what_they_refuse(build, error, text):
    with pytest.raises(error, match=text):
        build()


def test_sequence_loss_of_sure_logits_is_nothing():
    legacy = tf.contrib.legacy_seq2seq
    logits = [tf.constant([[50.0, 0.0], [0.0, 50.0]])] * 2
    targets, weights = [tf.constant([0, 1])] * 2, [tf.ones([2])] * 2
    wrong = [tf.constant([1, 1])] * 2
    with tf.Session() as session:
        assert session.run(legacy.sequence_loss(logits, targets, weights)) == pytest.approx(0, abs=1e-6)
        assert session.run(legacy.sequence_loss_by_example(logits, wrong, weights)).tolist() == [50.0, 0.0]
        assert session.run(legacy.sequence_loss(logits, wrong, weights)) == 25.0
    with pytest.raises(ValueError, match="Lengths of logits"):
        legacy.sequence_loss(logits, targets, weights[:1])


def test_contrib_names_are_those_of_nn():
    assert tf.contrib.rnn.BasicLSTMCell is rnn.BasicLSTMCell
    assert tf.contrib.rnn.static_rnn is tf.nn.static_rnn


def test_cells_are_made_anew_of_their_configurations() -> None:
    with tf.Graph().as_default():
        cells = [
            tf.nn.rnn_cell.BasicRNNCell(3, activation="relu"),
            tf.nn.rnn_cell.GRUCell(3, kernel_initializer=tf.constant_initializer(0.5)),
            tf.nn.rnn_cell.BasicLSTMCell(3, forget_bias=0.0, state_is_tuple=False),
            tf.nn.rnn_cell.LSTMCell(3, use_peepholes=True, num_proj=2, initializer=tf.zeros_initializer()),
        ]
        for cell in cells:
            config = cell.get_config()
            again = type(cell).from_config(config)
            assert again.get_config() == config and again.output_size == cell.output_size
        gated = cells[1].get_config()
    assert (gated["num_units"], gated["activation"], gated["reuse"], gated["bias_initializer"]) == (3, "tanh", None, None)
    assert gated["kernel_initializer"]["class_name"] == "Constant"


def test_wrappers_are_made_anew_around_a_cell() -> None:
    cells = tf.nn.rnn_cell
    with tf.Graph().as_default():
        cell = cells.GRUCell(3)
        wrappers = [
            cells.DropoutWrapper(cell, input_keep_prob=0.5, output_keep_prob=0.25, seed=3),
            cells.ResidualWrapper(cell),
            cells.DeviceWrapper(cell, "/cpu:0"),
        ]
        for wrapper in wrappers:
            config = wrapper.get_config()
            assert config["cell"] == {"class_name": "GRUCell", "config": cell.get_config()}
            with pytest.raises(ValueError, match="cannot reconstruct the wrapped cell"):
                type(wrapper).from_config(config)
            assert type(wrapper).from_config({**config, "cell": cell}).get_config() == config


def test_functions_of_wrappers_are_in_their_configurations() -> None:
    cells = tf.nn.rnn_cell
    with tf.Graph().as_default():
        cell, x = cells.GRUCell(3), tf.ones((2, 3))
        config = cells.ResidualWrapper(cell, residual_fn=lambda inputs, outputs: outputs * 0 + inputs * 5).get_config()
        assert config["residual_fn_type"] == "lambda" and config["residule_fn_module"] == __name__
        again = cells.ResidualWrapper.from_config({**config, "cell": cell})
        config = cells.DropoutWrapper(cell, 0.5, dropout_state_filter_visitor=lambda state: False).get_config()
        filtering = cells.DropoutWrapper.from_config({**config, "cell": cell})
        assert filtering.get_config().keys() == config.keys() and config["dropout_fn_type"] == "lambda"
        output, _ = again(x, tf.zeros((2, 3)))
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            np.testing.assert_array_equal(sess.run(output), np.full((2, 3), 5.0))


@pytest.mark.parametrize("cell", [tf.nn.rnn_cell.GRUCell, tf.nn.rnn_cell.LSTMCell, tf.contrib.rnn.SRUCell])
def test_a_cell_that_is_built_before_it_is_called_takes_the_type_of_its_weights(cell):
    with tf.Graph().as_default():
        made = cell(3)
        assert isinstance(made, tf.contrib.rnn.LayerRNNCell) and made.dtype is None
        made.build(tf.TensorShape([None, 5]))
        assert made.dtype == "float32" and {weight.dtype.base_dtype for weight in made.weights} == {tf.float32}


def test_stacked_cells_have_the_configuration_of_a_layer():
    with tf.Graph().as_default():
        stacked = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(3), tf.nn.rnn_cell.GRUCell(2)])
        assert stacked.get_config() == {"name": "multi_rnn_cell", "trainable": True, "dtype": None}


def test_states_are_asked_for_with_the_size_of_their_inputs():
    cell, inputs = rnn.BasicRNNCell(5), tf.placeholder(tf.float32, [None, 4, 1])
    for size in (50, tf.constant(50)):
        with pytest.raises(ValueError, match="batch size from input tensor is different"):
            cell.get_initial_state(inputs, size)
    assert cell.get_initial_state(inputs, tf.placeholder(tf.int32, [])).shape.as_list() == [None, 5]


def test_sequence_lengths_in_eager_execution():
    with new_eager_world().as_default():
        outputs, _ = tf.nn.dynamic_rnn(rnn.BasicRNNCell(2), tf.ones([2, 3, 1]), [1, 2], dtype=tf.float32)
        assert [[bool(step.any()) for step in row] for row in outputs.numpy()] == [[True, False, False], [True, True, False]]
