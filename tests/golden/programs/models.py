"""Whole models, the arguments of `tf.gradients`, and `tf.cond`."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tests.golden.programs.registry import Outcome, Run, program, runs, values


@program("T1, E1: logistic regression")
def logistic_regression(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [None, 5], name="x")
    y = tf.placeholder(tf.float32, [None], name="y")
    w = tf.Variable(tf.zeros([5, 1]), name="w")
    b = tf.Variable(0.0, name="b")
    logits = tf.squeeze(tf.matmul(x, w) + b, [1], name="logits")
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits), name="loss")
    predicted = tf.cast(tf.sigmoid(logits) > 0.5, tf.float32)
    accuracy = tf.reduce_mean(tf.cast(tf.equal(predicted, y), tf.float32), name="accuracy")
    train = tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.001).minimize(loss)
    feeds = {x: values("logi", 7, 5), y: [0, 1, 1, 0, 1, 0, 1]}
    init = tf.global_variables_initializer()
    return runs(Run(init), *[Run(train, feeds)] * 3, Run([loss, accuracy, w], feeds, rtol=1e-4))


@program("T1, E1: softmax regression")
def softmax_regression(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [None, 5])
    y_ = tf.placeholder(tf.float32, [None, 3])
    w = tf.Variable(tf.zeros([5, 3]))
    b = tf.Variable(tf.zeros([3]))
    y = tf.nn.softmax(tf.matmul(x, w) + b)
    cross_entropy = tf.reduce_mean(-tf.reduce_sum(y_ * tf.log(y), reduction_indices=[1]))
    train = tf.train.GradientDescentOptimizer(0.5).minimize(cross_entropy)
    correct = tf.equal(tf.argmax(y, 1), tf.argmax(y_, 1))
    accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))
    feeds = {x: values("soft", 7, 5), y_: np.eye(3)[[0, 1, 2, 0, 1, 2, 0]]}
    init = tf.global_variables_initializer()
    return runs(Run(init), *[Run(train, feeds)] * 3, Run([cross_entropy, accuracy, w], feeds, rtol=1e-4))


@program("T1, E1: multi-layer perceptron with dropout")
def mlp_with_dropout(tf: Any) -> Outcome:
    tf.set_random_seed(23)
    x = tf.placeholder(tf.float32, [None, 7], name="x")
    labels = tf.placeholder(tf.int32, [None], name="labels")
    keep = tf.placeholder_with_default(1.0, [], name="keep")
    h = x
    for index, units in enumerate((11, 5)):
        with tf.variable_scope(f"hidden{index}"):
            size = int(h.get_shape()[1])
            initializer = tf.truncated_normal_initializer(stddev=size**-0.5)
            w = tf.get_variable("weights", [size, units], initializer=initializer)
            b = tf.get_variable("biases", [units], initializer=tf.zeros_initializer())
            h = tf.nn.dropout(tf.nn.relu(tf.nn.xw_plus_b(h, w, b)), keep_prob=keep)
    with tf.variable_scope("logits"):
        w = tf.get_variable("weights", [5, 3])
        b = tf.get_variable("biases", [3], initializer=tf.zeros_initializer())
        logits = tf.matmul(h, w) + b
    one_hot = tf.one_hot(labels, 3)
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=one_hot, logits=logits))
    penalty = 1e-3 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables() if "weights" in v.name])
    train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss + penalty)
    feeds = {x: values("drop", 13, 7), labels: np.arange(13) % 3}
    init = tf.global_variables_initializer()
    return runs(Run(init), *[Run(train, feeds)] * 2, Run([loss, penalty], feeds, rtol=1e-3))


@program("O8: what tf.gradients takes")
def gradients_arguments(tf: Any) -> Outcome:
    x = tf.constant([1.0, 2.0], name="x")
    y = tf.constant([3.0, 4.0], name="y")
    a, b = x * y, tf.reduce_sum(tf.square(x))
    c = tf.identity(a, name="c")
    made = {
        "several_ys": tf.gradients([a, b], [x, y]),
        "grad_ys": tf.gradients([a, b], x, grad_ys=[tf.constant([1.0, 10.0]), tf.constant(2.0)]),
        "some_grad_ys": tf.gradients([a, b], x, grad_ys=[tf.constant([1.0, 10.0]), None]),
        "named": tf.gradients(a, x, name="mine"),
        "same": tf.gradients(x, x),
        "stopped": tf.gradients(c + b, [x, a], stop_gradients=[a]),
        "gated": tf.gradients(tf.reduce_sum(a) + b, [x, y], gate_gradients=True),
        "colocated": tf.gradients(b, x, colocate_gradients_with_ops=True),
        "default": tf.gradients(a + a, x, aggregation_method=tf.AggregationMethod.DEFAULT),
        "tree": tf.gradients(a + x + x, x, aggregation_method=tf.AggregationMethod.EXPERIMENTAL_TREE),
        "zero": tf.gradients(a, [tf.constant(1.0), x], unconnected_gradients=tf.UnconnectedGradients.ZERO),
        "third": tf.gradients(tf.gradients(tf.gradients(tf.reduce_sum(x**4.0), x)[0], x)[0], x),
    }
    return runs(*[Run([g for g in found if g is not None]) for found in made.values()], keys=list(made))


@program("O8: gradients through many uses")
def accumulated_gradients(tf: Any) -> Outcome:
    x = tf.Variable([1.0, 2.0], name="x")
    with tf.name_scope("outer"):
        h = tf.tanh(x)
        y = h * x + h + tf.exp(h) - x / 3.0
        g = tf.gradients(y, [x, h])
    with tf.device("/cpu:0"):
        z = tf.reduce_sum(tf.stack([y, h, x]) * 2.0)
        gz = tf.gradients(z, [x, h, y])
    return runs(Run(tf.global_variables_initializer()), Run(g), Run(gz))


@functools.cache
def _register_tripled(tf: Any) -> str:
    """Registers a gradient that triples what comes from above, once for each `tf`; returns its name."""
    name = "GoldenTripled"
    tf.RegisterGradient(name)(lambda op, upstream: 3.0 * upstream)
    return name


@program("O8: overridden and custom gradients")
def overridden_gradients(tf: Any) -> Outcome:
    x = tf.constant([1.0, 2.0])
    with tf.get_default_graph().gradient_override_map({"Square": _register_tripled(tf)}):
        overridden = tf.square(x)
    plain = tf.square(x)

    @tf.custom_gradient
    def halved(value: Any) -> Any:
        return tf.square(value), lambda upstream: 0.5 * upstream

    y = halved(x)
    return runs(Run([tf.gradients(t, x)[0] for t in (overridden, plain, y)]), name=y.name)


@program("O7, V6: cond")
def conds(tf: Any) -> Outcome:
    p = tf.placeholder(tf.bool, [], name="p")
    x = tf.constant([1.0, 2.0], name="x")
    outer = x * 3.0
    one = tf.cond(p, lambda: x + outer, lambda: x * 2.0)
    many = tf.cond(p, lambda: [x, tf.constant(1)], lambda: [outer, tf.constant(2)], name="many")
    nested = tf.cond(p, lambda: tf.cond(x[0] > 0.5, lambda: x + 1.0, lambda: x), lambda: -x)
    ops_only = tf.cond(p, lambda: tf.no_op("t"), lambda: tf.no_op("f"))
    fetched = [one, *many, nested]
    return runs(Run(fetched, {p: True}), Run(fetched, {p: False}), name=ops_only.name)


@program("O7: gradients through cond")
def cond_gradients(tf: Any) -> Outcome:
    p = tf.placeholder(tf.bool, [], name="p")
    x = tf.constant([1.0, 2.0], name="x")
    y = tf.cond(p, lambda: x * x, lambda: 3.0 * x)
    g = tf.gradients(y, x)[0]
    return runs(Run(g, {p: True}), Run(g, {p: False}))


@program("V6: initialized_value")
def initialized_values(tf: Any) -> Outcome:
    v = tf.Variable(tf.constant(2.0), name="v")
    w = tf.Variable(v.initialized_value() + 1.0, name="w")
    init = tf.global_variables_initializer()
    return runs(Run(init), Run([v, w]))


@program("T2, V6: moving averages")
def moving_averages(tf: Any) -> Outcome:
    w = tf.Variable([1.0, 2.0], name="w")
    loss = tf.reduce_sum(tf.square(w), name="loss")
    step = tf.Variable(0, trainable=False, name="step")
    ema = tf.train.ExponentialMovingAverage(0.9, step)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
    with tf.control_dependencies([train]):
        maintain = ema.apply([w, loss])
    # Whether `loss` is computed before or after the update of w is open, so its average is not looked at.
    average = ema.average(w)
    init = tf.global_variables_initializer()
    names = {key: variable.name for key, variable in ema.variables_to_restore().items()}
    return runs(Run(init), Run(maintain), Run(maintain), Run(average), names=names, average=ema.average_name(w))
