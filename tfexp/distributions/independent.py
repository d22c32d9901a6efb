"""`tf.contrib.distributions.Independent`: axes of a batch as axes of one event. TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core.shape import TensorShape
from tfexp.distributions.distribution import Distribution, keeps_arguments
from tfexp.distributions.kullback_leibler import RegisterKL, kl_divergence
from tfexp.graph.scopes import name_scope
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_join import concat
from tfexp.ops.reduce import reduce_sum


class Independent(Distribution):
    """The last `reinterpreted_batch_ndims` axes of the batch belong to the event, by default all but the first.

    ValueError for more axes than the batch has, or a number of them that is not known.
    Source: `tf.contrib.distributions.Independent`.
    """

    @keeps_arguments
    def __init__(
        self,
        distribution: Distribution,
        reinterpreted_batch_ndims: Any = None,
        validate_args: bool = False,
        name: str | None = None,
    ):
        rank = distribution.batch_shape.ndims
        if isinstance(reinterpreted_batch_ndims, Tensor):
            reinterpreted_batch_ndims = static_value(reinterpreted_batch_ndims)
        if reinterpreted_batch_ndims is None:
            if rank is None:
                raise ValueError("reinterpreted_batch_ndims has to be known where the rank of the batch is not")
            reinterpreted_batch_ndims = max(0, rank - 1)
        self._axes = int(reinterpreted_batch_ndims)
        if rank is not None and self._axes > rank:
            raise ValueError(f"reinterpreted_batch_ndims({self._axes}) cannot exceed distribution.batch_ndims({rank})")
        self._distribution = distribution
        with name_scope(name or "Independent" + distribution.name.rstrip("/").split("/")[-1]) as scope:
            pass
        super().__init__(
            distribution.dtype,
            distribution.reparameterization_type,
            validate_args,
            distribution.allow_nan_stats,
            self._arguments,
            distribution._graph_parents,
            scope,
        )

    @property
    def distribution(self) -> Distribution:
        """The one whose batch it is."""
        return self._distribution

    @property
    def reinterpreted_batch_ndims(self) -> int:
        return self._axes

    def _batch_shape(self) -> TensorShape:
        batch = self._distribution.batch_shape
        return batch if batch.ndims is None else batch[: batch.ndims - self._axes]

    def _event_shape(self) -> TensorShape:
        batch = self._distribution.batch_shape
        if batch.ndims is None:
            return TensorShape(None)
        return batch[batch.ndims - self._axes :].concatenate(self._distribution.event_shape)

    def _batch_shape_tensor(self) -> Tensor:
        dims: Any = self._distribution.batch_shape_tensor()
        return dims[: -self._axes] if self._axes else dims  # type: ignore[no-any-return]

    def _event_shape_tensor(self) -> Tensor:
        dims: Any = self._distribution.batch_shape_tensor()
        moved = dims[-self._axes :] if self._axes else dims[:0]
        return concat([moved, self._distribution.event_shape_tensor()], 0)

    def _summed(self, x: Any) -> Any:
        return reduce_sum(x, axis=list(range(-self._axes, 0)))

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        return self._distribution.sample(n, seed=seed)

    def _log_prob(self, x: Any) -> Any:
        return self._summed(self._distribution.log_prob(x))

    def _entropy(self) -> Any:
        return self._summed(self._distribution.entropy())

    def _mean(self) -> Any:
        return self._distribution.mean()

    def _variance(self) -> Any:
        return self._distribution.variance()

    def _stddev(self) -> Any:
        return self._distribution.stddev()

    def _mode(self) -> Any:
        return self._distribution.mode()


@RegisterKL(Independent, Independent)
def _(a: Any, b: Any, name: str | None = None) -> Any:
    """NotImplementedError for two that see different axes of their batches as the event."""
    if a.reinterpreted_batch_ndims != b.reinterpreted_batch_ndims or not a.event_shape.is_compatible_with(b.event_shape):
        raise NotImplementedError(f"KL between Independents with different event shapes: {a.event_shape}, {b.event_shape}")
    with name_scope(name, "kl_independent"):
        return a._summed(kl_divergence(a.distribution, b.distribution))
