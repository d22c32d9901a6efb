"""tf.contrib.legacy_seq2seq. No TensorFlow of today has it: names are 1.15's, values follow from the parts."""

import numpy as np
import pytest

import tfexp as tf

seq2seq = tf.contrib.legacy_seq2seq
SYMBOLS_IN, SYMBOLS_OUT, BATCH = 5, 7, 3


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(3)
        yield graph


def cell():
    return tf.nn.rnn_cell.GRUCell(4)


def symbols(steps, first=0):
    return [tf.constant([(first + step + row) % SYMBOLS_IN for row in range(BATCH)]) for step in range(steps)]


def values(fetches, feed=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feed)


def test_a_decoder_is_fed_with_what_its_loop_function_makes():
    steps = []

    def loop(previous, step):
        steps.append(step)
        return 2.0 * previous

    class Same(tf.nn.rnn_cell.RNNCell):
        output_size = state_size = 2

        def call(self, inputs, state):
            return inputs, state + inputs

    given = [tf.ones([BATCH, 2]) * value for value in (1.0, 10.0, 100.0)]
    outputs, state = seq2seq.rnn_decoder(given, tf.zeros([BATCH, 2]), Same(), loop_function=loop)
    found, last = values([outputs, state])
    assert [one[0, 0] for one in found] == [1.0, 2.0, 4.0]
    assert last[0, 0] == 7.0
    assert steps == [1, 2]


def test_one_cell_encodes_and_decodes_when_tied():
    inputs = [tf.ones([BATCH, 2])] * 2
    outputs, state = seq2seq.tied_rnn_seq2seq(inputs, inputs, cell())
    assert [v.op.name for v in tf.trainable_variables()] == [
        f"combined_tied_rnn_seq2seq/tied_rnn_seq2seq/gru_cell/{part}"
        for part in ("gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias")
    ]
    assert [one.shape for one in values(outputs)] == [(BATCH, 4)] * 2
    assert state.shape == [BATCH, 4]


def test_two_cells_have_variables_of_their_own():
    inputs = [tf.ones([BATCH, 2])] * 2
    seq2seq.basic_rnn_seq2seq(inputs, inputs, cell())
    kernels = [v.op.name for v in tf.trainable_variables() if v.op.name.endswith("gates/kernel")]
    assert kernels == ["basic_rnn_seq2seq/rnn/gru_cell/gates/kernel", "basic_rnn_seq2seq/rnn_decoder/gru_cell/gates/kernel"]


def test_the_variables_of_attention_have_their_names():
    seq2seq.embedding_attention_seq2seq(symbols(2), symbols(3), cell(), SYMBOLS_IN, SYMBOLS_OUT, embedding_size=2)
    decoder = "embedding_attention_decoder"
    inside = f"{decoder}/attention_decoder"
    expected = {
        "rnn/embedding_wrapper/embedding": [SYMBOLS_IN, 2],
        f"{decoder}/embedding": [SYMBOLS_OUT, 2],
        f"{inside}/AttnW_0": [1, 1, 4, 4],
        f"{inside}/AttnV_0": [4],
        f"{inside}/kernel": [2 + 4, 2],
        f"{inside}/bias": [2],
        f"{inside}/Attention_0/kernel": [4, 4],
        f"{inside}/Attention_0/bias": [4],
        f"{inside}/output_projection_wrapper/kernel": [4, SYMBOLS_OUT],
        f"{inside}/output_projection_wrapper/bias": [SYMBOLS_OUT],
        f"{inside}/AttnOutputProjection/kernel": [SYMBOLS_OUT + 4, SYMBOLS_OUT],
        f"{inside}/AttnOutputProjection/bias": [SYMBOLS_OUT],
    }
    found = {v.op.name.partition("/")[2]: v.shape.as_list() for v in tf.trainable_variables() if "gru_cell" not in v.op.name}
    assert found == expected


MODELS = {
    "rnn": lambda feed: seq2seq.embedding_rnn_seq2seq(symbols(2), symbols(3), cell(), 5, 7, 2, feed_previous=feed),
    "tied": lambda feed: seq2seq.embedding_tied_rnn_seq2seq(symbols(2), symbols(3), cell(), 7, 2, feed_previous=feed),
    "attention": lambda feed: seq2seq.embedding_attention_seq2seq(
        symbols(2), symbols(3), cell(), 5, 7, 2, num_heads=2, feed_previous=feed, initial_state_attention=True
    ),
}


