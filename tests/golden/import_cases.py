"""Graphs that TensorFlow makes and tfexp only imports: functions, functional control flow, frozen models.

`tf` is `tensorflow.compat.v1`, `function` its Defun module. Each case returns the fetches and the feeds of one run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Case = Callable[[Any, Any], tuple[list[Any], dict[Any, Any]]]


def call_with_gradient(tf: Any, function: Any) -> Any:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    weights = tf.constant(np.random.default_rng(3).standard_normal((3, 2)), tf.float32)

    @tf.function
    def layer(a: Any, b: Any) -> Any:
        return tf.nn.relu(tf.matmul(a, b)) + 1.0, a * 2.0

    y, twice = layer(x, weights)
    return [y, twice, *tf.gradients(y, [x, weights])], {x: np.random.default_rng(5).standard_normal((5, 3))}


def functions_within_functions(tf: Any, function: Any) -> Any:
    @tf.function
    def inner(a: Any) -> Any:
        return tf.reduce_sum(a, axis=0)

    @tf.function
    def outer(a: Any) -> Any:
        return inner(a) + inner(2.0 * a)

    x = tf.placeholder(tf.float32, [None, 3], name="x")
    return [outer(x)], {x: np.arange(15).reshape(5, 3)}


def legacy_function(tf: Any, function: Any) -> Any:
    @function.Defun(tf.float32, tf.float32, func_name="AddTwice")
    def add_twice(a: Any, b: Any) -> Any:
        return a + b * 2.0

    x = tf.placeholder(tf.float32, [], name="x")
    return [add_twice(x, tf.constant(3.0)) + add_twice(x, x)], {x: 2.0}


def a_branch(taken: bool) -> Case:
    def case(tf: Any, function: Any) -> Any:
        tf.enable_control_flow_v2()
        condition, x = tf.placeholder(tf.bool, [], name="condition"), tf.placeholder(tf.float32, [None], name="x")
        y = tf.cond(condition, lambda: x * 2.0, lambda: tf.constant([1.0]) + x)
        return [y, tf.gradients(y, x)[0]], {condition: taken, x: [1.0, 2.0, 3.0]}

    return case


def one_of_three(chosen: int) -> Case:
    def case(tf: Any, function: Any) -> Any:
        tf.enable_control_flow_v2()
        index, x = tf.placeholder(tf.int32, [], name="index"), tf.placeholder(tf.float32, [None], name="x")
        y = tf.switch_case(index, [lambda: x * 2.0, lambda: x + 1.0, lambda: tf.constant([5.0])])
        return [y], {index: chosen, x: [1.0, 2.0, 3.0]}

    return case


def a_loop(times: int) -> Case:
    def case(tf: Any, function: Any) -> Any:
        tf.enable_control_flow_v2()
        n, x = tf.placeholder(tf.int32, [], name="n"), tf.placeholder(tf.float32, [], name="x")

        def body(i: Any, a: Any) -> Any:
            return i + 1, a * x + tf.cond(i > 2, lambda: 1.0, lambda: a)

        return list(tf.while_loop(lambda i, a: i < n, body, [0, x])), {n: times, x: 1.5}

    return case


def a_loop_with_gradient(tf: Any, function: Any) -> Any:
    """What the backward loop needs of each iteration goes through TensorLists."""
    tf.enable_control_flow_v2()
    n, x = tf.placeholder(tf.int32, [], name="n"), tf.placeholder(tf.float32, [2], name="x")
    _, y = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, tf.tanh(a * x) + a), [0, tf.ones([2])])
    return [y, tf.gradients(y, x)[0]], {n: 4, x: [0.5, -1.5]}


def a_map_and_a_scan(tf: Any, function: Any) -> Any:
    tf.enable_control_flow_v2()
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    mapped = tf.map_fn(lambda row: row * tf.reduce_sum(row), x)
    scanned = tf.scan(lambda a, row: a * 0.5 + row, x)
    return [mapped, scanned, tf.gradients(mapped, x)[0]], {x: np.arange(12).reshape(4, 3) / 4}


def tensor_arrays_in_a_loop(tf: Any, function: Any) -> Any:
    tf.enable_control_flow_v2()
    n = tf.placeholder(tf.int32, [], name="n")
    array = tf.TensorArray(tf.float32, size=0, dynamic_size=True, infer_shape=False, element_shape=[None])
    _, array = tf.while_loop(
        lambda i, a: i < n, lambda i, a: (i + 1, a.write(i, tf.fill([i + 1], tf.cast(i, tf.float32)))), [0, array]
    )
    return [array.concat(), array.size()], {n: 3}


def gradient_of_a_legacy_function(tf: Any, function: Any) -> Any:
    @function.Defun(tf.float32, tf.float32)
    def scaled(a: Any, b: Any) -> Any:
        return tf.exp(a) * b, a - b

    x, y = tf.placeholder(tf.float32, [3], name="x"), tf.placeholder(tf.float32, [3], name="y")
    product, difference = scaled(x, y)
    total = tf.reduce_sum(product) + 2.0 * tf.reduce_sum(difference)
    return [product, *tf.gradients(total, [x, y])], {x: [0.0, 1.0, 2.0], y: [3.0, 4.0, 5.0]}


def a_loop_of_the_first_kind(tf: Any, function: Any) -> Any:
    tf.disable_control_flow_v2()
    n, x = tf.placeholder(tf.int32, [], name="n"), tf.placeholder(tf.float32, [], name="x")
    _, product = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * x), [0, tf.constant(1.0)])
    return [product, tf.gradients(product, x)[0]], {n: 5, x: 1.5}


def frozen_perceptron(tf: Any, function: Any) -> Any:
    """A trained model with its variables made constants."""
    random = np.random.default_rng(11)
    x, labels = tf.placeholder(tf.float32, [None, 7], name="x"), tf.placeholder(tf.int32, [None])
    hidden = tf.nn.relu(
        tf.matmul(x, tf.Variable(random.standard_normal((7, 5)), dtype=tf.float32)) + tf.Variable(tf.zeros(5))
    )
    logits = tf.add(tf.matmul(hidden, tf.Variable(random.standard_normal((5, 3)), dtype=tf.float32)), 0.5, name="logits")
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    batch = random.standard_normal((13, 7))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(train, {x: batch, labels: random.integers(3, size=13)})
        frozen = tf.graph_util.convert_variables_to_constants(session, tf.get_default_graph().as_graph_def(), ["logits"])
    x, logits = tf.import_graph_def(frozen, return_elements=["x:0", "logits:0"], name="frozen")
    return [logits], {x: batch}


CASES: dict[str, Case] = {
    "call with gradient": call_with_gradient,
    "functions within functions": functions_within_functions,
    "legacy function": legacy_function,
    "branch taken": a_branch(True),
    "branch not taken": a_branch(False),
    **{f"case {i} of 3": one_of_three(i) for i in (0, 1, 2, 7, -1)},
    "loop": a_loop(5),
    "loop that never runs": a_loop(0),
    "loop with gradient": a_loop_with_gradient,
    "map and scan": a_map_and_a_scan,
    "tensor arrays in a loop": tensor_arrays_in_a_loop,
    "gradient of a legacy function": gradient_of_a_legacy_function,
    "loop of the first kind": a_loop_of_the_first_kind,
    "frozen perceptron": frozen_perceptron,
}
