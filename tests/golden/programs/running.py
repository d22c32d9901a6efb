"""The programs of "Running TensorFlow" (chapter 9), with synthetic data of the shape of California
housing."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden.programs.registry import Outcome, Run, program, raised, runs

ROWS, FEATURES = 53, 8


def housing() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Scaled features with a column of ones before them, and targets as a column."""
    random = np.random.RandomState(42)
    data = random.randn(ROWS, FEATURES)
    target = data @ random.randn(FEATURES, 1) + 2.0 + 0.1 * random.randn(ROWS, 1)
    return np.c_[np.ones((ROWS, 1)), data], target


def _model(tf: Any, fed: bool) -> tuple[Any, ...]:
    data, target = housing()
    if fed:
        x = tf.placeholder(tf.float32, shape=(None, FEATURES + 1), name="X")
        y = tf.placeholder(tf.float32, shape=(None, 1), name="y")
    else:
        x = tf.constant(data, dtype=tf.float32, name="X")
        y = tf.constant(target, dtype=tf.float32, name="y")
    theta = tf.Variable(tf.random_uniform([FEATURES + 1, 1], -1.0, 1.0, seed=42), name="theta")
    return x, y, theta, tf.matmul(x, theta, name="predictions")


@program("R, create a graph")
def first_graph(tf: Any) -> Outcome:
    x = tf.Variable(3, name="x")
    y = tf.Variable(4, name="y")
    f = x * x * y + y + 2
    init = tf.global_variables_initializer()
    return runs(Run(x.initializer), Run(y.initializer), Run(f), Run(init), Run(f))


@program("R, managing graphs")
def several_graphs(tf: Any) -> Outcome:
    x1 = tf.Variable(1)
    graph = tf.Graph()
    with graph.as_default():
        x2 = tf.Variable(2)
    default = tf.get_default_graph()
    return runs(places=[x1.graph is default, x2.graph is graph, x2.graph is default])


@program("R, life of node values")
def node_values(tf: Any) -> Outcome:
    w = tf.constant(3)
    x = w + 2
    y = x + 5
    z = x * 3
    return runs(Run(y), Run(z), Run([y, z]))


@program("R, normal equation")
def normal_equation(tf: Any) -> Outcome:
    data, target = housing()
    x = tf.constant(data, dtype=tf.float32, name="X")
    y = tf.constant(target, dtype=tf.float32, name="y")
    xt = tf.transpose(x)
    theta = tf.matmul(tf.matmul(tf.matrix_inverse(tf.matmul(xt, x)), xt), y)
    return runs(Run(theta, rtol=1e-3, atol=1e-4))


@program("R, gradient descent by hand")
def manual_gradients(tf: Any) -> Outcome:
    data, target = housing()
    x = tf.constant(data, dtype=tf.float32, name="X")
    y = tf.constant(target, dtype=tf.float32, name="y")
    tf.set_random_seed(42)
    theta = tf.Variable(tf.random_uniform([FEATURES + 1, 1], -1.0, 1.0), name="theta")
    y_pred = tf.matmul(x, theta, name="perdictions")
    error = y_pred - y
    mse = tf.reduce_mean(tf.square(error), name="mse")
    gradients = 2 / ROWS * tf.matmul(tf.transpose(x), error)
    training_op = tf.assign(theta, theta - 0.01 * gradients)
    init = tf.global_variables_initializer()
    return runs(Run(init), Run(theta), *[Run(training_op, rtol=1e-4)] * 5, Run([mse, theta], rtol=1e-4))


@program("R, autodiff")
def autodiff(tf: Any) -> Outcome:
    _, y, theta, y_pred = _model(tf, fed=False)
    error = y_pred - y
    mse = tf.reduce_mean(tf.square(error), name="mse")
    gradients = tf.gradients(mse, [theta])[0]
    training_op = tf.assign(theta, theta - 0.01 * gradients)
    init = tf.global_variables_initializer()
    return runs(Run(init), Run(gradients, rtol=1e-4), *[Run(training_op, rtol=1e-4)] * 3, Run(mse, rtol=1e-4))


@program("R, optimizer")
def gradient_descent_optimizer(tf: Any) -> Outcome:
    _, y, _, y_pred = _model(tf, fed=False)
    error = y_pred - y
    mse = tf.reduce_mean(tf.square(error), name="mse")
    training_op = tf.train.GradientDescentOptimizer(learning_rate=0.01).minimize(mse)
    init = tf.global_variables_initializer()
    return runs(Run(init), *[Run(training_op)] * 3, Run(mse, rtol=1e-4))


