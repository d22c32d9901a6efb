"""Multivariate normal distributions: `loc + scale @ z` for z of independent standard normal numbers. TF 1.15 (`tf.contrib`).

loc: [..., k]; scale: k x k, not singular; its batch and loc's broadcast. They differ in how the scale is given.
"""

from __future__ import annotations

import math
from typing import Any

from tfexp.core.shape import TensorShape, broadcast_shapes
from tfexp.distributions.checks import checked_regular
from tfexp.distributions.distribution import FULLY_REPARAMETERIZED, Distribution, keeps_arguments, same_floats
from tfexp.distributions.kullback_leibler import RegisterKL
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.linear_operators.dense import LinearOperatorLowerTriangular
from tfexp.linear_operators.derived import LinearOperatorLowRankUpdate
from tfexp.linear_operators.diagonals import LinearOperatorDiag, LinearOperatorIdentity, LinearOperatorScaledIdentity
from tfexp.linear_operators.operator import LinearOperator
from tfexp.ops.array import expand_dims, shape
from tfexp.ops.array_fill import zeros
from tfexp.ops.array_identity import identity
from tfexp.ops.array_join import concat
from tfexp.ops.array_order import matrix_transpose
from tfexp.ops.broadcast_shapes import broadcast_dynamic_shape
from tfexp.ops.cast import cast
from tfexp.ops.check_compare import assert_equal
from tfexp.ops.diagonal import matrix_band_part, matrix_diag_part
from tfexp.ops.elementwise_unary import sqrt, square
from tfexp.ops.linalg import cholesky
from tfexp.ops.nn_activation import softplus
from tfexp.ops.random import random_normal
from tfexp.ops.reduce import reduce_sum


class LocationAndScale:
    """Of distributions with a `loc`, None for 0, and a `scale`: what these say of the batch and of events."""

    _loc: Tensor | None
    _scale: LinearOperator

    @property
    def loc(self) -> Tensor | None:
        """The `loc` given; None stands for 0."""
        return self._loc

    @property
    def scale(self) -> LinearOperator:
        return self._scale

    def _batch_shape(self) -> TensorShape:
        return self.scale.batch_shape if self.loc is None else broadcast_shapes(self.scale.batch_shape, self.loc.shape[:-1])

    def _batch_shape_tensor(self) -> Tensor:
        own = self.scale.batch_shape_tensor()
        if self.loc is None:
            return own
        dims: Any = shape(self.loc)
        return broadcast_dynamic_shape(own, dims[:-1])

    def _event_shape(self) -> TensorShape:
        return TensorShape([self.scale.range_dimension.value])

    def _event_shape_tensor(self) -> Tensor:
        return expand_dims(self.scale.range_dimension_tensor(), 0)


