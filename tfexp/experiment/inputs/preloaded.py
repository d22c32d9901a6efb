"""All training rows inside the graph's session: in variables that are neither trained, saved nor initialised with others.

Source: "Preloaded data" of TensorFlow 1's guide to reading data.
"""

from __future__ import annotations

from typing import Any

import tfexp as tf
from tfexp.experiment.inputs.input import Share

__all__ = ["Preloaded"]


class Preloaded:
    """`features` and `labels`: variables of one worker, without a value until `load`.

    Their initial values are fed: as constants, they would be in every copy of the graph that is written down.
    """

    def __init__(self, share: Share):
        train = share.dataset.train
        with tf.device(share.device or None):
            self.features, self._features = _variable(train.features.shape, tf.float32, "all_features")
            self.labels, self._labels = _variable(train.labels.shape, tf.as_dtype(train.labels.dtype), "all_labels")
        self._train = train

    def load(self, session: tf.Session) -> None:
        for variable, value, rows in (
            (self.features, self._features, self._train.features),
            (self.labels, self._labels, self._train.labels),
        ):
            session.run(variable.initializer, {value: rows})


def _variable(shape: tuple[int, ...], dtype: tf.DType, name: str) -> tuple[Any, tf.Tensor]:
    initial = tf.placeholder(dtype, shape, name=f"{name}_value")
    return tf.Variable(initial, trainable=False, collections=[], name=name), initial
