"""Normal numbers cut off at bounds of one's own: `parameterized_truncated_normal` of TF 1.15's `random_ops`.

Proposals are rejected as TensorFlow's kernel rejects them, so that a seed gives its numbers. Where the bounds leave most
of the normals, these are proposed; else uniform numbers, or the exponential tail beyond the lower bound, whichever is
accepted more often. Robert: "Simulation of truncated normal variables" (Statistics and Computing 5, 1995).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.errors import invalid
from tfexp.core.kernel import KernelContext
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.random_seed import get_seed
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.distributions import normal_from_words
from tfexp.ops.philox import Array, Philox, Words, uniform_from_words
from tfexp.ops.random import checked_shape, described_shape, stream_state

parameterized_truncated_normal_op = define_op(
    "ParameterizedTruncatedNormal(shape: T, means: dtype, stdevs: dtype, minvals: dtype, maxvals: dtype) -> (output: dtype) "
    "{seed: int = 0; seed2: int = 0; dtype: type in [half,bfloat16,float,double]; T: type in [int32,int64]} #stateful"
).not_differentiable()


@parameterized_truncated_normal_op.shape
def _(shape: InputShape, means: InputShape, stdevs: InputShape, minvals: InputShape, maxvals: InputShape) -> TensorShape:
    return described_shape(shape)


@parameterized_truncated_normal_op.kernel("CPU")
def _(
    ctx: KernelContext,
    shape: Array,
    means: Array,
    stdevs: Array,
    minvals: Array,
    maxvals: Array,
    *,
    seed: int,
    seed2: int,
    dtype: DType,
) -> Array:
    dims, size = checked_shape(shape)
    parameters = [means, stdevs, minvals, maxvals]
    if all(one.size == 1 for one in parameters):
        runs, each = -(-size // _RUN), _RUN
    else:
        runs, each = dims[0], size // max(dims[0], 1)
        for name, one in zip(("means", "stdevs", "minvals", "maxvals"), parameters, strict=True):
            if one.size not in (1, runs):
                raise invalid(f"Input {name} should have length 1 or shape[0], got shape: {dims_text(one.shape)}")
    out: Array = np.empty(size, dtype.as_numpy_dtype)
    stream = stream_state(ctx, seed, seed2).take(runs * 2 * _MOST_DRAWS * (each + 3) // 4)
    # How many draws a run takes is known once it has ended, and the next one goes on from there.
    for number, bounds in enumerate(zip(*[np.broadcast_to(one.reshape(-1), (runs,)) for one in parameters], strict=True)):
        part = out[number * each : (number + 1) * each]
        stream = _fill(part, stream, *bounds)
    return out.reshape(dims)


# Numbers of the same bounds are drawn so many at a time.
_RUN = 100
# So many a number are set aside in the stream.
_MOST_DRAWS = 1000
# Normals are proposed where the bounds leave them this many deviations on one side, and the mean between them.
_WIDE = 1.3


def _fill(out: Array, stream: Philox, mean: Any, stdev: Any, low: Any, high: Any) -> Philox:
    """Numbers of one distribution; returns the stream behind what they took."""
    if not (stdev > 0 and low < high and (np.isfinite(low) or np.isfinite(high)) and np.isfinite(mean)):
        raise invalid("Invalid parameters: stdevs must be positive, and minvals below maxvals")
    if np.isinf(low) or high < mean:
        low, high, stdev = high, low, -stdev  # above the mean by symmetry
    low, high = (low - mean) / stdev, (high - mean) / stdev
    blocks, propose = _proposals(low, high, out.dtype)
    done = 0
    while done < len(out):
        missing = len(out) - done
        values, accepted = propose(stream.blocks(blocks * (missing // 2 + 1)))
        per_draw = values.shape[1]
        places = np.flatnonzero(accepted)[:missing]
        out[done : done + len(places)] = values.reshape(-1)[places] * stdev + mean
        done += len(places)
        draws = len(values) if done < len(out) else places[-1] // per_draw + 1
        stream = stream.skip(blocks * int(draws))
    return stream


def _proposals(low: Any, high: Any, dtype: Any) -> tuple[int, Callable[[Words], tuple[Array, Array]]]:
    """How many blocks a draw takes; and what makes blocks into values, a row for each draw, and which are accepted."""
    one, half = dtype.type(1), dtype.type(0.5)

    def normals(words: Words) -> tuple[Array, Array]:
        values = normal_from_words(words, dtype)
        return values, (values >= low) & (values <= high)

    def uniforms(words: Words) -> tuple[Array, Array]:
        values = uniform_from_words(words[0::2], dtype) * (high - low) + low
        nearest = low * low if low > 0 else low * 0
        return values, uniform_from_words(words[1::2], dtype) <= np.exp((nearest - values * values) * half)

    rate = (low + np.sqrt(low * low + 4 * one)) * half

    def exponentials(words: Words) -> tuple[Array, Array]:
        numbers = uniform_from_words(words, dtype)
        with np.errstate(divide="ignore"):  # a zero asks for infinity, which is no number below `high`
            values = -np.log(numbers[:, 0::2]) / rate + low
        away = rate - values if low < rate else low - rate
        return values, (numbers[:, 1::2] <= np.exp(-away * away * half)) & (values < high)

    if (low < -_WIDE and high >= 0) or (high > _WIDE and low <= 0):
        return 1, normals
    root = math.sqrt(float(low) ** 2 + 4)
    widest = 2 * math.exp(0.5 + float(low) * (float(low) - root) / 4) / (float(low) + root)
    return (2, uniforms) if high - low < widest else (1, exponentials)


def parameterized_truncated_normal(
    shape: Any,
    means: Any = 0.0,
    stddevs: Any = 1.0,
    minvals: Any = -2.0,
    maxvals: Any = 2.0,
    dtype: Any = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Normal numbers between `minvals` and `maxvals`, in `shape` [batches, ...]; parameters are scalars or one a batch.

    InvalidArgumentError in the run for bounds in the wrong order and for deviations that are not positive.
    """
    with name_scope(name, "parameterized_truncated_normal", [shape, means, stddevs, minvals, maxvals]) as scope:
        names = ("means", "stddevs", "minvals", "maxvals")
        given = [convert_to_tensor(x, dtype, name=n) for n, x in zip(names, (means, stddevs, minvals, maxvals), strict=True)]
        first, second = get_seed(seed)
        values: Tensor = parameterized_truncated_normal_op(
            convert_to_tensor(shape, dtypes.int32, name="shape"), *given, seed=first, seed2=second, name=scope
        )
        return values
