"""`tf.enable_control_flow_v2`: cond and while_loop in graphs as nodes that call functions. Values are those of TF 1.15."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.graph.unpublished import EnableControlFlowV2
from tfexp.ops.defun import Defun
from tfexp.stand_ins import functional_nodes as functional_ops


@pytest.fixture(autouse=True)
def functional() -> Iterator[None]:
    tf.enable_control_flow_v2()
    try:
        with tf.Graph().as_default():
            yield
    finally:
        tf.disable_control_flow_v2()


def run(fetches: Any, feeds: Any = None) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feeds)


def with_gradient(y: Any, x: Any) -> Any:
    return [y, tf.gradients(y, x)[0]]


def types() -> set[str]:
    return {op.type for op in tf.get_default_graph().get_operations()}


def test_the_switch() -> None:
    assert tf.control_flow_v2_enabled() and EnableControlFlowV2(tf.get_default_graph())
    tf.disable_control_flow_v2()
    assert not tf.control_flow_v2_enabled() and not EnableControlFlowV2(tf.get_default_graph())
    tf.cond(tf.constant(True), lambda: 1, lambda: 2)
    assert {"Switch", "Merge"} <= types()


def test_a_cond_in_a_cond() -> None:
    p, q, y = tf.placeholder(tf.bool, []), tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [])
    z = tf.cond(p, lambda: tf.cond(q, lambda: y * y, lambda: y * y * y), lambda: y)
    fetches = with_gradient(z, y)
    assert "Switch" not in types() and "StatelessIf" in types()
    for taken, expected in (((True, True), [9, 6]), ((True, False), [27, 27]), ((False, True), [3, 1])):
        assert run(fetches, {p: taken[0], q: taken[1], y: 3.0}) == expected


def test_results_have_the_structure_that_the_functions_return() -> None:
    one = tf.cond(tf.constant(True), lambda: [tf.constant(1.0)], lambda: [tf.constant(2.0)])
    assert isinstance(one, list) and run(one) == [1.0]


def test_nodes_wait_for_what_branches_and_bodies_wait_for_outside() -> None:
    ops = [tf.no_op(name) for name in "abcd"]

    def after(op: Any, value: Any) -> Any:
        with tf.control_dependencies([op]):
            return tf.identity(value)

    tf.cond(tf.constant(True), lambda: after(ops[0], 1.0), lambda: after(ops[1], 2.0), name="choice")
    tf.while_loop(lambda i: after(ops[2], i < 3), lambda i: after(ops[3], i + 1), [0], name="loop")
    waiting = {op.name: op.control_inputs for op in tf.get_default_graph().get_operations() if op.control_inputs}
    assert waiting == {"choice": ops[:2], "loop": ops[2:]}


def test_a_loop_in_a_loop_and_a_cond_in_it() -> None:
    y = tf.placeholder(tf.float32, [])

    def body(i: Any, a: Any) -> Any:
        inner = tf.while_loop(lambda j, _: j < 2, lambda j, b: (j + 1, b * y), [0, a])[1]
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: inner, lambda: a + y)

    z = tf.while_loop(lambda i, _: i < 3, body, [0, y])[1]
    fetches = with_gradient(z, y)
    assert "Enter" not in types() and "StatelessWhile" in types()
    assert run(fetches, {y: 2.0}) == [(8 + 2) * 4, 5 * 16 + 3 * 4]  # y^5 + y^3


def test_second_derivatives() -> None:
    y = tf.placeholder(tf.float32, [])
    z = tf.while_loop(lambda i, _: i < 3, lambda i, a: (i + 1, a * y), [0, y])[1]
    first = tf.gradients(z, y)[0]
    assert run(with_gradient(first, y), {y: 2.0}) == [32, 48]


@pytest.mark.parametrize("use_resource", [False, True])
def test_variables_are_made_outside_of_branches_and_bodies(use_resource: bool) -> None:
    def made(factor: Any) -> Any:
        with tf.variable_scope("scope", reuse=tf.AUTO_REUSE, use_resource=use_resource):
            return factor * tf.get_variable("w", [], initializer=tf.constant_initializer(3.0))

    p = tf.placeholder(tf.bool, [])
    z = tf.cond(p, lambda: made(2.0), lambda: tf.constant(0.0))
    z = tf.while_loop(lambda i, _: i < 2, lambda i, a: (i + 1, made(a)), [0, z])[1]
    (w,) = tf.trainable_variables()
    assert w.name == "scope/w:0" and w.graph is tf.get_default_graph()
    assert run(with_gradient(z, w), {p: True}) == [54, 54]  # 2 w^3


def test_only_what_a_result_needs_is_run() -> None:
    w = tf.get_variable("w", [], initializer=tf.zeros_initializer(), use_resource=True)

    def branch(waits: bool) -> Any:
        with tf.control_dependencies([w.assign_add(1.0)] if waits else []):
            w.assign_add(10.0)
            return tf.constant(5.0)

    for waits, expected in ((False, 0.0), (True, 1.0)):
        z = tf.cond(tf.constant(True), lambda waits=waits: tf.identity(branch(waits)), lambda: 0.0)
        with tf.Session() as session:
            session.run(w.initializer)
            assert session.run(z) == 5.0 and session.run(w) == expected


def test_names_and_collections() -> None:
    x = tf.placeholder(tf.float32, [])

    def noted() -> Any:
        tf.add_to_collection("noted", "in the branch")
        return x

    with tf.name_scope("scope"):
        assert tf.cond(x > 0, noted, lambda: x * 2.0, name="one").name == "scope/one/Identity:0"
        assert tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], name="two").name == "scope/two/Identity_2:0"
    assert tf.get_collection("noted") == ["in the branch"]


def test_arrays_are_lists() -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    rows = tf.shape(x)[0]
    given = tf.TensorArray(tf.float32, rows).unstack(x)
    _, doubled = tf.while_loop(
        lambda i, _: i < rows, lambda i, a: (i + 1, a.write(i, given.read(i) * 2.0)), [0, tf.TensorArray(tf.float32, rows)]
    )
    z = doubled.stack()
    assert z.shape.as_list() == [None, 3] and "TensorArrayV3" not in types()
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    found, slope = run(with_gradient(z, x), {x: values})
    assert found.tolist() == (2 * values).tolist() and (slope == 2).all()


def test_functions_along_rows() -> None:
    y, rows = tf.placeholder(tf.float32, []), tf.constant([1.0, 2.0, 3.0])
    mapped, scanned = tf.map_fn(lambda row: row * y, rows), tf.scan(lambda a, row: a * row * y, rows)
    fetches = [*with_gradient(mapped, y), *with_gradient(scanned, y)]
    mapped_value, mapped_slope, scanned_value, scanned_slope = run(fetches, {y: 3.0})
    assert mapped_value.tolist() == [3, 6, 9] and mapped_slope == 6
    assert scanned_value.tolist() == [1, 6, 54] and scanned_slope == 38


def test_a_recurrent_network() -> None:
    x = tf.placeholder(tf.float32, [2, None, 5])
    with tf.variable_scope("net", initializer=tf.constant_initializer(0.1)):
        out, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(3), x, dtype=tf.float32, sequence_length=[2, 4])
    assert out.shape.as_list() == [2, None, 3] and "Enter" not in types()
    slopes = tf.gradients(out, [x, *tf.trainable_variables()])
    sums = [value.sum() for value in run([out, *slopes], {x: np.ones((2, 4, 5))})]
    np.testing.assert_allclose(sums, [2.8673, 1.3564, -10.4915, -2.0273, 24.4938, 4.74], rtol=1e-4)


def test_what_cannot_be_captured_is_refused() -> None:
    reference = tf.Variable(0.0, use_resource=False)
    with pytest.raises(ValueError, match="only values can be captured"):
        tf.cond(tf.constant(True), lambda: tf.assign(reference, 1.0), lambda: tf.constant(0.0))


def test_a_body_that_gives_too_few_values_is_refused() -> None:
    with pytest.raises(AssertionError, match="body_graph has 2 outputs; Expected: 3"):
        tf.while_loop(lambda i: i < 3, lambda i: None, [0])
    with pytest.raises(ValueError, match=r"len\(graphs\[0\].outputs\): 0\nlen\(graphs\[1\].outputs\): 1\n"):
        tf.cond(tf.constant(True), lambda: None, lambda: tf.constant(0.0))


def test_a_condition_is_one_boolean() -> None:
    pair = tf.placeholder_with_default([True, False], None)
    # In any shape, or in a list.
    assert run(tf.cond(pair[:1], lambda: 3, lambda: 5)) == 3
    assert run(tf.while_loop(lambda i: tf.logical_and(pair[:1], i < 3), lambda i: i + 1, [0])) == 3
    assert run(tf.while_loop(lambda i: [i < 3], lambda i: i + 1, [0])) == 3
    for decided, error in ((None, "cond_graph has 0 outputs"), ([True, True], "cond_graph has 2 outputs")):
        with pytest.raises(AssertionError, match=error):
            tf.while_loop(lambda i, decided=decided: decided, lambda i: i + 1, [0])
    refused = {
        "Input 'pred' passed int32 expected bool": tf.cond(5, lambda: 3, lambda: 5),
        "Input 'pred' passed string expected bool": tf.cond("a", lambda: 3, lambda: 5),
        "Input 'input' passed int32 expected bool": tf.while_loop(lambda i: 5, lambda i: i + 1, [0]),
    }
    for error, result in refused.items():
        with pytest.raises(tf.errors.InvalidArgumentError, match=error):
            run(result)
    for result in (tf.cond(pair, lambda: 3, lambda: 5), tf.while_loop(lambda i: pair, lambda i: i + 1, [0])):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"must be a scalar, but it has shape \[2\]"):
            run(result)


def test_branches_that_do_not_fit() -> None:
    takes_one, takes_two = (Defun(*[tf.float32] * count)(lambda x, *_: x) for count in (1, 2))
    returns_two = Defun(tf.float32)(lambda x: (x, x))
    for branches, error in (
        ([takes_one, takes_two], "Expects 2 arguments, but 1"),
        ([takes_one, returns_two], "return 1 and 2"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=error):
            run(functional_ops.If(True, [1.0], *branches))


@pytest.mark.parametrize(
    ("make", "known"),
    [
        (tf.zeros, [5, 3, 7]),
        (lambda dims: tf.reshape(tf.range(105), dims), [5, 3, 7]),
        (lambda dims: tf.random.normal(dims), [5, 3, 7]),
        (lambda dims: tf.random.stateless_uniform(dims, [1, 2]), [5, 3, 7]),
        (lambda dims: tf.random.gamma(dims, [1.0, 2.0]), [5, 3, 7, 2]),
        (lambda dims: tf.broadcast_to(1.0, dims), [5, None, None]),
        (lambda dims: tf.tile(tf.ones([1, 1, 1]), dims), [5, None, None]),
    ],
)
def test_shapes_that_are_known_outside(make: Any, known: Any) -> None:
    """Where the result has the shape of an input, that is looked for outside of the function; elsewhere it is not."""
    dims, shapes = tf.constant([3, 7]), []

    def body(i: Any) -> Any:
        shapes.append(make(tf.concat([[5], dims], 0)).shape.as_list())
        return i + 1

    tf.while_loop(lambda i: i < 3, body, [0])
    assert shapes[0] == known


def test_a_cond_without_a_name_has_the_usual_one() -> None:
    for name in ("", None):
        with tf.Graph().as_default() as graph, tf.name_scope("around"):
            tf.cond(tf.placeholder(tf.bool, []), lambda: tf.constant(1), lambda: tf.constant(2), name=name)
        assert [op.name for op in graph.get_operations() if op.type.endswith("If")] == ["around/cond"]
