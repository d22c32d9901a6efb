"""What candidate samplers draw from a node's stream, for several runs at once.

TensorFlow's conventions, found by experiment: a run sets 512 blocks of the node's Philox stream aside for each class that it
samples. Where classes have to be unique, those drawn already are passed over, and expected counts go by the number of tries.

What a run draws depends on the stream alone. So a node that samples again and again gets the samples of many runs together:
those of one alone cost as much as those of dozens.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tfexp.ops.philox import Philox, PhiloxState, Words

__all__ = ["Classes", "ComingRuns", "Draw", "Drawn", "Probability", "Sample", "expected_count", "sample"]

Classes = npt.NDArray[np.int64]
Counts = npt.NDArray[np.float32]


class Drawn(NamedTuple):
    """Classes [runs, tries], and which of them count; None: all."""

    classes: Classes
    fair: npt.NDArray[np.bool_] | None = None


Draw = Callable[[Words], Drawn]
"""Words of each run's stream [runs, 4 n] -> what they come to, a class of one or two of them."""
Probability = Callable[[Classes], Counts]
"""Of each of some classes."""

_BLOCKS_PER_CLASS = 512
_MOST_RUNS, _MOST_CLASSES = 64, 1 << 14


class Sample(NamedTuple):
    """Classes [runs, num_sampled], and how many were drawn for them [runs, 1]."""

    classes: Classes
    tries: Classes


def sample(stream: Philox, runs: int, num_sampled: int, unique: bool, draw: Draw) -> Sample:
    """What so many runs, one after another, take from the stream."""
    result = Sample(np.empty((runs, num_sampled), np.int64), np.empty((runs, 1), np.int64))
    left = np.arange(runs)
    blocks = num_sampled if unique else -(-num_sampled // 2)  # two classes each, at least
    while left.size:
        drawn, fair = draw(_words(stream, left * _BLOCKS_PER_CLASS * num_sampled, blocks))
        counts = _first_ones(drawn, fair) if unique else np.ones(drawn.shape, bool) if fair is None else fair
        number = np.cumsum(counts, axis=1)
        enough = number[:, -1] >= num_sampled
        chosen = counts & (number <= num_sampled) & enough[:, None]
        last = drawn.shape[1] - 1 - np.argmax(chosen[enough, ::-1], axis=1)
        result.classes[left[enough]] = drawn[chosen].reshape(-1, num_sampled)
        tries = last + 1 if fair is None else np.cumsum(fair[enough], axis=1)[np.arange(len(last)), last]
        result.tries[left[enough], 0] = tries
        left, blocks = left[~enough], 2 * blocks
    return result


def _words(stream: Philox, starts: Classes, blocks: int) -> Words:
    """The words of so many blocks from each of these on, [starts, 4 * blocks]."""
    if len(starts) == 1:
        return stream.skip(int(starts[0])).words(4 * blocks)[None]
    offsets = np.add.outer(starts.astype(np.uint64), np.arange(blocks, dtype=np.uint64))
    return stream.blocks_at(offsets.reshape(-1)).reshape(len(starts), 4 * blocks)


def _first_ones(drawn: Classes, fair: npt.NDArray[np.bool_] | None) -> npt.NDArray[np.bool_]:
    """Where a class that counts is drawn for the first time in its run."""
    if fair is not None:
        drawn = np.where(fair, drawn, -1)
    order = np.argsort(drawn, axis=1, kind="stable")
    ordered = np.take_along_axis(drawn, order, axis=1)
    new = np.ones(drawn.shape, bool)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    first = np.empty(drawn.shape, bool)
    np.put_along_axis(first, order, new, axis=1)
    return first if fair is None else first & fair


def expected_count(chance: Counts, tries: Any, num_sampled: int) -> Counts:
    """How often a class of that probability is among `num_sampled` that took so many tries: more tries mean unique ones."""
    if isinstance(tries, int):
        return chance * np.float32(num_sampled) if tries == num_sampled else _among_tries(chance, tries)
    return np.where(tries == num_sampled, chance * np.float32(num_sampled), _among_tries(chance, tries))


def _among_tries(chance: Counts, tries: Any) -> Counts:
    """How likely a class is drawn at least once."""
    return -np.expm1(np.float32(tries) * np.log1p(-chance))


class ComingRuns:
    """The samples of a node's coming runs, by `draw` from its stream. Safe to share by threads."""

    def __init__(self, state: PhiloxState, num_sampled: int, unique: bool, draw: Draw, probability: Probability) -> None:
        self._state, self._num_sampled, self._unique = state, num_sampled, unique
        self._draw, self._probability = draw, probability
        self._lock = threading.Lock()
        self._ready: list[tuple[Classes, int, Counts]] = []
        self._runs = 0

    def next(self) -> tuple[Classes, int, Counts]:
        """The classes of the next run, the tries that they took, and how often each was to be expected."""
        with self._lock:
            if not self._ready:
                self._make()
            return self._ready.pop()

    def _make(self) -> None:
        # The first run may be the only one.
        most = max(1, min(_MOST_RUNS, _MOST_CLASSES // self._num_sampled))
        self._runs = min(most, 8 * self._runs) or 1
        stream = self._state.take(self._runs * _BLOCKS_PER_CLASS * self._num_sampled)
        classes, tries = sample(stream, self._runs, self._num_sampled, self._unique, self._draw)
        expected = expected_count(self._probability(classes), tries, self._num_sampled)
        self._ready = list(zip(classes, tries[:, 0].tolist(), expected, strict=True))[::-1]
