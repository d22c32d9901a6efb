"""Sparsemax: the nearest point of the simplex, many of whose parts are zero (https://arxiv.org/abs/1602.02068).

Source: `tf.contrib.sparsemax`, TF 1.15.
"""

from __future__ import annotations

from typing import Any

from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import shape as shape_of
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_fill import zeros_like
from tfexp.ops.array_mask import where
from tfexp.ops.cast import cast
from tfexp.ops.cumulative import cumsum
from tfexp.ops.elementwise_binary import maximum
from tfexp.ops.nn_topk import top_k
from tfexp.ops.reduce import reduce_max, reduce_sum


def _threshold(logits: Any) -> Any:
    """[batch, 1]: what is taken from each logit, so that what is positive of them adds up to one."""
    count = shape_of(logits)[1]  # type: ignore[index]
    ordered, _ = top_k(logits, k=count)
    sums = cumsum(ordered, axis=1)
    places = cast(range_(1, count + 1), logits.dtype)
    kept = 1 + places * ordered > sums
    support = reduce_sum(cast(kept, logits.dtype), axis=1, keepdims=True)
    # A logit may be -inf, and 0 * inf would be NaN.
    return (reduce_sum(where(kept, ordered, zeros_like(ordered)), axis=1, keepdims=True) - 1) / support


def sparsemax(logits: Any, name: str | None = None) -> Tensor:
    """[batch, classes] to probabilities of that shape: each row projected onto the simplex. For floats of 16 to 64 bits."""
    with name_scope(name, "sparsemax", [logits]):
        logits = convert_to_tensor(logits, name="logits")
        shifted = logits - reduce_max(logits, axis=1, keepdims=True)
        found: Tensor = maximum(shifted - _threshold(shifted), cast(0, logits.dtype))
        return found


def sparsemax_loss(logits: Any, sparsemax: Any, labels: Any, name: str | None = None) -> Tensor:
    """[batch]: the loss whose gradient is `sparsemax`, that of the logits, less the labels, which are probabilities."""
    with name_scope(name, "sparsemax_loss", [logits, sparsemax, labels]):
        logits = convert_to_tensor(logits, name="logits")
        sparsemax = convert_to_tensor(sparsemax, name="sparsemax")
        labels = convert_to_tensor(labels, name="labels")
        shifted = logits - reduce_max(logits, axis=1, keepdims=True)
        threshold = where(sparsemax > 0, sparsemax * (shifted - 0.5 * sparsemax), zeros_like(sparsemax))
        wrong = where(labels > 0, labels * (0.5 * labels - shifted), zeros_like(sparsemax))
        found: Tensor = reduce_sum(threshold + wrong, axis=1)
        return found
