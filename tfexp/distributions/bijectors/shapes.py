"""Bijectors that move numbers, and the centered softmax. Source: TF 1.15 (`tf.contrib.distributions.bijectors`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.distributions.bijectors.bijector import Bijector
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.scopes import name_scope
from tfexp.graph.shape_inference import static_value
from tfexp.ops.array import reshape, shape
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_fill import zeros_like
from tfexp.ops.array_gather import gather
from tfexp.ops.array_join import concat
from tfexp.ops.cast import cast
from tfexp.ops.check_compare import assert_equal
from tfexp.ops.elementwise_unary import log
from tfexp.ops.nn_softmax import softmax
from tfexp.ops.reduce import reduce_prod, reduce_sum
from tfexp.ops.sort import argsort, sort


class Permute(Bijector):
    """y[..., i] = x[..., permutation[i]]. ValueError, or an error in the run, for what is no permutation.

    Source: `tf.contrib.distributions.bijectors.Permute`.
    """

    def __init__(self, permutation: Any, validate_args: bool = False, name: str | None = None):
        with name_scope(name or "permute", values=[permutation]):
            order: Any = convert_to_tensor(permutation, name="permutation")
            if not order.dtype.is_integer:
                raise TypeError(f"permutation.dtype ({order.dtype.name}) should be integer.")
            message = "Permutation over `d` must contain exactly one of each of `{0, 1, ..., d}`."
            known = static_value(order)
            if known is not None and not np.array_equal(np.sort(known), np.arange(known.size)):
                raise ValueError(message)
            if known is None and validate_args:
                each = range_(shape(order)[0], dtype=order.dtype)  # type: ignore[index]
                order = with_dependencies([assert_equal(sort(order), each, message=message)], order)
        self._permutation = order
        super().__init__(
            forward_min_event_ndims=1,
            is_constant_jacobian=True,
            validate_args=validate_args,
            name=name or "permute",
        )

    @property
    def permutation(self) -> Any:
        return self._permutation

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        return gather(x, self._permutation, axis=-1)

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        return gather(y, argsort(self._permutation), axis=-1)

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        return constant(0.0, x.dtype)


class Reshape(Bijector):
    """Events of one shape as those of another, with at most one -1 in each, of as many numbers.

    ValueError for shapes that are none, or not of one size. Source: `tf.contrib.distributions.bijectors.Reshape`.
    """

    def __init__(
        self, event_shape_out: Any, event_shape_in: Any = (-1,), validate_args: bool = False, name: str | None = None
    ):
        with name_scope(name or "reshape", values=[event_shape_out, event_shape_in]):
            self._out = convert_to_tensor(event_shape_out, dtypes.int32, name="event_shape_out")
            self._in = convert_to_tensor(event_shape_in, dtypes.int32, name="event_shape_in")
        ranks = [_rank(dims) for dims in (self._in, self._out)]
        known = [static_value(dims) for dims in (self._in, self._out)]
        sizes = [int(np.prod(dims)) for dims in known if dims is not None and (dims >= 0).all()]
        if len(sizes) == 2 and sizes[0] != sizes[1]:
            raise ValueError(f"Input/output event_size mismatch: {sizes[0]} vs. {sizes[1]}")
        super().__init__(
            forward_min_event_ndims=ranks[0],
            inverse_min_event_ndims=ranks[1],
            is_constant_jacobian=True,
            validate_args=validate_args,
            name=name or "reshape",
        )

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        return self._reshaped(x, self._in, self._out, self._forward_event_shape)

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        return self._reshaped(y, self._out, self._in, self._inverse_event_shape)

    def _reshaped(self, x: Any, old: Any, new: Any, static: Any) -> Any:
        ndims = _rank(old)
        dims: Any = shape(x)
        batch, event = (dims[:-ndims], dims[-ndims:]) if ndims else (dims, dims[:0])
        found = reshape(x, concat([batch, self._event_shape_tensor(event, old, new)], 0))
        if x.shape.ndims is not None:
            rank = x.shape.ndims - ndims
            found.set_shape(x.shape[:rank].concatenate(static(x.shape[rank:])))
        return found

    def _event_shape_tensor(self, event: Any, old: Any, new: Any) -> Any:
        if not self.validate_args:
            return new
        # An old axis of any length is not compared.
        wanted = cast(old >= 0, dtypes.int32)
        message = "Input `event_shape` does not match `event_shape_in`."
        return with_dependencies([assert_equal(event * wanted, old * wanted, message=message)], new)

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        return constant(0.0, x.dtype)

    def _forward_event_shape(self, input_shape: TensorShape) -> TensorShape:
        return _static(input_shape, self._in, self._out)

    def _inverse_event_shape(self, output_shape: TensorShape) -> TensorShape:
        return _static(output_shape, self._out, self._in)

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return _dynamic(input_shape, self._out)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return _dynamic(output_shape, self._in)


def _rank(dims: Any) -> int:
    count = dims.shape.with_rank(1)[0].value
    if count is None:
        raise ValueError(f"the rank of an event's shape has to be known: {dims}")
    known = static_value(dims)
    if known is not None and ((known < -1).any() or (known == -1).sum() > 1):
        raise ValueError(f"a shape has sizes, and at most one -1: {known.tolist()}")
    return int(count)


def _static(event: TensorShape, old: Any, new: Any) -> TensorShape:
    """The new shape of an event, which has the old one. ValueError if it has not."""
    was, wanted = static_value(old), static_value(new)
    if was is not None and not event.is_compatible_with([None if d < 0 else int(d) for d in was]):
        raise ValueError(f"the event's shape {event} is not the one that is reshaped: {was.tolist()}")
    if wanted is None:
        return TensorShape([None] * _rank(new))
    count = event.num_elements()
    rest = int(np.prod(wanted[wanted >= 0]))
    whole = None if count is None or not rest else count // rest
    return TensorShape([whole if d < 0 else int(d) for d in wanted])


def _dynamic(event: Any, new: Any) -> Any:
    """The same as a tensor: the shape that so many numbers get."""
    return shape(reshape(range_(reduce_prod(event)), new))


class SoftmaxCentered(Bijector):
    """softmax of [..., k] numbers and a 0: [..., k + 1] positive numbers with the sum 1.

    Source: `tf.contrib.distributions.bijectors.SoftmaxCentered`.
    """

    def __init__(self, validate_args: bool = False, name: str = "softmax_centered"):
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        return softmax(concat([x, zeros_like(x[..., :1])], -1))

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        logs: Any = log(y)
        return logs[..., :-1] - logs[..., -1:]

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        """det of y[i] (delta_ij - y[j]) is the product of all of y, by the matrix determinant lemma."""
        return -reduce_sum(log(y), -1)  # type: ignore[operator]

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        return reduce_sum(log(self._forward(x)), -1)

    def _forward_event_shape(self, input_shape: TensorShape) -> TensorShape:
        return _longer(input_shape, 1)

    def _inverse_event_shape(self, output_shape: TensorShape) -> TensorShape:
        return _longer(output_shape, -1)

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return concat([input_shape[:-1], input_shape[-1:] + 1], 0)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return concat([output_shape[:-1], output_shape[-1:] - 1], 0)


def _longer(event: TensorShape, by: int) -> TensorShape:
    if event.ndims is None:
        return event
    last = event[-1].value
    return event[:-1].concatenate([None if last is None else last + by])
