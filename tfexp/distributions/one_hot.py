"""One-hot vectors as draws, and their continuous relaxations. TF 1.15 (`tf.contrib`).

Relaxations: Maddison, Mnih and Teh, "The Concrete distribution" (2016); Jang, Gu and Poole, "Categorical
reparameterization with Gumbel-softmax" (2016).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import as_dtype
from tfexp.core.shape import TensorShape, broadcast_shapes
from tfexp.distributions.bijectors.elementwise import Exp, Sigmoid
from tfexp.distributions.checks import checked_positive
from tfexp.distributions.discrete import Categorical, logits_and_probs
from tfexp.distributions.distribution import FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED, Distribution, keeps_arguments
from tfexp.distributions.elementwise import of_one_type
from tfexp.distributions.heavy_tails import Logistic
from tfexp.distributions.kullback_leibler import RegisterKL, kl_divergence
from tfexp.distributions.transformed import TransformedDistribution
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import shape
from tfexp.ops.array_fill import one_hot, ones_like, zeros_like
from tfexp.ops.array_identity import identity
from tfexp.ops.array_join import concat
from tfexp.ops.broadcast_shapes import broadcast_dynamic_shape
from tfexp.ops.cast import cast
from tfexp.ops.check_compare import assert_near, assert_non_negative
from tfexp.ops.diagonal import matrix_set_diag
from tfexp.ops.elementwise_special import lgamma
from tfexp.ops.elementwise_unary import log
from tfexp.ops.nn_softmax import log_softmax
from tfexp.ops.random import random_uniform
from tfexp.ops.reduce import reduce_sum
from tfexp.ops.reduce_composite import reduce_logsumexp


class OneHotCategorical(Distribution):
    """Categorical whose draws are one-hot vectors: events [k]. Source: `tf.contrib.distributions.OneHotCategorical`."""

    @keeps_arguments
    def __init__(
        self,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = dtypes.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "OneHotCategorical",
    ):
        with name_scope(name, values=[logits, probs]) as scope:
            self._numbers = Categorical(logits, probs, dtypes.int32, validate_args, allow_nan_stats)
        parents = self._numbers._graph_parents
        kind = as_dtype(dtype)
        super().__init__(kind, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, self._arguments, parents, scope)

    @property
    def event_size(self) -> Any:
        """The number of classes."""
        return self._numbers.event_size

    @property
    def logits(self) -> Any:
        return self._numbers.logits

    @property
    def probs(self) -> Any:
        return self._numbers.probs

    def _batch_shape(self) -> TensorShape:
        return self._numbers.batch_shape

    def _event_shape(self) -> TensorShape:
        return TensorShape(self.logits.shape[-1:])

    def _batch_shape_tensor(self) -> Tensor:
        return self._numbers.batch_shape_tensor()

    def _event_shape_tensor(self) -> Tensor:
        return shape(self.logits)[-1:]  # type: ignore[index]

    def _one_hot(self, numbers: Any) -> Any:
        return one_hot(numbers, self.event_size, dtype=self.dtype)

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        return self._one_hot(self._numbers.sample(n, seed=seed))

    def _checked(self, x: Any) -> Any:
        total = reduce_sum(x, -1)
        message = "a one-hot vector has one 1 and else 0"
        checks = [assert_non_negative(x, message=message), assert_near(total, ones_like(total), message=message)]
        return with_dependencies(checks, x)

    def _log_prob(self, x: Any) -> Any:
        return reduce_sum(cast(x, self.logits.dtype) * log_softmax(self.logits), -1)  # type: ignore[operator]

    def _entropy(self) -> Any:
        return self._numbers.entropy()

    def _mean(self) -> Any:
        return identity(self.probs)

    def _variance(self) -> Any:
        return self.probs * (1.0 - self.probs)

    def _covariance(self) -> Any:
        p = self.probs
        return matrix_set_diag(-p[..., None] * p[..., None, :], self._variance())

    def _mode(self) -> Any:
        return self._one_hot(self._numbers.mode())


@RegisterKL(OneHotCategorical, OneHotCategorical)
def _(a: Any, b: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_categorical_categorical"):
        return kl_divergence(a._numbers, b._numbers)


class ExpRelaxedOneHotCategorical(Distribution):
    """log_softmax((logits + gumbel) / temperature): logarithms of points [k] of the simplex, near its corners if cold.

    temperature: positive, its shape broadcasts with the batch of logits or probs [..., k]. Source:
    `tf.contrib.distributions.ExpRelaxedOneHotCategorical`; Maddison et al., appendix C.3.
    """

    @keeps_arguments
    def __init__(
        self,
        temperature: Any,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "ExpRelaxedOneHotCategorical",
    ):
        with name_scope(name, values=[logits, probs, temperature]) as scope:
            self._logits, self._probs = logits_and_probs(logits, probs, True, validate_args)
            kind = self._logits.dtype.base_dtype if dtype is None else as_dtype(dtype)
            wanted = convert_to_tensor(temperature, kind, name="temperature")
            self._temperature: Any = checked_positive(validate_args, wanted, "temperature_positive")
        parents = [self._logits, self._probs, self._temperature]
        super().__init__(kind, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, self._arguments, parents, scope)

    @property
    def temperature(self) -> Any:
        return self._temperature

    @property
    def logits(self) -> Any:
        return self._logits

    @property
    def probs(self) -> Any:
        return self._probs

    @property
    def event_size(self) -> Any:
        return self._logits.shape[-1].value or shape(self._logits)[-1]  # type: ignore[index]

    def _batch_shape(self) -> TensorShape:
        return broadcast_shapes(self._temperature.shape, self._logits.shape[:-1])

    def _event_shape(self) -> TensorShape:
        return TensorShape(self._logits.shape[-1:])

    def _batch_shape_tensor(self) -> Tensor:
        return broadcast_dynamic_shape(shape(self._temperature), shape(self._logits)[:-1])  # type: ignore[index]

    def _event_shape_tensor(self) -> Tensor:
        return shape(self._logits)[-1:]  # type: ignore[index]

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        dims = concat([[n], self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        # Never 0, whose logarithm is none.
        smallest = np.finfo(self.dtype.as_numpy_dtype).tiny
        uniform = random_uniform(dims, minval=smallest, maxval=1.0, dtype=self.dtype, seed=seed)
        gumbel: Any = -log(-log(uniform))  # type: ignore[operator]
        return log_softmax((self._logits + gumbel) / self._temperature[..., None])

    def _checked(self, x: Any) -> Any:
        total = reduce_logsumexp(x, -1)
        message = "the exponentials do not sum to 1"
        return with_dependencies([assert_near(total, zeros_like(total), message=message)], x)

    def _log_prob(self, x: Any) -> Any:
        classes: Any = cast(self.event_size, self.dtype)
        unnormalized = reduce_sum(log_softmax(self._logits - x * self._temperature[..., None]), -1)
        return unnormalized + lgamma(classes) + (classes - 1.0) * log(self._temperature)  # type: ignore[operator]


class RelaxedOneHotCategorical(TransformedDistribution):
    """Points [k] of the simplex: exp of ExpRelaxedOneHotCategorical. Source: `tf.contrib.distributions` of this name."""

    @keeps_arguments
    def __init__(
        self,
        temperature: Any,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "RelaxedOneHotCategorical",
    ):
        logarithms = ExpRelaxedOneHotCategorical(temperature, logits, probs, dtype, validate_args, allow_nan_stats)
        super().__init__(logarithms, Exp(validate_args=validate_args), validate_args=validate_args, name=name)

    @property
    def temperature(self) -> Any:
        return self.distribution.temperature

    @property
    def logits(self) -> Any:
        return self.distribution.logits

    @property
    def probs(self) -> Any:
        return self.distribution.probs

    @property
    def event_size(self) -> Any:
        return self.distribution.event_size


class RelaxedBernoulli(TransformedDistribution):
    """Numbers between 0 and 1, near these if temperature is low: sigmoid of Logistic(logits / t, 1 / t).

    Source: `tf.contrib.distributions.RelaxedBernoulli`.
    """

    @keeps_arguments
    def __init__(
        self,
        temperature: Any,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "RelaxedBernoulli",
    ):
        with name_scope(name, values=[logits, probs, temperature]) as scope:
            given = {"logits": logits, "probs": probs, "temperature": temperature}
            tensors = of_one_type({key: value for key, value in given.items() if value is not None})
            self._logits, self._probs = logits_and_probs(tensors.get("logits"), tensors.get("probs"), False, validate_args)
            self._temperature = checked_positive(validate_args, tensors["temperature"], "temperature_positive")
            cold = 1.0 / self._temperature
            logistic = Logistic(self._logits * cold, cold, validate_args, allow_nan_stats)
        super().__init__(logistic, Sigmoid(validate_args=validate_args), validate_args=validate_args, name=scope)

    @property
    def temperature(self) -> Any:
        return self._temperature

    @property
    def logits(self) -> Any:
        return self._logits

    @property
    def probs(self) -> Any:
        return self._probs
