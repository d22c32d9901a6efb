"""Recurrent layers and what goes in: `record_recurrent.py` writes down what TensorFlow makes of them, the test compares.

A case makes, of `tf` and its `keras`, the layers and their outputs. Inputs and weights are numbers that `values` makes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

BATCH, TIME, DEPTH, UNITS = 3, 4, 2, 3
MASK = np.array([[1, 1, 0, 1], [1, 0, 0, 0], [0, 1, 1, 1]], bool)
IDS = np.array([[3, 1, 0, 0], [2, 0, 0, 0], [4, 4, 1, 2]], np.int32)


class Built(NamedTuple):
    """feeds: (input, its value). layers: those with weights, in order."""

    feeds: list[tuple[Any, np.ndarray]]
    outputs: list[Any]
    layers: list[Any]


Build = Callable[[Any, Any], Built]


def values(shape: Any, seed: int) -> np.ndarray:
    return np.random.RandomState(seed).uniform(-0.9, 0.9, tuple(shape)).astype(np.float32)


def flat(outputs: Any) -> list[Any]:
    if isinstance(outputs, (list, tuple)):
        return [one for part in outputs for one in flat(part)]
    return [outputs]


def sequences(keras: Any, batch: int | None = None) -> tuple[Any, np.ndarray]:
    return keras.layers.Input((TIME, DEPTH), batch_size=batch), values((BATCH, TIME, DEPTH), 1)


def _alone(make: Callable[[Any, Any], Any], tf: Any, keras: Any, masked: bool = False, seeds: Any = ()) -> Built:
    """A layer over sequences; with states to start with, inputs of the sizes in `seeds`."""
    x, fed = sequences(keras)
    layer = make(tf, keras)
    feeds = [(x, fed)]
    given: dict[str, Any] = {"mask": tf.constant(MASK)} if masked else {}
    if seeds:
        states = [keras.layers.Input((size,)) for size in seeds]
        feeds += [(state, values((BATCH, size), 20 + i)) for i, (state, size) in enumerate(zip(states, seeds, strict=True))]
        given["initial_state"] = states
    return Built(feeds, flat(layer(x, **given)), [layer])


def _time_major(make: Callable[[Any, Any], Any], tf: Any, keras: Any) -> Built:
    x = tf.placeholder(tf.float32, [None, BATCH, DEPTH])
    layer = make(tf, keras)
    return Built([(x, values((TIME, BATCH, DEPTH), 1))], flat(layer(x)), [layer])


def _variants(name: str, states: int, **settings: Any) -> dict[str, Build]:
    def layer(**more: Any) -> Callable[[Any, Any], Any]:
        return lambda tf, keras: getattr(keras.layers, name)(UNITS, **{**settings, **more})

    whole = {"return_sequences": True, "return_state": True}
    return {
        "last": functools.partial(_alone, layer()),
        "whole": functools.partial(_alone, layer(**whole)),
        "unrolled": functools.partial(_alone, layer(unroll=True, **whole)),
        "masked": functools.partial(_alone, layer(**whole), masked=True),
        "masked_last": functools.partial(_alone, layer(), masked=True),
        "masked_backwards": functools.partial(_alone, layer(go_backwards=True, **whole), masked=True),
        "masked_unrolled": functools.partial(_alone, layer(unroll=True, **whole), masked=True),
        "masked_zeros": functools.partial(_alone, layer(zero_output_for_mask=True, **whole), masked=True),
        "started": functools.partial(_alone, layer(**whole), seeds=[UNITS] * states),
        "time_major": functools.partial(_time_major, layer(time_major=True, **whole)),
        "no_bias": functools.partial(_alone, layer(use_bias=False)),
        "regularized": functools.partial(
            _alone, layer(kernel_regularizer="l1_l2", bias_regularizer="l1_l2", activity_regularizer="l1_l2")
        ),
    }


def _some(names: str, variants: dict[str, Build]) -> dict[str, Build]:
    return {name: variants[name] for name in names.split()}


def _cells(tf: Any, keras: Any) -> Any:
    cells = [keras.layers.LSTMCell(3), keras.layers.GRUCell(2), keras.layers.SimpleRNNCell(3)]
    return keras.layers.RNN(cells, return_sequences=True, return_state=True)


def _with_constants(tf: Any, keras: Any) -> Built:
    class Cell(keras.layers.Layer):  # type: ignore[misc]
        def __init__(self, units: int, **kwargs: Any):
            super().__init__(**kwargs)
            self.units = self.state_size = units

        def build(self, input_shape: Any) -> None:
            self.kernel = self.add_weight(name="kernel", shape=(int(input_shape[-1]), self.units), initializer="zeros")
            self.built = True

        def call(self, inputs: Any, states: Any, constants: Any) -> Any:
            output = tf.tanh(tf.matmul(inputs, self.kernel) + states[0] * constants[0])
            return output, [output]

        def get_config(self) -> dict[str, Any]:
            return {**super().get_config(), "units": self.units}

    x, fed = sequences(keras)
    constant = keras.layers.Input((UNITS,))
    layer = keras.layers.RNN(Cell(UNITS, name="own"))
    feeds = [(x, fed), (constant, values((BATCH, UNITS), 30))]
    return Built(feeds, flat(layer(x, constants=constant)), [layer])


def _of_two_sequences(tf: Any, keras: Any) -> Built:
    """A cell with several inputs, outputs and a state of rank 2."""

    class Cell(keras.layers.Layer):  # type: ignore[misc]
        state_size = (tf.TensorShape([2, 3]),)
        output_size = (tf.TensorShape([2, 3]), tf.TensorShape([2]))

        def call(self, inputs: Any, states: Any) -> Any:
            one, other = inputs
            state = states[0] * 0.5 + tf.expand_dims(one, 2) * tf.expand_dims(other, 1)
            return (state, one * 2), (state,)

    one, fed_one = sequences(keras)
    other = keras.layers.Input((TIME, 3))
    layer = keras.layers.RNN(Cell(name="own"), return_sequences=True, return_state=True)
    outputs = flat(layer((one, other)))
    return Built([(one, fed_one), (other, values((BATCH, TIME, 3), 31))], outputs, [])


def _both_ways(cell: str, tf: Any, keras: Any, masked: bool = False, mode: Any = "concat", seeds: Any = ()) -> Built:
    def make(tf: Any, keras: Any) -> Any:
        inner = getattr(keras.layers, cell)(UNITS, return_sequences=True, return_state=True)
        return keras.layers.Bidirectional(inner, merge_mode=mode)

    return _alone(make, tf, keras, masked, seeds)


def _masked_embedding(tf: Any, keras: Any) -> Built:
    ids = keras.layers.Input((TIME,), dtype="int32")
    layers = [
        keras.layers.Embedding(5, DEPTH, mask_zero=True),
        keras.layers.LSTM(UNITS, return_sequences=True),
        keras.layers.GRU(2),
    ]
    x = ids
    for layer in layers:
        x = layer(x)
    return Built([(ids, IDS)], [x], layers)


def _translation(tf: Any, keras: Any) -> Built:
    """A sequence read by one LSTM, whose states another begins with, and attention by products of both."""
    source, fed = sequences(keras)
    target = keras.layers.Input((None, DEPTH))
    reader = keras.layers.LSTM(UNITS, return_sequences=True, return_state=True)
    writer = keras.layers.LSTM(UNITS, return_sequences=True)
    read, *states = reader(source)
    written = writer(target, initial_state=states)
    weights = keras.layers.Activation("softmax")(keras.layers.Dot(axes=[2, 2])([written, read]))
    seen = keras.layers.Dot(axes=[2, 1])([weights, read])
    dense = keras.layers.Dense(DEPTH)
    output = keras.layers.TimeDistributed(dense)(keras.layers.Concatenate()([seen, written]))
    return Built([(source, fed), (target, values((BATCH, 5, DEPTH), 32))], [output], [reader, writer, dense])


def _cell_of_tf(tf: Any, keras: Any) -> Any:
    return keras.layers.RNN(tf.nn.rnn_cell.BasicLSTMCell(UNITS), return_sequences=True, return_state=True)


def _cases() -> dict[str, Build]:
    found: dict[str, Build] = {}
    families = {
        "simple": _some("last masked_backwards", _variants("SimpleRNN", 1)),
        "gru": _some("last masked started", _variants("GRU", 1)),
        "gru_after": _some(
            "last masked_last started no_bias", _variants("GRU", 1, reset_after=True, recurrent_activation="sigmoid")
        ),
        "lstm": _some(
            "last whole unrolled masked masked_backwards masked_unrolled masked_zeros started time_major regularized",
            _variants("LSTM", 2),
        ),
        "lstm_relu": {
            "whole": functools.partial(
                _alone,
                lambda tf, keras: keras.layers.LSTM(UNITS, "relu", "sigmoid", unit_forget_bias=False, implementation=2),
            )
        },
        "gru_together": {"whole": functools.partial(_alone, lambda tf, keras: keras.layers.GRU(UNITS, implementation=2))},
    }
    for family, variants in families.items():
        found.update({f"{family}_{name}": build for name, build in variants.items()})
    found["stacked"] = functools.partial(_alone, _cells)
    found["stacked_masked"] = functools.partial(_alone, _cells, masked=True)
    found["constants"] = _with_constants
    found["two_sequences"] = _of_two_sequences
    found["bidirectional"] = functools.partial(_both_ways, "LSTM")
    found["bidirectional_masked"] = functools.partial(_both_ways, "GRU", masked=True)
    found["bidirectional_sum"] = functools.partial(_both_ways, "SimpleRNN", mode="sum")
    found["bidirectional_started"] = functools.partial(_both_ways, "GRU", mode=None, seeds=[UNITS, UNITS])
    found["masked_embedding"] = _masked_embedding
    found["translation"] = _translation
    found["cell_of_tf"] = functools.partial(_alone, _cell_of_tf)
    return found


CASES = _cases()
# Those whose configs are compared, too.
DESCRIBED = {name for name in CASES if name.endswith("_last")} | {"stacked", "constants", "bidirectional", "lstm_relu_whole"}


def set_values(layers: list[Any]) -> None:
    for number, layer in enumerate(layers):
        shapes = [weight.shape.as_list() for weight in layer.weights]
        layer.set_weights([values(shape, 100 * (number + 1) + i) for i, shape in enumerate(shapes)])


def _in_parts(tf: Any, keras: Any) -> Built:
    """A layer that keeps its states from batch to batch."""
    x, fed = sequences(keras, BATCH)
    layer = keras.layers.LSTM(UNITS, stateful=True)
    return Built([(x, fed)], [layer(x)], [layer])


# By name: what is trained, and the optimizer of `tf.train` with its arguments.
TRAINED: dict[str, tuple[Build, str, tuple[float, ...]]] = {
    "translation": (_translation, "AdamOptimizer", (0.05,)),
    "masked_embedding": (_masked_embedding, "RMSPropOptimizer", (0.02,)),
    "in_parts": (_in_parts, "MomentumOptimizer", (0.1, 0.9)),
}


def trained(tf: Any, keras: Any, name: str) -> dict[str, Any]:
    """The losses of six steps towards outputs of zero, and the outputs after them."""
    keras.backend.clear_session()
    build, optimizer, settings = TRAINED[name]
    built = build(tf, keras)
    loss = tf.reduce_mean(tf.square(built.outputs[0] - 0.25))
    step = getattr(tf.train, optimizer)(*settings).minimize(loss)
    session = keras.backend.get_session()
    session.run(tf.global_variables_initializer())
    set_values(built.layers)
    feeds = dict(built.feeds)
    updates = [update for layer in built.layers for update in layer.updates]
    losses = [session.run([loss, step, updates], feeds)[0] for _ in range(6)]
    return {"losses": losses, "outputs": [session.run(built.outputs[0], feeds)]}


def observed(tf: Any, keras: Any, name: str) -> dict[str, Any]:
    """Outputs, gradients by weights and inputs of a sum of them, losses, weights and for some the layers' configs."""
    keras.backend.clear_session()
    built, described = CASES[name](tf, keras), name in DESCRIBED
    loss = tf.add_n([tf.reduce_sum(out * out * (i + 1.0)) for i, out in enumerate(built.outputs)])
    weights = [weight for layer in built.layers for weight in layer.weights]
    inputs = [tensor for tensor, fed in built.feeds if fed.dtype == np.float32]
    gradients = [g for g in tf.gradients(loss, weights + inputs) if g is not None]
    gradients = [tf.convert_to_tensor(g) for g in gradients]
    losses = [loss for layer in built.layers for loss in layer.losses]
    session = keras.backend.get_session()
    set_values(built.layers)
    feeds = dict(built.feeds)
    outputs, gradients, losses = session.run([built.outputs, gradients, losses], feeds)
    return {
        "outputs": outputs,
        "gradients": gradients,
        "losses": losses,
        "weights": [[weight.name, weight.shape.as_list()] for weight in weights],
        "configs": [layer.get_config() for layer in built.layers] if described else None,
    }
