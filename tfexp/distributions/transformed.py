"""`tf.contrib.distributions.TransformedDistribution`: the image of a distribution under a bijector. TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.distributions.bijectors.bijector import Bijector
from tfexp.distributions.bijectors.elementwise import Identity
from tfexp.distributions.distribution import Distribution, as_vector, keeps_arguments
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.shape_inference import static_value_as_shape
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import size
from tfexp.ops.array_fill import broadcast_to, zeros
from tfexp.ops.array_join import concat, stack
from tfexp.ops.array_order import transpose
from tfexp.ops.cast import cast
from tfexp.ops.reduce import reduce_prod, reduce_sum
from tfexp.ops.reduce_composite import reduce_logsumexp


class TransformedDistribution(Distribution):
    """bijector(X) for X of `distribution`, whose scalar batch or event may be made to be of a shape.

    batch_shape, event_shape: as many independent draws of a distribution that has none of its own. ValueError where it
    has. Mean, mode and entropy are there for constant Jacobians, quantiles for scalar events of increasing bijectors.
    Source: `tf.contrib.distributions.TransformedDistribution`.
    """

    @keeps_arguments
    def __init__(
        self,
        distribution: Distribution,
        bijector: Bijector | None = None,
        batch_shape: Any = None,
        event_shape: Any = None,
        validate_args: bool = False,
        name: str | None = None,
    ):
        self._distribution = distribution
        self._bijector = Identity(validate_args=validate_args) if bijector is None else bijector
        given = {"batch_shape": batch_shape, "event_shape": event_shape}
        for what, wanted in given.items():
            own = getattr(distribution, what)
            if wanted is not None and own.ndims != 0:
                raise ValueError(f"{what} is given, but the distribution has one, {own}")
        base = distribution.name.rstrip("/").split("/")[-1]
        with name_scope(name or self._bijector.name + base, values=[batch_shape, event_shape]) as scope:
            self._more_batch, self._more_event = (
                None if dims is None else convert_to_tensor(dims, dtypes.int32, name=what) for what, dims in given.items()
            )
        parents = [*distribution._graph_parents, *self._bijector.graph_parents]
        super().__init__(
            distribution.dtype,
            distribution.reparameterization_type,
            validate_args,
            distribution.allow_nan_stats,
            self._arguments,
            parents,
            scope,
        )

    @property
    def distribution(self) -> Any:
        """The one that is transformed."""
        return self._distribution

    @property
    def bijector(self) -> Bijector:
        return self._bijector

    # --- shapes -------------------------------------------------------------------------------------------------------

    def _base_event_shape(self) -> TensorShape:
        own = self._distribution.event_shape
        return own if self._more_event is None else static_value_as_shape(self._more_event)

    def _batch_shape(self) -> TensorShape:
        own = self._distribution.batch_shape
        return own if self._more_batch is None else static_value_as_shape(self._more_batch)

    def _event_shape(self) -> TensorShape:
        return self._bijector.forward_event_shape(self._base_event_shape())

    def _batch_shape_tensor(self) -> Tensor:
        return self._distribution.batch_shape_tensor() if self._more_batch is None else self._more_batch

    def _base_event_shape_tensor(self) -> Tensor:
        return self._distribution.event_shape_tensor() if self._more_event is None else self._more_event

    def _event_shape_tensor(self) -> Any:
        return self._bijector.forward_event_shape_tensor(self._base_event_shape_tensor())

    def _more_axes(self) -> int:
        """How many axes of events the distribution does not have itself."""
        return 0 if self._more_event is None else self._base_event_shape().ndims or 0

    def _event_ndims(self) -> Any:
        """An int, or a tensor where only the run knows."""
        rank = self.event_shape.ndims
        return size(self.event_shape_tensor()) if rank is None else rank

    # --- what is asked of it ------------------------------------------------------------------------------------------

    def sample(self, sample_shape: Any = (), seed: int | None = None, name: str = "sample") -> Tensor:
        """Draws of that shape: the bijector's very images, so that it knows what they are of."""
        with self._scope(name, [sample_shape]):
            wanted, _ = as_vector(convert_to_tensor(sample_shape, dtypes.int32, name="sample_shape"))
            more = [dims for dims in (self._more_batch, self._more_event) if dims is not None]
            drawn = self._distribution.sample(concat([wanted, *more], 0), seed=seed)
            own, axes, first = self._distribution.batch_shape.ndims, self._more_axes(), wanted.shape[0].value
            if own and axes:  # the distribution's batch comes before the event that it has not
                if first is None:
                    raise ValueError("the rank of sample_shape must be known where event_shape is overridden")
                event, batch = range(first, first + axes), range(first + axes, first + axes + own)
                drawn = transpose(drawn, [*range(first), *batch, *event])
            result: Tensor = self._bijector.forward(drawn)
            result.set_shape(static_value_as_shape(wanted).concatenate(self.batch_shape).concatenate(self.event_shape))
            return result

    def _of_each(self, y: Any) -> list[tuple[Any, Any]]:
        """(x, log |det| of the inverse's Jacobian) for each x that y is the image of."""
        x = self._bijector.inverse(y)
        logs = self._bijector.inverse_log_det_jacobian(y, event_ndims=self._event_ndims())
        return [(x, logs)] if self._bijector._is_injective else list(zip(x, logs, strict=True))

    def _log_prob(self, y: Any) -> Any:
        found = [self._summed(self._distribution.log_prob(x)) + logs for x, logs in self._of_each(y)]
        return found[0] if len(found) == 1 else reduce_logsumexp(stack(found), 0)

    def _summed(self, x: Any) -> Any:
        axes = self._more_axes()
        return reduce_sum(x, list(range(-axes, 0))) if axes else x

    def _at_preimage(self, question: str, y: Any) -> Any:
        if self._more_event is not None:
            raise NotImplementedError(f"{question} is not implemented when overriding event_shape")
        if not self._bijector._is_injective:
            raise NotImplementedError(f"{question} is not implemented when bijector is not injective.")
        return getattr(self._distribution, question)(self._bijector.inverse(y))

    def _cdf(self, y: Any) -> Any:
        return self._at_preimage("cdf", y)

    def _log_cdf(self, y: Any) -> Any:
        return self._at_preimage("log_cdf", y)

    def _survival_function(self, y: Any) -> Any:
        return self._at_preimage("survival_function", y)

    def _log_survival_function(self, y: Any) -> Any:
        return self._at_preimage("log_survival_function", y)

    def _quantile(self, p: Any) -> Any:
        if self._more_event is not None:
            raise NotImplementedError("quantile is not implemented when overriding event_shape")
        return self._bijector.forward(self._distribution.quantile(p))

    def _image_of(self, question: str) -> Any:
        """What the distribution answers, as wide as this one, transformed."""
        if not self._bijector.is_constant_jacobian:
            raise NotImplementedError(f"{question} is not implemented for non-affine bijectors")
        x: Any = getattr(self._distribution, question)()
        axes = self._more_axes()
        if axes:
            x = x[(..., *[None] * axes)]
        if self._more_batch is not None or axes:
            x = broadcast_to(x, concat([self._batch_shape_tensor(), self._base_event_shape_tensor()], 0))
        return self._bijector.forward(x)

    def _mean(self) -> Any:
        return self._image_of("mean")

    def _mode(self) -> Any:
        return self._image_of("mode")

    def _entropy(self) -> Any:
        if not (self._bijector.is_constant_jacobian and self._bijector._is_injective):
            raise NotImplementedError("entropy is not implemented for bijectors without a constant Jacobian, or inverse")
        entropy: Any = self._distribution.entropy()
        if self._more_axes():
            # The draws of one event are independent and alike.
            entropy = entropy * cast(reduce_prod(self._more_event), entropy.dtype)
        if self._more_batch is not None:
            entropy = broadcast_to(entropy, self._more_batch)
        event: Any = zeros(self.event_shape_tensor(), self.dtype)
        return entropy - self._bijector.inverse_log_det_jacobian(event, event_ndims=self._event_ndims())
