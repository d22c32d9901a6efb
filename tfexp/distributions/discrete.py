"""The Bernoulli and categorical distributions. TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.core.dtypes import as_dtype
from tfexp.core.shape import TensorShape
from tfexp.distributions.checks import embed_check_categorical_event_shape, embed_check_integer_casting_closed
from tfexp.distributions.distribution import CUMULATIVE, NOT_REPARAMETERIZED, Distribution, keeps_arguments
from tfexp.distributions.kullback_leibler import RegisterKL
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.argmax import argmax
from tfexp.ops.array import rank, reshape, shape
from tfexp.ops.array_fill import ones, ones_like, zeros_like
from tfexp.ops.array_identity import identity
from tfexp.ops.array_join import concat
from tfexp.ops.array_mask import sequence_mask, where
from tfexp.ops.array_order import transpose
from tfexp.ops.cast import cast
from tfexp.ops.check_compare import assert_less_equal, assert_near, assert_non_negative
from tfexp.ops.comparison import greater, less
from tfexp.ops.elementwise_unary import log, log1p, sigmoid
from tfexp.ops.nn_activation import softplus
from tfexp.ops.nn_cross_entropy import sigmoid_cross_entropy_with_logits, sparse_softmax_cross_entropy_with_logits
from tfexp.ops.nn_softmax import log_softmax, softmax
from tfexp.ops.random import multinomial, random_uniform
from tfexp.ops.reduce import reduce_sum


def logits_and_probs(
    logits: Any, probs: Any, multidimensional: bool = False, validate_args: bool = False
) -> tuple[Any, Any]:
    """Both, of the one that is given; with `multidimensional` the last axis is classes. ValueError unless one is given."""
    if (probs is None) == (logits is None):
        raise ValueError("Must pass probs or logits, but not both.")
    if probs is None:
        logits = convert_to_tensor(logits, name="logits")
        if not logits.dtype.is_floating:
            raise TypeError("logits must having floating type.")
        if multidimensional:
            logits = embed_check_categorical_event_shape(logits) if validate_args else logits
            return logits, softmax(logits, name="probs")
        return logits, sigmoid(logits, name="probs")
    probs = convert_to_tensor(probs, name="probs")
    if not probs.dtype.is_floating:
        raise TypeError("probs must having floating type.")
    if validate_args:
        checks = [assert_non_negative(probs)]
        if multidimensional:
            probs = embed_check_categorical_event_shape(probs)
            checks.append(assert_near(reduce_sum(probs, -1), 1.0, message="probs does not sum to 1."))
        else:
            checks.append(assert_less_equal(probs, ones([], probs.dtype), message="probs has components greater than 1."))
        probs = with_dependencies(checks, probs)
    with name_scope("logits"):
        return (log(probs) if multidimensional else log(probs) - log1p(-1.0 * probs)), probs  # type: ignore[operator]


class Bernoulli(Distribution):
    """1 with the probability `probs`, which is sigmoid(logits), else 0. Source: `tf.distributions.Bernoulli`."""

    @keeps_arguments
    def __init__(
        self,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = dtypes.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Bernoulli",
    ):
        with name_scope(name) as scope:
            self._logits, self._probs = logits_and_probs(logits, probs, validate_args=validate_args)
        parents = [self._logits, self._probs]
        super().__init__(
            as_dtype(dtype), NOT_REPARAMETERIZED, validate_args, allow_nan_stats, self._arguments, parents, scope
        )

    @classmethod
    def _param_shapes(cls, sample_shape: Any) -> dict[str, Tensor]:
        return {"logits": convert_to_tensor(sample_shape)}

    @property
    def logits(self) -> Any:
        """log(p / (1 - p))."""
        return self._logits

    @property
    def probs(self) -> Any:
        return self._probs

    def _batch_shape(self) -> TensorShape:
        return TensorShape(self._logits.shape)

    def _batch_shape_tensor(self) -> Tensor:
        return shape(self._logits)

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        dims = concat([[n], self.batch_shape_tensor()], 0)
        uniform = random_uniform(dims, seed=seed, dtype=self.probs.dtype)
        return cast(less(uniform, self.probs), self.dtype)

    def _checked(self, event: Any) -> Any:
        return embed_check_integer_casting_closed(event, dtypes.bool)

    def _log_prob(self, event: Any) -> Any:
        event = cast(event, self.logits.dtype)
        logits = self.logits
        known = event.shape.is_fully_defined() and logits.shape.is_fully_defined()
        if not known or event.shape.as_list() != logits.shape.as_list():
            logits, event = ones_like(event) * logits, ones_like(logits) * event  # type: ignore[operator]
        return -sigmoid_cross_entropy_with_logits(labels=event, logits=logits)  # type: ignore[operator]

    def _entropy(self) -> Any:
        return (-self.logits) * (sigmoid(self.logits) - 1) + softplus(-self.logits)

    def _mean(self) -> Any:
        return identity(self.probs)

    def _variance(self) -> Any:
        return self._mean() * (1.0 - self.probs)

    def _mode(self) -> Any:
        return cast(greater(self.probs, 0.5), self.dtype)


@RegisterKL(Bernoulli, Bernoulli)
def _(a: Any, b: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_bernoulli_bernoulli", values=[a.logits, b.logits]):
        zero = softplus(-b.logits) - softplus(-a.logits)
        one = softplus(b.logits) - softplus(a.logits)
        return sigmoid(a.logits) * zero + sigmoid(-a.logits) * one


class Categorical(Distribution):
    """k with the probability probs[..., k], which is softmax(logits)[..., k]. Source: `tf.distributions.Categorical`."""

    @keeps_arguments
    def __init__(
        self,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = dtypes.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Categorical",
    ):
        with name_scope(name, values=[logits, probs]) as scope:
            self._logits, self._probs = logits_and_probs(logits, probs, True, validate_args)
            dims = self._logits.shape.with_rank_at_least(1)
            if dims.ndims is not None:
                self._batch_rank: Any = convert_to_tensor(dims.ndims - 1, dtypes.int32, name="batch_rank")
            else:
                with name_scope("batch_rank"):
                    self._batch_rank = rank(self._logits) - 1  # type: ignore[operator]
            logits_shape: Any = shape(self._logits, name="logits_shape")
            classes = dims[-1].value
            if classes is not None:
                self._event_size: Any = convert_to_tensor(classes, dtypes.int32, name="event_size")
            else:
                with name_scope("event_size"):
                    self._event_size = logits_shape[-1]
            if dims[:-1].is_fully_defined():
                self._batch_dims: Any = convert_to_tensor(dims[:-1].as_list(), dtypes.int32, name="batch_shape")
            else:
                with name_scope("batch_shape"):
                    self._batch_dims = logits_shape[:-1]
        parents = [self._logits, self._probs]
        super().__init__(
            as_dtype(dtype), NOT_REPARAMETERIZED, validate_args, allow_nan_stats, self._arguments, parents, scope
        )

    @classmethod
    def _param_shapes(cls, sample_shape: Any) -> dict[str, Tensor]:
        return {"logits": convert_to_tensor(sample_shape)}

    @property
    def event_size(self) -> Any:
        """The number of classes."""
        return self._event_size

    @property
    def logits(self) -> Any:
        return self._logits

    @property
    def probs(self) -> Any:
        return self._probs

    def _batch_shape(self) -> TensorShape:
        return TensorShape(self.logits.shape[:-1])

    def _batch_shape_tensor(self) -> Tensor:
        return identity(self._batch_dims)  # type: ignore[no-any-return]

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        flat = self.logits if self.logits.shape.ndims == 2 else reshape(self.logits, [-1, self.event_size])
        kind = dtypes.int64 if self.dtype.size > 4 else dtypes.int32
        drawn = transpose(multinomial(flat, n, seed=seed, output_dtype=kind))
        return cast(reshape(drawn, concat([[n], self.batch_shape_tensor()], 0)), self.dtype)

    def _aligned(self, k: Any, parameter: Any) -> tuple[Any, Any]:
        """A value and a parameter as wide as each other but for the classes."""
        known = parameter.shape[:-1].is_fully_defined() and k.shape.is_fully_defined()
        if known and k.shape.as_list() == parameter.shape[:-1].as_list():
            return k, parameter
        parameter = parameter * ones_like(k[..., None], dtype=parameter.dtype)
        return k * ones(shape(parameter)[:-1], dtype=k.dtype), parameter  # type: ignore[index]

    _checks_values_of = Distribution._checks_values_of | CUMULATIVE

    def _checked(self, k: Any) -> Any:
        return embed_check_integer_casting_closed(k, dtypes.int32)

    def _log_prob(self, k: Any) -> Any:
        k, logits = self._aligned(k, self.logits)
        return -sparse_softmax_cross_entropy_with_logits(labels=cast(k, self._index_type(k)), logits=logits)  # type: ignore[operator]

    @staticmethod
    def _index_type(k: Any) -> Any:
        return k.dtype if k.dtype.is_integer else dtypes.int64

    def _cdf(self, k: Any) -> Any:
        k, probs = self._aligned(k, self.probs)
        rows = reshape(probs, [-1, self.event_size])
        below = sequence_mask(reshape(k, [-1]), self.event_size)
        summed = reduce_sum(where(below, rows, zeros_like(rows)), axis=-1)
        return reshape(summed, shape(k))

    def _entropy(self) -> Any:
        return -reduce_sum(log_softmax(self.logits) * self.probs, axis=-1)

    def _mode(self) -> Any:
        found = cast(argmax(self.logits, axis=self._batch_rank), self.dtype)
        found.set_shape(self.batch_shape)
        return found


@RegisterKL(Categorical, Categorical)
def _(a: Any, b: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_categorical_categorical", values=[a.logits, b.logits]):
        difference: Any = log_softmax(a.logits) - log_softmax(b.logits)  # type: ignore[operator]
        return reduce_sum(softmax(a.logits) * difference, axis=-1)
