"""Linear algebra that TensorFlow composes of other ops: nodes, shapes, values, gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden.programs.registry import Outcome, Run, program, runs, values


@program("O1: matvec, normalize, matrix_rank, pinv, lu")
def composites(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [2, 5, 3], name="x")
    v = tf.placeholder(tf.float32, [2, 3], name="v")
    square = tf.placeholder(tf.float32, [3, 3], name="square")
    made = [tf.linalg.matvec(x, v), tf.linalg.matvec(x, tf.ones([2, 5]), transpose_a=True)]
    made += [*tf.linalg.normalize(x, axis=1), *tf.linalg.normalize(x, ord=np.inf), *tf.linalg.normalize(x, axis=[-2, -1])]
    made += [tf.linalg.matrix_rank(x), tf.linalg.matrix_rank(x, tol=0.5), tf.linalg.pinv(x), tf.linalg.pinv(x, rcond=0.1)]
    made += list(tf.linalg.lu(square))
    made += tf.gradients(made[0], [x, v]) + tf.gradients(made[2], [x])
    return runs(Run(made, {x: values("x", 2, 5, 3), v: values("v", 2, 3), square: values("s", 3, 3)}, rtol=1e-3, atol=1e-4))


@program("O1: tridiagonal_solve, tridiagonal_matmul")
def tridiagonal(tf: Any) -> Outcome:
    d = tf.placeholder(tf.float32, [2, 3, 5], name="d")
    r = tf.placeholder(tf.float32, [2, 5, 7], name="r")
    v = tf.placeholder(tf.float32, [2, 5], name="v")
    whole = tf.placeholder(tf.float32, [2, 5, 5], name="whole")
    parts = (v + 1.0, v + 3.0, v)
    solve, multiply = tf.linalg.tridiagonal_solve, tf.linalg.tridiagonal_matmul
    made = [
        solve(d, r),
        solve(d, v, name="of_vector"),
        solve(parts, r, diagonals_format="sequence"),
        solve(whole, r, diagonals_format="matrix"),
        solve(d, tf.ones([2, 7, 5]), transpose_rhs=True),
        solve(d, r, partial_pivoting=False),
        multiply(d, r),
        multiply([tf.expand_dims(p, 0)[0] for p in parts], r, diagonals_format="sequence"),
        multiply(whole, r, diagonals_format="matrix", name="of_matrix"),
    ]
    made += tf.gradients(made[0], [d, r]) + tf.gradients(made[6], [d, r])
    feeds = {d: values("d", 2, 3, 5), r: values("r", 2, 5, 7), v: values("v", 2, 5), whole: values("w", 2, 5, 5)}
    return runs(Run(made, feeds, rtol=1e-2, atol=1e-3))


@program("O1: norm of vectors along an axis")
def norms(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [2, 5, 3], name="x")
    made = [tf.norm(x, ord=p, axis=1, keepdims=k) for p in ("euclidean", 1, 2, 3, np.inf) for k in (False, True)]
    made += [tf.norm(x, ord=p, axis=[0, 2]) for p in ("euclidean", 1, np.inf)]
    made += [tf.norm(x), tf.norm(x, ord=1)]
    return runs(Run(made, {x: values("x", 2, 5, 3)}))
