"""Learning rates that change with the step, as objects. Source: `tf.keras.optimizers.schedules`, TF 1.15.

The four along a cosine are `tf.keras.experimental`'s. What they compute is `tf.train`'s.
"""

from __future__ import annotations

from inspect import unwrap  # the rate at once, also where `tf.train` gives a function
from typing import Any, Self

from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.keras.serialization import deserialize_keras_object, serialize_keras_object
from tfexp.ops.cast import cast
from tfexp.train import cosine_schedules
from tfexp.train import schedules as decays


class LearningRateSchedule:
    """A function of the step. Subclasses define `__call__(step)`, a scalar, and `get_config()`."""

    def __call__(self, step: Any) -> Any:
        raise NotImplementedError("Learning rate schedule must override __call__")

    def get_config(self) -> dict[str, Any]:
        """The arguments of an equal one."""
        raise NotImplementedError("Learning rate schedule must override get_config")

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        return cls(**config)


class _OfAttributes(LearningRateSchedule):
    """A schedule whose attributes are its arguments, under their names."""

    def get_config(self) -> dict[str, Any]:
        return dict(vars(self))


class _ByRate(_OfAttributes):
    """A decay by `decay_rate` in each `decay_steps` steps, bit by bit or, with `staircase`, all at once."""

    def __init__(
        self, initial_learning_rate: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False, name: str | None = None
    ):
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.decay_rate = decay_rate
        self.staircase = staircase
        self.name = name


class ExponentialDecay(_ByRate):
    """initial_learning_rate * decay_rate ** (step / decay_steps); `staircase` takes the floor of the exponent."""

    def __call__(self, step: Any) -> Tensor:
        return unwrap(decays.exponential_decay)(
            self.initial_learning_rate, step, self.decay_steps, self.decay_rate, self.staircase, self.name
        )


class InverseTimeDecay(_ByRate):
    """initial_learning_rate / (1 + decay_rate * step / decay_steps); `staircase` takes the floor of the quotient."""

    def __call__(self, step: Any) -> Tensor:
        return unwrap(decays.inverse_time_decay)(
            self.initial_learning_rate, step, self.decay_steps, self.decay_rate, self.staircase, self.name
        )


class PiecewiseConstantDecay(_OfAttributes):
    """values[i] where boundaries[i - 1] < step <= boundaries[i]. `boundaries` has one element less than `values`."""

    def __init__(self, boundaries: list[Any], values: list[Any], name: str | None = None):
        if len(boundaries) != len(values) - 1:
            raise ValueError(
                "The length of boundaries should be 1 less than the length of values. Received: "
                f"boundaries={boundaries} of length {len(boundaries)}, and values={values} of length {len(values)}."
            )
        self.boundaries = boundaries
        self.values = values
        self.name = name

    def __call__(self, step: Any) -> Tensor:
        step = convert_to_tensor(step)
        boundaries = [cast(boundary, step.dtype.base_dtype) for boundary in self.boundaries]
        return unwrap(decays.piecewise_constant)(step, boundaries, self.values, self.name)


class PolynomialDecay(_OfAttributes):
    """From `initial_learning_rate` to `end_learning_rate` as (1 - step / decay_steps) ** power.

    After `decay_steps` it stays there; with `cycle`, the steps are stretched to the next multiple of `decay_steps` instead.
    """

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        end_learning_rate: Any = 0.0001,
        power: Any = 1.0,
        cycle: bool = False,
        name: str | None = None,
    ):
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.end_learning_rate = end_learning_rate
        self.power = power
        self.cycle = cycle
        self.name = name

    def __call__(self, step: Any) -> Tensor:
        return unwrap(decays.polynomial_decay)(
            self.initial_learning_rate,
            step,
            self.decay_steps,
            self.end_learning_rate,
            self.power,
            self.cycle,
            self.name,
        )


class CosineDecay(_OfAttributes):
    """Half a cosine from `initial_learning_rate` to `alpha` times that in `decay_steps`, constant afterwards."""

    def __init__(self, initial_learning_rate: Any, decay_steps: Any, alpha: Any = 0.0, name: str | None = None):
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.alpha = alpha
        self.name = name

    def __call__(self, step: Any) -> Tensor:
        return unwrap(cosine_schedules.cosine_decay)(
            self.initial_learning_rate, step, self.decay_steps, self.alpha, self.name
        )


class CosineDecayRestarts(_OfAttributes):
    """Cosine decay that starts again and again: each period `t_mul` as long and `m_mul` as high as the last."""

    def __init__(
        self,
        initial_learning_rate: Any,
        first_decay_steps: Any,
        t_mul: Any = 2.0,
        m_mul: Any = 1.0,
        alpha: Any = 0.0,
        name: str | None = None,
    ):
        self.initial_learning_rate = initial_learning_rate
        self.first_decay_steps = first_decay_steps
        self._t_mul = t_mul
        self._m_mul = m_mul
        self.alpha = alpha
        self.name = name

    def __call__(self, step: Any) -> Tensor:
        return unwrap(cosine_schedules.cosine_decay_restarts)(
            self.initial_learning_rate, step, self.first_decay_steps, self._t_mul, self._m_mul, self.alpha, self.name
        )

    def get_config(self) -> dict[str, Any]:
        return {key.removeprefix("_"): value for key, value in vars(self).items()}


class LinearCosineDecay(_OfAttributes):
    """A cosine times a straight line to 0 in `decay_steps`: (alpha + linear) * cosine of `num_periods` + beta."""

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        num_periods: Any = 0.5,
        alpha: Any = 0.0,
        beta: Any = 0.001,
        name: str | None = None,
    ):
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.num_periods = num_periods
        self.alpha = alpha
        self.beta = beta
        self.name = name

    def __call__(self, step: Any) -> Tensor:
        return unwrap(cosine_schedules.linear_cosine_decay)(
            self.initial_learning_rate, step, self.decay_steps, self.num_periods, self.alpha, self.beta, self.name
        )


class NoisyLinearCosineDecay(_OfAttributes):
    """As LinearCosineDecay, with normal noise on the line whose variance goes down with the step."""

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        initial_variance: Any = 1.0,
        variance_decay: Any = 0.55,
        num_periods: Any = 0.5,
        alpha: Any = 0.0,
        beta: Any = 0.001,
        name: str | None = None,
    ):
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.initial_variance = initial_variance
        self.variance_decay = variance_decay
        self.num_periods = num_periods
        self.alpha = alpha
        self.beta = beta
        self.name = name

    def __call__(self, step: Any) -> Tensor:
        return unwrap(cosine_schedules.noisy_linear_cosine_decay)(
            self.initial_learning_rate,
            step,
            self.decay_steps,
            self.initial_variance,
            self.variance_decay,
            self.num_periods,
            self.alpha,
            self.beta,
            self.name,
        )


def serialize(learning_rate_schedule: LearningRateSchedule) -> Any:
    """The class's name and configuration."""
    return serialize_keras_object(learning_rate_schedule)


def deserialize(config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """The schedule that a configuration describes. ValueError for unknown ones."""
    return deserialize_keras_object(config, globals(), custom_objects, "decay")
