"""`tf.nn.ctc_loss` and what prepares its labels. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.sparse_tensor import SparseTensor, is_sparse
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import expand_dims, reshape, shape
from tfexp.ops.array_fill import ones_like
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_gather import scatter_nd
from tfexp.ops.array_join import concat, stack
from tfexp.ops.array_mask import boolean_mask, sequence_mask, where
from tfexp.ops.array_order import transpose
from tfexp.ops.array_pad import pad
from tfexp.ops.array_unique import unique
from tfexp.ops.cast import cast
from tfexp.ops.comparison import less, not_equal
from tfexp.ops.ctc_loss import ctc_loss_op
from tfexp.ops.functional import map_fn
from tfexp.ops.logical import logical_and
from tfexp.ops.reduce import reduce_max, reduce_sum


def ctc_loss(
    labels: Any,
    inputs: Any = None,
    sequence_length: Any = None,
    preprocess_collapse_repeated: bool = False,
    ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False,
    time_major: bool = True,
    logits: Any = None,
) -> Tensor:
    """[batch]: minus the log probability of a sparse tensor of labels, whatever their alignment with the inputs.

    inputs (or logits): [time, batch, classes], or [batch, time, classes] unless `time_major`, the last class the blank.
    TypeError for labels that are not sparse int32; InvalidArgumentError for more labels than there is time for, unless
    `ignore_longer_outputs_than_inputs`. There is no second derivative. Source: `tf.nn.ctc_loss`.
    """
    if not is_sparse(labels):
        raise TypeError("Expected labels (first argument) to be a SparseTensor")
    values = convert_to_tensor(inputs if logits is None else logits)
    if not time_major:
        values = transpose(values, [1, 0, 2])
    loss, _ = ctc_loss_op(
        values,
        labels.indices,
        labels.values,
        sequence_length,
        preprocess_collapse_repeated=preprocess_collapse_repeated,
        ctc_merge_repeated=ctc_merge_repeated,
        ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs,
    )
    return loss  # type: ignore[no-any-return]


def ctc_loss_v2(
    labels: Any,
    logits: Any,
    label_length: Any,
    logit_length: Any,
    logits_time_major: bool = True,
    unique: Any = None,
    blank_index: int | None = None,
    name: str | None = None,
) -> Tensor:
    """As `ctc_loss`, with the blank where `blank_index` says: by default 0 for dense labels [batch, longest].

    label_length: [batch], for dense labels. `unique`, which makes TensorFlow's dense loss faster, changes nothing here:
    both kinds go through CTCLoss. ValueError for sparse labels without `blank_index`. Source: `tf.nn.ctc_loss_v2`.
    """
    with name_scope(name, "ctc_loss", [logits, labels, label_length, logit_length]):
        logits = convert_to_tensor(logits, name="logits")
        if not logits_time_major:
            logits = transpose(logits, [1, 0, 2])
        if is_sparse(labels):
            if blank_index is None:
                raise ValueError("blank_index must be given when using SparseTensor labels.")
            sparse = SparseTensor.from_value(labels)
        else:
            sparse = dense_labels_to_sparse(labels, label_length)
        known = logits.get_shape().with_rank(3)[2].value
        classes: Any = shape(logits)[2] if known is None else known  # type: ignore[index]
        blank = (blank_index or 0) % classes
        if known is None or blank != known - 1:
            logits = concat([logits[:, :, :blank], logits[:, :, blank + 1 :], logits[:, :, blank : blank + 1]], axis=2)
            sparse = SparseTensor(
                sparse.indices, where(less(sparse.values, blank), sparse.values, sparse.values - 1), sparse.dense_shape
            )
        return ctc_loss(sparse, logits, cast(logit_length, dtypes.int32))


def dense_labels_to_sparse(labels: Any, lengths: Any) -> SparseTensor:
    """[batch, time] labels of any integers, of which the first `lengths` of each row count, as int32 [batch, longest]."""
    labels = cast(convert_to_tensor(labels, name="labels"), dtypes.int32)
    labels.set_shape([None, None])
    mask = sequence_mask(lengths, shape(labels)[1])  # type: ignore[index]
    mask.set_shape(labels.get_shape())
    dims = [cast(shape(labels)[0], dtypes.int64), cast(reduce_max(lengths), dtypes.int64)]  # type: ignore[index]
    return SparseTensor(where(mask), boolean_mask(labels, mask), stack(dims))


def collapse_repeated(labels: Any, seq_length: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """([batch, longest] labels without those that repeat the one before, [batch] how many are left), zeros behind them.

    Source: `tf.nn.collapse_repeated`.
    """
    with name_scope(name, "collapse_repeated_labels", [labels, seq_length]):
        labels = convert_to_tensor(labels, name="labels")
        seq_length = convert_to_tensor(seq_length, name="seq_length")
        changes = concat([ones_like(labels[:, :1], dtypes.bool), not_equal(labels[:, 1:], labels[:, :-1])], axis=1)
        longest = labels.get_shape()[1].value
        within = sequence_mask(seq_length, maxlen=shape(labels)[1] if longest is None else longest)  # type: ignore[index]
        mask = logical_and(changes, within)
        sizes: Any = reduce_sum(cast(mask, dtypes.int32), axis=1)
        most = reduce_max(sizes)
        filled = sequence_mask(sizes, maxlen=most)
        flat, chosen, into = reshape(labels, [-1]), reshape(mask, [-1]), reshape(filled, [-1])
        places = range_(shape(into)[0])  # type: ignore[index]
        packed = scatter_nd(expand_dims(boolean_mask(places, into), axis=1), boolean_mask(flat, chosen), shape(into))
        rows = labels.get_shape()[0].value
        dims = [shape(labels)[0] if rows is None else rows, most]  # type: ignore[index]
        return reshape(packed, dims), cast(sizes, seq_length.dtype)


def ctc_unique_labels(labels: Any, name: str | None = None) -> list[Tensor]:
    """[the different labels of each row, and zeros; where among them each label is]. `tf.nn.ctc_unique_labels`."""
    with name_scope(name, "ctc_unique_labels", [labels]):
        labels = convert_to_tensor(labels, name="labels")
        longest = labels.get_shape()[1].value

        def of_row(row: Any) -> Any:
            found = unique(row)
            size = shape(row)[0] if longest is None else longest  # type: ignore[index]
            return [cast(pad(found.y, [[0, size - shape(found.y)[0]]]), dtypes.int64), found.idx]  # type: ignore[index]

        return map_fn(of_row, labels, dtype=[dtypes.int64, dtypes.int32])  # type: ignore[return-value]
