"""What kernels say of values and shapes that only a run shows: the phrases that TensorFlow's own tests look for."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import get_op
from tfexp.runtime.eager import eager_mode

# op, inputs, attrs, text
ROWS = [
    ("BroadcastTo", [np.ones(2), np.int32([2, 1])], {}, "Unable to broadcast tensor of shape [2] to tensor of shape [2,1]"),
    ("BroadcastTo", [np.ones((2, 3)), np.int32([2, 4])], {}, "Incompatible shapes: [2,3] vs. [2,4]"),
    (
        "BroadcastTo",
        [np.ones((2, 3)), np.int32([3])],
        {},
        "Rank of input (2) must be no greater than rank of output shape (1).",
    ),
    ("ConcatV2", [[np.float32(1), np.float32(2)], np.int32(0)], {}, "Can't concatenate scalars (use tf.stack instead)"),
    ("ConcatOffset", [np.int32([1]), [np.int32([2]), np.int32([3])]], {}, "should be a scalar integer, but got shape [1]"),
    ("ConcatOffset", [np.int32(1), [np.int32([2, 3]), np.int32([[2, 3]])]], {}, "input 1 should be a vector"),
    (
        "ConcatOffset",
        [np.int32(1), [np.int32([2, 3, 5]), np.int32([2, 7, 10])]],
        {},
        "Input 1 has shape [2 7 10] and doesn't match input 0 with shape [2 3 5].",
    ),
    ("ResizeBicubic", [np.ones((1, 2, 3, 0)), np.int32([2, 2])], {}, "image must have at least one channel"),
    (
        "Conv2DBackpropInput",
        [np.int32([[2, 4]]), np.ones((2, 2, 2, 3)), np.ones((2, 3, 2, 3))],
        {"strides": [1] * 4, "padding": "VALID"},
        "input_sizes must be 1-dimensional",
    ),
    (
        "Conv2DBackpropFilter",
        [np.ones((2, 4, 3, 2)), np.int32([[2], [2], [2], [3]]), np.ones((2, 3, 2, 3))],
        {"strides": [1] * 4, "padding": "VALID"},
        "filter_sizes input must be 1-dim",
    ),
    (
        "MatrixSolve",
        [np.ones((2, 3, 3)), np.ones((1, 3, 5))],
        {},
        "All input tensors must have the same outer dimensions.",
    ),
    ("MatrixSolve", [np.eye(3), np.ones(3)], {}, "Input tensor 1 must have rank >= 2, got 1"),
    ("MatrixSolve", [np.ones((2, 3, 3)), np.ones((3, 5))], {}, "All input tensors must have the same rank."),
    ("MatrixSolve", [np.ones((2, 3)), np.ones((3, 5))], {}, "First input (lhs) must be a square matrix."),
    ("MatrixInverse", [np.ones((2, 3))], {}, "Input matrix must be square."),
    ("MatrixInverse", [np.ones(3)], {}, "Input tensor 0 must have rank >= 2, got 1"),
    ("BroadcastGradientArgs", [np.int32([[1]]), np.int32([1, 1])], {}, "In[0] must be a vector.[1,1]"),
    (
        "MirrorPadGrad",
        [np.ones((2, 5)), np.int32([[0, 0], [0, 3]])],
        {"mode": "REFLECT"},
        "paddings must be less than the output dimension size: 0, 3 not less than 2",
    ),
    (
        "MirrorPadGrad",
        [np.ones((2, 5)), np.int32([[0, 0], [3, 0]])],
        {"mode": "SYMMETRIC"},
        "paddings must be no greater than the output dimension size: 3, 0 greater than 2",
    ),
    ("BroadcastTo", [np.ones((3, 1)), np.int32([2, -1, 0])], {}, "Dimension -1 must be >= 0"),
    ("ScatterNd", [np.int32([[1]]), np.ones((1, 2)), np.int32([-1, 2])], {}, "Dimension -1 must be >= 0"),
    *(
        (op, [np.ones((3, 5)), *rest], {}, text)
        for k, text in (
            ([0, 1, 2], "diag_index must have only one or two elements, received 3 elements."),
            ([], "diag_index must have only one or two elements, received 0 elements."),
            ([[0, 1]], "diag_index must be a scalar or vector, received shape: [1,2]"),
            ([100, 0], "lower_diag_index is out of bound: 100. It must be between -3 and 5"),
            ([-2, 5], "upper_diag_index is out of bound: 5. It must be between -3 and 5"),
            ([2, -1], "lower_diag_index must not be larger than upper_diag_index: 2 > -1"),
        )
        for op, rest in ()
    ),
    ("Diag", [np.float32(1)], {}, "Input must be at least rank 1, got 0"),
    ("DiagPart", [np.ones((2, 3))], {}, "Invalid shape [2,3]: dimensions 0 and 1 do not match."),
    ("DiagPart", [np.ones(3)], {}, "even and positive, got shape [3]"),
    (
        "DynamicPartition",
        [np.ones((2, 2)), np.int32([[0, 1], [99, 1]])],
        {"num_partitions": 4},
        "partitions[1,0] = 99 is not in",
    ),
    (
        "DynamicStitch",
        [[np.int32([0, 1])], [np.ones(3)]],
        {},
        "data[0].shape = [3] does not start with indices[0].shape = [2]",
    ),
    ("GatherNd", [np.float32(1), np.int32([0])], {}, "params must be at least a vector"),
    ("GatherNd", [np.ones((0, 3)), np.int32([[0, 1]])], {}, "Requested more than 0 entries, but params is empty"),
    ("GatherV2", [np.ones((2, 3)), np.int32([0]), np.int32(2)], {}, "Expected axis in the range [-2, 2), but got 2"),
    ("GatherV2", [np.ones((2, 3)), np.int32([0]), np.int32([0, 1])], {}, "axis must be scalar"),
    ("ListDiff", [np.ones((1, 1)), np.ones(1)], {}, "x should be a 1D vector"),
    ("LinSpace", [np.float32([1]), np.float32(2), np.int32(3)], {}, "start must be a scalar, not shape [1]"),
    ("MatrixBandPart", [np.ones((3, 3)), np.int64([1]), np.int64(0)], {}, "num_lower must be a scalar, not shape [1]"),
    ("SparseToDense", [np.int32([[0, 1]]), np.int32([[3, 3]]), np.int32([1]), np.int32(0)], {}, "got shape [1,2]"),
    ("SparseToDense", [np.int32([1, 2]), np.int32([3, 3]), np.int32([1, 1]), np.int32(0)], {}, "elements: 2 should be: 1"),
    ("SparseToDense", [np.int32([[1]]), np.int32([3]), np.int32([1]), np.int32([0])], {}, "default_value must be a scalar"),
    (
        "SparseToDense",
        [np.zeros((2, 2, 2), np.int32), np.int32([3, 2]), np.int32([1, 1]), np.int32(0)],
        {},
        "sparse_indices should be a scalar, vector, or matrix, got shape [2,2,2]",
    ),
    (
        "StridedSliceGrad",
        [np.int32([4]), np.int32([0]), np.int32([4, 4]), np.int32([1]), np.ones(4)],
        {},
        "begin, end, and strides to be 1D equal size tensors, but got shapes [1], [2], and [1] instead.",
    ),
    (
        "SparseAddGrad",
        [np.ones(1), np.int64([[0]]), np.int64([[0, 1]]), np.int64([[0]])],
        {},
        "The densified operands should have the same ndims; for A, B, sum got: 1, 2, 1",
    ),
    (
        "SparseAddGrad",
        [np.ones(1), np.int64([0]), np.int64([[0]]), np.int64([[0]])],
        {},
        "Input indices should be matrices but received shapes: [1] and [1,1] and [1,1]",
    ),
    ("MatrixDeterminant", [np.eye(2, dtype=np.float16)], {}, "No OpKernel was registered to support Op 'MatrixDeterminant'"),
    (
        "HistogramFixedWidth",
        [np.ones(3), np.ones(1), np.int32(2)],
        {},
        "value_range should be a vector of 2 elements.",
    ),
    (
        "Conv2DBackpropFilter",
        [np.ones((1, 3, 3, 1)), np.int32([2, 2, 1, 1]), np.ones((1, 2, 2, 1))],
        {"strides": [1, 0, 1, 1], "padding": "VALID"},
        "Stride must be > 0, but got 0",
    ),
    # Where the kernel stumbles in Python's words, the shape rule's are said.
    ("ArgMax", [np.ones(2), np.int32([0, 0])], {}, "Shape must be rank 0 but is rank 1"),
    ("OneHot", [np.int32([1]), np.int32([3]), np.float32(1), np.float32(0)], {}, "Input must be scalar but has rank 1"),
    ("Tile", [np.ones(2), np.int32(2)], {}, "Shape must be rank 1 but is rank 0"),
    ("ReverseV2", [np.ones(2), np.int32([[0]])], {}, "Shape must be rank 1 but is rank 2"),
]


@pytest.mark.parametrize(("op", "inputs", "attrs", "text"), ROWS)
def test_refused(op, inputs, attrs, text):
    feeds = {}

    def fed(value):
        if isinstance(value, list):
            return [fed(one) for one in value]
        placeholder = tf.placeholder(value.dtype)
        feeds[placeholder] = value
        return placeholder

    with tf.Graph().as_default(), tf.Session() as session:
        node = get_op(op)(*fed(inputs), **attrs)
        with pytest.raises(InvalidArgumentError) as caught:
            session.run(node, feeds)
    assert text in caught.value.message


@pytest.mark.parametrize(
    ("build", "error", "text"),
    [
        (lambda: tf.concat([tf.zeros([]), tf.ones([])], 0), ValueError, "Can't concatenate scalars"),
        (lambda: tf.expand_dims([1, 2], [0, 1]), ValueError, "must be a tensor with a single value"),
        (lambda: tf.one_hot([1], -3), ValueError, "must be non-negative but is -3"),
    ],
)
def test_refused_when_built(build, error, text):
    with tf.Graph().as_default(), pytest.raises(error, match=text):
        build()


def test_saturated_floats_stay_within_integers():
    with eager_mode():
        assert tf.saturate_cast([1e10, -1e10, 5.5], tf.int32).numpy().tolist() == [2147483520, -2147483648, 5]
        assert tf.saturate_cast([1e30], tf.int64).numpy().tolist() == [
            np.int64(np.nextafter(np.float32(2**63), np.float32(0)))
        ]


# op, inputs, attrs, text
TEXTS = [
    ("RegexFullMatch", [["ab"], ["a"]], {}, "Pattern must be a scalar, not shape [1]"),
    ("RegexReplace", [["ab"], ["a"], "b"], {}, "Pattern must be a scalar, not shape [1]"),
    ("RegexReplace", [["ab"], "a", ["b"]], {}, "Rewrite must be a scalar, not shape [1]"),
    ("StringSplit", [[["a b"]], " "], {}, "input must be a vector, got shape: [1,1]"),
]


@pytest.mark.parametrize(("op", "inputs", "attrs", "text"), TEXTS)
def test_refused_texts(op, inputs, attrs, text):
    with tf.Graph().as_default(), tf.Session() as session:
        fed = [tf.placeholder(tf.string) for _ in inputs]
        with pytest.raises(InvalidArgumentError) as caught:
            session.run(get_op(op)(*fed, **attrs), dict(zip(fed, inputs, strict=True)))
    assert text in caught.value.message


@pytest.mark.parametrize("runs", [1, 2])
def test_the_shape_rules_words_are_said_in_each_run(runs):
    # From its second run on a step is generated code.
    with tf.Graph().as_default(), tf.Session() as session:
        depth = tf.placeholder(tf.int32)
        coded = tf.one_hot([1], depth, name="coded")
        for _ in range(runs):
            with pytest.raises(InvalidArgumentError, match="Input must be scalar but has rank 1") as caught:
                session.run(coded, {depth: [3]})
    assert caught.value.op.name == "coded"


def test_the_shape_rules_words_are_said_eagerly():
    with eager_mode(), pytest.raises(InvalidArgumentError, match="Input must be scalar but has rank 1"):
        tf.one_hot([1], tf.constant([3]))


def test_the_upper_bound_of_a_band_decides_for_a_number():
    with tf.Graph().as_default(), tf.Session() as session:
        band = tf.matrix_band_part(np.ones((2, 2)), 0, tf.constant(0, tf.int64))
        assert session.run(band).tolist() == [[1, 0], [0, 1]]


VOLUME = [2, 4, 5, 3]
ONES = {"strides": [1] * 4, "padding": "VALID"}


@pytest.mark.parametrize(
    ("op", "types", "shapes", "attrs", "text"),
    [
        ("Conv2DBackpropInput", "iff", [[4, 1], [2, 2, 2, 3], [2, 3, 2, 3]], ONES, "Shape must be rank 1 but is rank 2"),
        ("Conv2DBackpropFilter", "fif", [VOLUME, [4, 1], VOLUME], ONES, "Shape must be rank 1 but is rank 2"),
        ("DepthwiseConv2dNativeBackpropFilter", "fif", [VOLUME, [4, 1], VOLUME], ONES, "Shape must be rank 1 but is rank 2"),
        ("MirrorPadGrad", "fi", [[3, 6], [2]], {"mode": "REFLECT"}, "Shape must be rank 2 but is rank 1"),
        ("MirrorPadGrad", "fi", [[3, 6], [3, 2]], {"mode": "REFLECT"}, "Shape must be rank 3 but is rank 2"),
        (
            "MaxPoolGradGrad",
            "fff",
            [VOLUME, None, [2, 4, 5, 7]],
            {**ONES, "ksize": [1] * 4},
            "must be equal, but are 3 and 7",
        ),
    ],
)
def test_shapes_that_cannot_be_are_refused_when_built(op, types, shapes, attrs, text):
    with tf.Graph().as_default():
        given = [tf.placeholder({"f": tf.float32, "i": tf.int32}[t], s) for t, s in zip(types, shapes, strict=True)]
        with pytest.raises(ValueError, match=text):
            get_op(op)(*given, **attrs)


def test_a_second_gradient_of_pooling_has_the_pooled_shape():
    with tf.Graph().as_default():
        x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32, [2, 2, 2, 3])
        sizes = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1]}
        assert get_op("MaxPoolGradGrad")(x, y, x, padding="SAME", **sizes).shape.as_list() == [None] * 4
