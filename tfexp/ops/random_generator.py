"""`tf.random.experimental.Generator`: random numbers whose stream is the value of a variable. TF 1.15.

The state of Philox is int64 [3]: the lower and the upper half of the counter, and the key. What fills n values moves the
counter on by 256 n blocks, as every kernel with a state does. The graphs are those of TensorFlow 2: one op reads the state
and moves it on, and a stateless op draws.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.kernel import Ref
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import get_default_graph, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import philox, random_stateless, rejection, state
from tfexp.ops.array import bitcast, reshape
from tfexp.ops.array_fill import zeros, zeros_like
from tfexp.ops.array_join import concat, stack
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_binary import add_v2, maximum, mul, sub
from tfexp.ops.philox import RESERVED_PER_VALUE, Philox
from tfexp.ops.random import checked_shape, described_shape, shape_tensor
from tfexp.ops.random_gamma import rounded_to
from tfexp.ops.reduce import reduce_prod
from tfexp.ops.resource_state import variable_op
from tfexp.ops.shape_rules import with_rank
from tfexp.ops.variables import Variable

_PHILOX = 1
_STATE_SIZE = 3
_NAMES = {"philox": _PHILOX, _PHILOX: _PHILOX}
_COLLECTION = "__random_generator"

# --- ops --------------------------------------------------------------------------------------------------------------

read_and_skip_op = variable_op("RngReadAndSkip(resource: resource, alg: int32, delta: uint64) -> (value: int64) #stateful")


@read_and_skip_op.shape
def _(resource: InputShape, alg: InputShape, delta: InputShape) -> TensorShape:
    for scalar in (resource, alg, delta):
        with_rank(scalar, 0)
    if alg.value is not None and int(alg.value) != _PHILOX:
        raise ValueError(_unsupported(alg.value))
    return TensorShape([_STATE_SIZE])


@read_and_skip_op.kernel("CPU")
def _(ctx: Any, resource: Ref, alg: Any, delta: Any) -> np.ndarray:
    return taken(resource, alg, int(delta))


def taken(resource: Ref, alg: Any, values: int) -> np.ndarray:
    """The state of a variable, which moves on by so many values. ValueError where it is none of Philox."""
    if int(alg) != _PHILOX:
        raise ValueError(_unsupported(alg))
    before = state.buffer_of(resource).copy()
    if before.shape != (_STATE_SIZE,):
        raise ValueError(f"The state of Philox has {_STATE_SIZE} elements, but {resource.name} has the shape {before.shape}")
    resource.assign(_moved_on(before, values))
    return before


def _moved_on(before: np.ndarray, values: int) -> np.ndarray:
    """The state when so many values have been drawn; the counter has 128 bits."""
    low, high, key = (int(part) for part in before.view(np.uint64))
    counter = low + (high << 64) + values * RESERVED_PER_VALUE
    halves = [counter & (1 << 64) - 1, counter >> 64 & (1 << 64) - 1]
    return np.array([*halves, key], np.uint64).view(np.int64)


binomial_op = variable_op(
    "StatefulRandomBinomial(resource: resource, algorithm: int64, shape: S, counts: T, probs: T) -> (output: dtype) "
    "{S: type in [int32,int64]; T: type in [half,float,double,int32,int64] = double; dtype: type in "
    "[half,float,double,int32,int64] = int64} #stateful"
)


@binomial_op.shape
def _(resource: InputShape, algorithm: InputShape, shape: InputShape, counts: InputShape, probs: InputShape) -> TensorShape:
    return described_shape(shape)


@binomial_op.kernel("CPU")
def _(
    ctx: Any, resource: Ref, algorithm: np.ndarray, shape: np.ndarray, counts: np.ndarray, probs: np.ndarray, *, dtype: DType
) -> np.ndarray:
    dims, size = checked_shape(shape)
    low, high, key = taken(resource, algorithm, size).view(np.uint64)
    rows = dims[0] if dims else 1
    for name, values in (("counts", counts), ("probs", probs)):
        if np.ndim(values) > 1 or np.size(values) not in (1, rows):
            raise ValueError(f"Input {name} should have length 1 or shape[0] = {rows}, got shape: {list(np.shape(values))}")
    stream = Philox(int(key), int(low) + (int(high) << 64))
    drawn = rejection.binomial(stream, size // max(rows, 1), *(np.broadcast_to(np.ravel(v), rows) for v in (counts, probs)))
    return rounded_to(drawn.T, dtype).reshape(dims)


non_deterministic_ints_op = define_op(
    "NonDeterministicInts(shape: shape_dtype) -> (output: dtype) {dtype: type = int64; shape_dtype: type = int64} #stateful"
)


@non_deterministic_ints_op.shape
def _(shape: InputShape) -> TensorShape:
    return described_shape(shape)


@non_deterministic_ints_op.kernel("CPU")
def _(ctx: Any, shape: np.ndarray, *, dtype: DType) -> np.ndarray:
    dims, size = checked_shape(shape)
    kind = np.dtype(dtype.as_numpy_dtype)
    return np.frombuffer(philox.system_bytes(size * kind.itemsize), kind).reshape(dims).copy()


def _unsupported(alg: Any) -> str:
    return f"Unsupported algorithm {alg}; tfexp has 'philox' (1)"


def _algorithm(alg: Any) -> int:
    """The algorithm's number. ValueError for another one than Philox."""
    number = _NAMES.get(alg if isinstance(alg, str) else int(alg))
    if number is None:
        raise ValueError(_unsupported(repr(alg)))
    return number


