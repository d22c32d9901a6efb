"""Special functions: nodes, values, gradients."""

from __future__ import annotations

from typing import Any

from tests.golden.programs.registry import program


@program("O1: the gradient of random_gamma")
def random_gamma(tf: Any) -> None:
    alpha = tf.placeholder(tf.float32, [2, 3], name="alpha")
    tf.gradients(tf.random_gamma([5, 7], alpha, seed=1), [alpha])
