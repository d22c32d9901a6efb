"""The programs of "TensorFlow notes" on ops, gradients and training."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden.programs.registry import Outcome, Run, program, raised, runs, values


@program("N 4/12: reshape")
def reshape_infers_minus_one(tf: Any) -> Outcome:
    t = tf.constant([[[1, 1, 1], [2, 2, 2]], [[3, 3, 3], [4, 4, 4]], [[5, 5, 5], [6, 6, 6]]])
    return runs(Run(tf.reshape(t, [-1, 9])))


@program("N 4/12: concat, squeeze, split, expand_dims")
def rearranging(tf: Any) -> Outcome:
    t1 = [[1, 2, 3], [4, 5, 6]]
    t2 = [[7, 8, 9], [10, 11, 12]]
    t = tf.zeros([1, 2, 1, 3, 1, 1])
    value = tf.zeros([5, 30])
    t3 = tf.zeros([2, 3, 5])
    split0, _, _ = tf.split(value, 3, 1)
    made = [
        tf.concat([t1, t2], 0),
        tf.concat([t1, t2], 1),
        tf.shape(tf.squeeze(t)),
        tf.shape(tf.squeeze(t, [2, 4])),
        tf.shape(split0),
        tf.shape(tf.expand_dims([1, 2], 0)),
        tf.shape(tf.expand_dims([1, 2], 1)),
        tf.shape(tf.expand_dims([1, 2], -1)),
        tf.shape(tf.expand_dims(t3, 0)),
        tf.shape(tf.expand_dims(t3, 2)),
        tf.shape(tf.expand_dims(t3, 3)),
    ]
    return runs(Run(made))


@program("N 4/12: embedding, slice, stack, gather")
def picking(tf: Any) -> Outcome:
    mat = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9]).reshape((3, -1))
    y = np.arange(24).reshape([2, 3, 4])
    a = np.array([[1, 2, 3, 4, 5], [4, 5, 6, 7, 8], [9, 10, 11, 12, 13]])
    temp = tf.range(0, 10) * 10 + tf.constant(1, shape=[10])
    made = [
        tf.nn.embedding_lookup(mat, [[1, 2], [0, 1]]),
        tf.slice([[1, 2, 3], [4, 5, 6]], [1, 0], [1, 2]),
        tf.slice(y, [1, 0, 0], [1, 2, 3]),
        tf.slice(a, [1, 2], [-1, 2]),
        tf.stack([[1, 4], [2, 5], [3, 6]]),
        tf.stack([[1, 4], [2, 5], [3, 6]], axis=1),
        temp,
        tf.gather(temp, [1, 5, 9]),
    ]
    return runs(Run(made))


@program("N 4/12: cross entropy")
def cross_entropies(tf: Any) -> Outcome:
    logits = tf.constant([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
    y = tf.nn.softmax(logits)
    y_ = tf.constant([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
    cross_entropy = -tf.reduce_sum(y_ * tf.log(y))
    cross_entropy2 = tf.reduce_sum(tf.nn.softmax_cross_entropy_with_logits(logits=logits, labels=y_))
    return runs(Run([y, cross_entropy, cross_entropy2]))


@program("N 4/13: shape of what is fed")
def shape_of_fed(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, shape=[None, 5, 5, 3])
    batch = tf.shape(x)[0]
    return runs(Run(batch, {x: np.zeros([7, 5, 5, 3])}), static=str(x.get_shape()))


@program("N 4/13: clipping")
def clipped_by_global_norm(tf: Any) -> Outcome:
    tf.set_random_seed(5)
    x = tf.constant(values("clip", 7, 3))
    with tf.variable_scope("model"):
        w = tf.get_variable("w", [3, 2], initializer=tf.truncated_normal_initializer(stddev=0.5))
        b = tf.get_variable("b", [2], initializer=tf.zeros_initializer())
    loss = tf.reduce_sum(tf.square(tf.nn.xw_plus_b(x, w, b) - 1.0))
    params = tf.trainable_variables()
    opt = tf.train.GradientDescentOptimizer(0.1)
    gradients = tf.gradients(loss, params)
    clipped, norm = tf.clip_by_global_norm(gradients, 1.5)
    train_op = opt.apply_gradients(zip(clipped, params, strict=True))
    init = tf.global_variables_initializer()
    return runs(Run(init), Run([norm, *clipped], rtol=1e-4), Run(train_op), Run([w, b], rtol=1e-4))


@program("N 4/13: processing gradients")
def capped_gradients(tf: Any) -> Outcome:
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0], [-5.0, 6.0]], name="w")
    b = tf.Variable([0.5, -0.5], name="b")
    loss = tf.reduce_mean(tf.square(tf.matmul(values("capp", 5, 3), w) + b))
    opt = tf.train.GradientDescentOptimizer(learning_rate=0.1)
    grads_and_vars = opt.compute_gradients(loss, [w, b])
    capped = [(tf.clip_by_value(gradient, -0.1, 0.1), variable) for gradient, variable in grads_and_vars]
    train_op = opt.apply_gradients(capped)
    init = tf.global_variables_initializer()
    return runs(Run(init), Run([gradient for gradient, _ in capped]), Run(train_op), Run([w, b]))


@program("N 4/17: Supervisor's graph")
def assign_sum(tf: Any) -> Outcome:
    a = tf.Variable(1)
    b = tf.Variable(2)
    c = tf.add(a, b)
    update = tf.assign(a, c)
    tf.summary.scalar("a", a)
    init_op = tf.global_variables_initializer()
    merged = tf.summary.merge_all()
    return runs(Run(init_op), *[Run(update)] * 4, merged=merged.name)


@program("N 4/17: gradients of unrelated variables")
def gradient_of_unrelated(tf: Any) -> Outcome:
    # The source's variables are integers, for which 2.x gives no gradients at all; these are floats.
    w1 = tf.Variable([[1.0, 2.0]])
    w2 = tf.Variable([[3.0, 4.0]])
    res = tf.matmul(w1, [[2.0], [1.0]])
    both = tf.gradients(res, [w1, w2])
    one = tf.gradients(res, [w1])
    return runs(Run(tf.global_variables_initializer()), Run(one), none=[gradient is None for gradient in both])


@program("N 4/17: stop_gradient")
def stopped_gradient(tf: Any) -> Outcome:
    w1 = tf.Variable(2.0)
    w2 = tf.Variable(2.0)
    a = tf.multiply(w1, 3.0)
    a_stoped = tf.stop_gradient(a)
    b = tf.multiply(a_stoped, w2)
    gradients = tf.gradients(b, xs=[w1, w2])
    init = tf.global_variables_initializer()
    return runs(Run(init), Run(gradients[1]), printed=str(gradients))


@program("N 4/17: stop_gradient on one path")
def stopped_on_one_path(tf: Any) -> Outcome:
    a = tf.Variable(1.0)
    b = tf.Variable(1.0)
    c_stoped = tf.stop_gradient(tf.add(a, b))
    e = tf.add(c_stoped, tf.add(a, b))
    gradients = tf.gradients(e, xs=[a, b])
    return runs(Run(tf.global_variables_initializer()), Run(gradients))


@program("N 4/17: applying a None gradient")
def apply_none_gradient(tf: Any) -> Outcome:
    w1 = tf.Variable(2.0)
    w2 = tf.Variable(2.0)
    b = tf.multiply(tf.stop_gradient(tf.multiply(w1, 3.0)), w2)
    opt = tf.train.GradientDescentOptimizer(0.1)
    gradients = tf.gradients(b, xs=tf.trainable_variables())
    train_op = opt.apply_gradients(zip(gradients, tf.trainable_variables(), strict=True))
    init = tf.global_variables_initializer()
    return runs(Run(init), Run(train_op), Run([w1, w2]), missing=raised(lambda: gradients[0].name))


@program("N 4/17: cond")
def cond_example(tf: Any) -> Outcome:
    x, y = tf.constant(2.0), tf.constant(5.0)
    a, b = tf.constant(3.0), tf.constant(4.0)
    z = tf.multiply(a, b)
    result = tf.cond(x < y, lambda: tf.add(x, z), lambda: tf.square(y))
    return runs(Run(result))


@program("N 4/17: group and tuple")
def group_and_tuple(tf: Any) -> Outcome:
    w = tf.Variable(1)
    mul = tf.multiply(w, 2)
    add = tf.add(w, 2)
    group = tf.group(mul, add)
    both = tf.tuple([mul, add])
    return runs(Run(tf.global_variables_initializer()), Run(group), Run(both))


@program("N 4/17: learning rate decay")
def decayed_learning_rate(tf: Any) -> Outcome:
    global_step = tf.Variable(0, trainable=False)
    learning_rate = tf.train.exponential_decay(0.1, global_step=global_step, decay_steps=10, decay_rate=0.9)
    tf.train.GradientDescentOptimizer(learning_rate)
    add_global = global_step.assign_add(1)
    steps = [Run(add_global), Run(learning_rate)] * 3
    return runs(Run(tf.global_variables_initializer()), Run(learning_rate), *steps)


@program("N 4/17: sparse_to_dense")
def one_hot_by_sparse_to_dense(tf: Any) -> Outcome:
    label = tf.expand_dims(tf.constant([0, 2, 3, 6, 7, 9]), 1)
    index = tf.expand_dims(tf.range(0, 6), 1)
    concated = tf.concat([index, label], 1)
    onehot_labels = tf.sparse_to_dense(concated, tf.stack([6, 10]), 1.0, 0.0)
    return runs(Run([concated, onehot_labels]))
