"""Functions that are built here: what they capture, what calling them gives, and their gradients."""

import numpy as np
import pytest
from tensorboard.compat.proto.attr_value_pb2 import NameAttrList

import tfexp as tf
from tests.ops.harness import OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError, ResourceExhaustedError
from tfexp.ops.calls import build_function, call_function, partitioned_call, stateless_case, stateless_while

TRUTHS = [
    OpCase("ToBool", [np.float32(0.5)], np.True_, label="number"),
    OpCase("ToBool", [np.int32(0)], np.False_, label="zero"),
    OpCase("ToBool", [np.array(b"", object)], np.False_, label="empty string"),
    OpCase("ToBool", [np.zeros((2, 3), np.float32)], np.True_, label="elements"),
    OpCase("ToBool", [np.zeros((0, 3), np.float32)], np.False_, label="no elements"),
]
test_truths = op_tests(TRUTHS)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def evaluate(fetches, feeds=None):
    """The values of three runs, which must agree: interpreted, then compiled."""
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        first, *others = [session.run(fetches, feeds) for _ in range(3)]
    for other in others:
        np.testing.assert_array_equal(np.hstack([np.ravel(v) for v in other]), np.hstack([np.ravel(v) for v in first]))
    return first


def test_what_a_body_uses_from_outside_is_captured():
    factor, variable = tf.constant(3.0), tf.Variable([1.0, 2.0, 4.0], name="v")
    function, captured = build_function(
        "scale", lambda a: [a * factor + variable, tf.reduce_sum(a)], [(tf.float32, [None, 3], "a")]
    )
    assert [t.name for t in captured] == [factor.name, "v/read:0"]
    scaled, total = call_function(function, [tf.constant([[1.0, 1.0, 1.0]]), *captured])
    assert scaled.op.type == "PartitionedCall" and scaled.shape.as_list() == [None, 3]
    values = evaluate([scaled, total])
    np.testing.assert_array_equal(values[0], [[4.0, 5.0, 7.0]])
    assert values[1] == 3.0


def test_a_function_within_a_function_captures_through_it():
    outside = tf.constant(5.0)

    def outer(a):
        inner, captured = build_function("inner", lambda b: [b * outside], [(tf.float32, [], "b")])
        return call_function(inner, [a + 1.0, *captured])

    function, captured = build_function("outer", outer, [(tf.float32, [], "a")])
    assert captured == [outside]
    assert evaluate(call_function(function, [tf.constant(2.0), *captured])) == [15.0]


def test_a_reference_is_not_captured():
    variable = tf.Variable(1.0, name="v")
    with pytest.raises(ValueError, match=r"cannot use the reference v:0"):
        build_function("f", lambda a: [tf.assign_add(variable, a)], [(tf.float32, [], "a")])


def test_gradients_flow_through_calls():
    x, weights = tf.placeholder(tf.float32, [None, 3]), tf.constant([[1.0], [2.0], [-1.0]])
    function, _ = build_function(
        "layer",
        lambda a, b: [tf.square(tf.matmul(a, b)), tf.cast(a, tf.int32)],
        [(tf.float32, [None, 3], "a"), (tf.float32, [3, 1], "b")],
    )
    called = call_function(function, [x, weights])[0]
    plain = tf.square(tf.matmul(x, weights))
    first, expected = tf.gradients(called, [x, weights]), tf.gradients(plain, [x, weights])
    second, expected_second = tf.gradients(first[0], x), tf.gradients(expected[0], x)
    values = evaluate([*first, *second, *expected, *expected_second], {x: np.float32([[1, 5, 2], [3, 1, 1]])})
    for value, wanted in zip(values[:3], values[3:], strict=True):
        np.testing.assert_allclose(value, wanted)


def test_the_gradient_sees_the_random_numbers_of_the_call():
    def noisy(a):
        return [a * tf.random_uniform([5], seed=3)]

    function, _ = build_function("noisy", noisy, [(tf.float32, [5], "a")])
    x = tf.constant([1.0] * 5)
    (y,) = call_function(function, [x])
    assert y.op.type == "StatefulPartitionedCall"
    (gradient,) = tf.gradients(y, x)
    with tf.Session() as session:
        for _ in range(3):
            value, slope = session.run([y, gradient])
            np.testing.assert_array_equal(value, slope)


def test_effects_of_a_body_happen_once_a_call(capfd):
    def said(a):
        tf.Print(a, [a], "said ")
        return [a + 1.0]

    function, _ = build_function("said", said, [(tf.float32, [], "a")])
    results = call_function(function, [tf.constant(2.0)])
    with tf.Session() as session:
        for _ in range(3):
            assert session.run(results) == [3.0]
    assert capfd.readouterr().err.count("said [2]") == 3


def test_what_waits_for_a_call_waits_for_its_effects(capfd):
    def said(a):
        tf.Print(a, [a], "inside ")
        return []

    function, _ = build_function("said", said, [(tf.float32, [], "a")])
    call = partitioned_call([tf.constant(2.0)], Tout=[], f=NameAttrList(name=function.name), name="call")
    assert isinstance(call, tf.Operation)
    with tf.control_dependencies([call]):
        after = tf.Print(tf.constant(1.0), [tf.constant(1.0)], "after ")
    with tf.Session() as session:
        session.run(after)
    assert capfd.readouterr().err == "inside [2]\nafter [1]\n"


