"""RaggedTensorValues as arguments, and what has no elements or no rank."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.runtime.eager import eager_mode

value, stacked = tf.ragged.constant_value, tf.ragged.stack_dynamic_partitions


def as_list(result: Any) -> Any:
    return result.to_list() if hasattr(result, "to_list") else result.numpy().tolist()


@pytest.mark.parametrize(
    ("compute", "expected"),
    [
        (lambda: tf.where(value([[True], [False, True]]), value([[1], [2, 3]]), value([[4], [5, 6]])), [[1], [5, 3]]),
        (lambda: tf.where([True, False], value([[1], [2, 3]]), value([[4, 5], [6]])), [[1], [6]]),
        (lambda: tf.concat([value([[1], [2, 3]]), value([[4]])], 0), [[1], [2, 3], [4]]),
        (lambda: tf.abs(value([[-1], [2, -3]])), [[1], [2, 3]]),
        (
            lambda: tf.batch_gather(value([[[1, 2], [3]], [[4]]]), value([[[1], [0]], [[0]]], ragged_rank=1)),
            [[[2], [3]], [[4]]],
        ),
        (lambda: tf.gather_nd(value([[1, 2], [3]]), np.zeros([0], np.int32)), [[1, 2], [3]]),
        (lambda: tf.gather_nd(value([[1, 2], [3]]), np.zeros([2, 0], np.int32)), [[[1, 2], [3]]] * 2),
        (lambda: stacked(value([[1, 2], [3, 4]]), [[0, 1], [1, 0]], 2), [[1, 4], [2, 3]]),
        (lambda: stacked([[1, 2], [3, 4]], value([[0, 1], [1, 0]]), 2), [[1, 4], [2, 3]]),
        (lambda: stacked(5, 1, 2), [[], [5]]),
        (lambda: tf.ragged.boolean_mask(value([[1, 2]]), value([[0, 3]])), [[2]]),
        (lambda: tf.ragged.constant([[], [[]]], ragged_rank=1), [[], [[]]]),
        (lambda: tf.ragged.constant([[[], []]], tf.string, ragged_rank=1), [[[], []]]),
        (lambda: tf.RaggedTensor.from_tensor(tf.zeros([2, 3, 0])), [[[]] * 3] * 2),
        (lambda: tf.repeat(7, 3, axis=0), [7, 7, 7]),
    ],
)
def test_what_comes_out(compute: Any, expected: Any) -> None:
    with eager_mode():
        assert as_list(compute()) == expected


@pytest.mark.parametrize(
    ("compute", "error", "text"),
    [
        (lambda: tf.batch_gather(value([[1], [2]]), value([[0]])), ValueError, "Dimensions 2 and 1 are not compatible"),
        (lambda: tf.batch_gather([1, 2], value([[0]])), ValueError, "batch shape from indices does not match params shape"),
        (lambda: tf.gather_nd(["a"], value([[0]])), ValueError, "The innermost dimension of indices may not be ragged"),
        (lambda: tf.gather_nd(value([["a"]]), 0), ValueError, r"indices\.rank must be at least 1\."),
        (lambda: tf.where(value([[True]]), [[1]], value([[1]])), ValueError, r"Input shapes do not match\."),
        (
            lambda: tf.ragged.boolean_mask(value([[1, 2]]), tf.ragged.constant([[0, 0]])),
            ValueError,
            "requested dtype bool for RaggedTensor with dtype int32",
        ),
        (lambda: stacked([1, 2, 3], [0, 1], 2), ValueError, r"Shapes \(2,\) and \(3,\) are incompatible"),
        (lambda: stacked([1, 2], [0, 1], [2]), ValueError, r"Shape \(1,\) must have rank 0"),
        (
            lambda: stacked(value([[1, 2], [3]]), value([[0], [0, 1]]), 2),
            tf.errors.InvalidArgumentError,
            "data and partitions have incompatible ragged shapes",
        ),
        (lambda: stacked([1, 2], [0, -1], 2), tf.errors.InvalidArgumentError, "must be non-negative"),
        (lambda: stacked([1, 2], [0, 5], 2), tf.errors.InvalidArgumentError, "partitions must be less than num_partitions"),
    ],
)
def test_what_is_refused(compute: Any, error: type[Exception], text: str) -> None:
    with eager_mode(), pytest.raises(error, match=text):
        compute()
