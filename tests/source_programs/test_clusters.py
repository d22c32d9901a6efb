"""What the two texts on distributed TensorFlow print where no cluster is needed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.source_programs.printed import Printed, dedent


def test_intro_sum(tf: Any, out: Printed) -> None:
    a = tf.constant(1)
    b = tf.constant(2)
    c = tf.constant(3)
    d = tf.constant(4)
    add1 = tf.add(a, b)
    mul1 = tf.multiply(b, c)
    tf.add(c, d)
    output = tf.add(add1, mul1)
    with tf.Session() as sess:
        print(sess.run(output))
    assert out.lines == ["9"]


def test_intro_several_graphs(tf: Any, out: Printed) -> None:
    g1 = tf.Graph()
    with g1.as_default():
        a = tf.constant([1.5, 6.0])
        b = tf.constant([1.5, 3.2])
        c = a * b
    with tf.Graph().as_default() as g2:
        m1 = tf.constant([[1.0, 0.0, 2.0], [-1.0, 3.0, 1.0]])
        m2 = tf.constant([[3.0, 1.0], [2.0, 1.0], [1.0, 0.0]])
        m3 = tf.matmul(m1, m2)
    with tf.Session(graph=g1) as sess_cpu, tf.device("/cpu:0"):
        print(sess_cpu.run(c))
    with tf.Session(graph=g2) as sess_gpu:
        print(sess_gpu.run(m3))
    it_sess = tf.InteractiveSession()
    x = tf.Variable([1.0, 2.0])
    a = tf.constant([3.0, 3.0])
    x.initializer.run()
    sub = tf.subtract(x, a)
    print(sub.eval())
    it_sess.close()
    assert out.lines == ["[ 2.25 19.2 ]", "[[5. 1.]", " [4. 2.]]", "[-2. -1.]"]


def test_intro_counter(tf: Any, out: Printed) -> None:
    state = tf.Variable(0, name="counter")
    one = tf.constant(1)
    new_value = tf.add(state, one)
    update = tf.assign(state, new_value)
    init_op = tf.global_variables_initializer()
    with tf.Session() as sess:
        sess.run(init_op)
        print(sess.run(state))
        for _ in range(3):
            sess.run(update)
            print(sess.run(state))
    assert out.lines == ["0", "1", "2", "3"]


def test_intro_fetch_and_feed(tf: Any, out: Printed) -> None:
    input1 = tf.constant(3.0)
    input2 = tf.constant(2.0)
    input3 = tf.constant(5.0)
    intermed = tf.add(input2, input3)
    mul = tf.multiply(input1, intermed)
    with tf.Session() as sess:
        result = sess.run([mul, intermed])
        print(result)
    input1 = tf.placeholder(tf.float32)
    input2 = tf.placeholder(tf.float32)
    output = tf.multiply(input1, input2)
    with tf.Session() as sess:
        print(sess.run([output], feed_dict={input1: [7.0], input2: [2.0]}))
        with pytest.raises(tf.errors.InvalidArgumentError, match="Placeholder"):
            print(sess.run([output]))
    assert out.lines == ["[21.0, 7.0]", "[array([14.], dtype=float32)]"]


def test_intro_client(tf: Any, out: Printed) -> None:
    a = tf.constant([1.5, 6.0], name="a")
    b = tf.Variable([1.5, 3.2], name="b")
    c = (a * b) + (a / b)
    d = c * a
    y = tf.assign(b, d)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        print([f"{value:.8f}".rstrip("0") for value in sess.run(y)])
    assert out.lines == ["['4.875', '126.45000458']"]


def test_distributed_simple_placement(tf: Any, out: Printed) -> None:
    with tf.device("/cpu:0"):
        a = tf.Variable(3.0)
        b = tf.constant(4.0)
    c = a * b
    with tf.Session() as sess:
        a.initializer.run(session=sess)
        print(sess.run(c))
    assert out.lines == ["12.0"]


def test_distributed_round_robin(tf: Any, out: Printed) -> None:
    with tf.device(tf.train.replica_device_setter(ps_tasks=2)):
        v1, v2, v3, v4, v5 = (tf.Variable(value) for value in (1.0, 2.0, 3.0, 4.0, 5.0))
    for variable in (v1, v2, v3, v4, v5):
        print(variable.device)
    assert out.lines == [f"/job:ps/task:{task}" for task in (0, 1, 0, 1, 0)]


def test_distributed_defaults_inside_the_setter(tf: Any, out: Printed) -> None:
    with tf.device(tf.train.replica_device_setter(ps_tasks=2)):
        v1 = tf.Variable(1.0)
        v2 = tf.Variable(2.0)
        v3 = tf.Variable(3.0)
        s = v1 + v2
        with tf.device("/gpu:1"):
            p1 = 2 * s
            with tf.device("/task:1"):
                p2 = 3 * s
    for tensor in (v1, v2, v3, s, p1, p2):
        print(tensor.device)
    assert out.lines == dedent("""
        /job:ps/task:0
        /job:ps/task:1
        /job:ps/task:0
        /job:worker
        /job:worker/device:GPU:1
        /job:worker/task:1/device:GPU:1
    """)


def test_distributed_control_dependencies(tf: Any) -> None:
    a = tf.constant(1.0)
    b = a + 2.0
    with tf.control_dependencies([a, b]):
        x = tf.constant(3.0)
        y = tf.constant(4.0)
    z = x + y
    assert x.op.control_inputs == y.op.control_inputs == [a.op, b.op]
    with tf.Session() as sess:
        assert sess.run(z) == 7.0


def test_distributed_preloaded_data(tf: Any) -> None:
    data = np.arange(15.0, dtype=np.float32).reshape(5, 3)
    training_set_init = tf.placeholder(tf.float32, shape=(None, 3))
    training_set = tf.Variable(training_set_init, trainable=False, collections=[], validate_shape=False, name="training_set")
    assert tf.global_variables() == []
    with tf.Session() as sess:
        sess.run(training_set.initializer, feed_dict={training_set_init: data})
        np.testing.assert_array_equal(sess.run(training_set), data)
