"""The cells of tf.contrib.rnn: their variables by TF 1.15's names, and one step of each against its formula in NumPy."""

import numpy as np
import pytest

import tfexp as tf

rnn = tf.contrib.rnn
BATCH, DEPTH, UNITS = 2, 3, 5


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(4)
        yield graph


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def relu(x):
    return np.maximum(x, 0)


def side_by_side(*parts):
    return np.concatenate(parts, 1)


def normalized(x, gamma, beta):
    centred = x - x.mean(1, keepdims=True)
    return centred / np.sqrt(centred.var(1, keepdims=True) + 1e-12) * gamma + beta


def lstm(gates, c, peepholes=(0, 0, 0), forget_bias=1.0, clip=None, order="ijfo"):
    parts = np.split(gates, 4, 1)
    i, j, f, o = (parts[order.index(gate)] for gate in "ijfo")
    c = sigmoid(f + forget_bias + peepholes[1] * c) * c + sigmoid(i + peepholes[0] * c) * np.tanh(j)
    c = c if clip is None else np.clip(c, -clip, clip)
    return c, sigmoid(o + peepholes[2] * c) * np.tanh(c)


# What a cell does: (its variables by name, x, states) -> (output, *states).
def block_lstm(v, x, c, h):
    gates = side_by_side(x, h) @ v["kernel"] + v["bias"]
    c, h = lstm(gates, c, (v["w_i_diag"], v["w_f_diag"], v["w_o_diag"]), 0.5, 0.25)
    return h, c, h


def gru(gate_kernel, gate_bias, kernel, bias):
    def step(v, x, h):
        r, u = np.split(sigmoid(side_by_side(x, h) @ v[gate_kernel] + v[gate_bias]), 2, 1)
        h = u * h + (1 - u) * np.tanh(side_by_side(x, r * h) @ v[kernel] + v[bias])
        return h, h

    return step


def normed(v, *gates):
    names = ("input", "transform", "forget", "output")
    return side_by_side(*(normalized(g, v[f"{n}/gamma"], v[f"{n}/beta"]) for g, n in zip(gates, names)))


def layer_norm_basic(v, x, c, h):
    i, j, f, o = np.split(normed(v, *np.split(side_by_side(x, h) @ v["kernel"], 4, 1)), 4, 1)
    c = normalized(c * sigmoid(f + 1) + sigmoid(i) * np.tanh(j), v["state/gamma"], v["state/beta"])
    h = np.tanh(c) * sigmoid(o)
    return h, c, h


def layer_norm_lstm(v, x, c, m):
    i, j, f, o = np.split(normed(v, *np.split(side_by_side(x, m) @ v["kernel"], 4, 1)), 4, 1)
    c = sigmoid(f + 1 + v["w_f_diag"] * c) * c + sigmoid(i + v["w_i_diag"] * c) * np.tanh(j)
    c = np.clip(normalized(c, v["state/gamma"], v["state/beta"]), -0.5, 0.5)
    m = np.clip(sigmoid(o + v["w_o_diag"] * c) * np.tanh(c) @ v["projection/kernel"], -0.1, 0.1)
    return m, c, m


def weight_norm_lstm(v, x, c, h):
    def columns(kernel, length):
        return kernel / np.linalg.norm(kernel, axis=0) * length

    kernel = v["kernel"]
    kernel = np.concatenate([columns(kernel[:DEPTH], v["norm_0"]), columns(kernel[DEPTH:], v["norm_1"])])
    c, h = lstm(side_by_side(x, h) @ kernel + v["bias"], c)
    h = h @ columns(v["projection/kernel"], v["projection/norm_0"])
    return h, c, h


def ugrnn(v, x, h):
    g, c = np.split(side_by_side(x, h) @ v["kernel"] + v["bias"], 2, 1)
    h = sigmoid(g + 1) * h + (1 - sigmoid(g + 1)) * np.tanh(c)
    return h, h


def intersection(v, x, h):
    x = x @ v["in_projection/kernel"] + v["in_projection/bias"]
    gh, new_h, gy, y = np.split(side_by_side(x, h) @ v["kernel"] + v["bias"], 4, 1)
    gh, gy = sigmoid(gh + 1), sigmoid(gy + 1)
    return gy * x + (1 - gy) * relu(y), gh * h + (1 - gh) * np.tanh(new_h)


def sru(v, x, c):
    candidate, f, r, passed = np.split(x @ v["kernel"], 4, 1)
    f, r = sigmoid(f + v["bias"][:UNITS]), sigmoid(r + v["bias"][UNITS:])
    c = f * c + (1 - f) * candidate
    return r * np.tanh(c) + (1 - r) * passed, c


