"""`tf.contrib.distributions.BatchReshape`: the same distributions in a batch of another shape. TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.distributions.distribution import Distribution, keeps_arguments
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.scopes import name_scope
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import rank, reshape, shape, size
from tfexp.ops.array_join import concat
from tfexp.ops.array_mask import where_v2
from tfexp.ops.check_compare import assert_equal
from tfexp.ops.comparison import equal
from tfexp.ops.reduce import reduce_prod


class BatchReshape(Distribution):
    """The batch of `distribution` in the order that it has, as `batch_shape`, an int vector with at most one -1.

    ValueError for what is no vector, for sizes below 1 but that -1, and for another size than the batch's; what is not known
    before fails in the run. Values are of the whole batch: NotImplementedError for what would be broadcast.
    Source: `tf.contrib.distributions.BatchReshape`.
    """

    @keeps_arguments
    def __init__(
        self,
        distribution: Distribution,
        batch_shape: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str | None = None,
    ):
        with name_scope(name or f"BatchReshape{distribution.name}") as scope:
            self._wanted = convert_to_tensor(batch_shape, dtypes.int32, name="batch_shape")
            self._static = _static_batch(self._wanted, distribution.batch_shape)
        self._distribution = distribution
        super().__init__(
            distribution.dtype,
            distribution.reparameterization_type,
            validate_args,
            allow_nan_stats,
            self._arguments,
            [self._wanted, *distribution._graph_parents],
            scope,
        )

    @property
    def distribution(self) -> Distribution:
        """The one whose batch it is."""
        return self._distribution

    def _batch_shape(self) -> TensorShape:
        return self._static

    def _event_shape(self) -> TensorShape:
        return self._distribution.event_shape

    def _batch_shape_tensor(self) -> Tensor:
        count: Any = reduce_prod(self._distribution.batch_shape_tensor())
        open_size = count // -reduce_prod(self._wanted)  # where one is -1
        return where_v2(equal(self._wanted, -1), open_size, self._wanted)

    def _event_shape_tensor(self) -> Tensor:
        return self._distribution.event_shape_tensor()

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        drawn = self._distribution.sample(n, seed=seed)
        return self._in_shape(drawn, [[n], self._wanted, self.event_shape_tensor()], [None, self._static, self.event_shape])

    # --- of values ----------------------------------------------------------------------------------------------------

    def _log_prob(self, x: Any) -> Any:
        return self._of_batch(self._distribution.log_prob, x)

    def _prob(self, x: Any) -> Any:
        return self._of_batch(self._distribution.prob, x)

    def _log_cdf(self, x: Any) -> Any:
        return self._of_batch(self._distribution.log_cdf, x)

    def _cdf(self, x: Any) -> Any:
        return self._of_batch(self._distribution.cdf, x)

    def _log_survival_function(self, x: Any) -> Any:
        return self._of_batch(self._distribution.log_survival_function, x)

    def _survival_function(self, x: Any) -> Any:
        return self._of_batch(self._distribution.survival_function, x)

    def _of_batch(self, function: Callable[[Any], Any], x: Any) -> Any:
        """What `function` of the distribution gives for values [*samples, *batch, *event]: [*samples, *batch]."""
        x = self._of_whole_batch(x)
        one = self._static.concatenate(self.event_shape).ndims
        if x.shape.ndims is None or one is None:
            samples: Any = rank(x) - size(self._wanted) - size(self.event_shape_tensor())
            static = TensorShape(None)
        else:
            samples = x.shape.ndims - one
            static = x.shape[:samples]
        dims: Any = shape(x)[:samples]  # type: ignore[index]
        given = reshape(x, concat([dims, self._distribution.batch_shape_tensor(), self.event_shape_tensor()], 0))
        return self._in_shape(function(given), [dims, self._wanted], [static, self._static])

    def _of_whole_batch(self, x: Any) -> Any:
        expected = self._static.concatenate(self.event_shape)
        if x.shape.ndims is None or expected.ndims is None:
            return x
        told = f"Broadcasting is not supported: expected batch and event shape {expected}, saw {x.shape}"
        found = x.shape[max(x.shape.ndims - expected.ndims, 0) :]
        if not found.is_compatible_with(expected):
            raise NotImplementedError(told)
        if self._validate_args and not (found.is_fully_defined() and expected.is_fully_defined()):
            dims: Any = shape(x)
            of_one = concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)
            return with_dependencies([assert_equal(dims[-expected.ndims :], of_one, message=told)], x)
        return x

    # --- of itself ----------------------------------------------------------------------------------------------------

    def _entropy(self) -> Any:
        return self._of_events(self._distribution.entropy(), 0)

    def _mean(self) -> Any:
        return self._of_events(self._distribution.mean())

    def _mode(self) -> Any:
        return self._of_events(self._distribution.mode())

    def _stddev(self) -> Any:
        return self._of_events(self._distribution.stddev())

    def _variance(self) -> Any:
        return self._of_events(self._distribution.variance())

    def _covariance(self) -> Any:
        return self._of_events(self._distribution.covariance(), 2)

    def _of_events(self, found: Any, times: int = 1) -> Any:
        """A result whose shape is the batch's, and then so many times the event's."""
        dims = [self._wanted, *[self.event_shape_tensor()] * times]
        return self._in_shape(found, dims, [self._static, *[self.event_shape] * times])

    @staticmethod
    def _in_shape(found: Any, dims: list[Any], static: list[Any]) -> Any:
        result = reshape(found, concat(dims, 0))
        known = TensorShape([])
        for part in static:
            known = known.concatenate(TensorShape([None]) if part is None else part)
        result.set_shape(known)
        return result


def _static_batch(wanted: Tensor, batch: TensorShape) -> TensorShape:
    """The new batch shape, as far as it is known."""
    if wanted.shape.ndims not in (None, 1):
        raise ValueError(f"`batch_shape` must be a vector (saw rank: {wanted.shape.ndims}).")
    known = static_value(wanted)
    if known is None:
        length = wanted.shape[0].value if wanted.shape.ndims else None
        return TensorShape(None if length is None else [None] * length)
    sizes = [int(one) for one in known]
    if any(one < 1 and one != -1 for one in sizes):
        raise ValueError("`batch_shape` elements must be >=-1.")
    static = TensorShape([None if one == -1 else one for one in sizes])
    if None not in (static.num_elements(), batch.num_elements()) and static.num_elements() != batch.num_elements():
        raise ValueError(
            f"`batch_shape` size ({static.num_elements()}) must match `distribution.batch_shape` size "
            f"({batch.num_elements()})."
        )
    return static
