"""CTCLoss: connectionist temporal classification (Graves et al., ICML 2006, https://doi.org/10.1145/1143844.1143891).

The labels of a sequence are spread out to states: blank, label, blank, label, ..., blank. alpha[t, u] is the log probability
of having emitted inputs 0..t and being in state u, beta[t, u] that of emitting t+1.. from there. All sequences of a batch
are gone through together, a step of time at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array, expand_dims
from tfexp.ops.array_identity import prevent_gradient_op
from tfexp.ops.shape_rules import merged_dims, with_rank

ctc_loss_op = define_op(
    "CTCLoss(inputs: T, labels_indices: int64, labels_values: int32, sequence_length: int32) -> (loss: T, gradient: T) "
    "{preprocess_collapse_repeated: bool = false; ctc_merge_repeated: bool = true; ignore_longer_outputs_than_inputs: bool "
    "= false; T: type in [float,double] = float}"
)


@ctc_loss_op.shape
def _(
    inputs: InputShape, labels_indices: InputShape, labels_values: InputShape, sequence_length: InputShape
) -> list[TensorShape]:
    time, batch, classes = with_rank(inputs, 3).as_list()
    merged_dims(with_rank(labels_indices, 2).as_list()[0], with_rank(labels_values, 1).as_list()[0])
    batch = merged_dims(batch, with_rank(sequence_length, 1).as_list()[0])
    return [TensorShape([batch]), TensorShape([time, batch, classes])]


@ctc_loss_op.kernel("CPU")
def _(
    ctx: Any,
    inputs: Array,
    labels_indices: Array,
    labels_values: Array,
    sequence_length: Array,
    *,
    preprocess_collapse_repeated: bool,
    ctc_merge_repeated: bool,
    ignore_longer_outputs_than_inputs: bool,
) -> tuple[Array, Array]:
    if inputs.ndim != 3:
        raise _refuse("inputs is not a 3-Tensor")
    time, batch, classes = inputs.shape
    if sequence_length.shape != (batch,):
        raise _refuse(
            f"len(sequence_length) != batch_size.  len(sequence_length):  {sequence_length.size} batch_size: {batch}"
        )
    if len(labels_indices) != len(labels_values):
        raise _refuse(
            "labels_indices and labels_values must contain the same number of rows, but saw shapes: "
            f"{dims_text(labels_indices.shape)} vs. {dims_text(labels_values.shape)}"
        )
    if (sequence_length > time).any():
        raise _refuse(f"sequence_length({int(np.argmax(sequence_length > time))}) <= {time}")
    if not batch:
        raise _refuse("batch_size must not be 0")
    if not time:
        return np.zeros(batch, inputs.dtype), np.zeros_like(inputs)
    labels, sizes = _rows(labels_indices, labels_values, batch, classes, preprocess_collapse_repeated)
    late = sizes > sequence_length
    if late.any() and not ignore_longer_outputs_than_inputs:
        row = int(np.argmax(late))
        raise _refuse(
            f"Not enough time for target transition sequence (required: {sizes[row]}, available: {sequence_length[row]})"
            f"{row}You can turn this error into a warning by using the flag ignore_longer_outputs_than_inputs"
        )
    wide = inputs.astype(np.float64)
    wide -= wide.max(axis=2, keepdims=True)
    shares = wide - np.log(np.exp(wide).sum(axis=2, keepdims=True))
    loss, gradient = _forward_backward(shares, labels, sizes, sequence_length, ctc_merge_repeated)
    loss[late] = 0
    gradient[:, late] = 0
    return loss.astype(inputs.dtype), gradient.astype(inputs.dtype)


def _refuse(text: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, text)


def _rows(indices: Array, values: Array, batch: int, classes: int, collapse: bool) -> tuple[Array, Array]:
    """(labels [batch, longest], their numbers). A label that is no class, or the blank, ends its sequence."""
    row = indices[:, 0]
    if ((row < 0) | (row >= batch)).any():
        raise _refuse(f"labels batch index must be between 0 and {batch} but saw: {row[(row < 0) | (row >= batch)][0]}")
    order = np.argsort(row, kind="stable")
    row, found = row[order], values[order]
    counts = np.bincount(row, minlength=batch)
    if not counts.all():
        raise _refuse(f"Labels length is zero in batch {int(np.argmin(counts))}")
    column = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    labels = np.full((batch, int(counts.max())), classes - 1, np.int64)
    labels[row, column] = found
    given = np.arange(labels.shape[1]) < counts[:, None]
    for wrong, text in (
        ((labels < 0) & given, "All labels must be nonnegative integers"),
        (
            (labels < classes - 1) & (np.maximum.accumulate(labels >= classes - 1, axis=1)),
            "Saw a non-null label (index >= num_classes - 1) following a null label",
        ),
    ):
        if wrong.any():
            at = int(np.argmax(wrong.any(axis=1)))
            known = ",".join(map(str, labels[at, : counts[at]]))
            size = "" if text.startswith("All") else f" num_classes: {classes}"
            raise _refuse(f"{text}, batch: {at}{size} labels: {known}")
    kept = labels < classes - 1
    if collapse:
        kept[:, 1:] &= labels[:, 1:] != labels[:, :-1]
    sizes = kept.sum(axis=1)
    packed = np.full_like(labels, classes - 1)
    packed[np.nonzero(kept)[0], (np.cumsum(kept, axis=1) - 1)[kept]] = labels[kept]
    return packed[:, : int(sizes.max(initial=0))], sizes


def _forward_backward(
    shares: Array, labels: Array, sizes: Array, lengths: Array, merge_repeated: bool
) -> tuple[Array, Array]:
    """(loss [batch], its gradient [time, batch, classes]) of the log probabilities `shares`."""
    time, batch, classes = shares.shape
    blank = classes - 1
    count = 2 * labels.shape[1] + 1
    states = np.full((batch, count), blank)
    states[:, 1::2] = labels
    emitted = np.take_along_axis(shares, np.broadcast_to(states, (time, batch, count)), axis=2)
    outside = np.arange(count) > 2 * sizes[:, None]
    emitted[:, outside] = -np.inf
    # From one state to the same, to the next, and over a blank to the one after that.
    stays = np.where((states == blank) | merge_repeated, 0.0, -np.inf)
    skips = np.full((batch, count), -np.inf)
    different = states[:, 2:] != states[:, :-2] if merge_repeated else np.ones((batch, count - 2), np.bool_)
    skips[:, 2:] = np.where((states[:, 2:] != blank) & different, 0.0, -np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        alpha = np.full((time, batch, count), -np.inf)
        alpha[0, :, :2] = emitted[0, :, :2]
        for t in range(1, time):
            before = alpha[t - 1]
            into = before + stays
            into[:, 1:] = np.logaddexp(into[:, 1:], before[:, :-1])
            into[:, 2:] = np.logaddexp(into[:, 2:], before[:, :-2] + skips[:, 2:])
            alpha[t] = into + emitted[t]
        each = np.arange(batch)
        last = np.zeros((batch, count), np.bool_)
        last[each, 2 * sizes] = last[each, np.maximum(2 * sizes - 1, 0)] = True
        ending = np.where(last, 0.0, -np.inf)
        beta = np.full((time, batch, count), -np.inf)
        for t in range(time - 1, -1, -1):
            if t < time - 1:
                after = beta[t + 1] + emitted[t + 1]
                out = after + stays
                out[:, :-1] = np.logaddexp(out[:, :-1], after[:, 1:])
                out[:, :-2] = np.logaddexp(out[:, :-2], after[:, 2:] + skips[:, 2:])
                beta[t] = out
            beta[t] = np.where((lengths == t + 1)[:, None], ending, beta[t])
        through = alpha + beta
        total = np.logaddexp.reduce(through[0], axis=1)
        # What share of the paths is in a state at a time; none where there is no path at all.
        posterior = np.exp(through - total[:, None])
    posterior[:, ~np.isfinite(total)] = 0
    gradient = np.exp(shares)
    place = np.broadcast_to(states, (time, batch, count))
    np.subtract.at(gradient, (np.arange(time)[:, None, None], np.arange(batch)[None, :, None], place), posterior)
    gradient[np.arange(time)[:, None] >= lengths] = 0
    return np.where(lengths > 0, -total, 0.0), gradient


@ctc_loss_op.gradient
def _(op: Operation, grad: Tensor, _: Any) -> list[Tensor | None]:
    gradient = prevent_gradient_op(
        op.outputs[1],
        message="Currently there is no way to take the second  derivative of ctc_loss due to the fused implementation's "
        "interaction  with tf.gradients()",
    )
    return [expand_dims(grad, -1) * gradient, None, None, None]  # type: ignore[operator]
