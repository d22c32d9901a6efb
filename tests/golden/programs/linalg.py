"""Linear algebra that TensorFlow composes of other ops: nodes, shapes, values, gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden.programs.registry import Outcome, Run, program, runs, values


@program("O1: norm of vectors along an axis")
def norms(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [2, 5, 3], name="x")
    made = [tf.norm(x, ord=p, axis=1, keepdims=k) for p in ("euclidean", 1, 2, 3, np.inf) for k in (False, True)]
    made += [tf.norm(x, ord=p, axis=[0, 2]) for p in ("euclidean", 1, np.inf)]
    made += [tf.norm(x), tf.norm(x, ord=1)]
    return runs(Run(made, {x: values("x", 2, 5, 3)}))
