"""The losses of stochastic dual coordinate ascent: what they are, what their duals are, and the step up a dual coordinate.

Source: Shalev-Shwartz, Zhang: "Stochastic dual coordinate ascent methods for regularized loss minimization" (JMLR 2013).
Below, `y` are labels, `wx` predictions and `a` dual variables, of any one shape. A step goes from `a` to the maximum along
its coordinate, where `size` is the example's weight and squared norm over l2, times the number of partitions.
"""

from __future__ import annotations

import abc
import math

import numpy as np

from tfexp.core.errors import InvalidArgumentError

Array = np.ndarray

_NEWTON_STEPS = 10  # each doubles the number of right digits


class Loss(abc.ABC):
    """Of one example, without its weight."""

    smoothness = 1.0

    def labels(self, given: Array) -> Array:
        """The labels, checked: InvalidArgumentError."""
        return given.astype(np.float64)

    @abc.abstractmethod
    def primal(self, wx: Array, y: Array) -> Array:
        """The loss itself."""

    @abc.abstractmethod
    def slope(self, wx: Array, y: Array) -> Array:
        """Its derivative by `wx`."""

    @abc.abstractmethod
    def dual(self, a: Array, y: Array) -> Array:
        """The conjugate of the loss at -a: infinite where it is not defined."""

    @abc.abstractmethod
    def step(self, a: float, y: float, wx: float, size: float) -> float:
        """The new dual variable."""


class Squared(Loss):
    def primal(self, wx: Array, y: Array) -> Array:
        return 0.5 * (wx - y) ** 2

    def slope(self, wx: Array, y: Array) -> Array:
        return wx - y

    def dual(self, a: Array, y: Array) -> Array:
        return a * (0.5 * a - y)

    def step(self, a: float, y: float, wx: float, size: float) -> float:
        return a + (y - a - wx) / (1 + size)


class _Binary(Loss):
    """Of labels 0 and 1, here -1 and 1."""

    def labels(self, given: Array) -> Array:
        wrong = given[(given != 0) & (given != 1)]
        if wrong.size:
            raise InvalidArgumentError(
                None, None, f"Only labels of 0.0 or 1.0 are supported right now. Found example with label: {wrong[0]:g}"
            )
        return 2.0 * given - 1.0


class Logistic(_Binary):
    smoothness = 4.0

    def primal(self, wx: Array, y: Array) -> Array:
        return np.logaddexp(0, -y * wx)

    def slope(self, wx: Array, y: Array) -> Array:
        return -y * np.exp(-np.logaddexp(0, y * wx))

    def dual(self, a: Array, y: Array) -> Array:
        return sum(p * np.log(p, out=np.zeros_like(p), where=p > 0) for p in (a * y, 1 - a * y))  # type: ignore[return-value]

    def step(self, a: float, y: float, wx: float, size: float) -> float:
        x = 0.0  # the new variable is (1 + tanh(x)) / 2y, by Newton's method
        for _ in range(_NEWTON_STEPS):
            tanh = math.tanh(x)
            excess = -2 * y * x - wx - size * (0.5 * (1 + tanh) / y - a)
            x += excess / (2 * y + size * (1 - tanh * tanh) * 0.5 / y)
        return 0.5 * (1 + math.tanh(x)) / y


class Hinge(_Binary):
    smoothness = 0.0

    def primal(self, wx: Array, y: Array) -> Array:
        return np.maximum(0, 1 - y * wx)

    def slope(self, wx: Array, y: Array) -> Array:
        return np.where(y * wx < 1, -y, 0)

    def dual(self, a: Array, y: Array) -> Array:
        return _where_defined(a * y, -a * y)

    def step(self, a: float, y: float, wx: float, size: float) -> float:
        if size == 0:  # nothing holds it back
            return _bounded(math.copysign(math.inf, y - wx) if y != wx else a, y)
        return _bounded(a + (y - wx) / size, y)


class SmoothHinge(_Binary):
    """A hinge with a square of width 1 in the place of its corner."""

    def primal(self, wx: Array, y: Array) -> Array:
        short = np.maximum(0, 1 - y * wx)
        return np.where(short >= 1, short - 0.5, 0.5 * short**2)

    def slope(self, wx: Array, y: Array) -> Array:
        return -y * np.clip(1 - y * wx, 0, 1)

    def dual(self, a: Array, y: Array) -> Array:
        return _where_defined(a * y, -a * y + 0.5 * a**2)

    def step(self, a: float, y: float, wx: float, size: float) -> float:
        return _bounded(a + (y - wx - a) / (size + 1), y)


class Poisson(Loss):
    """The logarithm of the likelihood of counts, whose mean is exp(wx)."""

    def labels(self, given: Array) -> Array:
        wrong = given[given < 0]
        if wrong.size:
            raise InvalidArgumentError(
                None,
                None,
                f"Only non-negative labels can be used with the Poisson log loss. Found example with label: {wrong[0]:g}",
            )
        return super().labels(given)

    def primal(self, wx: Array, y: Array) -> Array:
        return np.exp(wx) - wx * y

    def slope(self, wx: Array, y: Array) -> Array:
        return np.exp(wx) - y

    def dual(self, a: Array, y: Array) -> Array:
        left = y - a
        return np.where(left < 0, np.inf, left * (np.log(left, out=np.zeros_like(left), where=left > 0) - 1))

    def step(self, a: float, y: float, wx: float, size: float) -> float:
        x = wx  # the new variable is y - exp(x), by Newton's method
        for _ in range(_NEWTON_STEPS):
            rate = math.exp(x)
            x -= (x - wx - size * (y - a - rate)) / (1 + size * rate)
        return y - math.exp(x)


def _bounded(a: float, y: float) -> float:
    """Between 0 and the label."""
    return min(max(a * y, 0.0), 1.0) * y


def _where_defined(ay: Array, value: Array) -> Array:
    return np.where((ay < 0) | (ay > 1), np.inf, value)


LOSSES: dict[str, Loss] = {
    "logistic_loss": Logistic(),
    "squared_loss": Squared(),
    "hinge_loss": Hinge(),
    "smooth_hinge_loss": SmoothHinge(),
    "poisson_loss": Poisson(),
}
