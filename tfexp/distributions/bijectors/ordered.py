"""Increasing numbers as any numbers. Source: TF 1.15 (`tf.contrib.distributions.bijectors`)."""

from __future__ import annotations

from typing import Any

from tfexp.distributions.bijectors.bijector import Bijector
from tfexp.graph.dependencies import with_dependencies
from tfexp.ops.array_join import concat
from tfexp.ops.check_compare import assert_positive
from tfexp.ops.cumulative import cumsum
from tfexp.ops.elementwise_unary import exp, log
from tfexp.ops.reduce import reduce_sum


class Ordered(Bijector):
    """Increasing numbers [..., k]: the first, and the logarithms of the steps from each to the next.

    Source: `tf.contrib.distributions.bijectors.Ordered`.
    """

    def __init__(self, validate_args: bool = False, name: str = "ordered"):
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _steps(self, x: Any) -> Any:
        steps = x[..., 1:] - x[..., :-1]
        if not self.validate_args:
            return steps
        message = "Forward transformation input must be strictly increasing."
        return with_dependencies([assert_positive(steps, message=message)], steps)

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        return concat([x[..., :1], log(self._steps(x))], -1)

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        return cumsum(concat([y[..., :1], exp(y[..., 1:])], -1), -1)

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        return reduce_sum(y[..., 1:], -1)

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        return -reduce_sum(log(self._steps(x)), -1)  # type: ignore[operator]
