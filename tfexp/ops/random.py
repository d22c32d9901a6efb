"""Random ops and the functions that build them: the same numbers as TensorFlow's for the same seeds.

A stateful op draws from one Philox stream for each node and session; the stream moves on from run to run. Which seeds
an op gets is decided in `graph.random_seed`, which numbers it makes of them in `philox` and `distributions`.
Gamma and Poisson are in `random_gamma`, ops without state in `random_stateless`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.kernel import KernelContext
from tfexp.core.op import define_op
from tfexp.core.shape import Dimension, InputShape, TensorShape, dims_text
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.random_seed import get_seed
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import distributions, philox
from tfexp.ops.elementwise_binary import add_v2, mul, sub
from tfexp.ops.philox import Array, Philox, PhiloxState
from tfexp.ops.shape_rules import with_rank

_UNIFORM_DTYPES = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64)


def stream_state(ctx: KernelContext, seed: int, seed2: int) -> PhiloxState:
    """The stream of the kernel's node, in the state in which earlier runs left it."""
    return stream_of(ctx.node_state, seed, seed2)


def stream_of(node_state: dict[str, Any], seed: int, seed2: int) -> PhiloxState:
    """The stream that a node remembers."""
    state: PhiloxState | None = node_state.get("philox")
    if state is None:
        # Of two threads in their first run both keep what the first one stored.
        state = node_state.setdefault("philox", PhiloxState(seed, seed2))
    return state


def draw(ctx: KernelContext, seed: int, seed2: int, values: int) -> Philox:
    """The stream from which a kernel of this node fills a tensor of so many values."""
    return stream_state(ctx, seed, seed2).take_for(values)


def checked_shape(shape: Array) -> tuple[tuple[int, ...], int]:
    """The dimensions that a shape input asks for, and their product. ValueError when they cannot be."""
    if shape.ndim != 1:
        raise ValueError(f"shape must be a vector of {{int32,int64}}, got shape {dims_text(shape.shape)}")
    dims = tuple(shape.tolist())
    for dim in dims:
        if dim < 0:
            raise ValueError(f"Dimension {dim} must be >= 0")
    size = 1
    for dim in dims:
        size *= dim
    if size >= 1 << 63:
        raise ValueError(f"Shape {dims_text(dims)} would have more than 2**63 - 1 elements")
    return dims, size


def described_shape(shape: InputShape) -> TensorShape:
    """What is known at construction of the shape that a shape input asks for."""
    with_rank(shape, 1)
    return shape.value_as_shape


def scalar_bounds(minval: InputShape, maxval: InputShape) -> None:
    """ValueError at construction for a bound of integers that is not a scalar."""
    for name, bound in (("minval", minval), ("maxval", maxval)):
        if bound.rank not in (None, 0):
            raise ValueError(f"{name} must be a scalar; got a tensor of shape {dims_text(bound.as_list())}")


def checked_bounds(minval: Array, maxval: Array) -> tuple[int, int]:
    """Bounds of integers; ValueError unless they are scalars with something between them."""
    for name, bound in (("minval", minval), ("maxval", maxval)):
        if np.ndim(bound):
            raise ValueError(f"{name} must be 0-D, got shape {dims_text(bound.shape)}")
    low, high = int(minval), int(maxval)
    if low >= high:
        raise ValueError(f"Need minval < maxval, got {low} >= {high}")
    return low, high


def checked_logits(logits: Array, num_samples: Array) -> int:
    """How many categories to draw from each row of logits; ValueError when that cannot be."""
    if np.ndim(logits) != 2:
        raise ValueError(f"logits should be a matrix, got shape {dims_text(np.shape(logits))}")
    if np.ndim(num_samples):
        raise ValueError(f"num_samples should be a scalar, got shape {dims_text(num_samples.shape)}")
    rows, classes = logits.shape
    samples = int(num_samples)
    if samples < 0:
        raise ValueError(f"num_samples should be nonnegative, got {samples}")
    if classes == 0 and rows:
        raise ValueError(f"num_classes should be positive, got {classes}")
    return samples


# --- ops -----------------------------------------------------------------------------------------------------------

random_uniform_op = define_op(
    "RandomUniform(shape: T) -> (output: dtype) {seed: int = 0; seed2: int = 0; "
    "dtype: type in [half,bfloat16,float,double]; T: type in [int32,int64]} #stateful"
)


@random_uniform_op.shape
def _(shape: InputShape) -> TensorShape:
    return described_shape(shape)


@random_uniform_op.kernel("CPU")
def _(ctx: KernelContext, shape: Array, *, seed: int, seed2: int, dtype: DType) -> Array:
    dims, size = checked_shape(shape)
    return philox.uniform(draw(ctx, seed, seed2, size), size, dtype.as_numpy_dtype).reshape(dims)


