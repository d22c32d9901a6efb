"""Quantiles of weighted numbers that come in batches, in little memory: within `epsilon` of their ranks.

A summary keeps some of the numbers, with bounds of their ranks. Summaries of batches are merged level by level, and
compressed where they grow too large. Source: Zhang, Wang: "A fast algorithm for approximate quantiles in high speed data
streams" (SSDBM 2007), as `boosted_trees/quantiles` of TF 1.15 has it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class Summary:
    """Values in ascending order, each once; its weight; how much weight there is below it at least, up to it at most."""

    values: Array
    weights: Array
    low: Array
    high: Array

    @classmethod
    def of(cls, values: Array, weights: Array) -> Summary:
        """Of all numbers, with their exact ranks."""
        kept, place = np.unique(values, return_inverse=True)
        own = np.bincount(place, weights, len(kept)).astype(np.float32)
        sums = np.cumsum(own, dtype=np.float32)
        low = np.concatenate([np.zeros(1, np.float32), sums[:-1]])[: len(own)]
        return cls(kept, own, low, low + own)

    @classmethod
    def from_rows(cls, rows: Array) -> Summary:
        """Of [entries, 4], as `rows` gives them."""
        return cls(*(np.ascontiguousarray(column) for column in rows.T))

    def rows(self) -> Array:
        return np.stack([self.values, self.weights, self.low, self.high], axis=1)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def below(self) -> Array:
        """Up to how much weight there is below each value."""
        return self.high - self.weights

    @property
    def through(self) -> Array:
        """How much weight there is up to each value at least."""
        return self.low + self.weights

    def merged(self, other: Summary) -> Summary:
        if not len(other) or not len(self):
            return self if len(self) else other
        values = np.union1d(self.values, other.values)
        sums = [np.zeros(len(values), np.float32) for _ in range(3)]
        for one in (self, other):
            at = np.searchsorted(one.values, values)
            is_own = one.values[np.minimum(at, len(one) - 1)] == values
            own = at[is_own]
            # Of a number that is not its own, a summary knows the numbers beside it.
            low = np.concatenate([[np.float32(0)], one.through])[at]
            high = np.concatenate([one.below, one.high[-1:]])[at]
            low[is_own], high[is_own] = one.low[own], one.high[own]
            sums[0][is_own] += one.weights[own]
            sums[1] += low
            sums[2] += high
        return Summary(values, *sums)

    def compressed(self, size: int, epsilon: float) -> Summary:
        """About so many of the values, no two further apart than they may be, and the first and last."""
        size = max(size, 2)
        count = len(self)
        if count <= size:
            return self
        apart = float(self.high[-1]) * max(1.0 / size, epsilon)
        below, through = self.below.astype(np.float64), self.through.astype(np.float64)
        kept = [0]
        # Each step goes as far as ranks allow, and in the mean no further than leaves `size` values. It depends on the last.
        ahead, at = 0, 0
        while at + 1 < count:
            by_rank = int(np.searchsorted(below, through[at] + apart, side="right"))
            by_size = at + 1 + max(0, -(-(count - ahead) // size))
            after = max(min(by_rank, by_size, count), at + 1)
            ahead += (after - at - 1) * size - count
            at = at + 1 if after == at + 1 else after - 1
            kept.append(at)
        if kept[-1] != count - 1:
            kept.append(count - 1)
        return Summary(self.values[kept], self.weights[kept], self.low[kept], self.high[kept])

    def boundaries(self, count: int) -> Array:
        """About so many values that divide the numbers into equal parts."""
        if not len(self):
            return self.values
        unsure = np.maximum(self.high - self.low - self.weights, 0)[1:]
        gaps = (self.below[1:] - self.through[:-1])[: len(unsure)]
        error = max(0.0, float(unsure.max(initial=0)), float(gaps.max(initial=0))) / float(self.high[-1])
        return self.compressed(count, error + 1.0 / count).values

    def quantiles(self, count: int) -> Array:
        """The values of the ranks 0, 1 / count, ..., 1."""
        if not len(self):
            return self.values
        count = max(count, 2)
        wanted = (2 * (np.arange(count + 1) * self.high[-1] / count)).astype(np.float32)
        at = np.maximum(np.searchsorted(self.low + self.high, wanted, side="right") - 1, 0)
        after = np.minimum(at + 1, len(self) - 1)
        is_nearer = (at + 1 == len(self)) | (wanted < self.through[at] + self.below[after])
        return self.values[np.where(is_nearer, at, after)]


NOTHING = Summary(*(np.zeros(0, np.float32) for _ in range(4)))


@dataclass
class Stream:
    """Numbers that come in batches, up to so many."""

    epsilon: float
    most: int
    _levels: list[Summary] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._block = _block_size(self.epsilon, self.most)

    def push(self, values: Array, weights: Array) -> None:
        """Numbers; those whose weight is not above 0 count for nothing."""
        counted = weights > 0
        values, weights = values[counted], weights[counted]
        step = min(self._block << 1, self.most)
        for start in range(0, len(values), step):
            part = slice(start, start + step)
            self.push_summary(Summary.of(values[part], weights[part]).compressed(self._block, self.epsilon))

    def push_summary(self, summary: Summary) -> None:
        if not len(summary):
            return
        for level in range(len(self._levels) + 1):
            if level == len(self._levels):
                self._levels.append(NOTHING)
            own = self._levels[level]
            summary = summary.merged(own)
            if not len(own) or len(summary) <= self._block + 1:
                self._levels[level] = summary
                return
            summary = summary.compressed(self._block, self.epsilon)
            self._levels[level] = NOTHING

    def summary(self) -> Summary:
        """Of everything so far."""
        merged = NOTHING
        for level in self._levels:
            merged = merged.merged(level)
        return merged


def _block_size(epsilon: float, most: int) -> int:
    """How many values a level keeps."""
    if epsilon <= 0:
        return max(most, 2)
    level, block = 1, 2
    while (1 << level) * block < most:
        block = math.ceil(level / epsilon) + 1
        level += 1
    return max(block, 2)


def checked_weights(weights: Any, count: int) -> Array:
    """A weight for each of so many numbers, given one for all or one for each. ValueError for another number."""
    if weights.size not in (1, count):
        raise ValueError("Weights should be a single value or same size as features.")
    return np.broadcast_to(weights.reshape(-1), (count,))
