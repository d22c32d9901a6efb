"""Recurrent networks: cells alone, unrolled, in loops, both ways, wrapped, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden.programs.registry import Outcome, Run, program, runs, values

SOURCE = "features O6, issue 4.1"

_CELLS = {
    "rnn": lambda c: c.BasicRNNCell(5),
    "basic_lstm": lambda c: c.BasicLSTMCell(5, forget_bias=0.5),
    "basic_lstm_concatenated": lambda c: c.BasicLSTMCell(5, state_is_tuple=False),
    "lstm": lambda c: c.LSTMCell(5),
    "lstm_peepholes": lambda c: c.LSTMCell(5, use_peepholes=True, cell_clip=0.5, num_proj=3, proj_clip=0.4),
    "lstm_concatenated": lambda c: c.LSTMCell(5, state_is_tuple=False, num_proj=3),
    "gru": lambda c: c.GRUCell(5),
    "multi": lambda c: c.MultiRNNCell([c.BasicLSTMCell(5), c.GRUCell(3)]),
    "multi_concatenated": lambda c: c.MultiRNNCell([c.GRUCell(5), c.GRUCell(3)], state_is_tuple=False),
    "residual": lambda c: c.ResidualWrapper(c.GRUCell(7)),
    "device": lambda c: c.DeviceWrapper(c.GRUCell(5), "/cpu:0"),
}


def _initializer(tf: Any) -> Any:
    return tf.random_uniform_initializer(-0.7, 0.7, seed=1)


def _flat(tf: Any, *structures: Any) -> list[Any]:
    return [leaf for structure in structures for leaf in tf.nest.flatten(structure)]


def _one_step(name: str) -> Any:
    def build(tf: Any) -> Outcome:
        x = tf.placeholder(tf.float32, [2, 7], name="x")
        with tf.variable_scope("model", initializer=_initializer(tf)):
            cell = _CELLS[name](tf.nn.rnn_cell)
            state = cell.zero_state(2, tf.float32)
            output, state = cell(x, state)
            output, state = cell(x, state)
        grads = tf.gradients(output, [x, *tf.trainable_variables()])
        steps = Run(tf.global_variables_initializer()), Run([*_flat(tf, output, state), *grads], {x: values("x", 2, 7)})
        sizes = [str(cell.output_size), str(cell.state_size)]
        return runs(*steps, sizes=sizes, variables=[v.name for v in tf.global_variables()])

    return build


for _name in _CELLS:
    program(SOURCE, f"step_{_name}")(_one_step(_name))


def _sequence(tf: Any, name: str, *, gradient: bool = True, known: bool = True, **options: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [2, 4, 7] if known else [None, None, 7], name="x")
    feeds = {x: values("x", 2, 4, 7)}
    if options.pop("lengths", False):
        options["sequence_length"] = tf.placeholder(tf.int32, [2] if known else [None], name="lengths")
        feeds[options["sequence_length"]] = np.array([3, 1], np.int32)
    with tf.variable_scope("model", initializer=_initializer(tf)):
        cell = _CELLS[name](tf.nn.rnn_cell)
        outputs, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32, **options)
    grads = tf.gradients(outputs, [x, *tf.trainable_variables()]) if gradient else []
    steps = Run(tf.global_variables_initializer()), Run([*_flat(tf, outputs, state), *grads], feeds)
    return runs(*steps, variables=[v.name for v in tf.global_variables()])


@program(SOURCE)
def dynamic_lstm(tf: Any) -> Outcome:
    return _sequence(tf, "basic_lstm")


@program(SOURCE)
def dynamic_lstm_unknown_shapes(tf: Any) -> Outcome:
    return _sequence(tf, "basic_lstm", known=False)


@program(SOURCE)
def dynamic_lstm_lengths(tf: Any) -> Outcome:
    return _sequence(tf, "basic_lstm", lengths=True)


@program(SOURCE)
def dynamic_gru_lengths_unknown_shapes(tf: Any) -> Outcome:
    return _sequence(tf, "gru", lengths=True, known=False)


@program(SOURCE)
def dynamic_multi(tf: Any) -> Outcome:
    return _sequence(tf, "multi", lengths=True, swap_memory=True, parallel_iterations=4)


@program(SOURCE)
def dynamic_peepholes_time_major(tf: Any) -> Outcome:
    return _sequence(tf, "lstm_peepholes", time_major=True)


@program(SOURCE)
def dynamic_initial_state(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [2, 3, 7], name="x")
    cell = tf.nn.rnn_cell.LSTMCell(5, initializer=_initializer(tf), name="mine")
    start = tf.nn.rnn_cell.LSTMStateTuple(tf.ones([2, 5]), tf.zeros([2, 5]))
    outputs, state = tf.nn.dynamic_rnn(cell, x, [3, 2], initial_state=start, scope="decoder")
    steps = Run(tf.global_variables_initializer()), Run([outputs, *state], {x: values("x", 2, 3, 7)})
    return runs(*steps, variables=[v.name for v in tf.global_variables()])


@program(SOURCE)
def bidirectional_dynamic(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [2, 4, 7], name="x")
    lengths = tf.placeholder(tf.int32, [2], name="lengths")
    c = tf.nn.rnn_cell
    with tf.variable_scope("model", initializer=_initializer(tf)):
        outputs, states = tf.nn.bidirectional_dynamic_rnn(c.GRUCell(5), c.BasicLSTMCell(3), x, lengths, dtype=tf.float32)
    grads = tf.gradients(outputs, [x, *tf.trainable_variables()])
    feeds = {x: values("x", 2, 4, 7), lengths: np.array([3, 1], np.int32)}
    return runs(Run(tf.global_variables_initializer()), Run([*_flat(tf, outputs, states), *grads], feeds))


@program(SOURCE)
def bidirectional_dynamic_whole_length(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [2, 4, 7], name="x")
    c = tf.nn.rnn_cell
    with tf.variable_scope("model", initializer=_initializer(tf)):
        outputs, states = tf.nn.bidirectional_dynamic_rnn(c.GRUCell(5), c.GRUCell(3), x, dtype=tf.float32, time_major=True)
    return runs(Run(tf.global_variables_initializer()), Run(_flat(tf, outputs, states), {x: values("x", 2, 4, 7)}))


def _unrolled(tf: Any, name: str, *, lengths: bool = False, **options: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [2, 3, 7], name="x")
    feeds = {x: values("x", 2, 3, 7)}
    if lengths:
        options["sequence_length"] = tf.placeholder(tf.int32, [2], name="lengths")
        feeds[options["sequence_length"]] = np.array([2, 1], np.int32)
    with tf.variable_scope("model", initializer=_initializer(tf)):
        cell = _CELLS[name](tf.nn.rnn_cell)
        outputs, state = tf.nn.static_rnn(cell, tf.unstack(x, axis=1), dtype=tf.float32, **options)
    grads = tf.gradients(outputs, [x, *tf.trainable_variables()])
    steps = Run(tf.global_variables_initializer()), Run([*_flat(tf, outputs, state), *grads], feeds)
    return runs(*steps, variables=[v.name for v in tf.global_variables()])


@program(SOURCE)
def static_lstm(tf: Any) -> Outcome:
    return _unrolled(tf, "basic_lstm")


@program(SOURCE)
def static_gru_lengths(tf: Any) -> Outcome:
    return _unrolled(tf, "gru", lengths=True)


@program(SOURCE)
def static_multi_lengths(tf: Any) -> Outcome:
    return _unrolled(tf, "multi", lengths=True)


@program(SOURCE)
def static_bidirectional(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [2, 3, 7], name="x")
    lengths = tf.placeholder(tf.int64, [2], name="lengths")
    c = tf.nn.rnn_cell
    with tf.variable_scope("model", initializer=_initializer(tf)):
        outputs, forward, backward = tf.nn.static_bidirectional_rnn(
            c.BasicLSTMCell(5), c.GRUCell(3), tf.unstack(x, axis=1), dtype=tf.float32, sequence_length=lengths
        )
    feeds = {x: values("x", 2, 3, 7), lengths: np.array([2, 1])}
    return runs(Run(tf.global_variables_initializer()), Run(_flat(tf, outputs, forward, backward), feeds))


class _SavedState:
    """What `static_state_saving_rnn` asks of a state saver."""

    def __init__(self, tf: Any):
        self._tf = tf
        self._states = {name: tf.Variable(tf.ones([2, 5]), name=name, trainable=False) for name in ("c", "h")}

    def state(self, name: str) -> Any:
        return self._states[name]

    def save_state(self, name: str, value: Any) -> Any:
        return self._tf.assign(self._states[name], value).op


@program(SOURCE)
def state_saving(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [2, 3, 7], name="x")
    cell = tf.nn.rnn_cell.LSTMCell(5, initializer=_initializer(tf))
    outputs, state = tf.nn.static_state_saving_rnn(cell, tf.unstack(x, axis=1), _SavedState(tf), ("c", "h"))
    step = Run(_flat(tf, outputs, state), {x: values("x", 2, 3, 7)})
    return runs(Run(tf.global_variables_initializer()), step, step)


@program(SOURCE)
def dropout_wrapper(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [2, 3, 7], name="x")
    c = tf.nn.rnn_cell
    keep = tf.placeholder_with_default(1.0, [], name="keep")
    with tf.variable_scope("model", initializer=_initializer(tf)):
        cell = c.DropoutWrapper(c.LSTMCell(5), 0.5, keep, 0.7, seed=3)
        first = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
    with tf.variable_scope("held", initializer=_initializer(tf)):
        same = c.DropoutWrapper(c.LSTMCell(5), 0.5, keep, 0.7, True, tf.TensorShape([7]), tf.float32, seed=3)
        tf.nn.dynamic_rnn(same, x, dtype=tf.float32)
    tf.gradients(first[0], x)
    return runs(Run(tf.global_variables_initializer()))


@program(SOURCE)
def shared_variables(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [2, 3, 7], name="x")
    for reuse in (None, True):
        with tf.variable_scope("tower", reuse=reuse, initializer=_initializer(tf)):
            tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicLSTMCell(5), x, dtype=tf.float32)
    cell = tf.nn.rnn_cell.GRUCell(5, name="shared", reuse=tf.AUTO_REUSE)
    for _ in range(2):
        cell(x[:, 0], tf.zeros([2, 5]))
    other = tf.nn.rnn_cell.GRUCell(5)
    with tf.variable_scope("a"):
        other(x[:, 0], tf.zeros([2, 5]))
    with tf.variable_scope("b"):
        other(x[:, 0], tf.zeros([2, 5]))
    return runs(variables=[v.name for v in tf.global_variables()])