random_uniform_op.not_differentiable()


random_uniform_int_op = define_op(
    "RandomUniformInt(shape: T, minval: Tout, maxval: Tout) -> (output: Tout) {seed: int = 0; seed2: int = 0; "
    "Tout: type in [int32,int64]; T: type in [int32,int64]} #stateful"
)


@random_uniform_int_op.shape
def _(shape: InputShape, minval: InputShape, maxval: InputShape) -> TensorShape:
    scalar_bounds(minval, maxval)
    return described_shape(shape)


@random_uniform_int_op.kernel("CPU")
def _(ctx: KernelContext, shape: Array, minval: Array, maxval: Array, *, seed: int, seed2: int, Tout: DType) -> Array:
    dims, size = checked_shape(shape)
    if size == 0:
        return np.empty(dims, Tout.as_numpy_dtype)
    low, high = checked_bounds(minval, maxval)
    return philox.uniform_int(draw(ctx, seed, seed2, size), size, low, high, Tout.as_numpy_dtype).reshape(dims)


random_standard_normal_op = define_op(
    "RandomStandardNormal(shape: T) -> (output: dtype) {seed: int = 0; seed2: int = 0; "
    "dtype: type in [half,bfloat16,float,double]; T: type in [int32,int64]} #stateful"
)


@random_standard_normal_op.shape
def _(shape: InputShape) -> TensorShape:
    return described_shape(shape)


@random_standard_normal_op.kernel("CPU")
def _(ctx: KernelContext, shape: Array, *, seed: int, seed2: int, dtype: DType) -> Array:
    dims, size = checked_shape(shape)
    return distributions.standard_normal(draw(ctx, seed, seed2, size), size, dtype.as_numpy_dtype).reshape(dims)


random_standard_normal_op.not_differentiable()


truncated_normal_op = define_op(
    "TruncatedNormal(shape: T) -> (output: dtype) {seed: int = 0; seed2: int = 0; "
    "dtype: type in [half,bfloat16,float,double]; T: type in [int32,int64]} #stateful"
)


@truncated_normal_op.shape
def _(shape: InputShape) -> TensorShape:
    return described_shape(shape)


@truncated_normal_op.kernel("CPU")
def _(ctx: KernelContext, shape: Array, *, seed: int, seed2: int, dtype: DType) -> Array:
    dims, size = checked_shape(shape)
    return distributions.truncated_normal(draw(ctx, seed, seed2, size), size, dtype.as_numpy_dtype).reshape(dims)


truncated_normal_op.not_differentiable()


random_shuffle_op = define_op("RandomShuffle(value: T) -> (output: T) {seed: int = 0; seed2: int = 0; T: type} #stateful")


@random_shuffle_op.shape
def _(value: InputShape) -> TensorShape:
    return value


@random_shuffle_op.kernel("CPU")
def _(ctx: KernelContext, value: Array, *, seed: int, seed2: int) -> Array:
    if np.ndim(value) == 0 or len(value) < 2 or value.size == 0:
        return value.copy()
    stream = stream_state(ctx, seed, seed2).take(distributions.shuffle_blocks(len(value)))
    return value[distributions.shuffled_indices(stream, len(value))]


multinomial_op = define_op(
    "Multinomial(logits: T, num_samples: int32) -> (output: output_dtype) {seed: int = 0; seed2: int = 0; "
    "T: type in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]; "
    "output_dtype: type in [int32,int64] = int64} #stateful"
)


@multinomial_op.shape
def _(logits: InputShape, num_samples: InputShape) -> TensorShape:
    rows = with_rank(logits, 2)[0]
    with_rank(num_samples, 0)
    samples = num_samples.value
    if samples is not None and samples < 0:
        raise ValueError(f"Dimension size, given by scalar input 1, must be non-negative but is {samples}")
    return TensorShape([rows, None if samples is None else int(samples)])


@multinomial_op.kernel("CPU")
def _(ctx: KernelContext, logits: Array, num_samples: Array, *, seed: int, seed2: int, output_dtype: DType) -> Array:
    samples = checked_logits(logits, num_samples)
    stream = stream_state(ctx, seed, seed2).take(distributions.multinomial_blocks(len(logits), samples))
    return distributions.multinomial(stream, logits, samples, output_dtype.as_numpy_dtype)


multinomial_op.not_differentiable()


# --- functions -----------------------------------------------------------------------------------------------------


