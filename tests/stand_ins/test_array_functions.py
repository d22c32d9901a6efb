"""Functions of arrays and rules of shapes that TensorFlow's private modules have. Results are TensorFlow 1.15's."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.stand_ins.modules import stand_for

array_ops = stand_for("tensorflow.python.ops.array_ops")
common_shapes = stand_for("tensorflow.python.framework.common_shapes")
image_ops_impl = stand_for("tensorflow.python.ops.image_ops_impl")
math_ops = stand_for("tensorflow.python.ops.math_ops")
random_grad = stand_for("tensorflow.python.ops.random_grad")


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def placeholder(*shape):
    return tf.placeholder(tf.float32, shape)


# --- arrays ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("repeats", "axis"), [(2, 0), (3, 1), ([1, 0, 2], 0), ([1, 2, 0, 3, 1], -1)])
def test_elements_are_repeated(session, repeats, axis):
    data = np.arange(15.0).reshape(3, 5)
    found = session.run(array_ops.repeat_with_axis(data, repeats, axis))
    np.testing.assert_array_equal(found, np.repeat(data, repeats, axis))


def test_elements_are_repeated_along_an_axis_only():
    with pytest.raises(TypeError, match="axis must be an int; got NoneType"):
        array_ops.repeat_with_axis([1.0], 2, None)


def test_copies_along_one_axis(session):
    data = np.arange(6.0).reshape(2, 3)
    assert array_ops.tile_one_dimension(placeholder(2, None), 0, 3).shape.as_list() == [6, None]
    for given in (tf.constant(data), tf.placeholder_with_default(data, None)):
        np.testing.assert_array_equal(session.run(array_ops.tile_one_dimension(given, 1, 2)), np.tile(data, [1, 2]))


def test_elements_of_a_batch(session):
    data = np.arange(12.0).reshape(3, 4)
    assert session.run(array_ops.batch_gather_nd(data, [[1], [0], [2]], 1)).tolist() == [1.0, 4.0, 10.0]
    assert session.run(array_ops.batch_gather_nd(data, [[1, 2]], 0)).tolist() == [6.0]
    with pytest.raises(ValueError, match="does not allow negative batch_dims"):
        array_ops.batch_gather_nd(data, [[1]], -1)


def test_what_is_like_a_tensor(session):
    x = placeholder(2, 3)
    zeros = array_ops.zeros_like_impl(x, tf.int32, "q", optimize=False)
    assert zeros.name == "q:0" and array_ops.ones_like_impl(x, tf.int32, "q", optimize=False).name == "q_1:0"
    assert session.run(zeros, {x: np.ones([2, 3])}).tolist() == [[0] * 3] * 2
    assert array_ops.zeros_like_impl(x, None, None).op.type == "Const"


def test_leading_dimensions(session):
    assert random_grad.add_leading_unit_dimensions(placeholder(2, None, 3), 2).shape.as_list() == [1, 1, 2, None, 3]
    count = tf.placeholder(tf.int32, [])
    found = random_grad.add_leading_unit_dimensions(placeholder(2), count)
    assert found.shape.ndims is None
    assert session.run(found, {count: 3, "Placeholder_2:0": [5, 7]}).shape == (1, 1, 1, 2)


def test_tensors_are_compared_as_objects():
    one, other = tf.constant([1.0]), tf.constant([1.0])
    assert math_ops.tensor_equals(one, one) is True and math_ops.tensor_equals(one, other) is False
    assert math_ops.tensor_not_equals(one, one) is False and math_ops.tensor_not_equals(one, None) is True


def test_a_division_has_a_name(session):
    dividend = math_ops.DivideDelegateWithName(tf.constant([7, -7]), "div")
    quotients = dividend / 2, dividend // 2, dividend.__div__(2)
    assert [(one.op.name, one.op.type) for one in quotients] == [
        ("div", "RealDiv"),
        ("div_1", "FloorDiv"),
        ("div_2", "FloorDiv"),
    ]
    assert [value.tolist() for value in session.run(quotients)] == [[3.5, -3.5], [3, -4], [3, -4]]


@pytest.mark.parametrize("shape", [[3, 4, 1], [None, None, 3], [2, 3, 4, 1], None])
def test_a_flipped_image_has_the_shape_of_the_image(shape):
    image, result = tf.placeholder(tf.float32, shape), tf.placeholder(tf.float32)
    assert image_ops_impl.fix_image_flip_shape(image, result) is result
    assert result.shape.as_list() == (shape or [None, None, None])


# --- shapes ---------------------------------------------------------------------------------------------------------------


def test_shapes_that_an_op_keeps():
    x = placeholder(2, None, 3)
    op = tf.identity(x).op
    assert common_shapes.unchanged_shape(op)[0].as_list() == [2, None, 3]
    for rule in (
        common_shapes.unchanged_shape_with_rank(3),
        common_shapes.unchanged_shape_with_rank_at_least(2),
        common_shapes.unchanged_shape_with_rank_at_most(5),
    ):
        assert rule(op)[0].as_list() == [2, None, 3]
    for rule, message in (
        (common_shapes.unchanged_shape_with_rank(2), "must have rank 2"),
        (common_shapes.unchanged_shape_with_rank_at_least(5), "must have rank at least 5"),
        (common_shapes.unchanged_shape_with_rank_at_most(2), "must have rank at most 2"),
    ):
        with pytest.raises(ValueError, match=message):
            rule(op)
    unknown = tf.identity(tf.placeholder(tf.float32)).op
    assert common_shapes.unchanged_shape_with_rank(3)(unknown)[0].as_list() == [None] * 3


def test_shapes_that_any_op_has():
    op = tf.split(placeholder(4), 2)[0].op
    assert common_shapes.scalar_shape(op) == [tf.TensorShape([])] and common_shapes.no_outputs(op) == []
    assert [shape.ndims for shape in common_shapes.unknown_shape(op)] == [None, None]


def test_shapes_by_the_rules_of_ops():
    image, filters = placeholder(2, 7, 6, 4), placeholder(3, 3, 4, 5)
    ops = {
        "matmul": (tf.matmul(placeholder(2, 3), placeholder(7, 2), transpose_a=True, transpose_b=True), [3, 7]),
        "conv2d": (tf.nn.conv2d(image, filters, [1, 2, 1, 1], "SAME"), [2, 4, 6, 5]),
        "depthwise_conv2d_native": (tf.nn.depthwise_conv2d_native(image, filters, [1, 2, 2, 1], "VALID"), [2, 3, 2, 20]),
        "max_pool": (tf.nn.max_pool(image, [1, 2, 3, 1], [1, 2, 1, 1], "VALID"), [2, 3, 4, 4]),
        "avg_pool": (tf.nn.avg_pool(image, [1, 2, 3, 1], [1, 2, 1, 1], "SAME"), [2, 4, 6, 4]),
    }
    for name, (output, wanted) in ops.items():
        assert [shape.as_list() for shape in getattr(common_shapes, f"{name}_shape")(output.op)] == [wanted]


@pytest.mark.parametrize(
    ("size", "window", "stride", "valid", "same"),
    [(7, 3, 2, 3, 4), (None, 3, 2, None, None), (7, None, 2, None, 4), (8, 3, 3, 2, 3), (3, 3, 5, 1, 1)],
)
def test_how_many_windows_fit(size, window, stride, valid, same):
    for padding, wanted in ((b"VALID", valid), (b"SAME", same)):
        assert common_shapes.get_conv_output_size((size,), (window,), (stride,), padding) == (wanted,)
        found = common_shapes.get2d_conv_output_size(tf.Dimension(size), 5, window, 2, stride, 1, padding)
        assert found == (wanted, 4 if padding == b"VALID" else 5)


def test_windows_that_do_not_fit():
    with pytest.raises(ValueError, match=r"Filter must not be larger than the input: Filter: \(3,\) Input: \(2,\)"):
        common_shapes.get_conv_output_size((2,), (3,), (1,), b"SAME")
    with pytest.raises(ValueError, match="Invalid padding: b'FULL'"):
        common_shapes.get_conv_output_size((3,), (3,), (1,), b"FULL")


def test_what_is_said_of_wrong_indices():
    with tf.Graph().as_default(), pytest.raises(TypeError) as caught:
        tf.constant([1, 2])[0.5]
    assert str(caught.value) == f"{array_ops._SLICE_TYPE_ERROR}, got 0.5"
