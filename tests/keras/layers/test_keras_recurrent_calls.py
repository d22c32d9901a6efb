"""Recurrent layers: states between batches, configs, dropout, CuDNN's weights, eager execution, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.keras import backend as K
from tfexp.keras import layers as L
from tfexp.runtime.eager import eager_mode

VALUES = np.random.RandomState(3).randn(3, 5, 2).astype(np.float32)
MASK = np.array([[1, 1, 1, 0, 0], [1, 0, 0, 0, 0], [1, 1, 0, 1, 1]], bool)


@pytest.fixture(autouse=True)
def anew() -> Iterator[None]:
    K.clear_session()
    yield
    K.clear_session()


def _weights(layer: Any, seed: int = 1) -> list[np.ndarray]:
    random = np.random.RandomState(seed)
    return [random.uniform(-0.5, 0.5, weight.shape.as_list()).astype(np.float32) for weight in layer.weights]


def _run(layer: Any, values: np.ndarray = VALUES, weights: list[np.ndarray] | None = None, **call: Any) -> Any:
    outputs = layer(tf.constant(values), **call)
    K.get_session()
    layer.set_weights(_weights(layer) if weights is None else weights)
    return K.get_session().run(outputs)


# --- where ops run at once and in functions ---

EVERYWHERE: dict[str, tuple[Callable[[], Any], dict[str, Any]]] = {
    "lstm": (lambda: L.LSTM(4), {"mask": MASK}),
    "gru": (lambda: L.GRU(4, return_sequences=True, reset_after=True), {}),
    "stacked": (lambda: L.RNN([L.LSTMCell(3), L.GRUCell(2)]), {"mask": MASK}),
    "both ways": (lambda: L.Bidirectional(L.GRU(3, return_sequences=True)), {"mask": MASK}),
}


@pytest.mark.parametrize("name", EVERYWHERE)
def test_values_and_gradients_are_those_of_a_graph(name: str) -> None:
    make, call = EVERYWHERE[name]
    layer = make()
    output = layer(tf.constant(VALUES), **call)
    gradients = tf.gradients(tf.reduce_sum(tf.square(output)), layer.trainable_weights)
    K.get_session()
    layer.set_weights(_weights(layer))
    wanted = K.get_session().run([output, *gradients])
    with eager_mode():
        other = make()
        other.build((3, 5, 2))
        other.set_weights(_weights(other))

        def step(x: Any) -> Any:
            with tf.GradientTape() as tape:
                output = other(x, **call)
                loss = tf.reduce_sum(tf.square(output))
            return [output, *tape.gradient(loss, other.trainable_weights)]

        for found in (step(tf.constant(VALUES)), tf.function(step)(tf.constant(VALUES))):
            for mine, theirs in zip(found, wanted, strict=True):
                np.testing.assert_allclose(mine.numpy(), theirs, rtol=2e-5, atol=2e-6)


def test_states_stay_from_call_to_call_in_eager_execution() -> None:
    with eager_mode():
        layer = L.GRU(4, stateful=True, batch_input_shape=(3, None, 2))
        first, second = layer(VALUES).numpy(), layer(VALUES).numpy()
        assert not np.allclose(first, second)
        layer.reset_states()
        np.testing.assert_allclose(layer(VALUES).numpy(), first)


# --- states ---


def _stateful(started: bool = False) -> tuple[Any, Callable[..., Any]]:
    """An LSTM and what it makes of a batch, a part of a sequence."""
    x = L.Input(batch_shape=(3, None, 2))
    starts = [L.Input(batch_shape=(3, 4)) for _ in range(2)] if started else []
    layer = L.LSTM(4, stateful=True, return_sequences=True)
    output = layer(x, initial_state=starts) if started else layer(x)
    K.get_session()
    layer.set_weights(_weights(layer))
    step = K.function([x, *starts], [output], updates=layer.updates)
    return layer, lambda values, *given: step([values, *given])[0]


def test_a_sequence_in_parts_gives_what_it_gives_whole() -> None:
    layer, run = _stateful()
    assert [variable.name for variable in layer.states] == ["lstm/Variable:0", "lstm/Variable_1:0"]
    assert len(layer.weights) == 3
    whole = run(VALUES)
    layer.reset_states()
    np.testing.assert_allclose(np.concatenate([run(VALUES[:, :2]), run(VALUES[:, 2:])], 1), whole, rtol=1e-5, atol=1e-6)
    kept = [K.get_value(state) for state in layer.states]
    layer.reset_states([np.zeros((3, 4)), np.zeros((3, 4))])
    np.testing.assert_allclose(run(VALUES), whole, rtol=1e-5, atol=1e-6)
    layer.reset_states(kept)
    for state, value in zip(layer.states, kept, strict=True):
        np.testing.assert_array_equal(K.get_value(state), value)


def test_given_states_are_for_the_first_batch() -> None:
    layer, run = _stateful(started=True)
    ones, zeros = [np.ones((3, 4))] * 2, [np.zeros((3, 4))] * 2
    first, second = run(VALUES, *ones), run(VALUES, *ones)
    layer.reset_states()
    np.testing.assert_allclose(run(VALUES, *ones), first)
    np.testing.assert_allclose(run(VALUES, *zeros), second)


def test_states_of_stacked_cells_keep_their_structure() -> None:
    layer = L.RNN([L.LSTMCell(3), L.GRUCell(2)], stateful=True, return_state=True)
    output, (hidden, memory), state = layer(L.Input(batch_shape=(3, 5, 2)))
    assert [t.shape.as_list()[1] for t in (output, hidden, memory, state)] == [2, 3, 3, 2]
    values = [[np.ones((3, 3)), np.full((3, 3), 2.0)], np.full((3, 2), 3.0)]
    layer.reset_states(values)
    (one, two), three = layer.states
    assert [K.get_value(v)[0, 0] for v in (one, two, three)] == [1, 2, 3]
    reverse = L.StackedRNNCells([L.LSTMCell(3), L.GRUCell(2)], reverse_state_order=True)
    assert reverse.state_size == (2, [3, 3]) and reverse.output_size == 2


@pytest.mark.parametrize("kind", ["single", "wrapped"])
def test_cells_of_nn_run_in_layers(kind: str) -> None:
    def cell(units: int) -> Any:
        return tf.nn.rnn_cell.GRUCell(units)

    cells = {
        "single": lambda: cell(4),
        "wrapped": lambda: tf.nn.rnn_cell.ResidualWrapper(tf.nn.rnn_cell.MultiRNNCell([cell(3), cell(2)])),
    }
    layer = L.RNN(cells[kind](), return_sequences=True)
    output = layer(tf.constant(VALUES))
    depth = 2 if kind == "wrapped" else 4
    assert output.shape.as_list() == [3, 5, depth] and len(layer.trainable_weights) == (4 if kind == "single" else 8)
    with tf.variable_scope("other"):
        own = tf.nn.rnn_cell.MultiRNNCell([cell(3), cell(depth)]) if kind != "single" else cell(4)
        wanted, _ = tf.nn.dynamic_rnn(own, tf.constant(VALUES), dtype=tf.float32)
    wanted = wanted + VALUES if kind == "wrapped" else wanted
    session = K.get_session()
    session.run(tf.global_variables_initializer())
    for one, other in zip(layer.weights, own.weights, strict=True):
        other.load(session.run(one), session)
    np.testing.assert_allclose(*session.run([output, wanted]), rtol=1e-5, atol=1e-6)


# --- configs ---


@pytest.mark.parametrize(
    "make",
    [
        lambda: L.SimpleRNN(3, "relu", dropout=0.25, go_backwards=True),
        lambda: L.GRU(3, reset_after=True, implementation=2, kernel_regularizer="l2", activity_regularizer="l1"),
        lambda: L.LSTM(3, unit_forget_bias=False, recurrent_constraint="non_neg", recurrent_dropout=2.0, unroll=True),
        lambda: L.CuDNNGRU(3, return_state=True, bias_initializer="ones"),
        lambda: L.CuDNNLSTM(3, unit_forget_bias=False, stateful=True),
        lambda: L.RNN([L.LSTMCell(3), L.PeepholeLSTMCell(2)], time_major=True, zero_output_for_mask=True),
        lambda: L.Bidirectional(L.LSTM(3, return_sequences=True), merge_mode="ave"),
    ],
)
def test_a_config_makes_such_a_layer(make: Callable[[], Any]) -> None:
    layer = make()
    again = L.deserialize(L.serialize(layer), {"PeepholeLSTMCell": L.PeepholeLSTMCell})
    assert type(again) is type(layer) and again is not layer
    assert again.get_config() == layer.get_config()


def test_a_model_of_a_config_gets_its_states_and_constants() -> None:
    x, state, constant = L.Input((None, 2)), L.Input((2,)), L.Input((2,))

    class Adding(L.Layer):
        state_size = 2

        def call(self, inputs: Any, states: Any, constants: Any = None) -> Any:
            following = inputs + states[0] * constants[0]
            return following, [following]

    from tfexp.keras.engine.model import Model

    model = Model([x, state, constant], L.RNN(Adding())(x, initial_state=state, constants=constant))
    again = Model.from_config(model.get_config(), {"Adding": Adding})
    run = K.function(again.inputs, again.outputs)
    start, factor = np.full((3, 2), 2.0, np.float32), np.full((3, 2), 0.5, np.float32)
    wanted = start
    for t in range(5):
        wanted = VALUES[:, t] + wanted * factor
    np.testing.assert_allclose(run([VALUES, start, factor])[0], wanted, rtol=1e-5)
    both = L.Bidirectional(L.RNN(Adding()))  # a cell that no name space has
    assert both(x, constants=constant).shape.as_list() == [None, 4]


# --- dropout ---


@pytest.mark.parametrize("unroll", [False, True])
def test_one_mask_is_for_all_steps(unroll: bool) -> None:
    settings = {"activation": "linear", "use_bias": False, "return_sequences": True, "dropout": 0.5, "unroll": unroll}
    ones = np.ones((7, 5, 11), np.float32)
    inputs_only = [np.eye(11, dtype=np.float32), np.zeros((11, 11), np.float32)]
    dropped = _run(L.SimpleRNN(11, **settings), ones, inputs_only, training=True)
    assert set(np.unique(dropped)) == {0, 2}
    np.testing.assert_array_equal(dropped, np.repeat(dropped[:, :1], 5, 1))
    assert len({row.tobytes() for row in dropped[:, 0]}) > 1
    np.testing.assert_array_equal(_run(L.SimpleRNN(11, **settings), ones, inputs_only), ones)


@pytest.mark.parametrize(("name", "implementation"), [("GRU", 1), ("LSTM", 2)])
def test_gates_drop_alone_or_together(name: str, implementation: int) -> None:
    settings = {"dropout": 0.4, "recurrent_dropout": 0.4, "implementation": implementation, "return_sequences": True}
    layer = getattr(L, name)(4, **settings)
    trained, other = (_run(layer, weights=_weights_of(name), training=True) for _ in range(2))
    plain = _run(getattr(L, name)(4, return_sequences=True), weights=_weights_of(name))
    assert np.abs(trained - plain).max() > 1e-3 and np.abs(trained - other).max() > 1e-3
    np.testing.assert_allclose(_run(layer, weights=_weights_of(name)), plain, rtol=1e-5, atol=1e-6)
    masks = layer.cell.get_dropout_mask_for_cell(tf.ones([3, 2]), training=True, count=layer.cell.gates)
    assert isinstance(masks, list) is (implementation == 1)


def _weights_of(name: str) -> list[np.ndarray]:
    width = {"GRU": 12, "LSTM": 16}[name]
    random = np.random.RandomState(5)
    return [random.uniform(-0.9, 0.9, shape).astype(np.float32) for shape in ((2, width), (4, width), (width,))]


# --- CuDNN's weights, peepholes ---


def _from_rows(*kernels: np.ndarray) -> list[np.ndarray]:
    """Each gate of 4 units in rows as CuDNN takes it, in columns as the others do."""
    gates = [np.hsplit(kernel, kernel.shape[1] // 4) for kernel in kernels]
    return [np.hstack([gate.reshape(4, -1).T for gate in of_kernel]) for of_kernel in gates]


def test_cudnn_layers_are_the_others_with_two_biases() -> None:
    settings = {"return_sequences": True, "return_state": True, "go_backwards": True}
    cudnn = L.CuDNNLSTM(4, **settings)
    found = _run(cudnn)
    kernel, recurrent, bias = _weights(cudnn)
    assert bias.shape == (32,)
    wanted = _run(
        L.LSTM(4, recurrent_activation="sigmoid", **settings),
        weights=[*_from_rows(kernel, recurrent), bias[:16] + bias[16:]],
    )
    for mine, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6)
    cudnn = L.CuDNNGRU(4, **settings)
    found = _run(cudnn)
    kernel, recurrent, bias = _weights(cudnn)
    other = L.GRU(4, recurrent_activation="sigmoid", reset_after=True, **settings)
    for mine, theirs in zip(found, _run(other, weights=[*_from_rows(kernel, recurrent), bias.reshape(2, 12)]), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6)


def test_the_forget_gates_bias_starts_at_one() -> None:
    for layer, start in ((L.LSTM(2), 2), (L.CuDNNLSTM(2), 10)):
        layer.build((None, None, 3))
        bias = K.get_value(layer.weights[2])
        np.testing.assert_array_equal(np.flatnonzero(bias), [start, start + 1])
        assert set(bias) == {0, 1}


def test_peepholes_see_the_memory() -> None:
    cell = L.PeepholeLSTMCell(2, recurrent_activation="sigmoid")
    x, hidden, memory = (np.random.RandomState(i).randn(3, size).astype(np.float32) for i, size in enumerate((5, 2, 2)))
    output, states = cell(tf.constant(x), [tf.constant(hidden), tf.constant(memory)])
    K.get_session()
    weights = _weights(cell)
    cell.set_weights(weights)
    kernel, recurrent, bias, into, keep, out = weights
    enter, stay, candidate, give = np.split(x @ kernel + hidden @ recurrent + bias, 4, axis=1)
    following = _sigmoid(stay + keep * memory) * memory + _sigmoid(enter + into * memory) * np.tanh(candidate)
    found = K.get_session().run([output, *states])
    np.testing.assert_allclose(found[2], following, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found[0], _sigmoid(give + out * following) * np.tanh(following), rtol=1e-5, atol=1e-6)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


# --- backend.rnn ---


def _adding(inputs: Any, states: Any) -> Any:
    assert isinstance(states, tuple)
    return {"sum": inputs["x"] + states[0], "twice": inputs["x"] * 2}, [inputs["x"] + states[0]]


@pytest.mark.parametrize("unroll", [False, True])
def test_structures_go_through_steps(unroll: bool) -> None:
    x = tf.constant(VALUES)
    last, outputs, (state,) = K.rnn(_adding, {"x": x}, [tf.zeros([3, 2])], mask=tf.constant(MASK), unroll=unroll)
    found = K.get_session().run([outputs["sum"], outputs["twice"], last["sum"], state])
    sums, twice = np.zeros((3, 5, 2), np.float32), np.zeros((3, 5, 2), np.float32)
    total, doubled = np.zeros((3, 2), np.float32), np.zeros((3, 2), np.float32)
    for t in range(5):
        counts = MASK[:, t, None]
        total, doubled = np.where(counts, total + VALUES[:, t], total), np.where(counts, 2 * VALUES[:, t], doubled)
        sums[:, t], twice[:, t] = total, doubled
    for mine, wanted in zip(found, (sums, twice, total, total), strict=True):
        np.testing.assert_allclose(mine, wanted, rtol=1e-5, atol=1e-6)


def test_a_loop_may_be_told_to_end() -> None:
    _, _, (state,) = K.rnn(lambda x, s: (x, [s[0] + 1.0]), tf.constant(VALUES), [tf.zeros([3])], input_length=4)
    np.testing.assert_array_equal(K.get_session().run(state), [4, 4, 4])


# --- what they refuse ---


class _Bare(L.Layer):
    def call(self, inputs: Any, states: Any) -> Any:
        return inputs, states


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "no cell": (lambda: L.RNN(3), ValueError, "should have a `call` method"),
    "no size": (lambda: L.RNN(_Bare()), ValueError, "should have an attribute `state_size`"),
    "no size in stack": (lambda: L.StackedRNNCells([_Bare()]), ValueError, "All cells must have a `state_size`"),
    "no call in stack": (lambda: L.StackedRNNCells([3]), ValueError, "All cells must have a `call`"),
    "rank": (lambda: L.LSTM(4)(L.Input((3,))), ValueError, "expected ndim=3, found ndim=2"),
    "batch unknown": (lambda: L.GRU(4, stateful=True)(L.Input((5, 3))), ValueError, "needs to know its batch size"),
    "time unknown": (lambda: L.GRU(4, unroll=True)(L.Input((None, 3))), ValueError, "Cannot unroll a RNN"),
    "states missing": (
        lambda: L.LSTM(4)(L.Input((5, 3)), initial_state=[L.Input((4,))]),
        ValueError,
        "not compatible with `cell.state_size`",
    ),
    "states of another size": (
        lambda: L.LSTM(4)(L.Input((5, 3)), initial_state=[L.Input((4,)), L.Input((3,))]),
        ValueError,
        "not compatible with `cell.state_size`",
    ),
    "a mix": (
        lambda: L.LSTM(4)(L.Input((5, 3)), initial_state=[L.Input((4,)), tf.zeros((2, 4))]),
        ValueError,
        "a mix of Keras tensors and non-Keras tensors",
    ),
    "constants": (
        lambda: L.RNN(L.LSTMCell(4))(L.Input((5, 3)), constants=[L.Input((4,))]),
        ValueError,
        "does not support constants",
    ),
    "not stateful": (lambda: L.LSTM(4).reset_states(), AttributeError, "Layer must be stateful."),
    "masks": (lambda: L.CuDNNGRU(4)(tf.constant(VALUES), mask=MASK), ValueError, "Masking is not supported for CuDNN"),
    "unrolled cudnn": (lambda: L.CuDNNGRU(4, unroll=True), TypeError, "unroll"),
    "too few dimensions": (
        lambda: K.rnn(lambda x, s: (x, s), tf.zeros([2, 3]), []),
        ValueError,
        "must have rank at least 3",
    ),
    "unknown steps": (
        lambda: K.rnn(lambda x, s: (x, s), tf.placeholder(tf.float32, [2, None, 3]), [], unroll=True),
        ValueError,
        "Unrolling requires a fixed number of timesteps",
    ),
    "states too many": (
        lambda: K.rnn(lambda x, s: (x, [x, x]), tf.zeros([2, 3, 4]), [tf.zeros([2, 4])]),
        ValueError,
        "gives 2 states, but gets 1",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_is_refused(name: str) -> None:
    act, kind, text = REFUSED[name]
    with pytest.raises(kind, match=text):
        act()


def test_states_that_do_not_fit_are_refused() -> None:
    layer = L.LSTM(4, stateful=True)
    layer(L.Input(batch_shape=(3, 5, 2)))
    with pytest.raises(ValueError, match="expects 2 states, but it received 1"):
        layer.reset_states([np.ones((3, 4))])
    with pytest.raises(ValueError, match=r"State 1 is incompatible with layer lstm: expected shape=\(3, 4\), found"):
        layer.reset_states([np.ones((3, 4)), np.ones((3, 5))])


class Summing(L.AbstractRNNCell):
    state_size = 2
    output_size = 2

    def call(self, inputs: Any, states: Any) -> tuple[Any, list[Any]]:
        total = states[0] + inputs
        return total, [total]


def test_a_cell_of_ones_own_says_what_the_abstract_one_does_not() -> None:
    abstract = L.AbstractRNNCell()
    for ask in (lambda: abstract.state_size, lambda: abstract.output_size, lambda: abstract.call(None, None)):
        with pytest.raises(NotImplementedError, match="Abstract method"):
            ask()
    inputs = L.Input((5, 2))
    outputs = L.RNN(Summing())(inputs)
    np.testing.assert_allclose(K.get_session().run(outputs, {inputs: VALUES}), VALUES.sum(axis=1), rtol=1e-5)
    with pytest.raises(ValueError, match="batch_size and dtype cannot be None"):
        Summing().get_initial_state()


def test_sizes_of_states_of_cudnn_layers():
    assert tf.keras.layers.CuDNNLSTM(3).cell.state_size == (3, 3) and tf.keras.layers.CuDNNGRU(3).cell.state_size == 3
