"""What "TensorFlow notes" prints."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp
from tests.source_programs.printed import Printed, dedent


def test_notes_reshaping(tf: Any, out: Printed) -> None:
    t = tf.constant([[[1, 1, 1], [2, 2, 2]], [[3, 3, 3], [4, 4, 4]], [[5, 5, 5], [6, 6, 6]]])
    t1 = [[1, 2, 3], [4, 5, 6]]
    t2 = [[7, 8, 9], [10, 11, 12]]
    mat = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9]).reshape((3, -1))
    y = np.arange(24).reshape([2, 3, 4])
    a = np.array([[1, 2, 3, 4, 5], [4, 5, 6, 7, 8], [9, 10, 11, 12, 13]])
    temp = tf.range(0, 10) * 10 + tf.constant(1, shape=[10])
    split0, _, _ = tf.split(tf.zeros([5, 30]), 3, 1)  # 0.x had the value last
    ones = tf.zeros([1, 2, 1, 3, 1, 1])
    with tf.Session():
        print(tf.reshape(t, [-1, 9]).eval().tolist())
        print(tf.concat([t1, t2], 0).eval().tolist())  # 0.x had the axis first
        print(tf.concat([t1, t2], 1).eval().tolist())
        print(tf.squeeze(ones).get_shape().as_list(), tf.squeeze(ones, [2, 4]).get_shape().as_list())
        print(tf.shape(split0).eval().tolist())
        print(tf.nn.embedding_lookup(mat, [[1, 2], [0, 1]]).eval().tolist())
        print([tf.expand_dims([1, 2], axis).get_shape().as_list() for axis in (0, 1, -1)])
        print([tf.expand_dims(tf.zeros([2, 3, 5]), axis).get_shape().as_list() for axis in (0, 2, 3)])
        print(tf.slice([[1, 2, 3], [4, 5, 6]], [1, 0], [1, 2]).eval())
        print(tf.slice(y, [1, 0, 0], [1, 2, 3]).eval().tolist())
        print(tf.slice(a, [1, 2], [-1, 2]).eval().tolist())
        print(tf.stack([[1, 4], [2, 5], [3, 6]]).eval().tolist())
        print(tf.stack([[1, 4], [2, 5], [3, 6]], axis=1).eval().tolist())
        print(temp.eval())
        print(tf.gather(temp, [1, 5, 9]).eval())
    assert out.lines == dedent("""
        [[1, 1, 1, 2, 2, 2, 3, 3, 3], [4, 4, 4, 5, 5, 5, 6, 6, 6]]
        [[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]]
        [[1, 2, 3, 7, 8, 9], [4, 5, 6, 10, 11, 12]]
        [2, 3] [1, 2, 3, 1]
        [5, 10]
        [[[4, 5, 6], [7, 8, 9]], [[1, 2, 3], [4, 5, 6]]]
        [[1, 2], [2, 1], [2, 1]]
        [[1, 2, 3, 5], [2, 3, 1, 5], [2, 3, 5, 1]]
        [[4 5]]
        [[[12, 13, 14], [16, 17, 18]]]
        [[6, 7], [11, 12]]
        [[1, 4], [2, 5], [3, 6]]
        [[1, 2, 3], [4, 5, 6]]
        [ 1 11 21 31 41 51 61 71 81 91]
        [11 51 91]
    """)


def test_notes_cross_entropy(tf: Any, out: Printed) -> None:
    logits = tf.constant([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
    y = tf.nn.softmax(logits)
    y_ = tf.constant([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
    cross_entropy = -tf.reduce_sum(y_ * tf.log(y))
    cross_entropy2 = tf.reduce_sum(tf.nn.softmax_cross_entropy_with_logits(logits=logits, labels=y_))
    with tf.Session() as sess:
        print("step1:softmax result=")
        print(sess.run(y))
        print("step2:cross_entropy result=")
        print(f"{sess.run(cross_entropy):.5f}")  # six digits is what the source's NumPy printed
        print("Function(softmax_cross_entropy_with_logits) result=")
        print(f"{sess.run(cross_entropy2):.4f}")
    printed = out.lines
    rows = [[float(number) for number in line.strip("[ ]").split()] for line in printed[1:4]]
    assert rows == [pytest.approx([0.09003057, 0.24472848, 0.66524094], rel=2e-7)] * 3
    assert [printed[0], *printed[4:]] == dedent("""
        step1:softmax result=
        step2:cross_entropy result=
        1.22282
        Function(softmax_cross_entropy_with_logits) result=
        1.2228
    """)


def test_notes_variable_scopes(tf: Any, out: Printed) -> None:
    with tf.variable_scope("tet1"):
        var3 = tf.get_variable("var3", shape=[2], dtype=tf.float32)
        print(var3.name)
        with tf.variable_scope("tet2"):
            var4 = tf.get_variable("var4", shape=[2], dtype=tf.float32)
            print(var4.name)
    assert out.lines == ["tet1/var3:0", "tet1/tet2/var4:0"]


@pytest.mark.parametrize("called_inside", [True, False])
def test_notes_scope_of_a_call(tf: Any, out: Printed, called_inside: bool) -> None:
    def te2() -> Any:
        with tf.variable_scope("te2"):
            var2 = tf.get_variable("var2", shape=[2], dtype=tf.float32)
            print(var2.name)

            def te1() -> Any:
                with tf.variable_scope("te1"):
                    return tf.get_variable("var1", shape=[2], dtype=tf.float32)

            if called_inside:
                return te1()
        return te1()

    res = te2()
    print(res.name)
    assert out.lines == ["te2/var2:0", "te2/te1/var1:0" if called_inside else "te1/var1:0"]


def test_notes_scope_by_name_and_by_object(tf: Any, out: Printed) -> None:
    with tf.variable_scope("scope"):
        print(tf.get_variable("w", shape=[1]).name)
        with tf.variable_scope("scope"):
            print(tf.get_variable("w", shape=[1]).name)
    with tf.variable_scope("yin"):
        tf.get_variable("w", shape=[1])
        scope = tf.get_variable_scope()
        with tf.variable_scope(scope), pytest.raises(ValueError, match="yin/w already exists"):
            tf.get_variable("w", shape=[1])
    assert out.lines == ["scope/w:0", "scope/scope/w:0"]


def test_notes_name_scope_and_variable_scope(tf: Any, out: Printed) -> None:
    with tf.name_scope("hello") as name_scope:
        arr1 = tf.get_variable("arr1", shape=[2, 10], dtype=tf.float32)
        print(name_scope)
        print(arr1.name)
        print(f"scope_name:{tf.get_variable_scope().original_name_scope} ")
    assert out.lines == ["hello/", "arr1:0", "scope_name:"]
    tf.reset_default_graph()
    with tf.variable_scope("hello") as variable_scope:
        arr1 = tf.get_variable("arr1", shape=[2, 10], dtype=tf.float32)
        print(variable_scope)
        print(variable_scope.name)
        print(arr1.name)
        print(tf.get_variable_scope().original_name_scope)
        with tf.variable_scope("xixi"):
            print(tf.get_variable_scope().original_name_scope)
    first, *others = out.lines
    assert re.fullmatch(r"<\S+\.VariableScope object at 0x[0-9a-f]+>", first)
    assert others == ["hello", "hello/arr1:0", "hello/", "hello/xixi/"]
    tf.reset_default_graph()
    with tf.name_scope("name1"), tf.variable_scope("var1"):
        w = tf.get_variable("w", shape=[2])
        res = tf.add(w, [3])
    print(w.name)
    print(res.name)
    with tf.name_scope("scope1"), tf.name_scope("scope2") as scope2:
        print(scope2)
    with tf.variable_scope("scope1"), tf.variable_scope("scope2") as scope2:
        print(scope2.name)
    assert out.lines == ["var1/w:0", "name1/var1/Add:0", "scope1/scope2/", "scope1/scope2"]


def test_notes_hidden_scope(tf: Any, out: Printed) -> None:
    with tf.name_scope("hidden"):
        a = tf.constant(5, name="alpha")
        W = tf.Variable(tf.random_uniform([1, 2], -1.0, 1.0), name="weights")
        b = tf.Variable(tf.zeros([1]), name="biases")
        print(a.op.name)
        print(W.op.name)
        print(b.op.name)
    assert out.lines == ["hidden/alpha", "hidden/weights", "hidden/biases"]


def test_notes_default_name(tf: Any, out: Printed) -> None:
    def test(name: str | None = None) -> None:
        with tf.variable_scope(name, default_name="scope"):
            tf.get_variable("w", shape=[2, 10])

    test()
    test()
    for w in tf.trainable_variables():
        print(w.name)
    assert out.lines == ["scope/w:0", "scope_1/w:0"]


def test_notes_variable_and_get_variable(tf: Any, out: Printed) -> None:
    w_1 = tf.Variable(3, name="w_1")
    w_2 = tf.Variable(1, name="w_1")
    print(w_1.name)
    print(w_2.name)
    assert out.lines == ["w_1:0", "w_1_1:0"]
    tf.reset_default_graph()
    tf.get_variable(name="w_1", initializer=1)
    with pytest.raises(ValueError, match=r"Variable w_1 already exists, disallowed\. Did you mean to set reuse=True"):
        tf.get_variable(name="w_1", initializer=2)


def test_notes_collections(tf: Any) -> None:
    a, b = tf.constant(1.0), tf.constant(2.0)
    tf.add_to_collection("haha", [a, b])
    assert tf.get_collection("haha") == [[a, b]]


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


def test_notes_fetching_a_none_gradient(tf: Any) -> None:
    w1 = tf.Variable([[1.0, 2.0]])
    w2 = tf.Variable([[3.0, 4.0]])
    grads = tf.gradients(tf.matmul(w1, [[2.0], [1.0]]), [w1, w2])
    with tf.Session() as sess:
        tf.global_variables_initializer().run()
        with pytest.raises(TypeError, match="None has invalid type"):
            sess.run(grads)


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


def test_notes_stop_gradient_on_one_path(tf: Any, out: Printed) -> None:
    a = tf.Variable(1.0)
    b = tf.Variable(1.0)
    c = tf.add(a, b)
    c_stoped = tf.stop_gradient(c)
    d = tf.add(a, b)
    e = tf.add(c_stoped, d)
    gradients = tf.gradients(e, xs=[a, b])
    with tf.Session() as sess:
        tf.global_variables_initializer().run()
        print(sess.run(gradients))
    assert out.lines == ["[1.0, 1.0]"]


def test_notes_stopped_variable_is_not_trained(tf: Any, out: Printed) -> None:
    w1 = tf.Variable(2.0)
    w2 = tf.Variable(2.0)
    a_stoped = tf.stop_gradient(tf.multiply(w1, 3.0))
    b = tf.multiply(a_stoped, w2)
    opt = tf.train.GradientDescentOptimizer(0.1)
    gradients = tf.gradients(b, xs=tf.trainable_variables())
    train_op = opt.apply_gradients(zip(gradients, tf.trainable_variables()))
    with tf.Session() as sess:
        tf.global_variables_initializer().run()
        print(sess.run(train_op))
        print(sess.run([w1, w2]))
    assert out.lines == ["None", "[2.0, 1.4]"]


def test_notes_saver_swaps_two_variables(tf: Any, out: Printed, tmp_path: Path) -> None:
    path = str(tmp_path / "model-2")
    v1 = tf.Variable(1.0, name="v1")
    v2 = tf.Variable(2.0, name="v2")
    saver = tf.train.Saver({"variable_1": v1, "variable_2": v2})
    with tf.Session() as sess:
        tf.global_variables_initializer().run()
        saver.save(sess, path)
    for name, _ in tf.train.list_variables(path):
        print("tensor_name: ", name)
        print(tf.train.load_variable(path, name))
    assert out.lines == ["tensor_name:  variable_1", "1.0", "tensor_name:  variable_2", "2.0"]
    tf.reset_default_graph()
    v1 = tf.Variable(1.0, name="v1")
    v2 = tf.Variable(2.0, name="v2")
    saver = tf.train.Saver({"variable_1": v2, "variable_2": v1})
    with tf.Session() as sess:
        tf.global_variables_initializer().run()
        saver.restore(sess, path)
        print(sess.run(v1), sess.run(v2))
    assert out.lines == ["2.0 1.0"]


def test_notes_saver_of_a_list_uses_op_names(tf: Any, tmp_path: Path) -> None:
    v1 = tf.Variable(1.0, name="v1")
    v2 = tf.Variable(2.0, name="v2")
    saver = tf.train.Saver([v1, v2])
    with tf.Session() as sess:
        tf.global_variables_initializer().run()
        path = saver.save(sess, str(tmp_path / "model"))
    assert {name: float(tf.train.load_variable(path, name)) for name, _ in tf.train.list_variables(path)} == {
        "v1": 1.0,
        "v2": 2.0,
    }


def test_notes_group_and_tuple(tf: Any) -> None:
    w = tf.Variable(1)
    mul = tf.multiply(w, 2)
    add = tf.add(w, 2)
    group = tf.group(mul, add)
    both = tf.tuple([mul, add])
    with tf.Session() as sess:
        tf.global_variables_initializer().run()
        assert sess.run(group) is None
        assert sess.run(both) == [2, 3]


def test_notes_learning_rate_decay(tf: Any) -> None:
    global_step = tf.Variable(0, trainable=False)
    learning_rate = tf.train.exponential_decay(0.1, global_step=global_step, decay_steps=10, decay_rate=0.9)
    tf.train.GradientDescentOptimizer(learning_rate)
    add_global = global_step.assign_add(1)
    with tf.Session() as sess:
        tf.global_variables_initializer().run()
        rates = [sess.run(learning_rate)]
        for _ in range(10):
            sess.run(add_global)
            rates.append(sess.run(learning_rate))
    assert rates == pytest.approx([0.1 * 0.9 ** (step / 10) for step in range(11)], rel=1e-6)


def test_notes_sparse_to_dense(tf: Any, out: Printed) -> None:
    BATCHSIZE = 6
    label = tf.expand_dims(tf.constant([0, 2, 3, 6, 7, 9]), 1)
    index = tf.expand_dims(tf.range(0, BATCHSIZE), 1)
    concated = tf.concat([index, label], 1)
    onehot_labels = tf.sparse_to_dense(concated, tf.stack([BATCHSIZE, 10]), 1.0, 0.0)
    with tf.Session() as sess:
        print(sess.run(concated))
        dense = sess.run(onehot_labels)
    assert out.lines == ["[[0 0]", " [1 2]", " [2 3]", " [3 6]", " [4 7]", " [5 9]]"]
    np.testing.assert_array_equal(dense, np.eye(10, dtype=np.float32)[[0, 2, 3, 6, 7, 9]])
