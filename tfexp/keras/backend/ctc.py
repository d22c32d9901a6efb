"""Connectionist temporal classification. Source: `tf.keras.backend`, TF 1.15; Graves et al. (2006)."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor
from tfexp.keras.backend.config import epsilon
from tfexp.ops import array, ctc
from tfexp.ops import ctc_decode as ctc_decode_ops
from tfexp.ops.array_gather import gather_nd
from tfexp.ops.array_mask import sequence_mask, where
from tfexp.ops.array_order import transpose
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_unary import log
from tfexp.ops.sparse import sparse_tensor_to_dense


def ctc_label_dense_to_sparse(labels: Any, label_lengths: Any) -> SparseTensor:
    """The first `label_lengths[i]` labels of each row of [batch, length]."""
    labels = convert_to_tensor(labels)
    sizes: Any = array.shape(labels)
    inside = where(sequence_mask(label_lengths, sizes[1]))
    return SparseTensor(inside, gather_nd(labels, inside), cast(sizes, dtypes.int64))


def ctc_batch_cost(y_true: Any, y_pred: Any, input_length: Any, label_length: Any) -> Tensor:
    """[batch, 1]: the loss of each sequence.

    y_true: labels [batch, length]; y_pred: probabilities [batch, time, classes], the last class the blank one;
    input_length and label_length: [batch, 1].
    """
    inputs = cast(array.squeeze(convert_to_tensor(input_length), [-1]), dtypes.int32)
    lengths = cast(array.squeeze(convert_to_tensor(label_length), [-1]), dtypes.int32)
    labels = cast(ctc_label_dense_to_sparse(y_true, lengths), dtypes.int32)
    loss = ctc.ctc_loss(inputs=_log_by_time(y_pred), labels=labels, sequence_length=inputs)
    return array.expand_dims(loss, 1)


def ctc_decode(
    y_pred: Any, input_length: Any, greedy: bool = True, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[Tensor], Tensor]:
    """(the decoded labels [batch, length] of each of the best paths, filled up with -1; their log probabilities).

    y_pred: [batch, time, classes]; input_length: [batch]. `greedy`: the best class of each step, one path only.
    """
    steps = cast(convert_to_tensor(input_length), dtypes.int32)
    if greedy:
        paths, scores = ctc_decode_ops.ctc_greedy_decoder(_log_by_time(y_pred), steps)
    else:
        paths, scores = ctc_decode_ops.ctc_beam_search_decoder(
            _log_by_time(y_pred), steps, beam_width=beam_width, top_paths=top_paths
        )
    return [sparse_tensor_to_dense(path, default_value=-1) for path in paths], scores


def _log_by_time(probabilities: Any) -> Tensor:
    return log(transpose(convert_to_tensor(probabilities), [1, 0, 2]) + epsilon())
