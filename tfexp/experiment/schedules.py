"""The config group `schedule`: how the learning rate goes with the global step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import tfexp as tf
from tfexp.experiment.errors import SettingError
from tfexp.experiment.schema import Section, bounded

__all__ = [
    "Constant",
    "Cosine",
    "CosineRestarts",
    "Exponential",
    "InverseTime",
    "NaturalExp",
    "Piecewise",
    "Polynomial",
    "Schedule",
]


@dataclass(frozen=True, kw_only=True)
class Schedule(Section, ABC):
    @abstractmethod
    def rate(self, start: float, global_step: Any) -> Any:
        """The learning rate at `global_step`: a number, or a scalar float32 tensor made in the current graph."""


@dataclass(frozen=True, kw_only=True)
class Constant(Schedule):
    def rate(self, start: float, global_step: Any) -> Any:
        return start


@dataclass(frozen=True, kw_only=True)
class Exponential(Schedule):
    decay_steps: int = bounded(least=1, says="steps in which the rate is multiplied by decay_rate once")
    decay_rate: float = bounded(above=0, says="factor by which the rate falls in decay_steps")
    staircase: bool = bounded(says="fall in one jump every decay_steps, not a little in each step")

    def rate(self, start: float, global_step: Any) -> Any:
        return tf.train.exponential_decay(start, global_step, self.decay_steps, self.decay_rate, staircase=self.staircase)


@dataclass(frozen=True, kw_only=True)
class Piecewise(Schedule):
    boundaries: tuple[int, ...] = bounded(least=1, says="the last steps of each stretch, in order")
    factors: tuple[float, ...] = bounded(
        least=0, says="optimizer.learning_rate is multiplied by these, one for each stretch: one more than boundaries"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.boundaries or list(self.boundaries) != sorted(set(self.boundaries)):
            raise SettingError("boundaries", f"{list(self.boundaries)} must be one or more steps, each later")
        if len(self.factors) != len(self.boundaries) + 1:
            raise SettingError(
                "factors",
                f"{len(self.boundaries)} boundaries need {len(self.boundaries) + 1} factors, {len(self.factors)} were given",
            )

    def rate(self, start: float, global_step: Any) -> Any:
        return tf.train.piecewise_constant(global_step, list(self.boundaries), [start * factor for factor in self.factors])


@dataclass(frozen=True, kw_only=True)
class Polynomial(Schedule):
    decay_steps: int = bounded(least=1, says="steps in which the rate comes to its end")
    end_factor: float = bounded(least=0, says="optimizer.learning_rate times this is where the rate ends")
    power: float = bounded(above=0, says="of what is left of decay_steps: 1 is a straight line")
    cycle: bool = bounded(says="after the end, begin again at twice, three times … decay_steps; else the rate stays there")

    def rate(self, start: float, global_step: Any) -> Any:
        end = start * self.end_factor
        return tf.train.polynomial_decay(start, global_step, self.decay_steps, end, power=self.power, cycle=self.cycle)


@dataclass(frozen=True, kw_only=True)
class NaturalExp(Schedule):
    decay_steps: int = bounded(least=1, says="steps in which the exponent grows by decay_rate")
    decay_rate: float = bounded(least=0, says="what is taken from the exponent in decay_steps")
    staircase: bool = bounded(says="fall in one jump every decay_steps, not a little in each step")

    def rate(self, start: float, global_step: Any) -> Any:
        return tf.train.natural_exp_decay(start, global_step, self.decay_steps, self.decay_rate, staircase=self.staircase)


@dataclass(frozen=True, kw_only=True)
class InverseTime(Schedule):
    decay_steps: int = bounded(least=1, says="steps in which the divisor grows by decay_rate")
    decay_rate: float = bounded(least=0, says="what is added to the divisor, 1 at first, in decay_steps")
    staircase: bool = bounded(says="fall in one jump every decay_steps, not a little in each step")

    def rate(self, start: float, global_step: Any) -> Any:
        return tf.train.inverse_time_decay(start, global_step, self.decay_steps, self.decay_rate, staircase=self.staircase)


@dataclass(frozen=True, kw_only=True)
class Cosine(Schedule):
    """Source: Loshchilov & Hutter 2017, without restarts."""

    decay_steps: int = bounded(least=1, says="steps in which the rate comes to its end")
    end_factor: float = bounded(least=0, most=1, says="optimizer.learning_rate times this is where the rate ends")

    def rate(self, start: float, global_step: Any) -> Any:
        return tf.train.cosine_decay(start, global_step, self.decay_steps, alpha=self.end_factor)


@dataclass(frozen=True, kw_only=True)
class CosineRestarts(Schedule):
    """Source: Loshchilov & Hutter 2017."""

    first_steps: int = bounded(least=1, says="steps until the first restart")
    longer: float = bounded(least=1, says="factor by which each stretch is longer than the one before")
    lower: float = bounded(above=0, most=1, says="factor by which each stretch begins lower than the one before")
    end_factor: float = bounded(least=0, most=1, says="optimizer.learning_rate times this is where each stretch ends")

    def rate(self, start: float, global_step: Any) -> Any:
        return tf.train.cosine_decay_restarts(
            start, global_step, self.first_steps, t_mul=self.longer, m_mul=self.lower, alpha=self.end_factor
        )