def nas(v, x, c, m):
    a = np.split(x @ v["kernel"], 8, 1)
    b = np.split(m @ v["recurrent_kernel"] + v["bias"], 8, 1)
    left = np.tanh(sigmoid(a[0] + b[0]) * relu(a[1] + b[1])) + c
    c = np.tanh(left) * np.tanh(sigmoid(a[2] + b[2]) + relu(a[3] * b[3]))
    right = np.tanh(np.tanh(a[4] + b[4]) * sigmoid(a[5] + b[5])) + sigmoid(np.tanh(a[6] + b[6]) + sigmoid(a[7] + b[7]))
    m = np.tanh(c * np.tanh(right)) @ v["projection_weights"]
    return m, c, m


def minimal(v, x, h):
    z = np.tanh(x @ v["kernel"])
    u = sigmoid(side_by_side(z, h) @ v["recurrent_kernel"] + v["bias"])
    return (u * h + (1 - u) * z,) * 2


def cfn(v, x, h):
    w = x @ v["kernel"]
    theta, eta = np.split(sigmoid(w[:, : 2 * UNITS] + h @ v["recurrent_kernel"] + v["bias"]), 2, 1)
    return (theta * np.tanh(h) + eta * np.tanh(w[:, 2 * UNITS :]),) * 2


def ind_rnn(v, x, h):
    return (np.tanh(x @ v["kernel_w"] + h * v["kernel_u"] + v["bias"]),) * 2


def indy_gru(v, x, h):
    gates = x @ v["gates/kernel_w"] + np.tile(h, 2) * v["gates/kernel_u"] + v["gates/bias"]
    r, u = np.split(sigmoid(gates), 2, 1)
    candidate = x @ v["candidate/kernel"] + r * h * v["candidate/kernel_u"] + v["candidate/bias"]
    return (u * h + (1 - u) * np.tanh(candidate),) * 2


def indy_lstm(v, x, c, h):
    c, h = lstm(x @ v["kernel_w"] + np.tile(h, 4) * v["kernel_u"] + v["bias"], c)
    return h, c, h


def coupled(v, x, c, m):
    kernel = np.concatenate([v["W_0"], v["W_1"]])
    j, f, o = np.split(side_by_side(x, m) @ kernel + v["B"], 3, 1)
    f = sigmoid(f + 1 + v["W_F_diag"] * c)
    c = f * c + (1 - f) * np.tanh(j)
    m = np.clip(sigmoid(o + v["W_O_diag"] * c) * np.tanh(c) @ v["W_P_0"], -0.1, 0.1)
    return m, c, m


def grouped(v, x, c, m):
    gates = [
        np.split(side_by_side(x[:, 2 * g : 2 * g + 2], m[:, 3 * g : 3 * g + 3]) @ v[f"group{g}/kernel"], 4, 1)
        for g in range(2)
    ]
    gates = [side_by_side(*parts) + v[f"bias_{name}"] for name, parts in zip("ijfo", zip(*gates))]
    c, m = lstm(side_by_side(*gates), c)
    m = m @ v["projection/kernel"]
    return m, c, m


def input_projection(v, x, h):
    return (np.tanh(side_by_side(np.tanh(x @ v["kernel"] + v["bias"]), h) @ v["basic_rnn_cell/kernel"]),) * 2


def output_projection(v, x, h):
    h = np.tanh(side_by_side(x, h) @ v["basic_rnn_cell/kernel"])
    return h @ v["kernel"] + v["bias"], h


def attention(v, x, h, attended, kept):
    before = kept.reshape(BATCH, 4, UNITS)
    x = side_by_side(x, attended) @ v["kernel"] + v["bias"]
    h = np.tanh(side_by_side(x, h) @ v["basic_rnn_cell/kernel"])
    wanted = h @ v["attention/kernel"] + v["attention/bias"]
    scores = (np.tanh(before @ v["attention/attn_w"][0, 0] + wanted[:, None]) @ v["attention/attn_v"])[..., None]
    shares = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    attended = (shares * before).sum(1)
    output = side_by_side(h, attended) @ v["attn_output_projection/kernel"] + v["attn_output_projection/bias"]
    return output, h, attended, np.concatenate([before[:, 1:], output[:, None]], 1).reshape(BATCH, -1)


