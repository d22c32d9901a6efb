"""`tf.debugging.assert_shapes`: ranks and sizes that are known, and those that are left to the run."""

from __future__ import annotations

from typing import Any

from tests.golden.programs.registry import Outcome, Run, program, runs, values

SOURCE = "TF 1.15 tf.debugging.assert_shapes"


@program(SOURCE)
def ranks_of_the_run(tf: Any) -> Outcome:
    x, y = tf.placeholder(tf.float32, None, name="x"), tf.placeholder(tf.float32, None, name="y")
    z = tf.placeholder(tf.float32, [None], name="z")
    node = tf.debugging.assert_shapes([(x, ("n",)), (y, ("n", "k")), (z, ("k",))])
    return runs(Run(node, {x: values("x", 3), y: values("y", 3, 5), z: values("z", 5)}))


@program(SOURCE)
def open_shapes(tf: Any) -> Outcome:
    x, y = tf.placeholder(tf.float32, None, name="x"), tf.placeholder(tf.float32, [None, 3, None], name="y")
    node = tf.debugging.assert_shapes(
        [(x, ("*", 2, "k")), (y, (..., "k", None))], message="wrong", summarize=7, name="check"
    )
    return runs(Run(node, {x: values("x", 5, 2, 3), y: values("y", 2, 3, 5)}))


@program(SOURCE)
def scalars(tf: Any) -> Outcome:
    x, y = tf.placeholder(tf.float32, [], name="x"), tf.placeholder(tf.float32, [None], name="y")
    z = tf.placeholder(tf.float32, None, name="z")
    node = tf.debugging.assert_shapes([(x, ("n",)), (y, ("n",)), (z, ())])
    return runs(Run(node, {x: 2.0, y: values("y", 1), z: 3.0}))


@program(SOURCE)
def sizes_against_each_other(tf: Any) -> Outcome:
    x, y = tf.placeholder(tf.float32, [None, 3], name="x"), tf.placeholder(tf.float32, [4, None], name="y")
    node = tf.debugging.assert_shapes([(x, ("a", "b")), (y, ("a", "b"))], data=["sizes"])
    return runs(Run(node, {x: values("x", 4, 3), y: values("y", 4, 3)}))
