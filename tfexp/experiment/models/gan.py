"""`model=gan`: a generator that learns to make rows like the data's, from a discriminator that learns to tell them apart."""

from __future__ import annotations

from dataclasses import dataclass

import tfexp as tf
from tfexp.experiment.datasets.dataset import Spec
from tfexp.experiment.errors import SettingError
from tfexp.experiment.models.dense import dense
from tfexp.experiment.models.model import Model, Parts
from tfexp.experiment.models.objectives import share_of
from tfexp.experiment.models.phase import random_normal
from tfexp.experiment.schema import bounded

__all__ = ["Gan", "Judged"]

_COMPARED = 500
"""Rows, at most, that the metrics compare with each other."""


@dataclass(frozen=True)
class Judged:
    """Real and generated rows [rows, width], and the discriminator's log-odds [rows, 1] that they are real."""

    real: tf.Tensor
    made: tf.Tensor
    of_real: tf.Tensor
    of_made: tf.Tensor


@dataclass(frozen=True, kw_only=True)
class Gan(Model):
    """Two networks with variables of their own: `generator` makes a row from `noise` normal numbers, `discriminator` is used
    twice, with the same variables, on real and on generated rows. Each step improves both, each by its own loss. Labels are
    not used.

    Source: Goodfellow et al. 2014, with the loss of the generator that does not saturate.
    """

    noise: int = bounded(least=1, says="random numbers that a generated row is made from")
    generator: tuple[int, ...] = bounded(least=1, says="widths of the generator's hidden layers")
    discriminator: tuple[int, ...] = bounded(least=1, says="widths of the discriminator's hidden layers")
    real_target: float = bounded(
        above=0.5, most=1, says="what the discriminator is to say of real rows; below 1, it is not driven to certainty"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("generator", "discriminator"):
            if not getattr(self, name):
                raise SettingError(name, "[] has no hidden layer, and a line tells no shapes apart: give at least one width")

    def outputs(self, features: tf.Tensor, spec: Spec) -> Judged:
        noise = random_normal(tf.stack([tf.shape(features)[0], self.noise]), "noise")
        with tf.variable_scope("generator"):
            made = _network(tf.reshape(noise, [-1, self.noise]), self.generator, spec.width)
        with tf.variable_scope("discriminator"):
            of_real = _network(features, self.discriminator, 1)
        with tf.variable_scope("discriminator", reuse=True):
            of_made = _network(made, self.discriminator, 1)
        return Judged(features, made, of_real, of_made)

    def loss(self, outputs: Judged, labels: tf.Tensor, spec: Spec) -> Parts:
        real, made = outputs.of_real, outputs.of_made
        with tf.name_scope("discriminator"):
            discriminator = _cross_entropy(real, self.real_target) + _cross_entropy(made, 0.0)
        with tf.name_scope("generator"):
            generator = _cross_entropy(made, 1.0)
        return Parts(tf.add(discriminator, generator, name="both"), {"discriminator": discriminator, "generator": generator})

    def metrics(self, outputs: Judged, labels: tf.Tensor, spec: Spec) -> dict[str, tf.Tensor]:
        """`energy_distance` is between real and generated rows, 0 where they cannot be told apart (Székely & Rizzo 2013);
        `fooled` is the share of generated rows that the discriminator takes for real.
        """
        real, made = outputs.real[:_COMPARED], outputs.made[:_COMPARED]
        distance = 2.0 * _mean_distance(real, made) - _mean_distance(real, real) - _mean_distance(made, made)
        return {
            "energy_distance": tf.maximum(distance, 0.0, name="energy_distance"),
            "fooled": share_of(outputs.of_made > 0.0),
        }


def _network(layer: tf.Tensor, hidden: tuple[int, ...], width: int) -> tf.Tensor:
    for number, units in enumerate(hidden, start=1):
        layer = tf.nn.leaky_relu(
            dense(layer, units, f"hidden{number}", initializer=tf.variance_scaling_initializer(scale=2.0))
        )
    return dense(layer, width, "outputs")


def _cross_entropy(log_odds: tf.Tensor, target: float) -> tf.Tensor:
    targets = tf.fill(tf.shape(log_odds), target)
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=targets, logits=log_odds))


def _mean_distance(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Of all pairs of a row of `a` and one of `b`."""
    lengths = tf.reduce_sum(tf.square(a), 1, keepdims=True), tf.reduce_sum(tf.square(b), 1)
    squares = lengths[0] + lengths[1] - 2.0 * tf.matmul(a, b, transpose_b=True)
    return tf.reduce_mean(tf.sqrt(tf.maximum(squares, 0.0)))
