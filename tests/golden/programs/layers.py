"""`tf.layers`: dense, dropout, convolution, pooling and normalisation, their scopes, names, sharing and gradients."""

from __future__ import annotations

from typing import Any

from tests.golden.programs.registry import Outcome, Run, program, runs, values

SOURCE = "features T6, issue 4.1"


def _trained(tf: Any, y: Any, x: Any, shape: tuple[int, ...], **facts: Any) -> Outcome:
    grads = tf.gradients(y, [x, *tf.trainable_variables()])
    steps = Run(tf.global_variables_initializer()), Run([y, *grads], {x: values("x", *shape)}, rtol=1e-4, atol=1e-5)
    return runs(*steps, variables=[v.name for v in tf.global_variables()], **facts)


def _input(tf: Any, *shape: int, batch: Any = None) -> Any:
    return tf.placeholder(tf.float32, [batch, *shape[1:]], name="x")


def _uniform(tf: Any) -> Any:
    return tf.random_uniform_initializer(-0.5, 0.5, seed=1)


@program(SOURCE)
def dense(tf: Any) -> Outcome:
    x = _input(tf, 2, 3)
    h = tf.layers.dense(x, 5, tf.nn.relu, kernel_initializer=_uniform(tf))
    y = tf.layers.dense(h, 2, use_bias=False, kernel_initializer=_uniform(tf))
    return _trained(tf, tf.layers.dense(y, 2, name="last", kernel_initializer=_uniform(tf)), x, (2, 3))


@program(SOURCE)
def dense_higher_rank(tf: Any) -> Outcome:
    x = _input(tf, 2, 3, 5)
    return _trained(tf, tf.layers.dense(x, 4, tf.tanh, kernel_initializer=_uniform(tf)), x, (2, 3, 5))


@program(SOURCE)
def dense_regularized(tf: Any) -> Outcome:
    x = _input(tf, 2, 3)
    with tf.variable_scope("net", initializer=_uniform(tf)):
        y = tf.layers.dense(
            x,
            4,
            kernel_regularizer=lambda w: 0.1 * tf.nn.l2_loss(w),
            bias_regularizer=lambda w: 0.2 * tf.reduce_sum(w),
            activity_regularizer=lambda y: 0.3 * tf.reduce_sum(y),
        )
    losses = [loss.name for loss in tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)]
    return _trained(tf, tf.reduce_sum(y) + tf.losses.get_regularization_loss(), x, (2, 3), losses=losses)


@program(SOURCE)
def sharing(tf: Any) -> Outcome:
    x = _input(tf, 2, 3)
    with tf.variable_scope("a"):
        tf.layers.dense(x, 3, name="d")
    with tf.variable_scope("a", reuse=True):
        tf.layers.dense(x, 3, name="d")
    tf.layers.dense(x, 3, name="e")
    tf.layers.dense(x, 3, name="e", reuse=True)
    layer = tf.layers.Dense(3)
    with tf.variable_scope("b"):
        layer(x)
    with tf.variable_scope("c"):
        layer(x)
    other = tf.layers.Dense(3)
    other.build([None, 3])
    other(x)
    with tf.variable_scope("a", reuse=tf.AUTO_REUSE):
        tf.layers.dense(x, 3, name="f")
        tf.layers.dense(x, 3, name="f")
    names = [layer.scope_name, other.scope_name, *(v.name for v in layer.variables)]
    return runs(variables=[v.name for v in tf.global_variables()], names=names, count=layer.count_params())


@program(SOURCE)
def dropout(tf: Any) -> Outcome:
    x, training = _input(tf, 2, 3), tf.placeholder(tf.bool, [], name="training")
    tf.layers.dropout(x, 0.4, training=training, seed=1)
    tf.layers.dropout(x, 0.4, training=True, seed=1, noise_shape=[2, 1])
    tf.layers.dropout(x, 0.4, name="off")
    tf.layers.dropout(x, tf.placeholder(tf.float32, [], name="rate"), training=True, seed=1)
    return runs()


@program(SOURCE)
def flatten(tf: Any) -> Outcome:
    x = _input(tf, 2, 3, 5)
    y = tf.layers.flatten(x)
    tf.layers.flatten(tf.placeholder(tf.float32, [None, None, 3], name="u"))
    tf.layers.flatten(tf.placeholder(tf.float32, [None], name="v"))
    tf.layers.flatten(tf.placeholder(tf.float32, [2, 3, 4], name="w"))
    channels_first = tf.layers.flatten(tf.placeholder(tf.float32, [None, 3, 4], name="z"), data_format="channels_first")
    return runs(Run(y, {x: values("x", 2, 3, 5)}), shapes=[str(y.get_shape()), str(channels_first.get_shape())])


@program(SOURCE)
def convolution_2d(tf: Any) -> Outcome:
    x = _input(tf, 2, 7, 6, 3)
    with tf.variable_scope("net", initializer=_uniform(tf)):
        h = tf.layers.conv2d(x, 4, 3, padding="same", activation=tf.nn.relu)
        h = tf.layers.max_pooling2d(h, 2, 2)
        y = tf.layers.conv2d(h, 5, [2, 3], strides=(1, 2), use_bias=False, name="last")
    return _trained(tf, y, x, (2, 7, 6, 3))


@program(SOURCE)
def convolution_1d(tf: Any) -> Outcome:
    x = _input(tf, 2, 7, 3)
    with tf.variable_scope("net", initializer=_uniform(tf)):
        y = tf.layers.conv1d(x, 4, 3, strides=2)
    return _trained(tf, y, x, (2, 7, 3))


