"""What "Running TensorFlow" (chapter 9) prints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.source_programs.printed import Printed


def test_running_first_graph(tf: Any, out: Printed) -> None:
    x = tf.Variable(3, name="x")
    y = tf.Variable(4, name="y")
    f = x * x * y + y + 2
    sess = tf.Session()
    sess.run(x.initializer)
    sess.run(y.initializer)
    result = sess.run(f)
    print(result)
    sess.close()
    with tf.Session() as sess:
        x.initializer.run()
        y.initializer.run()
        result = f.eval()
        print(result)
    init = tf.global_variables_initializer()
    with tf.Session() as sess:
        init.run()
        result = f.eval()
        print(result)
    sess = tf.InteractiveSession()
    init.run()
    result = f.eval()
    print(result)
    sess.close()
    assert out.lines == ["42"] * 4


def test_running_managing_graphs(tf: Any, out: Printed) -> None:
    x1 = tf.Variable(1)
    print(x1.graph is tf.get_default_graph())
    graph = tf.Graph()
    with graph.as_default():
        x2 = tf.Variable(2)
    print(x2.graph is graph)
    print(x2.graph is tf.get_default_graph())
    assert out.lines == ["True", "True", "False"]


def test_running_node_values(tf: Any, out: Printed) -> None:
    w = tf.constant(3)
    x = w + 2
    y = x + 5
    z = x * 3
    with tf.Session() as sess:
        print(y.eval())
        print(z.eval())
        y_val, z_val = sess.run([y, z])
        print(y_val)
        print(z_val)
    assert out.lines == ["10", "15", "10", "15"]


def test_running_sessions_do_not_share_variables(tf: Any) -> None:
    v = tf.Variable(1.0)
    bump = tf.assign_add(v, 1.0)
    with tf.Session() as first, tf.Session() as second:
        first.run(v.initializer)
        second.run(v.initializer)
        first.run(bump)
        assert (first.run(v), second.run(v)) == (2.0, 1.0)
    with tf.Session() as third, pytest.raises(tf.errors.FailedPreconditionError, match="Variable"):
        third.run(v)


def test_running_placeholders(tf: Any, out: Printed) -> None:
    A = tf.placeholder(tf.float32, shape=(None, 3))
    B = A + 5
    with tf.Session():
        B_val_1 = B.eval(feed_dict={A: [[1, 2, 3]]})
        B_val_2 = B.eval(feed_dict={A: [[4, 5, 6], [7, 8, 9]]})
        print(B_val_1)
        print(B_val_2)
        with pytest.raises(tf.errors.InvalidArgumentError, match="'Placeholder' with dtype float and shape"):
            B.eval()
    assert out.lines == ["[[6. 7. 8.]]", "[[ 9. 10. 11.]", " [12. 13. 14.]]"]


def test_running_four_ways_to_descend(tf: Any) -> None:
    """The normal equation, and gradients by hand, by autodiff and by an optimizer, meet."""
    m, n = 53, 3
    random = np.random.RandomState(1)
    data = np.c_[np.ones((m, 1)), random.randn(m, n)]
    target = data @ random.randn(n + 1, 1) + 0.1 * random.randn(m, 1)
    X = tf.constant(data, dtype=tf.float32, name="X")
    y = tf.constant(target, dtype=tf.float32, name="y")
    XT = tf.transpose(X)
    normal = tf.matmul(tf.matmul(tf.matrix_inverse(tf.matmul(XT, X)), XT), y)
    with tf.Session():
        exact = normal.eval()

    def descend(make_step: Any) -> Any:
        theta = tf.Variable(tf.random_uniform([n + 1, 1], -1.0, 1.0, seed=42), name="theta")
        error = tf.matmul(X, theta, name="predictions") - y
        mse = tf.reduce_mean(tf.square(error), name="mse")
        step = make_step(theta, error, mse)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(200):
                sess.run(step)
            return theta.eval()

    rate = 0.1
    by_hand = descend(lambda theta, error, _: tf.assign(theta, theta - rate * (2 / m * tf.matmul(tf.transpose(X), error))))
    autodiff = descend(lambda theta, _, mse: tf.assign(theta, theta - rate * tf.gradients(mse, [theta])[0]))
    optimizer = descend(lambda _, __, mse: tf.train.GradientDescentOptimizer(learning_rate=rate).minimize(mse))
    momentum = descend(lambda _, __, mse: tf.train.MomentumOptimizer(learning_rate=rate, momentum=0.5).minimize(mse))
    for found in (by_hand, autodiff, optimizer, momentum):
        np.testing.assert_allclose(found, exact, rtol=1e-3, atol=1e-3)


def test_running_save_and_restore(tf: Any, tmp_path: Path) -> None:
    theta = tf.Variable(tf.random_uniform([5, 1], -1.0, 1.0, seed=42), name="theta")
    training_op = tf.train.GradientDescentOptimizer(0.01).minimize(tf.reduce_mean(tf.square(theta)))
    init = tf.global_variables_initializer()
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(init)
        sess.run(training_op)
        best_theta = theta.eval()
        path = saver.save(sess, str(tmp_path / "my_model_final.ckpt"))
    with tf.Session() as sess:
        saver.restore(sess, path)
        np.testing.assert_array_equal(theta.eval(), best_theta)
    weights = tf.train.Saver({"weights": theta})
    with tf.Session() as sess:
        sess.run(init)
        path = weights.save(sess, str(tmp_path / "weights"))
    assert [name for name, _ in tf.train.list_variables(path)] == ["weights"]


def test_running_name_scopes(tf: Any, out: Printed) -> None:
    X = tf.placeholder(tf.float32, shape=(None, 4), name="X")
    y = tf.placeholder(tf.float32, shape=(None, 1), name="y")
    theta = tf.Variable(tf.random_uniform([4, 1], -1.0, 1.0, seed=42), name="theta")
    y_pred = tf.matmul(X, theta, name="predictions")
    with tf.name_scope("loss"):
        error = y_pred - y
        mse = tf.reduce_mean(tf.square(error), name="mse")
    print(error.op.name)
    print(mse.op.name)
    assert out.lines == ["loss/sub", "loss/mse"]


def test_running_modular_relus(tf: Any) -> None:
    n_features = 3

    def relu(X: Any) -> Any:
        with tf.name_scope("relu"):
            w_shape = (int(X.get_shape()[1]), 1)
            w = tf.Variable(tf.random_normal(w_shape), name="weights")
            b = tf.Variable(0.0, name="bias")
            z = tf.add(tf.matmul(X, w), b, name="z")
            return tf.maximum(z, 0.0, name="relu")

    X = tf.placeholder(tf.float32, shape=(None, n_features), name="X")
    relus = [relu(X) for i in range(5)]
    output = tf.add_n(relus, name="output")
    assert [r.op.name for r in relus] == ["relu/relu", *[f"relu_{i}/relu" for i in range(1, 5)]]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        result, parts = sess.run([output, relus], feed_dict={X: [[1, 2, 3], [4, 5, 6]]})
    np.testing.assert_allclose(result, sum(parts), rtol=1e-6)


def test_running_shared_threshold(tf: Any, out: Printed) -> None:
    def relu(X: Any) -> Any:
        threshold = tf.get_variable("threshold", shape=(), initializer=tf.constant_initializer(0.0))
        w = tf.Variable(tf.random_normal((int(X.get_shape()[1]), 1)), name="weights")
        b = tf.Variable(0.0, name="bias")
        z = tf.add(tf.matmul(X, w), b, name="z")
        return tf.maximum(z, threshold, name="max")

    X = tf.placeholder(tf.float32, shape=(None, 3), name="X")
    relus = []
    for relu_index in range(5):
        with tf.variable_scope("relu", reuse=(relu_index >= 1)):
            relus.append(relu(X))
    tf.add_n(relus, name="output")
    for variable in tf.global_variables():
        print(variable.op.name)
    # The source: all variables but the threshold have a prefix of their own, relu to relu_4.
    prefixes = ["relu", *[f"relu_{i}" for i in range(1, 5)]]
    pairs = [f"{prefix}/{name}" for prefix in prefixes for name in ("weights", "bias")]
    assert out.lines == ["relu/threshold", *pairs]
    with tf.variable_scope("relu", reuse=True), pytest.raises(ValueError, match="relu/unknown does not exist"):
        tf.get_variable("unknown")


def test_running_assigning_any_value(tf: Any, out: Printed) -> None:
    x = tf.Variable(tf.random_uniform(shape=(), minval=0.0, maxval=1.0))
    x_new_val = tf.placeholder(shape=(), dtype=tf.float32)
    x_assign = tf.assign(x, x_new_val)
    with tf.Session():
        x.initializer.run()
        assert 0 <= x.eval() < 1
        x_assign.eval(feed_dict={x_new_val: 5.0})
        print(x.eval())
    assert out.lines == ["5.0"]
