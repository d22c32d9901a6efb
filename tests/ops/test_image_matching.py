"""The rows of BipartiteMatch and ImageConnectedComponents; the references go pair by pair, and pixel by pixel."""

from __future__ import annotations

from functools import partial

import numpy as np

from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError

random = np.random.default_rng(5)
DISTANCES = random.random((7, 5)).astype(np.float32)


def nearest_pairs(distances, valid, top_k=-1):
    rows, columns = distances.shape
    of_row, of_column = np.full(rows, -1, np.int32), np.full(columns, -1, np.int32)
    pairs = sorted((distances[r, c], r, c) for r in range(rows if valid < 0 else int(valid)) for c in range(columns))
    left = top_k if top_k > 0 else rows
    for _, r, c in pairs:
        if left and of_row[r] < 0 and of_column[c] < 0:
            of_row[r], of_column[c], left = c, r, left - 1
    return of_row, of_column


def areas(images):
    found = np.zeros(images.shape, np.int64)
    for b, r, c in np.ndindex(images.shape):
        if found[b, r, c] or not images[b, r, c]:
            continue
        reached, number = [(r, c)], 1 + int(np.ravel_multi_index((b, r, c), images.shape))
        while reached:
            y, x = reached.pop()
            inside = 0 <= y < images.shape[1] and 0 <= x < images.shape[2]
            if inside and not found[b, y, x] and images[b, y, x] == images[b, r, c]:
                found[b, y, x] = number
                reached += [(y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)]
    return found


VALID = np.float32(-1)
IMAGES = random.integers(0, 3, (2, 11, 13))

CASES = [
    OpCase(
        "BipartiteMatch",
        [DISTANCES, VALID],
        nearest_pairs,
        errors=[
            Error([DISTANCES[0], VALID], ValueError, "must be rank 2 but is rank 1"),
            Error([DISTANCES, np.float32([1, 2])], InvalidArgumentError, "a tensor with 1 element, but got 2"),
            Error([DISTANCES, np.float32(8)], InvalidArgumentError, "at least 8 rows in distance_mat, but only got 7"),
            Error([DISTANCES[:0], VALID], InvalidArgumentError, "at least 1 rows in distance_mat, but only got 0"),
        ],
    ),
    OpCase(
        "BipartiteMatch", [DISTANCES, np.float32(3)], partial(nearest_pairs, top_k=2), {"top_k": 2}, label="two of three"
    ),
    OpCase("BipartiteMatch", [DISTANCES[:, :0], VALID], nearest_pairs, label="no columns"),
    OpCase(
        "ImageConnectedComponents",
        [IMAGES],
        areas,
        errors=[Error([IMAGES[0]], ValueError, "must be rank 3 but is rank 2")],
    ),
    *(
        OpCase("ImageConnectedComponents", [IMAGES.astype(dtype)], areas, label=np.dtype(dtype).name)
        for dtype in (np.bool_, np.float16, np.uint16)
    ),
    OpCase("ImageConnectedComponents", [np.full((1, 2, 3), b"a", object)], areas, label="texts"),
    OpCase("ImageConnectedComponents", [IMAGES[:, :0]], areas, label="empty"),
]
test_rows = op_tests(CASES)
