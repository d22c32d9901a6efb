"""What all distributions are: their shapes, samples, densities and moments. Source: `tf.distributions`, TF 1.15.

A distribution's batch shape is that of its parameters: so many distributions, each apart. Its event shape is that of one
draw. Samples are [*sample_shape, *batch_shape, *event_shape].
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.shape import TensorShape
from tfexp.distributions.kullback_leibler import cross_entropy, kl_divergence
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import reshape, shape
from tfexp.ops.array_join import concat
from tfexp.ops.elementwise_unary import exp, log, sqrt, square
from tfexp.ops.reduce import reduce_prod


class ReparameterizationType:
    """Whether gradients pass from samples to parameters."""

    def __init__(self, rep_type: str):
        self._rep_type = rep_type

    def __repr__(self) -> str:
        return f"<Reparameterization Type: {self._rep_type}>"

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__


FULLY_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED")
NOT_REPARAMETERIZED = ReparameterizationType("NOT_REPARAMETERIZED")


CUMULATIVE = frozenset({"_cdf", "_log_cdf", "_survival_function", "_log_survival_function"})


class Distribution:
    """The base class. A subclass defines `_sample_n`, `_log_prob` (or `_prob`) and others of what is asked for below."""

    _arguments: dict[str, Any]  # of the constructor, where `keeps_arguments` decorates it

    def __init__(
        self,
        dtype: Any,
        reparameterization_type: ReparameterizationType,
        validate_args: bool,
        allow_nan_stats: bool,
        parameters: dict[str, Any] | None = None,
        graph_parents: Sequence[Any] | None = None,
        name: str | None = None,
    ):
        if not name or not name.endswith("/"):
            with name_scope(name or type(self).__name__) as scope:
                name = scope
        self._dtype, self._name = dtype, name
        self._reparameterization_type = reparameterization_type
        self._validate_args, self._allow_nan_stats = validate_args, allow_nan_stats
        self._parameters = {key: value for key, value in (parameters or {}).items() if key not in ("self", "__class__")}
        self._graph_parents = list(graph_parents or [])

    # --- what it is ---------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self._name or ""

    @property
    def dtype(self) -> DType:
        kind: DType = self._dtype
        return kind

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments of the constructor, by name."""
        return dict(self._parameters)

    @property
    def reparameterization_type(self) -> ReparameterizationType:
        return self._reparameterization_type

    @property
    def allow_nan_stats(self) -> bool:
        return self._allow_nan_stats

    @property
    def validate_args(self) -> bool:
        return self._validate_args

    def copy(self, **override_parameters_kwargs: Any) -> Any:
        """Another one that differs in the arguments given."""
        names = inspect.signature(type(self).__init__).parameters
        kept = {key: value for key, value in self._parameters.items() if key in names}
        return type(self)(**{**kept, **override_parameters_kwargs})

    @classmethod
    def param_shapes(cls, sample_shape: Any, name: str = "DistributionParamShapes") -> dict[str, Tensor]:
        """The shapes that the parameters must have for samples of that shape."""
        with name_scope(name, values=[sample_shape]):
            return cls._param_shapes(sample_shape)

    @classmethod
    def param_static_shapes(cls, sample_shape: Any) -> dict[str, TensorShape]:
        """The same, of a shape that is known. ValueError for one that is not."""
        known = TensorShape(static_value(sample_shape) if isinstance(sample_shape, Tensor) else sample_shape)
        if not known.is_fully_defined():
            raise ValueError("TensorShape sample_shape must be fully defined")
        return {key: TensorShape(static_value(value)) for key, value in cls.param_shapes(known.as_list()).items()}

    @classmethod
    def _param_shapes(cls, sample_shape: Any) -> dict[str, Tensor]:
        raise NotImplementedError("_param_shapes not implemented")

    @property
    def batch_shape(self) -> TensorShape:
        return self._batch_shape()

    @property
    def event_shape(self) -> TensorShape:
        return self._event_shape()

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        with self._scope(name):
            if self.batch_shape.is_fully_defined():
                return convert_to_tensor(self.batch_shape.as_list(), dtypes.int32, name="batch_shape")
            return self._batch_shape_tensor()

    def event_shape_tensor(self, name: str = "event_shape_tensor") -> Tensor:
        with self._scope(name):
            if self.event_shape.is_fully_defined():
                return convert_to_tensor(self.event_shape.as_list(), dtypes.int32, name="event_shape")
            return self._event_shape_tensor()

    def is_scalar_event(self, name: str = "is_scalar_event") -> Tensor:
        with self._scope(name):
            return convert_to_tensor(self.event_shape.ndims == 0, name="is_scalar_event")

    def is_scalar_batch(self, name: str = "is_scalar_batch") -> Tensor:
        with self._scope(name):
            return convert_to_tensor(self.batch_shape.ndims == 0, name="is_scalar_batch")

    # --- what is asked of it ------------------------------------------------------------------------------------------

    def sample(self, sample_shape: Any = (), seed: int | None = None, name: str = "sample") -> Tensor:
        """Draws of that shape, each a whole batch."""
        with self._scope(name, [sample_shape]):
            wanted = convert_to_tensor(sample_shape, dtypes.int32, name="sample_shape")
            wanted, count = as_vector(wanted)
            drawn = self._sample_n(count, seed)
            inner: Any = shape(drawn)
            result = reshape(drawn, concat([wanted, inner[1:]], 0))
            known = static_value(wanted)
            dims = [None] * (wanted.shape[0].value or 0) if known is None else known.tolist()
            of_one = self.batch_shape.concatenate(self.event_shape)
            if wanted.shape.is_fully_defined() or known is not None:
                result.set_shape(TensorShape(dims).concatenate(of_one))
            return result

    def log_prob(self, value: Any, name: str = "log_prob") -> Tensor:
        """The logarithm of the density, or of the probability, of a value."""
        return self._of_value(value, name, ("_log_prob", None), ("_prob", log))

    def prob(self, value: Any, name: str = "prob") -> Tensor:
        return self._of_value(value, name, ("_prob", None), ("_log_prob", exp))

    def log_cdf(self, value: Any, name: str = "log_cdf") -> Tensor:
        """The logarithm of the probability of at most that value."""
        return self._of_value(value, name, ("_log_cdf", None), ("_cdf", log))

    def cdf(self, value: Any, name: str = "cdf") -> Tensor:
        return self._of_value(value, name, ("_cdf", None), ("_log_cdf", exp))

    def log_survival_function(self, value: Any, name: str = "log_survival_function") -> Tensor:
        """The logarithm of the probability of more than that value."""
        return self._of_value(
            value, name, ("_log_survival_function", None), ("_survival_function", log), ("_cdf", lambda p: log(1.0 - p))
        )

    def survival_function(self, value: Any, name: str = "survival_function") -> Tensor:
        return self._of_value(
            value, name, ("_survival_function", None), ("_log_survival_function", exp), ("_cdf", lambda p: 1.0 - p)
        )

    def quantile(self, value: Any, name: str = "quantile") -> Tensor:
        """The least x with cdf(x) >= value."""
        return self._of_value(value, name, ("_quantile", None))

    def entropy(self, name: str = "entropy") -> Tensor:
        return self._of_itself(name, ("_entropy", None))

    def mean(self, name: str = "mean") -> Tensor:
        return self._of_itself(name, ("_mean", None))

    def variance(self, name: str = "variance") -> Tensor:
        return self._of_itself(name, ("_variance", None), ("_stddev", square))

    def stddev(self, name: str = "stddev") -> Tensor:
        return self._of_itself(name, ("_stddev", None), ("_variance", sqrt))

    def covariance(self, name: str = "covariance") -> Tensor:
        return self._of_itself(name, ("_covariance", None))

    def mode(self, name: str = "mode") -> Tensor:
        return self._of_itself(name, ("_mode", None))

    def cross_entropy(self, other: Distribution, name: str = "cross_entropy") -> Tensor:
        """Minus the expectation of other's log probability: `entropy() + kl_divergence(other)`."""
        with self._scope(name):
            return cross_entropy(self, other, allow_nan_stats=self._allow_nan_stats)

    def kl_divergence(self, other: Distribution, name: str = "kl_divergence") -> Tensor:
        """The Kullback-Leibler divergence KL(self || other). NotImplementedError for a pair without a rule."""
        with self._scope(name):
            return kl_divergence(self, other, allow_nan_stats=self._allow_nan_stats)

    def __str__(self) -> str:
        return f'tfp.distributions.{type(self).__name__}("{self.name}"{self._described(", ")}'.replace("{}", "") + ")"

    def __repr__(self) -> str:
        return f"<tfp.distributions.{type(self).__name__} '{self.name}'{self._described(' ')}>"

    def _described(self, comma: str) -> str:
        parts = [
            f"{what}_shape={found}"
            for what, found in (("batch", self.batch_shape), ("event", self.event_shape))
            if found.ndims is not None
        ]
        return "".join(f"{comma}{part}" for part in [*parts, f"dtype={self.dtype.name}"])

    # --- what subclasses say, and how it is found ---------------------------------------------------------------------

    # The questions about a value for which it is checked first, where arguments are validated.
    _checks_values_of: frozenset[str] = frozenset({"_prob", "_log_prob"})

    def _checked(self, value: Any) -> Any:
        """`value`, which fails in the run where the distribution never gives it."""
        return value

    def _batch_shape(self) -> TensorShape:
        return TensorShape(None)

    def _event_shape(self) -> TensorShape:
        return TensorShape([])

    def _batch_shape_tensor(self) -> Tensor:
        raise NotImplementedError(f"batch_shape_tensor is not implemented: {type(self).__name__}")

    def _event_shape_tensor(self) -> Tensor:
        return constant([], dtypes.int32)

    def _sample_n(self, n: Any, seed: int | None) -> Tensor:
        raise NotImplementedError(f"sample is not implemented: {type(self).__name__}")

    @contextlib.contextmanager
    def _scope(self, name: str, values: Any = ()) -> Iterator[str]:
        with name_scope(self._name), name_scope(name, values=list(values)) as scope:
            yield scope

    def _of_value(self, value: Any, name: str, *ways: tuple[str, Callable[..., Any] | None]) -> Tensor:
        with self._scope(name, [value]):
            preferred = None if isinstance(value, Tensor) else self._value_dtype(value)
            converted = convert_to_tensor(value, preferred, name="value")
            if self._validate_args and ways[0][0] in self._checks_values_of:
                converted = self._checked(converted)
            return self._first(name, ways, converted)

    def _value_dtype(self, value: Any) -> DType | None:
        """The type that a Python value becomes: the distribution's where that can hold it."""
        if isinstance(value, np.ndarray) or self.dtype.is_floating:
            return None if isinstance(value, np.ndarray) else self.dtype
        return None if np.asarray(value).dtype.kind == "f" else self.dtype

    def _of_itself(self, name: str, *ways: tuple[str, Callable[..., Any] | None]) -> Tensor:
        with self._scope(name):
            return self._first(name, ways)

    def _first(self, name: str, ways: Sequence[tuple[str, Callable[..., Any] | None]], *args: Any) -> Tensor:
        """The first of the ways that the class has: a method, and what makes the answer of its result."""
        for method, then in ways:
            if hasattr(self, method):
                found = getattr(self, method)(*args)
                return found if then is None else then(found)  # type: ignore[no-any-return]
        raise NotImplementedError(f"{name} is not implemented: {type(self).__name__}")