def test_a_branch_that_is_not_taken_does_nothing(capfd):
    def branch(number):
        def body(a):
            tf.Print(a, [a], f"branch {number} ")
            return [a * number]

        return NameAttrList(name=build_function(f"branch_{number}", body, [(tf.float32, [], "a")])[0].name)

    index = tf.placeholder(tf.int32, [])
    (result,) = stateless_case(index, [tf.constant(7.0)], Tout=[tf.float32], branches=[branch(i) for i in range(3)])
    with tf.Session() as session:
        for chosen in (0, 1, 2):
            assert session.run(result, {index: chosen}) == 7.0 * chosen
    assert capfd.readouterr().err == "".join(f"branch {i} [7]\n" for i in range(3))


def test_a_loop_runs_its_effects_each_time(capfd):
    arguments = [(tf.int32, [], "i"), (tf.float32, [2], "a")]

    def body(i, a):
        tf.Print(i, [i], "turn ")
        return [i + 1, a * 2.0]

    condition, _ = build_function("condition", lambda i, a: [i < 3], arguments)
    step, _ = build_function("step", body, arguments)
    count, product = stateless_while(
        [tf.constant(0), tf.constant([1.0, 3.0])],
        cond=NameAttrList(name=condition.name),
        body=NameAttrList(name=step.name),
    )
    with tf.Session() as session:
        values = session.run([count, product])
    assert values[0] == 3
    np.testing.assert_array_equal(values[1], [8.0, 24.0])
    assert capfd.readouterr().err == "turn [0]\nturn [1]\nturn [2]\n"


def test_a_call_of_an_unknown_function_is_named():
    x = tf.constant(1.0)
    known, _ = build_function("known", lambda a: [a], [(tf.float32, [], "a")])
    good = call_function(known, [x])
    bad = partitioned_call([x], Tout=[tf.float32], f=NameAttrList(name="nowhere"), name="caller")
    with tf.Session() as session:
        assert session.run(good) == [1.0]
        with pytest.raises(InvalidArgumentError, match=r"Function nowhere is not defined.*caller"):
            session.run(bad)


def test_endless_recursion_is_refused(graph):
    function, _ = build_function("f", lambda a: [a], [(tf.float32, [], "a")])
    with function.body.as_default():
        again = partitioned_call([function.inputs[0]], Tout=[tf.float32], f=NameAttrList(name=function.name))[0]
    function.outputs[0] = again
    (result,) = partitioned_call([tf.constant(1.0)], Tout=[tf.float32], f=NameAttrList(name=function.name))
    with tf.Session() as session, pytest.raises(InvalidArgumentError, match="call each other without end"):
        session.run(result)


def test_functions_that_multiply_are_refused(graph, monkeypatch):
    """Forty functions, of which each calls the next twice, come to 2^40 nodes."""
    monkeypatch.setattr("tfexp.plan.functions._MAX_NODES", 1000)
    following = None
    for number in range(40):

        def body(a, following=following):
            for _ in range(2 if following else 0):
                (a,) = partitioned_call([a], Tout=[tf.float32], f=NameAttrList(name=following.name))
            return [a]

        function, _ = build_function(f"f{number}", body, [(tf.float32, [], "a")])
        following = function
    (result,) = partitioned_call([tf.constant(1.0)], Tout=[tf.float32], f=NameAttrList(name=following.name))
    with tf.Session() as session, pytest.raises(ResourceExhaustedError, match="come to over"):
        session.run(result)


def test_a_library_survives_the_way_through_a_graph_def(graph):
    inner, captured = build_function("inner", lambda a: [tf.split(a, 2)[1]], [(tf.float32, [4], "a")])
    outer, _ = build_function("outer", lambda a: call_function(inner, [a, *captured]), [(tf.float32, [4], "a")])
    call_function(outer, [tf.constant([1.0, 2.0, 3.0, 4.0])], name="result")
    graph_def = graph.as_graph_def()
    with tf.Graph().as_default() as other, tf.Session() as session:
        tf.import_graph_def(graph_def, name="")
        assert other.as_graph_def() == graph_def
        np.testing.assert_array_equal(session.run("result:0"), [3.0, 4.0])


def test_two_meanings_of_a_name_are_refused(graph):
    build_function("f", lambda a: [a], [(tf.float32, [], "a")])
    graph_def = graph.as_graph_def()
    graph_def.library.function[0].node_def.add(name="more", op="NoOp")
    with pytest.raises(ValueError, match="a different function with the same name already exists"):
        tf.import_graph_def(graph_def)


def test_unknown_ops_in_functions_are_named_before_anything_is_added(graph):
    function, _ = build_function("f", lambda a: [a + 1.0], [(tf.float32, [], "a")])
    call_function(function, [tf.constant(1.0)])
    graph_def = graph.as_graph_def()
    graph_def.library.function[0].node_def[0].op = "Unheard"
    with tf.Graph().as_default() as other:
        with pytest.raises(tf.errors.NotFoundError, match=rf"'Unheard' \(nodes '{function.name}/"):
            tf.import_graph_def(graph_def)
        assert other.get_operations() == [] and not other._functions
