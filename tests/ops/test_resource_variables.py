"""Resource variables: their ops, what a read sees, and the library around them.

Their graphs, and values beside TensorFlow's: tests/golden/programs/resource_variables.py.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.golden.training_cases import UPDATES, Update, drawn
from tfexp.core import errors
from tfexp.core.op import get_op
from tfexp.graph.handles import handle_dtype, handle_shape
from tfexp.plan.assign import Assignment
from tfexp.plan.passes import make_plan
from tfexp.runtime.eager import eager_mode


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as g:
        yield g


def variable(value: Any, name: str = "v", **kwargs: Any) -> Any:
    return tf.Variable(value, name=name, use_resource=True, **kwargs)


def started(*variables: Any) -> tf.Session:
    session = tf.Session()
    session.run(tf.variables_initializer(variables) if variables else tf.global_variables_initializer())
    return session


# --- the same updates as reference variables ---------------------------------------------------------------------------


@pytest.mark.parametrize("update", UPDATES, ids=lambda u: u.op)
@pytest.mark.parametrize("shape", [(5, 3), (70001,)], ids=["small", "blocks"])
def test_optimizers_ops_do_what_those_on_references_do(update: Update, shape: tuple[int, ...]) -> None:
    for kind in update.kinds:
        is_sparse = kind.startswith("Sparse")
        if is_sparse and len(shape) == 1:
            continue
        results = []
        for use_resource in (False, True):
            with tf.Graph().as_default(), tf.Session() as session:
                op = get_op(f"{'Resource' if use_resource else ''}{kind}{update.op}")
                refs, inputs = [], []
                for i, arg in enumerate(op.inputs):
                    if arg.name in update.refs:
                        low = update.refs[arg.name]
                        made = tf.Variable(drawn(i, *shape, low=low, high=low + 1.5), use_resource=use_resource)
                        refs.append(made)
                        inputs.append(made._ref())
                    elif arg.name == "indices":
                        inputs.append(tf.constant([3, 0, 3]))
                    elif arg.name == update.gradient or arg.name == "grad":
                        inputs.append(tf.constant(drawn(90, *((3, *shape[1:]) if is_sparse else shape))))
                    else:
                        kind_of = tf.int64 if arg.name == "global_step" else tf.float32
                        inputs.append(tf.constant(update.scalars[arg.name], kind_of))
                node = op(*inputs, **update.attrs)
                session.run(tf.global_variables_initializer())
                for _ in range(3):
                    session.run(node)
                results.append(session.run(refs))
        for expected, actual in zip(*results, strict=True):
            np.testing.assert_array_equal(actual, expected)


# --- what a read sees --------------------------------------------------------------------------------------------------


def test_a_read_keeps_its_value_when_the_variable_changes() -> None:
    v = variable(np.arange(3, dtype=np.float32))
    before = v.read_value()
    with tf.control_dependencies([before]), tf.control_dependencies([v.assign_add([10.0, 10.0, 10.0]).op]):
        after = v.read_value()
        late = before * 1.0
    session = started(v)
    for n in range(3):
        first, then, last = session.run([before, after, late])
        np.testing.assert_array_equal(first, np.arange(3) + 10 * n)
        np.testing.assert_array_equal(last, first)
        np.testing.assert_array_equal(then, first + 10)


def test_views_of_a_read_keep_its_value() -> None:
    v = variable(np.arange(6, dtype=np.float32).reshape(2, 3))
    flat = tf.reshape(v.value(), [3, 2])
    with tf.control_dependencies([flat]):
        changed = v.assign(tf.zeros([2, 3]))
    with tf.control_dependencies([changed]):
        late = flat + 0.0
    session = started(v)
    for _ in range(2):
        session.run(v.initializer)
        for seen in session.run([flat, late, changed])[:2]:
            np.testing.assert_array_equal(seen, np.arange(6).reshape(3, 2))


def test_reads_are_copies_only_where_they_have_to_be() -> None:
    v = variable(np.zeros(3, np.float32))
    loss = tf.reduce_sum(tf.square(v - 1.0))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    anywhere = Assignment(["/job:localhost/replica:0/task:0/device:CPU:0"])
    plan = make_plan([loss], [train], [], [], anywhere, True)
    assert [step.copies for step in plan.steps if step.op.name == "ReadVariableOp"] == [False]
    plan = make_plan([v._as_graph_element()], [train], [], [], anywhere, True)
    assert sorted(step.copies for step in plan.steps if step.op.name == "ReadVariableOp") == [False, True]


def test_updates_in_a_loop_do_not_change_what_was_read_in_it() -> None:
    v = variable(np.ones(2, np.float32))

    def body(i: Any, total: Any) -> Any:
        seen = v.value()
        with tf.control_dependencies([seen]):
            changed = v.assign_add([1.0, 1.0])
        with tf.control_dependencies([changed]):
            return i + 1, total + seen

    _, total = tf.while_loop(lambda i, _: i < 4, body, [0, tf.zeros([2])])
    session = started(v)
    np.testing.assert_array_equal(session.run(total), [10.0, 10.0])
    np.testing.assert_array_equal(session.run(v), [5.0, 5.0])


def test_a_value_read_in_a_loop_goes_on_to_the_next_iteration() -> None:
    v = variable(np.ones(2, np.float32))

    def body(i: Any, last: Any) -> Any:
        with tf.control_dependencies([v.assign_add([1.0, 1.0])]):
            return i + 1, v.value()

    _, last = tf.while_loop(lambda i, _: i < 3, body, [0, tf.zeros([2])])
    with tf.control_dependencies([last]):
        later = v.assign_add([5.0, 5.0])
    session = started(v)
    found, _ = session.run([last, later])
    np.testing.assert_array_equal(found, [4.0, 4.0])


def test_a_step_sees_one_value_however_it_is_read() -> None:
    v = variable(2.0)
    w = variable(3.0, "w")
    sums = [v + w, v * w, tf.gather(tf.reshape(v, [1]), [0])[0] - w]
    session = started(v, w)
    train = tf.train.GradientDescentOptimizer(1.0).minimize(v * w)
    *values, _ = session.run([*sums, train])
    assert values == [5.0, 6.0, -1.0]
    assert session.run([v, w]) == [-1.0, 1.0]


# --- ops ---------------------------------------------------------------------------------------------------------------


def test_uninitialized_variables_are_named() -> None:
    v = variable([1.0, 2.0], "some/name")
    ops = [v, v + 1.0, v.assign_add([1.0, 1.0]), tf.gather(v, [0]), v.scatter_update(tf.IndexedSlices([1.0], [0]))]
    ops.append(get_op("VariableShape")(v.handle))
    with tf.Session() as session:
        assert not session.run(v.is_initialized())
        assert session.run(tf.report_uninitialized_variables()).tolist() == [b"some/name"]
        for op in ops:
            for _ in range(2):
                with pytest.raises(errors.FailedPreconditionError, match="resource variable some/name"):
                    session.run(op)
        session.run(v.initializer)
        assert session.run(v.is_initialized())


def test_counting_up() -> None:
    v = variable(0, dtype=tf.int64)
    up = tf.count_up_to(v, 2)
    session = started(v)
    assert [session.run(up), session.run(v.count_up_to(2))] == [0, 1]
    with pytest.raises(errors.OutOfRangeError, match="Reached limit of 2"):
        session.run(up)
    assert session.run(v) == 2


def test_shapes_known_and_unknown() -> None:
    fed = tf.placeholder(tf.float32, [None, 2])
    v = variable(fed, validate_shape=False)
    assert v.shape.as_list() == [None, 2] and handle_shape(v.handle).as_list() == [None, 2]
    assert handle_dtype(v.handle) is tf.float32 and handle_dtype(tf.constant(1.0)) is None
    shape = get_op("VariableShape")(v.handle, out_type=tf.int64)
    grown = v.assign(tf.concat([v, v], 0))
    doubled = v * 2.0
    with tf.Session() as session:
        session.run(v.initializer, {fed: np.ones((3, 2))})
        assert session.run(shape).tolist() == [3, 2]
        assert session.run(grown).shape == (6, 2)
        assert session.run(doubled).shape == (6, 2)
        wrong = get_op("AssignVariableOp")(v.handle, tf.placeholder_with_default([1.0], None))
        with pytest.raises(errors.InvalidArgumentError, match=r"shape \[1\] to the variable v, whose shape is \(\?, 2\)"):
            session.run(wrong)


ERRORS = [
    (lambda v: v.assign([1.0]), ValueError, "incompatible"),
    (lambda v: v.assign_add([[1.0, 2.0]]), ValueError, "incompatible"),
    (lambda v: get_op("AssignVariableOp")(v.handle, [1.0]), ValueError, "Dimension"),
    (lambda v: get_op("AssignVariableOp")(v.handle, [1, 2]), ValueError, "wrong dtype. Expected float got int32"),
    (lambda v: get_op("ReadVariableOp")(v.handle, dtype=tf.int32), ValueError, "wrong dtype. Expected float got int32"),
    (lambda v: v.scatter_update([1.0]), TypeError, "sparse_delta is not IndexedSlices"),
    (lambda v: tf.scatter_add(v, [0], [[1.0, 2.0]]), ValueError, "Shapes must be equal rank|Dimension"),
    (lambda v: tf.scatter_add(tf.constant([1.0]), [0], [1.0]), AttributeError, "is not a variable"),
    (lambda v: tf.convert_to_tensor(v, tf.int32), ValueError, "Incompatible type conversion"),
    (lambda v: tf.Variable(variable_def=v.to_proto(), import_scope="nowhere"), KeyError, "nowhere"),
]


@pytest.mark.parametrize(("act", "error", "message"), ERRORS)
def test_errors(act: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        act(variable([1.0, 2.0]))


def test_indices_out_of_range() -> None:
    v = variable([1.0, 2.0])
    at = tf.placeholder(tf.int32, [1])
    session = started(v)
    for op in (tf.gather(v, at), tf.scatter_add(v, at, [1.0]), tf.gather_nd(v, tf.reshape(at, [1, 1]))):
        for index in (2, -1):
            with pytest.raises(errors.InvalidArgumentError, match=str(index)):
                session.run(op, {at: [index]})
    np.testing.assert_array_equal(session.run(v), [1.0, 2.0])


def test_gathers_in_batches() -> None:
    table = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    v = variable(table)
    rows = get_op("ResourceGather")(v.handle, [[2], [0]], dtype=tf.float32, batch_dims=1)
    assert rows.shape.as_list() == [2, 1, 2]
    np.testing.assert_array_equal(started(v).run(rows), table[[[0], [1]], [[2], [0]]])


def test_zeros_where_nothing_depends_on_it() -> None:
    v = variable([[1.0, 2.0]])
    zeros = tf.gradients(tf.constant(1.0), v, unconnected_gradients="zero")[0]
    assert started(v).run(zeros).tolist() == [[0.0, 0.0]]


def test_ops_on_handles_at_once() -> None:
    with eager_mode():
        handle = tf.raw_ops.VarHandleOp(shared_name="x", dtype=tf.float32, shape=[2])
        assert not tf.raw_ops.VarIsInitializedOp(resource=handle).numpy()
        tf.raw_ops.AssignVariableOp(resource=handle, value=tf.constant([1.0, 2.0]))
        before = tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32)
        tf.raw_ops.AssignAddVariableOp(resource=handle, value=tf.constant([1.0, 2.0]))
        after = tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32)
        assert before.numpy().tolist() == [1.0, 2.0] and after.numpy().tolist() == [2.0, 4.0]


# --- what makes them ---------------------------------------------------------------------------------------------------


def test_who_decides() -> None:
    plain, asked = tf.Variable(1.0), tf.Variable(1.0, use_resource=True)
    with tf.variable_scope("s", use_resource=True):
        by_scope, refused = tf.Variable(1.0), tf.get_variable("r", [], use_resource=False)
        metric = tf.metrics.mean([1.0])
    tf.enable_resource_variables()
    try:
        assert tf.resource_variables_enabled()
        by_default = tf.Variable(1.0)
        step = tf.train.get_or_create_global_step()
    finally:
        tf.disable_resource_variables()
    assert not tf.resource_variables_enabled()
    kinds = [hasattr(v, "handle") for v in (plain, asked, by_scope, refused, by_default, step)]
    assert kinds == [False, True, True, False, True, True]
    assert all(hasattr(v, "handle") for v in tf.local_variables()) and metric


def test_as_a_proto() -> None:
    made = [variable([1.0, 2.0], "v"), variable([1.0], "cached", caching_device="/cpu:0", trainable=False)]
    for v in made:
        proto = v.to_proto()
        assert proto.is_resource and proto.variable_name == v.handle.name
        again = tf.Variable.from_proto(proto)
        assert type(again) is type(v) and again.op is v.op and again.shape == v.shape and again.dtype is v.dtype
        assert again.trainable == v.trainable and again.to_proto() == proto
        assert (again._cached_value is None) == (v._cached_value is None)
    np.testing.assert_array_equal(started(*made).run(tf.Variable.from_proto(made[0].to_proto()) + 1.0), [2.0, 3.0])


def test_meta_graphs_bring_them_back(tmp_path: Path) -> None:
    v = variable([1.0, 2.0])
    doubled = tf.multiply(v, 2.0, name="doubled")
    session = started(v)
    session.run(v.assign([5.0, 6.0]))
    saver = tf.train.Saver()
    path = saver.save(session, str(tmp_path / "model"))
    with tf.Graph().as_default(), tf.Session() as other:
        tf.train.import_meta_graph(f"{path}.meta").restore(other, path)
        (again,) = tf.global_variables()
        assert type(again).__name__ == "ResourceVariable"
        np.testing.assert_array_equal(other.run(doubled.name), [10.0, 12.0])
        other.run(again.assign_add([1.0, 1.0]))
        np.testing.assert_array_equal(other.run("doubled:0"), [12.0, 14.0])


def test_checkpoints_are_those_of_reference_variables(tmp_path: Path) -> None:
    def model(use_resource: bool) -> list[Any]:
        with tf.variable_scope("m", use_resource=use_resource):
            w = tf.get_variable("w", [3, 2], initializer=tf.ones_initializer())
            parts = tf.get_variable("p", [5, 2], initializer=tf.ones_initializer(), partitioner=tf.fixed_size_partitioner(2))
        loss = tf.reduce_sum(w) + tf.reduce_sum(tf.nn.embedding_lookup(parts, [0, 4]))
        tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
        return tf.global_variables()

    for written in (False, True):
        with tf.Graph().as_default(), tf.Session() as session:
            session.run([v.initializer for v in model(written)])
            values = session.run([v.assign_add(tf.ones(v.shape)) for v in tf.global_variables()])
            path = tf.train.Saver().save(session, str(tmp_path / f"model{written}"))
            keys = tf.train.list_variables(path)
        with tf.Graph().as_default(), tf.Session() as session:
            read = model(not written)
            tf.train.Saver(reshape=True).restore(session, path)
            for expected, actual in zip(values, session.run(read), strict=True):
                np.testing.assert_array_equal(actual, expected)
            assert tf.train.list_variables(tf.train.Saver().save(session, str(tmp_path / "again"))) == keys


def test_initial_values_from_a_checkpoint(tmp_path: Path) -> None:
    session = started(variable([1.0, 2.0], "w"))
    path = tf.train.Saver().save(session, str(tmp_path / "model"))
    with tf.Graph().as_default(), tf.Session() as other:
        with tf.variable_scope("new", use_resource=True):
            w = tf.get_variable("w", [2])
        tf.train.init_from_checkpoint(path, {"w": "new/w"})
        other.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(other.run(w), [1.0, 2.0])


def test_frozen_graphs_have_constants_in_their_place() -> None:
    v = variable(np.arange(6, dtype=np.float32).reshape(3, 2))
    yes = tf.placeholder_with_default(True, [])
    looked = tf.nn.embedding_lookup(v, [2, 0])
    chosen = tf.cond(yes, lambda: tf.reduce_sum(v), lambda: 0.0)
    _, looped = tf.while_loop(lambda i, _: i < 2, lambda i, x: (i + 1, x + tf.reduce_sum(v)), [0, 0.0])
    out = tf.add(tf.reduce_sum(looked * v[1]) + chosen, looped, name="out")
    session = started(v)
    expected = session.run(out)
    frozen = tf.graph_util.convert_variables_to_constants(session, tf.get_default_graph().as_graph_def(), ["out"])
    kinds = {node.op for node in frozen.node}
    assert kinds.isdisjoint({"VarHandleOp", "ReadVariableOp", "ResourceGather"}) and {"GatherV2", "Const"} <= kinds
    with tf.Graph().as_default(), tf.Session() as other:
        (again,) = tf.import_graph_def(frozen, return_elements=["out:0"], name="")
        assert other.run(again) == expected


# --- the library -------------------------------------------------------------------------------------------------------


def trained(use_resource: bool) -> tuple[list[Any], list[str]]:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(3)
        with tf.variable_scope("model", use_resource=use_resource):
            x = tf.constant(drawn(1, 4, 5, 3))
            cell = tf.nn.rnn_cell.BasicLSTMCell(2)
            outputs, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
            hidden = tf.layers.batch_normalization(tf.layers.dense(outputs, 3, tf.nn.relu), training=True)
            loss = tf.reduce_mean(tf.square(hidden - 0.5))
            mean, update = tf.metrics.mean(loss)
        step = tf.train.get_or_create_global_step()
        optimizer = tf.train.AdamOptimizer(tf.train.exponential_decay(0.01, step, 10, 0.5))
        grads = optimizer.compute_gradients(loss)
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            train = optimizer.apply_gradients(grads, global_step=step)
        average = tf.train.ExponentialMovingAverage(0.9, step).apply(tf.trainable_variables())
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for _ in range(4):
            session.run([train, update])
        session.run(average)
        found = session.run([*tf.global_variables(), mean])
        return found, [v.name for v in tf.global_variables()]


def test_layers_cells_metrics_and_averages() -> None:
    (expected, names), (actual, same) = trained(False), trained(True)
    assert names == same
    for one, other in zip(expected, actual, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-6)


def test_what_a_resource_variable_of_a_graph_is_no_value_for() -> None:
    with tf.Graph().as_default():
        v = tf.get_variable("v", [], use_resource=True)
        with pytest.raises(TypeError, match="as a Python `bool` is not allowed"):
            bool(v)
        with pytest.raises(NotImplementedError, match="only available when eager execution is enabled"):
            v.numpy()
        assert copy.copy(v) is v