class MultivariateNormal(LocationAndScale, Distribution):
    """What they share, whatever linear operator the scale is."""

    def __init__(
        self,
        loc: Tensor | None,
        scale: LinearOperator,
        validate_args: bool,
        allow_nan_stats: bool,
        arguments: dict[str, Any],
        name: str,
    ):
        self._loc, self._scale = loc, scale
        parents = [*scale.graph_parents, *([] if loc is None else [loc])]
        super().__init__(scale.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, arguments, parents, name)

    def _wide(self, x: Any, inner_dims: Any) -> Any:
        """`x` of the scale's batch, or of none, with the whole batch."""
        return x + zeros(concat([self.batch_shape_tensor(), inner_dims], 0), self.dtype)

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        dims = concat([[n], self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        drawn = self.scale.matvec(random_normal(dims, dtype=self.dtype, seed=seed))
        return drawn if self.loc is None else drawn + self.loc  # type: ignore[operator]

    def _log_prob(self, x: Any) -> Any:
        z = self.scale.solvevec(x if self.loc is None else x - self.loc)
        return -0.5 * reduce_sum(square(z), -1) - self._log_normalization(2.0 * math.pi)

    def _entropy(self) -> Any:
        return self._wide(self._log_normalization(2.0 * math.pi * math.e), [])

    def _log_normalization(self, factor: float) -> Any:
        """log |scale| + k / 2 log(factor)."""
        dims: Any = cast(self.scale.range_dimension_tensor(), self.dtype)
        return self.scale.log_abs_determinant() + 0.5 * math.log(factor) * dims

    def _mean(self) -> Any:
        return self._wide(0.0 if self.loc is None else self.loc, self.event_shape_tensor())

    _mode = _mean

    def _variance(self) -> Any:
        if isinstance(self.scale, (LinearOperatorDiag, LinearOperatorIdentity, LinearOperatorScaledIdentity)):
            found = square(self.scale.diag_part())
        else:
            found = reduce_sum(square(self.scale.to_dense()), -1)
        return self._wide(found, self.event_shape_tensor())

    def _stddev(self) -> Any:
        return sqrt(self._variance())

    def _covariance(self) -> Any:
        found = self.scale.matmul(self.scale.to_dense(), adjoint_arg=True)
        return self._wide(found, concat([self.event_shape_tensor()] * 2, 0))


@RegisterKL(MultivariateNormal, MultivariateNormal)
def _(a: Any, b: Any, name: str | None = None) -> Any:
    """log |B| - log |A| + (|B^-1 A|^2 - k + |B^-1 (b - a)|^2) / 2 for the means a, b and the scales A, B."""
    with name_scope(name, "kl_mvn"):
        ratio = reduce_sum(square(b.scale.solve(a.scale.to_dense())), [-2, -1])
        apart = reduce_sum(square(b.scale.solvevec(b.mean() - a.mean())), -1)
        dims: Any = cast(a.scale.range_dimension_tensor(), a.dtype)
        logs = b.scale.log_abs_determinant() - a.scale.log_abs_determinant()
        return logs + 0.5 * (ratio - dims + apart)


def _of_loc(loc: Tensor | None, asked: str, multiplier: Any = None) -> LinearOperator:
    """The identity (times a number) of loc's size; ValueError where there is no loc to tell it."""
    if loc is None:
        raise ValueError(f"{asked} cannot be omitted together with loc: how long is an event?")
    dims: Any = shape(loc)
    rows = loc.shape[-1].value or dims[-1]
    if multiplier is None:
        return LinearOperatorIdentity(rows, dtype=loc.dtype)
    return LinearOperatorScaledIdentity(rows, multiplier)


def located(validate_args: bool, loc: Any, scale_diag: Any, multiplier: Any) -> tuple[Tensor | None, LinearOperator]:
    """(loc, the diagonal scale) of what is given, each of it or None; ValueError where loc and scale_diag are both None."""
    loc, scale_diag, multiplier = _tensors(loc=loc, scale_diag=scale_diag, multiplier=multiplier)
    return loc, _diagonal(validate_args, loc, scale_diag, multiplier)


def _diagonal(validate_args: bool, loc: Tensor | None, diag: Any, multiplier: Any, **hints: Any) -> LinearOperator:
    """diag(diag + multiplier), of loc's size where there is no `diag`."""
    if diag is None:
        return _of_loc(loc, "scale_diag", multiplier)
    whole = diag if multiplier is None else diag + expand_dims(multiplier, -1)
    return LinearOperatorDiag(checked_regular(validate_args, whole, whole), **hints)


class MultivariateNormalDiag(MultivariateNormal):
    """Of independent numbers: scale = diag(scale_diag + scale_identity_multiplier), the identity if neither is given.

    scale_diag: [..., k]; scale_identity_multiplier: [...]. ValueError where loc and scale_diag are both None.
    Source: `tf.contrib.distributions.MultivariateNormalDiag`.
    """

    @keeps_arguments
    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiag",
    ):
        with name_scope(name, values=[loc, scale_diag, scale_identity_multiplier]) as scope:
            loc, scale = located(validate_args, loc, scale_diag, scale_identity_multiplier)
        super().__init__(loc, scale, validate_args, allow_nan_stats, self._arguments, scope)


class MultivariateNormalDiagWithSoftplusScale(MultivariateNormalDiag):
    """MultivariateNormalDiag whose scale_diag is softplus of what is given.

    Source: `tf.contrib.distributions.MultivariateNormalDiagWithSoftplusScale`.
    """

    @keeps_arguments
    def __init__(
        self,
        loc: Any,
        scale_diag: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiagWithSoftplusScale",
    ):
        with name_scope(name, values=[loc, scale_diag]) as scope:
            positive = softplus(convert_to_tensor(scale_diag), name="softplus_scale_diag")
        super().__init__(loc, positive, None, validate_args, allow_nan_stats, scope)


class MultivariateNormalTriL(MultivariateNormal):
    """By scale_tril [..., k, k], of which the lower triangle counts (the identity if None): covariance L @ L'.

    ValueError where loc and scale_tril are both None. Source: `tf.contrib.distributions.MultivariateNormalTriL`.
    """

    @keeps_arguments
    def __init__(
        self,
        loc: Any = None,
        scale_tril: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalTriL",
    ):
        with name_scope(name, values=[loc, scale_tril]) as scope:
            loc, tril = _tensors(loc=loc, scale_tril=scale_tril)
            if tril is None:
                scale = _of_loc(loc, "scale_tril")
            else:
                tril = matrix_band_part(tril, -1, 0)
                scale = LinearOperatorLowerTriangular(checked_regular(validate_args, tril, matrix_diag_part(tril)))
        super().__init__(loc, scale, validate_args, allow_nan_stats, self._arguments, scope)


class MultivariateNormalFullCovariance(MultivariateNormalTriL):
    """By covariance_matrix [..., k, k], symmetric and positive definite (the identity if None).

    Validation asks for symmetry. Source: `tf.contrib.distributions.MultivariateNormalFullCovariance`.
    """

    @keeps_arguments
    def __init__(
        self,
        loc: Any = None,
        covariance_matrix: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalFullCovariance",
    ):
        with name_scope(name, values=[loc, covariance_matrix]) as scope:
            loc, tril = _tensors(loc=loc, covariance_matrix=covariance_matrix)
            if tril is not None:
                if validate_args:
                    symmetric = assert_equal(tril, matrix_transpose(tril), message="Matrix was not symmetric.")
                    tril = with_dependencies([symmetric], tril)
                tril = cholesky(tril)
        super().__init__(loc, tril, validate_args, allow_nan_stats, scope)


class MultivariateNormalDiagPlusLowRank(MultivariateNormal):
    """scale = diag(scale_diag + scale_identity_multiplier) + U diag(d) U' for U of few columns; it is positive definite.

    scale_perturb_factor: U [..., k, r], without which it is MultivariateNormalDiag; scale_perturb_diag: d [..., r], ones if
    None. Work grows with k r², not k³. ValueError where loc and scale_diag are both None.
    Source: `tf.contrib.distributions.MultivariateNormalDiagPlusLowRank`.
    """

    @keeps_arguments
    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        scale_perturb_factor: Any = None,
        scale_perturb_diag: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiagPlusLowRank",
    ):
        values = [loc, scale_diag, scale_identity_multiplier, scale_perturb_factor, scale_perturb_diag]
        with name_scope(name, values=values) as scope:
            loc, diag, multiplier, factor, update = _tensors(
                loc=loc,
                scale_diag=scale_diag,
                multiplier=scale_identity_multiplier,
                scale_perturb_factor=scale_perturb_factor,
                scale_perturb_diag=scale_perturb_diag,
            )
            scale = base = _diagonal(validate_args, loc, diag, multiplier, is_positive_definite=True)
            if factor is not None:
                scale = LinearOperatorLowRankUpdate(
                    base,
                    factor,
                    update,
                    is_diag_update_positive=update is None,
                    is_non_singular=True,
                    is_self_adjoint=True,
                    is_positive_definite=True,
                    is_square=True,
                )
        super().__init__(loc, scale, validate_args, allow_nan_stats, self._arguments, scope)


def _tensors(**values: Any) -> list[Any]:
    """Those that are not None as tensors of one type, which Python's numbers take from the others."""
    given = {name: value for name, value in values.items() if value is not None}
    kept = dict(zip(given, same_floats(*given.values()), strict=True))
    tensors = {name: identity(convert_to_tensor(value), name=name) for name, value in kept.items()}
    return [tensors.get(name) for name in values]
