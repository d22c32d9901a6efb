"""What k-means is made of: the nearest centers of points, and points to begin with. Source: `clustering_ops`, TF 1.15."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.ops.array import Array
from tfexp.ops.philox import Philox, uniform_from_words

_AT_ONCE = 1024  # words of a stream

nearest_neighbors = define_op(
    "NearestNeighbors(points: float, centers: float, k: int64) -> "
    "(nearest_center_indices: int64, nearest_center_distances: float)"
)
kmeans_plus_plus_initialization = define_op(
    "KmeansPlusPlusInitialization(points: float, num_to_sample: int64, seed: int64, num_retries_per_sample: int64) -> "
    "(samples: float)"
)
kmc2_chain_initialization = define_op("KMC2ChainInitialization(distances: float, seed: int64) -> (index: int64)")


@nearest_neighbors.shape
def _(points: InputShape, centers: InputShape, k: InputShape) -> list[TensorShape]:
    return [TensorShape(None)] * 2


@nearest_neighbors.kernel("CPU")
def _(ctx: Any, points: Array, centers: Array, k: Array) -> tuple[Array, Array]:
    """The indices of the `k` centers nearest to each point, and their squared distances, the nearest first."""
    _require(points.ndim == 2, "Input points should be a matrix.")
    _require(centers.ndim == 2, "Input centers should be a matrix.")
    _require(np.ndim(k) == 0, "Input k should be a scalar.")
    rows, dims = points.shape
    _require(rows > 0, "Expected points.rows() > 0.")
    _require(int(k) >= 0, f"Expected k >= 0, but k is {int(k)}.")
    _require(dims == centers.shape[1], f"Expected point_dimensions == center_dimensions: {dims} vs {centers.shape[1]}.")
    count = min(int(k), len(centers))
    distances = _half_squared_distances(points, centers)
    if count == 1:
        order = np.argmin(distances, axis=1)[:, np.newaxis]
    else:
        order = np.argsort(distances, axis=1, kind="stable")[:, :count]
    return order.astype(np.int64, copy=False), np.float32(2) * np.take_along_axis(distances, order, axis=1)


@kmeans_plus_plus_initialization.shape
def _(points: InputShape, num_to_sample: InputShape, seed: InputShape, retries: InputShape) -> TensorShape:
    return TensorShape(None)


@kmeans_plus_plus_initialization.kernel("CPU")
def _(ctx: Any, points: Array, num_to_sample: Array, seed: Array, num_retries_per_sample: Array) -> Array:
    """Points far from each other. Source: Arthur, Vassilvitskii: "k-means++: the advantages of careful seeding" (2007).

    Each is the best of several: the one that leaves the smallest sum of distances to the nearest point so far.
    """
    _require(points.ndim == 2, "Input points should be a matrix.")
    scalars = {"num_to_sample": num_to_sample, "seed": seed, "num_retries_per_sample": num_retries_per_sample}
    for name, scalar in scalars.items():
        _require(np.ndim(scalar) == 0, f"Input {name} should be a scalar.")
    wanted, rows = int(num_to_sample), len(points)
    _require(wanted > 0, "Expected num_to_sample > 0.")
    _require(wanted <= rows, f"Expected num_to_sample <= points.rows(). {wanted} vs {rows}.")
    retries = int(num_retries_per_sample)
    tries = 1 + (retries if retries >= 0 else 2 + int(math.log(wanted)))
    draw = _Draw(int(seed))
    chosen: list[int] = []
    nearest = np.full(rows, np.inf, np.float32)
    for _ in range(wanted):
        sums = np.cumsum(nearest, dtype=np.float32)
        if chosen:
            drawn = [int(np.searchsorted(sums, draw.fraction() * sums[-1], side="right")) for _ in range(tries)]
            drawn = [min(row, rows - 1) for row in drawn]
        else:
            drawn = [draw.below(rows) for _ in range(tries)]
        left = np.minimum(nearest, _half_squared_distances(points[drawn], points))
        best = int(np.argmin(left.sum(axis=1)))
        chosen.append(drawn[best])
        nearest = left[best]
    return points[chosen]


@kmc2_chain_initialization.shape
def _(distances: InputShape, seed: InputShape) -> TensorShape:
    return TensorShape([])


@kmc2_chain_initialization.kernel("CPU")
def _(ctx: Any, distances: Array, seed: Array) -> Any:
    """A place, drawn by distance with a Markov chain through all of them. Source: Bachem et al.: "Approximate k-means++ in
    sublinear time" (AAAI 2016)."""
    _require(distances.ndim == 1, "Input distances should be a vector.")
    _require(np.ndim(seed) == 0, "Input seed should be a scalar.")
    _require(distances.size > 0, "Expected distances_tensor.size() > 0.")
    steps = distances.size - 1
    fractions = uniform_from_words(Philox.from_seeds(int(seed), 0).words(steps), np.float32)
    at = 0
    for candidate in range(1, distances.size):  # each step depends on the one before
        if distances[candidate] > fractions[candidate - 1] * distances[at]:
            at = candidate
    return np.int64(at)


def _half_squared_distances(points: Array, centers: Array) -> Array:
    """Half of |p - c|^2 = |p|^2 / 2 - p c + |c|^2 / 2, [points, centers]."""
    half = np.float32(0.5)
    norms = half * np.einsum("pd,pd->p", points, points)[:, np.newaxis] + half * np.einsum("cd,cd->c", centers, centers)
    return norms - points @ centers.T


class _Draw:
    """Numbers from the stream of one seed, a word of it after the other, without bias."""

    def __init__(self, seed: int) -> None:
        self._words = _words(Philox.from_seeds(seed, 0))

    def fraction(self) -> Any:
        """A float32 in [0, 1)."""
        return uniform_from_words(np.array([next(self._words)], np.uint32), np.float32)[0]

    def below(self, limit: int) -> int:
        """An integer in [0, limit), of two words: those that would make small ones likelier are passed over."""
        uneven = (1 << 64) % limit
        while True:
            number = next(self._words) | next(self._words) << 32
            if number >= uneven:
                return number % limit


def _words(stream: Philox) -> Iterator[int]:
    while True:
        yield from stream.words(_AT_ONCE).tolist()
        stream = stream.skip(_AT_ONCE // 4)


def _require(holds: Any, text: str) -> None:
    if not holds:
        raise InvalidArgumentError(None, None, text)
