"""Pairs of words that stand near each other. Source: `tf.contrib.text`, TF 1.15; Mikolov et al. (2013), arXiv 1301.3781."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tfexp.core.errors import invalid
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.ops.array import Array
from tfexp.ops.candidate_sampling import integers
from tfexp.ops.philox import Philox
from tfexp.ops.random import stream_state
from tfexp.ops.shape_rules import with_rank

skip_gram_op = define_op(
    "SkipGramGenerateCandidates(input_tensor: T, min_skips: int32, max_skips: int32, start: int32, limit: int32, "
    "emit_self_as_target: bool) -> (tokens: T, labels: T) {T: type = string; seed: int = 0; seed2: int = 0} #stateful"
)
_TOKENS_PER_BLOCK = 4  # what a run sets aside of the node's stream


@skip_gram_op.shape
def _(words: InputShape, *scalars: InputShape) -> list[TensorShape]:
    with_rank(words, 1)
    for scalar in scalars:
        with_rank(scalar, 0)
    return [TensorShape([None])] * 2


@skip_gram_op.kernel("CPU")
def _(
    ctx: Any,
    words: Array,
    min_skips: Array,
    max_skips: Array,
    start: Array,
    limit: Array,
    emit_self_as_target: Array,
    *,
    seed: int,
    seed2: int,
) -> list[Array]:
    least, most, first = int(min_skips), int(max_skips), int(start)
    if least < 0 or most < 0:
        raise invalid("Both min_skips and max_skips must be >= 0.")
    if least > most:
        raise invalid("min_skips must be <= max_skips.")
    if not 0 <= first <= len(words):
        raise invalid(f"start must be in [0, {len(words)}], not {first}")
    words = words[first:] if limit < 0 else words[first : first + int(limit)]
    stream = stream_state(ctx, seed, seed2).take(len(words) // _TOKENS_PER_BLOCK + 1)
    skips = least + _below(stream, most - least + 1, len(words))
    # Of every token its neighbours from -most to most, of which those count that are near enough.
    away = np.arange(-most, most + 1)
    near = np.abs(away) <= skips[:, None]
    if not emit_self_as_target:
        near[:, most] = False
    at = np.arange(len(words))[:, None] + away
    token, which = np.nonzero(near & (at >= 0) & (at < len(words)))
    return [words[token], words[at[token, which]]]


def _below(stream: Philox, limit: int, count: int) -> npt.NDArray[np.int64]:
    """Whole numbers from 0 to below `limit`, each from the next word that counts."""
    numbers, words = np.empty(0, np.int64), count
    while len(numbers) < count:
        numbers, fair = integers(stream.words(words), limit)
        numbers = numbers if fair is None else numbers[fair]
        words *= 2
    return numbers[:count]
