"""Distributions of one value: what is known for certain, as a distribution. TF 1.15 (`tf.contrib`)."""

from __future__ import annotations

from typing import Any

from tfexp.core.shape import TensorShape, broadcast_shapes
from tfexp.distributions.distribution import NOT_REPARAMETERIZED, Distribution, keeps_arguments
from tfexp.distributions.kullback_leibler import RegisterKL
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import shape
from tfexp.ops.array_fill import broadcast_to, zeros, zeros_like
from tfexp.ops.array_identity import identity
from tfexp.ops.array_join import concat
from tfexp.ops.cast import cast
from tfexp.ops.check_compare import assert_non_negative, assert_rank_at_least
from tfexp.ops.comparison import greater_equal, less_equal
from tfexp.ops.elementwise_unary import abs as abs_
from tfexp.ops.reduce import reduce_all


class _OneValue(Distribution):
    """`loc`, and what lies within atol + rtol * |loc| of it."""

    def __init__(
        self,
        loc: Any,
        atol: Any,
        rtol: Any,
        event_ndims: int,
        validate_args: bool,
        allow_nan_stats: bool,
        arguments: dict[str, Any],
        name: str,
    ):
        with name_scope(name, values=[loc, atol, rtol]) as scope:
            self._loc: Any = convert_to_tensor(loc, name="loc")
            if event_ndims and validate_args:
                message = "Argument loc must be at least rank 1."
                self._loc = with_dependencies([assert_rank_at_least(self._loc, 1, message=message)], self._loc)
            self._atol, self._rtol = (self._tolerance(x, n, validate_args) for x, n in ((atol, "atol"), (rtol, "rtol")))
            self._slack = self._atol + self._rtol * abs_(self._loc)
        self._event_ndims = event_ndims
        parents = [self._loc, self._atol, self._rtol]
        super().__init__(self._loc.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, arguments, parents, scope)

    def _tolerance(self, value: Any, name: str, validate_args: bool) -> Any:
        tensor = convert_to_tensor(0 if value is None else value, self._loc.dtype, name=name)
        if not validate_args:
            return tensor
        return with_dependencies([assert_non_negative(tensor, message=f"Argument {name!r} must be non-negative")], tensor)

    @property
    def loc(self) -> Any:
        return self._loc

    @property
    def atol(self) -> Any:
        return self._atol

    @property
    def rtol(self) -> Any:
        return self._rtol

    def _whole(self) -> TensorShape:
        return broadcast_shapes(self._loc.shape, self._slack.shape)

    def _batch_shape(self) -> TensorShape:
        return self._whole()[:-1] if self._event_ndims else self._whole()

    def _event_shape(self) -> TensorShape:
        return self._whole()[-1:] if self._event_ndims else TensorShape([])

    def _batch_shape_tensor(self) -> Tensor:
        dims: Any = shape(self._slack + self._loc)
        return dims[:-1] if self._event_ndims else dims  # type: ignore[no-any-return]

    def _event_shape_tensor(self) -> Tensor:
        dims: Any = shape(self._slack + self._loc)
        return dims[-1:] if self._event_ndims else dims[:0]  # type: ignore[no-any-return]

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        return broadcast_to(self._loc, concat([[n], self.batch_shape_tensor(), self.event_shape_tensor()], 0))

    def _prob(self, x: Any) -> Any:
        near = less_equal(abs_(x - self._loc), self._slack)
        return cast(reduce_all(near, -1) if self._event_ndims else near, self.dtype)

    def _entropy(self) -> Any:
        return zeros(self.batch_shape_tensor(), self.dtype)

    def _mean(self) -> Any:
        return identity(self._loc)

    _mode = _mean

    def _variance(self) -> Any:
        return zeros_like(self._loc)


class Deterministic(_OneValue):
    """Numbers: probability 1 within atol + rtol * |loc| of loc, else 0. Source: `tf.contrib.distributions.Deterministic`."""

    @keeps_arguments
    def __init__(
        self,
        loc: Any,
        atol: Any = None,
        rtol: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Deterministic",
    ):
        super().__init__(loc, atol, rtol, 0, validate_args, allow_nan_stats, self._arguments, name)

    def _cdf(self, x: Any) -> Any:
        return cast(greater_equal(x, self._loc - self._slack), self.dtype)


class VectorDeterministic(_OneValue):
    """Vectors loc [..., k], of which every number has to be near. Source: `tf.contrib.distributions.VectorDeterministic`."""

    @keeps_arguments
    def __init__(
        self,
        loc: Any,
        atol: Any = None,
        rtol: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorDeterministic",
    ):
        super().__init__(loc, atol, rtol, 1, validate_args, allow_nan_stats, self._arguments, name)


@RegisterKL(_OneValue, Distribution)
def _(a: Any, b: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_deterministic_distribution"):
        return -b.log_prob(a.loc)
