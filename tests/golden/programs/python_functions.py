"""Python functions as nodes: their graphs and gradients, what they may return."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden.programs.registry import Outcome, Run, program, raised, runs


@program("O9: py_func")
def python_functions(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [None, 3])
    words = tf.constant(["a", "é"])
    with tf.name_scope("scope"):
        made = [
            tf.py_func(np.sinh, [x], tf.float32),
            *tf.py_func(lambda a, b: (b, a), [1.5, x], [tf.float32, tf.float32], stateful=False, name="mine"),
            tf.py_func(lambda a: a[::-1], [words], (tf.string,))[0],
            tf.py_func(lambda: "text", [], tf.string, name="said"),
            tf.numpy_function(lambda a, b: np.int32(a + b), [2, 3], tf.int32),
            tf.py_func(lambda a: [a.astype(np.int64)], [x], "int64"),
        ]
    nothing = tf.py_func(lambda: None, [], [])
    with tf.control_dependencies([nothing]):
        made.append(tf.py_func(lambda a: a > 0, [x], tf.bool))
    return runs(
        Run(made, {x: np.arange(6).reshape(2, 3) / 10}),
        gradients=[g is None for t in made[:3] for g in tf.gradients(t, [x])],
        shapes=[str(t.shape) for t in made],
        nothing=nothing.type,
        refused=raised(lambda: tf.py_func(3, [], tf.float32)),
    )


@program("O8: gradients of py_function")
def eager_functions(tf: Any) -> Outcome:
    x, n = tf.placeholder(tf.float32, [2, 3]), tf.constant([3, 4])
    squared, same = tf.py_function(lambda a, b: (a * a, b), [x, n], [tf.float32, tf.int32], name="both")
    scaled = tf.py_function(lambda a: a.numpy() * 2, [x], tf.float32)
    grads = tf.gradients([tf.reduce_sum(squared, name="total"), same], [x, n])
    return runs(Run([squared, same, scaled, grads[0]], {x: np.arange(6).reshape(2, 3)}))
