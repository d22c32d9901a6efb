"""Shape checks, variables' devices and what else tf.contrib.framework has of its own."""

import numpy as np
import pytest

import tfexp as tf

framework = tf.contrib.framework


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_shapes_are_checked_as_early_as_they_are_known():
    z, y = tf.constant([1.0, 2, 3], name="z"), tf.placeholder(tf.float32, name="y")
    assert framework.with_shape([3], z) is z
    with pytest.raises(ValueError, match=r"Invalid shape for tensor z:0, expected \(?\[?4.*, got \(3,\)"):
        framework.with_shape([4], z)
    with pytest.raises(ValueError, match=r"Invalid dtype float64 for shape \[1.5\]"):
        framework.with_shape([1.5], y)
    checked, alike = framework.with_shape([3], y), framework.with_same_shape(z, y)
    assert checked.shape == alike.shape == [3]
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(alike, {y: [4, 5, 6]}), [4, 5, 6])
        for wrong in (2.0, [1.0, 2.0], [[1.0, 2.0, 3.0]]):
            with pytest.raises(tf.errors.InvalidArgumentError, match="Wrong shape for y:0"):
                session.run(checked, {y: wrong})
        dynamic = framework.with_shape(tf.shape(y), tf.placeholder_with_default([7.0], [None]))
        np.testing.assert_array_equal(session.run(dynamic, {y: [1.0]}), [7])


def test_one_integer_and_sums_of_many():
    assert framework.assert_scalar_int(3).dtype == tf.int32
    for wrong, says in ((1.5, "Expected integer type"), ([1], "Expected scalar shape")):
        with pytest.raises(ValueError, match=says):
            framework.assert_scalar_int(tf.constant(wrong))
    total = framework.reduce_sum_n([tf.ones([3]), tf.ones([2, 5])])
    with tf.Session() as session:
        assert total.name == "reduce_sum_n:0" and session.run(total) == 13
    with pytest.raises(ValueError, match="No tensors provided"):
        framework.reduce_sum_n([])


def test_variables_that_training_leaves_alone_and_their_devices():
    made = framework.global_variable(3.0, name="kept")
    assert tf.global_variables() == [made] and tf.trainable_variables() == []
    choose = framework.VariableDeviceChooser(num_tasks=2, device_type="GPU", device_index=1)
    chosen = [choose(made.op) for _ in range(3)]
    assert chosen == [f"/job:ps/task:{i}/device:GPU:1" for i in (0, 1, 0)]
    assert framework.VariableDeviceChooser(replica=3)(made.op) == "/replica:3/device:CPU:0"
    with tf.contrib.slim.arg_scope([framework.variable], device=framework.VariableDeviceChooser(1)):
        assert framework.variable("there", [2]).device == "/job:ps/task:0/device:CPU:0"


def test_names_below_scopes():
    assert framework.prepend_name_scope("loc:@a/b", "s") == "loc:@s/a/b"
    assert framework.strip_name_scope("^s/a", "s") == "^a"


def test_scopes_are_read_by_the_keys_that_functions_carry():
    """Published code looks its arguments up in this way."""
    slim = tf.contrib.slim
    with slim.arg_scope([slim.conv2d], padding="VALID") as scope:
        assert scope[slim.conv2d._key_op] == {"padding": "VALID"} == scope[slim.arg_scope_func_key(slim.conv2d)]
    assert list(scope.values()) == [{"padding": "VALID"}]
