"""Every optimizer of T1, with dense and sparse gradients; schedules; what `Optimizer` offers besides
`minimize`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.golden.programs.registry import Outcome, Run, program, raised, register, runs, values

OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "gradient_descent": lambda tf: tf.train.GradientDescentOptimizer(0.1),
    "gradient_descent_locking": lambda tf: tf.train.GradientDescentOptimizer(0.1, use_locking=True),
    "momentum": lambda tf: tf.train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda tf: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adagrad": lambda tf: tf.train.AdagradOptimizer(0.1),
    "adagrad_start": lambda tf: tf.train.AdagradOptimizer(0.1, initial_accumulator_value=0.5),
    "adadelta": lambda tf: tf.train.AdadeltaOptimizer(0.5),
    "adam": lambda tf: tf.train.AdamOptimizer(0.01),
    "adam_locking": lambda tf: tf.train.AdamOptimizer(0.01, beta1=0.8, beta2=0.99, epsilon=1e-4, use_locking=True),
    "rmsprop": lambda tf: tf.train.RMSPropOptimizer(0.01),
    "rmsprop_momentum": lambda tf: tf.train.RMSPropOptimizer(0.01, decay=0.8, momentum=0.5),
    "rmsprop_centered": lambda tf: tf.train.RMSPropOptimizer(0.01, centered=True),
    "ftrl": lambda tf: tf.train.FtrlOptimizer(0.1),
    "ftrl_regularized": lambda tf: tf.train.FtrlOptimizer(
        0.1, l1_regularization_strength=0.01, l2_regularization_strength=0.02
    ),
    "ftrl_shrinkage": lambda tf: tf.train.FtrlOptimizer(0.1, l2_shrinkage_regularization_strength=0.1),
    "proximal_gradient_descent": lambda tf: tf.train.ProximalGradientDescentOptimizer(
        0.1, l1_regularization_strength=0.01, l2_regularization_strength=0.02
    ),
    "proximal_adagrad": lambda tf: tf.train.ProximalAdagradOptimizer(
        0.1, l1_regularization_strength=0.01, l2_regularization_strength=0.02
    ),
    "adagrad_da": lambda tf: tf.train.AdagradDAOptimizer(0.1, tf.train.get_global_step()),
}


def _dense(tf: Any, make: Callable[[Any], Any]) -> Outcome:
    tf.train.get_or_create_global_step()
    x = tf.constant(values("xopt", 7, 3))
    w = tf.Variable(values("wopt", 3, 2), name="w")
    b = tf.Variable([0.1, -0.2], name="b")
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - 1.0))
    optimizer = make(tf)
    train = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    init = tf.global_variables_initializer()
    slots = [optimizer.get_slot(w, name) for name in optimizer.get_slot_names()]
    state = [w, b, *slots]
    return runs(
        Run(init),
        *[Run(train)] * 3,
        Run([loss, *state], rtol=1e-4),
        slots=optimizer.get_slot_names(),
        variables=[v.name for v in optimizer.variables()],
        train=train.name,
        name=optimizer.get_name(),
    )


def _sparse(tf: Any, make: Callable[[Any], Any]) -> Outcome:
    tf.train.get_or_create_global_step()
    table = tf.Variable(values("table", 5, 3), name="table")
    ids = tf.constant([1, 4, 1])
    rows = tf.nn.embedding_lookup(table, ids)
    loss = tf.reduce_sum(tf.square(rows - 0.5))
    train = make(tf).minimize(loss, global_step=tf.train.get_global_step())
    init = tf.global_variables_initializer()
    return runs(Run(init), *[Run(train)] * 3, Run([loss, table], rtol=1e-4))


for _name, _make in OPTIMIZERS.items():
    register("optimizers", f"{_name}_dense", "T1", lambda tf, make=_make: _dense(tf, make))
    register("optimizers", f"{_name}_sparse", "T1, O6", lambda tf, make=_make: _sparse(tf, make))


@program("T1: a tensor as the learning rate")
def tensor_learning_rates(tf: Any) -> Outcome:
    rate = tf.placeholder(tf.float32, [], name="rate")
    w = tf.Variable(2.0, name="w")
    loss = tf.square(w)
    steps = [
        tf.train.GradientDescentOptimizer(rate).minimize(loss),
        tf.train.MomentumOptimizer(rate, 0.9).minimize(loss),
        tf.train.AdamOptimizer(lambda: 0.1).minimize(loss),
    ]
    init = tf.global_variables_initializer()
    return runs(Run(init), *[Run(step, {rate: 0.25}) for step in steps], Run(w))


@program("T1: minimize's arguments")
def minimize_arguments(tf: Any) -> Outcome:
    v = tf.Variable(2.0, name="v")
    w = tf.Variable(3.0, name="w")
    frozen = tf.Variable(4.0, name="frozen", trainable=False)
    loss = v * w * frozen
    step = tf.Variable(0, name="step", trainable=False)
    opt = tf.train.GradientDescentOptimizer(0.1, name="Descent")
    only_w = opt.minimize(loss, var_list=[w], global_step=step, name="only_w")
    both = opt.minimize(loss, grad_loss=tf.constant(2.0), gate_gradients=opt.GATE_NONE, name="both")
    graph_gated = opt.minimize(loss, gate_gradients=tf.train.Optimizer.GATE_GRAPH)
    colocated = opt.minimize(loss, colocate_gradients_with_ops=True)
    tree = opt.minimize(v + w + v * w, aggregation_method=tf.AggregationMethod.EXPERIMENTAL_TREE)
    init = tf.global_variables_initializer()
    unrelated = raised(lambda: opt.minimize(tf.constant(1.0)))
    empty = raised(lambda: opt.minimize(loss, var_list=[]))
    return runs(
        Run(init),
        Run(only_w),
        Run([v, w, step]),  # the others race: one variable may change before the gradient of the other has read it
        names=[op.name for op in (only_w, both, graph_gated, colocated, tree)],
        unrelated=unrelated,
        empty=empty,
    )


@program("T1: two optimizers, shared slots and non-slot variables")
def several_optimizers(tf: Any) -> Outcome:
    with tf.variable_scope("net"):
        w = tf.get_variable("w", initializer=[1.0, 2.0])
    loss = tf.reduce_sum(tf.square(w))
    with tf.name_scope("train"):
        first = tf.train.AdamOptimizer(0.1).minimize(loss)
        second = tf.train.AdamOptimizer(0.2).minimize(loss)
    with tf.variable_scope("inner"):
        third = tf.train.MomentumOptimizer(0.1, 0.5).minimize(loss)
    init = tf.global_variables_initializer()
    return runs(Run(init), Run(first), Run(second), Run(third), Run(w), names=[v.name for v in tf.global_variables()])


@program("T1: compute_gradients, then apply_gradients inside control dependencies")
def apply_after(tf: Any) -> Outcome:
    w = tf.Variable([1.0, 2.0], name="w")
    counter = tf.Variable(0, name="counter", trainable=False)
    opt = tf.train.AdagradOptimizer(0.1)
    pairs = opt.compute_gradients(tf.reduce_sum(w * w))
    with tf.control_dependencies([tf.assign_add(counter, 1)]):
        train = opt.apply_gradients([(2.0 * g, v) for g, v in pairs], name="apply")
    init = tf.global_variables_initializer()
    nothing = raised(lambda: opt.apply_gradients([(None, w)]))
    return runs(Run(init), Run(train), Run([w, counter]), nothing=nothing)


@program("T1: several dtypes of variables")
def double_and_half(tf: Any) -> Outcome:
    d = tf.Variable(np.array([1.0, 2.0]), name="d")
    h = tf.Variable(tf.constant([1.0, 2.0], tf.float16), name="h")
    loss = tf.reduce_sum(d * d) + tf.cast(tf.reduce_sum(h * h), tf.float64)
    train = tf.train.AdamOptimizer(0.1).minimize(loss)
    init = tf.global_variables_initializer()
    return runs(Run(init), Run(train), Run([d, h], rtol=1e-3))


@program("T1: a gradient that flows to one variable twice, dense and sparse")
def dense_and_sparse(tf: Any) -> Outcome:
    table = tf.Variable(values("both", 5, 3), name="table")
    looked = tf.nn.embedding_lookup(table, [0, 3])
    again = tf.gather(table, [3, 3])
    sparse_loss = tf.reduce_sum(looked * looked) + tf.reduce_sum(again)
    mixed_loss = sparse_loss + tf.reduce_sum(tf.square(table))
    sparse = tf.gradients(sparse_loss, table)[0]
    mixed = tf.gradients(mixed_loss, table)[0]
    train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(sparse_loss)
    init = tf.global_variables_initializer()
    return runs(Run(init), Run(sparse), Run(mixed), Run(train), Run(table), kinds=[type(sparse).__name__])


@program("O6: embeddings in shards")
def sharded_embedding(tf: Any) -> Outcome:
    shards = [tf.Variable(values(f"shard{i}", 3 - i, 2), name=f"shard_{i}") for i in range(2)]
    mod = tf.nn.embedding_lookup(shards, [0, 3, 4, 1])
    div = tf.nn.embedding_lookup(shards, [[0, 3], [4, 1]], partition_strategy="div")
    loss = tf.reduce_sum(mod * mod) + tf.reduce_sum(div)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    init = tf.global_variables_initializer()
    return runs(Run(init), Run([mod, div]), Run(train), Run(shards))


@program("O6: max_norm of an embedding")
def embedding_max_norm(tf: Any) -> Outcome:
    table = tf.Variable(values("norm", 5, 3), name="table")
    rows = tf.nn.embedding_lookup(table, [1, 4], max_norm=0.5)
    return runs(Run(tf.global_variables_initializer()), Run([rows, tf.gradients(rows, table)[0]]))


@program("T2: exponential_decay")
def exponential_decay(tf: Any) -> Outcome:
    step = tf.train.get_or_create_global_step()
    made = [
        tf.train.exponential_decay(0.1, step, 10, 0.9),
        tf.train.exponential_decay(0.1, step, 3, 0.5, staircase=True, name="stairs"),
        tf.train.exponential_decay(tf.constant(0.2), step, tf.constant(5), 0.7),
    ]
    forward = tf.assign_add(step, 4)
    train = tf.train.GradientDescentOptimizer(made[0]).minimize(tf.square(tf.Variable(1.0)), global_step=step)
    init = tf.global_variables_initializer()
    return runs(Run(init), Run(made), Run(forward), Run(made), Run(train), Run(made))


@program("T2: piecewise_constant")
def piecewise_constant(tf: Any) -> Outcome:
    step = tf.Variable(0, trainable=False, name="step")
    rate = tf.train.piecewise_constant(step, [3, 6], [1.0, 0.5, 0.1])
    named = tf.train.piecewise_constant(step, [4], [0.1, 0.01], name="rate")
    forward = step.assign_add(3)
    init = tf.global_variables_initializer()
    visits = [Run(forward), Run([rate, named])] * 3
    with tf.Graph().as_default():
        wrong = raised(lambda: tf.train.piecewise_constant(tf.constant(1), [3, 6], [1.0, 0.5]))
    return runs(Run(init), Run([rate, named]), *visits, wrong=wrong)


@program("T1, O9: an optimizer with clipped gradients of a network")
def clipped_network(tf: Any) -> Outcome:
    tf.set_random_seed(11)
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    labels = tf.placeholder(tf.int64, [None], name="labels")
    with tf.variable_scope("hidden"):
        w = tf.get_variable("w", [3, 5], initializer=tf.glorot_uniform_initializer())
        b = tf.get_variable("b", [5], initializer=tf.zeros_initializer())
        h = tf.nn.relu(tf.matmul(x, w) + b)
    with tf.variable_scope("out"):
        w2 = tf.get_variable("w", [5, 2], initializer=tf.glorot_uniform_initializer())
        b2 = tf.get_variable("b", [2], initializer=tf.zeros_initializer())
        logits = tf.matmul(h, w2) + b2
    with tf.name_scope("loss"):
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    with tf.name_scope("accuracy"):
        accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), labels), tf.float32))
        tf.reduce_mean(tf.cast(tf.nn.in_top_k(logits, labels, 1), tf.float32))
    with tf.name_scope("train"):
        step = tf.train.get_or_create_global_step()
        opt = tf.train.AdamOptimizer(tf.train.exponential_decay(0.01, step, 100, 0.96))
        gradients, variables = zip(*opt.compute_gradients(loss), strict=True)
        clipped, norm = tf.clip_by_global_norm(gradients, 0.25)
        train = opt.apply_gradients(zip(clipped, variables, strict=True), global_step=step)
    for variable in tf.trainable_variables():
        tf.summary.histogram(variable.op.name, variable)
    tf.summary.scalar("loss", loss)
    tf.summary.scalar("accuracy", accuracy)
    merged = tf.summary.merge_all()
    tf.train.Saver()
    init = tf.global_variables_initializer()
    feeds = {x: values("net", 7, 3), labels: [0, 1, 1, 0, 1, 0, 0]}
    watched = Run([loss, norm, accuracy], feeds, rtol=1e-4)
    return runs(Run(init), watched, *[Run(train, feeds)] * 3, watched, Run(step), merged=merged.name)


@program("issue 4.2, updates after a loop")
def gradients_after_updates(tf: Any) -> Outcome:
    """The gradients of a loop, made under control dependencies on an update that needs the loop's result."""
    x = tf.placeholder(tf.float32, [3, 5], name="x")
    w = tf.get_variable("w", [5], initializer=tf.ones_initializer())
    mean = tf.get_variable("mean", [5], trainable=False, initializer=tf.zeros_initializer())
    y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.tanh(a * w)), [0, x])[1]
    update = tf.assign(mean, mean * 0.9 + 0.1 * tf.reduce_mean(y, 0))
    loss = tf.reduce_mean(tf.square(y - 1.0))
    with tf.control_dependencies([update.op]):
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    feeds = {x: values("x", 3, 5)}
    return runs(Run(tf.global_variables_initializer()), Run(train, feeds), Run(train, feeds), Run([loss, w, mean], feeds))
