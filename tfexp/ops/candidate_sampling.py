"""Candidate samplers: a few classes in place of all, with how often each is expected among them. TF 1.15.

TensorFlow's conventions, found by experiment: a run sets 512 blocks of the node's Philox stream aside for each class that it
samples. A uniform class is 64 bits modulo the range, where numbers below 2**64 modulo the range are passed over; a
log-uniform one comes from a double; a learned unigram's is 32 bits modulo the sum of the weights. Where classes have to be
`unique`, those drawn already are passed over, and expected counts go by the number of tries.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import Op, define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.random_seed import get_seed
from tfexp.ops.philox import Array, Philox, integer_words, uniform
from tfexp.ops.random import stream_state
from tfexp.ops.shape_rules import with_rank

Classes = npt.NDArray[np.int64]
# What draws so many more classes, and what gives the probability of each of some classes.
_Draw = Callable[[int], Classes]
_Probability = Callable[[Classes], npt.NDArray[np.float32]]

_BLOCKS_PER_CLASS = 512
SAMPLED = "(sampled_candidates: int64, true_expected_count: float, sampled_expected_count: float)"
COUNTS = "num_true: int >= 1; num_sampled: int >= 1; unique: bool; "
SEEDS = "seed: int = 0; seed2: int = 0"


def _define(name: str, attrs: str = "range_max: int >= 1; ") -> Op:
    return define_op(f"{name}(true_classes: int64) -> {SAMPLED} {{{COUNTS}{attrs}{SEEDS}}} #stateful").not_differentiable()


uniform_op = _define("UniformCandidateSampler")
log_uniform_op = _define("LogUniformCandidateSampler")
learned_unigram_op = _define("LearnedUnigramCandidateSampler")
thread_unsafe_unigram_op = _define("ThreadUnsafeUnigramCandidateSampler")
all_op = _define("AllCandidateSampler", "")


@uniform_op.shape
@log_uniform_op.shape
@learned_unigram_op.shape
@thread_unsafe_unigram_op.shape
@all_op.shape
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
    stream = _Stream(reserve(ctx, seed, seed2, num_sampled))
    share = np.float32(1.0 / range_max)
    return sample_classes(
        true_classes,
        num_sampled,
        unique,
        lambda count: stream.integers(count, range_max, np.uint64),
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
    stream = _Stream(reserve(ctx, seed, seed2, num_sampled))
    log_range = math.log1p(range_max)

    def draw(count: int) -> Classes:
        return (np.exp(stream.doubles(count) * log_range).astype(np.int64) - 1) % range_max

    def probability(classes: Classes) -> Any:
        return (np.log((classes + 2.0) / (classes + 1.0)) / log_range).astype(np.float32)

    return sample_classes(true_classes, num_sampled, unique, draw, probability)


class _Unigram:
    """Weights that begin at 1 and grow with every occurrence among the true classes."""

    def __init__(self, range_max: int):
        self.lock = threading.Lock()
        self.weights: Classes = np.ones(range_max, np.int64)


@learned_unigram_op.kernel("CPU")
@thread_unsafe_unigram_op.kernel("CPU")
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
    stream = _Stream(reserve(ctx, seed, seed2, num_sampled))
    with unigram.lock:
        limits = np.cumsum(unigram.weights)
        total = int(limits[-1])
        result = sample_classes(
            true_classes,
            num_sampled,
            unique,
            lambda count: np.searchsorted(limits, stream.integers(count, total, np.uint32), side="right"),
            lambda classes: unigram.weights[classes].astype(np.float32) / np.float32(total),
        )
        np.add.at(unigram.weights, true_classes.reshape(-1), 1)
    return result


@all_op.kernel("CPU")
def _(
    ctx: Any, true_classes: Classes, *, num_true: int, num_sampled: int, unique: bool, seed: int, seed2: int
) -> tuple[Array, Array, Array]:
    check_classes(true_classes, num_true, num_sampled, unique, num_sampled)
    ones = np.ones(num_sampled, np.float32)
    return np.arange(num_sampled), np.ones(true_classes.shape, np.float32), ones


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
    outside = (true_classes < 0) | (true_classes >= range_max)
    if outside.any():
        raise InvalidArgumentError(
            None, None, f"`true_candidate` out of range [0, {range_max}), received {true_classes[outside][0]}"
        )


def reserve(ctx: Any, seed: int, seed2: int, num_sampled: int) -> Philox:
    return stream_state(ctx, seed, seed2).take(_BLOCKS_PER_CLASS * num_sampled)


class _Stream:
    """Numbers one after another, some at a time."""

    def __init__(self, start: Philox):
        self._next = start

    def doubles(self, count: int) -> npt.NDArray[np.float64]:
        """At least `count` numbers in [0, 1)."""
        blocks = -(-count // 2)
        here, self._next = self._next, self._next.skip(blocks)
        return uniform(here, 2 * blocks, np.float64)

    def integers(self, count: int, limit: int, unsigned: type[np.unsignedinteger[Any]]) -> Classes:
        """About `count` integers below `limit`, each of 32 or 64 bits; what would favour small ones is passed over."""
        size = np.dtype(unsigned).itemsize
        blocks = -(-count * size // 16)
        here, self._next = self._next, self._next.skip(blocks)
        _, words = integer_words(here, 16 * blocks // size, unsigned)
        if limit & (limit - 1):
            unfair = int(np.iinfo(unsigned).max) % limit + 1
            words = words[words >= unsigned(unfair)]
        return (words % unsigned(limit)).astype(np.int64)


def sample_classes(
    true_classes: Classes, num_sampled: int, unique: bool, draw: _Draw, probability: _Probability
) -> tuple[Array, Array, Array]:
    drawn = draw(2 * num_sampled if unique else num_sampled)  # one block costs as much as many
    while True:
        if unique:
            first = np.sort(np.unique(drawn, return_index=True)[1])
            if len(first) >= num_sampled:
                chosen = first[:num_sampled]
                tries = int(chosen[-1]) + 1
                break
        elif len(drawn) >= num_sampled:
            chosen, tries = np.arange(num_sampled), num_sampled
            break
        drawn = np.concatenate([drawn, draw(max(len(drawn), num_sampled))])
    sampled = drawn[chosen]

    def expected(classes: Classes) -> npt.NDArray[np.float32]:
        chance = probability(classes)
        if tries == num_sampled:
            return chance * np.float32(num_sampled)
        return -np.expm1(np.float32(tries) * np.log1p(-chance))

    return sampled, expected(true_classes), expected(sampled)


# --- hits --------------------------------------------------------------------------------------------------------------

accidental_hits_op = define_op(
    "ComputeAccidentalHits(true_classes: int64, sampled_candidates: int64) -> (indices: int32, ids: int64, weights: float) "
    f"{{num_true: int; {SEEDS}}}"
).not_differentiable()


@accidental_hits_op.shape
def _(true_classes: InputShape, sampled_candidates: InputShape) -> list[TensorShape]:
    with_rank(true_classes, 2)
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


def all_candidate_sampler(
    true_classes: Any, num_true: int, num_sampled: int, unique: bool, seed: int | None = None, name: str | None = None
) -> Any:
    """All classes below num_sampled, each expected once. `tf.random.all_candidate_sampler`."""
    return sampler(all_op, true_classes, num_true, num_sampled, unique, seed, name)


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
