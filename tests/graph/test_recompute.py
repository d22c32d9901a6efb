"""`tf.recompute_grad`: gradients of what is computed again."""

from __future__ import annotations

from typing import Any

import numpy as np

import tfexp as tf


def test_gradients_are_those_of_the_function_computed_anew() -> None:
    with tf.Graph().as_default() as graph, tf.Session() as session:
        v = tf.Variable(3.0, use_resource=True)
        x = tf.constant(2.0)

        def function(x: Any) -> Any:
            return tf.sin(x) * x * v, x * x

        forgetting = tf.recompute_grad(function)
        found, expected = forgetting(x), function(x)
        sines = sum(op.type == "Sin" for op in graph.get_operations())
        gradients = tf.gradients(found, [x, v])
        assert sum(op.type == "Sin" for op in graph.get_operations()) == sines + 1
        session.run(v.initializer)
        for one, other in ((found, expected), (gradients, tf.gradients(expected, [x, v]))):
            np.testing.assert_allclose(*session.run([list(one), list(other)]), rtol=1e-6)
