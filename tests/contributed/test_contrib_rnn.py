"""tf.contrib.rnn beyond cells of plain vectors: fused networks, wrappers, cells over places, times and frequencies."""

import numpy as np
import pytest

import tfexp as tf

rnn = tf.contrib.rnn
flatten = tf.contrib.framework.nest.flatten


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(4)
        yield graph


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def drawn(*shape):
    return np.random.RandomState(0).uniform(-1, 1, shape).astype(np.float32)


def run(*fetches, feed=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(list(fetches), feed)


@pytest.mark.parametrize("lengths", [None, [5, 2, 4]])
@pytest.mark.parametrize("in_steps", [False, True])
def test_the_fused_lstm_is_lstm_cell_step_by_step(lengths, in_steps):
    x = tf.constant(drawn(5, 3, 2))
    inputs = tf.unstack(x) if in_steps else x
    with tf.variable_scope("net", initializer=tf.random_uniform_initializer(-1, 1, seed=2)):
        fused = rnn.LSTMBlockFusedCell(7, use_peephole=True)
        outputs, (c, h) = fused(inputs, dtype=tf.float32, sequence_length=lengths)
    assert [v.op.name for v in fused.variables] == [
        f"net/lstm_fused_cell/{name}" for name in ("kernel", "bias", "w_i_diag", "w_f_diag", "w_o_diag")
    ]
    cell = rnn.LSTMCell(7, use_peepholes=True, name="lstm_fused_cell", reuse=True)
    wanted, state = tf.nn.dynamic_rnn(cell, x, lengths, dtype=tf.float32, time_major=True, scope="net")
    assert isinstance(outputs, list) is in_steps
    outputs = tf.stack(outputs) if in_steps else outputs
    pairs = [(outputs, wanted), (c, state.c), (h, state.h)]
    pairs += zip(tf.gradients([outputs, c, h], fused.variables), tf.gradients([wanted, *state], fused.variables))
    assert "net/lstm_fused_cell/BlockLSTM" in {op.name for op in tf.get_default_graph().get_operations()}
    for found, other in zip(run(*[f for f, _ in pairs]), run(*[other for _, other in pairs])):
        np.testing.assert_allclose(found, other, rtol=1e-3, atol=1e-5)


def test_an_initial_state_goes_on_where_another_call_ended():
    x, cell = tf.constant(drawn(6, 3, 2)), rnn.LSTMBlockFusedCell(7)
    whole, (c, h) = cell(x, dtype=tf.float32)
    first, state = cell(x[:4], dtype=tf.float32)
    second, (c2, h2) = cell(x[4:], initial_state=state)
    whole, first, second, c, h, c2, h2 = run(whole, first, second, c, h, c2, h2)
    np.testing.assert_allclose(whole, np.concatenate([first, second]), rtol=1e-5)
    np.testing.assert_allclose([c, h], [c2, h2], rtol=1e-5)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("in_steps", [False, True])
def test_adaptors_and_reversed_networks(dynamic, in_steps):
    x = tf.constant(drawn(4, 3, 2))
    inputs = tf.unstack(x) if in_steps else x
    network = rnn.FusedRNNCellAdaptor(rnn.GRUCell(5), use_dynamic_rnn=dynamic)
    backward = rnn.TimeReversedFusedRNN(network)
    outputs, state = backward(inputs, dtype=tf.float32, sequence_length=[4, 2, 3], scope="net")
    assert isinstance(network, rnn.FusedRNNCell) and isinstance(outputs, list) is in_steps
    again = tf.reverse_sequence(x, [4, 2, 3], 0, 1)
    with tf.variable_scope("net", reuse=True) as scope:
        wanted, end = tf.nn.dynamic_rnn(network._cell, again, [4, 2, 3], dtype=tf.float32, time_major=True, scope=scope)
    wanted = tf.reverse_sequence(wanted, [4, 2, 3], 0, 1)
    found, wanted, state, end = run(tf.stack(outputs) if in_steps else outputs, wanted, state, end)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(state, end, rtol=1e-5)


def test_reversing_without_lengths_turns_all_steps_round():
    x = tf.constant(drawn(4, 3, 2))
    outputs, _ = rnn.TimeReversedFusedRNN(lambda inputs, **_: (inputs, None))(x)
    np.testing.assert_array_equal(*run(outputs, x))


def test_embedding_wrapper_looks_ids_up():
    cell = rnn.EmbeddingWrapper(rnn.BasicRNNCell(5), 11, 3)
    output, _ = cell(tf.constant([[7], [2]]), tf.zeros([2, 5]))
    (table, kernel), output = run([v for v in tf.global_variables() if "bias" not in v.name], output)
    assert tf.global_variables()[0].op.name == "embedding_wrapper/embedding" and np.abs(table).max() <= np.sqrt(3)
    np.testing.assert_allclose(output, np.tanh(table[[7, 2]] @ kernel[:3]), rtol=1e-5)


@pytest.mark.parametrize("couple", [True, False])
def test_highway_wrapper_mixes_inputs_and_outputs(couple):
    x, h = drawn(2, 5), drawn(3, 5)[1:]
    cell = rnn.HighwayWrapper(rnn.BasicRNNCell(5), couple, carry_bias_init=0.5)
    output, state = cell(tf.constant(x), tf.constant(h))
    named = {v.op.name: v for v in tf.global_variables()}
    assert set(named) == {*(v.op.name for v in cell.trainable_variables)} and len(named) == (4 if couple else 6)
    values, output, state = run(named, output, state)
    carry = sigmoid(x @ values["carry_w"] + 0.5)
    passed = 1 - carry if couple else sigmoid(x @ values["transform_w"] - 0.5)
    np.testing.assert_allclose(output, x * carry + state * passed, rtol=1e-5)


def test_attention_state_side_by_side_is_the_tuples():
    inner, x = rnn.BasicRNNCell(5), tf.constant(drawn(2, 3))
    parts = [tf.constant(drawn(2, n)) for n in (5, 4, 12)]
    options = {"attn_length": 3, "attn_size": 4, "attn_vec_size": 6}
    cell, flat = rnn.AttentionCellWrapper(inner, **options), rnn.AttentionCellWrapper(inner, **options, state_is_tuple=False)
    assert flat.state_size == 21 and cell.state_size == (5, 4, 12) and flat.zero_state(2, tf.float32).shape == [2, 21]
    with tf.variable_scope("a") as scope:
        output, state = cell(x, tuple(parts))
    with tf.variable_scope(scope, reuse=True), tf.variable_scope("attention_cell_wrapper") as scope:
        other, joined = flat(x, tf.concat(parts, 1), scope=scope)
    output, state, other, joined = run(output, tf.concat(state, 1), other, joined)
    np.testing.assert_allclose(output, other, rtol=1e-5)
    np.testing.assert_allclose(state, joined, rtol=1e-5)


def test_compiled_wrapper_marks_what_has_no_state():
    cell = rnn.CompiledWrapper(rnn.DropoutWrapper(rnn.GRUCell(5), 0.5))
    cell(tf.zeros([2, 3]), tf.zeros([2, 5]))
    marks = {
        op.type: op.get_attr("_XlaCompile")
        for op in tf.get_default_graph().get_operations()
        if "_XlaCompile" in op.node_def.attr
    }
    assert marks["MatMul"] is True and marks["RandomUniform"] is False
    assert len(cell.trainable_variables) == 4 and cell.state_size == 5


def places(kernel, x, ndims):
    """SAME convolution, strides 1, as a sum over the window."""
    extents = kernel.shape[:ndims]
    padded = np.pad(x, [(0, 0), *(((e - 1) // 2, e // 2) for e in extents), (0, 0)])
    result = 0
    for tap in np.ndindex(*extents):
        window = tuple(slice(t, t + n) for t, n in zip(tap, x.shape[1:-1]))
        result = result + padded[(slice(None), *window)] @ kernel[tap]
    return result


@pytest.mark.parametrize("ndims", [1, 2, 3])
def test_convolutional_lstms(ndims):
    extents, window = (5, 4, 3)[:ndims], (3, 2, 2)[:ndims]
    make = (rnn.Conv1DLSTMCell, rnn.Conv2DLSTMCell, rnn.Conv3DLSTMCell)[ndims - 1]
    cell = make(input_shape=[*extents, 2], output_channels=3, kernel_shape=window, skip_connection=True)
    x, c, h = drawn(2, *extents, 2), drawn(2, *extents, 3), -drawn(2, *extents, 3)
    output, state = cell(tf.constant(x), rnn.LSTMStateTuple(tf.constant(c), tf.constant(h)))
    assert cell.output_size.as_list() == [*extents, 5] and cell.state_size.c.as_list() == [*extents, 3]
    kernel, biases = tf.global_variables()
    assert (kernel.op.name, biases.op.name) == (f"conv_{ndims}d_lstm_cell/kernel", f"conv_{ndims}d_lstm_cell/biases")
    kernel, output, c2, h2 = run(kernel, output, *state)
    i, j, f, o = np.split(places(kernel, np.concatenate([x, h], -1), ndims), 4, -1)
    wanted_c = sigmoid(f + 1) * c + sigmoid(i) * np.tanh(j)
    wanted_h = np.tanh(wanted_c) * sigmoid(o)
    for found, wanted in ((c2, wanted_c), (h2, wanted_h), (output, np.concatenate([wanted_h, x], -1))):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_convolutional_lstms_run_in_loops():
    cell = rnn.ConvLSTMCell(2, [4, 5, 2], 3, [3, 3], use_bias=False, skip_connection=True)
    outputs, state = tf.nn.dynamic_rnn(cell, tf.constant(drawn(2, 3, 4, 5, 2)), dtype=tf.float32)
    assert outputs.shape.as_list() == [2, 3, 4, 5, 5] and state.h.shape.as_list() == [2, 4, 5, 3]
    assert all(g is not None for g in tf.gradients(outputs, tf.trainable_variables()))
    assert np.isfinite(run(outputs)[0]).all()


def test_phased_lstm_is_open_in_the_first_part_of_its_period():
    cell = rnn.PhasedLSTMCell(4, use_peepholes=True, leak=0.1, ratio_on=0.4, trainable_ratio_on=False)
    times, x, c, h = np.float32([[3.0], [71.5]]), drawn(2, 3), drawn(2, 4), -drawn(2, 4)
    output, state = cell((tf.constant(times), tf.constant(x)), rnn.LSTMStateTuple(tf.constant(c), tf.constant(h)))
    named = {v.op.name.removeprefix("phased_lstm_cell/"): v for v in tf.global_variables()}
    assert len(tf.trainable_variables()) == len(named) - 1
    v, output, new_c, new_h = run(named, output, *state)
    assert (v["period"] >= 1).all() and (v["period"] <= 1000).all() and (v["phase"] <= v["period"]).all()

    def linear(name, *args):
        return np.concatenate(args, 1) @ v[f"{name}/kernel"] + v[f"{name}/bias"]

    i, f = np.split(sigmoid(linear("mask_gates", x, h, c)), 2, 1)
    wanted_c = c * f + i * np.tanh(linear("new_input", x, h))
    wanted_h = np.tanh(wanted_c) * sigmoid(linear("output_gate", x, h, wanted_c))
    cycle = np.mod(times - v["phase"], v["period"]) / v["period"]
    k = np.where(cycle < 0.2, cycle / 0.2, np.where(cycle < 0.4, 2 - cycle / 0.2, 0.1 * cycle))
    for found, new, old in ((new_c, wanted_c, c), (new_h, wanted_h, h), (output, wanted_h, h)):
        np.testing.assert_allclose(found, k * new + (1 - k) * old, rtol=1e-3, atol=1e-5)
    assert all(g is not None for g in tf.gradients(state.h, [named["period"], named["phase"]]))


def test_frequency_lstm_goes_up_the_bands():
    cell = rnn.TimeFreqLSTMCell(3, use_peepholes=True, cell_clip=0.4, feature_size=2, frequency_skip=2)
    x, state = drawn(2, 6), drawn(2, 18)
    output, following = cell(tf.constant(x), tf.constant(state))
    assert cell.state_size == cell.output_size == 6
    named = {v.op.name.removeprefix("time_freq_lstm_cell/"): v for v in tf.global_variables()}
    v, output, following = run(named, output, following)
    below, outputs, states = np.zeros((2, 3)), [], []
    for band in range(3):
        c, m = state[:, 6 * band : 6 * band + 3], state[:, 6 * band + 3 : 6 * band + 6]
        gates = np.concatenate([x[:, 2 * band : 2 * band + 2], m, below], 1) @ v["W_0"] + v["B"]
        i, j, f, o = np.split(gates, 4, 1)
        c = sigmoid(f + 1 + v["W_F_diag"] * c) * c + sigmoid(i + v["W_I_diag"] * c) * np.tanh(j)
        c = np.clip(c, -0.4, 0.4)
        below = sigmoid(o + v["W_O_diag"] * c) * np.tanh(c)
        outputs, states = [*outputs, below], [*states, c, below]
    np.testing.assert_allclose(output, np.concatenate(outputs, 1), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(following, np.concatenate(states, 1), rtol=1e-4, atol=1e-6)


def grid(v, x, states, bands, block, couple):
    """(outputs, states) of one block; `bands`: where they start."""
    freq_c = freq_m = np.zeros((2, 3))
    outputs, following = [], []
    shared = f"W_t_{block}_0" not in v

    def peep(gate, way, freq, time):
        if f"W_O_diag_freqf_{block}" not in v:
            return 0
        way = "freq" if shared else way
        return v[f"W_{gate}_diag_{way}f_{block}"] * freq + v[f"W_{gate}_diag_{way}t_{block}"] * time

    for (time_c, time_m), start in zip(states, bands):
        seen = np.concatenate([x[:, start : start + 2], time_m, freq_m], 1)
        new, gates = {}, {}
        for way, before in (("freq", freq_c), ("time", time_c)):
            kernel = "f" if shared else way[0]
            parts = np.split(seen @ v[f"W_{kernel}_{block}_0"] + v[f"B_{kernel}_{block}"], 3 if couple else 4, 1)
            i = sigmoid(parts[0] + peep("I", way, freq_c, time_c))
            f = 1 - i if couple else sigmoid(parts[2] + 1 + peep("F", way, freq_c, time_c))
            new[way], gates[way] = f * before + i * np.tanh(parts[1]), parts[-1]
        freq_c, time_c = new["freq"], new["time"]
        freq_m, time_m = (sigmoid(gates[w] + peep("O", w, freq_c, time_c)) * np.tanh(new[w]) for w in ("freq", "time"))
        outputs += [time_m, freq_m]
        following += [time_c, time_m]
    return outputs, following


@pytest.mark.parametrize(("share", "peepholes", "couple"), [(False, True, False), (True, True, True), (False, False, True)])
def test_grids_of_blocks(share, peepholes, couple):
    options = {"share_time_frequency_weights": share, "use_peepholes": peepholes, "couple_input_forget_gates": couple}
    blocks = {"num_frequency_blocks": [3, 2], "start_freqindex_list": [0, 4], "end_freqindex_list": [4, 8]}
    cell = rnn.GridLSTMCell(3, feature_size=2, frequency_skip=1, **{**blocks, "num_frequency_blocks": [3, 3]}, **options)
    x, states = drawn(2, 8), drawn(12, 2, 3)
    state = cell.state_tuple_type(*map(tf.constant, states))
    assert state._fields[:3] == ("state_f00_b00_c", "state_f00_b00_m", "state_f01_b00_c") and cell.output_size == 36
    output, following = cell(tf.constant(x), state)
    named = {v.op.name.removeprefix("grid_lstm_cell/"): v for v in tf.global_variables()}
    v, output, following = run(named, output, list(following))
    pairs = list(zip(states[::2], states[1::2]))
    first = grid(v, x, pairs[:3], (0, 1, 2), 0, couple)
    second = grid(v, x, pairs[3:], (4, 5, 6), 1, couple)
    np.testing.assert_allclose(output, np.concatenate(first[0] + second[0], 1), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(following, first[1] + second[1], rtol=1e-4, atol=1e-6)
    with pytest.raises(ValueError, match="Must specify num_frequency_blocks"):
        rnn.GridLSTMCell(3)
    wrong = rnn.GridLSTMCell(3, feature_size=2, frequency_skip=1, **blocks)
    with pytest.raises(ValueError, match="Invalid num_frequency_blocks, requires 3 but gets 2"):
        wrong(tf.constant(x), wrong.zero_state(2, tf.float32))


def test_grids_with_their_state_side_by_side():
    cell = rnn.GridLSTMCell(3, feature_size=2, frequency_skip=1, num_frequency_blocks=[3], state_is_tuple=False)
    outputs, state = tf.nn.dynamic_rnn(cell, tf.constant(drawn(2, 5, 4)), dtype=tf.float32)
    assert outputs.shape.as_list() == [2, 5, 18] and state.shape.as_list() == [2, 18]
    assert np.isfinite(run(outputs)[0]).all()


def test_grids_both_ways():
    options = {"feature_size": 2, "frequency_skip": 1, "num_frequency_blocks": [3]}
    cell = rnn.BidirectionalGridLSTMCell(3, backward_slice_offset=1, **options)
    x, states = drawn(2, 4), drawn(12, 2, 3)
    state = cell.state_tuple_type(*map(tf.constant, states))
    assert (state._fields[0], state._fields[-1]) == ("fwd_state_f00_b00_c", "bwd_state_f02_b00_m")
    output, following = cell(tf.constant(x), state)
    named = {v.op.name.removeprefix("bidirectional_grid_lstm_cell/"): v for v in tf.global_variables()}
    v, output, following = run(named, output, list(following))
    pairs = list(zip(states[::2], states[1::2]))

    def of(way):
        return {name.removeprefix(way): value for name, value in v.items() if name.startswith(way)}

    up = grid(of("fwd/"), x, pairs[:3], (0, 1, 2), 0, False)
    down = grid(of("bwd/"), np.pad(x, [(0, 0), (0, 1)]), pairs[3:], (3, 2, 1), 0, False)
    np.testing.assert_allclose(output, np.concatenate(up[0] + down[0], 1), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(following, up[1] + down[1], rtol=1e-4, atol=1e-6)


def test_time_and_batch():
    x = tf.placeholder(tf.float32, [None, 3, 7])
    assert rnn.transpose_batch_time(x).shape.as_list() == [3, None, 7]
    assert rnn.best_effort_input_batch_size([tf.placeholder(tf.float32), x]) == 3


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: rnn.LSTMBlockFusedCell(3)(tf.zeros([2, 3, 4])), ValueError, "either initial_state or dtype"),
        (
            lambda: rnn.LSTMBlockFusedCell(3)(tf.zeros([2, 3, 4]), [tf.zeros([3, 3])]),
            ValueError,
            "a tuple with length 2 or None",
        ),
        (
            lambda: rnn.LSTMBlockFusedCell(3)(tf.placeholder(tf.float32, [2, 3, None]), dtype=tf.float32),
            ValueError,
            "to be known",
        ),
        (
            lambda: rnn.LSTMBlockFusedCell(3)(tf.zeros([2, 3]), dtype=tf.float32),
            ValueError,
            "expecting inputs .time, batch, depth.",
        ),
        (lambda: rnn.GRUBlockCell(), ValueError, "exactly one of num_units and cell_size"),
        (lambda: rnn.GLSTMCell(5, number_of_groups=2), ValueError, "num_units must be divisible by number_of_groups, but 5"),
        (
            lambda: rnn.GLSTMCell(4, number_of_groups=2)(tf.zeros([2, 3]), [tf.zeros([2, 4])] * 2),
            ValueError,
            "the inputs' depth",
        ),
        (lambda: rnn.IntersectionRNNCell(4)(tf.zeros([2, 3]), tf.zeros([2, 4])), ValueError, "num_in_proj should be set"),
        (lambda: rnn.ConvLSTMCell(2, [3, 4], 5, [3]), ValueError, r"Invalid input_shape \[3, 4\] for conv_ndims=2"),
        (lambda: rnn.EmbeddingWrapper(rnn.GRUCell(3), 0, 2), ValueError, "must be > 0: 0, 2"),
        (lambda: rnn.OutputProjectionWrapper(rnn.GRUCell(3), 0), ValueError, "output_size must be > 0"),
        (lambda: rnn.OutputProjectionWrapper("cell", 3), TypeError, "is not an RNNCell"),
        (lambda: rnn.AttentionCellWrapper(rnn.GRUCell(3), 0), ValueError, "attn_length should be greater than zero"),
        (
            lambda: rnn.AttentionCellWrapper(rnn.LSTMCell(3), 2, state_is_tuple=False),
            ValueError,
            "state_is_tuple is not set",
        ),
        (
            lambda: rnn.UGRNNCell(3)(tf.placeholder(tf.float32, [2, None]), tf.zeros([2, 3])),
            ValueError,
            "depth of .* to be known",
        ),
        (lambda: rnn.CFNCell(3, kernel_initializer="nonsense"), ValueError, "Unknown initializer: nonsense"),
        (
            lambda: rnn.CoupledInputForgetGateLSTMCell(3, num_unit_shards=9)(tf.zeros([2, 3]), [tf.zeros([2, 3])] * 2),
            ValueError,
            "Too many shards",
        ),
    ],
)
def test_what_they_refuse(make, error, text):
    with pytest.raises(error, match=text):
        make()
