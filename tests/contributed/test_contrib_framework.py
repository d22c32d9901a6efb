"""Shape checks, variables' devices and what else tf.contrib.framework, data and eager have of their own."""

import numpy as np
import pytest

import tfexp as tf

framework, data = tf.contrib.framework, tf.contrib.data


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


def elements(dataset):
    following = dataset.make_one_shot_iterator().get_next()
    found = []
    with tf.Session() as session:
        try:
            while True:
                found.append(session.run(following))
        except tf.errors.OutOfRangeError:
            return found


def listed(dataset):
    return [one.tolist() for one in elements(dataset)]


def test_batches_of_one_size():
    numbers = tf.data.Dataset.range(7)
    batches = numbers.apply(data.batch_and_drop_remainder(3))
    assert batches.output_shapes == [3] and listed(batches) == [[0, 1, 2], [3, 4, 5]]
    rows = numbers.map(lambda x: tf.fill([x], x)).apply(data.padded_batch_and_drop_remainder(3, [None]))
    assert (
        rows.output_shapes.as_list() == [3, None] and listed(rows)[0] == [[0, 0], [1, 0], [2, 2]] and len(listed(rows)) == 2
    )


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"window_size": 3}, [[0, 1, 2], [1, 2, 3], [2, 3, 4]]),
        ({"window_size": 3, "window_shift": 2}, [[0, 1, 2], [2, 3, 4]]),
        ({"window_size": 3, "stride": 2}, [[0, 1, 2], [2, 3, 4]]),
        ({"window_size": 2, "window_stride": 2}, [[0, 2], [1, 3], [2, 4]]),
    ],
)
def test_batches_that_overlap(given, wanted):
    numbers = tf.data.Dataset.range(5)
    assert listed(numbers.apply(data.sliding_window_batch(**given))) == wanted
    pairs = tf.data.Dataset.zip({"a": numbers, "b": numbers.map(tf.negative)})
    assert [one["b"].tolist() for one in elements(pairs.apply(data.sliding_window_batch(**given)))] == [
        [-x for x in window] for window in wanted
    ]


def test_windows_have_one_shift():
    with pytest.raises(ValueError, match="Cannot specify both `stride` and `window_shift`"):
        data.sliding_window_batch(3, stride=1, window_shift=1)


def test_shapes_of_elements():
    numbers = tf.data.Dataset.range(7)
    checked = numbers.batch(4).apply(data.assert_element_shape(tf.TensorShape([4])))
    assert checked.output_shapes == [4]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Wrong shape"):
        elements(checked)
    assert len(elements(numbers.batch(4).apply(data.assert_element_shape(tf.TensorShape([None]))))) == 2
    with pytest.raises(ValueError, match="compatible"):
        numbers.apply(data.assert_element_shape(tf.TensorShape([4])))


def test_other_orders_and_sums():
    numbers = tf.data.Dataset.range(7)
    mixed = numbers.apply(data.sloppy_interleave(lambda x: tf.data.Dataset.from_tensors(x).repeat(2), 2))
    assert sorted(elements(mixed)) == sorted([*range(7)] * 2)
    add = data.Reducer(lambda _: tf.constant(0, tf.int64), lambda total, x: total + x, lambda total: total)
    with tf.Session() as session:
        assert session.run(data.reduce_dataset(numbers, add)) == 21
    with pytest.raises(TypeError, match="`dataset` must be"):
        data.reduce_dataset([1], add)