@program("R, momentum optimizer")
def momentum_optimizer(tf: Any) -> Outcome:
    _, y, _, y_pred = _model(tf, fed=False)
    error = y_pred - y
    mse = tf.reduce_mean(tf.square(error), name="mse")
    training_op = tf.train.MomentumOptimizer(learning_rate=0.01, momentum=0.9).minimize(mse)
    init = tf.global_variables_initializer()
    return runs(Run(init), *[Run(training_op)] * 3, Run(mse, rtol=1e-4))


@program("R, feeding")
def placeholder_nodes(tf: Any) -> Outcome:
    a = tf.placeholder(tf.float32, shape=(None, 3))
    b = a + 5
    return runs(Run(b, {a: [[1, 2, 3]]}), Run(b, {a: [[4, 5, 6], [7, 8, 9]]}))


@program("R, mini-batches")
def mini_batches(tf: Any) -> Outcome:
    data, target = housing()
    x, y, theta, y_pred = _model(tf, fed=True)
    error = y_pred - y
    mse = tf.reduce_mean(tf.square(error), name="mse")
    training_op = tf.train.GradientDescentOptimizer(learning_rate=0.01).minimize(mse)
    init = tf.global_variables_initializer()
    batches = [slice(0, 20), slice(20, 40), slice(40, 53)]
    steps = [Run(training_op, {x: data[batch], y: target[batch]}) for batch in batches]
    return runs(Run(init), *steps, Run(theta, rtol=1e-4), Run(mse, {x: data, y: target}, rtol=1e-4))


@program("R, saving")
def with_saver(tf: Any) -> Outcome:
    _, y, theta, y_pred = _model(tf, fed=False)
    error = y_pred - y
    mse = tf.reduce_mean(tf.square(error), name="mse")
    tf.train.GradientDescentOptimizer(learning_rate=0.01).minimize(mse)
    tf.global_variables_initializer()
    saver = tf.train.Saver()
    tf.train.Saver({"weights": theta})
    names = saver.as_saver_def()
    return runs(names=[names.filename_tensor_name, names.save_tensor_name, names.restore_op_name])


@program("R, TensorBoard")
def with_summary(tf: Any) -> Outcome:
    data, target = housing()
    x, y, _, y_pred = _model(tf, fed=True)
    error = y_pred - y
    mse = tf.reduce_mean(tf.square(error), name="mse")
    training_op = tf.train.GradientDescentOptimizer(learning_rate=0.01).minimize(mse)
    init = tf.global_variables_initializer()
    mse_summary = tf.summary.scalar("MSE", mse)
    feeds = {x: data, y: target}
    return runs(Run(init), Run(training_op, feeds), Run(mse, feeds, rtol=1e-4), summary=mse_summary.name)


@program("R, name scopes")
def loss_name_scope(tf: Any) -> Outcome:
    _, y, _, y_pred = _model(tf, fed=True)
    with tf.name_scope("loss") as scope:
        error = y_pred - y
        mse = tf.reduce_mean(tf.square(error), name="mse")
    tf.train.GradientDescentOptimizer(learning_rate=0.01).minimize(mse)
    tf.global_variables_initializer()
    tf.summary.scalar("MSE", mse)
    return runs(scope=scope, names=[error.op.name, mse.op.name])


@program("R, modularity: the flat code")
def relus_cut_and_pasted(tf: Any) -> Outcome:
    tf.set_random_seed(42)
    x = tf.placeholder(tf.float32, shape=(None, 3), name="X")
    w1 = tf.Variable(tf.random_normal((3, 1)), name="weights1")
    w2 = tf.Variable(tf.random_normal((3, 1)), name="weights2")
    b1 = tf.Variable(0.0, name="bias1")
    b2 = tf.Variable(0.0, name="bias2")
    z1 = tf.add(tf.matmul(x, w1), b1, name="z1")
    tf.add(tf.matmul(x, w2), b2, name="z2")
    relu1 = tf.maximum(z1, 0.0, name="relu1")
    relu2 = tf.maximum(z1, 0.0, name="relu2")
    output = tf.add(relu1, relu2, name="output")
    feeds = {x: [[1, 2, 3], [4, 5, 6]]}
    return runs(Run(tf.global_variables_initializer()), Run(output, feeds))


