"""The rows of PeriodicResample and its gradient; the reference finds the origin of one element at a time."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError


def origin(place, result, original, axis):
    """The index of the value that comes to `place`; beyond the values where there is none."""
    found, shrunk, blocks = list(place), place[axis], 1
    for other, old in enumerate(original):
        if other != axis:
            factor = int(np.ceil(result[other] / old))
            found[other] = place[other] // factor
            shrunk += result[axis] * blocks * (place[other] % factor)
            blocks *= factor
    found[axis] = shrunk
    return tuple(found)


def resampled(values, shape):
    axis = shape.index(None)
    left = values.size // int(np.prod([size for size in shape if size is not None]))
    result = np.zeros([left if size is None else size for size in shape], values.dtype)
    for place in np.ndindex(result.shape):
        found = origin(place, result.shape, values.shape, axis)
        result[place] = values[found] if found[axis] < values.shape[axis] else 0
    return result


def gathered_back(grad, original_shape, desired_shape):
    axis = desired_shape.index(None)
    found = np.zeros(original_shape, grad.dtype)
    for place in np.ndindex(grad.shape):
        at = origin(place, grad.shape, original_shape, axis)
        if at[axis] < original_shape[axis]:
            found[at] += grad[place]
    return found


def row(shape, desired, label="", errors=()):
    return OpCase(
        "PeriodicResample", [shape], lambda x: resampled(x, desired), {"shape": desired}, errors=errors, label=label
    )


CASES = [
    row(
        (2, 3, 8),
        [5, 3, None],
        errors=[
            Error([(2, 3)], InvalidArgumentError, "the rank of the input tensor, 2, to be the same"),
            Error([(6, 3, 2)], InvalidArgumentError, "Dimension 0 input tensor has size 6, desired shape has size 5"),
            Error([(2, 3, 2)], InvalidArgumentError, "the adjustable dimension, 2, isn't greater than zero, 0"),
        ],
    ),
    row((6, 2), [None, 3], "more than there is"),
    row((3, 2, 5), [3, None, 5], "as it was"),
    OpCase(
        "PeriodicResampleOpGrad",
        [(5, 3, 3)],
        lambda grad: gathered_back(grad, (2, 3, 8), [5, 3, None]),
        {"original_shape": [2, 3, 8], "desired_shape": [5, 3, None]},
    ),
]
test_rows = op_tests(CASES)


def test_blocks_are_interleaved():
    with tf.Session() as session:
        made = tf.contrib.periodic_resample.periodic_resample(tf.reshape(tf.range(8), [2, 4]), [4, None])
        assert session.run(made).tolist() == [[0, 1], [2, 3], [4, 5], [6, 7]]
        assert made.shape.as_list() == [4, 2] and made.op.type == "PeriodicResample"


@pytest.mark.parametrize(("shape", "message"), [([4, 1], "at least one index"), ([None, None], "only one index")])
def test_one_dimension_shrinks(shape, message):
    with pytest.raises((InvalidArgumentError, ValueError), match=message), tf.Session() as session:
        session.run(tf.contrib.periodic_resample.periodic_resample(tf.ones([2, 1]), shape))
