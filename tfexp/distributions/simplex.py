"""Distributions of shares and of counts by them: Beta, Dirichlet, Multinomial, DirichletMultinomial. TF 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.distributions.checks import checked_positive, embed_check_nonnegative_integer_form
from tfexp.distributions.discrete import logits_and_probs
from tfexp.distributions.distribution import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    Distribution,
    derived_seed,
    keeps_arguments,
    same_floats,
)
from tfexp.distributions.kullback_leibler import RegisterKL
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import expand_dims, reshape, shape
from tfexp.ops.array_fill import broadcast_to, fill, one_hot, ones, ones_like
from tfexp.ops.array_identity import identity
from tfexp.ops.array_join import concat
from tfexp.ops.array_mask import sequence_mask, where_v2
from tfexp.ops.array_order import transpose
from tfexp.ops.cast import cast
from tfexp.ops.check_compare import assert_equal, assert_less, assert_near, assert_positive
from tfexp.ops.comparison import greater
from tfexp.ops.diagonal import matrix_set_diag
from tfexp.ops.elementwise_division import xlogy
from tfexp.ops.elementwise_gamma import betainc
from tfexp.ops.elementwise_special import digamma, lbeta, lgamma
from tfexp.ops.elementwise_unary import log, log1p, sqrt
from tfexp.ops.logical import logical_and
from tfexp.ops.matmul import matmul
from tfexp.ops.nn_softmax import log_softmax
from tfexp.ops.random import multinomial
from tfexp.ops.random_gamma import random_gamma
from tfexp.ops.reduce import reduce_all, reduce_max, reduce_sum

_POSITIVE = "Concentration parameter must be positive."


class Beta(Distribution):
    """Density x**(a - 1) (1 - x)**(b - 1) / beta(a, b) in (0, 1). Source: `tf.distributions.Beta`."""

    @keeps_arguments
    def __init__(
        self,
        concentration1: Any = None,
        concentration0: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Beta",
    ):
        with name_scope(name, values=[concentration1, concentration0]) as scope:
            one, zero = same_floats(concentration1, concentration0)
            one, zero = convert_to_tensor(one, name="concentration1"), convert_to_tensor(zero, name="concentration0")
            self._concentration1 = checked_positive(validate_args, one, "concentration1", _POSITIVE)
            self._concentration0 = checked_positive(validate_args, zero, "concentration0", _POSITIVE)
            self._total_concentration = self._concentration1 + self._concentration0
        parents = [self._concentration1, self._concentration0, self._total_concentration]
        super().__init__(
            self._total_concentration.dtype,
            FULLY_REPARAMETERIZED,
            validate_args,
            allow_nan_stats,
            self._arguments,
            parents,
            scope,
        )

    @classmethod
    def _param_shapes(cls, sample_shape: Any) -> dict[str, Tensor]:
        wanted = convert_to_tensor(sample_shape, dtypes.int32)
        return {"concentration1": wanted, "concentration0": wanted}

    @property
    def concentration1(self) -> Any:
        """The `a` of x**(a - 1)."""
        return self._concentration1

    @property
    def concentration0(self) -> Any:
        """The `b` of (1 - x)**(b - 1)."""
        return self._concentration0

    @property
    def total_concentration(self) -> Any:
        return self._total_concentration

    def _batch_shape(self) -> TensorShape:
        return TensorShape(self.total_concentration.shape)

    def _batch_shape_tensor(self) -> Tensor:
        return shape(self.total_concentration)

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        a, b = (
            ones_like(self.total_concentration, dtype=self.dtype) * x  # type: ignore[operator]
            for x in (self.concentration1, self.concentration0)
        )
        one: Any = random_gamma([n], alpha=a, dtype=self.dtype, seed=seed)
        zero: Any = random_gamma([n], alpha=b, dtype=self.dtype, seed=derived_seed(seed, "beta"))
        return one / (one + zero)

    def _checked(self, x: Any) -> Any:
        one = ones([], self.dtype)
        checks = [
            assert_positive(x, message="sample must be positive"),
            assert_less(x, one, message="sample must be less than `1`."),
        ]
        return with_dependencies(checks, x)

    def _log_prob(self, x: Any) -> Any:
        a, b = self.concentration1, self.concentration0
        unnormalized: Any = xlogy(a - 1.0, x) + (b - 1.0) * log1p(-x)  # type: ignore[operator]
        return unnormalized - (lgamma(a) + lgamma(b) - lgamma(self.total_concentration))

    def _cdf(self, x: Any) -> Any:
        return betainc(self.concentration1, self.concentration0, x)

    def _entropy(self) -> Any:
        a, b, total = self.concentration1, self.concentration0, self.total_concentration
        return (
            (lgamma(a) + lgamma(b) - lgamma(total))
            - (a - 1.0) * digamma(a)
            - (b - 1.0) * digamma(b)
            + (total - 2.0) * digamma(total)
        )

    def _mean(self) -> Any:
        return self.concentration1 / self.total_concentration

    def _variance(self) -> Any:
        mean = self._mean()
        return mean * (1.0 - mean) / (1.0 + self.total_concentration)

    def _mode(self) -> Any:
        a, b = self.concentration1, self.concentration0
        found = (a - 1.0) / (self.total_concentration - 2.0)
        if self.allow_nan_stats:
            nan = fill(self.batch_shape_tensor(), np.array(np.nan, self.dtype.as_numpy_dtype), name="nan")
            return where_v2(logical_and(greater(a, 1.0), greater(b, 1.0)), found, nan)
        one = ones([], dtype=self.dtype)
        checks = [assert_less(one, x, message="Mode undefined for concentration <= 1.") for x in (a, b)]
        return with_dependencies(checks, found)


@RegisterKL(Beta, Beta)
def _(d1: Any, d2: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_beta_beta"):

        def difference(of: Any) -> Any:
            return of(d2) - of(d1)

        def log_normalization(d: Any) -> Any:
            return lgamma(d.concentration1) + lgamma(d.concentration0) - lgamma(d.total_concentration)

        return (
            difference(log_normalization)
            - digamma(d1.concentration1) * difference(lambda d: d.concentration1)
            - digamma(d1.concentration0) * difference(lambda d: d.concentration0)
            + digamma(d1.total_concentration) * difference(lambda d: d.total_concentration)
        )


class _OfVectors(Distribution):
    """What distributions with `concentration` or `probs` [..., k] share: events are vectors of k."""

    _wide: Any  # [..., k]

    def _batch_shape(self) -> TensorShape:
        return TensorShape(self._wide.shape[:-1])

    def _batch_shape_tensor(self) -> Tensor:
        return shape(self._wide)[:-1]  # type: ignore[index]

    def _event_shape(self) -> TensorShape:
        return TensorShape(self._wide.shape[-1:])

    def _event_shape_tensor(self) -> Tensor:
        return shape(self._wide)[-1:]  # type: ignore[index]


class Dirichlet(_OfVectors):
    """Shares of k parts: density prod x**(a - 1) / beta(a). Source: `tf.distributions.Dirichlet`."""

    @keeps_arguments
    def __init__(
        self, concentration: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Dirichlet"
    ):
        with name_scope(name, values=[concentration]) as scope:
            given = convert_to_tensor(concentration, name="concentration")
            if not given.dtype.is_floating:
                raise TypeError("Concentration parameter must be float-like.")
            if given.shape.ndims is not None and given.shape.ndims < 1:
                raise ValueError("Concentration parameter must have at least one dimension.")
            self._concentration = self._wide = checked_positive(validate_args, given, "concentration", _POSITIVE)
            self._total_concentration: Any = reduce_sum(self._concentration, -1)
        parents = [self._concentration, self._total_concentration]
        super().__init__(given.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, self._arguments, parents, scope)

    @property
    def concentration(self) -> Any:
        return self._concentration

    @property
    def total_concentration(self) -> Any:
        return self._total_concentration

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        drawn: Any = random_gamma(shape=[n], alpha=self.concentration, dtype=self.dtype, seed=seed)
        return drawn / reduce_sum(drawn, -1, keepdims=True)

    def _checked(self, x: Any) -> Any:
        total, one = reduce_sum(x, -1), ones([], self.dtype)
        checks = [
            assert_positive(x, message="samples must be positive"),
            assert_near(one, total, message="sample last-dimension must sum to `1`"),
        ]
        return with_dependencies(checks, x)

    def _log_prob(self, x: Any) -> Any:
        return reduce_sum(xlogy(self.concentration - 1.0, x), -1) - lbeta(self.concentration)  # type: ignore[operator]

    def _entropy(self) -> Any:
        k = cast(self.event_shape_tensor()[0], self.dtype)  # type: ignore[index]
        total = self.total_concentration
        spread = reduce_sum((self.concentration - 1.0) * digamma(self.concentration), axis=-1)
        return lbeta(self.concentration) + (total - k) * digamma(total) - spread

    def _mean(self) -> Any:
        return self.concentration / self.total_concentration[..., None]

    def _scale(self) -> Any:
        return (expand_dims(self.total_concentration, -1) + 1.0) ** -0.5  # type: ignore[operator]

    def _variance(self) -> Any:
        x = self._scale() * self._mean()
        return x * (self._scale() - x)

    def _covariance(self) -> Any:
        x = self._scale() * self._mean()
        return matrix_set_diag(-matmul(expand_dims(x, -1), expand_dims(x, -2)), self._variance())  # type: ignore[operator]

    def _mode(self) -> Any:
        k = cast(self.event_shape_tensor()[0], self.dtype)  # type: ignore[index]
        found = (self.concentration - 1.0) / (expand_dims(self.total_concentration, -1) - k)  # type: ignore[operator]
        if self.allow_nan_stats:
            nan = fill(shape(found), np.array(np.nan, self.dtype.as_numpy_dtype), name="nan")
            return where_v2(reduce_all(greater(self.concentration, 1.0), axis=-1, keepdims=True), found, nan)
        check = assert_less(ones([], self.dtype), self.concentration, message="Mode undefined when any concentration <= 1")
        return with_dependencies([check], found)


@RegisterKL(Dirichlet, Dirichlet)
def _(d1: Any, d2: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_dirichlet_dirichlet", values=[d1.concentration, d2.concentration]):
        digammas: Any = digamma(d1.concentration) - digamma(reduce_sum(d1.concentration, axis=-1, keepdims=True))
        difference = d1.concentration - d2.concentration
        return reduce_sum(difference * digammas, axis=-1) - lbeta(d1.concentration) + lbeta(d2.concentration)


def log_combinations(n: Any, counts: Any, name: str = "log_combinations") -> Any:
    """log(n! / prod counts!), the product over the last axis."""
    with name_scope(name, values=[n, counts]):
        total, each = convert_to_tensor(n, name="n"), convert_to_tensor(counts, name="counts")
        return lgamma(total + 1) - reduce_sum(lgamma(each + 1), axis=[-1])  # type: ignore[operator]


def _checked_counts(which: Any, counts: Any, message: str) -> Any:
    """`counts`, whole numbers of which each event has `total_count`."""
    counts = embed_check_nonnegative_integer_form(counts)
    return with_dependencies([assert_equal(which.total_count, reduce_sum(counts, -1), message=message)], counts)


def _counted(draws: Any, classes: Any, dtype: Any) -> Any:
    """[..., draws] classes as [..., classes] counts."""
    return reduce_sum(one_hot(draws, classes, dtype=dtype), axis=-2)


class Multinomial(_OfVectors):
    """How often each of k classes is drawn in `total_count` draws. Source: `tf.distributions.Multinomial`."""

    @keeps_arguments
    def __init__(
        self,
        total_count: Any,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Multinomial",
    ):
        with name_scope(name, values=[total_count, logits, probs]) as scope:
            kind = next((x.dtype for x in (logits, probs) if hasattr(x, "dtype")), dtypes.float32)
            self._total_count: Any = convert_to_tensor(total_count, kind, name="total_count")
            if validate_args:
                self._total_count = embed_check_nonnegative_integer_form(self._total_count)
            self._logits, self._probs = logits_and_probs(logits, probs, True, validate_args)
            self._wide = self._mean_val = self._total_count[..., None] * self._probs
        parents = [self._total_count, self._logits, self._probs]
        super().__init__(
            self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, self._arguments, parents, scope
        )

    @property
    def total_count(self) -> Any:
        return self._total_count

    @property
    def logits(self) -> Any:
        return self._logits

    @property
    def probs(self) -> Any:
        return self._probs

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        return _count_draws(self, cast(self.total_count, dtypes.int32), self.logits, n, seed)

    def _checked(self, counts: Any) -> Any:
        return _checked_counts(self, counts, "counts must sum to `self.total_count`")

    def _log_prob(self, counts: Any) -> Any:
        unnormalized: Any = reduce_sum(counts * log_softmax(self.logits), -1)
        return unnormalized - -log_combinations(self.total_count, counts)

    def _mean(self) -> Any:
        return identity(self._mean_val)

    def _covariance(self) -> Any:
        p = self.probs * ones_like(self.total_count)[..., None]  # type: ignore[index]
        outer = matmul(self._mean_val[..., None], p[..., None, :])
        return matrix_set_diag(-outer, self._variance())  # type: ignore[operator]

    def _variance(self) -> Any:
        p = self.probs * ones_like(self.total_count)[..., None]  # type: ignore[index]
        return self._mean_val - self._mean_val * p


def _count_draws(which: Distribution, total: Any, logits: Any, n: Any, seed: int | None) -> Any:
    """[n, ..., k] counts: as many draws for all as the largest total asks for, those beyond a row's own left out."""
    classes: Any = shape(logits)[-1]  # type: ignore[index]
    batch = which.batch_shape_tensor()
    rows: Any = reshape(broadcast_to(logits, concat([batch, [classes]], 0)), [-1, classes])
    own = reshape(broadcast_to(total, batch), [-1])
    most: Any = reduce_max(own)
    drawn = reshape(multinomial(rows, n * most, seed=seed, output_dtype=dtypes.int32), [-1, n, most])
    hot = one_hot(drawn, classes, dtype=which.dtype)
    within = cast(sequence_mask(own, most), which.dtype)[:, None, :, None]
    counts = reduce_sum(hot * within, axis=-2)  # type: ignore[operator]
    return reshape(transpose(counts, [1, 0, 2]), concat([[n], batch, [classes]], 0))


