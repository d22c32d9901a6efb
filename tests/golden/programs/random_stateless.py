"""Random ops without state: their nodes, and numbers that do not change from run to run."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden.programs.registry import Outcome, Run, program, raised, runs


@program("O10: stateless ops")
def stateless(tf: Any) -> Outcome:
    seed = tf.placeholder(tf.int64, [2], name="seed")
    logits = [[1.0, 2.0, 0.0], [2.0, 1.0, 0.0]]
    made = [
        tf.random.stateless_uniform([3], [1, 2]),
        tf.random.stateless_uniform([2, 3], seed, -1.0, 1.0, tf.float64),
        tf.random.stateless_uniform([13], [1, 2], -5, 50, tf.int32),
        tf.random.stateless_uniform([13], seed, 0, 10**12, tf.int64, name="long"),
        *[tf.random.stateless_uniform([5], [1, 2], None, None, kind) for kind in (tf.int32, tf.int64, tf.uint32, tf.uint64)],
        tf.random.stateless_normal([13], seed),
        tf.random.stateless_normal([2, 3], [1, 2], [1.0, 2.0, 3.0], 2.0, tf.float16),
        tf.random.stateless_truncated_normal([13], [-1, -2]),
        tf.random.stateless_truncated_normal([13], [0, 0], 1.0, 2.0, tf.float64),
        tf.random.stateless_multinomial(logits, 13, seed),
        tf.random.stateless_categorical(logits, 13, [1, 2], tf.int32),
    ]
    feeds = {seed: np.array([-5, 2**40 + 7], np.int64)}
    return runs(Run(made, feeds), Run(made, feeds), names=[m.name for m in made])


@program("O10: stateless ops, shapes that are known in part")
def shapes(tf: Any) -> Outcome:
    rows = tf.placeholder(tf.int32, [], name="rows")
    anything = tf.placeholder(tf.int64, name="anything")
    for shape in ([rows, 3], anything):
        tf.random.stateless_uniform(shape, anything)
        tf.random.stateless_normal(shape, [1, 2])
        tf.random.stateless_uniform(shape, [1, 2], 0, 5, tf.int32)
    tf.random.stateless_multinomial(tf.placeholder(tf.float32, [None, 3], name="logits"), rows, [1, 2])
    return runs()


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


@program("O8: tf.random.experimental.Generator, its draws in order, its state")
def generator(tf: Any) -> Outcome:
    made = tf.random.experimental.Generator.from_seed(1234)
    steps = [
        made.normal([2, 3]),
        made.uniform([2, 3], name="named"),
        made.uniform([5], minval=-3, maxval=10, dtype=tf.int32),
        made.uniform_full_int([3]),
        made.truncated_normal([2], mean=1.0, stddev=2.0, dtype=tf.float64),
        made.uniform([3], maxval=0.5, dtype=tf.float16),
        made.make_seeds(3),
        made.skip(7),
        made.uniform([0]),
    ]
    other = tf.random.experimental.Generator.from_state([-3, 2, 5], "philox")
    steps += [other.uniform_full_int([5], dtype=tf.int32), other.normal([7])]
    with tf.name_scope("states"):
        create = tf.random.experimental.create_rng_state
        seeds = [create([1, 2, 3], 1), create(-1, "philox"), create(2**63 + 5, 1)]
    states = Run([made.state, other.state])
    drawn = [run for step in steps for run in (Run(step), states)]
    return runs(Run(tf.global_variables_initializer()), *drawn, Run(seeds))


@program("issue 4.1: draws from a variable's stream")
def stateful(tf: Any) -> Outcome:
    state = tf.get_variable("state", initializer=np.int64([5, -1, 7]), use_resource=True)
    raw, made = tf.raw_ops, []
    for draw, dtypes in (
        (raw.StatefulUniform, (tf.float32, tf.float64)),
        (raw.StatefulStandardNormalV2, (tf.float32, tf.float16)),
        (raw.StatefulTruncatedNormal, (tf.float32,)),
        (raw.StatefulUniformFullInt, (tf.uint64, tf.int32)),
    ):
        for dtype in dtypes:
            before = [] if not made else [made[-1]]
            with tf.control_dependencies(before):
                made.append(draw(resource=state.handle, algorithm=1, shape=[2, 3], dtype=dtype))
    with tf.control_dependencies([made[-1]]):
        skipped = raw.RngSkip(resource=state.handle, algorithm=1, delta=11)
    with tf.control_dependencies([skipped]):
        low, high = np.int64(-3), np.int64(20)
        made.append(raw.StatefulUniformInt(resource=state.handle, algorithm=1, shape=[5], minval=low, maxval=high))
    return runs(Run(state.initializer), Run(made), Run(state.read_value()))
