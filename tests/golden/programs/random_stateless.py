"""Random ops without state: their nodes, and numbers that do not change from run to run."""

from __future__ import annotations

from typing import Any

from tests.golden.programs.registry import Outcome, program, raised


@program("O10: stateless ops, what is refused at construction")
def refused(tf: Any) -> Outcome:
    uniform = tf.random.stateless_uniform
    calls = {
        "one bound": lambda: uniform([3], [1, 2], dtype=tf.int32),
        "unsigned bounds": lambda: uniform([3], [1, 2], 0, 5, tf.uint32),
        "uint8": lambda: uniform([3], [1, 2], dtype=tf.uint8),
        "three seeds": lambda: uniform([3], [1, 2, 3]),
        "one seed": lambda: uniform([3], 1),
        "float seeds": lambda: uniform([3], [1.0, 2.0]),
        "scalar shape": lambda: uniform(3, [1, 2]),
    }
    return Outcome(facts={name: raised(call) for name, call in calls.items()}, graph=tf.Graph())
