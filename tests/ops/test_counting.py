"""Rows of bin counts, histograms, clipping to a range and sparse segment reductions."""

from __future__ import annotations

import numpy as np

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError
from tfexp.ops.clip import clip_by_value_op

I32 = np.int32
VALUES = I32([1, 1, 3, 2, 1, 7])
NEGATIVE = Error([I32([1, -1]), I32(3), I32([])], InvalidArgumentError, "Input arr must be non-negative!")


def counted(values, size, weights):
    result = np.zeros(int(size), weights.dtype)
    for i, v in enumerate(values.ravel()):
        if v < size:
            result[v] += weights.ravel()[i] if weights.size else 1
    return result


COUNTS = [
    OpCase("DenseBincount", [VALUES, I32(5), I32([])], counted, errors=[NEGATIVE]),
    OpCase("DenseBincount", [VALUES, I32(5), np.float32([0.5, 1, 2, 4, 8, 16])], counted, label="weights"),
    OpCase("DenseBincount", [VALUES, I32(5), (6,)], counted, label="drawn"),
    OpCase(
        "DenseBincount",
        [I32([[1, 1, 0], [2, 5, 2]]), I32(3), (2, 3)],
        lambda values, size, weights: np.stack([counted(v, size, w) for v, w in zip(values, weights, strict=True)]),
        label="drawn rows",
    ),
    OpCase("DenseBincount", [VALUES, I32(5), I32([])], I32([0, 1, 1, 1, 0]), {"binary_output": True}, label="binary"),
    OpCase(
        "DenseBincount",
        [I32([[1, 1, 0], [2, 5, 2]]), I32(3), I32([])],
        I32([[1, 2, 0], [0, 0, 2]]),
        label="matrix",
        errors=[
            Error([np.zeros((2, 3, 5), I32), I32(3), I32([])], ValueError, "Shape must be at most rank 2 but is rank 3")
        ],
    ),
    OpCase(
        "HistogramFixedWidth",
        [np.float32([-1.0, 0.0, 1.5, 2.0, 5.0, 15]), np.float32([0, 5]), I32(5)],
        I32([2, 1, 1, 0, 2]),
        errors=[
            Error(
                [(2,), np.float32([5, 5]), I32(5)], InvalidArgumentError, "should satisfy value_range[0] < value_range[1]"
            ),
            Error([(2,), np.float32([0, 5]), I32(0)], ValueError, "Requires nbins > 0: 0", constants=True),
        ],
    ),
    OpCase(
        "ClipByValue",
        [(2, 3), np.float32(-1), np.float32(1)],
        lambda x, low, high: np.where(x < low, low, np.where(x > high, high, x)),
        numeric=False,
    ),
    OpCase(
        "ClipByValue",
        [(2, 3), (2, 3), ()],
        lambda x, low, high: np.maximum(np.minimum(x, high), low),
        label="drawn",
        second=False,
        numeric=False,
        errors=[Error([(2, 3), (3,), ()], InvalidArgumentError, "same shape as input, or a scalar, got [2,3], [3], []")],
    ),
]


def sparse(divisor):
    def reference(data, indices, ids, count=None):
        n = int(ids[-1]) + 1 if count is None else int(count)
        result = np.zeros((n, *data.shape[1:]), data.dtype)
        for segment in range(n):
            rows = [data[i] for i, s in zip(indices, ids, strict=True) if s == segment]
            if rows:
                result[segment] = sum(rows) / divisor(len(rows))
        return result

    return reference


def sparse_gradient(divisor):
    def reference(grad, indices, ids, rows):
        result = np.zeros((int(rows), *grad.shape[1:]), grad.dtype)
        for i, segment in zip(indices, ids, strict=True):
            result[i] += grad[segment] / divisor(list(ids).count(segment))
        return result

    return reference


CHOSEN, IDS = I32([0, 3, 3, 1]), I32([0, 0, 2, 2])
BAD = [
    Error([(5, 3), I32([0, 2, 9]), I32([0, 0, 2])], InvalidArgumentError, "Bad: indices[2] == 9 out of range [0, 5)"),
    Error([(5, 3), I32([0, 2, 3]), I32([1, 0, 2])], InvalidArgumentError, "segment ids are not increasing"),
    Error([(5, 3), I32([0, 2]), I32([1, 0, 2])], InvalidArgumentError, "segment_ids and indices should have same size."),
]
FLOATS = ["float32", "float64"]
SPARSE = [
    case
    for kind, divisor in (("Sum", lambda n: 1), ("Mean", lambda n: n), ("SqrtN", np.sqrt))
    for case in (
        OpCase(
            f"SparseSegment{kind}",
            [(5, 3), CHOSEN, IDS],
            sparse(divisor),
            dtypes=FLOATS,
            static_shape=[[None, 3]],
            second=False,
            errors=BAD,
        ),
        OpCase(
            f"SparseSegment{kind}WithNumSegments",
            [(5, 3), CHOSEN, IDS, I32(5)],
            sparse(divisor),
            dtypes=FLOATS,
            second=False,
            errors=[Error([(5, 3), CHOSEN, IDS, I32(2)], InvalidArgumentError, "segment ids must be < num_segments")],
        ),
        OpCase(
            f"SparseSegment{kind}Grad", [(3, 2), CHOSEN, IDS, I32(5)], sparse_gradient(divisor), dtypes=FLOATS, gradient=()
        ),
    )
]
test_counts = op_tests(COUNTS)
test_sparse = op_tests(SPARSE)


def test_public_forms() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        run = session.run
        assert run(tf.bincount([1, 1, 3, 2, 1])).tolist() == [0, 3, 1, 1]
        assert run(tf.bincount([1, 1, 3, 2, 1], maxlength=2)).tolist() == [0, 3]
        assert run(tf.bincount([[1], [3]], minlength=6)).tolist() == [0, 1, 0, 1, 0, 0]
        assert run(tf.bincount([1, 3, 1], weights=[0.5, 2, 0.25])).tolist() == [0, 0.75, 0, 2]
        assert run(tf.bincount(np.zeros(0, I32))).tolist() == []
        assert run(tf.saturate_cast([-5.0, 300.0, 7.9], tf.uint8)).tolist() == [0, 255, 7]
        assert run(tf.saturate_cast([-500, 300, 7], tf.int8)).tolist() == [-128, 127, 7]
        rows = tf.sparse_segment_sum(np.eye(3), [0, 2], [0, 3], num_segments=5)
        assert run(rows).tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 1], [0, 0, 0]]


def test_gradient_of_clip_by_value_goes_to_what_was_chosen() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x, low, high = tf.constant([-3.0, 0.5, 9.0]), tf.constant(-1.0), tf.constant(1.0)
        node = tf.saturate_cast(x, tf.float16)
        assert node.op.inputs[0].op.type == "ClipByValue"
        grads = session.run(tf.gradients(clip_by_value_op(x, low, high), [x, low, high], [[2.0, 3.0, 5.0]]))
    assert [g.tolist() for g in grads] == [[0, 3, 0], 2, 5]
