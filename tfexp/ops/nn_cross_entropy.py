"""Cross entropies: of a softmax, fused with it, and of independent sigmoids."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.deprecation import deprecated_argument_lookup
from tfexp.core.kernel import BindRequest, Call
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, broadcast_shapes, dims_text
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array, expand_dims, rank, reshape, shape, squeeze
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_fill import zeros_like
from tfexp.ops.array_identity import stop_gradient
from tfexp.ops.array_join import concat
from tfexp.ops.array_mask import where
from tfexp.ops.array_order import transpose
from tfexp.ops.array_slice import slice as slice_
from tfexp.ops.cast import cast
from tfexp.ops.check_compare import assert_equal
from tfexp.ops.elementwise_binary import add, sub
from tfexp.ops.elementwise_unary import abs as abs_
from tfexp.ops.elementwise_unary import exp, log1p
from tfexp.ops.index_range import are_within
from tfexp.ops.matmul import matmul
from tfexp.ops.nn_activation import relu
from tfexp.ops.nn_softmax import NARROW, log_softmax, shifted, softmax
from tfexp.ops.scalar_arrays import scalar_array
from tfexp.ops.shape_rules import merged_dims, with_rank

_FLOAT = "T: type in [half,bfloat16,float,double]"

# --- softmax cross entropy with label distributions -----------------------------------------------------------------------

softmax_cross_entropy_op = define_op(
    f"SoftmaxCrossEntropyWithLogits(features: T, labels: T) -> (loss: T, backprop: T) {{{_FLOAT}}}"
)


@softmax_cross_entropy_op.shape
def _(features: InputShape, labels: InputShape) -> list[TensorShape]:
    whole = broadcast_shapes(with_rank(features, 2), with_rank(labels, 2))
    return [TensorShape(whole.as_list()[:1]), whole]


def _normalized(features: Array, axis: int) -> tuple[Array, Array, Array]:
    """(features less their largest, softmax, log of the exponentials' sum) along `axis`, where the sum keeps that axis."""
    scores = shifted(features, axis)
    probabilities = np.exp(scores)
    sums = np.add.reduce(probabilities, axis, keepdims=True)
    np.divide(probabilities, sums, probabilities)
    return scores, probabilities, np.log(sums, sums)


def _dense_cross_entropy(features: Array, labels: Array) -> list[Array]:
    narrow = features.shape[1] < NARROW
    if narrow:
        features, labels = np.ascontiguousarray(features.T), labels.T
    axis = 0 if narrow else 1
    scores, probabilities, log_sums = _normalized(features, axis)
    np.subtract(log_sums, scores, scores)
    np.multiply(labels, scores, scores)
    loss = np.add.reduce(scores, axis)
    if not np.isfinite(loss).all():
        # 0 * inf: what has no probability in the labels costs nothing.
        scores[labels == 0] = 0
        loss = np.add.reduce(scores, axis)
    np.subtract(probabilities, labels, probabilities)
    return [loss, np.ascontiguousarray(probabilities.T) if narrow else probabilities]


@softmax_cross_entropy_op.kernel("CPU")
def _(ctx: Any, features: Array, labels: Array) -> list[Array]:
    if np.ndim(features) != 2 or np.ndim(labels) != 2:
        raise ValueError(
            f"logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional: logits_size="
            f"{dims_text(np.shape(features))} labels_size={dims_text(np.shape(labels))}"
        )
    try:
        features, labels = np.broadcast_arrays(features, labels)
    except ValueError:
        raise ValueError(
            f"logits and labels must be broadcastable: logits_size={dims_text(np.shape(features))} labels_size="
            f"{dims_text(np.shape(labels))}"
        ) from None
    return _dense_cross_entropy(features, labels)


@softmax_cross_entropy_op.kernel("XLA")
def _(jax: Any, features: Array, labels: Array) -> list[Array]:
    features, labels = np.broadcast_arrays(features, labels)
    scores, probabilities, log_sums = _normalized(features, 1)
    costs = np.where(np.equal(labels, 0), np.zeros_like(labels), np.multiply(labels, np.subtract(log_sums, scores)))
    return [np.add.reduce(costs, 1), np.subtract(probabilities, labels)]


@softmax_cross_entropy_op.bind
def _(node: BindRequest) -> Call | None:
    features, labels = node.input_shapes
    if not features.is_fully_defined() or len(features) != 2 or features.known_dims != labels.known_dims:
        return None
    return Call(_dense_cross_entropy)


def _is_zero(grad: Any) -> bool:
    """Whether a gradient was only made because the output has none."""
    return isinstance(grad, Tensor) and grad._op.type == "ZerosLike"


def _times_rows(row_factors: Any, rows: Any) -> Tensor:
    result: Tensor = expand_dims(row_factors, -1) * rows  # type: ignore[operator]
    return result


@softmax_cross_entropy_op.gradient
def _(op: Operation, grad_loss: Tensor, grad_backprop: Any) -> list[Tensor]:
    # The second output is the gradient of the first: it only has to be weighted.
    grad: Any = _times_rows(grad_loss, op.outputs[1])
    logits = op.inputs[0]
    if grad_backprop is not None and not _is_zero(grad_backprop):
        probabilities: Any = softmax(logits)
        products = matmul(expand_dims(grad_backprop, 1), expand_dims(probabilities, 2))
        grad += (grad_backprop - squeeze(products, axis=[1])) * probabilities
    return [grad, _times_rows(grad_loss, -log_softmax(logits))]  # type: ignore[operator]


def _checked_arguments(name: str, sentinel: Any, labels: Any, logits: Any) -> None:
    if sentinel is not None:
        raise ValueError(f"Only call `{name}` with named arguments (labels=..., logits=..., ...). Received {sentinel}")
    if labels is None or logits is None:
        raise ValueError("Both labels and logits must be provided.")


def _precise(logits: Tensor) -> Tensor:
    return cast(logits, dtypes.float32) if logits.dtype in (dtypes.float16, dtypes.bfloat16) else logits


def _flat_rows(x: Tensor) -> Tensor:
    """`x` as a matrix: all axes but the last become one."""
    dims = rank(x)
    row_length = slice_(shape(x), [sub(dims, 1)], [1])
    flat = reshape(x, concat([[-1], row_length], 0))
    known = x.get_shape().known_dims
    if known is not None and None not in known[:-1]:
        flat.set_shape([math.prod(d for d in known[:-1] if d is not None), known[-1]])
    return flat


def softmax_cross_entropy_with_logits_v2(
    labels: Any, logits: Any, axis: int | None = None, name: str | None = None, dim: int | None = None
) -> Tensor:
    """-sum(labels * log(softmax(logits))) along `axis` (the last); gradients flow to both. TF symbol of this name.

    labels and logits have the same shape; the result has it without `axis`. float16 is computed in float32.
    """
    axis = deprecated_argument_lookup("axis", axis, "dim", dim)
    axis = -1 if axis is None else axis
    _checked_arguments("softmax_cross_entropy_with_logits", None, labels, logits)
    with name_scope(name, "softmax_cross_entropy_with_logits", [logits, labels]) as scope:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        precise = _precise(logits)
        labels = cast(labels, precise.dtype)
        dims = rank(precise)
        static = logits.get_shape()
        if axis != -1:
            precise, labels = _moved_to_end(precise, axis, dims), _moved_to_end(labels, axis, dims)
        moved_shape = shape(precise)
        precise, labels = _flat_rows(precise), _flat_rows(labels)
        cost = softmax_cross_entropy_op(precise, labels, name=scope).loss
        cost = reshape(cost, slice_(moved_shape, [0], [sub(dims, 1)]))
        if static.known_dims is not None:
            remaining = static.as_list()
            del remaining[axis]
            cost.set_shape(remaining)
        return cast(cost, logits.dtype) if logits.dtype is not precise.dtype else cost


def _moved_to_end(x: Tensor, axis: int, dims: Tensor) -> Tensor:
    return transpose(x, concat([range_(axis), range_(axis + 1, dims), [axis]], 0))


def softmax_cross_entropy_with_logits(
    _sentinel: Any = None,
    labels: Any = None,
    logits: Any = None,
    dim: int = -1,
    name: str | None = None,
    axis: int | None = None,
) -> Tensor:
    """As `softmax_cross_entropy_with_logits_v2`, but no gradient flows to the labels. Source: TF 1.15."""
    dim = dim if axis is None else axis
    _checked_arguments("softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(name, "softmax_cross_entropy_with_logits_sg", [logits, labels]) as scope:
        labels = stop_gradient(labels, name="labels_stop_gradient")
    return softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits, axis=dim, name=scope)


# --- softmax cross entropy with class numbers ---------------------------------------------------------------------------

sparse_softmax_cross_entropy_op = define_op(
    "SparseSoftmaxCrossEntropyWithLogits(features: T, labels: Tlabels) -> (loss: T, backprop: T) "
    f"{{{_FLOAT}; Tlabels: type in [int32,int64] = int64}}"
)


@sparse_softmax_cross_entropy_op.shape
def _(features: InputShape, labels: InputShape) -> list[TensorShape]:
    rows, classes = with_rank(features, 2).as_list()
    rows = merged_dims(rows, with_rank(labels, 1).as_list()[0])
    return [TensorShape([rows]), TensorShape([rows, classes])]


def _sparse_cross_entropy(features: Array, labels: Array, rows: Array) -> list[Array]:
    classes = features.shape[1]
    if classes == 0 and len(features):
        raise ValueError(f"Must have at least one class, but got logits shape {dims_text(features.shape)}")
    if not are_within(labels, classes):
        bad = next(v for v in labels.tolist() if not 0 <= v < classes)
        raise ValueError(
            f"Received a label value of {bad} which is outside the valid range of [0, {classes}).  Label values: "
            f"{' '.join(map(str, labels.tolist()))}"
        )
    positions = labels.astype(np.intp)
    if classes < NARROW:
        scores, probabilities, log_sums = _normalized(np.ascontiguousarray(features.T), 0)
        chosen = positions * len(rows) + rows
    else:
        scores, probabilities, log_sums = _normalized(np.ascontiguousarray(features), 1)
        chosen = rows * classes + positions
    # One index costs a third of two.
    loss = np.subtract(log_sums.reshape(-1), scores.reshape(-1)[chosen])
    probabilities.reshape(-1)[chosen] -= 1
    return [loss, np.ascontiguousarray(probabilities.T) if classes < NARROW else probabilities]


@sparse_softmax_cross_entropy_op.kernel("CPU")
def _(ctx: Any, features: Array, labels: Array) -> list[Array]:
    if np.ndim(features) != 2:
        raise ValueError(f"logits must be 2-D, but got shape {dims_text(np.shape(features))}")
    if np.ndim(labels) != 1:
        raise ValueError(f"labels must be 1-D, but got shape {dims_text(np.shape(labels))}")
    if len(labels) != len(features):
        raise ValueError(
            f"logits and labels must have the same first dimension, got logits shape {dims_text(features.shape)} and labels "
            f"shape {dims_text(labels.shape)}"
        )
    if features.size and features.shape[1] == 0:
        raise ValueError(f"Must have at least one class, but got logits shape {dims_text(features.shape)}")
    return _sparse_cross_entropy(features, labels, np.arange(len(labels)))


@sparse_softmax_cross_entropy_op.kernel("XLA")
def _(jax: Any, features: Array, labels: Array) -> list[Array]:
    """Rows whose label is no class are nan, which is all that compiled code can say of them."""
    classes = np.arange(features.shape[1], dtype=labels.dtype)
    column = np.expand_dims(labels, 1)
    chosen = np.equal(column, classes)
    nan = np.where((column >= 0) & (column < len(classes)), _zero(features.dtype), _nan(features.dtype))
    scores, probabilities, log_sums = _normalized(features, 1)
    loss = np.add.reduce(np.where(chosen, np.subtract(log_sums, scores), np.zeros_like(scores)), 1)
    return [loss + nan[:, 0], np.subtract(probabilities, chosen.astype(features.dtype)) + nan]


def _zero(dtype: Any) -> Any:
    return scalar_array(0, dtype)


def _nan(dtype: Any) -> Any:
    return scalar_array(np.nan, dtype)


@sparse_softmax_cross_entropy_op.bind
def _(node: BindRequest) -> Call | None:
    features, labels = node.input_shapes
    if not (features.is_fully_defined() and labels.is_fully_defined()) or len(features) != 2 or 0 in features.as_list():
        return None
    if features.as_list()[:1] != labels.as_list():
        return None
    rows = np.arange(labels.as_list()[0])  # type: ignore[arg-type]
    return Call(lambda features, labels: _sparse_cross_entropy(features, labels, rows))


@sparse_softmax_cross_entropy_op.gradient
def _(op: Operation, grad_loss: Tensor, grad_backprop: Any) -> list[Tensor | None]:
    grad: Any = _times_rows(grad_loss, op.outputs[1])
    if grad_backprop is not None and not _is_zero(grad_backprop):
        probabilities: Any = softmax(op.inputs[0])
        products = matmul(expand_dims(grad_backprop, 1), expand_dims(probabilities, 2))
        grad += (grad_backprop - squeeze(products, axis=[1])) * probabilities
    return [grad, None]


def sparse_softmax_cross_entropy_with_logits(
    _sentinel: Any = None, labels: Any = None, logits: Any = None, name: str | None = None
) -> Tensor:
    """-log(softmax(logits)[label]) for each label, an index into the last axis of `logits`. TF symbol of this name.

    ValueError when the static shapes do not fit; a label out of range is an InvalidArgumentError of the run.
    """
    _checked_arguments("sparse_softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(name, "SparseSoftmaxCrossEntropyWithLogits", [labels, logits]):
        labels = convert_to_tensor(labels)
        logits = convert_to_tensor(logits)
        precise = _precise(logits)
        label_dims = labels.get_shape()
        labels_shape = shape(labels)
        all_known = label_dims.is_fully_defined() and logits.get_shape()[:-1].is_fully_defined()
        if logits.get_shape().ndims == 0:
            raise ValueError(f"Logits cannot be scalars - received shape {logits.get_shape()}.")
        if None not in (logits.get_shape().ndims, label_dims.ndims) and label_dims.ndims != logits.get_shape().ndims - 1:
            raise ValueError(
                f"Rank mismatch: Rank of labels (received {label_dims.ndims}) should equal rank of logits minus 1 (received "
                f"{logits.get_shape().ndims})."
            )
        if all_known and label_dims != logits.get_shape()[:-1]:
            raise ValueError(
                f"Shape mismatch: The shape of labels (received {label_dims}) should equal the shape of logits except for "
                f"the last dimension (received {logits.get_shape()})."
            )
        if logits.get_shape().ndims == 2:
            cost = sparse_softmax_cross_entropy_op(precise, labels, name=name).loss
        else:
            checks = [] if all_known else [assert_equal(shape(labels), shape(logits)[:-1])]  # type: ignore[index]
            with control_dependencies(checks):
                classes = shape(logits)[rank(logits) - 1]  # type: ignore[index,operator]
                flat = reshape(precise, [-1, classes])
                flat_labels = reshape(labels, [-1])
                cost = sparse_softmax_cross_entropy_op(flat, flat_labels, name=name).loss
                cost = reshape(cost, labels_shape)
                cost.set_shape(label_dims)
        return cast(cost, logits.dtype) if logits.dtype is not precise.dtype else cost


# --- sigmoid cross entropy ----------------------------------------------------------------------------------------------


def _same_static_shape(what: str, first: Any, second: Any) -> None:
    try:
        first.get_shape().assert_is_compatible_with(second.get_shape())
    except ValueError:
        raise ValueError(f"{what} must have the same shape ({second.get_shape()} vs {first.get_shape()})") from None


def sigmoid_cross_entropy_with_logits(
    _sentinel: Any = None, labels: Any = None, logits: Any = None, name: str | None = None
) -> Tensor:
    """-labels * log(sigmoid(logits)) - (1 - labels) * log(1 - sigmoid(logits)), element-wise. TF symbol of this name."""
    _checked_arguments("sigmoid_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        _same_static_shape("logits and labels", labels, logits)
        # max(x, 0) - x * z + log(1 + exp(-|x|)): no overflow, and a gradient at 0.
        zeros = zeros_like(logits, dtype=logits.dtype)
        positive = logits >= zeros
        rectified: Any = where(positive, logits, zeros)
        minus_magnitude = where(positive, -logits, logits)
        result: Tensor = add(rectified - logits * labels, log1p(exp(minus_magnitude)), name=scope)
        return result


def weighted_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None, pos_weight: Any = None, name: str | None = None, targets: Any = None
) -> Tensor:
    """As `sigmoid_cross_entropy_with_logits`, positive labels weighing `pos_weight`. TF symbol of this name."""
    labels = deprecated_argument_lookup("labels", labels, "targets", targets)
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        _same_static_shape("logits and labels", labels, logits)
        weight = 1 + (pos_weight - 1) * labels
        negative = (1 - labels) * logits
        rest: Any = log1p(exp(-abs_(logits)))  # type: ignore[operator]
        result: Tensor = add(negative, weight * (rest + relu(-logits)), name=scope)
        return result
