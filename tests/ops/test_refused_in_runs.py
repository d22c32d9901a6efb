"""What kernels say of values and shapes that only a run shows: the phrases that TensorFlow's own tests look for."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.core.errors import FailedPreconditionError, InvalidArgumentError
from tfexp.core.op import get_op
from tfexp.runtime.eager import eager_mode

# op, inputs, attrs, text
ROWS = [
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
    ("GatherV2", [np.ones((2, 3)), np.int32([0]), np.int32(2)], {}, "Shape must be at least rank 3 but is rank 2"),
    ("GatherV2", [np.ones((2, 3)), np.int32([0]), np.int32([0, 1])], {}, "axis must be scalar"),
    ("ListDiff", [np.ones((1, 1)), np.ones(1)], {}, "x should be a 1D vector"),
    ("MatrixDiag", [np.float32(1)], {}, "diagonal must be at least 1-dim, received shape: []"),
    ("MatrixDiagPart", [np.ones(3)], {}, "input must be at least 2-dim, received shape: [3]"),
    ("MatrixSetDiag", [np.float64(1), np.ones(1)], {}, "input must be at least 2-dim"),
    ("MatrixSetDiag", [np.ones((1, 1)), np.float64(1)], {}, "diagonal must be at least 1-dim"),
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


def test_cross_products_of_other_vectors():
    with tf.Graph().as_default(), tf.Session() as session:
        vectors = tf.placeholder(tf.float32)
        product = tf.cross(vectors, vectors)
        with pytest.raises(FailedPreconditionError, match="only defined for 3-element vectors"):
            session.run(product, {vectors: np.ones((2, 2))})


@pytest.mark.parametrize(
    ("build", "error", "text"),
    [
        (lambda: tf.concat([tf.zeros([]), tf.ones([])], 0), ValueError, "Can't concatenate scalars"),
        (lambda: tf.expand_dims([1, 2], [0, 1]), ValueError, "must be a tensor with a single value"),
        (lambda: tf.one_hot([1], -3), ValueError, "must be non-negative but is -3"),
        (lambda: get_op("Bincount")([1], -1, [0]), ValueError, r"size \(-1\) must be non-negative"),
        (lambda: get_op("Bucketize")([1], boundaries=["a"]), TypeError, "Expected float.*boundaries"),
        (lambda: get_op("Bucketize")([1], boundaries=0), TypeError, "Expected list.*boundaries"),
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