PROJECTED = {"use_peepholes": True, "num_proj": 2}
CELLS = [
    (lambda: rnn.LSTMBlockCell(UNITS, 0.5, 0.25, use_peephole=True), block_lstm, 3, (5, 5)),
    (lambda: rnn.GRUBlockCell(UNITS), gru("w_ru", "b_ru", "w_c", "b_c"), 3, (5,)),
    (
        lambda: rnn.GRUBlockCellV2(UNITS),
        gru("gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias"),
        3,
        (5,),
    ),
    (lambda: rnn.LayerNormBasicLSTMCell(UNITS), layer_norm_basic, 3, (5, 5)),
    (
        lambda: rnn.LayerNormLSTMCell(UNITS, **PROJECTED, cell_clip=0.5, proj_clip=0.1, layer_norm=True),
        layer_norm_lstm,
        3,
        (5, 2),
    ),
    (lambda: rnn.WeightNormLSTMCell(UNITS, num_proj=2), weight_norm_lstm, 3, (5, 2)),
    (lambda: rnn.UGRNNCell(UNITS), ugrnn, 3, (5,)),
    (lambda: rnn.IntersectionRNNCell(UNITS, num_in_proj=UNITS), intersection, 3, (5,)),
    (lambda: rnn.SRUCell(UNITS), sru, 3, (5,)),
    (lambda: rnn.NASCell(UNITS, num_proj=2, use_bias=True), nas, 3, (5, 2)),
    (lambda: rnn.MinimalRNNCell(UNITS), minimal, 3, (5,)),
    (lambda: rnn.CFNCell(UNITS), cfn, 3, (5,)),
    (lambda: rnn.IndRNNCell(UNITS), ind_rnn, 3, (5,)),
    (lambda: rnn.IndyGRUCell(UNITS), indy_gru, 3, (5,)),
    (lambda: rnn.IndyLSTMCell(UNITS), indy_lstm, 3, (5, 5)),
    (
        lambda: rnn.CoupledInputForgetGateLSTMCell(UNITS, **PROJECTED, proj_clip=0.1, num_unit_shards=2),
        coupled,
        3,
        (5, 2),
    ),
    (lambda: rnn.GLSTMCell(4, number_of_groups=2, num_proj=6), grouped, 4, (4, 6)),
    (lambda: rnn.InputProjectionWrapper(rnn.BasicRNNCell(UNITS), 7, tf.tanh), input_projection, 3, (5,)),
    (lambda: rnn.OutputProjectionWrapper(rnn.BasicRNNCell(UNITS), 7), output_projection, 3, (5,)),
    (lambda: rnn.AttentionCellWrapper(rnn.BasicRNNCell(UNITS), 4), attention, 3, (5, 5, 20)),
]


@pytest.mark.parametrize(("make", "formula", "depth", "sizes"), CELLS, ids=lambda value: getattr(value, "__name__", None))
def test_a_step_is_its_formula(make, formula, depth, sizes):
    random = np.random.RandomState(0)
    x, *states = (random.uniform(-1, 1, (BATCH, size)).astype(np.float32) for size in (depth, *sizes))
    cell = make()
    flat = [tf.constant(s) for s in states]
    size = cell.state_size
    given = flat[0] if len(flat) == 1 else type(size)(*flat) if hasattr(size, "_fields") else tuple(flat)
    with tf.variable_scope("at", initializer=tf.random_uniform_initializer(-1, 1, seed=1)):
        output, following = cell(tf.constant(x), given)
    assert tf.contrib.framework.nest.flatten(size) == list(sizes) and output.shape[1] == cell.output_size
    scope = f"at/{tf.trainable_variables()[0].op.name.split('/')[1]}/"
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = {v.op.name.removeprefix(scope): session.run(v) for v in tf.trainable_variables()}
        found = session.run([output, *tf.contrib.framework.nest.flatten(following)])
    assert {v.op.name for v in cell.trainable_variables} == {scope + name for name in values}
    for one, wanted in zip(found, formula(values, x, *states), strict=True):
        np.testing.assert_allclose(one, wanted, rtol=2e-4, atol=1e-5)


# A layer, cells that make their variables as they are called, and a wrapper: what each computes is tested above.
KINDS = [CELLS[i] for i in (0, 4, 16, 19)]


@pytest.mark.parametrize(("make", "depth"), [(make, depth) for make, _, depth, _ in KINDS], ids=lambda value: None)
def test_networks_of_them_learn(make, depth):
    cell = make()
    x = tf.constant(np.random.RandomState(1).uniform(-1, 1, (BATCH, 4, depth)).astype(np.float32))
    outputs, _ = tf.nn.dynamic_rnn(cell, x, [4, 2], dtype=tf.float32)
    loss = tf.reduce_mean(tf.square(outputs - 0.3))
    step = tf.train.GradientDescentOptimizer(0.05).minimize(loss)
    with tf.variable_scope("rnn", reuse=True):
        steps, _ = tf.nn.static_rnn(cell, tf.unstack(x, axis=1), dtype=tf.float32, scope=tf.get_variable_scope())
    assert steps[0].shape.as_list() == [BATCH, cell.output_size]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = session.run(loss)
        for _ in range(3):
            session.run(step)
        assert session.run(loss) < before
