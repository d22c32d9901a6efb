"""Linear regression five ways: by the normal equation, and by descent with gradients by hand, by autodiff, by optimizers.

"Linear regression" and "Implementing gradient descent". The source's California housing has to be downloaded; this table is
made by a formula, so that what is to be found is known.

Prints:

    normal equation      [ 0.5   2.   -1.    0.25]
    gradient by hand     [ 0.5   2.   -1.    0.25]
    tf.gradients         [ 0.5   2.   -1.    0.25]
    gradient descent     [ 0.5   2.   -1.    0.25]
    momentum             [ 0.5   2.   -1.    0.25]
"""

from collections.abc import Callable

import numpy as np

import tfexp as tf

random = np.random.RandomState(1)
rows, columns = 211, 3
data = np.c_[np.ones((rows, 1)), random.randn(rows, columns)]
target = data @ [[0.5], [2.0], [-1.0], [0.25]] + 0.1 * random.randn(rows, 1)

X = tf.constant(data, dtype=tf.float32, name="X")
y = tf.constant(target, dtype=tf.float32, name="y")
XT = tf.transpose(X)
exact = tf.matmul(tf.matmul(tf.matrix_inverse(tf.matmul(XT, X)), XT), y)
with tf.Session():
    print(f"{'normal equation':20}", exact.eval().ravel().round(2))


def descend(name: str, make_step: Callable[[tf.Variable, tf.Tensor, tf.Tensor], tf.Operation]) -> None:
    theta = tf.Variable(tf.random_uniform([columns + 1, 1], -1.0, 1.0, seed=42), name="theta")
    error = tf.matmul(X, theta, name="predictions") - y
    mse = tf.reduce_mean(tf.square(error), name="mse")
    step = make_step(theta, error, mse)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(200):
            sess.run(step)
        print(f"{name:20}", theta.eval().ravel().round(2))


rate = 0.1
descend("gradient by hand", lambda theta, error, _: tf.assign(theta, theta - rate * (2 / rows * tf.matmul(XT, error))))
descend("tf.gradients", lambda theta, _, mse: tf.assign(theta, theta - rate * tf.gradients(mse, [theta])[0]))
descend("gradient descent", lambda _, __, mse: tf.train.GradientDescentOptimizer(rate).minimize(mse))
descend("momentum", lambda _, __, mse: tf.train.MomentumOptimizer(rate, momentum=0.5).minimize(mse))