def random_uniform(
    shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32, seed: int | None = None, name: Any = None
) -> Tensor:
    """Numbers in [minval, maxval) of the shape; maxval is 1 unless given, and must be given for integers.

    Python's integers 0 and 1 as bounds cost no nodes. ValueError for another dtype. Source: `tf.random_uniform`.
    """
    dtype = dtypes.as_dtype(dtype)
    if dtype not in _UNIFORM_DTYPES:
        raise ValueError(f"Invalid dtype {dtype!r}")
    if maxval is None:
        if dtype.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        maxval = 1
    with name_scope(name, "random_uniform", [shape, minval, maxval]) as scope:
        shape = shape_tensor(shape)
        starts_at_zero = isinstance(minval, int) and minval == 0
        ends_at_one = isinstance(maxval, int) and maxval == 1
        if dtype.is_integer or not (starts_at_zero and ends_at_one):
            minval = convert_to_tensor(minval, dtype=dtype, name="min")
            maxval = convert_to_tensor(maxval, dtype=dtype, name="max")
        seed1, seed2 = get_seed(seed)
        if dtype.is_integer:
            integers: Tensor = random_uniform_int_op(shape, minval, maxval, seed=seed1, seed2=seed2, name=scope)
            return integers
        result: Tensor = random_uniform_op(shape, dtype=dtype, seed=seed1, seed2=seed2)
        if not starts_at_zero:
            scaled = mul(result, sub(maxval, minval, name="sub"), name="mul")
            result = add_v2(scaled, minval, name=scope)
        elif not ends_at_one:
            result = mul(result, maxval)
        return result


def random_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    seed: int | None = None,
    name: Any = None,
) -> Tensor:
    """Numbers from N(mean, stddev ** 2), which broadcast against the shape. Source: `tf.random_normal`."""
    with name_scope(name, "random_normal", [shape, mean, stddev]) as scope:
        return _scaled_normal(random_standard_normal_op, shape, mean, stddev, dtype, seed, scope)


def truncated_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    seed: int | None = None,
    name: Any = None,
) -> Tensor:
    """As `random_normal`, but nothing beyond two standard deviations from the mean. Source: `tf.truncated_normal`."""
    with name_scope(name, "truncated_normal", [shape, mean, stddev]) as scope:
        return _scaled_normal(truncated_normal_op, shape, mean, stddev, dtype, seed, scope)


def _scaled_normal(op: Any, shape: Any, mean: Any, stddev: Any, dtype: Any, seed: int | None, scope: str) -> Tensor:
    shape = shape_tensor(shape)
    mean = convert_to_tensor(mean, dtype=dtype, name="mean")
    stddev = convert_to_tensor(stddev, dtype=dtype, name="stddev")
    seed1, seed2 = get_seed(seed)
    unit = op(shape, dtype=dtype, seed=seed1, seed2=seed2)
    result: Tensor = add_v2(mul(unit, stddev, name="mul"), mean, name=scope)
    return result


def random_shuffle(value: Any, seed: int | None = None, name: Any = None) -> Tensor:
    """`value` with its rows (first dimension) in another order. Source: `tf.random_shuffle`."""
    seed1, seed2 = get_seed(seed)
    result: Tensor = random_shuffle_op(value, seed=seed1, seed2=seed2, name=name)
    return result


def multinomial(
    logits: Any, num_samples: Any, seed: int | None = None, name: Any = None, output_dtype: Any = None
) -> Tensor:
    """Categories drawn from unnormalised log probabilities [batch, classes]: [batch, num_samples], int64 unless told.

    Source: `tf.multinomial`.
    """
    with name_scope(name, "multinomial", [logits]):
        return _categories(logits, num_samples, output_dtype, seed)


def categorical(logits: Any, num_samples: Any, dtype: Any = None, seed: int | None = None, name: Any = None) -> Tensor:
    """`multinomial` under the name it has in `tf.random`. Source: `tf.random.categorical`."""
    with name_scope(name, "categorical", [logits]):
        return _categories(logits, num_samples, dtype, seed)


def _categories(logits: Any, num_samples: Any, dtype: Any, seed: int | None) -> Tensor:
    logits = convert_to_tensor(logits, name="logits")
    seed1, seed2 = get_seed(seed)
    result: Tensor = multinomial_op(logits, num_samples, seed=seed1, seed2=seed2, output_dtype=dtype)
    return result


def shape_tensor(shape: Any) -> Tensor:
    """The shape input of an op; Dimensions count as their values, and an empty list as int32."""
    if not isinstance(shape, (list, tuple)):
        return convert_to_tensor(shape, name="shape")
    values = [dim.value if isinstance(dim, Dimension) else dim for dim in shape]
    return convert_to_tensor(values, dtype=None if values else dtypes.int32, name="shape")
