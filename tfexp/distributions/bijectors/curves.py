"""Bijectors of numbers that bend the line: to an interval, by a distribution's function, or in its tails.

Source: TF 1.15 (`tf.contrib.distributions.bijectors`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.distributions.bijectors.bijector import Bijector
from tfexp.distributions.elementwise import of_one_type
from tfexp.graph.convert import constant
from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.scopes import name_scope
from tfexp.ops.check_compare import assert_greater, assert_less, assert_less_equal, assert_non_negative, assert_positive
from tfexp.ops.elementwise_trig import asinh, cosh, sinh
from tfexp.ops.elementwise_unary import abs as abs_
from tfexp.ops.elementwise_unary import exp, log, log1p, sqrt, square


class Softsign(Bijector):
    """y = x / (1 + |x|), in (-1, 1). Source: `tf.contrib.distributions.bijectors.Softsign`."""

    def __init__(self, validate_args: bool = False, name: str = "softsign"):
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        return x / (1.0 + abs_(x))

    def _room(self, y: Any) -> Any:
        """How far y is from the end of its side."""
        if self.validate_args:
            least, most = (constant(end, y.dtype) for end in (-1.0, 1.0))
            above = assert_greater(y, least, message="Inverse transformation input must be greater than -1.")
            below = assert_less(y, most, message="Inverse transformation input must be less than 1.")
            y = with_dependencies([above, below], y)
        return abs_(y)

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        return y / (1.0 - self._room(y))

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        return -2.0 * log1p(abs_(x))  # type: ignore[operator]

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        return -2.0 * log1p(-self._room(y))  # type: ignore[operator]


class Square(Bijector):
    """y = x², of x that are not negative. Source: `tf.contrib.distributions.bijectors.Square`."""

    def __init__(self, validate_args: bool = False, name: str = "square"):
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    def _checked(self, value: Any) -> Any:
        if not self.validate_args:
            return value
        return with_dependencies([assert_non_negative(value, message="All elements must be non-negative.")], value)

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        return square(self._checked(x))

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        return sqrt(self._checked(y))

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        return log(self._checked(x)) + constant(np.log(2.0), x.dtype)  # type: ignore[operator]


class _OnUnitInterval(Bijector):
    """Numbers from 0 to 1 are checked, where arguments are validated."""

    def _checked(self, value: Any) -> Any:
        if not self.validate_args:
            return value
        low = assert_non_negative(value, message="The argument must be non-negative.")
        high = assert_less_equal(value, constant(1.0, value.dtype), message="The argument must be no larger than 1.")
        return with_dependencies([low, high], value)


class Gumbel(_OnUnitInterval):
    """y = exp(-exp(-(x - loc) / scale)): the share of Gumbel's distribution below x. scale is positive.

    Source: `tf.contrib.distributions.bijectors.Gumbel`.
    """

    def __init__(self, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool = False, name: str = "gumbel"):
        with name_scope(name, values=[loc, scale]):
            given = of_one_type({"loc": loc, "scale": scale})
            self._loc, self._scale = given["loc"], _positive(given["scale"], "scale", validate_args)
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    @property
    def loc(self) -> Any:
        return self._loc

    @property
    def scale(self) -> Any:
        return self._scale

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        return exp(-exp((self._loc - x) / self._scale))  # type: ignore[operator]

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        return self._loc - self._scale * log(-log(self._checked(y)))  # type: ignore[operator]

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        away = (self._loc - x) / self._scale
        return away - exp(away) - log(self._scale)

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        logarithm: Any = log(self._checked(y))
        return log(self._scale) - logarithm - log(-logarithm)  # type: ignore[operator]


class Kumaraswamy(_OnUnitInterval):
    """y = (1 - (1 - x)**(1 / concentration0))**(1 / concentration1), which makes uniform numbers Kumaraswamy's.

    Both concentrations are positive. Source: `tf.contrib.distributions.bijectors.Kumaraswamy`.
    """

    def __init__(
        self,
        concentration1: Any = None,
        concentration0: Any = None,
        validate_args: bool = False,
        name: str = "kumaraswamy",
    ):
        with name_scope(name, values=[concentration1, concentration0]):
            given = of_one_type({"concentration1": concentration1, "concentration0": concentration0})
            self._a, self._b = (_positive(value, key, validate_args) for key, value in given.items())
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    @property
    def concentration1(self) -> Any:
        return self._a

    @property
    def concentration0(self) -> Any:
        return self._b

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        above: Any = exp(log1p(-self._checked(x)) / self._b)  # type: ignore[operator]
        return exp(log1p(-above) / self._a)  # type: ignore[operator]

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        return 1.0 - (1.0 - self._checked(y) ** self._a) ** self._b

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        y = self._checked(y)
        inner: Any = log1p(-(y**self._a))
        return log(self._a * self._b) + (self._a - 1.0) * log(y) + (self._b - 1.0) * inner


class SinhArcsinh(Bijector):
    """y = sinh((arcsinh(x) + skewness) tailweight), 0 and 1 by default; tailweight is positive.

    Source: `tf.contrib.distributions.bijectors.SinhArcsinh`; Jones and Pewsey, "Sinh-arcsinh distributions" (2009).
    """

    def __init__(self, skewness: Any = None, tailweight: Any = None, validate_args: bool = False, name: str = "SinhArcsinh"):
        with name_scope(name, values=[skewness, tailweight]):
            given = of_one_type(
                {"skewness": 0.0 if skewness is None else skewness, "tailweight": 1.0 if tailweight is None else tailweight}
            )
            self._skewness = given["skewness"]
            self._tailweight = _positive(given["tailweight"], "tailweight", validate_args)
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    @property
    def skewness(self) -> Any:
        return self._skewness

    @property
    def tailweight(self) -> Any:
        return self._tailweight

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        return sinh((asinh(x) + self._skewness) * self._tailweight)

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        return sinh(asinh(y) / self._tailweight - self._skewness)

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        bent = cosh((asinh(x) + self._skewness) * self._tailweight)
        return log(self._tailweight * bent / _hypotenuse(x))

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        bent = cosh(asinh(y) / self._tailweight - self._skewness)
        return log(bent / (self._tailweight * _hypotenuse(y)))


def _hypotenuse(x: Any) -> Any:
    """sqrt(1 + x²), also of an x whose square is not a number any more."""
    return cosh(asinh(x))


def _positive(value: Any, name: str, validate_args: bool) -> Any:
    if not validate_args:
        return value
    return with_dependencies([assert_positive(value, message=f"Argument {name} was not positive")], value)