# --- states -----------------------------------------------------------------------------------------------------------


def create_rng_state(seed: Any, algorithm: Any) -> Tensor:
    """int64 [3]: the state that a seed stands for, an integer (of 192 bits), or up to three of 64, zeros before them.

    ValueError for another algorithm than Philox. Source: `tf.random.experimental.create_rng_state`.
    """
    _algorithm(algorithm)
    if isinstance(seed, int):
        words = [seed >> 64 * i & (1 << 64) - 1 for i in range(_STATE_SIZE)]
        seed = [word - (1 << 64) if word >> 63 else word for word in words]
    parts: Any = reshape(cast(seed, dtypes.int64), [-1])
    given = parts[0:_STATE_SIZE]
    missing = maximum(0, _STATE_SIZE - (parts.shape[0].value or 0))
    return concat([zeros([missing], dtypes.int64), given], axis=0)


class Generator:
    """Random numbers from a variable of its own, of which each run of each op takes the next.

    By `state` and `alg`, or with the state of another one (`copy_from`). Its variable is initialized like any other, and
    saved like any other. Source: `tf.random.experimental.Generator`.
    """

    def __init__(self, copy_from: Generator | None = None, state: Any = None, alg: Any = None):
        if copy_from is not None:
            if state is not None or alg is not None:
                raise ValueError("A Generator is either a copy or made from a state and an algorithm, not both")
            state, alg = copy_from.state.read_value(), copy_from.algorithm
        if state is None or alg is None:
            raise ValueError("A Generator needs a state and an algorithm: see from_seed and from_non_deterministic_state")
        self._alg = _algorithm(alg)
        if not isinstance(state, Tensor):
            state = cast(state, dtypes.int64)
        state.shape.assert_is_compatible_with(TensorShape([_STATE_SIZE]))
        with name_scope("random_generator"):
            self._state_var: Any = Variable(state, dtype=dtypes.int64, trainable=False, use_resource=True, name="StateVar")

    @classmethod
    def from_state(cls, state: Any, alg: Any) -> Generator:
        return cls(state=state, alg=alg)

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> Generator:
        """From what `create_rng_state` makes of a seed."""
        alg = _PHILOX if alg is None else alg
        return cls(state=create_rng_state(seed, alg), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """From a state that the system draws when the variable is initialized."""
        drawn = non_deterministic_ints_op(convert_to_tensor([_STATE_SIZE], dtypes.int32, name="shape"), dtype=dtypes.int64)
        return cls(state=drawn, alg=_PHILOX if alg is None else alg)

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: Any) -> Generator:
        """From a key, and a counter [2] whose lower half comes first."""
        return cls(state=_joined(key, counter), alg=alg)

    @property
    def state(self) -> Any:
        """The variable, int64 [3]."""
        return self._state_var

    @property
    def algorithm(self) -> int:
        """1: Philox."""
        return self._alg

    @property
    def key(self) -> Tensor:
        """The last element of the state: which stream it is."""
        value: Any = self._state_var.read_value()
        return value[-1]  # type: ignore[no-any-return]

    def reset(self, state: Any) -> Any:
        """The op that assigns a state."""
        return self._state_var.assign(state if isinstance(state, Tensor) else cast(state, dtypes.int64))

    def reset_from_seed(self, seed: Any) -> Any:
        return self.reset(create_rng_state(seed, self._alg))

    def reset_from_key_counter(self, key: Any, counter: Any) -> Any:
        return self.reset(_joined(key, counter))

    def skip(self, delta: Any) -> Tensor:
        """The op that passes over what would fill `delta` values; gives the state before."""
        return self._read_and_skip(delta)

    def _read_and_skip(self, delta: Any) -> Tensor:
        alg = cast(self._alg, dtypes.int32)
        before: Tensor = read_and_skip_op(self._state_var.handle, alg, cast(delta, dtypes.uint64))
        return before

    def _key_counter(self, shape: Tensor) -> tuple[Tensor, Tensor]:
        """(key [1], counter [2]) of the stream that fills a tensor of that shape."""
        before: Any = self._read_and_skip(reduce_prod(shape))
        counter = bitcast(before[:2], dtypes.uint64)
        return bitcast(before[2:3], dtypes.uint64), counter

    def normal(
        self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, name: str | None = None
    ) -> Tensor:
        """Numbers from N(mean, stddev ** 2)."""
        with name_scope(name, "stateful_normal", [shape, mean, stddev]) as scope:
            return self._scaled_normal(random_stateless.normal_op, shape, mean, stddev, dtype, scope)

    def truncated_normal(
        self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, name: str | None = None
    ) -> Tensor:
        """As `normal`, but nothing beyond two standard deviations from the mean."""
        with name_scope(name, "truncated_normal", [shape, mean, stddev]) as scope:
            return self._scaled_normal(random_stateless.truncated_normal_op, shape, mean, stddev, dtype, scope)

    def _scaled_normal(self, op: Any, shape: Any, mean: Any, stddev: Any, dtype: Any, scope: str) -> Tensor:
        dims = shape_tensor(shape)
        mean = convert_to_tensor(mean, dtype=dtype, name="mean")
        stddev = convert_to_tensor(stddev, dtype=dtype, name="stddev")
        key, counter = self._key_counter(dims)
        return add_v2(mul(op(dims, key, counter, self._alg, dtype=dtype), stddev, name="mul"), mean, name=scope)  # type: ignore[no-any-return]

    def uniform(
        self, shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32, name: str | None = None
    ) -> Tensor:
        """Numbers in [minval, maxval), maxval 1 unless given. ValueError for integers without maxval."""
        dtype = dtypes.as_dtype(dtype)
        if maxval is None:
            if dtype.is_integer:
                raise ValueError("Must specify maxval for integer dtype")
            maxval = 1
        with name_scope(name, "stateful_uniform", [shape, minval, maxval]) as scope:
            dims = shape_tensor(shape)
            minval = convert_to_tensor(minval, dtype=dtype, name="min")
            maxval = convert_to_tensor(maxval, dtype=dtype, name="max")
            key, counter = self._key_counter(dims)
            if dtype.is_integer:
                alg = convert_to_tensor(self._alg, name="alg")
                integers: Tensor = random_stateless.uniform_int_op(dims, key, counter, alg, minval, maxval, name=scope)
                return integers
            unit = random_stateless.uniform_op(dims, key, counter, self._alg, dtype=dtype)
            span = sub(maxval, minval, name="sub")
            return add_v2(mul(unit, span, name="mul"), minval, name=scope)  # type: ignore[no-any-return]

    def uniform_full_int(self, shape: Any, dtype: Any = dtypes.uint64, name: str | None = None) -> Tensor:
        """Integers over all that the dtype holds."""
        with name_scope(name, "stateful_uniform_full_int", [shape]) as scope:
            dims = shape_tensor(shape)
            key, counter = self._key_counter(dims)
            alg = convert_to_tensor(self._alg, name="alg")
            every: Tensor = random_stateless.full_int_op(dims, key, counter, alg, dtype=dtype, name=scope)
            return every

    def binomial(self, shape: Any, counts: Any, probs: Any, dtype: Any = dtypes.int32, name: str | None = None) -> Tensor:
        """How many of `counts` trials succeed, each with `probs`: both for all, or one for each row of the result."""
        with name_scope(name, "binomial", [shape, counts, probs]) as scope:
            counts = convert_to_tensor(counts, name="counts")
            probs = convert_to_tensor(probs, name="probs")
            found: Tensor = binomial_op(
                self._state_var.handle, self._alg, shape_tensor(shape), counts, probs, dtype=dtype, name=scope
            )
            return found

    def make_seeds(self, count: int = 1) -> Tensor:
        """int64 [2, count]: each column is a seed for the stateless ops."""
        drawn = self.uniform_full_int([count], dtypes.int64)
        return stack([drawn, zeros_like(drawn)])

    def split(self, count: int = 1) -> list[Generator]:
        """`count` generators of streams of their own, which this one draws."""
        keys: Any = self.uniform_full_int([count], dtypes.int64)
        return [Generator.from_key_counter(keys[i], [0, 0], self._alg) for i in range(count)]


def _joined(key: Any, counter: Any) -> Tensor:
    return concat([reshape(cast(counter, dtypes.int64), [2]), reshape(cast(key, dtypes.int64), [1])], axis=0)


def get_global_generator() -> Generator:
    """The graph's generator; one whose state the system draws if none has been set.

    Source: `tf.random.experimental.get_global_generator`.
    """
    kept = get_default_graph().get_collection_ref(_COLLECTION)
    if not kept:
        kept.append(Generator.from_non_deterministic_state())
    found: Generator = kept[0]
    return found


def set_global_generator(generator: Generator) -> None:
    """Makes it the graph's. Source: `tf.random.experimental.set_global_generator`."""
    get_default_graph().get_collection_ref(_COLLECTION)[:] = [generator]
