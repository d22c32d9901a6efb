"""The scope and sharing examples of "TensorFlow notes"."""

from __future__ import annotations

from typing import Any

from tests.golden.programs.registry import Outcome, Run, program, raised, runs, values


@program("N 4/14: variable scopes")
def nested_variable_scopes(tf: Any) -> Outcome:
    with tf.variable_scope("tet1"):
        var3 = tf.get_variable("var3", shape=[2], dtype=tf.float32)
        with tf.variable_scope("tet2"):
            var4 = tf.get_variable("var4", shape=[2], dtype=tf.float32)
    return runs(names=[var3.name, var4.name])


def _te2(tf: Any, inside: bool) -> list[str]:
    def te1() -> Any:
        with tf.variable_scope("te1"):
            return tf.get_variable("var1", shape=[2], dtype=tf.float32)

    with tf.variable_scope("te2"):
        names = [tf.get_variable("var2", shape=[2], dtype=tf.float32).name]
        if inside:
            names.append(te1().name)
    if not inside:
        names.append(te1().name)
    return names


@program("N 4/14: called inside")
def scope_called_inside(tf: Any) -> Outcome:
    return runs(names=_te2(tf, inside=True))


@program("N 4/14: called outside")
def scope_called_outside(tf: Any) -> Outcome:
    return runs(names=_te2(tf, inside=False))


@program("N 4/14: scope by name and by object")
def scope_inside_itself(tf: Any) -> Outcome:
    with tf.variable_scope("scope"):
        first = tf.get_variable("w", shape=[1])
        with tf.variable_scope("scope"):
            second = tf.get_variable("w", shape=[1])
    with tf.variable_scope("yin"):
        tf.get_variable("w", shape=[1])
        scope = tf.get_variable_scope()
        with tf.variable_scope(scope):
            error = raised(lambda: tf.get_variable("w", shape=[1]))
    return runs(names=[first.name, second.name, scope.name], error=error)


def _image_filter(tf: Any, images: Any, shared: bool) -> Any:
    if shared:
        weights = tf.get_variable("weights", [15, 4], initializer=tf.random_normal_initializer(seed=3))
        biases = tf.get_variable("biases", [4], initializer=tf.constant_initializer(0.0))
    else:
        weights = tf.Variable(tf.random_normal([15, 4], seed=3), name="weights")
        biases = tf.Variable(tf.zeros([4]), name="biases")
    return tf.nn.relu(tf.matmul(images, weights) + biases)


@program("N 4/14: two sets of variables")
def filter_twice(tf: Any) -> Outcome:
    image1, image2 = (tf.constant(values(name, 7, 15)) for name in ("img1", "img2"))
    result1 = _image_filter(tf, image1, shared=False)
    result2 = _image_filter(tf, image2, shared=False)
    return runs(Run(tf.global_variables_initializer()), Run([result1, result2], rtol=1e-4))


@program("N 4/14: shared variables")
def filter_shared(tf: Any) -> Outcome:
    image1, image2 = (tf.constant(values(name, 7, 15)) for name in ("img1", "img2"))
    with tf.variable_scope("image_filters") as scope:
        result1 = _image_filter(tf, image1, shared=True)
        scope.reuse_variables()
        result2 = _image_filter(tf, image2, shared=True)
    with tf.variable_scope("image_filters1") as scope1:
        _image_filter(tf, image1, shared=True)
    with tf.variable_scope(scope1, reuse=True):
        _image_filter(tf, image2, shared=True)
    init = tf.global_variables_initializer()
    return runs(Run(init), Run([result1, result2], rtol=1e-4), names=[v.name for v in tf.global_variables()])


@program("N 4/14: scopes, program 1")
def name_scope_ignores_get_variable(tf: Any) -> Outcome:
    with tf.name_scope("hello") as name_scope:
        arr1 = tf.get_variable("arr1", shape=[2, 10], dtype=tf.float32)
        original = tf.get_variable_scope().original_name_scope
    return runs(names=[name_scope, arr1.name, original])


@program("N 4/14: scopes, program 2")
def original_name_scopes(tf: Any) -> Outcome:
    with tf.variable_scope("hello") as variable_scope:
        arr1 = tf.get_variable("arr1", shape=[2, 10], dtype=tf.float32)
        names = [variable_scope.name, arr1.name, tf.get_variable_scope().original_name_scope]
        with tf.variable_scope("xixi"):
            names.append(tf.get_variable_scope().original_name_scope)
    return runs(names=names)