@pytest.mark.parametrize("model", MODELS)
def test_whether_outputs_are_fed_back_may_be_a_tensor(model):
    feed = tf.placeholder(tf.bool, [])
    with tf.variable_scope("model"):
        fed = MODELS[model](feed)
    with tf.variable_scope("model", reuse=True):
        expected = {value: MODELS[model](value) for value in (True, False)}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for value in (True, False):
            found, wanted = session.run([fed, expected[value]], {feed: value})
            np.testing.assert_allclose(found[0], wanted[0], rtol=1e-6)
            np.testing.assert_allclose(found[1], wanted[1], rtol=1e-6)
        first, second = session.run([expected[True][0], expected[False][0]])
    np.testing.assert_array_equal(first[0], second[0])
    assert not np.allclose(first[2], second[2])


def test_symbols_are_fed_back_by_way_of_a_projection():
    projection = tf.random_uniform([4, 7]), tf.zeros([7])
    outputs, _ = seq2seq.embedding_rnn_seq2seq(
        symbols(2), symbols(3), cell(), 5, 7, 2, output_projection=projection, feed_previous=True
    )
    assert [one.shape for one in values(outputs)] == [(BATCH, 4)] * 3
    with pytest.raises(ValueError, match="are incompatible"):
        seq2seq.embedding_rnn_decoder(symbols(2), tf.zeros([BATCH, 4]), cell(), 6, 2, output_projection=projection)


def test_one_encoder_has_several_decoders():
    outputs, states = seq2seq.one2many_rnn_seq2seq(
        symbols(2), {"a": symbols(2), "b": symbols(1)}, cell(), {"a": cell(), "b": cell()}, 5, {"a": 6, "b": 7}, 2
    )
    assert {name: [one.shape[1].value for one in found] for name, found in outputs.items()} == {"a": [6, 6], "b": [7]}
    assert sorted(states) == ["a", "b"]


@pytest.mark.parametrize("per_example", [False, True])
def test_buckets_share_their_variables(per_example):
    def model(encoder, decoder):
        return seq2seq.embedding_rnn_seq2seq(encoder, decoder, cell(), 5, 7, 2)

    weights = [tf.ones([BATCH])] * 3
    outputs, losses = seq2seq.model_with_buckets(
        symbols(3), symbols(3), symbols(3, 1), weights, [(1, 2), (3, 3)], model, per_example_loss=per_example
    )
    assert [len(one) for one in outputs] == [2, 3]
    assert len(tf.trainable_variables()) == 12
    assert [one.shape for one in values(losses)] == [(BATCH,) if per_example else ()] * 2
    with pytest.raises(ValueError, match=r"Length of encoder_inputs \(3\) must be at least that of last bucket \(4\)"):
        seq2seq.model_with_buckets(symbols(3), symbols(3), symbols(3), weights, [(4, 3)], model)


def test_attention_learns_to_turn_sequences_around():
    steps = 3
    rows = [tf.placeholder(tf.int32, [8]) for _ in range(steps)]
    go = [tf.zeros([8], tf.int32), *rows[:0:-1]]
    outputs, _ = seq2seq.embedding_attention_seq2seq(rows, go, tf.nn.rnn_cell.GRUCell(16), 5, 5, embedding_size=8)
    loss = seq2seq.sequence_loss(outputs, rows[::-1], [tf.ones([8])] * steps)
    step = tf.train.AdamOptimizer(0.02).minimize(loss)
    random = np.random.RandomState(0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [
            session.run([loss, step], dict(zip(rows, random.randint(1, 5, [steps, 8]), strict=True)))[0] for _ in range(120)
        ]
    assert np.mean(losses[-10:]) < 0.3 * losses[0]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"decoder_inputs": []}, "Must provide at least 1 input to attention decoder"),
        ({"num_heads": 0}, "With less than 1 heads, use a non-attention decoder"),
        ({"attention_states": np.nan}, r"Shape\[2\] of attention_states must be known"),
    ],
)
def test_what_cannot_be_attended_is_refused(change, text):
    states = tf.placeholder(tf.float32, [None, 2, None]) if "attention_states" in change else tf.zeros([BATCH, 2, 4])
    arguments = {"decoder_inputs": [tf.zeros([BATCH, 2])], **change, "attention_states": states}
    with pytest.raises(ValueError, match=text):
        seq2seq.attention_decoder(initial_state=tf.zeros([BATCH, 4]), cell=cell(), **arguments)
