"""`tensorflow.python.ops.stateful_random_ops`: states of generators, as numbers. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.op import get_op
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.tensor import Tensor

SEED_TYPE = STATE_TYPE = ALGORITHM_TYPE = "int64"
SEED_TYPE_BITS = 64
SEED_MIN = MIN_INT64 = -(2**63)
SEED_MAX = MAX_INT64 = 2**63 - 1
SEED_UINT_SPAN = UINT64_SPAN = 2**64
SEED_BIT_MASK = 2**64 - 1
SEED_SIZE = 16
DEFAULT_ALGORITHM = RNG_ALG_PHILOX = 1
RNG_ALG_THREEFRY = 2
PHILOX_STATE_SIZE, THREEFRY_STATE_SIZE = 3, 2


def _uint_to_int(n: Any) -> Any:
    """The integer of 64 bits with a sign whose bits an unsigned one has; an array's and a tensor's as they are."""
    return n - UINT64_SPAN if isinstance(n, int) and n > SEED_MAX else n


def _convert_to_state_tensor(t: Any) -> Tensor:
    """int64: numbers without a sign become those of the same bits."""
    nested = [_uint_to_int(n) for n in t] if isinstance(t, list) else _uint_to_int(t)
    return convert_to_tensor(nested, dtypes.int64)


def non_deterministic_ints(shape: Any, dtype: Any = dtypes.int64) -> Tensor:
    """Integers that differ from run to run."""
    sizes = constant(np.asarray(shape, np.int64)) if isinstance(shape, (list, tuple)) else shape
    drawn: Tensor = get_op("NonDeterministicInts")(shape=sizes, dtype=dtype)
    return drawn
