"""What is refused, in TensorFlow 1.15's words (recorded from it): suites written for it match them."""

import numpy as np
import pytest

import tfexp as tf


class _NoCell:
    state_size = 1


def sparse(shape=(2, 2)):
    return tf.SparseTensor([[0, 0]], [1.0], shape)


REFUSED = {
    "a scalar": (
        lambda: tf.assert_scalar(tf.zeros([2])),
        ValueError,
        "Expected scalar shape for zeros:0, saw shape: (2,).",
    ),
    "an integer": (
        lambda: tf.assert_integer(tf.zeros([2])),
        TypeError,
        "Expected \"x\" to be integer type.  Found: zeros:0 of dtype <dtype: 'float32'>",
    ),
    "one floating type": (
        lambda: tf.debugging.assert_same_float_dtype([tf.zeros([1]), tf.constant(1)]),
        ValueError,
        "Const:0, type=<dtype: 'int32'>, must be of the same type (<dtype: 'float32'>) as zeros:0.",
    ),
    "a floating type": (
        lambda: tf.debugging.assert_same_float_dtype([tf.constant(1)]),
        ValueError,
        "Expected floating point type, got <dtype: 'int32'>.",
    ),
    "the rank of ensure_shape": (
        lambda: tf.ensure_shape(tf.zeros([2, 4]), [None, 3]),
        ValueError,
        "Dimension 1 in both shapes must be equal, but are 3 and 4. Shapes are [?,3] and [2,4].",
    ),
    "a default that fits": (
        lambda: tf.placeholder_with_default(tf.zeros([2, 3]), [3]),
        ValueError,
        "Shapes must be equal rank, but are 2 and 1",
    ),
    "a dtype": (lambda: tf.placeholder("foo"), TypeError, "Expected DataType for argument 'dtype' not 'foo'."),
    "a dtype of bytes": (
        lambda: tf.decode_raw("a", "foo"),
        TypeError,
        "Expected DataType for argument 'out_type' not 'foo'.",
    ),
    "a list of sizes": (
        lambda: tf.extract_image_patches(tf.zeros([1, 2, 2, 1]), -1, [1, 1, 1, 1], [1, 1, 1, 1], "SAME"),
        TypeError,
        "Expected list for 'ksizes' argument to 'extract_image_patches' Op, not -1.",
    ),
    "attributes before inputs": (
        lambda: tf.strings.to_hash_bucket(1.5, "a"),
        TypeError,
        "Expected int for argument 'num_buckets' not 'a'.",
    ),
    "the dtype that a tensor has": (
        lambda: tf.convert_to_tensor(tf.zeros([1]), tf.int32),
        ValueError,
        "requested dtype int32 for Tensor with dtype float32: <tf.Tensor 'zeros:0' shape=(1,) dtype=float32>",
    ),
    "keep_prob or rate": (
        lambda: tf.nn.dropout([1.0], 0.5, rate=0.5),
        ValueError,
        "Cannot specify both 'keep_prob' and 'rate'",
    ),
    "what to save": (
        lambda: tf.train.Saver({"a": 1}),
        TypeError,
        "names_to_saveables must be a dict mapping string names to Tensors/Variables. Not a variable: Tensor(",
    ),
    "sparse tensors to join": (lambda: tf.sparse_concat(0, [1]), TypeError, "Input must be a SparseTensor."),
    "a list to join": (lambda: tf.sparse_concat(0, 1), TypeError, "Inputs must be a list or tuple."),
    "shapes to add": (
        lambda: tf.sparse_add(sparse(), sparse((2, 3))),
        ValueError,
        "Shapes (2, 2) and (2, 3) are incompatible",
    ),
    "how many to retain": (
        lambda: tf.sparse_retain(sparse(), [True, False]),
        ValueError,
        "Dimensions 1 and 2 are not compatible",
    ),
    "a node to return": (
        lambda: tf.import_graph_def(tf.GraphDef(), return_elements=["a"]),
        ValueError,
        "Requested return node 'a' not found in graph def",
    ),
    "a cell": (
        lambda: tf.nn.dynamic_rnn(_NoCell(), tf.zeros([1, 1, 1])),
        TypeError,
        "is not an RNNCell: 'output_size' property is missing, either 'zero_state' or 'get_initial_state' method is "
        "required, is not callable.",
    ),
    "data to print": (lambda: tf.Print(1, 1), TypeError, "Expected list for 'data' argument to 'Print' Op, not 1."),
    "rows": (lambda: tf.map_fn(lambda x: x, 3.0), ValueError, "must be 1+ dimensional Tensors, not scalars"),
    "data sets of one type": (
        lambda: tf.data.Dataset.from_tensors(1).concatenate(tf.data.Dataset.from_tensors(1.0)),
        TypeError,
        "Two datasets to concatenate have different types <dtype: 'int32'> and <dtype: 'float32'>",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused_when_built(what):
    build, error, text = REFUSED[what]
    with tf.Graph().as_default(), pytest.raises(error) as caught:
        build()
    assert text in str(caught.value)


@pytest.mark.parametrize("size", [1, 2])
def test_a_loop_goes_on_by_a_scalar(size):
    with tf.Graph().as_default(), tf.Session() as session:
        start = tf.placeholder(tf.int32)
        loop = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [start])
        with pytest.raises(tf.errors.InvalidArgumentError, match=rf"must be a scalar, but it has shape \[{size}\]"):
            session.run(loop, {start: np.ones(size, np.int32)})


def test_windows_fit_into_what_is_fed():
    with tf.Graph().as_default(), tf.Session() as session:
        image = tf.placeholder(tf.float32)
        pooled = tf.nn.max_pool(image, [1, 9, 9, 1], [1, 1, 1, 1], "VALID")
        size = r"-6 \[input_size: 2, effective_filter_size: 9, stride: 1\]"
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"Computed output size would be negative: {size}"):
            session.run(pooled, {image: np.zeros([1, 2, 2, 3])})
