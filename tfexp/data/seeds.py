"""The seeds of data sets that draw at random."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.random_seed import get_seed
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_mask import where_v2
from tfexp.ops.comparison import equal
from tfexp.ops.logical import logical_and


def seed_tensors(seed: Any) -> tuple[Tensor, Tensor]:
    """The two seeds of a dataset node; (0, 0) stands for "at random", so that this pair is given as another one."""
    first, second = get_seed(seed)
    one = convert_to_tensor(0 if first is None else first, dtype=dtypes.int64, name="seed")
    if second is None:
        return one, constant(0, dtype=dtypes.int64, name="seed2")
    with name_scope("seed2") as scope:
        two = convert_to_tensor(second, dtype=dtypes.int64)
        both = logical_and(
            equal(one, constant(0, dtype=dtypes.int64, name="Equal/y")),
            equal(two, constant(0, dtype=dtypes.int64, name="Equal_1/y")),
        )
        return one, where_v2(both, constant(2**31 - 1, dtype=dtypes.int64), two, name=scope)
