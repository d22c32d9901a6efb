"""FixedUnigramCandidateSampler: classes as often as given weights say. TF 1.15.

Found by experiment: a class takes two words of the stream. The second, modulo the number of classes, is a column of the
alias table (Walker; Vose, IEEE Trans. Softw. Eng. 17, 1991), and the low 23 bits of the first say whether the column's own
class is drawn or its alias.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.formats.file_errors import file_error
from tfexp.ops.candidate_draws import Classes, Drawn
from tfexp.ops.candidate_sampling import (
    COUNTS,
    SAMPLED,
    SEEDS,
    check_classes,
    sampled,
    sampler,
    sampler_shapes,
)
from tfexp.ops.philox import Array, Words

fixed_unigram_op = define_op(
    f"FixedUnigramCandidateSampler(true_classes: int64) -> {SAMPLED} {{{COUNTS}range_max: int >= 1; vocab_file: string = "
    "''; distortion: float = 1.0; num_reserved_ids: int = 0; num_shards: int >= 1 = 1; shard: int >= 0 = 0; unigrams: "
    f"list(float) = []; {SEEDS}}} #stateful"
)


@fixed_unigram_op.shape
def _(true_classes: InputShape, *, num_true: int, num_sampled: int) -> list[TensorShape]:
    return sampler_shapes(true_classes, num_true, num_sampled)


@fixed_unigram_op.kernel("CPU")
def _(
    ctx: Any,
    true_classes: Classes,
    *,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: str,
    distortion: float,
    num_reserved_ids: int,
    num_shards: int,
    shard: int,
    unigrams: Sequence[float],
    seed: int,
    seed2: int,
) -> Any:
    table: _Unigrams | None = ctx.node_state.get("unigrams")
    if table is None:
        weights = _weights(vocab_file, unigrams, distortion, num_reserved_ids, num_shards, shard)
        if len(weights) != range_max:
            raise InvalidArgumentError(None, None, f"range is {range_max} must be equal to weights size  {len(weights)}")
        table = ctx.node_state.setdefault("unigrams", _Unigrams(weights))
    check_classes(true_classes, num_true, num_sampled, unique, range_max)
    how = seed, seed2, num_sampled, unique
    return sampled(ctx, true_classes, how, table.draw, lambda classes: table.shares[classes])


def _weights(
    vocab_file: str, unigrams: Sequence[float], distortion: float, reserved: int, num_shards: int, shard: int
) -> Array:
    """The weights of this shard's classes: 0 of the reserved ones, those of the file or the list to the power distortion."""
    if vocab_file and unigrams:
        raise InvalidArgumentError(None, None, "Must only provide one of vocab_file and unigrams.")
    if vocab_file:
        given = _from_file(vocab_file)
    elif unigrams:
        given = np.array(unigrams, np.float32)
    else:
        raise InvalidArgumentError(None, None, "Must provide either vocab_file or unigrams.")
    powers = given if distortion == 1.0 else np.power(given, np.float32(distortion))
    weights: Array = np.concatenate([np.zeros(reserved, np.float32), powers.astype(np.float32)])
    return weights[shard::num_shards] if shard < num_shards else weights[:0]


def _from_file(path: str) -> Array:
    """The last column of each line, which is cut at commas."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except OSError as error:
        raise file_error(path, error) from error
    cells = [line.rpartition(",")[2] for line in lines]
    try:
        return np.array(cells, np.float64).astype(np.float32)
    except ValueError as error:
        raise InvalidArgumentError(None, None, f"Wrong vocabulary format in {path}: {error}") from None


class _Unigrams:
    """Probabilities of the classes, and the alias table that draws them: `keep` and `alias` of each column."""

    def __init__(self, weights: Array):
        total = np.float32(weights.sum(dtype=np.float32))
        self.shares: Array = weights / total
        scaled = (weights * np.float32(len(weights)) / total).astype(np.float64)
        self.keep = np.ones(len(weights), np.float32)
        self.alias = np.arange(len(weights))
        # A column is filled up from one that has too much, which goes back to where it then belongs.
        low = np.flatnonzero(scaled < 1).tolist()
        high = np.flatnonzero(scaled >= 1).tolist()
        rest = scaled.tolist()
        while low and high:
            short, long = low.pop(), high.pop()
            self.keep[short], self.alias[short] = rest[short], long
            rest[long] -= 1 - rest[short]
            (high if rest[long] >= 1 else low).append(long)

    def draw(self, words: Words) -> Drawn:
        column = (words[..., 1::2] % np.uint32(len(self.keep))).astype(np.int64)
        point = (words[..., 0::2] & np.uint32(0x7FFFFF)).astype(np.float32) / np.float32(1 << 23)
        return Drawn(np.where(point < self.keep[column], column, self.alias[column]))


def fixed_unigram_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: str = "",
    distortion: float = 1.0,
    num_reserved_ids: int = 0,
    num_shards: int = 1,
    shard: int = 0,
    unigrams: Sequence[float] = (),
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """(sampled [num_sampled], expected counts of true_classes [batch, num_true], and of the sampled), by given weights.

    Weights: the last column of the lines of `vocab_file` (cut at commas), or `unigrams`; InvalidArgumentError unless these,
    behind `num_reserved_ids` of weight 0, are `range_max` in this `shard`.
    Source: `tf.random.fixed_unigram_candidate_sampler`.
    """
    return sampler(
        fixed_unigram_op,
        true_classes,
        num_true,
        num_sampled,
        unique,
        seed,
        name,
        range_max=range_max,
        vocab_file=vocab_file,
        distortion=distortion,
        num_reserved_ids=num_reserved_ids,
        num_shards=num_shards,
        shard=shard,
        unigrams=list(unigrams),
    )
