"""Recurrent cells, and LSTMs over whole sequences, as one op each."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden.programs.registry import Outcome, Run, program, runs, values

TIME, BATCH, INPUTS, UNITS = 5, 3, 2, 7
_LSTM = {"cs_prev": (BATCH, UNITS), "h_prev": (BATCH, UNITS), "w": (INPUTS + UNITS, 4 * UNITS), "wci": (UNITS,)}
_LSTM |= {"wcf": (UNITS,), "wco": (UNITS,), "b": (4 * UNITS,)}
_GATES = ("i", "cs", "f", "o", "ci", "co")


def _placed(tf: Any, shapes: dict[str, Any]) -> tuple[dict[str, Any], dict[Any, Any]]:
    """Placeholders by the names of the inputs, and what they are fed."""
    placed = {name: tf.placeholder(tf.float32, shape, name=name) for name, shape in shapes.items()}
    return placed, {placed[name]: 2 * values(name, *shape) - 1 for name, shape in shapes.items()}


@program("N: LSTMBlockCell and its gradient op")
def lstm_cell(tf: Any) -> Outcome:
    placed, feed = _placed(tf, {"x": (BATCH, INPUTS), **_LSTM})
    grads = {"cs_grad": values("cs_grad", BATCH, UNITS), "h_grad": values("h_grad", BATCH, UNITS)}
    made: list[Any] = []
    for attrs in ({}, {"forget_bias": 0.5, "cell_clip": 0.25, "use_peephole": True}):
        step = tf.raw_ops.LSTMBlockCell(**placed, **attrs)
        states = {name: getattr(step, name) for name in _GATES}
        peephole = attrs.get("use_peephole", False)
        made += [*step, *tf.raw_ops.LSTMBlockCellGrad(**placed, **states, **grads, use_peephole=peephole)]
    return runs(Run(made, feed, rtol=1e-4))


@program("N: BlockLSTM, BlockLSTMV2 and their gradients")
def lstm_sequences(tf: Any) -> Outcome:
    placed, feed = _placed(tf, {"x": (TIME, BATCH, INPUTS), **_LSTM})
    length = tf.constant(TIME, tf.int64)
    made: list[Any] = []
    for op, attrs in (
        (tf.raw_ops.BlockLSTM, {}),
        (tf.raw_ops.BlockLSTM, {"forget_bias": 0.5, "cell_clip": 0.25, "use_peephole": True}),
        (tf.raw_ops.BlockLSTMV2, {}),
        (tf.raw_ops.BlockLSTMV2, {"cell_clip": 0.25, "use_peephole": True}),
    ):
        sequence = op(seq_len_max=length, **placed, **attrs)
        made += sequence
        if op is tf.raw_ops.BlockLSTM:
            made += tf.gradients([sequence.h, sequence.cs], list(placed.values()))
            continue
        # TensorFlow 2 takes BlockLSTMGrad for it, which reads the gates in the other order.
        grads = [values(name, TIME, BATCH, UNITS) for name in ("cs_grad", "h_grad")]
        states = dict(zip((*_GATES, "h", "cs_grad", "h_grad"), [*sequence, *grads], strict=True))
        peephole = attrs.get("use_peephole", False)
        made += tf.raw_ops.BlockLSTMGradV2(seq_len_max=length, **placed, **states, use_peephole=peephole)
    return runs(Run(made, feed, rtol=1e-4, atol=1e-4))


@program("N: a part of BlockLSTM's time")
def lstm_part(tf: Any) -> Outcome:
    placed, feed = _placed(tf, {"x": (TIME, BATCH, INPUTS), **_LSTM})
    sequence = tf.raw_ops.BlockLSTM(seq_len_max=tf.constant(3, tf.int64), **placed)
    made = [*[part[:3] for part in sequence], sequence.h, sequence.cs]
    return runs(Run([*made, *tf.gradients(sequence.h, list(placed.values()))], feed, rtol=1e-4))


@program("N: GRUBlockCell and its gradient op")
def gru_cell(tf: Any) -> Outcome:
    shapes = {"x": (BATCH, INPUTS), "h_prev": (BATCH, UNITS), "w_ru": (INPUTS + UNITS, 2 * UNITS)}
    shapes |= {"w_c": (INPUTS + UNITS, UNITS), "b_ru": (2 * UNITS,), "b_c": (UNITS,)}
    placed, feed = _placed(tf, shapes)
    step = tf.raw_ops.GRUBlockCell(**placed)
    grads = tf.raw_ops.GRUBlockCellGrad(**placed, r=step.r, u=step.u, c=step.c, d_h=np.ones((BATCH, UNITS), np.float32))
    return runs(Run([*step, *grads], feed, rtol=1e-4))
