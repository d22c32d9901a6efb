"""What functions of `tf.compat.v2` do otherwise than those of version 1."""

import numpy as np
import pytest

import tfexp as tf

tf2 = tf.compat.v2


def run(*values):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(values if len(values) > 1 else values[0])


def ops():
    return [op.type for op in tf.get_default_graph().get_operations()]


def test_arguments_by_position():
    x = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    assert run(tf2.reduce_sum(x, 1, True)).tolist() == [[3.0], [12.0]]
    assert run(tf2.argmax(x, 1, tf.int32)).dtype == np.int32
    assert run(tf2.transpose(x, [1, 0], False, "turned")).shape == (3, 2)
    assert run(tf2.gather(x, [1], None, 1)).tolist() == [[1.0], [4.0]]
    assert tf2.shape(x, tf.int64, "sizes").name == "sizes:0"
    assert run(tf2.pad([1.0], [[1, 0]], "CONSTANT", 7.0)).tolist() == [7.0, 1.0]
    assert run(tf2.zeros_like(input=x)).sum() == 0
    assert run(tf2.ones_like(x, tf.int32)).sum() == 6
    assert run(tf2.nn.in_top_k([0], [[3.0, 2.0]], 1)).tolist() == [True]
    with pytest.raises(TypeError, match=r"reduce_sum\(\) got an unexpected keyword argument 'keep_dims'"):
        tf2.reduce_sum(x, keep_dims=True)


def test_where_broadcasts():
    assert run(tf2.where([[True], [False]], [1, 2, 3], 0)).tolist() == [[1, 2, 3], [0, 0, 0]]


def test_a_loop_gives_back_the_structure_that_it_was_given():
    assert run(tf2.while_loop(lambda i: i < 5, lambda i: [i + 2], [tf2.constant(0)])[0]) == 6


def test_names():
    with tf2.name_scope("outer") as scope:
        assert scope == "outer/"
        assert tf2.constant(1).name == "outer/Const:0"
    with pytest.raises(ValueError, match="must be a string"):
        tf2.name_scope(None)
    with pytest.raises(RuntimeError, match="does not support functions"):
        tf2.device(lambda op: "/cpu:0")
    with tf2.device("/cpu:0"):
        assert tf2.constant(1).device == "/device:CPU:0"


def test_variables_are_resources_and_all_variables_are_of_its_class():
    variable = tf2.Variable(3.0, name="v")
    assert variable.op.type == "VarHandleOp"
    assert isinstance(variable, tf2.Variable) and isinstance(variable, tf.Variable)
    assert isinstance(tf.Variable(1.0), tf2.Variable) and not isinstance(tf.constant(1.0), tf2.Variable)
    with pytest.raises(TypeError, match="use_resource"):
        tf2.Variable(1.0, use_resource=False)
    assert run(variable + 1.0) == 4.0


@pytest.mark.parametrize("kind", ["max", "avg"])
@pytest.mark.parametrize("rank", [3, 4, 5])
def test_pools_by_rank(kind, rank):
    x = np.arange(4.0 ** (rank - 2), dtype=np.float32).reshape(1, *[4] * (rank - 2), 1)
    pooled = run(getattr(tf2.nn, f"{kind}_pool")(x, 4, 4, "VALID"))
    assert pooled.item() == (x.max() if kind == "max" else x.mean())


def test_pools_of_other_ranks():
    with pytest.raises(ValueError, match="1, 2 or 3 dimensions between"):
        tf2.nn.max_pool(tf.zeros([2, 3]), 2, 2, "SAME")


def test_morphology_takes_the_channels_last():
    x, window = tf.ones([1, 2, 2, 1]), tf.zeros([1, 1, 1])
    one = [1, 1, 1, 1]
    assert run(tf2.nn.dilation2d(x, window, one, "SAME", "NHWC", one)).sum() == 4
    assert run(tf2.nn.erosion2d(x, window, one, "SAME", "NHWC", one)).sum() == 4
    for function in (tf2.nn.dilation2d, tf2.nn.erosion2d):
        with pytest.raises(ValueError, match="NHWC"):
            function(x, window, one, "SAME", "NCHW", one)


def test_blocks():
    x = tf.reshape(tf.range(8), [1, 2, 4, 1])
    blocks = tf2.space_to_batch(x, [2, 2], [[0, 0], [0, 0]])
    for size in (2, [2, 2]):
        assert run(tf2.batch_to_space(blocks, size, [[0, 0], [0, 0]])).ravel().tolist() == list(range(8))


def test_labels_get_gradients_and_tables_are_cut_in_rows():
    labels, logits = tf.constant([[0.25, 0.75]]), tf.constant([[1.0, 2.0]])
    loss = tf2.nn.softmax_cross_entropy_with_logits(labels, logits)
    assert tf2.gradients(loss, labels)[0] is not None
    halves = [tf.constant([[0.0], [1.0]]), tf.constant([[2.0], [3.0]])]
    assert run(tf2.nn.embedding_lookup(halves, [1, 2])).ravel().tolist() == [1.0, 2.0]


def test_strings_are_split_into_ragged_rows():
    rows = tf2.strings.split(["a b", "c"])
    assert run(rows).to_list() == [[b"a", b"b"], [b"c"]]
    assert run(tf2.strings.split("a,b", ",")).tolist() == [b"a", b"b"]


