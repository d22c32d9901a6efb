"""Each pass on small graphs."""

import itertools
import re

import numpy as np
import pytest

import tfexp as tf
from tfexp.core.errors import InvalidArgumentError
from tfexp.ops.random import random_uniform
from tfexp.plan.assign import Assignment
from tfexp.plan.passes import make_plan
from tfexp.runtime.device_list import CPU
from tfexp.runtime.session import Session


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def plan_for(fetches, feeds=None, optimise=True):
    """The plan for tensors, operations, and feeds given as {tensor: shape}."""
    fetches = fetches if isinstance(fetches, list) else [fetches]
    tensors = [f for f in fetches if isinstance(f, tf.Tensor)]
    targets = [f for f in fetches if isinstance(f, tf.Operation)]
    feeds = feeds or {}
    shapes = [tf.TensorShape(s) for s in feeds.values()]
    return make_plan(tensors, targets, list(feeds), shapes, Assignment([CPU]), optimise)


def ops(plan):
    return [step.op.name for step in plan.steps]


def names(plan):
    return [step.name for step in plan.steps]


# --- prune -------------------------------------------------------------------------------------------------------


def test_only_what_the_fetches_need_is_planned():
    a = tf.placeholder(tf.float32, [], name="a")
    needed = tf.square(a, name="needed")
    tf.sqrt(a, name="not_needed")
    assert names(plan_for(needed, {a: []}, optimise=False)) == ["needed"]


def test_a_fed_tensor_cuts_what_is_before_it():
    a = tf.placeholder(tf.float32, [], name="a")
    b = tf.square(a, name="b")
    c = tf.sqrt(b, name="c")
    assert names(plan_for(c, {b: []}, optimise=False)) == ["c"]


def test_control_inputs_are_needed_too():
    v = tf.Variable(2.0, name="v")
    x = tf.placeholder(tf.float32, [])
    with tf.control_dependencies([tf.assign_add(v, 1.0, name="update")]):
        a = tf.square(x, name="a")
    for optimise in (False, True):
        assert names(plan_for(a, {x: []}, optimise))[-2:] == ["update", "a"]


# --- specialise and simplify -------------------------------------------------------------------------------------


def test_shape_arithmetic_vanishes_under_known_shapes():
    x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [3])
    loss = tf.reduce_sum(tf.square(x * y - 1.0))
    gradient = tf.gradients(loss, [x, y])
    shapely = {"Shape", "BroadcastGradientArgs", "Reshape", "Fill", "Tile", "DynamicStitch", "Rank", "Range", "Size"}
    assert shapely & set(ops(plan_for(gradient, {x: [5, 3], y: [3]}, optimise=False)))
    assert not shapely & set(ops(plan_for(gradient, {x: [5, 3], y: [3]})))


def test_a_default_that_nobody_feeds_keeps_its_shape():
    a = tf.placeholder(tf.float32, [5, 3], name="a")
    b = tf.placeholder_with_default(a, [None, 3])
    size = tf.shape(tf.square(b))[0] * 2
    assert not ops(plan_for(size, {a: [5, 3]})), "all of it is known"
    with tf.Session() as session:
        assert session.run(size, {b: np.zeros([7, 3])}) == 14
        assert session.run(size, {a: np.zeros([5, 3])}) == 10


def test_constants_are_folded():
    a = tf.square(tf.constant([2.0, 3.0])) + 1.0
    plan = plan_for(a)
    assert ops(plan) == []
    with tf.Session() as session:
        for _ in range(4):
            np.testing.assert_array_equal(session.run(a), [5.0, 10.0])


def test_what_fills_a_large_variable_is_not_kept_beside_it():
    large, small = tf.Variable(tf.zeros([67, 71])), tf.Variable(tf.zeros([3, 5]))
    assert "Fill" in ops(plan_for(large.initializer))
    assert "Fill" not in ops(plan_for(small.initializer))


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_large_array_that_a_variable_begins_with_is_kept_by_the_variable_alone(graph, use_resource):
    values = np.random.default_rng(3).normal(size=(67, 71)).astype(np.float32)
    variable = tf.Variable(values, use_resource=use_resource)
    for optimise in (False, True):
        plan = plan_for(variable.initializer, optimise=optimise)
        assert "Const" in ops(plan)
        assert all(slot.constant is None or slot.constant.nbytes < 100 for slot in plan.slots)
    with Session() as session:
        for _ in range(3):
            session.run(variable.initializer)
            np.testing.assert_array_equal(session.run(variable), values)
    (source,) = (op.outputs[0] for op in graph.get_operations() if op.type == "Const")
    assert not hasattr(source, "_static_value"), "nobody decoded it for the graph to keep"