@program(SOURCE)
def convolution_3d(tf: Any) -> Outcome:
    x = _input(tf, 1, 5, 4, 3, 2)
    with tf.variable_scope("net", initializer=_uniform(tf)):
        y = tf.layers.conv3d(x, 3, 2, padding="same", activation=tf.tanh)
    return _trained(tf, y, x, (1, 5, 4, 3, 2))


@program(SOURCE)
def convolution_transposed(tf: Any) -> Outcome:
    x = _input(tf, 2, 4, 3, 3)
    with tf.variable_scope("net", initializer=_uniform(tf)):
        y = tf.layers.conv2d_transpose(x, 4, 3, strides=2)
        y = tf.layers.conv2d_transpose(y, 2, (2, 3), padding="same", strides=(1, 2), activation=tf.nn.relu)
    return _trained(tf, y, x, (2, 4, 3, 3))


@program(SOURCE)
def separable(tf: Any) -> Outcome:
    x = _input(tf, 2, 7, 6, 3)
    with tf.variable_scope("net", initializer=_uniform(tf)):
        y = tf.layers.separable_conv2d(x, 4, 3, depth_multiplier=2, padding="same")
    return _trained(tf, y, x, (2, 7, 6, 3))


@program(SOURCE)
def pooling(tf: Any) -> Outcome:
    x = _input(tf, 2, 7, 6, 3)
    series = tf.placeholder(tf.float32, [None, 7, 3], name="series")
    volume = tf.placeholder(tf.float32, [None, 4, 5, 6, 2], name="volume")
    ys = [
        tf.layers.max_pooling2d(x, 2, 2),
        tf.layers.average_pooling2d(x, (3, 2), (1, 2), padding="same"),
        tf.layers.max_pooling1d(series, 2, 2),
        tf.layers.average_pooling1d(series, 3, 1, padding="same"),
        tf.layers.max_pooling3d(volume, 2, 2),
        tf.layers.average_pooling3d(volume, 2, 2, padding="same"),
    ]
    feeds = {x: values("x", 2, 7, 6, 3), series: values("s", 2, 7, 3), volume: values("v", 1, 4, 5, 6, 2)}
    return runs(Run(ys, feeds))


def _normalized(tf: Any, shape: tuple[int, ...], **options: Any) -> Outcome:
    x = _input(tf, *shape)
    layer = tf.layers.BatchNormalization(momentum=0.9, gamma_initializer=_uniform(tf), **options)
    y = layer(x, training=True)
    again = layer(x)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    grads = tf.gradients(y, [x, *tf.trainable_variables()])
    feeds = {x: values("x", *shape)}
    steps = [
        Run(tf.global_variables_initializer()),
        Run([y, again, *grads], feeds, rtol=1e-3, atol=1e-5),
        Run(updates, feeds),
        Run([*tf.global_variables(), again], feeds, rtol=1e-4, atol=1e-5),
    ]
    names = [v.name for v in tf.global_variables()], [v.name for v in tf.trainable_variables()]
    return runs(*steps, names=names, updates=[u.name for u in updates])


@program(SOURCE)
def batch_normalization(tf: Any) -> Outcome:
    return _normalized(tf, (5, 3))


@program(SOURCE)
def batch_normalization_plain_images(tf: Any) -> Outcome:
    return _normalized(tf, (3, 4, 2, 3), fused=False, scale=True, center=False)


@program(SOURCE)
def batch_normalization_fused(tf: Any) -> Outcome:
    return _normalized(tf, (3, 4, 2, 3))


@program(SOURCE)
def batch_normalization_placeholder(tf: Any) -> Outcome:
    x, training = _input(tf, 5, 3), tf.placeholder(tf.bool, [], name="training")
    with tf.variable_scope("net"):
        y = tf.layers.batch_normalization(x, training=training)
        tf.layers.batch_normalization(x, training=training, name="second", epsilon=0.1)
    updates = [u.name for u in tf.get_collection(tf.GraphKeys.UPDATE_OPS)]
    steps = Run(tf.global_variables_initializer()), Run(y, {x: values("x", 5, 3), training: True}, rtol=1e-4, atol=1e-5)
    return runs(*steps, updates=updates)


@program(SOURCE)
def batch_normalization_fused_placeholder(tf: Any) -> Outcome:
    x, training = _input(tf, 3, 4, 2, 3), tf.placeholder(tf.bool, [], name="training")
    y = tf.layers.batch_normalization(x, training=training, center=False, scale=False)
    updates = [u.name for u in tf.get_collection(tf.GraphKeys.UPDATE_OPS)]
    steps = (
        Run(tf.global_variables_initializer()),
        Run(y, {x: values("x", 3, 4, 2, 3), training: True}, rtol=1e-3, atol=1e-4),
    )
    return runs(*steps, updates=updates)


@program(SOURCE)
def separable_1d(tf: Any) -> Outcome:
    x = _input(tf, 2, 7, 3)
    with tf.variable_scope("net", initializer=_uniform(tf)):
        y = tf.layers.separable_conv1d(x, 4, 3, strides=2)
    return _trained(tf, y, x, (2, 7, 3))


@program(SOURCE)
def batch_normalization_two_axes(tf: Any) -> Outcome:
    return _normalized(tf, (3, 4, 2), axis=[1, 2])
