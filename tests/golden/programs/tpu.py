"""Computations for TPUs and clusters of XLA: graphs that can be built where nothing runs them."""

from __future__ import annotations

from typing import Any

from tests.golden.programs.registry import Outcome, program, raised


def _numbers(tf: Any, *values: float) -> list[Any]:
    return [tf.constant(value) for value in values]


@program("TPU: rewrite")
def rewrite(tf: Any) -> Outcome:
    a, b = tf.placeholder(tf.float32, [2, 3], name="a"), tf.placeholder(tf.float32, [3, 2], name="b")
    outside = tf.constant(3.0, name="outside")
    made = [
        tf.tpu.rewrite(lambda x, y: tf.matmul(x, y) + outside, (a, b)),
        tf.tpu.rewrite(lambda: None),
        tf.tpu.rewrite(lambda x: {"one": x, "more": [x + 1.0, 3.0]}, [a]),
        tf.tpu.rewrite(lambda x: (x, 2.0, tf.no_op()), [a]),
        tf.tpu.rewrite(lambda x, *rest: tf.cond(x[0, 0] > 0.0, lambda: x, lambda: rest[0]), [a, -a]),
        tf.tpu.rewrite(lambda x: tf.while_loop(lambda i: i < 3, lambda i: i + x, [0]), [tf.constant(1)]),
    ]
    return Outcome(facts={"made": [repr(one) for one in made]})


@program("TPU: variables and gradients")
def trained(tf: Any) -> Outcome:
    def step(x: Any) -> Any:
        loss = tf.reduce_sum(tf.get_variable("v", [2], initializer=tf.zeros_initializer()) * x)
        optimizer = tf.tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(0.1))
        return loss, optimizer.minimize(loss)

    losses = tf.tpu.replicate(step, [_numbers(tf, 1.0), _numbers(tf, 2.0)])
    return Outcome(facts={"losses": [repr(one) for one in losses]})


@program("TPU: shards")
def shards(tf: Any) -> Outcome:
    rows, columns = tf.ones([8, 2]), tf.ones([2, 8])
    made = [
        tf.tpu.shard(lambda x: x * 2.0, [rows], num_shards=2),
        tf.tpu.shard(
            lambda x, y: (x * 2.0, -y, tf.reduce_sum(x)),
            [rows, columns],
            num_shards=4,
            input_shard_axes=[0, 1],
            outputs_from_all_shards=[True, False, True],
            output_shard_axes=[1, 0, 0],
        ),
        tf.tpu.shard(lambda x: tf.no_op(), [rows], num_shards=2),
        tf.tpu.batch_parallel(lambda x: x * 2.0, [rows], num_shards=4),
    ]
    return Outcome(facts={"made": [repr(one) for one in made]})


@program("TPU: outside compilation")
def on_the_host(tf: Any) -> Outcome:
    def computation(x: Any) -> Any:
        y = tf.tpu.outside_compilation(lambda a: tf.as_string(a * 2.0), x)
        z = tf.tpu.outside_compilation(lambda a: tf.string_to_number(a), y)
        return tf.cond(z > 0.0, lambda: tf.tpu.outside_compilation(lambda: x + 4.0), lambda: z)

    return Outcome(
        facts={
            "inside": repr(tf.tpu.rewrite(computation, _numbers(tf, 1.0))),
            "alone": repr(tf.tpu.outside_compilation(lambda a: a + 1.0, tf.constant(1.0))),
        }
    )


@program("TPU: where it is built")
def surroundings(tf: Any) -> Outcome:
    outer, nothing = tf.constant(3.0, name="outer"), tf.no_op(name="nothing")

    def waits(x: Any) -> Any:
        with tf.control_dependencies([outer.op, nothing]):
            return x + tf.constant(1.0, name="number"), tf.no_op(name="after")

    with tf.name_scope("scope"), tf.device("/cpu:0"):
        tf.tpu.rewrite(waits, _numbers(tf, 1.0))
    with tf.control_dependencies([outer]):
        tf.tpu.rewrite(lambda x: x + 1.0, _numbers(tf, 1.0))
        tf.xla.experimental.compile(lambda x: x + 1.0, _numbers(tf, 1.0))
    tf.xla.experimental.compile(waits, _numbers(tf, 1.0))
    tf.cond(outer > 0.0, lambda: tf.tpu.rewrite(lambda x: x + outer, _numbers(tf, 1.0))[0], lambda: outer)
    return Outcome()


@program("TPU: system and refusals")
def system(tf: Any) -> Outcome:
    rewrite, replicate, shard = tf.tpu.rewrite, tf.tpu.replicate, tf.tpu.shard
    with tf.Graph().as_default():
        one, rows = tf.constant(1.0), tf.ones([7, 2])
        refused = [
            lambda: rewrite(lambda x: (tf.no_op(), x), [one]),
            lambda: rewrite(lambda x: {"x": x, "no": tf.no_op()}, [one]),
            lambda: rewrite(lambda x: x, [one, one]),
            lambda: rewrite(lambda x, y: x, [one]),
            lambda: rewrite(lambda x: x, one),
            lambda: rewrite(lambda x: rewrite(lambda y: y, [x]), [one]),
            lambda: replicate(lambda x: x, [[one], [one, one]]),
            lambda: replicate(lambda x: x, [[1.0], [2]]),
            lambda: replicate(lambda x: x, 3),
            lambda: shard(lambda x: x, [rows], num_shards=2),
            lambda: shard(lambda x: x, [rows], num_shards=0),
            lambda: shard(lambda x: x, [rows], num_shards=7, input_shard_axes=[0, 1]),
            lambda: shard(lambda x: x, [rows], num_shards=7, output_shard_axes=[0, 1]),
        ]
        classes = [raised(one) for one in refused]
    made = [tf.tpu.initialize_system(), tf.tpu.initialize_system(job="worker"), tf.tpu.shutdown_system("worker")]
    return Outcome(facts={"refused": classes, "devices": [one.device for one in made]})
