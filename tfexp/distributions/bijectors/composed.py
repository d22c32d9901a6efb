"""Bijectors of others: one after the other, and backwards. Source: TF 1.15 (`tf.contrib.distributions.bijectors`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.core.shape import TensorShape
from tfexp.distributions.bijectors.bijector import Bijector
from tfexp.graph.convert import constant


class Invert(Bijector):
    """The inverse of a bijector. ValueError for one that is not injective. Source: `bijectors.Invert`."""

    def __init__(self, bijector: Bijector, validate_args: bool = False, name: str | None = None):
        if not bijector._is_injective:
            raise ValueError("Invert is not implemented for non-injective bijectors.")
        self._bijector = bijector
        super().__init__(
            graph_parents=bijector.graph_parents,
            forward_min_event_ndims=bijector.inverse_min_event_ndims,
            inverse_min_event_ndims=bijector.forward_min_event_ndims,
            is_constant_jacobian=bijector.is_constant_jacobian,
            validate_args=validate_args,
            dtype=bijector.dtype,
            name=name or f"invert_{bijector.name}",
        )

    @property
    def bijector(self) -> Bijector:
        """The one that is inverted."""
        return self._bijector

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        return self._bijector.inverse(x, **kwargs)

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        return self._bijector.forward(y, **kwargs)

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        return self._bijector.inverse_log_det_jacobian(x, self._bijector.inverse_min_event_ndims, **kwargs)

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        return self._bijector.forward_log_det_jacobian(y, self._bijector.forward_min_event_ndims, **kwargs)

    def _forward_event_shape(self, input_shape: TensorShape) -> TensorShape:
        return self._bijector.inverse_event_shape(input_shape)

    def _inverse_event_shape(self, output_shape: TensorShape) -> TensorShape:
        return self._bijector.forward_event_shape(output_shape)

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return self._bijector.inverse_event_shape_tensor(input_shape)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return self._bijector.forward_event_shape_tensor(output_shape)


class Chain(Bijector):
    """The composition: the last of the bijectors comes first; of none, the identity.

    Arguments for one of them are given by its name: `forward(x, exp={...})`. ValueError for one that is not injective, or
    two of different types. Source: `bijectors.Chain`.
    """

    def __init__(self, bijectors: Sequence[Bijector] | None = None, validate_args: bool = False, name: str | None = None):
        self._bijectors = tuple(bijectors or ())
        if not all(one._is_injective for one in self._bijectors):
            raise NotImplementedError("Invert is not implemented for non-injective bijectors.")
        kinds = {one.dtype for one in self._bijectors} - {None}
        if len(kinds) > 1:
            raise ValueError(f"incompatible dtypes: {[kind.name for kind in kinds if kind]}")
        super().__init__(
            graph_parents=[parent for one in self._bijectors for parent in one.graph_parents],
            forward_min_event_ndims=_least(
                [(one.forward_min_event_ndims, _raised(one)) for one in reversed(self._bijectors)]
            ),
            inverse_min_event_ndims=_least([(one.inverse_min_event_ndims, -_raised(one)) for one in self._bijectors]),
            is_constant_jacobian=all(one.is_constant_jacobian for one in self._bijectors),
            validate_args=validate_args,
            dtype=next(iter(kinds), None),
            name=name or ("_of_".join(["chain", *(one.name for one in self._bijectors)]) if bijectors else "identity"),
        )

    @property
    def bijectors(self) -> tuple[Bijector, ...]:
        return self._bijectors

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        for one in reversed(self._bijectors):
            x = one.forward(x, **kwargs.get(one.name, {}))
        return x

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        for one in self._bijectors:
            y = one.inverse(y, **kwargs.get(one.name, {}))
        return y

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        total: Any = constant(0.0, y.dtype, name="ildj")
        axes = self.inverse_min_event_ndims
        for one in self._bijectors:
            own = kwargs.get(one.name, {})
            total = total + one.inverse_log_det_jacobian(y, axes, **own)
            axes -= _raised(one)
            y = one.inverse(y, **own)
        return total

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        total: Any = constant(0.0, x.dtype, name="fldj")
        axes = self.forward_min_event_ndims
        for one in reversed(self._bijectors):
            own = kwargs.get(one.name, {})
            total = total + one.forward_log_det_jacobian(x, axes, **own)
            axes += _raised(one)
            x = one.forward(x, **own)
        return total

    def _forward_event_shape(self, input_shape: TensorShape) -> TensorShape:
        for one in reversed(self._bijectors):
            input_shape = one.forward_event_shape(input_shape)
        return input_shape

    def _inverse_event_shape(self, output_shape: TensorShape) -> TensorShape:
        for one in self._bijectors:
            output_shape = one.inverse_event_shape(output_shape)
        return output_shape

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        for one in reversed(self._bijectors):
            input_shape = one.forward_event_shape_tensor(input_shape)
        return input_shape

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        for one in self._bijectors:
            output_shape = one.inverse_event_shape_tensor(output_shape)
        return output_shape


def _raised(one: Bijector) -> int:
    """How many axes an event has more after it."""
    return one.inverse_min_event_ndims - one.forward_min_event_ndims


def _least(steps: Sequence[tuple[int, int]]) -> int:
    """The axes that an event needs at first, for each step to have as many as (it needs, it adds) say."""
    needed = added = 0
    for least, raised in steps:
        needed = max(needed, least - added)
        added += raised
    return needed
