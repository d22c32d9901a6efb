"""Random ops without state: the same seed gives the same numbers, always. Source: `tf.random.stateless_*`.

A pair of integers is hashed to a Philox key and counter. Graphs of TensorFlow 1.15 have one op that does both
(`StatelessRandomUniform`); here, as in TensorFlow 2's graphs, one op hashes and a second one draws (`...V2`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.op import Op, define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import distributions, philox
from tfexp.ops.elementwise_binary import add_v2, mul, sub
from tfexp.ops.philox import Array, Philox
from tfexp.ops.random import checked_bounds, checked_logits, checked_shape, described_shape, scalar_bounds, shape_tensor
from tfexp.ops.shape_rules import required_dim, with_rank

Fill = Callable[[Philox, int, Any], Array]

# The key of the stream that seeds are hashed with, part of TensorFlow's definition of these ops.
_HASH_KEY = 0x02461E293EC8F720

_PHILOX, _AUTO = 1, 3  # values of the `alg` input; 2 is ThreeFry
_WORD, _LONG = 1 << 32, 1 << 64

_INTEGERS = (dtypes.int32, dtypes.int64, dtypes.uint32, dtypes.uint64)
_UNIFORM_DTYPES = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, *_INTEGERS)


def hashed_stream(seed: Array) -> Philox:
    """The stream of a pair of seeds; ValueError for another shape."""
    if seed.shape != (2,):
        raise ValueError(f"seed must have shape [2], not {dims_text(seed.shape)}")
    low, high = (int(part) % _LONG for part in seed)
    w = Philox(_HASH_KEY, low | high << 64).words(4).tolist()
    return Philox(w[0] | w[1] * _WORD, (w[2] | w[3] * _WORD) << 64)


def _given_stream(key: Array, counter: Array, alg: Array) -> Philox:
    """The stream that a key [1] and a counter [2] describe; ValueError for what Philox does not have."""
    if np.ndim(alg):
        raise ValueError(f"algorithm must be of shape [], not {dims_text(np.shape(alg))}")
    if int(alg) not in (_PHILOX, _AUTO):
        raise ValueError(f"Unsupported algorithm id: {int(alg)}; tfexp has Philox (1), also when asked to choose (3)")
    if key.shape != (1,):
        raise ValueError(f"key must have shape [1], not {dims_text(key.shape)}")
    if counter.ndim != 1 or len(counter) < 2:
        raise ValueError(f"counter must be a vector with length at least 2; got shape: {dims_text(counter.shape)}")
    return Philox(int(key[0]), int(counter[0]) | int(counter[1]) << 64)


def _check_seed(seed: InputShape) -> None:
    length = with_rank(seed, 1).known_dims
    if length is not None:
        required_dim(length[0], 2)


# --- ops -------------------------------------------------------------------------------------------------------------

get_key_counter_op = define_op(
    "StatelessRandomGetKeyCounter(seed: Tseed) -> (key: uint64, counter: uint64) {Tseed: type in [int32,int64] = int64}"
)


@get_key_counter_op.shape
def _(seed: InputShape) -> list[TensorShape]:
    _check_seed(seed)
    return [TensorShape([1]), TensorShape([2])]


@get_key_counter_op.kernel("CPU")
def _(ctx: Any, seed: Array) -> list[Array]:
    stream = hashed_stream(seed)
    return [np.array([stream.key], np.uint64), np.array([stream.counter % _LONG, stream.counter >> 64], np.uint64)]


def _draws(fill: Fill, by_seed: Op, by_key: Op) -> None:
    """Attach the rules of a distribution that has no inputs but the shape, to its two ops."""

    @by_seed.shape
    def _(shape: InputShape, seed: InputShape) -> TensorShape:
        _check_seed(seed)
        return described_shape(shape)

    @by_seed.kernel("CPU")
    def _(ctx: Any, shape: Array, seed: Array, *, dtype: DType) -> Array:
        dims, size = checked_shape(shape)
        return fill(hashed_stream(seed), size, dtype.as_numpy_dtype).reshape(dims)

    @by_key.shape
    def _(shape: InputShape, key: InputShape, counter: InputShape, alg: InputShape) -> TensorShape:
        return described_shape(shape)

    @by_key.kernel("CPU")
    def _(ctx: Any, shape: Array, key: Array, counter: Array, alg: Array, *, dtype: DType) -> Array:
        dims, size = checked_shape(shape)
        return fill(_given_stream(key, counter, alg), size, dtype.as_numpy_dtype).reshape(dims)

    by_seed.not_differentiable()
    by_key.not_differentiable()


uniform_op = define_op(
    "StatelessRandomUniformV2(shape: Tshape, key: uint64, counter: uint64, alg: int32) -> (output: dtype) "
    "{dtype: type in [half,bfloat16,float,double] = float; Tshape: type in [int32,int64] = int32}"
)
_draws(
    philox.uniform,
    define_op(
        "StatelessRandomUniform(shape: T, seed: Tseed) -> (output: dtype) {dtype: type in [half,bfloat16,float,double] = "
        "float; T: type in [int32,int64] = int32; Tseed: type in [int32,int64] = int64}"
    ),
    uniform_op,
)

normal_op = define_op(
    "StatelessRandomNormalV2(shape: Tshape, key: uint64, counter: uint64, alg: int32) -> (output: dtype) "
    "{dtype: type in [half,bfloat16,float,double] = float; Tshape: type in [int32,int64] = int32}"
)
_draws(
    distributions.standard_normal,
    define_op(
        "StatelessRandomNormal(shape: T, seed: Tseed) -> (output: dtype) {dtype: type in [half,bfloat16,float,double] = "
        "float; T: type in [int32,int64] = int32; Tseed: type in [int32,int64] = int64}"
    ),
    normal_op,
)


full_int_op = define_op(
    "StatelessRandomUniformFullIntV2(shape: Tshape, key: uint64, counter: uint64, alg: int32) -> (output: dtype) "
    "{dtype: type in [int32,int64,uint32,uint64] = uint64; Tshape: type in [int32,int64] = int32}"
)
_draws(
    philox.uniform_full_int,
    define_op(
        "StatelessRandomUniformFullInt(shape: T, seed: Tseed) -> (output: dtype) {dtype: type in "
        "[int32,int64,uint32,uint64] = uint64; T: type in [int32,int64] = int32; Tseed: type in "
        "[int32,int64,uint32,uint64] = int64}"
    ),
    full_int_op,
)


uniform_int_op = define_op(
    "StatelessRandomUniformIntV2(shape: Tshape, key: uint64, counter: uint64, alg: int32, minval: dtype, maxval: dtype) -> "
    "(output: dtype) {dtype: type in [int32,int64,uint32,uint64]; Tshape: type in [int32,int64] = int32}"
).not_differentiable()


@uniform_int_op.shape
def _(
    shape: InputShape, key: InputShape, counter: InputShape, alg: InputShape, minval: InputShape, maxval: InputShape
) -> TensorShape:
    scalar_bounds(minval, maxval)
    return described_shape(shape)


@uniform_int_op.kernel("CPU")
def _(
    ctx: Any, shape: Array, key: Array, counter: Array, alg: Array, minval: Array, maxval: Array, *, dtype: DType
) -> Array:
    return _integers(_given_stream(key, counter, alg), shape, minval, maxval, dtype)


def _integers(stream: Philox, shape: Array, minval: Array, maxval: Array, dtype: DType) -> Array:
    dims, size = checked_shape(shape)
    low, high = checked_bounds(minval, maxval)
    return philox.uniform_int(stream, size, low, high, dtype.as_numpy_dtype).reshape(dims)


multinomial_op = define_op(
    "StatelessMultinomial(logits: T, num_samples: int32, seed: Tseed) -> (output: output_dtype) {T: type in "
    "[float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]; Tseed: type in [int32,int64] = int64; "
    "output_dtype: type in [int32,int64] = int64}"
).not_differentiable()


@multinomial_op.shape
def _(logits: InputShape, num_samples: InputShape, seed: InputShape) -> TensorShape:
    _check_seed(seed)
    with_rank(num_samples, 0)
    samples = num_samples.value
    return TensorShape([with_rank(logits, 2)[0], None if samples is None else int(samples)])


@multinomial_op.kernel("CPU")
def _(ctx: Any, logits: Array, num_samples: Array, seed: Array, *, output_dtype: DType) -> Array:
    samples = checked_logits(logits, num_samples)
    return distributions.multinomial(hashed_stream(seed), logits, samples, output_dtype.as_numpy_dtype)


# --- functions -------------------------------------------------------------------------------------------------------


def stateless_uniform(
    shape: Any, seed: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32, name: str | None = None
) -> Tensor:
    """Numbers in [minval, maxval), maxval 1 unless given; integers need both bounds, or None for both: every value.

    seed: two integers. ValueError for another dtype, for one bound of integers, and for bounds of unsigned ones.
    """
    dtype = dtypes.as_dtype(dtype)
    if dtype not in _UNIFORM_DTYPES:
        raise ValueError(f"Invalid dtype {dtype!r}")
    if dtype.is_integer:
        if (minval is None) != (maxval is None):
            raise ValueError(
                f"For integer `dtype` argument {dtype}, argument `minval` and `maxval` must be both None or not None. "
                f"Got `minval`={minval} and `maxval`={maxval}."
            )
        if minval is not None and dtype in (dtypes.uint32, dtypes.uint64):
            raise ValueError(
                f"Argument `dtype` got invalid value {dtype} when argument `minval` is not None. Please don't use unsigned "
                "integers in this case."
            )
    elif maxval is None:
        maxval = 1
    with name_scope(name, "stateless_random_uniform", [shape, seed, minval, maxval]) as scope:
        shape = shape_tensor(shape)
        if dtype.is_integer and minval is None:
            key, counter = get_key_counter_op(seed)
            alg = convert_to_tensor(_AUTO, name="alg")
            every: Tensor = full_int_op(shape, key, counter, alg, dtype=dtype, name=scope)
            return every
        minval = convert_to_tensor(minval, dtype=dtype, name="min")
        maxval = convert_to_tensor(maxval, dtype=dtype, name="max")
        key, counter = get_key_counter_op(seed)
        if dtype.is_integer:
            alg = convert_to_tensor(_AUTO, name="alg")
            integers: Tensor = uniform_int_op(shape, key, counter, alg, minval, maxval, name=scope)
            return integers
        unit = uniform_op(shape, key, counter, _AUTO, dtype=dtype)
        result: Tensor = add_v2(mul(unit, sub(maxval, minval, name="sub"), name="mul"), minval, name=scope)
        return result


def stateless_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Numbers from N(mean, stddev ** 2). seed: two integers."""
    with name_scope(name, "stateless_random_normal", [shape, seed, mean, stddev]) as scope:
        return _scaled_normal(normal_op, shape, seed, mean, stddev, dtype, scope)


def _scaled_normal(op: Op, shape: Any, seed: Any, mean: Any, stddev: Any, dtype: Any, scope: str) -> Tensor:
    shape = shape_tensor(shape)
    mean = convert_to_tensor(mean, dtype=dtype, name="mean")
    stddev = convert_to_tensor(stddev, dtype=dtype, name="stddev")
    key, counter = get_key_counter_op(seed)
    unit = op(shape, key, counter, _AUTO, dtype=dtype)
    result: Tensor = add_v2(mul(unit, stddev, name="mul"), mean, name=scope)
    return result


def stateless_multinomial(
    logits: Any, num_samples: Any, seed: Any, output_dtype: Any = dtypes.int64, name: str | None = None
) -> Tensor:
    """Categories drawn from unnormalised log probabilities [batch, classes]: [batch, num_samples]."""
    with name_scope(name, "stateless_multinomial", [logits, seed]):
        return _categories(logits, num_samples, seed, output_dtype)


def _categories(logits: Any, num_samples: Any, seed: Any, dtype: Any) -> Tensor:
    logits = convert_to_tensor(logits, name="logits")
    result: Tensor = multinomial_op(logits, num_samples, seed, output_dtype=dtype)
    return result
