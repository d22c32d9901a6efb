"""Bijectors of numbers, each apart: events of no axes. Source: TF 1.15 (`tf.contrib.distributions.bijectors`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.distributions.bijectors.bijector import Bijector
from tfexp.distributions.functions import softplus_inverse
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.scopes import name_scope
from tfexp.ops.array_fill import zeros
from tfexp.ops.check_compare import assert_non_negative, assert_none_equal, assert_positive
from tfexp.ops.elementwise_unary import abs as abs_
from tfexp.ops.elementwise_unary import exp, expm1, log, log1p, sigmoid
from tfexp.ops.nn_activation import softplus


class Identity(Bijector):
    """y = x. Source: `tf.contrib.distributions.bijectors.Identity`."""

    def __init__(self, validate_args: bool = False, name: str = "identity"):
        super().__init__(forward_min_event_ndims=0, is_constant_jacobian=True, validate_args=validate_args, name=name)

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        return x

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        return y

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        return constant(0.0, x.dtype)

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        return constant(0.0, y.dtype)


class PowerTransform(Bijector):
    """y = (1 + power x)**(1 / power), exp(x) for power 0. ValueError for a negative power, or one that is not known.

    Source: `tf.contrib.distributions.bijectors.PowerTransform`.
    """

    def __init__(self, power: float = 0.0, validate_args: bool = False, name: str = "power_transform"):
        if power is None or power < 0:
            raise ValueError("`power` must be a non-negative TF constant.")
        self._power = float(power)
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    @property
    def power(self) -> float:
        return self._power

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        if self._power == 0.0:
            return exp(x)
        if self.validate_args:
            message = "Forward transformation input must be at least -1 / power."
            x = with_dependencies([assert_non_negative(1.0 + self._power * x, message=message)], x)
        return exp(log1p(self._power * x) / self._power)  # type: ignore[operator]

    def _positive(self, y: Any) -> Any:
        if not self.validate_args:
            return y
        message = "Inverse transformation input must be greater than 0."
        return with_dependencies([assert_positive(y, message=message)], y)

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        y = self._positive(y)
        return log(y) if self._power == 0.0 else expm1(log(y) * self._power) / self._power  # type: ignore[operator]

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        return (self._power - 1.0) * log(self._positive(y))  # type: ignore[operator]

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        if self._power == 0.0:
            return x
        return (1.0 / self._power - 1.0) * log1p(self._power * x)  # type: ignore[operator]


class Exp(PowerTransform):
    """y = exp(x). Source: `tf.contrib.distributions.bijectors.Exp`."""

    def __init__(self, validate_args: bool = False, name: str = "exp"):
        super().__init__(0.0, validate_args, name)


class Softplus(Bijector):
    """y = c log(1 + exp(x / c)), c = hinge_softness or 1, which is not 0.

    Source: `tf.contrib.distributions.bijectors.Softplus`.
    """

    def __init__(self, hinge_softness: Any = None, validate_args: bool = False, name: str = "softplus"):
        with name_scope(name, values=[hinge_softness]):
            self._softness: Any = None
            if hinge_softness is not None:
                self._softness = convert_to_tensor(hinge_softness, name="hinge_softness")
                if validate_args:
                    zero = constant(0, self._softness.dtype)
                    check = assert_none_equal(zero, self._softness, message="hinge_softness must be non-zero")
                    self._softness = with_dependencies([check], self._softness)
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    @property
    def hinge_softness(self) -> Any:
        return self._softness

    def _sharp(self, x: Any) -> Any:
        return x if self._softness is None else x / self._softness

    def _soft(self, x: Any) -> Any:
        return x if self._softness is None else x * self._softness

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        return self._soft(softplus(self._sharp(x)))

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        return self._soft(softplus_inverse(self._sharp(y)))

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        return -log(-expm1(-self._sharp(y)))  # type: ignore[operator]

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        return -softplus(-self._sharp(x))  # type: ignore[operator]


class Sigmoid(Bijector):
    """y = 1 / (1 + exp(-x)). Source: `tf.contrib.distributions.bijectors.Sigmoid`."""

    def __init__(self, validate_args: bool = False, name: str = "sigmoid"):
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        return sigmoid(x)

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        return log(y) - log1p(-y)  # type: ignore[operator]

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        return -log(y) - log1p(-y)  # type: ignore[operator]

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        return -softplus(-x) - softplus(x)  # type: ignore[operator]


class AbsoluteValue(Bijector):
    """y = |x|, of two numbers: its inverse is (-y, y), with a log-determinant for each.

    Source: `tf.contrib.distributions.bijectors.AbsoluteValue`.
    """

    _is_injective = False

    def __init__(self, validate_args: bool = False, name: str = "absolute_value"):
        super().__init__(forward_min_event_ndims=0, is_constant_jacobian=True, validate_args=validate_args, name=name)

    def _checked(self, y: Any) -> Any:
        if not self.validate_args:
            return y
        return with_dependencies([assert_non_negative(y, message="Argument y was negative")], y)

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        return abs_(x)

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        y = self._checked(y)
        return -y, y

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        nothing = zeros([], y.dtype)
        return nothing, nothing


class AffineScalar(Bijector):
    """y = scale x + shift, 1 and 0 by default; scale is not 0. Source: `tf.contrib.distributions.bijectors.AffineScalar`."""

    def __init__(self, shift: Any = None, scale: Any = None, validate_args: bool = False, name: str = "affine_scalar"):
        with name_scope(name, values=[scale, shift]):
            self._shift: Any = None if shift is None else convert_to_tensor(shift, name="shift")
            self._scale: Any = None if scale is None else convert_to_tensor(scale, name="scale")
            if validate_args and self._scale is not None:
                check = assert_none_equal(self._scale, constant(0, self._scale.dtype), message="scale must be non-zero")
                self._scale = with_dependencies([check], self._scale)
        super().__init__(forward_min_event_ndims=0, is_constant_jacobian=True, validate_args=validate_args, name=name)

    @property
    def shift(self) -> Any:
        return self._shift

    @property
    def scale(self) -> Any:
        return self._scale

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        scaled = x if self._scale is None else x * self._scale
        return scaled if self._shift is None else scaled + self._shift

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        centered = y if self._shift is None else y - self._shift
        return centered if self._scale is None else centered / self._scale

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        # One number, for the Jacobian is the same everywhere.
        return constant(0.0, x.dtype) if self._scale is None else log(abs_(self._scale))


class Inline(Bijector):
    """A bijector of functions. NotImplementedError for asking what none was given for.

    Source: `tf.contrib.distributions.bijectors.Inline`.
    """

    def __init__(
        self,
        forward_fn: Callable[..., Any] | None = None,
        inverse_fn: Callable[..., Any] | None = None,
        inverse_log_det_jacobian_fn: Callable[..., Any] | None = None,
        forward_log_det_jacobian_fn: Callable[..., Any] | None = None,
        forward_event_shape_fn: Callable[..., Any] | None = None,
        forward_event_shape_tensor_fn: Callable[..., Any] | None = None,
        inverse_event_shape_fn: Callable[..., Any] | None = None,
        inverse_event_shape_tensor_fn: Callable[..., Any] | None = None,
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        forward_min_event_ndims: int | None = None,
        inverse_min_event_ndims: int | None = None,
        name: str = "inline",
    ):
        given = {
            "_forward": forward_fn,
            "_inverse": inverse_fn,
            "_inverse_log_det_jacobian": inverse_log_det_jacobian_fn,
            "_forward_log_det_jacobian": forward_log_det_jacobian_fn,
            "_forward_event_shape": forward_event_shape_fn,
            "_forward_event_shape_tensor": forward_event_shape_tensor_fn,
            "_inverse_event_shape": inverse_event_shape_fn,
            "_inverse_event_shape_tensor": inverse_event_shape_tensor_fn,
        }
        self._given = {method: function for method, function in given.items() if function is not None}
        for method, function in self._given.items():
            setattr(self, method, function)
        super().__init__(
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            forward_min_event_ndims=forward_min_event_ndims,
            inverse_min_event_ndims=inverse_min_event_ndims,
            name=name,
        )

    def _has(self, method: str) -> bool:
        return method in self._given