def as_vector(wanted: Tensor) -> tuple[Tensor, Any]:
    """(a sample shape as a vector, how many samples that is)."""
    known = static_value(wanted)
    if known is None:
        count = reduce_prod(wanted)
        return (wanted if wanted.shape.ndims else reshape(wanted, [-1])), count
    if known.ndim == 0:
        wanted = constant([int(known)], dtypes.int32, name="sample_shape")
    return wanted, np.int32(np.prod(known))


def same_floats(*values: Any) -> list[Any]:
    """The values, with Python's numbers as tensors of the others' type, unless that is float32: that they become anyway."""
    kinds = [value.dtype for value in values if hasattr(value, "dtype")]
    kind = dtypes.as_dtype(kinds[0]).base_dtype if kinds else dtypes.float32
    if kind is dtypes.float32:
        return list(values)
    return [value if hasattr(value, "dtype") else convert_to_tensor(value, kind, name="input") for value in values]


def derived_seed(seed: int | None, salt: str) -> int | None:
    """Another seed for another purpose, TensorFlow's own."""
    if seed is None:
        return None
    return int(hashlib.md5(f"{seed}{salt}".encode()).hexdigest()[:8], 16) & 0x7FFFFFFF


def keeps_arguments(init: Callable[..., None]) -> Callable[..., None]:
    """For a constructor: `self._arguments` are its arguments by name, as `parameters` and `copy` need them."""
    names = inspect.signature(init)

    @functools.wraps(init)
    def initialize(self: Any, *args: Any, **kwargs: Any) -> None:
        if "_arguments" not in self.__dict__:
            bound = names.bind(self, *args, **kwargs)
            bound.apply_defaults()
            self._arguments = {key: value for key, value in bound.arguments.items() if key != "self"}
        init(self, *args, **kwargs)

    return initialize
