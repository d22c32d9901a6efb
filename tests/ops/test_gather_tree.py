"""The row of GatherTree; the reference follows one beam at a time."""

from __future__ import annotations

import numpy as np

from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError

TIMES, BATCH, WIDTH, END = 7, 3, 5, 1
random = np.random.default_rng(2)
STEPS = random.integers(0, 17, (TIMES, BATCH, WIDTH)).astype(np.int32)
PARENTS = random.integers(0, WIDTH, (TIMES, BATCH, WIDTH)).astype(np.int32)
LENGTHS = np.int32([7, 0, 4])


def whole(steps, parents, lengths, end):
    beams = np.full(steps.shape, end, np.int32)
    for b, w in np.ndindex(steps.shape[1:]):
        at = w
        for t in reversed(range(min(len(steps), lengths[b]))):
            beams[t, b, w], at = steps[t, b, at], parents[t, b, at]
        for t in range(1, len(steps)):
            if beams[t - 1, b, w] == end:
                beams[t, b, w] = end
    return beams


CASES = [
    OpCase(
        "GatherTree",
        [STEPS, PARENTS, LENGTHS, np.int32(END)],
        whole,
        errors=[
            Error([STEPS, STEPS[0], LENGTHS, np.int32(1)], ValueError, "must be rank 3 but is rank 2"),
            Error([STEPS, PARENTS, LENGTHS[1:], np.int32(1)], ValueError, "must be equal, but are 3 and 2"),
            Error([STEPS, PARENTS[1:], LENGTHS, np.int32(1)], InvalidArgumentError, "but are [7,3,5] and [6,3,5]"),
            Error([STEPS, PARENTS, LENGTHS, LENGTHS], InvalidArgumentError, "end_token a scalar, but are [3] and [3]"),
            Error(
                [STEPS, PARENTS + WIDTH, LENGTHS, np.int32(1)],
                InvalidArgumentError,
                f"(batch, time, beam) == (0, 6, 0) is not in [0, {WIDTH})",
            ),
        ],
    ),
    OpCase("GatherTree", [STEPS, PARENTS, LENGTHS + 9, np.int32(-1)], whole, label="longer than there are steps"),
]
test_rows = op_tests(CASES)
