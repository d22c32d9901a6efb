"""`tf.case`: conds nested in each other, and what is checked before and in the last of them."""

from __future__ import annotations

from typing import Any

from tests.golden.programs.registry import Outcome, Run, program, runs

SOURCE = "features O7"


def _pairs(tf: Any) -> tuple[Any, list[Any]]:
    x = tf.placeholder(tf.float32, [], name="x")
    return x, [
        (tf.less(x, 0.0, name="negative"), lambda: -x),
        (tf.less(x, 1.0, name="small"), lambda: x * x),
        (tf.less(x, 9.0, name="large"), lambda: tf.constant(3.0)),
    ]


@program(SOURCE)
def with_default(tf: Any) -> Outcome:
    x, pairs = _pairs(tf)
    y = tf.case(pairs, default=lambda: x + 1.0)
    return runs(*(Run([y, *tf.gradients(y, x)], {x: value}) for value in (-2.0, 0.5, 10.0)))


@program(SOURCE)
def without_default(tf: Any) -> Outcome:
    x, pairs = _pairs(tf)
    return runs(Run(tf.case(pairs), {x: 5.0}))


@program(SOURCE)
def exclusive_without_default(tf: Any) -> Outcome:
    x, pairs = _pairs(tf)
    return runs(Run(tf.case(pairs, exclusive=True, name="one_of"), {x: 5.0}))


@program(SOURCE)
def one_pair(tf: Any) -> Outcome:
    x, pairs = _pairs(tf)
    return runs(Run(tf.case(pairs[-1:]), {x: 5.0}))
