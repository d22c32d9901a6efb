"""The config group `optimizer`: one class per choice, whose fields are its settings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import tfexp as tf
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

    learning_rate: float = bounded(above=0)

    @abstractmethod
    def create(self, learning_rate: Any) -> tf.train.Optimizer:
        """The optimizer, at the rate (a number or a scalar tensor) that the schedule gives."""


@dataclass(frozen=True, kw_only=True)
class Sgd(Optimizer):
    def create(self, learning_rate: Any) -> tf.train.Optimizer:
        return tf.train.GradientDescentOptimizer(learning_rate)


@dataclass(frozen=True, kw_only=True)
class Momentum(Optimizer):
    momentum: float = bounded(least=0, below=1)
    use_nesterov: bool

    def create(self, learning_rate: Any) -> tf.train.Optimizer:
        return tf.train.MomentumOptimizer(learning_rate, self.momentum, use_nesterov=self.use_nesterov)


@dataclass(frozen=True, kw_only=True)
class Adagrad(Optimizer):
    initial_accumulator_value: float = bounded(above=0)

    def create(self, learning_rate: Any) -> tf.train.Optimizer:
        return tf.train.AdagradOptimizer(learning_rate, self.initial_accumulator_value)


@dataclass(frozen=True, kw_only=True)
class Adadelta(Optimizer):
    rho: float = bounded(least=0, below=1)
    epsilon: float = bounded(above=0)

    def create(self, learning_rate: Any) -> tf.train.Optimizer:
        return tf.train.AdadeltaOptimizer(learning_rate, self.rho, self.epsilon)


@dataclass(frozen=True, kw_only=True)
class Adam(Optimizer):
    beta1: float = bounded(least=0, below=1)
    beta2: float = bounded(least=0, below=1)
    epsilon: float = bounded(above=0)

    def create(self, learning_rate: Any) -> tf.train.Optimizer:
        return tf.train.AdamOptimizer(learning_rate, self.beta1, self.beta2, self.epsilon)


@dataclass(frozen=True, kw_only=True)
class Rmsprop(Optimizer):
    decay: float = bounded(least=0, below=1)
    momentum: float = bounded(least=0, below=1)
    epsilon: float = bounded(above=0)
    centered: bool

    def create(self, learning_rate: Any) -> tf.train.Optimizer:
        return tf.train.RMSPropOptimizer(learning_rate, self.decay, self.momentum, self.epsilon, centered=self.centered)


@dataclass(frozen=True, kw_only=True)
class Ftrl(Optimizer):
    learning_rate_power: float = bounded(most=0)
    initial_accumulator_value: float = bounded(least=0)
    l1: float = bounded(least=0)
    l2: float = bounded(least=0)

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
    l1: float = bounded(least=0)
    l2: float = bounded(least=0)

    def create(self, learning_rate: Any) -> tf.train.Optimizer:
        return tf.train.ProximalGradientDescentOptimizer(
            learning_rate, l1_regularization_strength=self.l1, l2_regularization_strength=self.l2
        )


@dataclass(frozen=True, kw_only=True)
class ProximalAdagrad(Optimizer):
    initial_accumulator_value: float = bounded(above=0)
    l1: float = bounded(least=0)
    l2: float = bounded(least=0)

    def create(self, learning_rate: Any) -> tf.train.Optimizer:
        return tf.train.ProximalAdagradOptimizer(
            learning_rate,
            self.initial_accumulator_value,
            l1_regularization_strength=self.l1,
            l2_regularization_strength=self.l2,
        )