@program("R, modularity: a function")
def relu_function(tf: Any) -> Outcome:
    tf.set_random_seed(42)

    def relu(x: Any) -> Any:
        with tf.name_scope("relu"):
            w = tf.Variable(tf.random_normal((int(x.get_shape()[1]), 1)), name="weights")
            b = tf.Variable(0.0, name="bias")
            z = tf.add(tf.matmul(x, w), b, name="z")
            return tf.maximum(z, 0.0, name="relu")

    x = tf.placeholder(tf.float32, shape=(None, 3), name="X")
    output = tf.add_n([relu(x) for _ in range(5)], name="output")
    feeds = {x: [[1, 2, 3], [4, 5, 6]]}
    return runs(Run(tf.global_variables_initializer()), Run(output, feeds, rtol=1e-4))


def _thresholded(tf: Any, x: Any, threshold: Any) -> Any:
    w = tf.Variable(tf.random_normal((int(x.get_shape()[1]), 1)), name="weights")
    b = tf.Variable(0.0, name="bias")
    z = tf.add(tf.matmul(x, w), b, name="z")
    return tf.maximum(z, threshold, name="max")


@program("R, shared variables: three ways to reuse")
def reuse_three_ways(tf: Any) -> Outcome:
    with tf.variable_scope("relu"):
        made = tf.get_variable("threshold", shape=(), initializer=tf.constant_initializer(0.0))
    with tf.variable_scope("relu", reuse=True):
        by_flag = tf.get_variable("threshold")
    with tf.variable_scope("relu") as scope:
        scope.reuse_variables()
        by_method = tf.get_variable("threshold")
    with tf.variable_scope("relu", reuse=True):
        missing = raised(lambda: tf.get_variable("unknown"))
    return runs(same=[by_flag is made, by_method is made], missing=missing)


@program("R, shared variables: threshold outside")
def shared_threshold_outside(tf: Any) -> Outcome:
    tf.set_random_seed(42)

    def relu(x: Any) -> Any:
        with tf.variable_scope("relu", reuse=True):
            return _thresholded(tf, x, tf.get_variable("threshold"))

    x = tf.placeholder(tf.float32, shape=(None, 3), name="X")
    with tf.variable_scope("relu"):
        tf.get_variable("threshold", shape=(), initializer=tf.constant_initializer(0.0))
    output = tf.add_n([relu(x) for _ in range(5)], name="output")
    feeds = {x: [[1, 2, 3], [4, 5, 6]]}
    return runs(Run(tf.global_variables_initializer()), Run(output, feeds, rtol=1e-4))


@program("R, shared variables: way 1")
def shared_threshold_first_call(tf: Any) -> Outcome:
    tf.set_random_seed(42)

    def relu(x: Any) -> Any:
        with tf.variable_scope("relu"):
            threshold = tf.get_variable("threshold", shape=(), initializer=tf.constant_initializer(0.0))
            return _thresholded(tf, x, threshold)

    x = tf.placeholder(tf.float32, shape=(None, 3), name="X")
    with tf.variable_scope("", default_name="") as scope:
        first = relu(x)
        scope.reuse_variables()
        relus = [first] + [relu(x) for _ in range(4)]
    output = tf.add_n(relus, name="output")
    feeds = {x: [[1, 2, 3], [4, 5, 6]]}
    return runs(Run(tf.global_variables_initializer()), Run(output, feeds, rtol=1e-4))


@program("R, shared variables: way 2")
def shared_threshold_by_flag(tf: Any) -> Outcome:
    tf.set_random_seed(42)
    x = tf.placeholder(tf.float32, shape=(None, 3), name="X")
    relus = []
    for index in range(5):
        with tf.variable_scope("relu", reuse=(index >= 1)):
            threshold = tf.get_variable("threshold", shape=(), initializer=tf.constant_initializer(0.0))
            relus.append(_thresholded(tf, x, threshold))
    output = tf.add_n(relus, name="output")
    feeds = {x: [[1, 2, 3], [4, 5, 6]]}
    return runs(Run(tf.global_variables_initializer()), Run(output, feeds, rtol=1e-4))


@program("R, exercises: setting a variable to any value")
def assign_from_placeholder(tf: Any) -> Outcome:
    x = tf.Variable(tf.random_uniform(shape=(), minval=0.0, maxval=1.0, seed=3))
    new_value = tf.placeholder(shape=(), dtype=tf.float32)
    assign = tf.assign(x, new_value)
    return runs(Run(x.initializer), Run(x), Run(assign, {new_value: 5.0}), Run(x))
