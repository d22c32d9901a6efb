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
    "shapes to add": (
        lambda: tf.sparse_add(sparse(), sparse((2, 3))),
        ValueError,
        "Shapes (2, 2) and (2, 3) are incompatible",
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
    "rows of a sparse tensor": (
        lambda: tf.map_fn(lambda x: x, tf.SparseTensor([[0]], [1.0], [5])),
        TypeError,
        "To perform a map on the values of a sparse tensor use either",
    ),
    "rows": (lambda: tf.map_fn(lambda x: x, 3.0), ValueError, "must be 1+ dimensional Tensors, not scalars"),
    "data sets of one type": (
        lambda: tf.data.Dataset.from_tensors(1).concatenate(tf.data.Dataset.from_tensors(1.0)),
        TypeError,
        "Two datasets to concatenate have different types <dtype: 'int32'> and <dtype: 'float32'>",
    ),
    "numbers to divide": (
        lambda: tf.constant([True]) / tf.constant([True]),
        TypeError,
        "Invalid dtype tf.bool in __truediv__",
    ),
    "texts to divide": (
        lambda: tf.truediv(tf.constant(["a"]), tf.constant(["b"])),
        TypeError,
        "Invalid dtype tf.string in __truediv__",
    ),
    "one dtype to divide": (
        lambda: tf.truediv(tf.constant([1]), tf.constant([2.0])),
        TypeError,
        "x and y must have the same dtype, got tf.int32 != tf.float32",
    ),
    "axes of two tensors": (
        lambda: tf.tensordot(tf.constant([[1]]), tf.constant([[1]]), [0, 1, 1]),
        ValueError,
        "'axes' must be an integer or have length 2",
    ),
    "axes to multiply": (
        lambda: tf.tensordot(tf.constant([[1]]), tf.constant([[1]]), -1),
        ValueError,
        "'axes' must be at least 0",
    ),
    "no more axes than there are": (
        lambda: tf.tensordot(tf.constant([[1]]), tf.constant([[1]]), 3),
        ValueError,
        "'axes' must not be larger than the number of dimensions",
    ),
    "an axis to stack": (lambda: tf.stack([1, 2], axis=1), ValueError, "axis = 1 not in [-1, 1)"),
    "an axis to unstack": (lambda: tf.unstack(tf.constant([1]), axis=-2), ValueError, "axis = -2 not in [-1, 1)"),
    "a known number of parts": (
        lambda: tf.split(tf.constant([1, 2]), tf.placeholder(tf.int32)),
        ValueError,
        "Cannot infer num from shape Tensor",
    ),
    "matrices to transpose": (
        lambda: tf.linalg.transpose(tf.constant([1])),
        ValueError,
        "'a' should be a (batch) matrix, with rank >= 2.  Found: (1,)",
    ),
    "a slice of that size": (
        lambda: tf.slice(tf.constant([1, 2]), [0], [1, 1]),
        ValueError,
        "Dimension 0 in both shapes must be equal, but are 1 and 2",
    ),
    "a probability to keep": (
        lambda: tf.nn.dropout(tf.constant([1.0]), keep_prob=2.0),
        ValueError,
        "rate must be a scalar tensor or a float in the range [0, 1), got -1",
    ),
    "floats to drop": (lambda: tf.nn.dropout(tf.constant([1]), rate=0.5), ValueError, "x has to be a floating point tensor"),
    "a window for each dimension": (
        lambda: tf.nn.max_pool(tf.zeros([1, 3, 3, 1]), [1, 2, 2], 1, "SAME"),
        ValueError,
        "ksize should be of length 1, 2 or 4 but was 3",
    ),
    "dimensions in space": (
        lambda: tf.nn.convolution(tf.zeros([1, 5]), tf.zeros([2, 1]), "SAME"),
        ValueError,
        "rank 3, 4 or 5 but was 2",
    ),
    "an axis of softmax": (
        lambda: tf.nn.softmax(tf.constant([[1.0]]), axis=3),
        tf.errors.InvalidArgumentError,
        "Dimension (3) must be in the range",
    ),
    "labels": (lambda: tf.losses.mean_squared_error(None, tf.constant([1.0])), ValueError, "labels must not be None"),
    "an axis of a distance": (
        lambda: tf.losses.cosine_distance(tf.constant([1.0]), tf.constant([1.0])),
        ValueError,
        "You must specify 'axis'",
    ),
    "a dtype to draw": (lambda: tf.random.uniform([2], dtype=tf.string), ValueError, "Invalid dtype tf.string"),
    "how many to count": (
        lambda: tf.metrics.average_precision_at_k(tf.constant([[1]]), tf.constant([[0.5]]), 0),
        ValueError,
        "Invalid k=0",
    ),
    "a sequence to measure": (lambda: tf.global_norm(tf.constant([1.0])), TypeError, "t_list should be a sequence"),
    "a weight for each": (
        lambda: tf.confusion_matrix([0, 1], [0, 1], weights=[1, 2, 3]),
        ValueError,
        "Shapes (2,) and (3,) are incompatible",
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
