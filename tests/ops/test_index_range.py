"""Which indices count as within a range."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tfexp.ops.index_range import are_within

TYPES = pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])


@TYPES
@pytest.mark.parametrize(
    ("indices", "within"),
    [([], True), ([0, 2], True), ([3], False), ([2, -1], False), ([[0, 2], [1, 3]], False), (2, True), (-3, False)],
)
def test_indices_within_three(dtype: Any, indices: Any, within: bool) -> None:
    assert are_within(np.array(indices, dtype), 3) is within


@TYPES
def test_other_layouts_and_larger_limits_than_the_type_has(dtype: Any) -> None:
    table = np.array([[0, 5], [1, 7]], dtype)
    assert are_within(table[:, 0], 2) and not are_within(table.T, 7)
    assert are_within(table, 1 << 40) and not are_within(-table, 1 << 40)
