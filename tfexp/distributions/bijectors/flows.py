"""Flows: affine in some numbers, by a shift and a scale that are functions of others. TF 1.15 (`tf.contrib`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core import dtypes
from tfexp.distributions.bijectors.bijector import Bijector
from tfexp.graph.while_loop import while_loop
from tfexp.ops.array import shape
from tfexp.ops.array_fill import zeros_like
from tfexp.ops.array_join import concat
from tfexp.ops.comparison import less
from tfexp.ops.elementwise_unary import exp
from tfexp.ops.reduce import reduce_sum


def _affine(x: Any, shift: Any, log_scale: Any) -> Any:
    scaled = x if log_scale is None else x * exp(log_scale)
    return scaled if shift is None else scaled + shift


def _inverse_affine(y: Any, shift: Any, log_scale: Any) -> Any:
    centered = y if shift is None else y - shift
    return centered if log_scale is None else centered * exp(-log_scale)


class RealNVP(Bijector):
    """The first num_masked of [..., k] numbers stay; the others are scaled and shifted by functions of them.

    shift_and_log_scale_fn(first, k - num_masked, **condition_kwargs): both [..., k - num_masked]; None stands for 0.
    ValueError unless 0 < num_masked < k. Source: `tf.contrib.distributions.bijectors.RealNVP`; Dinh et al., "Density
    estimation using Real NVP" (2017).
    """

    def __init__(
        self,
        num_masked: int,
        shift_and_log_scale_fn: Callable[..., tuple[Any, Any]],
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        name: str | None = None,
    ):
        if num_masked <= 0:
            raise ValueError("num_masked must be a positive integer.")
        self._num_masked, self._function = num_masked, shift_and_log_scale_fn
        super().__init__(
            forward_min_event_ndims=1,
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            name=name or "real_nvp",
        )

    def _parts(self, x: Any, condition: dict[str, Any]) -> tuple[Any, Any, Any, Any]:
        """(what stays, what is transformed, the shift of it, the logarithm of the scale)."""
        depth = x.shape.with_rank_at_least(1)[-1].value
        if depth is None:
            raise NotImplementedError("Rightmost dimension must be known prior to graph execution.")
        if self._num_masked >= depth:
            raise ValueError(f"Number of masked units {self._num_masked} must be smaller than the event size {depth}.")
        first = x[..., : self._num_masked]
        return first, x[..., self._num_masked :], *self._function(first, depth - self._num_masked, **condition)

    def _forward(self, x: Any, **condition_kwargs: Any) -> Any:
        first, rest, shift, log_scale = self._parts(x, condition_kwargs)
        return concat([first, _affine(rest, shift, log_scale)], -1)

    def _inverse(self, y: Any, **condition_kwargs: Any) -> Any:
        first, rest, shift, log_scale = self._parts(y, condition_kwargs)
        return concat([first, _inverse_affine(rest, shift, log_scale)], -1)

    def _forward_log_det_jacobian(self, x: Any, **condition_kwargs: Any) -> Any:
        _, _, _, log_scale = self._parts(x, condition_kwargs)
        return reduce_sum(zeros_like(x) if log_scale is None else log_scale, -1)

    def _inverse_log_det_jacobian(self, y: Any, **condition_kwargs: Any) -> Any:
        # What the scale depends on is the same before and after.
        return -self._forward_log_det_jacobian(y, **condition_kwargs)


class MaskedAutoregressiveFlow(Bijector):
    """y[i] = x[i] exp(log_scale[i]) + shift[i], each a function of y[:i]: k steps forward, one backward.

    shift_and_log_scale_fn(y, **condition_kwargs): both [..., k], the i-th of which depends on y[:i] alone; None stands for
    0. unroll_loop: the steps are nodes, not a loop, which needs k to be known (ValueError). Source:
    `tf.contrib.distributions.bijectors.MaskedAutoregressiveFlow`; Papamakarios et al. (2017).
    """

    def __init__(
        self,
        shift_and_log_scale_fn: Callable[..., tuple[Any, Any]],
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        unroll_loop: bool = False,
        name: str | None = None,
    ):
        self._function, self._unroll = shift_and_log_scale_fn, unroll_loop
        super().__init__(
            forward_min_event_ndims=1,
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            name=name or "masked_autoregressive_flow",
        )

    def _forward(self, x: Any, **condition_kwargs: Any) -> Any:
        # After i steps the first i numbers are final.
        def step(y: Any) -> Any:
            return _affine(x, *self._function(y, **condition_kwargs))

        if not self._unroll:
            steps: Any = shape(x)[-1]  # type: ignore[index]
            start = (zeros_like(steps, dtype=dtypes.int32), zeros_like(x))
            _, y = while_loop(lambda i, _: less(i, steps), lambda i, y: (i + 1, step(y)), start)
            return y
        depth = x.shape.with_rank_at_least(1)[-1].value
        if depth is None:
            raise ValueError("The final dimension of `x` must be known at graph construction time if `unroll_loop=True`.")
        y = zeros_like(x)
        for _ in range(depth):
            y = step(y)
        return y

    def _inverse(self, y: Any, **condition_kwargs: Any) -> Any:
        return _inverse_affine(y, *self._function(y, **condition_kwargs))

    def _inverse_log_det_jacobian(self, y: Any, **condition_kwargs: Any) -> Any:
        _, log_scale = self._function(y, **condition_kwargs)
        return -reduce_sum(zeros_like(y) if log_scale is None else log_scale, -1)  # type: ignore[operator]
