"""One variable shared by all units: given to the function, got by it, or made by its first call.

"Sharing variables": four ways, and what each names its variables; only `get_variable` with reuse shares.

Prints:

    given: (2, 1)
       threshold relu/weights relu/bias relu_1/weights relu_1/bias relu_2/weights relu_2/bias
    got: (2, 1)
       relu/threshold relu_1/weights relu_1/bias relu_2/weights relu_2/bias relu_3/weights relu_3/bias
    by_the_first_call: (2, 1)
       relu/threshold relu/weights relu/bias relu_1/weights relu_1/bias relu_2/weights relu_2/bias
    reused_from_the_second_on: (2, 1)
       relu/threshold relu/weights relu/bias relu_1/weights relu_1/bias relu_2/weights relu_2/bias
    Variable relu/unknown does not exist
"""

from collections.abc import Callable

import tfexp as tf


def unit(X: tf.Tensor, threshold: tf.Tensor) -> tf.Tensor:
    w = tf.Variable(tf.random_normal((int(X.get_shape()[1]), 1)), name="weights")
    b = tf.Variable(0.0, name="bias")
    return tf.maximum(tf.add(tf.matmul(X, w), b, name="z"), threshold, name="max")


def get_threshold() -> tf.Variable:
    return tf.get_variable("threshold", shape=(), initializer=tf.constant_initializer(0.0))


def given(X: tf.Tensor) -> list[tf.Tensor]:
    threshold = tf.Variable(0.0, name="threshold")
    units = []
    for _ in range(3):
        with tf.name_scope("relu"):
            units.append(unit(X, threshold))
    return units


def got(X: tf.Tensor) -> list[tf.Tensor]:
    with tf.variable_scope("relu"):
        get_threshold()
    units = []
    for _ in range(3):
        with tf.variable_scope("relu", reuse=True):
            units.append(unit(X, tf.get_variable("threshold")))
    return units


def by_the_first_call(X: tf.Tensor) -> list[tf.Tensor]:
    def relu() -> tf.Tensor:
        with tf.variable_scope("relu"):
            return unit(X, get_threshold())

    with tf.variable_scope("", default_name="") as scope:
        units = [relu()]
        scope.reuse_variables()
        return [*units, relu(), relu()]


def reused_from_the_second_on(X: tf.Tensor) -> list[tf.Tensor]:
    units = []
    for number in range(3):
        with tf.variable_scope("relu", reuse=number > 0):
            units.append(unit(X, get_threshold()))
    return units


def show(way: Callable[[tf.Tensor], list[tf.Tensor]]) -> None:
    tf.reset_default_graph()
    X = tf.placeholder(tf.float32, shape=(None, 3), name="X")
    output = tf.add_n(way(X), name="output")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        shape = sess.run(output, {X: [[1, 2, 3], [4, 5, 6]]}).shape
    print(f"{way.__name__}: {shape}\n  ", *(variable.op.name for variable in tf.global_variables()))


for way in (given, got, by_the_first_call, reused_from_the_second_on):
    show(way)
with tf.variable_scope("relu", reuse=True):
    try:
        tf.get_variable("unknown")
    except ValueError as error:
        print(str(error).partition(",")[0])
