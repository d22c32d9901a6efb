"""Rows of the ops that move blocks of space to the batch or the channels, and back; element by element."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError
from tfexp.ops.nn_dilated import with_space_to_batch
from tfexp.ops.space_batch import batch_to_space_nd, required_space_to_batch_paddings, space_to_batch_nd

KINDS = ["float32", "float64", "int32", "bool", "complex64", "string"]
PADS, CROPS = np.int32([[0, 2], [1, 1]]), np.int32([[1, 0], [0, 2]])


def space_to_batch(x, block, pads):
    """Each block's element (i, j) of all images, one after the other."""
    count = len(block)
    fill = b"" if x.dtype == object else 0
    padded = np.pad(x, [(0, 0), *map(tuple, pads), *[(0, 0)] * (x.ndim - 1 - count)], constant_values=fill)
    return np.concatenate(
        [
            padded[(slice(None), *[slice(o, None, b) for o, b in zip(offset, block, strict=True)])]
            for offset in np.ndindex(*block)
        ]
    )


def batch_to_space(x, block, crops):
    count, batch = len(block), len(x) // int(np.prod(block))
    full = np.zeros((batch, *[n * b for n, b in zip(x.shape[1:], block, strict=False)], *x.shape[count + 1 :]), x.dtype)
    for number, offset in enumerate(np.ndindex(*block)):
        places = (slice(None), *[slice(o, None, b) for o, b in zip(offset, block, strict=True)])
        full[places] = x[number * batch : (number + 1) * batch]
    kept = [slice(a, n - b) for (a, b), n in zip(crops, full.shape[1:], strict=False)]
    return full[(slice(None), *kept)]


def space_to_depth(x, size=2):
    parts = [x[:, i::size, j::size] for i in range(size) for j in range(size)]
    return np.concatenate(parts, -1)


def depth_to_space(x, size=2):
    n, rows, columns, depth = x.shape
    y = np.zeros((n, rows * size, columns * size, depth // size**2), x.dtype)
    for number, (i, j) in enumerate(np.ndindex(size, size)):
        y[:, i::size, j::size] = x[..., number * y.shape[-1] : (number + 1) * y.shape[-1]]
    return y


CASES = [
    OpCase(
        "SpaceToBatchND",
        [(2, 4, 7, 3), np.int32([2, 3]), PADS],
        space_to_batch,
        dtypes=KINDS,
        known_shapes=[1],
        errors=[
            Error(
                [(2, 5, 6, 3), np.int32([2, 3]), np.int32([[0, 0], [1, 2]])],
                ValueError,
                "Dimension size must be evenly divisible by 2 but is 5",
                constants=True,
            ),
            Error(
                [(2, 4), np.int32([2, 3]), PADS], ValueError, "Shape must be at least rank 3 but is rank 2", constants=True
            ),
            Error([(2, 4, 6, 3), np.int32([2, 3]), -PADS], ValueError, "paddings cannot be negative", constants=True),
            Error([(2, 4, 6, 3), np.int32([0, 3]), PADS], ValueError, "block_shape must be positive", constants=True),
            Error(
                [(2, 4, 6, 3), np.int32([2, 3]), np.int32([[0, 0, 0], [1, 2, 0]])],
                ValueError,
                "Dimension 1 in both shapes must be equal, but are 3 and 2",
            ),
            Error(
                [(2, 5, 6, 3), np.int32([2, 3]), np.int32([[0, 0], [1, 2]])],
                InvalidArgumentError,
                "padded_shape[0]=5 is not divisible by block_shape[0]=2",
            ),
            Error([(2, 4), np.int32([2, 3]), PADS], InvalidArgumentError, "input rank should be >= 3 instead of 2"),
        ],
    ),
    OpCase(
        "SpaceToBatchND",
        [(2, 6, 5), np.int64([3]), np.int64([[1, 2]])],
        space_to_batch,
        known_shapes=[1],
        label="one dimension",
    ),
    OpCase(
        "BatchToSpaceND",
        [(12, 2, 3, 5), np.int32([2, 3]), CROPS],
        batch_to_space,
        dtypes=KINDS,
        known_shapes=[1],
        errors=[
            Error(
                [(7, 2, 3, 5), np.int32([2, 3]), CROPS],
                InvalidArgumentError,
                "(7) is not divisible by product of block sizes (6)",
            ),
            Error(
                [(6, 1, 1, 3), np.int32([2, 3]), np.int32([[2, 1], [1, 1]])],
                ValueError,
                "Negative dimension size caused by subtracting 3 from 2",
                constants=True,
            ),
            Error([(6, 1, 1, 3), np.int32([2, 3]), -CROPS], ValueError, "crops cannot be negative", constants=True),
        ],
    ),
]
test_rows = op_tests(CASES)


def test_blocks_of_other_axes_stay() -> None:
    """`spatial_dims` need not be the first ones after the batch."""
    x = np.arange(2 * 3 * 5 * 4).reshape(2, 3, 5, 4).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(tf.float32, [None] * 4)
        for given in (tf.constant(x), fed):
            seen = []

            def op(t: tf.Tensor, count: int, padding: str, seen: list = seen) -> tf.Tensor:
                seen.append((count, padding))
                return t

            y = with_space_to_batch(given, [2], "VALID", op, spatial_dims=[2])
            np.testing.assert_array_equal(session.run(y, {fed: x}), x)
            assert seen == [(1, "VALID")]


def test_arguments() -> None:
    with tf.Graph().as_default():
        x = tf.zeros([2, 4, 6, 3])
        with pytest.raises(ValueError, match="dilation_rate must be positive"):
            with_space_to_batch(x, [0, 1], "VALID", lambda t, n, p: t)
        with pytest.raises(ValueError, match="must have rank at least 10"):
            with_space_to_batch(x, [2, 1], "VALID", lambda t, n, p: t, spatial_dims=[1, 9])
        with pytest.raises(ValueError, match="filter_shape must be specified"):
            with_space_to_batch(x, [2, 1], "SAME", lambda t, n, p: t)
        with pytest.raises(ValueError, match="Invalid padding method 'FOO'"):
            with_space_to_batch(x, [2, 1], "FOO", lambda t, n, p: t)
        paddings, crops = required_space_to_batch_paddings(np.zeros(0, np.int32), np.zeros(0, np.int32))
        assert paddings.shape.as_list() == crops.shape.as_list() == [0, 2]


@pytest.mark.parametrize("move", [space_to_batch_nd, batch_to_space_nd])
@pytest.mark.parametrize(
    ("block", "margins", "words"),
    [
        ([None], [2, 2], r"block_shape must have known size\."),
        (None, [2, 2], r"block_shape must have rank 1\."),
        ([2, 2], [2, 2], r"block_shape must have rank 1\."),
        ([4], [3, 2], "Shape must be at least rank 5 but is rank 4"),
    ],
)
def test_blocks_of_unknown_rank_are_refused_when_built(move, block, margins, words) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match=words):
        move(tf.placeholder(tf.float32, [8, 4, 6, 3]), tf.placeholder(tf.int32, block), tf.placeholder(tf.int32, margins))
