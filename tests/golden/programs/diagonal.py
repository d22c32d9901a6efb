"""Diagonals, bands of matrices and `eye`: nodes, shapes, values, gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden.programs.registry import Outcome, Run, program, raised, runs, values

ALIGNMENTS = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")


@program("O1: eye")
def eye(tf: Any) -> Outcome:
    rows = tf.placeholder(tf.int32, [], name="rows")
    batch = tf.placeholder(tf.int32, [None], name="batch")
    made = [
        tf.eye(3),
        tf.eye(3, 5),
        tf.eye(3, 3),
        tf.eye(rows, rows),
        tf.eye(5, 3, dtype=tf.int32, name="tall"),
        tf.eye(2, batch_shape=[3]),
        tf.eye(2, 3, batch_shape=[5, 7], dtype=tf.float64),
        tf.eye(rows),
        tf.eye(rows, 4),
        tf.eye(5, 3, batch_shape=batch),
    ]
    return runs(Run(made, {rows: np.array(7, np.int32), batch: np.array([2, 3], np.int32)}))


@program("O1: diag, diag_part")
def diag(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    anything = tf.placeholder(tf.float32, name="anything")
    square = tf.placeholder(tf.float32, [None, 5], name="square")
    made = [tf.diag(x), tf.diag_part(tf.diag(x)), tf.diag_part(square), tf.diag_part(anything), tf.diag([1, 2, 3])]
    made += tf.gradients(made[:3], [x, square])
    feeds = {x: values("x", 2, 3), square: values("square", 5, 5), anything: values("any", 3, 3)}
    return runs(Run(made, feeds))


@program("O1: matrix_diag, matrix_diag_part, matrix_set_diag")
def bands(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [2, 5, 7], name="x")
    made = []
    for k in (0, 2, -3, (-1, 1), (1, 4), (-4, -1), (-4, 6)):
        for align in ALIGNMENTS if isinstance(k, tuple) else ALIGNMENTS[:1]:
            part = tf.matrix_diag_part(x, k=k, align=align, padding_value=-1.0)
            made += [part, tf.matrix_diag(part, k=k, align=align), tf.matrix_set_diag(x, 2 * part, k=k, align=align)]
            made.append(tf.matrix_diag(part, k=k, num_rows=5, num_cols=7, padding_value=9.0, align=align))
    return runs(Run(made, {x: values("x", 2, 5, 7)}))


@program("O1: gradients of bands of matrices")
def band_gradients(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [2, 5, 7], name="x")
    d = tf.placeholder(tf.float32, [2, 5], name="d")
    unknown = tf.placeholder(tf.float32, [None, None], name="unknown")
    weights = tf.constant(values("w", 2, 5, 7))
    losses = [
        tf.matrix_diag_part(x) ** 2,
        tf.matrix_diag_part(x, k=(-1, 2)) ** 2,
        tf.matrix_set_diag(x, d) * weights,
        tf.matrix_diag(d) ** 2,
        tf.matrix_diag_part(unknown) ** 2,
    ]
    made = [g for loss in losses for g in tf.gradients(loss, [x, d, unknown]) if g is not None]
    feeds = {x: values("x", 2, 5, 7), d: values("d", 2, 5), unknown: values("u", 3, 5)}
    return runs(Run(made, feeds))


@program("O1: diagonals of shapes that are known in part")
def shapes(tf: Any) -> Outcome:
    for shape in ([None, 3, 5], [None, None], [2, None, 5], None):
        x = tf.placeholder(tf.float32, shape)
        for k in (0, (-1, 1), tf.placeholder(tf.int32)):
            part = tf.matrix_diag_part(x, k=k)
            tf.matrix_diag(part, k=k)
            tf.matrix_diag(part, k=k, num_rows=11)
        tf.matrix_set_diag(x, tf.matrix_diag_part(x))
    return runs()


@program("O1: diagonals, what is refused at construction")
def refused(tf: Any) -> Outcome:
    x = tf.zeros([3, 5])
    calls = {
        "diag of a scalar": lambda: tf.diag(1.0),
        "diag_part of halves that differ": lambda: tf.diag_part(x),
        "diag_part of odd rank": lambda: tf.diag_part(tf.zeros([2, 3, 2])),
        "matrix_diag of a scalar": lambda: tf.matrix_diag(1.0),
        "matrix_diag, too few rows": lambda: tf.matrix_diag([1.0, 2.0, 3.0], num_rows=2),
        "matrix_diag_part of a vector": lambda: tf.matrix_diag_part([1.0, 2.0]),
        "matrix_diag_part out of bounds": lambda: tf.matrix_diag_part(x, k=5),
        "low above high": lambda: tf.matrix_diag_part(x, k=(1, 0)),
        "matrix_set_diag of a vector": lambda: tf.matrix_set_diag([1.0, 2.0], [1.0]),
        "matrix_set_diag, batch differs": lambda: tf.matrix_set_diag(tf.zeros([2, 3, 3]), tf.zeros([5, 3])),
        "matrix_set_diag, rank differs": lambda: tf.matrix_set_diag(x, tf.zeros([1, 3])),
    }
    return Outcome(facts={name: raised(call) for name, call in calls.items()}, graph=tf.Graph())
