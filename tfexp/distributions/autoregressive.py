"""`tf.contrib.distributions.Autoregressive`: each coordinate of an event by the coordinates before it. TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core.shape import TensorShape
from tfexp.distributions.distribution import Distribution, keeps_arguments
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor


class Autoregressive(Distribution):
    """A value has the density that `distribution_fn(value)` gives it, whose parameters depend on coordinates before only.

    sample0: what `distribution_fn` is called with first, for shapes and the first sample; without it it is called without
    an argument. num_steps: how often a sample is drawn anew by what its last one says, by default once for each coordinate.
    ValueError for less than 1, and where the number of coordinates is not known.
    """

    @keeps_arguments
    def __init__(
        self,
        distribution_fn: Callable[..., Distribution],
        sample0: Any = None,
        num_steps: int | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Autoregressive",
    ):
        with name_scope(name) as scope:
            first = distribution_fn() if sample0 is None else distribution_fn(sample0)
        steps = first.event_shape.num_elements() if num_steps is None else num_steps
        if steps is None:
            raise ValueError("distribution_fn must generate a distribution with fully known `event_shape`.")
        if steps < 1:
            raise ValueError(f"num_steps ({steps}) must be at least 1.")
        self._distribution_fn, self._sample0, self._distribution0, self._num_steps = distribution_fn, sample0, first, steps
        super().__init__(
            first.dtype,
            first.reparameterization_type,
            validate_args,
            allow_nan_stats,
            self._arguments,
            first._graph_parents,
            scope,
        )

    @property
    def distribution_fn(self) -> Callable[..., Distribution]:
        return self._distribution_fn

    @property
    def sample0(self) -> Any:
        return self._sample0

    @property
    def num_steps(self) -> int:
        return self._num_steps

    @property
    def distribution0(self) -> Distribution:
        """What `distribution_fn` gives for `sample0`."""
        return self._distribution0

    def _batch_shape(self) -> TensorShape:
        return self._distribution0.batch_shape

    def _batch_shape_tensor(self) -> Tensor:
        return self._distribution0.batch_shape_tensor()

    def _event_shape(self) -> TensorShape:
        return self._distribution0.event_shape

    def _event_shape_tensor(self) -> Tensor:
        return self._distribution0.event_shape_tensor()

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        drawn = self._distribution0.sample(n, seed=seed)
        for _ in range(self._num_steps):
            drawn = self._distribution_fn(drawn).sample(seed=seed)
        return drawn

    def _log_prob(self, x: Any) -> Any:
        return self._distribution_fn(x).log_prob(x)

    def _prob(self, x: Any) -> Any:
        return self._distribution_fn(x).prob(x)
