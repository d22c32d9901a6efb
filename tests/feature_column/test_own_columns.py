"""Feature columns of programs' own, as TensorFlow's first ones let them be written."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

import tfexp as tf
from tfexp.stand_ins.modules import stand_for

base = stand_for("tensorflow.python.feature_column.feature_column")._DenseColumn  # type: ignore[union-attr]


class Scaled(base, namedtuple("Scaled", "key factor")):  # type: ignore[misc]
    """A feature times a variable."""

    @property
    def name(self) -> str:
        return f"{self.key}_scaled"

    @property
    def _parse_example_spec(self) -> dict[str, Any]:
        return {self.key: tf.FixedLenFeature([2], tf.float32)}

    @property
    def _variable_shape(self) -> Any:
        return tf.TensorShape([2])

    def _transform_feature(self, inputs: Any) -> Any:
        return inputs.get(self.key) * self.factor

    def _get_dense_tensor(self, inputs: Any, weight_collections: Any = None, trainable: Any = None) -> Any:
        return inputs.get(self) * tf.get_variable("by", [], initializer=tf.ones_initializer(), trainable=trainable)


def test_a_column_of_ones_own_is_among_the_others() -> None:
    columns = [Scaled("x", 3.0), tf.feature_column.numeric_column("y")]
    made = tf.feature_column.input_layer({"x": [[1.0, 2.0]], "y": [[5.0]]}, columns)
    assert tf.feature_column.make_parse_example_spec(columns)["x"].shape == [2]
    assert [v.op.name for v in tf.trainable_variables()] == ["input_layer/x_scaled/by"]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(sess.run(made), [[3, 6, 5]])
