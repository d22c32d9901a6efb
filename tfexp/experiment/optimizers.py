"""The config group `optimizer`: one class per choice, whose fields are its settings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import tfexp as tf
from tfexp.experiment.clipping import Clipping
from tfexp.experiment.schema import Section, bounded

__all__ = [
    "Adadelta",
    "Adagrad",
    "Adam",
    "Ftrl",
    "Momentum",
    "Optimizer",
    "ProximalAdagrad",
    "ProximalSgd",
    "Rmsprop",
    "Sgd",
]


@dataclass(frozen=True, kw_only=True)
class Optimizer(Section, ABC):
    """Makes a `tf.train.Optimizer`. `learning_rate` is where the schedule starts from."""

    learning_rate: float = bounded(
        above=0, says="where the schedule starts from; with schedule=constant, the rate throughout"
    )
    clip_norm: float | None = bounded(
        above=0,
        says="the gradients of a loss are scaled so that their norm, all together, is at most this; null: they are not",
        default=None,
    )

    @abstractmethod
    def create(self, learning_rate: Any) -> tf.train.Optimizer:
        """The optimizer, at the rate (a number or a scalar tensor) that the schedule gives."""

    def clipping(self, learning_rate: Any, scopes: Sequence[str] = ()) -> tf.train.Optimizer:
        """What `create` gives, clipping its gradients first where `clip_norm` says so: those in each of `scopes` apart."""
        created = self.create(learning_rate)
        return created if self.clip_norm is None else Clipping(created, self.clip_norm, scopes)


@dataclass(frozen=True, kw_only=True)
class Sgd(Optimizer):
    def create(self, learning_rate: Any) -> tf.train.Optimizer:
        return tf.train.GradientDescentOptimizer(learning_rate)


@dataclass(frozen=True, kw_only=True)
class Momentum(Optimizer):
    momentum: float = bounded(least=0, below=1, says="share of the last update that the next one keeps")
    use_nesterov: bool = bounded(says="take the gradient where the momentum leads (Nesterov 1983)")

    def create(self, learning_rate: Any) -> tf.train.Optimizer:
        return tf.train.MomentumOptimizer(learning_rate, self.momentum, use_nesterov=self.use_nesterov)


@dataclass(frozen=True, kw_only=True)
class Adagrad(Optimizer):
    initial_accumulator_value: float = bounded(above=0, says="what each sum of squared gradients starts from")

    def create(self, learning_rate: Any) -> tf.train.Optimizer:
        return tf.train.AdagradOptimizer(learning_rate, self.initial_accumulator_value)


@dataclass(frozen=True, kw_only=True)
class Adadelta(Optimizer):
    rho: float = bounded(least=0, below=1, says="share of the running averages that a step keeps")
    epsilon: float = bounded(above=0, says="keeps the square roots from zero")

    def create(self, learning_rate: Any) -> tf.train.Optimizer:
        return tf.train.AdadeltaOptimizer(learning_rate, self.rho, self.epsilon)


@dataclass(frozen=True, kw_only=True)
class Adam(Optimizer):
    beta1: float = bounded(least=0, below=1, says="share of the gradients' running mean that a step keeps")
    beta2: float = bounded(least=0, below=1, says="share of the squared gradients' running mean that a step keeps")
    epsilon: float = bounded(above=0, says="keeps the divisor from zero")

    def create(self, learning_rate: Any) -> tf.train.Optimizer:
        return tf.train.AdamOptimizer(learning_rate, self.beta1, self.beta2, self.epsilon)


@dataclass(frozen=True, kw_only=True)
class Rmsprop(Optimizer):
    decay: float = bounded(least=0, below=1, says="share of the squared gradients' running mean that a step keeps")
    momentum: float = bounded(least=0, below=1, says="share of the last update that the next one keeps")
    epsilon: float = bounded(above=0, says="keeps the divisor from zero")
    centered: bool = bounded(says="divide by the running deviation instead of the root mean square")

    def create(self, learning_rate: Any) -> tf.train.Optimizer:
        return tf.train.RMSPropOptimizer(learning_rate, self.decay, self.momentum, self.epsilon, centered=self.centered)


@dataclass(frozen=True, kw_only=True)
class Ftrl(Optimizer):
    learning_rate_power: float = bounded(most=0, says="the rate falls with the summed squared gradients to this power")
    initial_accumulator_value: float = bounded(least=0, says="what each sum of squared gradients starts from")
    l1: float = bounded(least=0, says="weight of the sum of absolute values; makes weights exactly zero")
    l2: float = bounded(least=0, says="weight of the sum of squares")

    def create(self, learning_rate: Any) -> tf.train.Optimizer:
        return tf.train.FtrlOptimizer(
            learning_rate,
            self.learning_rate_power,
            self.initial_accumulator_value,
            l1_regularization_strength=self.l1,
            l2_regularization_strength=self.l2,
        )


@dataclass(frozen=True, kw_only=True)
class ProximalSgd(Optimizer):
    l1: float = bounded(least=0, says="weight of the sum of absolute values; makes weights exactly zero")
    l2: float = bounded(least=0, says="weight of the sum of squares")

    def create(self, learning_rate: Any) -> tf.train.Optimizer:
        return tf.train.ProximalGradientDescentOptimizer(
            learning_rate, l1_regularization_strength=self.l1, l2_regularization_strength=self.l2
        )


@dataclass(frozen=True, kw_only=True)
class ProximalAdagrad(Optimizer):
    initial_accumulator_value: float = bounded(above=0, says="what each sum of squared gradients starts from")
    l1: float = bounded(least=0, says="weight of the sum of absolute values; makes weights exactly zero")
    l2: float = bounded(least=0, says="weight of the sum of squares")

    def create(self, learning_rate: Any) -> tf.train.Optimizer:
        return tf.train.ProximalAdagradOptimizer(
            learning_rate,
            self.initial_accumulator_value,
            l1_regularization_strength=self.l1,
            l2_regularization_strength=self.l2,
        )
