"""RMSProp whose running mean of squares starts from zeros. Source: `tf.contrib.optimizer_v2.RMSPropOptimizer`."""

from __future__ import annotations

from tfexp.ops.initializers import zeros_initializer
from tfexp.train import rmsprop


class RMSPropOptimizer(rmsprop.RMSPropOptimizer):
    """That of `tf.train`, which starts from ones; here the first steps are longer."""

    _first_rms = zeros_initializer
