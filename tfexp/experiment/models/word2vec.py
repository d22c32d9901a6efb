"""`model=word2vec`: an embedding of words that predicts their neighbours (skip-grams)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import tfexp as tf
from tfexp.experiment.datasets.dataset import Spec
from tfexp.experiment.errors import SettingError
from tfexp.experiment.models.model import Model
from tfexp.experiment.models.objectives import share_of
from tfexp.experiment.models.phase import random_uniform
from tfexp.experiment.schema import bounded

__all__ = ["Word2vec"]

_BEST = 5


@dataclass(frozen=True, kw_only=True)
class Word2vec(Model):
    """Rows are a word's number each, and the class is the number of a word near it, both counted from the most frequent.

    A step tells the neighbours from `negatives` words drawn at random; its gradients are sparse.
    Sources: Mikolov et al. 2013 (skip-grams), Gutmann & Hyvärinen 2010 (noise-contrastive estimation).
    """

    size: int = bounded(least=1, says="numbers that stand for a word")
    negatives: int = bounded(least=1, says="words drawn in each step to be told from the neighbours")

    def check(self, spec: Spec) -> None:
        if spec.width != 1 or spec.classes is None:
            labels = "numbers as labels" if spec.classes is None else f"{spec.classes} classes"
            raise SettingError(
                "model",
                f"Word2vec learns from pairs of words, and this data has {spec.width} features and {labels}: choose "
                "data=corpus, or data=csv with one column beside the label and data.standardize=false",
            )

    def check_rows(self, features: np.ndarray, spec: Spec) -> None:
        assert spec.classes is not None  # checked before
        numbers = features[:, 0]
        wrong = np.flatnonzero((numbers != np.floor(numbers)) | (numbers < 0) | (numbers >= spec.classes))
        if len(wrong):
            raise SettingError(
                "model",
                f"Word2vec takes numbers of words, 0 to {spec.classes - 1}, and this data has {numbers[wrong[0]]:g} among "
                "its features: is data.standardize=false?",
            )

    def outputs(self, features: tf.Tensor, spec: Spec) -> dict[str, Any]:
        """The words' embeddings [rows, size], and what the neighbours' scores are made with."""
        assert spec.classes is not None
        embeddings = tf.get_variable(
            "embeddings", [spec.classes, self.size], initializer=tf.random_uniform_initializer(-1.0, 1.0)
        )
        weights = tf.get_variable(
            "weights",
            [spec.classes, self.size],
            initializer=tf.truncated_normal_initializer(stddev=1.0 / math.sqrt(self.size)),
        )
        biases = tf.get_variable("biases", [spec.classes], initializer=tf.zeros_initializer())
        # pieces of a table that is cut have successive rows
        found = tf.nn.embedding_lookup(embeddings, tf.cast(features[:, 0], tf.int32), partition_strategy="div")
        return {"found": found, "weights": weights, "biases": biases}

    def loss(self, outputs: dict[str, Any], labels: tf.Tensor, spec: Spec) -> tf.Tensor:
        assert spec.classes is not None
        losses = tf.nn.nce_loss(
            outputs["weights"],
            outputs["biases"],
            tf.expand_dims(labels, 1),
            outputs["found"],
            self.negatives,
            spec.classes,
            sampled_values=self._drawn(labels, spec.classes),
            partition_strategy="div",
        )
        return tf.reduce_mean(losses, name="nce")

    def metrics(self, outputs: dict[str, Any], labels: tf.Tensor, spec: Spec) -> dict[str, tf.Tensor]:
        """`top5`: how often the neighbour is one of the five words that are thought most likely."""
        assert spec.classes is not None
        scores = tf.matmul(outputs["found"], outputs["weights"], transpose_b=True) + outputs["biases"]
        return {f"top{_BEST}": share_of(tf.nn.in_top_k(scores, labels, min(_BEST, spec.classes)))}

    def _drawn(self, labels: tf.Tensor, words: int) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """The numbers of `negatives` words, and how often the labels and these were to be expected among them.

        As `tf.nn.log_uniform_candidate_sampler` draws, but from the step's own random numbers.
        """
        exponents = random_uniform([self.negatives], "draw") * math.log(words + 1)
        drawn = tf.minimum(tf.cast(tf.exp(exponents), tf.int64) - 1, words - 1)
        return drawn, self._expected(tf.expand_dims(labels, 1), words), self._expected(drawn, words)

    def _expected(self, numbers: tf.Tensor, words: int) -> tf.Tensor:
        rank = tf.cast(numbers, tf.float32)
        return (tf.log(rank + 2.0) - tf.log(rank + 1.0)) * (self.negatives / math.log(words + 1))
