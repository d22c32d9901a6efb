"""tf.cond and tf.case: the taken branch alone runs, and results have one structure."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.core.errors import InaccessibleTensorError
from tfexp.graph.control_flow import CondContext, merge, switch_ref_or_tensor


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def run(fetches, feeds=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feeds)


def test_only_the_taken_branch_has_side_effects():
    flag = tf.placeholder(tf.bool, [])
    counter = tf.Variable(0)
    result = tf.cond(flag, lambda: tf.assign_add(counter, 10), lambda: tf.constant(-1))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(result, {flag: False}) == -1
        assert session.run(counter) == 0
        assert session.run(result, {flag: True}) == 10
        assert session.run(counter) == 10


def test_an_untaken_branch_may_be_one_that_would_fail():
    flag, x = tf.placeholder(tf.bool, []), tf.placeholder(tf.int32, [])
    y = tf.cond(flag, lambda: 7 // x, lambda: tf.constant(0))
    assert run(y, {flag: False, x: 0}) == 0
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(y, {flag: True, x: 0})


def test_structures_operations_and_outside_values():
    flag, x = tf.placeholder(tf.bool, []), tf.constant(3.0)
    pair = tf.cond(flag, lambda: (x, [x * 2.0]), lambda: (x + 1.0, [x]))
    assert run(pair, {flag: True}) == (3.0, [6.0])
    assert run(pair, {flag: False}) == (4.0, [3.0])
    done = tf.cond(flag, lambda: tf.no_op(), lambda: tf.no_op())
    assert run(done, {flag: True}) is not None


def test_arrays_go_on_from_the_branch_that_was_taken():
    pred = tf.placeholder(tf.bool, [])
    array = tf.TensorArray(tf.float32, 2).write(0, 3.0)
    array, beside = tf.cond(pred, lambda: (array.write(1, 5.0), 1.0), lambda: (array.write(1, 7.0), 2.0))
    both = array.stack(), beside
    with tf.Session() as session:
        for value, wanted in ((True, ([3, 5], 1)), (False, ([3, 7], 2))):
            got = session.run(both, {pred: value})
            assert (got[0].tolist(), got[1]) == wanted


def test_conds_nest():
    a, b = tf.placeholder(tf.bool, []), tf.placeholder(tf.bool, [])
    x = tf.constant(1.0)
    y = tf.cond(a, lambda: tf.cond(b, lambda: x + 1.0, lambda: x + 2.0), lambda: x + 3.0)
    assert [run(y, {a: i, b: j}) for i in (True, False) for j in (True, False)] == [2.0, 3.0, 4.0, 4.0]


@pytest.mark.parametrize(
    ("true_fn", "false_fn", "error", "text"),
    [
        (lambda: tf.constant(1.0), lambda: tf.constant(1), ValueError, "must have the same type: float32, int32"),
        (
            lambda: (tf.constant(1.0), tf.constant(1.0)),
            lambda: tf.constant(1.0),
            ValueError,
            "don't have the same nested structure",
        ),
        (lambda: (1, 2), lambda: [1, 2], TypeError, "don't have the same nested structure"),
        (lambda: None, lambda: tf.constant(1.0), ValueError, "true_fn must have a return value"),
        (list, list, ValueError, "must return at least one result"),
        (list, lambda: tf.constant(1.0), ValueError, "don't have the same nested structure"),
        (lambda: tf.constant(1.0), None, TypeError, "false_fn argument required"),
        (lambda: tf.constant(1.0), 3, TypeError, "false_fn must be callable"),
    ],
)
def test_what_cond_refuses(true_fn, false_fn, error, text):
    with pytest.raises(error, match=text):
        tf.cond(tf.constant(True), true_fn, false_fn)


@pytest.mark.parametrize("pred", [1, np.int32(1), 1.5, "a"])
def test_a_predicate_is_a_bool(pred):
    with pytest.raises(TypeError, match=r"'pred' of 'Switch' Op has type .* that does not match expected type of bool"):
        tf.cond(pred, lambda: 1, lambda: 2)


def test_a_python_bool_is_no_predicate():
    with pytest.raises(TypeError, match="must not be a Python bool"):
        tf.cond(True, lambda: tf.constant(1), lambda: tf.constant(2))


def test_values_inside_a_branch_cannot_be_fetched():
    inside = []

    def branch():
        inside.append(tf.constant(1.0) * 2.0)
        return inside[0]

    tf.cond(tf.constant(True), branch, lambda: tf.constant(0.0))
    with pytest.raises(InaccessibleTensorError, match="has been marked as not fetchable"):
        run(inside[0])


@pytest.mark.parametrize("taken", [False, True])
def test_gradients_through_a_side_of_a_switch_that_is_in_no_cond(taken):
    x = tf.constant(3.0)
    sides = switch_ref_or_tensor(x, tf.constant(taken))
    assert run([tf.gradients(side, x)[0] for side in sides]) == [not taken, taken]


def test_case_takes_the_first_true_predicate():
    x = tf.placeholder(tf.float32, [])
    result = tf.case(
        [(x > 5.0, lambda: tf.constant("large")), (x > 1.0, lambda: tf.constant("middle"))],
        default=lambda: tf.constant("small"),
    )
    assert [run(result, {x: v}) for v in (7.0, 3.0, 0.0)] == [b"large", b"middle", b"small"]


def test_exclusive_case_checks_that_one_predicate_holds():
    x = tf.placeholder(tf.float32, [])
    pairs = [(x > 5.0, lambda: tf.constant(1)), (x > 1.0, lambda: tf.constant(2))]
    result = tf.case(pairs, default=lambda: tf.constant(3), exclusive=True)
    assert run(result, {x: 3.0}) == 2
    with pytest.raises(tf.errors.InvalidArgumentError, match="more than 1 conditions"):
        run(result, {x: 7.0})


def test_case_without_default_needs_a_true_predicate():
    x = tf.placeholder(tf.float32, [])
    result = tf.case([(x > 5.0, lambda: tf.constant(1)), (x > 1.0, lambda: tf.constant(2))])
    assert run(result, {x: 3.0}) == 2
    with pytest.raises(tf.errors.InvalidArgumentError, match="None of"):
        run(result, {x: 0.0})


@pytest.mark.parametrize(
    ("pairs", "error"),
    [
        (3, TypeError),
        ([3], TypeError),
        ([("no tensor", lambda: 1)], TypeError),
        ([(1.0, lambda: 1)], TypeError),
    ],
)
def test_what_case_refuses(pairs, error):
    with pytest.raises(error, match=r"pred|fns must be"):
        tf.case(pairs, default=lambda: tf.constant(1))


def test_a_refused_predicate_takes_a_name_all_the_same():
    with pytest.raises(TypeError, match="pred must not be a Python bool"):
        tf.cond(True, lambda: tf.constant(1), lambda: tf.constant(2))
    result = tf.cond(tf.placeholder(tf.bool, []), lambda: tf.constant(1), lambda: tf.constant(2))
    assert result.name == "cond_1/Merge:0"


def test_the_gradient_of_a_table_that_one_branch_looks_up_and_the_other_uses_whole():
    for index_type in (tf.int32, tf.int64):
        with tf.Graph().as_default() as graph, tf.Session() as session:
            table, p = tf.get_variable("table", [4, 2], initializer=tf.ones_initializer()), tf.placeholder(tf.bool)
            rows = tf.constant([1, 1], index_type)
            y = tf.cond(p, lambda: tf.reduce_sum(tf.gather(table, rows)), lambda: tf.reduce_sum(table * 2.0))  # noqa: B023
            (slopes,) = tf.gradients(y, table)
            scope = "gradients/cond/GatherV2/Switch_grad/cond_grad"
            assert [graph.get_operation_by_name(f"{scope}/Merge{i}").type for i in ("", "_1", "_2")] == ["Merge"] * 3
            session.run(table.initializer)
            assert session.run(slopes, {p: True}).tolist() == [[0, 0], [2, 2], [0, 0], [0, 0]]
            assert session.run(slopes, {p: False}).tolist() == [[2, 2]] * 4


def test_both_names_of_a_branch():
    with pytest.raises(TypeError, match="true_fn and fn1 may not be set simultaneously"):
        tf.cond(tf.constant(True), lambda: 1, lambda: 2, fn1=lambda: 3)


def test_sparse_tensors_are_switched_and_merged():
    off, on = switch_sparse(tf.SparseTensor([[1]], [3.0], [5]), tf.constant(True))
    merged = merge([off, on])
    assert run(tf.sparse_tensor_to_dense(merged)).tolist() == [0, 3, 0, 0, 0]


def switch_sparse(sparse, predicate):
    branches = zip(*(switch_ref_or_tensor(part, predicate) for part in sparse.parts), strict=True)
    return [sparse.with_parts(parts) for parts in branches]


def test_contexts_are_made_of_their_messages() -> None:
    picked = tf.cond(tf.placeholder(tf.bool, [], name="p"), lambda: tf.constant(1.0) + 1.0, lambda: tf.constant(2.0))
    counted = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], parallel_iterations=4, name="loop")
    for context in (picked.op.inputs[1].op, counted.op.inputs[0].op):
        original = context._get_control_flow_context()
        message = original.to_proto()
        again = type(original)(context_def=message)
        assert again.to_proto() == message and again.name == original.name and again.pivot is original.pivot
        assert again.pivot.op._get_control_flow_context() is again
    tf.import_graph_def(tf.get_default_graph().as_graph_def(), name="copy")
    assert type(original)(context_def=message, import_scope="copy").pivot.name == "copy/loop/LoopCond:0"


def test_a_context_of_its_own_name() -> None:
    flag = tf.constant(True, name="flag")
    context = CondContext(flag, tf.identity(flag, name="pivot"), 1, name="branch")
    assert (context.name, context.branch, context.to_proto().pred_name) == ("branch", 1, "flag:0")