def test_sparse_reductions_dense_and_sparse():
    x = tf.SparseTensor([[0, 0], [0, 2]], [1.0, 3.0], [2, 3])
    assert run(tf2.sparse.reduce_max(x, 1)).tolist() == [3.0, 0.0]
    assert run(tf2.sparse.reduce_sum(x, 1, output_is_sparse=True)).values.tolist() == [4.0]
    with tf.name_scope("of_its_own"):
        assert tf2.sparse.reduce_sum(x, name="sum").name.endswith("/sum:0")


def test_bytes_of_a_fixed_length():
    assert run(tf2.io.decode_raw(["ab", "c"], tf.uint8, fixed_length=2)).tolist() == [[97, 98], [99, 0]]
    assert run(tf2.io.decode_raw(["ab"], tf.uint8)).tolist() == [[97, 98]]


def test_images():
    assert run(tf2.image.resize(tf.reshape([1.0, 3.0], [1, 2, 1]), [1, 4])).ravel().tolist() == [1.0, 1.5, 2.5, 3.0]
    assert tf2.image.resize_with_pad(tf.zeros([2, 4, 1]), 4, 4).shape.as_list() == [4, 4, 1]
    small = tf.constant([[[3], [200]]], tf.uint8)
    assert run(tf2.image.resize(small, [1, 2])).tolist() == [[[3.0], [200.0]]]  # floats, also of the same size
    assert run(tf2.image.resize(small, [1, 2], "gaussian")).ravel()[0] > 3  # which it is smoothed in
    glimpse = tf2.image.extract_glimpse(tf.ones([1, 4, 4, 1]), [2, 2], [[0.0, 0.0]], noise="zero")
    assert run(glimpse).sum() == 4
    box, red = [[[0.0, 0.0, 1.0, 1.0]]], [[1.0, 0.0, 0.0]]
    drawn = run(tf2.image.draw_bounding_boxes(tf.zeros([1, 3, 3, 3]), box, red))
    assert drawn[0, 0, 0].tolist() == red[0] and drawn[0, 1, 1].tolist() == [0.0, 0.0, 0.0]


def test_random_boxes_have_one_seed():
    op = tf2.image.sample_distorted_bounding_box([4, 5, 3], [[[0.0, 0.0, 1.0, 1.0]]], seed=5)[0].op
    assert (op.get_attr("seed"), op.get_attr("seed2")) == (87654321, 5)
    op = tf2.image.sample_distorted_bounding_box([4, 5, 3], [[[0.0, 0.0, 1.0, 1.0]]])[0].op
    assert (op.get_attr("seed"), op.get_attr("seed2")) == (0, 0)


def test_initializers_have_no_type_and_no_state():
    make = tf2.initializers.RandomNormal(seed=3)
    one, other = run(make([2, 3]), make([2, 3]))
    np.testing.assert_array_equal(one, other)
    # Recorded from TensorFlow 2.15.
    np.testing.assert_allclose(one[0], [-0.03357924, 0.08380252, -0.04721227], rtol=1e-6)
    assert make.get_config() == {"mean": 0.0, "stddev": 0.05, "seed": 3}
    assert "RandomStandardNormal" not in ops()
    assert run(tf2.ones_initializer()([2], tf.int32)).tolist() == [1, 1]
    assert tf2.keras.initializers.he_normal() is not None
    for name in ("GlorotUniform", "Orthogonal", "TruncatedNormal", "VarianceScaling", "Identity", "Zeros"):
        kind = getattr(tf2.initializers, name)
        assert kind.from_config(kind().get_config())([2, 2]).shape.as_list() == [2, 2]


def test_constants_fill_their_shape_or_are_one_element():
    assert run(tf2.constant_initializer([1.0, 2.0])([2])).tolist() == [1.0, 2.0]
    assert (
        tf2.constant_initializer(7)([2]).dtype == tf.int32
        and tf2.constant_initializer(7)([2], tf.float64).dtype == tf.float64
    )
    assert run(tf2.constant([5], shape=[2, 3])).tolist() == [[5, 5, 5], [5, 5, 5]]
    for make in (tf2.constant_initializer([1, 2, 3]), lambda shape: tf2.constant([1, 2, 3], shape=shape)):
        for shape in ([5], [2], []):
            with pytest.raises(TypeError, match=r"Expected Tensor's shape: .*, got \(3,\)"):
                make(shape)


def test_layers_have_other_defaults():
    layers = tf2.keras.layers
    assert layers.LSTM(2).get_config()["recurrent_activation"] == "sigmoid"
    assert layers.GRUCell(2).get_config()["reset_after"] is True
    assert layers.GRU(2, reset_after=False).get_config()["reset_after"] is False
    assert layers.LSTMCell(2).get_config()["implementation"] == 2


def test_a_normalization_that_is_not_trainable_is_frozen():
    layer = tf2.keras.layers.BatchNormalization()
    layer.trainable = False
    x = tf.constant([[1.0], [3.0]])
    np.testing.assert_allclose(run(layer(x, training=True)), [[1.0], [3.0]], rtol=1e-3)
    assert not layer.updates
