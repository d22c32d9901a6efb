"""What "TensorFlow notes" prints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfexp
from tests.source_programs.printed import Printed


def test_notes_merge_all_error(tf: Any) -> None:
    class Model:
        def __init__(self, scope: str | None = None) -> None:
            self.graph()
            if scope is None:
                self.merged_summary = tf.summary.merge_all()
            else:
                self.merged_summary = tf.summary.merge(tf.get_collection(tf.GraphKeys.SUMMARIES, scope))

        def graph(self) -> None:
            self.x = tf.placeholder(dtype=tf.float32, shape=[None, 1])
            self.label = tf.placeholder(dtype=tf.float32, shape=[None, 1])
            w = tf.get_variable("w", shape=[1, 1])
            self.predict = tf.matmul(self.x, w)
            self.loss = tf.reduce_mean(tf.reduce_sum(tf.square(self.label - self.predict), axis=1))
            self.train_op = tf.train.GradientDescentOptimizer(0.01).minimize(self.loss)
            tf.summary.scalar("loss", self.loss)

    def run_epoch(session: Any, model: Model) -> None:
        x = np.arange(1000.0).reshape(-1, 1) / 1000
        session.run([model.merged_summary], {model.x.name: x, model.label: x * 3})

    for scoped in (False, True):
        with tf.Graph().as_default():
            with tf.name_scope("train") as train_scope, tf.variable_scope("var1", dtype=tf.float32):
                model1 = Model(train_scope if scoped else None)
            with tf.name_scope("test") as test_scope, tf.variable_scope("var1", reuse=True, dtype=tf.float32):
                model2 = Model(test_scope if scoped else None)
            with tf.Session() as sess:
                tf.global_variables_initializer().run()
                run_epoch(sess, model1)
                if scoped:
                    run_epoch(sess, model2)
                    continue
                # Which of the first model's two placeholders is missed first is a matter of order.
                wanted = r"You must feed a value for placeholder tensor 'train/var1/Placeholder(_1)?' with dtype float"
                with pytest.raises(tf.errors.InvalidArgumentError, match=wanted):
                    run_epoch(sess, model2)


def test_notes_gradients_of_integers(out: Printed) -> None:
    """The source's variables are integers, and it prints their gradients; TensorFlow 2 gives None instead."""
    tf = tfexp
    tf.reset_default_graph()
    w1 = tf.Variable([[1, 2]])
    w2 = tf.Variable([[3, 4]])
    res = tf.matmul(w1, [[2], [1]])
    grads = tf.gradients(res, [w1, w2])
    with tf.Session() as sess:
        tf.global_variables_initializer().run()
        with pytest.raises(TypeError, match="Fetch argument None has invalid type"):
            sess.run(grads)
    grads = tf.gradients(res, [w1])
    with tf.Session() as sess:
        tf.global_variables_initializer().run()
        re = sess.run(grads)
        print(re)
    assert out.lines == ["[array([[2, 1]], dtype=int32)]"]


def test_notes_stop_gradient(tf: Any, out: Printed) -> None:
    w1 = tf.Variable(2.0)
    w2 = tf.Variable(2.0)
    a = tf.multiply(w1, 3.0)
    a_stoped = tf.stop_gradient(a)
    b = tf.multiply(a_stoped, w2)
    gradients = tf.gradients(b, xs=[w1, w2])
    print(gradients)
    # The source's TensorFlow 1.0 ended every product's gradient with a Reshape, and so printed `Reshape_1`; since then
    # operands of one known shape need none.
    assert out.lines == ["[None, <tf.Tensor 'gradients/Mul_1_grad/Mul_1:0' shape=() dtype=float32>]"]