@program("N 4/14: scopes, program 3")
def both_scopes(tf: Any) -> Outcome:
    with tf.name_scope("name1"), tf.variable_scope("var1"):
        w = tf.get_variable("w", shape=[2])
        res = tf.add(w, [3])
    return runs(names=[w.name, res.name])


@program("N 4/14: scopes, others")
def nested_scope_names(tf: Any) -> Outcome:
    with tf.name_scope("scope1"), tf.name_scope("scope2") as scope2:
        names = [scope2]
    with tf.variable_scope("scope1"), tf.variable_scope("scope2") as scope2:
        names.append(scope2.name)
    return runs(names=names)


@program("N 4/14: what name_scope is for")
def hidden_name_scope(tf: Any) -> Outcome:
    with tf.name_scope("hidden"):
        a = tf.constant(5, name="alpha")
        w = tf.Variable(tf.random_uniform([1, 2], -1.0, 1.0), name="weights")
        b = tf.Variable(tf.zeros([1]), name="biases")
    return runs(names=[a.name, w.name, b.name])


@program("N 4/14: default_name")
def default_name_uniquifies(tf: Any) -> Outcome:
    def test(name: str | None = None) -> None:
        with tf.variable_scope(name, default_name="scope"):
            tf.get_variable("w", shape=[2, 10])

    test()
    test()
    return runs(names=[v.name for v in tf.trainable_variables()])


@program("N 4/17: Variable and get_variable")
def same_name_twice(tf: Any) -> Outcome:
    w_1 = tf.Variable(3, name="w_1")
    w_2 = tf.Variable(1, name="w_1")
    got = tf.get_variable(name="w_2", initializer=1)
    error = raised(lambda: tf.get_variable(name="w_2", initializer=2))
    return runs(names=[w_1.name, w_2.name, got.name], error=error)


@program("N 4/17: collections")
def collections(tf: Any) -> Outcome:
    a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
    tf.add_to_collection("haha", a)
    tf.add_to_collection("haha", a)
    tf.add_to_collection("pairs", [a, b])
    tf.get_default_graph().add_to_collections(["x", "y"], b)
    return runs(haha=len(tf.get_collection("haha")), pairs=[len(pair) for pair in tf.get_collection("pairs")])


@program("N 4/17: merge_all over two models")
def summaries_of_two_models(tf: Any) -> Outcome:
    def model() -> Any:
        x = tf.placeholder(dtype=tf.float32, shape=[None, 1])
        label = tf.placeholder(dtype=tf.float32, shape=[None, 1])
        w = tf.get_variable("w", shape=[1, 1])
        predict = tf.matmul(x, w)
        loss = tf.reduce_mean(tf.reduce_sum(tf.square(label - predict), axis=1))
        tf.train.GradientDescentOptimizer(0.01).minimize(loss)
        tf.summary.scalar("loss", loss)

    merged = []
    with tf.name_scope("train") as train_scope, tf.variable_scope("var1", dtype=tf.float32):
        model()
        merged.append(tf.summary.merge_all())
        merged.append(tf.summary.merge(tf.get_collection(tf.GraphKeys.SUMMARIES, train_scope)))
    with tf.name_scope("test") as test_scope, tf.variable_scope("var1", reuse=True, dtype=tf.float32):
        model()
        merged.append(tf.summary.merge_all())
        merged.append(tf.summary.merge(tf.get_collection(tf.GraphKeys.SUMMARIES, test_scope)))
    return runs(merged=[op.name for op in merged])


@program("N 4/17: Saver")
def savers(tf: Any) -> Outcome:
    v1 = tf.Variable(1.0, name="v1")
    v2 = tf.Variable(2.0, name="v2")
    tf.train.Saver({"v1": v1, "v2": v2})
    tf.train.Saver([v1, v2])
    tf.train.Saver({v.op.name: v for v in [v1, v2]})
    tf.train.Saver({"variable_1": v1, "variable_2": v2})
    tf.train.Saver({"variable_1": v2, "variable_2": v1})
    return runs()
