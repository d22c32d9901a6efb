"""`optimizer.clip_norm`: gradients scaled down together where they are too long (Pascanu et al. 2013).

It stands between an optimizer and what it is given, so it clips what a step is made of: where several copies of the model
make a step together, the mean of their gradients; else each one's own. Together are the gradients of one loss: a part of a
model that minimizes something of its own is clipped by itself, as if it were alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import tfexp as tf
from tfexp.train.optimizer_wrapper import OptimizerWrapper

__all__ = ["Clipping"]


class Clipping(OptimizerWrapper):
    """`opt`, of gradients that are scaled by one factor so that their L2 norm, all together, is at most `norm`: those of the
    variables in each of `scopes` by a factor of their own.
    """

    def __init__(self, opt: tf.train.Optimizer, norm: float, scopes: Sequence[str] = ()):
        super().__init__(opt, False, f"Clipping{opt.get_name()}")
        self._norm, self._scopes = norm, scopes

    def apply_gradients(self, grads_and_vars: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
        pairs = list(grads_and_vars)
        together: dict[str, list[int]] = {}
        for place, (gradient, variable) in enumerate(pairs):
            if gradient is not None:
                together.setdefault(self._scope_of(variable), []).append(place)
        for places in together.values():
            gradients = [pairs[place][0] for place in places]
            norm = tf.global_norm([_summed(gradient) for gradient in gradients])
            clipped, _ = tf.clip_by_global_norm(gradients, self._norm, use_norm=norm)
            for place, gradient in zip(places, clipped, strict=True):
                pairs[place] = gradient, pairs[place][1]
        return self._opt.apply_gradients(pairs, *args, **kwargs)

    def _scope_of(self, variable: Any) -> str:
        return next((scope for scope in self._scopes if variable.op.name.startswith(scope)), "")


def _summed(gradient: Any) -> Any:
    """Of IndexedSlices the rows of which one index may have several, their sums: the norm is that of the whole gradient."""
    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    with tf.colocate_with(gradient.values):
        rows, at = tf.unique(gradient.indices)
        return tf.unsorted_segment_sum(gradient.values, at, tf.size(rows))
