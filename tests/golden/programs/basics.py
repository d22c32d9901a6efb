"""The programs of "TensorFlow programming basics" 4.3-4.5: variables, scopes, graphs, linear regression."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden.programs.registry import Outcome, Run, program, raised, runs


def noisy_line(count: int = 100) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The sources' y = 2x + noise, with a fixed seed."""
    x = np.linspace(-1, 1, count)
    return x, 2 * x + np.random.RandomState(7).randn(count) * 0.3


def _two_pairs(tf: Any) -> tuple[list[str], Any, Any]:
    first = tf.Variable(1.0, name="firstvar")
    second = tf.Variable(2.0, name="firstvar")
    third = tf.Variable(3.0)
    fourth = tf.Variable(4.0)
    return [v.name for v in (first, second, third, fourth)], second, fourth


@program("B 4.3.3 code 4-9, In [1]")
def variable_uniquifies(tf: Any) -> Outcome:
    names, var1, var2 = _two_pairs(tf)
    return runs(Run(tf.global_variables_initializer()), Run([var1, var2]), names=names)


@program("B 4.3.3 code 4-9, In [2]")
def get_variable_refuses_a_second_definition(tf: Any) -> Outcome:
    names, _, _ = _two_pairs(tf)
    more, var1, var2 = _two_pairs(tf)
    init = tf.global_variables_initializer()
    got = tf.get_variable("firstvar", [1], initializer=tf.constant_initializer(0.3))
    error = raised(lambda: tf.get_variable("firstvar", [1], initializer=tf.constant_initializer(0.4)))
    return runs(Run(init), Run([var1, var2]), names=[*names, *more, got.name], error=error)


@program("B 4.3.3 code 4-9, In [4]")
def get_variable_under_another_name(tf: Any) -> Outcome:
    names, _, _ = _two_pairs(tf)
    first = tf.get_variable("firstvar", [1], initializer=tf.constant_initializer(0.3))
    second = tf.get_variable("firstvar1", [1], initializer=tf.constant_initializer(0.4))
    init = tf.global_variables_initializer()
    return runs(Run(init), Run([second]), names=[*names, first.name, second.name])


@program("B 4.3.1")
def biases_variable(tf: Any) -> Outcome:
    biases = tf.Variable(tf.zeros([2]), name="biases")
    refused = raised(lambda: tf.Variable(tf.zeros([2]), name=" biases"))
    return runs(Run(tf.global_variables_initializer()), Run(biases), refused=refused)


@program("B 4.3.4")
def get_variable_twice_without_scope(tf: Any) -> Outcome:
    first = tf.get_variable("firstvar", shape=[2], dtype=tf.float32)
    error = raised(lambda: tf.get_variable("firstvar", shape=[2], dtype=tf.float32))
    return runs(names=[first.name], error=error)


@program("B 4.3.4 code 4-10")
def two_variable_scopes(tf: Any) -> Outcome:
    with tf.variable_scope("test1"):
        var1 = tf.get_variable("firstvar", shape=[2], dtype=tf.float32)
    with tf.variable_scope("test2"):
        var2 = tf.get_variable("firstvar", shape=[2], dtype=tf.float32)
    return runs(names=[var1.name, var2.name])


@program("B 4.3.4 code 4-11 and 4.3.5")
def nested_scopes_then_reuse(tf: Any) -> Outcome:
    with tf.variable_scope("test1"):
        var1 = tf.get_variable("firstvar", shape=[2], dtype=tf.float32)
        with tf.variable_scope("test2"):
            var2 = tf.get_variable("firstvar", shape=[2], dtype=tf.float32)
    with tf.variable_scope("test1", reuse=True):
        var3 = tf.get_variable("firstvar", shape=[2], dtype=tf.float32)
        with tf.variable_scope("test2"):
            var4 = tf.get_variable("firstvar", shape=[2], dtype=tf.float32)
    return runs(names=[v.name for v in (var1, var2, var3, var4)], shared=[var1 is var3, var2 is var4])


@program("B 4.3.6 code 4-12")
def inherited_initializer(tf: Any) -> Outcome:
    with tf.variable_scope("test1", initializer=tf.constant_initializer(0.4)):
        var1 = tf.get_variable("firstvar", shape=[2], dtype=tf.float32)
        with tf.variable_scope("test2"):
            var2 = tf.get_variable("firstvar", shape=[2], dtype=tf.float32)
            var3 = tf.get_variable("test3", shape=[2], initializer=tf.constant_initializer(0.3))
    return runs(Run(tf.global_variables_initializer()), Run([var1, var2, var3]))


@program("B 4.3.6, AUTO_REUSE")
def auto_reuse(tf: Any) -> Outcome:
    made = []
    for _ in range(2):
        with tf.variable_scope("test1", reuse=tf.AUTO_REUSE):
            made.append(tf.get_variable("v", [3]))
            made.append(tf.get_variable("w", [3], initializer=tf.zeros_initializer()))
    return runs(names=[v.name for v in made], shared=made[0] is made[2])


@program("B 4.3.7 code 4-13")
def scope_reopened_by_object(tf: Any) -> Outcome:
    with tf.variable_scope("scope1") as sp:
        var1 = tf.get_variable("v", [1])
    with tf.variable_scope("scope2"):
        var2 = tf.get_variable("v", [1])
        with tf.variable_scope(sp) as sp1:
            var3 = tf.get_variable("v3", [1])
    with tf.variable_scope("scope"), tf.name_scope("bar"):
        v = tf.get_variable("v", [1])
        x = 1.0 + v
    return runs(names=[sp.name, var1.name, sp1.name, var2.name, var3.name, v.name, x.op.name])


