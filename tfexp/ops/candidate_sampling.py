"""Candidate samplers: a few classes in place of all, with how often each is expected among them. TF 1.15.

Found by experiment: a uniform class is 64 bits modulo the range, where numbers below 2**64 modulo the range are passed over;
a log-uniform one comes from a double; a learned unigram's is 32 bits modulo the sum of the weights. `candidate_draws` says
how runs share the stream.
"""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np
import numpy.typing as npt

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import Op, define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.random_seed import get_seed
from tfexp.ops.candidate_draws import Classes, ComingRuns, Draw, Drawn, Probability, expected_count
from tfexp.ops.index_range import are_within
from tfexp.ops.philox import Array, Words, uniform_from_words
from tfexp.ops.random import stream_state
from tfexp.ops.shape_rules import required_dim, with_rank

SAMPLED = "(sampled_candidates: int64, true_expected_count: float, sampled_expected_count: float)"
COUNTS = "num_true: int >= 1; num_sampled: int >= 1; unique: bool; "
SEEDS = "seed: int = 0; seed2: int = 0"


def _define(name: str) -> Op:
    return define_op(f"{name}(true_classes: int64) -> {SAMPLED} {{{COUNTS}range_max: int >= 1; {SEEDS}}} #stateful")


uniform_op = _define("UniformCandidateSampler")
log_uniform_op = _define("LogUniformCandidateSampler")
learned_unigram_op = _define("LearnedUnigramCandidateSampler")


@uniform_op.shape
@log_uniform_op.shape
@learned_unigram_op.shape
def _(true_classes: InputShape, *, num_true: int, num_sampled: int) -> list[TensorShape]:
    return sampler_shapes(true_classes, num_true, num_sampled)


def sampler_shapes(true_classes: InputShape, num_true: int, num_sampled: int) -> list[TensorShape]:
    rows = with_rank(true_classes, 2)[0]
    return [TensorShape([num_sampled]), TensorShape([rows, num_true]), TensorShape([num_sampled])]


@uniform_op.kernel("CPU")
def _(
    ctx: Any,
    true_classes: Classes,
    *,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int,
    seed2: int,
) -> Any:
    check_classes(true_classes, num_true, num_sampled, unique, range_max)
    share = np.float32(1.0 / range_max)
    return sampled(
        ctx,
        true_classes,
        (seed, seed2, num_sampled, unique),
        lambda words: integers(pairs(words), range_max),
        lambda classes: np.full(classes.shape, share),
    )


@log_uniform_op.kernel("CPU")
def _(
    ctx: Any,
    true_classes: Classes,
    *,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int,
    seed2: int,
) -> Any:
    """Class k has the probability log((k + 2) / (k + 1)) / log(range_max + 1)."""
    check_classes(true_classes, num_true, num_sampled, unique, range_max)
    log_range = math.log1p(range_max)

    def draw(words: Words) -> Drawn:
        return Drawn((np.exp(uniform_from_words(words, np.float64) * log_range).astype(np.int64) - 1) % range_max)

    def probability(classes: Classes) -> Any:
        return (np.log((classes + 2.0) / (classes + 1.0)) / log_range).astype(np.float32)

    return sampled(ctx, true_classes, (seed, seed2, num_sampled, unique), draw, probability)


class _Unigram:
    """Weights that begin at 1 and grow with every occurrence among the true classes."""

    def __init__(self, range_max: int):
        self.lock = threading.Lock()
        self.weights: Classes = np.ones(range_max, np.int64)


@learned_unigram_op.kernel("CPU")
def _(
    ctx: Any,
    true_classes: Classes,
    *,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int,
    seed2: int,
) -> Any:
    check_classes(true_classes, num_true, num_sampled, unique, range_max)
    unigram: _Unigram | None = ctx.node_state.get("unigram")
    if unigram is None:
        unigram = ctx.node_state.setdefault("unigram", _Unigram(range_max))
    state = stream_state(ctx, seed, seed2)
    with unigram.lock:
        limits = np.cumsum(unigram.weights)
        total = int(limits[-1])

        def draw(words: Words) -> Drawn:
            below, fair = integers(words, total)
            return Drawn(np.searchsorted(limits, below, side="right"), fair)

        def probability(classes: Classes) -> Any:
            return unigram.weights[classes].astype(np.float32) / np.float32(total)

        # Of this run alone: the next one's weights depend on it.
        run = ComingRuns(state, num_sampled, unique, draw, probability).next()
        result = _with_true(run, num_sampled, true_classes, probability)
        np.add.at(unigram.weights, true_classes.reshape(-1), 1)
    return result


# --- drawing -----------------------------------------------------------------------------------------------------------


def check_classes(true_classes: Classes, num_true: int, num_sampled: int, unique: bool, range_max: int) -> None:
    if true_classes.ndim != 2:
        raise InvalidArgumentError(None, None, "true_classes must be a matrix")
    if true_classes.shape[1] != num_true:
        raise InvalidArgumentError(
            None, None, f"true_classes must have num_true columns, expected: {true_classes.shape[1]} was: {num_true}"
        )
    if unique and num_sampled > range_max:
        raise InvalidArgumentError(
            None, None, f"Sampler's range is too small. It has {range_max} classes, and {num_sampled} are to be sampled."
        )
    if not are_within(true_classes, range_max):
        first = true_classes[(true_classes < 0) | (true_classes >= range_max)][0]
        raise InvalidArgumentError(None, None, f"`true_candidate` out of range [0, {range_max}), received {first}")