def test_a_large_array_is_a_constant_for_whom_no_variable_keeps_it():
    values = np.ones([67, 71], np.float32)
    plan = plan_for(tf.matmul(tf.constant(values), tf.Variable(tf.zeros([71, 2]))))
    assert "Const" not in ops(plan)


def test_what_fails_while_folding_fails_while_running():
    a = tf.constant(2) // tf.constant(0)
    with tf.Session() as session:
        for _ in range(4):
            with pytest.raises(InvalidArgumentError):
                session.run(a)


def test_random_nodes_are_neither_folded_nor_shared():
    a, b = random_uniform([2]), random_uniform([2])
    plan = plan_for([a + 0.5, b + 0.5])
    assert ops(plan).count("RandomUniform") == 2
    with tf.Session() as session:
        results = [session.run([a, b]) for _ in range(5)]
    flat = np.array(results).reshape(-1, 2)
    assert len(np.unique(flat, axis=0)) == 10


def test_equal_computations_are_shared():
    x = tf.placeholder(tf.float32, [3])
    y = tf.square(x) + tf.square(x)
    assert ops(plan_for(y, {x: [3]})).count("Square") == 1


def test_no_ops_are_bypassed():
    x = tf.placeholder(tf.float32, [None, 3])
    y = tf.identity(tf.reshape(tf.cast(x, tf.float32), [-1, 3]))
    z = tf.square(tf.reduce_sum(tf.tile(y, [1, 1]), axis=[]) * 1.0)
    assert ops(plan_for(z, {x: [5, 3]})) == ["Square"]


def test_adding_zero_is_kept_because_of_negative_zero():
    x = tf.placeholder(tf.float32, [1])
    with tf.Session() as session:
        for _ in range(4):
            assert not np.signbit(session.run(x + 0.0, {x: [-0.0]}))[0]
            assert np.signbit(session.run(x * 1.0, {x: [-0.0]}))[0]
            assert np.signbit(session.run(x - 0.0, {x: [-0.0]}))[0]


def test_a_group_runs_its_members_and_nothing_else():
    v = tf.Variable(2.0, name="v")
    w = tf.Variable(3.0, name="w")
    train = tf.group(tf.assign_add(v, 1.0), tf.assign_add(w, 1.0))
    assert sorted(ops(plan_for(train))) == ["AssignAdd", "AssignAdd", "VariableV2", "VariableV2"]


def test_a_pure_node_on_which_others_only_wait_is_dropped():
    x = tf.placeholder(tf.float32, [3])
    with tf.control_dependencies([tf.matmul(x[None, :], x[:, None])]):
        y = tf.square(x)
    assert ops(plan_for(y, {x: [3]})) == ["Square"]


def test_the_fetched_operation_itself_runs():
    x = tf.placeholder(tf.float32, [3])
    assert ops(plan_for(tf.square(x).op, {x: [3]})) == ["Square"]


# --- buffers -----------------------------------------------------------------------------------------------------


def lifetimes(plan):
    """For each buffer, the (first, last) steps of the values in it, reads through views included."""
    made, read, roots = {}, {}, {}
    for position, step in enumerate(plan.steps):
        views = step.kernel.view or (step.call is not None and step.call.view)
        for i in step.inputs:
            for root in roots.get(i, {i}):
                read[root] = position
        for i in step.outputs:
            made[i] = position
            roots[i] = set().union(*(roots.get(j, {j}) for j in step.inputs)) if views else {i}
    spans = {}
    for i, slot in enumerate(plan.slots):
        if slot.buffer is not None:
            spans.setdefault(slot.buffer, []).append((made[i], read.get(i, made[i]), i))
    return spans


def test_values_in_one_buffer_do_not_overlap():
    x = tf.placeholder(tf.float32, [None, 3])
    h = x
    for i in range(20):
        a, b = tf.tanh(h), tf.square(h)
        h = tf.reshape(tf.reshape(a * b, [-1]), [-1, 3]) + (a if i % 3 else b)
    plan = plan_for(tf.reduce_sum(h), {x: [5, 3]})
    spans = lifetimes(plan)
    assert len(plan.buffers) < 10
    assert sum(map(len, spans.values())) > 60
    for span in spans.values():
        span.sort()
        for (_, last, _), (first, _, i) in itertools.pairwise(span):
            # Only the element-wise node that reads a value for the last time may write over it.
            assert first > last or (first == last and plan.steps[first].call.elementwise and i in plan.steps[first].outputs)


