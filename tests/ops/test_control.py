"""NoOp, Switch and Merge; groups and tuples."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tfexp.core.kernel import DEAD
from tfexp.core.op import get_op
from tfexp.graph.dependencies import with_dependencies


def test_switch_lets_one_branch_live() -> None:
    switch, merge = get_op("Switch").kernels["CPU"], get_op("Merge").kernels["CPU"]
    data = np.float32([1, 2])
    assert switch.compute(None, data, np.array(True), T=tf.float32) == [DEAD, data]
    assert switch.compute(None, data, np.array(False), T=tf.float32) == [data, DEAD]
    value, index = merge.compute(None, [DEAD, data], T=tf.float32, N=2)
    assert value is data
    assert index == 1
    assert merge.compute(None, [DEAD, DEAD], T=tf.float32, N=2) == [DEAD, DEAD]


def test_switch_and_merge_in_a_graph() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        pred = tf.placeholder(tf.bool, [])
        when_false, when_true = get_op("Switch")(tf.constant([3.0, 5.0]), pred)
        output, index = get_op("Merge")([when_false * 2.0, when_true * 7.0])
        assert output.shape.as_list() == [2]
        for value, wanted in ((True, [21, 35]), (False, [6, 10])):
            result, chosen = session.run([output, index], {pred: value})
            assert result.tolist() == wanted
            assert chosen == int(value)
        (grad,) = tf.gradients(output, when_true)
        assert session.run(grad, {pred: True}).tolist() == [7, 7]


def test_references_are_switched_as_references() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.Variable([1.0, 2.0], use_resource=False)
        pred = tf.placeholder(tf.bool, [])
        when_false, when_true = get_op("RefSwitch")(variable._ref(), pred)
        merged, _ = get_op("RefMerge")([when_false, when_true])
        assert merged.dtype._is_ref_dtype
        session.run(variable.initializer)
        session.run(get_op("AssignAdd")(merged, [10.0, 10.0]), {pred: True})
        assert session.run(variable).tolist() == [11, 12]


def test_gradients_flow_through_cond() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        pred, x = tf.placeholder(tf.bool, []), tf.constant([2.0, 3.0])
        (grad,) = tf.gradients(tf.cond(pred, lambda: x * x, lambda: x * 5.0), x)
        assert session.run(grad, {pred: True}).tolist() == [4, 6]
        assert session.run(grad, {pred: False}).tolist() == [5, 5]


def test_gradients_through_cond_differentiate_again() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        pred, x = tf.placeholder(tf.bool, []), tf.constant([2.0, 3.0])
        (first,) = tf.gradients(tf.cond(pred, lambda: x * x * x, lambda: x * 5.0), x)
        (second,) = tf.gradients(first, x)
        (third,) = tf.gradients(second, x)
        assert [v.tolist() for v in session.run([second, third], {pred: True})] == [[12, 18], [6, 6]]
        assert session.run(second, {pred: False}).tolist() == [0, 0]


def test_groups_are_one_node_for_each_device() -> None:
    with tf.Graph().as_default():
        a = tf.constant(1.0, name="a")
        with tf.device("/cpu:0"):
            b = tf.constant(2.0, name="b")
        one, two = tf.group(a, name="one"), tf.group(a, [b], name="two")
        assert [i.name for i in one.control_inputs] == ["a"]
        assert [i.name for i in two.control_inputs] == ["two/NoOp", "two/NoOp_1"]
        assert [i.device for i in two.control_inputs] == ["", "/device:CPU:0"]
        assert tf.group().type == "NoOp"
        with pytest.raises(TypeError, match=r"Expected tf.group\(\) expected Tensor arguments not '3' with type"):
            tf.group(3)


def test_tuples_wait_for_all() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        a, b = tf.constant(1.0), tf.constant(2.0)
        first, nothing, second = tf.tuple([a, None, b], control_inputs=[tf.no_op()])
        assert nothing is None
        assert session.run([first, second]) == [1, 2]
        np.testing.assert_array_equal(session.run(tf.tuple([[1.0, 2.0]])), [[1, 2]])
        with pytest.raises(ValueError, match="Must have at least one Tensor"):
            tf.tuple([None])
        with pytest.raises(TypeError, match="Control input must be Operation or Tensor: 1"):
            tf.tuple([a], control_inputs=[1])
        assert session.run(get_op("ControlTrigger")()) is None


def test_an_operation_in_a_tuple_gets_a_node_that_runs_after_all() -> None:
    with tf.Graph().as_default():
        work = tf.no_op("work")
        after, same = tf.tuple([work, tf.constant(1, name="a")], name="both")
        assert (after.name, after.type) == ("both/group_deps_1", "NoOp")
        assert {op.name for op in after.control_inputs} == {"work", "both/group_deps"}
        assert [op.name for op in same.op.control_inputs] == ["both/group_deps"]


def test_a_number_waits_as_a_tensor() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        result = with_dependencies([tf.constant(1, name="before")], 3)
        assert session.run(result) == 3
        (waiting,) = result.op.inputs
        assert [op.name for op in waiting.op.control_inputs] == ["before"]
        assert result.op.colocation_groups() == [b"loc:@control_dependency/Const"] == waiting.op.colocation_groups()


def test_frames_that_nothing_goes_round_in() -> None:
    op = tf.raw_ops
    with tf.Graph().as_default(), tf.Session() as session:
        inner = op.Enter(data=op.Enter(data=tf.constant(5), frame_name="a"), frame_name="b")
        doubled = inner + inner
        once = op.Exit(data=op.Exit(data=doubled))
        fed = tf.placeholder(tf.int32)
        entered = op.Enter(data=fed, frame_name="c")
        fed_once = op.Exit(data=entered * entered)
        loop = tf.while_loop(lambda i: i < 10, lambda i: i + op.Exit(data=op.Enter(data=i, frame_name="d")), [1])
        assert session.run([once, fed_once, loop], {fed: 3}) == [10, 9, 16]


def test_a_reference_passed_on_is_the_variable() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.Variable(7, use_resource=False)
        same = tf.raw_ops.RefIdentity(input=variable._ref())
        session.run(variable.initializer)
        assert same.dtype._is_ref_dtype and session.run(same) == 7
        session.run(tf.assign(same, 9))
        assert session.run(variable) == 9
