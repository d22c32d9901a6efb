"""N-grams: the runs of n neighbours in rows of strings, joined. Source: `tf.strings.ngrams`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.ops.shape_rules import with_rank

Array = np.ndarray

ngrams_op = define_op(
    "StringNGrams(data: string, data_splits: Tsplits) -> (ngrams: string, ngrams_splits: Tsplits) {separator: string; "
    "ngram_widths: list(int) >= 0; left_pad: string; right_pad: string; pad_width: int; preserve_short_sequences: bool; "
    "Tsplits: type in [int32,int64] = int64}"
)


@ngrams_op.shape
def _(data: InputShape, data_splits: InputShape) -> list[TensorShape]:
    with_rank(data, 1)
    return [TensorShape([None]), with_rank(data_splits, 1)]


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


@ngrams_op.kernel("CPU")
def _(
    ctx: Any,
    data: Any,
    data_splits: Array,
    *,
    separator: Any,
    ngram_widths: list[int],
    left_pad: Any,
    right_pad: Any,
    pad_width: int,
    preserve_short_sequences: bool,
) -> list[Any]:
    splits, words = np.asarray(data_splits), list(data)
    if splits.size and (splits[0] != 0 or splits[-1] != len(words) or np.any(np.diff(splits) < 0)):
        raise InvalidArgumentError(None, None, f"data_splits must go from 0 to {len(words)} and not decrease, got {splits}")
    join, left, right = _bytes(separator).join, _bytes(left_pad), _bytes(right_pad)
    lengths = np.diff(splits)
    pads = [width - 1 if pad_width < 0 else min(pad_width, width - 1) for width in ngram_widths]
    counts = np.array(
        [np.maximum(lengths + 2 * pad - width + 1, 0) for width, pad in zip(ngram_widths, pads, strict=True)], np.int64
    ).reshape(len(pads), len(lengths))
    made: list[bytes] = []
    ends = splits.tolist()
    for row in range(len(lengths)):  # every n-gram is a string of its own, which only joining makes
        own = words[ends[row] : ends[row + 1]]
        before = len(made)
        for width, pad, count in zip(ngram_widths, pads, counts[:, row].tolist(), strict=True):
            padded = [left] * pad + own + [right] * pad
            made.extend(join(padded[i : i + width]) for i in range(count))
        if preserve_short_sequences and len(made) == before and own:
            pad = max(pad_width, 0)
            made.append(join([left] * pad + own + [right] * pad))
            counts[0, row] += 1
    result = np.empty(len(made), object)
    result[:] = made
    return [result, np.concatenate([[0], np.cumsum(counts.sum(0))]).astype(splits.dtype)]
