"""Rows of the ops of k-means. What they draw is recorded from TensorFlow 2.21."""

from __future__ import annotations

import numpy as np

from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError

random = np.random.default_rng(5)
POINTS = random.uniform(0, 10, (11, 3)).astype(np.float32)
CENTERS = random.uniform(0, 10, (5, 3)).astype(np.float32)
GRID = np.float32([[i % 5, i // 5, i * i % 7] for i in range(20)])
SLOPE = np.float32([(i * 7 % 20) ** 6 / 20.0**6 for i in range(20)])


def nearest(points, centers, k):
    distances = ((points.astype(float)[:, None] - centers) ** 2).sum(-1)
    order = np.argsort(distances, axis=1)[:, :k]
    return order, np.take_along_axis(distances, order, 1).astype(np.float32)


def _refused(inputs, **texts: str) -> list[Error]:
    """An error for each input that has another rank: `texts` by its place."""
    errors = []
    for place, text in texts.items():
        given = list(inputs)
        number = int(place.removeprefix("at"))
        given[number] = np.asarray(given[number])[None] if np.ndim(given[number]) == 0 else given[number][0]
        errors.append(Error(given, InvalidArgumentError, text))
    return errors


PLUS_PLUS = [GRID, np.int64(4), np.int64(7), np.int64(2)]
CASES = [
    OpCase("NearestNeighbors", [POINTS, CENTERS, np.int64(1)], nearest, tolerance=1e-4, static_shape=[None, None]),
    OpCase(
        "NearestNeighbors",
        [POINTS, CENTERS, np.int64(3)],
        nearest,
        tolerance=1e-4,
        static_shape=[None, None],
        label="several",
        errors=[
            *_refused(
                [POINTS, CENTERS, np.int64(1)],
                at0="points should be a matrix",
                at1="centers should be a matrix",
                at2="k should be a scalar",
            ),
            Error([POINTS[:0], CENTERS, np.int64(1)], InvalidArgumentError, "Expected points.rows() > 0"),
            Error([POINTS, CENTERS, np.int64(-1)], InvalidArgumentError, "Expected k >= 0, but k is -1"),
            Error([POINTS, CENTERS[:, 1:], np.int64(1)], InvalidArgumentError, "center_dimensions: 3 vs 2"),
        ],
    ),
    OpCase(
        "NearestNeighbors", [POINTS, CENTERS, np.int64(9)], nearest, tolerance=1e-4, static_shape=[None, None], label="all"
    ),
    OpCase(
        "KmeansPlusPlusInitialization",
        PLUS_PLUS,
        np.float32([[2, 3, 2], [4, 0, 2], [2, 1, 0], [0, 3, 1]]),
        errors=[
            *_refused(
                PLUS_PLUS,
                at0="points should be a matrix",
                at1="num_to_sample should be a scalar",
                at2="seed should be a scalar",
                at3="num_retries_per_sample should be a scalar",
            ),
            Error([GRID, np.int64(0), *PLUS_PLUS[2:]], InvalidArgumentError, "Expected num_to_sample > 0"),
            Error([GRID, np.int64(21), *PLUS_PLUS[2:]], InvalidArgumentError, "num_to_sample <= points.rows(). 21 vs 20"),
        ],
    ),
    OpCase(
        "KmeansPlusPlusInitialization",
        [GRID, np.int64(5), np.int64(-3), np.int64(-1)],
        np.float32([[2, 3, 2], [3, 1, 1], [0, 2, 2], [2, 0, 4], [0, 0, 0]]),
        label="retries by the number of samples",
    ),
    OpCase(
        "KmeansPlusPlusInitialization",
        [np.ones((4, 2), np.float32), np.int64(3), np.int64(3), np.int64(2)],
        np.ones((3, 2), np.float32),
        label="points that are all the same",
    ),
    OpCase(
        "KMC2ChainInitialization",
        [SLOPE, np.int64(3)],
        np.int64(17),
        errors=[
            Error([SLOPE[None], np.int64(3)], InvalidArgumentError, "distances should be a vector"),
            Error([SLOPE, np.int64([3])], InvalidArgumentError, "seed should be a scalar"),
            Error([SLOPE[:0], np.int64(3)], InvalidArgumentError, "Expected distances_tensor.size() > 0"),
        ],
    ),
    OpCase("KMC2ChainInitialization", [SLOPE, np.int64(4)], np.int64(17), label="another seed"),
]
test_rows = op_tests(CASES)
