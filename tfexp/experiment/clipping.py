"""`optimizer.clip_norm`: gradients scaled down together where they are too long (Pascanu et al. 2013).

It stands between an optimizer and what it is given, so it clips what a step is made of: where several copies of the model
make a step together, the mean of their gradients; else each one's own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tfexp as tf
from tfexp.contributed.opt.wrapper import OptimizerWrapper

__all__ = ["Clipping"]


class Clipping(OptimizerWrapper):
    """`opt`, of gradients that are scaled by one factor so that their L2 norm, all together, is at most `norm`."""

    def __init__(self, opt: tf.train.Optimizer, norm: float):
        super().__init__(opt, False, f"Clipping{opt.get_name()}")
        self._norm = norm

    def apply_gradients(self, grads_and_vars: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
        given = list(grads_and_vars)
        pairs = [(gradient, variable) for gradient, variable in given if gradient is not None]
        if not pairs:
            return self._opt.apply_gradients(given, *args, **kwargs)  # which says so
        gradients, variables = zip(*pairs, strict=True)
        norm = tf.global_norm([_summed(gradient) for gradient in gradients])
        clipped, _ = tf.clip_by_global_norm(list(gradients), self._norm, use_norm=norm)
        return self._opt.apply_gradients(list(zip(clipped, variables, strict=True)), *args, **kwargs)


def _summed(gradient: Any) -> Any:
    """Of IndexedSlices the rows of which one index may have several, their sums: the norm is that of the whole gradient."""
    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    with tf.colocate_with(gradient.values):
        rows, at = tf.unique(gradient.indices)
        return tf.unsorted_segment_sum(gradient.values, at, tf.size(rows))
