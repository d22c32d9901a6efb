"""`tf.contrib.seq2seq` against dynamic_rnn, and against steps made by hand with NumPy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import tfexp as tf

seq2seq = tf.contrib.seq2seq
BATCH, TIME, DEPTH, UNITS, WORDS = 3, 5, 2, 7, 4
LENGTHS = np.int32([5, 2, 3])


@pytest.fixture
def session() -> Iterator[tf.Session]:
    with tf.Graph().as_default(), tf.Session() as one:
        tf.set_random_seed(3)
        yield one


def drawn(*shape: int) -> np.ndarray:
    return np.random.default_rng(5).normal(size=shape).astype(np.float32)


def names() -> list[str]:
    return [v.op.name for v in tf.trainable_variables()]


@pytest.mark.parametrize("time_major", [False, True])
def test_decoding_what_is_given_is_dynamic_rnn(time_major: bool, session: tf.Session) -> None:
    x = drawn(BATCH, TIME, DEPTH)
    cell = tf.nn.rnn_cell.LSTMCell(UNITS)
    with tf.variable_scope("decoder") as scope:
        wanted, last = tf.nn.dynamic_rnn(cell, x, LENGTHS, dtype=tf.float32, scope=scope)
    given = x.swapaxes(0, 1) if time_major else x
    decoder = seq2seq.BasicDecoder(
        cell, seq2seq.TrainingHelper(given, LENGTHS, time_major), cell.zero_state(BATCH, tf.float32)
    )
    outputs, state, lengths = seq2seq.dynamic_decode(decoder, output_time_major=time_major, impute_finished=True)
    session.run(tf.global_variables_initializer())
    a, b, c, d, e, ids = session.run([outputs.rnn_output, wanted, state, last, lengths, outputs.sample_id])
    np.testing.assert_allclose(a.swapaxes(0, 1) if time_major else a, b, rtol=1e-6)
    np.testing.assert_allclose(c, d, rtol=1e-6)
    assert e.tolist() == LENGTHS.tolist()
    assert ids.shape == a.shape[:2]
    assert names() == ["decoder/lstm_cell/kernel", "decoder/lstm_cell/bias"]
    assert isinstance(outputs, seq2seq.BasicDecoderOutput)


def test_greedy_decoding_stops_at_the_end_token(session: tf.Session) -> None:
    """The cell repeats its input, the embedding of each word votes for the one behind it: 0 -> 1 -> 2 -> 3 (the end)."""
    embedding = np.roll(np.eye(WORDS, dtype=np.float32), 1, axis=1)

    class Echo(tf.nn.rnn_cell.RNNCell):
        output_size = state_size = WORDS

        def call(self, inputs, state):
            return inputs, state + 1

    helper = seq2seq.GreedyEmbeddingHelper(embedding, [0, 1, 2], 3)
    decoder = seq2seq.BasicDecoder(Echo(), helper, tf.zeros([BATCH, WORDS]))
    outputs, state, lengths = seq2seq.dynamic_decode(decoder, impute_finished=True, maximum_iterations=10)
    found = session.run([outputs.sample_id, lengths, state])
    assert found[0].tolist() == [[1, 2, 3], [2, 3, 0], [3, 0, 0]]
    assert found[1].tolist() == [3, 2, 1]
    assert found[2][:, 0].tolist() == [3, 2, 1]
    cut, _, at = seq2seq.dynamic_decode(decoder, maximum_iterations=2, scope="again")
    found = session.run([cut.sample_id, at])
    assert found[0].tolist() == [[1, 2], [2, 3], [3, 0]]
    assert found[1].tolist() == [2, 2, 1]
    sharp = seq2seq.SampleEmbeddingHelper(embedding, [0, 1, 2], 3, softmax_temperature=1e-3, seed=1)
    sampled, _, _ = seq2seq.dynamic_decode(seq2seq.BasicDecoder(Echo(), sharp, tf.zeros([BATCH, WORDS])), scope="third")
    assert session.run(sampled.sample_id)[0].tolist() == [1, 2, 3]


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@pytest.mark.parametrize("kind", ["luong", "scaled", "bahdanau", "normalized"])
def test_attention_by_hand(kind: str, session: tf.Session) -> None:
    memory, query, lengths = drawn(BATCH, TIME, DEPTH), drawn(BATCH, UNITS) + 1, LENGTHS
    if kind in ("luong", "scaled"):
        mechanism = seq2seq.LuongAttention(UNITS, memory, lengths, scale=kind == "scaled")
    else:
        mechanism = seq2seq.BahdanauAttention(UNITS, memory, lengths, normalize=kind == "normalized")
    alignments, _ = mechanism(tf.constant(query), None)
    session.run(tf.global_variables_initializer())
    for v in tf.global_variables():  # what begins at a constant would not be seen
        session.run(v.assign_add(0.3 * tf.ones_like(v)))
    found = session.run(alignments)
    w = {
        v.op.name.rpartition("/")[2] if "layer" not in v.op.name else v.op.name: session.run(v)
        for v in tf.global_variables()
    }
    mask = np.arange(TIME) < lengths[:, None]
    keys = (memory * mask[..., None]) @ w["memory_layer/kernel"]
    if kind in ("luong", "scaled"):
        score = np.einsum("bu,btu->bt", query, keys) * w.get("attention_g", 1)
    else:
        asked = (query @ w["bahdanau_attention/query_layer/kernel"])[:, None]
        v = w["attention_v"]
        if kind == "normalized":
            v = w["attention_g"] * v / np.sqrt((v**2).sum())
        score = (v * np.tanh(keys + asked + w.get("attention_b", 0))).sum(-1)
    np.testing.assert_allclose(found, softmax(np.where(mask, score, -np.inf)), rtol=2e-5, atol=1e-6)


def test_a_cell_with_attention(session: tf.Session) -> None:
    memory, x = drawn(BATCH, 6, DEPTH), drawn(BATCH, TIME, DEPTH)
    mechanism = seq2seq.BahdanauAttention(UNITS, memory, [6, 4, 1])
    cell = seq2seq.AttentionWrapper(
        tf.nn.rnn_cell.GRUCell(UNITS), mechanism, attention_layer_size=11, alignment_history=True
    )
    start = cell.zero_state(BATCH, tf.float32)
    encoded = tf.ones([BATCH, UNITS])
    decoder = seq2seq.BasicDecoder(
        cell, seq2seq.TrainingHelper(x, LENGTHS), start.clone(cell_state=encoded), tf.layers.Dense(WORDS, name="words")
    )
    outputs, state, _ = seq2seq.dynamic_decode(decoder)
    assert outputs.rnn_output.shape.as_list() == [BATCH, None, WORDS]
    history = state.alignment_history.stack()
    loss = seq2seq.sequence_loss(
        outputs.rnn_output, tf.zeros([BATCH, TIME], tf.int32), tf.sequence_mask(LENGTHS, dtype=tf.float32)
    )
    step = tf.train.AdamOptimizer(0.05).minimize(loss)
    session.run(tf.global_variables_initializer())
    weights, attention, before = session.run([history, state.attention, loss])
    assert weights.shape == (TIME, BATCH, 6)
    np.testing.assert_allclose(weights.sum(-1), 1, rtol=1e-5)
    assert not weights[:, 1, 4:].any()
    assert not weights[:, 2, 1:].any()
    assert attention.shape == (BATCH, 11)
    for _ in range(40):
        session.run(step)
    assert session.run(loss) < before / 10
    assert names() == [
        "memory_layer/kernel",
        *[
            f"decoder/attention_wrapper/gru_cell/{part}"
            for part in ("gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias")
        ],
        "decoder/attention_wrapper/bahdanau_attention/query_layer/kernel",
        "decoder/attention_wrapper/bahdanau_attention/attention_v",
        "decoder/attention_wrapper/attention_layer/kernel",
        "decoder/words/kernel",
        "decoder/words/bias",
    ]


def test_two_attentions(session: tf.Session) -> None:
    one, two = drawn(BATCH, 6, DEPTH), drawn(BATCH, 3, 5)
    cell = seq2seq.AttentionWrapper(
        tf.nn.rnn_cell.BasicRNNCell(UNITS),
        [seq2seq.LuongAttention(UNITS, one), seq2seq.LuongAttention(UNITS, two)],
        output_attention=False,
    )
    output, state = cell(tf.constant(drawn(BATCH, DEPTH)), cell.zero_state(BATCH, tf.float32))
    session.run(tf.global_variables_initializer())
    a, b = session.run([output, state.attention])
    assert a.shape == (BATCH, UNITS)
    assert b.shape == (BATCH, DEPTH + 5)
    assert [x.shape.as_list() for x in state.alignments] == [[BATCH, 6], [BATCH, 3]]


def test_programs_derive_mechanisms(session: tf.Session) -> None:
    class Doubled(seq2seq.BahdanauAttention):
        def __call__(self, query, state):
            score = tf.reduce_sum(self.keys * tf.expand_dims(self.query_layer(query), 1), 2) + self._num_units
            alignments = self._probability_fn(score, state)
            return 2 * alignments, state

    class Own(seq2seq.AttentionMechanism):
        values, batch_size, dtype = tf.constant(drawn(BATCH, TIME, DEPTH)), BATCH, tf.float32
        alignments_size = state_size = TIME

        def initial_alignments(self, batch_size, dtype):
            return tf.zeros([batch_size, TIME], dtype)

        initial_state = initial_alignments

        def __call__(self, query, state):
            return tf.one_hot([2] * BATCH, TIME), state + 1

    def keyed(keys, values):
        return keys, values + 1

    memory = drawn(BATCH, TIME, DEPTH)
    doubled = Doubled(UNITS, memory, LENGTHS, custom_key_value_fn=keyed)
    cell = seq2seq.AttentionWrapper(
        tf.nn.rnn_cell.GRUCell(UNITS), [doubled, Own()], alignment_history=True, attention_layer=[tf.layers.Dense(4)] * 2
    )
    assert cell.output_size == 8
    _, state = cell(tf.constant(drawn(BATCH, DEPTH)), cell.zero_state(BATCH, tf.float32))
    session.run(tf.global_variables_initializer())
    one, two, own, values = session.run([*state.alignments, state.attention_state[1], doubled.values])
    np.testing.assert_allclose(one.sum(-1), 2, rtol=1e-5)
    assert not one[1, 2:].any()
    assert two[:, 2].all()
    assert own.all()
    np.testing.assert_allclose(values, np.where((np.arange(TIME) < LENGTHS[:, None])[..., None], memory, 0) + 1)


def test_attention_may_be_computed_by_a_function(session: tf.Session) -> None:
    def first_entry(mechanism, output, state, layer):
        assert layer is None
        return mechanism.values[:, 0], tf.zeros([BATCH, TIME]), state

    memory = drawn(BATCH, TIME, DEPTH)
    mechanism = seq2seq.LuongAttention(UNITS, memory)
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(UNITS), mechanism, attention_fn=first_entry, dtype=tf.float32)
    output, state = cell(tf.ones([BATCH, 1]), cell.zero_state(BATCH, tf.float32))
    assert state.alignment_history == ()
    session.run(tf.global_variables_initializer())
    np.testing.assert_array_equal(session.run(output), memory[:, 0])


def test_batches_are_the_memorys(session: tf.Session) -> None:
    mechanism = seq2seq.LuongAttention(UNITS, drawn(BATCH, TIME, DEPTH))
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(UNITS), mechanism)
    with pytest.raises(tf.errors.InvalidArgumentError, match="tile_batch"):
        cell.zero_state(BATCH + 1, tf.float32)
    start = cell.zero_state(BATCH, tf.float32)
    with pytest.raises(ValueError, match="Invalid shape for tensor"):
        start.clone(cell_state=tf.zeros([BATCH, UNITS + 1]))
    with pytest.raises(TypeError, match="not an RNNCell"):
        seq2seq.AttentionWrapper("no cell", mechanism)
    lengths = tf.placeholder(tf.int32, [BATCH])
    alignments, _ = seq2seq.LuongAttention(DEPTH, drawn(BATCH, TIME, DEPTH), lengths)(tf.ones([BATCH, DEPTH]), None)
    session.run(tf.global_variables_initializer())
    with pytest.raises(tf.errors.InvalidArgumentError, match="greater than zero"):
        session.run(alignments, {lengths: [1, 0, 2]})


def test_losses_of_sequences(session: tf.Session) -> None:
    logits, targets = drawn(BATCH, TIME, WORDS), np.random.default_rng(1).integers(0, WORDS, (BATCH, TIME))
    weights = (np.arange(TIME) < LENGTHS[:, None]).astype(np.float32) * 0.5
    each = -np.log(np.take_along_axis(softmax(logits), targets[..., None], -1))[..., 0] * weights
    args = [tf.constant(logits), tf.constant(targets), tf.constant(weights)]
    found = session.run(
        [
            seq2seq.sequence_loss(*args),
            seq2seq.sequence_loss(*args, average_across_batch=False),
            seq2seq.sequence_loss(*args, average_across_timesteps=False),
            seq2seq.sequence_loss(*args, False, False),
            seq2seq.sequence_loss(*args, False, False, True, True),
        ]
    )
    wanted = [each.sum() / weights.sum(), each.sum(1) / weights.sum(1), None, each, each.sum() / (weights > 0).sum()]
    with np.errstate(all="ignore"):
        wanted[2] = np.nan_to_num(each.sum(0) / weights.sum(0))
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_what_is_refused(session: tf.Session) -> None:
    with pytest.raises(TypeError, match="Expected decoder to be type Decoder"):
        seq2seq.dynamic_decode("no decoder")
    with pytest.raises(TypeError, match="helper must be a Helper"):
        seq2seq.BasicDecoder(None, "no helper", None)
    with pytest.raises(ValueError, match="Expected sequence_length to be a vector"):
        seq2seq.TrainingHelper(drawn(BATCH, TIME, DEPTH), 3)
    with pytest.raises(TypeError, match="must be AttentionMechanisms"):
        seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(UNITS), 3)
    with pytest.raises(ValueError, match="Incompatible or unknown inner dimensions"):
        seq2seq.LuongAttention(5, drawn(BATCH, TIME, DEPTH))(tf.zeros([BATCH, UNITS]), None)
    with pytest.raises(ValueError, match="Logits must be a"):
        seq2seq.sequence_loss(tf.zeros([2, 3]), tf.zeros([2, 3]), tf.zeros([2, 3]))
    assert session.run(seq2seq.hardmax([[1.0, 3.0, 2.0]])).tolist() == [[0, 1, 0]]