def test_rows_and_what_is_chosen_go_into_buffers():
    with tf.Graph().as_default(), tf.Session() as session:
        table, rows = tf.placeholder(tf.float32, [7, 5]), tf.placeholder(tf.int32, [3])
        chosen = tf.where(tf.gather(table, rows) > 0, tf.gather(table, rows + 1), tf.zeros([3, 5]))
        feeds = {table: np.float32([[n - 3] * 5 for n in range(7)]), rows: [5, 0, 4]}
        total = tf.reduce_sum(chosen)
        plan = session.explain(total, feeds).plan
        kinds = [step.op.name for step in plan.steps if plan.slots[step.outputs[0]].buffer is not None]
        assert {"GatherV2", "Select"} <= set(kinds) and kinds.count("GatherV2") == 2
        assert [session.run(total, feeds) for _ in range(3)] == [25, 25, 25]


def test_fetched_values_are_in_no_buffer():
    x = tf.placeholder(tf.float32, [7])
    y = tf.square(x)
    z = tf.reshape(tf.tanh(y), [7, 1])
    plan = plan_for([y, z], {x: [7]})
    assert plan.buffers == ()


# --- generated code ----------------------------------------------------------------------------------------------


def test_generated_source_has_no_text_of_the_graph():
    evil = "x__import__os.system"
    x = tf.placeholder(tf.float32, [None], name=evil)
    v = tf.Variable(tf.ones([3]), name=evil)
    w = tf.concat([tf.square(v + x, name=evil), x], 0)
    with tf.Session() as session:
        source = session.explain([w, tf.assign(v, w[:3])], {x: np.ones(3)}).source.text
    words = set(re.findall(r"[A-Za-z_]+\w*", source))
    known = r"[xcvhtbfd]\d+|s\d+_\d+|[DUG]|def|run|return|if|is|None|else|or|and|True|False|value|copy|out"
    assert not [word for word in words if not re.fullmatch(known, word)]


def test_a_plan_can_be_looked_at():
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    v = tf.Variable(tf.ones([3, 2]), name="v")
    y = tf.matmul(tf.square(x), v, name="y")
    with tf.Session() as session:
        explanation = session.explain(tf.reduce_sum(y) * 2.0, {x: np.ones((5, 3))})
    text = repr(explanation)
    for part in ("pass prune", "pass specialise", "pass simplify", "feed x:0 float32 (5, 3)", "step y = MatMul", "def run("):
        assert part in text
    assert re.search(r"step y = MatMul.*float32\(5, 2\) in buffer \d", text)
    counts = [(r.nodes_before, r.nodes_after) for r in explanation.plan.passes]
    assert counts[0][0] == len(tf.get_default_graph().get_operations())


# --- size --------------------------------------------------------------------------------------------------------


def test_a_long_chain_is_one_plan():
    """That the work grows with the length alone is counted in tests/benchmarks."""
    x = tf.placeholder(tf.float32, [3])
    last = x
    for _ in range(2000):  # deeper than Python calls
        last = tf.add(last, x)
    assert len(plan_for(last, {x: [3]}).steps) == 2000
    with Session() as session:
        for _ in range(4):
            np.testing.assert_array_equal(session.run(last, {x: [1.0, 2.0, 3.0]}), [2001.0, 4002.0, 6003.0])


def test_an_update_of_a_resource_by_its_older_handle_is_an_effect(graph):
    accumulator = tf.SparseConditionalAccumulator(tf.float32, shape=[3, 2], name="sum")
    apply = accumulator.apply_grad([0], tf.ones([1, 2]))
    with tf.control_dependencies([apply]):
        after = tf.constant(1.0) + 1.0
    assert "SparseAccumulatorApplyGradient" in ops(plan_for(after))


def test_attributes_of_zero_differ_by_their_sign():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [2])
        both = session.run([tf.nn.leaky_relu(x, alpha=alpha) for alpha in (0.0, -0.0)], {x: [-1.0, 2.0]})
    assert [bool(one) for one in np.signbit(both)[:, 0]] == [True, False]