@program("B 4.3.7 code 4-13, var4")
def empty_variable_scope(tf: Any) -> Outcome:
    with tf.variable_scope("scope1") as sp:
        tf.get_variable("v", [1])
    with tf.variable_scope("scope2"):
        tf.get_variable("v", [1])
        with tf.variable_scope(sp):
            tf.get_variable("v3", [1])
            with tf.variable_scope(""):
                var4 = tf.get_variable("v4", [1])
    return runs(names=[var4.name])


@program("B 4.3.7 code 4-13, y")
def empty_name_scope(tf: Any) -> Outcome:
    with tf.variable_scope("scope1") as sp:
        tf.get_variable("v", [1])
    with tf.variable_scope("scope2"):
        tf.get_variable("v", [1])
        with tf.variable_scope(sp):
            tf.get_variable("v3", [1])
            with tf.variable_scope("scope"), tf.name_scope("bar"):
                v = tf.get_variable("v", [1])
                x = 1.0 + v
                with tf.name_scope(""):
                    y = 1.0 + v
    return runs(names=[v.name, x.op.name, y.op.name])


@program("B 4.4 code 4-14")
def graph_basics(tf: Any) -> Outcome:
    g = tf.Graph()
    with g.as_default():
        c1 = tf.constant(0.0)
    t = g.get_tensor_by_name(name="Const:0")
    facts = {
        "c1": c1.name,
        "t": str(t),
        "operations": str(g.get_operations()),
        "element": str(g.as_graph_element(c1)),
        "own graph": c1.graph is g,
        "default restored": tf.get_default_graph() is not g,
    }
    a = tf.constant([[1.0, 2.0]])
    b = tf.constant([[1.0], [3.0]])
    tensor1 = tf.matmul(a, b, name="exampleop")
    found = tf.get_default_graph().get_operation_by_name("exampleop")
    facts |= {"tensor1": f"{tensor1.name} {tensor1}", "op": tensor1.op.name, "same": found is tensor1.op}
    facts |= {
        "type": found.type,
        "inputs": [t.name for t in found.inputs],
        "outputs": [t.name for t in found.outputs],
    }
    return runs(Run(tensor1), **facts)


@program("B 4.4.6")
def default_graph_inside_with(tf: Any) -> Outcome:
    outer = tf.constant(0.0)
    g = tf.Graph()
    with tf.Graph().as_default():
        c1 = tf.constant(0.0)
        inside = tf.get_default_graph() is c1.graph
    return runs(inside=inside, others=[c1.graph is g, c1.graph is outer.graph])


def _linear_regression(tf: Any, initial: Any) -> tuple[Any, ...]:
    x = tf.placeholder("float")
    y = tf.placeholder("float")
    w = tf.Variable(initial([1]), name="weight")
    b = tf.Variable(tf.zeros([1]) if initial is tf.random_normal else initial([1]), name="bias")
    return x, y, w, b


@program("B 4.5.3 code 4-15, In [1]")
def linear_regression_with_summaries(tf: Any) -> Outcome:
    tf.set_random_seed(1)
    _linear_regression(tf, tf.random_normal)
    x, y, w, b = _linear_regression(tf, tf.random_normal)
    z = tf.multiply(x, w) + b
    tf.summary.histogram("z", z)
    cost = tf.reduce_mean(tf.square(y - z))
    tf.summary.scalar("loss_function", cost)
    optimizer = tf.train.GradientDescentOptimizer(0.01).minimize(cost)
    init = tf.global_variables_initializer()
    merged = tf.summary.merge_all()
    train_x, train_y = noisy_line()
    steps = [Run(optimizer, {x: one_x, y: one_y}) for one_x, one_y in zip(train_x[::10], train_y[::10], strict=True)]
    return runs(
        Run(init),
        *steps,
        Run([cost, w, b], {x: train_x, y: train_y}, rtol=1e-4),
        Run(z, {x: 0.2}, rtol=1e-4),
        merged=merged.name,
    )


@program("B 4.5.3 code 4-15, In [2]")
def linear_regression_on_replicas(tf: Any) -> Outcome:
    tf.set_random_seed(1)
    cluster = tf.train.ClusterSpec({"ps": ["localhost:1681"], "worker": ["localhost:1682", "localhost:1683"]})
    with tf.device(tf.train.replica_device_setter(worker_device="/job:worker/task:0", cluster=cluster)):
        x, y, w, b = _linear_regression(tf, tf.truncated_normal)
        global_step = tf.train.get_or_create_global_step()
        z = tf.multiply(x, w) + b
        tf.summary.histogram("z", z)
        cost = tf.reduce_mean(tf.square(y - z))
        tf.summary.scalar("loss_function", cost)
        train = tf.train.GradientDescentOptimizer(0.01).minimize(cost, global_step=global_step)
        tf.train.Saver(max_to_keep=1)
        merged = tf.summary.merge_all()
        init = tf.global_variables_initializer()
    return runs(names=[train.name, merged.name, init.name, global_step.name], devices=[w.device, b.device])


@program("T4: what a supervisor finds and makes")
def supervisor(tf: Any) -> Outcome:
    variable = tf.Variable(1.0, name="v")
    tf.train.get_or_create_global_step()
    tf.summary.scalar("value", variable)
    made = tf.train.Supervisor()
    names = [made.init_op.name, made.ready_op.name, made.summary_op.name, made.global_step.name]
    return runs(names=names, finalized=tf.get_default_graph().finalized)