class DirichletMultinomial(_OfVectors):
    """Multinomial whose probabilities are a Dirichlet draw. Source: `tf.distributions.DirichletMultinomial`."""

    @keeps_arguments
    def __init__(
        self,
        total_count: Any,
        concentration: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "DirichletMultinomial",
    ):
        with name_scope(name, values=[total_count, concentration]) as scope:
            total, given = map(convert_to_tensor, same_floats(total_count, concentration))
            self._total_count: Any = embed_check_nonnegative_integer_form(total) if validate_args else total
            self._concentration = checked_positive(validate_args, given, "concentration", _POSITIVE)
            self._total_concentration: Any = reduce_sum(self._concentration, -1)
            self._wide = self._concentration * ones_like(self._total_count, dtype=given.dtype)[..., None]  # type: ignore[index]
        parents = [self._total_count, self._concentration]
        super().__init__(
            self._concentration.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, self._arguments, parents, scope
        )

    @property
    def total_count(self) -> Any:
        return self._total_count

    @property
    def concentration(self) -> Any:
        return self._concentration

    @property
    def total_concentration(self) -> Any:
        return self._total_concentration

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        drawn = random_gamma([n], self._wide, dtype=self.dtype, seed=seed)
        batch, classes = self.batch_shape_tensor(), self.event_shape_tensor()
        total = cast(broadcast_to(self.total_count, concat([[n], batch], 0)), dtypes.int32)
        rows = Multinomial(reshape(cast(total, self.dtype), [-1]), logits=reshape(log(drawn), concat([[-1], classes], 0)))
        counts = rows.sample(seed=derived_seed(seed, "dirichlet_multinomial"))
        return reshape(counts, concat([[n], batch, classes], 0))

    def _checked(self, counts: Any) -> Any:
        return _checked_counts(self, counts, "counts last-dimension must sum to `self.total_count`")

    def _log_prob(self, counts: Any) -> Any:
        ordered: Any = lbeta(self.concentration + counts) - lbeta(self.concentration)  # type: ignore[operator]
        return ordered + log_combinations(self.total_count, counts)

    def _mean(self) -> Any:
        return self.total_count[..., None] * (self.concentration / self.total_concentration[..., None])

    def _factor(self) -> Any:
        c0 = self.total_concentration[..., None]
        return sqrt((1.0 + c0 / self.total_count[..., None]) / (1.0 + c0))

    def _covariance(self) -> Any:
        x = self._factor() * self._mean()
        outer = matmul(x[..., None], x[..., None, :])
        return matrix_set_diag(-outer, self._variance())  # type: ignore[operator]

    def _variance(self) -> Any:
        scale = self._factor()
        x = scale * self._mean()
        return x * (self.total_count[..., None] * scale - x)
