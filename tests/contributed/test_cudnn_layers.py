"""cuDNN's networks as layers: against networks of the cells whose weights they are saved as."""

import numpy as np
import pytest

import tfexp as tf

cudnn = tf.contrib.cudnn_rnn
X = np.random.RandomState(1).uniform(-1, 1, (7, 3, 5)).astype(np.float32)
LENGTHS = [7, 2, 4]
KINDS = {
    "CudnnLSTM": lambda: cudnn.CudnnCompatibleLSTMCell(2),
    "CudnnGRU": lambda: cudnn.CudnnCompatibleGRUCell(2),
    "CudnnRNNTanh": lambda: tf.nn.rnn_cell.BasicRNNCell(2),
    "CudnnRNNRelu": lambda: tf.nn.rnn_cell.BasicRNNCell(2, tf.nn.relu),
}


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as one:
        yield one


def of_cells(kind, directions, lengths):
    """(outputs, last states) of cells, named as the layer `net` saves its own."""
    x, cells = tf.constant(X), [[KINDS[kind]() for _ in range(2)] for _ in range(directions)]
    with tf.variable_scope("net"):
        if directions == 1:
            outputs, ends = tf.nn.dynamic_rnn(
                tf.nn.rnn_cell.MultiRNNCell(cells[0]), x, lengths, time_major=True, dtype=tf.float32
            )
        else:
            outputs, forward, backward = tf.contrib.rnn.stack_bidirectional_dynamic_rnn(
                *cells, x, dtype=tf.float32, sequence_length=lengths, time_major=True
            )
            ends = [end for pair in zip(forward, backward, strict=True) for end in pair]
    if kind == "CudnnLSTM":
        ends = [(end.h, end.c) for end in ends]
    else:
        ends = [(end,) for end in ends]
    return outputs, tuple(tf.stack(parts) for parts in zip(*ends, strict=True))


@pytest.mark.parametrize(("directions", "lengths"), [(1, None), (2, LENGTHS)])
@pytest.mark.parametrize("kind", KINDS)
def test_layers_and_cells_read_each_others_checkpoints(kind, directions, lengths, session, tmp_path):
    direction = {1: "unidirectional", 2: "bidirectional"}[directions]
    layer = getattr(cudnn, kind)(2, 2, direction=direction, bias_initializer=tf.random_normal_initializer(), name="net")
    found = layer(X, sequence_lengths=lengths)
    session.run(tf.global_variables_initializer())
    saver = tf.train.Saver([layer.saveable])
    path, expected, flat = saver.save(session, str(tmp_path / "m")), session.run(found), session.run(layer.kernel)
    with tf.Graph().as_default(), tf.Session() as other:
        outputs = of_cells(kind, directions, lengths)
        cells = tf.train.Saver()
        cells.restore(other, path)
        for one, another in zip(tf.nest.flatten(other.run(outputs)), tf.nest.flatten(expected), strict=True):
            np.testing.assert_allclose(one, another, rtol=1e-5, atol=1e-6)
        path = cells.save(other, str(tmp_path / "c"))
    session.run(layer.kernel.initializer)
    saver.restore(session, path)
    np.testing.assert_allclose(session.run(found)[0], expected[0], rtol=1e-5, atol=1e-6)
    count = sum(rows * columns for rows, columns in layer.canonical_weight_shapes)
    np.testing.assert_array_equal(session.run(layer.kernel)[:count], flat[:count])


def test_names_and_shapes_are_those_of_1_15():
    layer = cudnn.CudnnLSTM(2, 5, direction="bidirectional")
    for asked in ("canonical_weight_shapes", "saveable"):
        with pytest.raises(RuntimeError, match=f"{asked} invoked before"):
            getattr(layer, asked)
    with pytest.raises(ValueError, match="'input_size' is unknown"):
        layer.input_size  # noqa: B018 (it raises)
    outputs, states = layer(X)
    assert outputs.shape == [7, 3, 10] and [state.shape.as_list() for state in states] == [[4, 3, 5]] * 2
    assert layer.state_shape(3) == ([4, 3, 5], [4, 3, 5]) and layer.num_dirs == 2 and layer.input_size == 5
    assert [v.op.name for v in tf.trainable_variables()] == ["cudnn_lstm/opaque_kernel"]
    assert layer.canonical_weight_shapes[8:16] == [(5, 5)] * 8 and layer.canonical_weight_shapes[16] == (5, 10)
    assert [spec.name for spec in layer.saveable.specs[:2]] == [
        f"cudnn_lstm/stack_bidirectional_rnn/cell_0/bidirectional_rnn/{way}/cudnn_compatible_lstm_cell/kernel"
        for way in ("fw", "bw")
    ]
    assert tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS) == [layer.saveable]


def test_batches_may_come_first_where_there_are_lengths(session):
    layer = cudnn.CudnnGRU(1, 2)
    start = np.random.RandomState(2).uniform(-1, 1, (1, 3, 2)).astype(np.float32)
    first = layer(X, (tf.constant(start),), sequence_lengths=LENGTHS)
    turned = layer(X.swapaxes(0, 1), (start.swapaxes(0, 1),), sequence_lengths=LENGTHS, time_major=False)
    session.run(tf.global_variables_initializer())
    (outputs, (end,)), (others, (other_end,)) = session.run([first, turned])
    np.testing.assert_allclose(others, outputs.swapaxes(0, 1), atol=1e-6)
    np.testing.assert_allclose(other_end, end.swapaxes(0, 1), atol=1e-6)
    assert not outputs[2:, 1].any() and outputs[1, 1].any()


def test_dropout_is_between_layers_in_training(session):
    layer = cudnn.CudnnRNNTanh(2, 50, dropout=0.9, seed=1)
    plain, trained, again = layer(X, training=False)[0], layer(X)[0], layer(X, training=False)[0]
    session.run(tf.global_variables_initializer())
    plain, trained, again = session.run([plain, trained, again])
    np.testing.assert_array_equal(plain, again)
    assert abs(plain - trained).max() > 0.01


def test_networks_learn(session):
    layer = cudnn.CudnnLSTM(1, 3, direction="bidirectional")
    loss = tf.reduce_mean((layer(X)[0] - 0.5) ** 2)
    step = tf.train.AdamOptimizer(0.1).minimize(loss)
    session.run(tf.global_variables_initializer())
    before = session.run(loss)
    for _ in range(5):
        session.run(step)
    assert session.run(loss) < 0.8 * before


def test_what_is_wrong_is_refused():
    for wrong, message in (
        ({"direction": "x"}, "Invalid direction"),
        ({"input_mode": "y"}, "Invalid input_mode"),
        ({"dtype": tf.int32}, "Only support"),
    ):
        with pytest.raises(ValueError, match=message):
            cudnn.CudnnLSTM(1, 2, **wrong)
    with pytest.raises(ValueError, match="3 dims"):
        cudnn.CudnnLSTM(1, 2)(X[0])
    with pytest.raises(ValueError, match="last dimension"):
        cudnn.CudnnLSTM(1, 2)(tf.placeholder(tf.float32, [3, 2, None]))
    with pytest.raises(TypeError, match="expecting tuple"):
        cudnn.CudnnLSTM(1, 2)(X, tf.zeros([1, 3, 2]))
    with pytest.raises(ValueError, match="has 1 tensors"):
        cudnn.CudnnLSTM(1, 2)(X, (tf.zeros([1, 3, 2]),))
    with pytest.raises(NotImplementedError, match="linear_input"):
        cudnn.CudnnLSTM(1, 5, "auto_select")(X)
