"""What networks are made of: activations, normalization, dropout. Source: `tf.keras.backend`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.keras.backend.random import seed_of
from tfexp.ops import nn_activation, nn_dropout, nn_norm, nn_softmax, nn_topk
from tfexp.ops.array_mask import where
from tfexp.ops.cast import cast
from tfexp.ops.clip import clip_by_value
from tfexp.ops.comparison import greater


def relu(x: Any, alpha: float = 0.0, max_value: float | None = None, threshold: float = 0) -> Any:
    """`x` above `threshold`, at most `max_value`; below, `alpha * (x - threshold)`."""
    x = convert_to_tensor(x)
    if alpha != 0 and max_value is None and threshold == 0:
        return nn_activation.leaky_relu(x, alpha=alpha)
    below: Any = nn_activation.relu(threshold - x if threshold != 0 else -x) if alpha != 0 else None
    if threshold != 0:
        above: Any = x * cast(greater(x, threshold), x.dtype)
    elif max_value == 6:
        above = nn_activation.relu6(x)
    else:
        above = nn_activation.relu(x)
    if max_value is not None and not (max_value == 6 and threshold == 0):
        above = clip_by_value(above, 0.0, float(max_value))
    return above if alpha == 0 else above - alpha * below


def elu(x: Any, alpha: float = 1.0) -> Any:
    """`x` above 0, `alpha * (exp(x) - 1)` below."""
    x = convert_to_tensor(x)
    unit = nn_activation.elu_op(x)
    return unit if alpha == 1 else where(x > 0, unit, alpha * unit)  # type: ignore[operator]


def softmax(x: Any, axis: int = -1) -> Tensor:
    """Positive, of sum 1 along `axis`."""
    return nn_softmax.softmax(x, axis=axis)


def softplus(x: Any) -> Tensor:
    """`log(exp(x) + 1)`."""
    result: Tensor = nn_activation.softplus_op(x)
    return result


def softsign(x: Any) -> Tensor:
    """`x / (abs(x) + 1)`."""
    result: Tensor = nn_activation.softsign_op(x)
    return result


def hard_sigmoid(x: Any) -> Any:
    """Three straight lines near the sigmoid: 0.2 x + 0.5 between 0 and 1."""
    return clip_by_value(convert_to_tensor(x) * 0.2 + 0.5, 0.0, 1.0)


def dropout(x: Any, level: float, noise_shape: Any = None, seed: int | None = None) -> Tensor:
    """`x` with a part `level` of its elements zeroed, the others scaled up. Without a seed, NumPy's global one decides."""
    return nn_dropout.dropout(x, rate=level, noise_shape=noise_shape, seed=seed_of(seed))


def l2_normalize(x: Any, axis: Any = None) -> Tensor:
    """`x` divided by its Euclidean norm along `axis`."""
    return nn_norm.l2_normalize(x, axis=axis)


def in_top_k(predictions: Any, targets: Any, k: Any) -> Tensor:
    """For each row of predictions, whether its target's is among the `k` largest."""
    return nn_topk.in_top_k(predictions, targets, k)
