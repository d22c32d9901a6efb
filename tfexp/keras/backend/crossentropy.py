"""Crossentropies between targets and predictions. Source: `tf.keras.backend`, TF 1.15.

Predictions are probabilities, kept away from 0 and 1 by `epsilon()`; of those that a softmax or sigmoid node
just made the logits are taken, from before that node, which loses no precision.
"""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.eager_tensor import EagerTensor
from tfexp.graph.tensor import Tensor
from tfexp.keras.backend.config import epsilon
from tfexp.ops import array, nn_cross_entropy
from tfexp.ops.array_order import transpose
from tfexp.ops.cast import cast
from tfexp.ops.clip import clip_by_value
from tfexp.ops.elementwise_unary import log
from tfexp.ops.reduce import reduce_sum
from tfexp.ops.variable_base import Variable


def categorical_crossentropy(target: Any, output: Any, from_logits: bool = False, axis: int = -1) -> Tensor:
    """Of class probabilities along `axis` (`from_logits`: of their logits); `target` has the same shape."""
    target = convert_to_tensor(target)
    logits = _logits(output, "Softmax", from_logits)
    if logits is not None:
        return nn_cross_entropy.softmax_cross_entropy_with_logits_v2(labels=target, logits=logits, axis=axis)
    output = convert_to_tensor(output)
    output = output / reduce_sum(output, axis, keepdims=True)  # of sum 1 for each example
    result: Tensor = -reduce_sum(target * log(_inside(output)), axis)  # type: ignore[operator]
    return result


def sparse_categorical_crossentropy(target: Any, output: Any, from_logits: bool = False, axis: int = -1) -> Tensor:
    """As `categorical_crossentropy`; `target` has numbers of classes: `output` without `axis`, or with 1 there."""
    logits = _logits(output, "Softmax", from_logits)
    if logits is None:
        logits = log(_inside(convert_to_tensor(output)))
    rank = logits.shape.ndims
    if rank is not None and axis % rank != rank - 1:
        logits = transpose(logits, [i for i in range(rank) if i != axis % rank] + [axis % rank])
    elif rank is None and axis != -1:
        raise ValueError(
            f"Cannot compute sparse categorical crossentropy with `axis={axis}` on an output tensor with unknown rank"
        )
    classes = logits.shape.as_list()[-1] if rank is not None else None
    rows = array.reshape(logits, [-1, array.shape(logits)[-1] if classes is None else classes])  # type: ignore[index]
    numbers = cast(array.reshape(convert_to_tensor(target), [-1]), dtypes.int64)
    result = nn_cross_entropy.sparse_softmax_cross_entropy_with_logits(labels=numbers, logits=rows)
    if rank is not None and rank >= 3:
        result = array.reshape(result, array.shape(logits)[:-1])  # type: ignore[index]
        result.set_shape(logits.shape[:-1])
    return result


def binary_crossentropy(target: Any, output: Any, from_logits: bool = False) -> Tensor:
    """Of probabilities (`from_logits`: of their logits), element by element."""
    target = convert_to_tensor(target)
    logits = _logits(output, "Sigmoid", from_logits)
    if logits is not None:
        return nn_cross_entropy.sigmoid_cross_entropy_with_logits(labels=target, logits=logits)
    output = _inside(convert_to_tensor(output))
    likelihood: Any = target * log(output + epsilon())
    likelihood += (1 - target) * log(1 - output + epsilon())
    result: Tensor = -likelihood
    return result


def _logits(output: Any, made_by: str, from_logits: bool) -> Any:
    """The logits of predictions, where they are to be had."""
    if from_logits:
        return convert_to_tensor(output)
    if not isinstance(output, Tensor) or isinstance(output, (EagerTensor, Variable)):
        return None
    while output._op.type == "Identity":
        output = output._op.inputs[0]
    return output._op.inputs[0] if output._op.type == made_by else None


def _inside(probabilities: Any) -> Tensor:
    return clip_by_value(probabilities, epsilon(), 1.0 - epsilon())