def sampled(
    ctx: Any, true_classes: Classes, how: tuple[int, int, int, bool], draw: Draw, probability: Probability
) -> tuple[Array, Array, Array]:
    """A run's outputs, where what it draws depends on its stream alone. `how`: seed, seed2, num_sampled, unique."""
    coming: ComingRuns | None = ctx.node_state.get("coming")
    seed, seed2, num_sampled, unique = how
    if coming is None:
        coming = ComingRuns(stream_state(ctx, seed, seed2), num_sampled, unique, draw, probability)
        coming = ctx.node_state.setdefault("coming", coming)
    return _with_true(coming.next(), num_sampled, true_classes, probability)


def _with_true(
    run: tuple[Classes, int, Array], num_sampled: int, true_classes: Classes, probability: Probability
) -> tuple[Array, Array, Array]:
    classes, tries, expected = run
    return classes, expected_count(probability(true_classes), tries, num_sampled), expected


def pairs(words: Words) -> npt.NDArray[np.uint64]:
    """Two words each, the lower first, as 64 bits."""
    return words[..., 0::2] | words[..., 1::2].astype(np.uint64) << np.uint64(32)


def integers(numbers: npt.NDArray[Any], limit: int) -> Drawn:
    """As integers below `limit`; those that would favour small ones do not count."""
    unsigned = numbers.dtype.type
    fair = None
    if limit & (limit - 1):
        fair = numbers >= unsigned(int(np.iinfo(unsigned).max) % limit + 1)
    return Drawn((numbers % unsigned(limit)).astype(np.int64), None if fair is None or fair.all() else fair)


# --- hits --------------------------------------------------------------------------------------------------------------

accidental_hits_op = define_op(
    "ComputeAccidentalHits(true_classes: int64, sampled_candidates: int64) -> (indices: int32, ids: int64, weights: float) "
    f"{{num_true: int; {SEEDS}}}"
)


@accidental_hits_op.shape
def _(true_classes: InputShape, sampled_candidates: InputShape, *, num_true: int) -> list[TensorShape]:
    columns = with_rank(true_classes, 2).as_list()[1]
    required_dim(columns, num_true)
    with_rank(sampled_candidates, 1)
    return [TensorShape([None])] * 3


@accidental_hits_op.kernel("CPU")
def _(ctx: Any, true_classes: Classes, sampled_candidates: Classes, *, num_true: int) -> tuple[Array, Array, Array]:
    """Where a true class was sampled: its row, and the last place of it among the sampled ones."""
    if true_classes.ndim != 2 or true_classes.shape[1] != num_true:
        raise InvalidArgumentError(None, None, "true_candidates must be a batch_size * num_true matrix")
    order = np.argsort(sampled_candidates, kind="stable")
    ordered = sampled_candidates[order]
    after = np.searchsorted(ordered, true_classes.reshape(-1), side="right")
    found = after > 0
    found[found] = ordered[after[found] - 1] == true_classes.reshape(-1)[found]
    (flat,) = np.nonzero(found)
    weights = np.full(len(flat), -np.finfo(np.float32).max, np.float32)
    return (flat // max(num_true, 1)).astype(np.int32), order[after[flat] - 1].astype(np.int64), weights


# --- functions ---------------------------------------------------------------------------------------------------------


def uniform_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """(sampled [num_sampled], expected counts of true_classes [batch, num_true], and of the sampled): all equally likely.

    Source: `tf.random.uniform_candidate_sampler`.
    """
    return sampler(uniform_op, true_classes, num_true, num_sampled, unique, seed, name, range_max=range_max)


def log_uniform_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """The same by Zipf's law, for classes in order of decreasing frequency. `tf.random.log_uniform_candidate_sampler`."""
    return sampler(log_uniform_op, true_classes, num_true, num_sampled, unique, seed, name, range_max=range_max)


def learned_unigram_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """The same as often as classes were true in earlier runs. `tf.random.learned_unigram_candidate_sampler`."""
    return sampler(learned_unigram_op, true_classes, num_true, num_sampled, unique, seed, name, range_max=range_max)


def sampler(
    op: Op,
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    seed: int | None,
    name: str | None,
    **attrs: Any,
) -> Any:
    seed1, seed2 = get_seed(seed)
    return op(
        true_classes,
        num_true=num_true,
        num_sampled=num_sampled,
        unique=unique,
        seed=seed1,
        seed2=seed2,
        name=name,
        **attrs,
    )


def compute_accidental_hits(
    true_classes: Any, sampled_candidates: Any, num_true: int, seed: int | None = None, name: str | None = None
) -> Any:
    """(rows, places among the sampled, -float32.max): where a true class was sampled. `tf.nn.compute_accidental_hits`."""
    seed1, seed2 = get_seed(seed)
    return accidental_hits_op(true_classes, sampled_candidates, num_true=num_true, seed=seed1, seed2=seed2, name=name)
