"""The graph of k-means: `tf.contrib.factorization.KMeans`. Source: TF 1.15.

Lloyd's algorithm, with whole batches or with small ones (Sculley: "Web-scale k-means clustering", WWW 2010). Centers are
chosen from the first batches, as many as it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.control_flow import cond
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import group, no_op
from tfexp.graph.scopes import colocate_with, control_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.graph.while_loop import while_loop
from tfexp.ops.array import rank, reshape, shape, size, squeeze
from tfexp.ops.array_fill import ones, ones_like, zeros, zeros_like
from tfexp.ops.array_gather import gather
from tfexp.ops.array_identity import identity, placeholder_with_default
from tfexp.ops.array_join import concat
from tfexp.ops.array_order import transpose
from tfexp.ops.array_unique import unique
from tfexp.ops.cast import cast
from tfexp.ops.check_compare import assert_equal, assert_greater_equal, assert_positive
from tfexp.ops.clustering import kmc2_chain_initialization, kmeans_plus_plus_initialization, nearest_neighbors
from tfexp.ops.comparison import equal
from tfexp.ops.elementwise_binary import add_n, maximum, minimum
from tfexp.ops.elementwise_unary import reciprocal, square
from tfexp.ops.embedding import embedding_lookup
from tfexp.ops.matmul import matmul
from tfexp.ops.nn_norm import l2_normalize
from tfexp.ops.random import random_uniform
from tfexp.ops.reduce import reduce_sum
from tfexp.ops.scatter import scatter_add
from tfexp.ops.segment import unsorted_segment_sum
from tfexp.ops.state import assign, assign_sub
from tfexp.ops.variable_base import Variable

SQUARED_EUCLIDEAN_DISTANCE = "squared_euclidean"
COSINE_DISTANCE = "cosine"
RANDOM_INIT = "random"
KMEANS_PLUS_PLUS_INIT = "kmeans_plus_plus"
KMC2_INIT = "kmc2"
CLUSTERS_VARIABLE = "clusters"

_ALMOST_NONE = 1e-6  # added to the number of points of a center that may have none


def check_distance(distance_metric: str) -> None:
    """ValueError for a distance that is none."""
    if distance_metric not in (SQUARED_EUCLIDEAN_DISTANCE, COSINE_DISTANCE):
        raise ValueError(
            f"Unsupported distance metric '{distance_metric}', must be {SQUARED_EUCLIDEAN_DISTANCE} or {COSINE_DISTANCE}."
        )


def check_initial_clusters(initial_clusters: Any, known: Sequence[str]) -> None:
    """ValueError for a way of choosing centers that is none of the known."""
    if isinstance(initial_clusters, str) and initial_clusters not in known:
        raise ValueError(f"Unsupported initialization algorithm '{initial_clusters}', must be among {', '.join(known)}.")


@dataclass(frozen=True)
class _State:
    """The variables. Small batches change `updated` and `counts`; every `steps_left` steps it becomes `centers`."""

    centers: Any
    initialized: Any
    updated: Any
    counts: Any
    steps_left: Any


class KMeans:
    """K-means of `inputs`, float32 [points, dimensions] or several such: `training_graph` has all that there is to run.

    `initial_clusters` are the centers, or a function f(inputs, k) of up to k of them, or "random", "kmeans_plus_plus",
    "kmc2". Distances are "squared_euclidean" or "cosine". With `use_mini_batch` a step sees a part of the points, and
    centers move after every `mini_batch_steps_per_iteration` steps. ValueError for other names.
    """

    def __init__(
        self,
        inputs: Any,
        num_clusters: Any,
        initial_clusters: Any = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        use_mini_batch: bool = False,
        mini_batch_steps_per_iteration: int = 1,
        random_seed: int | None = 0,
        kmeans_plus_plus_num_retries: int = 2,
        kmc2_chain_length: int = 200,
    ):
        check_initial_clusters(initial_clusters, (RANDOM_INIT, KMEANS_PLUS_PLUS_INIT, KMC2_INIT))
        check_distance(distance_metric)
        self._inputs = inputs if isinstance(inputs, list) else [inputs]
        self._wanted = num_clusters
        self._initial = initial_clusters
        self._is_cosine = distance_metric == COSINE_DISTANCE
        self._small_batches = use_mini_batch
        self._steps = int(mini_batch_steps_per_iteration)
        self._seed = random_seed
        self._op_seed = 0 if random_seed is None else random_seed
        self._retries = kmeans_plus_plus_num_retries
        self._chain_length = kmc2_chain_length

    def training_graph(self) -> tuple[Any, ...]:
        """(distances to all centers, nearest centers, distances to those, whether there are centers, an op that chooses
        some, an op that trains). The first three are tuples, with a tensor for each input; distances are squared."""
        if isinstance(self._initial, str) or callable(self._initial):
            initial, wanted = self._initial, convert_to_tensor(self._wanted)
        else:
            initial = convert_to_tensor(self._initial)
            wanted = shape(initial)[0]
        state = self._variables(wanted)
        start = _Start(self, state, initial, wanted).op()
        inputs, centers = self._inputs, state.centers
        if self._is_cosine:
            inputs = [_near(part, lambda part=part: l2_normalize(part, 1)) for part in inputs]  # type: ignore[misc]
            if not self._keeps_normalized:
                centers = l2_normalize(centers, 1)
        distances, nearest, indices = self._assignment(inputs, centers)
        if self._small_batches:
            with control_dependencies([self._synchronization(state)]):
                train = group(*[_move(part, at, state) for part, at in zip(inputs, indices, strict=True)])
        else:
            train = self._whole_step(inputs, indices, wanted, state.centers)
        return distances, indices, nearest, state.initialized, start, train

    @property
    def _keeps_copy(self) -> bool:
        return self._small_batches and self._steps > 1

    @property
    def _keeps_normalized(self) -> bool:
        return self._is_cosine and (not self._small_batches or self._steps > 1)

    def _variables(self, wanted: Tensor) -> _State:
        nothing = placeholder_with_default(zeros([0]), shape=None)
        centers = Variable(nothing, name=CLUSTERS_VARIABLE, validate_shape=False)
        initialized = Variable(False, dtype=dtypes.bool, name="initialized")
        if self._keeps_copy:
            updated = Variable(nothing, name="clusters_updated", validate_shape=False)
            steps_left = Variable(self._steps, dtype=dtypes.int64, name="update_in_steps")
            return _State(centers, initialized, updated, Variable(zeros([wanted], dtypes.int64)), steps_left)
        counts = Variable(ones([wanted], dtypes.int64)) if self._small_batches else None
        return _State(centers, initialized, centers, counts, None)

    def _assignment(self, inputs: Sequence[Any], centers: Any) -> Any:
        """(distances to all centers, distances to the nearest, their indices), a tuple for the inputs each."""
        all_distances = [_near(part, lambda part=part: self._distances(part, centers)) for part in inputs]  # type: ignore[misc]
        if self._is_cosine and not self._keeps_normalized:
            with colocate_with(centers, ignore_existing=True):
                centers = l2_normalize(centers, 1)
        found = []
        for part, distances in zip(inputs, all_distances, strict=True):
            with colocate_with(part, ignore_existing=True):
                indices, nearest = nearest_neighbors(part, centers, 1)
                if self._is_cosine:  # of vectors of length 1, half of the squared distance
                    nearest = nearest * 0.5
                found.append((distances, squeeze(nearest, [-1]), squeeze(indices, [-1])))
        return tuple(zip(*found, strict=True))

    def _distances(self, part: Any, centers: Any) -> Tensor:
        if self._is_cosine:
            return 1 - matmul(part, centers, transpose_b=True)
        products = matmul(part, centers, transpose_b=True)
        norms = reduce_sum(square(part), 1, keepdims=True)
        return norms - 2 * products + transpose(reduce_sum(square(centers), 1, keepdims=True))

    def _synchronization(self, state: _State) -> Any:
        """Counts the steps of small batches; after the last one centers become what the steps made of them."""
        if not self._keeps_copy:
            return no_op()

        def synchronized() -> Tensor:
            # Steps begin anew first, so that no other worker does the same; counts last, so that no move is too large.
            with control_dependencies([assign(state.steps_left, self._steps - 1)]):
                with colocate_with(state.updated, ignore_existing=True):
                    made = l2_normalize(state.updated, 1) if self._is_cosine else state.updated
                with colocate_with(state.centers, ignore_existing=True):
                    taken = assign(state.centers, made)
                with control_dependencies([taken]), control_dependencies([assign(state.counts, zeros_like(state.counts))]):
                    return identity(state.steps_left)

        with colocate_with(state.steps_left, ignore_existing=True):
            return cond(state.steps_left <= 0, synchronized, lambda: assign_sub(state.steps_left, 1))

    def _whole_step(self, inputs: Sequence[Any], indices: Sequence[Any], wanted: Tensor, centers: Any) -> Any:
        """Each center becomes the mean of its points."""
        sums, counts = [], []
        for part, at in zip(inputs, indices, strict=True):
            with colocate_with(part, ignore_existing=True):
                sums.append(unsorted_segment_sum(part, at, wanted))
                each = reshape(ones(reshape(shape(part)[0], [-1])), [-1, 1])
                counts.append(unsorted_segment_sum(each, at, wanted))
        with colocate_with(centers, ignore_existing=True):
            means = add_n(sums) / (cast(add_n(counts), sums[0].dtype) + _ALMOST_NONE)
            if self._keeps_normalized:
                means = l2_normalize(means, 1)
        return assign(centers, means)


class _Start:
    """The op that chooses centers from a batch, as many as are still missing."""

    def __init__(self, of: KMeans, state: _State, initial: Any, wanted: Tensor):
        self._of, self._state, self._initial, self._wanted = of, state, initial, wanted
        self._inputs = of._inputs
        self._chosen = shape(state.centers)[0]
        self._missing = wanted - self._chosen
        self._rows = add_n([shape(part)[0] for part in self._inputs])

    def op(self) -> Any:
        return cond(
            equal(self._missing, 0),
            lambda: assert_equal(self._state.initialized, True),
            self._choose,
        )

    def _choose(self) -> Any:
        with control_dependencies([assert_positive(self._missing)]):
            is_chain = isinstance(self._initial, str) and self._initial == KMC2_INIT
            missing = self._chains() if is_chain else self._add(self._new())
            return cond(equal(missing, 0), lambda: assign(self._state.initialized, True), no_op)

    def _new(self) -> Tensor:
        if callable(self._initial):
            given: Tensor = self._initial(self._inputs, self._missing)
            return given
        if not isinstance(self._initial, str):
            with control_dependencies([assert_equal(self._missing, shape(self._initial)[0])]):
                return identity(self._initial)
        if self._initial == RANDOM_INIT:
            everything = lambda: concat(self._inputs, 0)  # noqa: E731
            drawn: Tensor = cond(self._rows <= self._missing, everything, self._random)
            return drawn
        with control_dependencies([assert_greater_equal(self._rows, self._missing)]):
            return self._far_apart()

    def _random(self) -> Tensor:
        count, rows = reshape(self._missing, [-1]), cast(self._rows, dtypes.int64)
        at = random_uniform(count, minval=0, maxval=rows, seed=self._of._seed, dtype=dtypes.int64)
        return embedding_lookup(self._inputs, at, partition_strategy="div")

    def _far_apart(self) -> Tensor:
        part = self._normalized(self._inputs[0])
        drawn: Tensor = kmeans_plus_plus_initialization(
            part, cast(self._missing, dtypes.int64), self._of._op_seed, self._of._retries
        )
        return drawn

    def _normalized(self, points: Tensor) -> Tensor:
        return l2_normalize(points, 1) if self._of._is_cosine else points

    def _add(self, new: Tensor) -> Tensor:
        """The centers with the new ones. How many are missing now."""
        new = self._normalized(new)
        together = cond(equal(self._chosen, 0), lambda: new, lambda: concat([self._state.centers, new], 0))
        return self._wanted - shape(self._keep(together))[0]

    def _keep(self, centers: Tensor) -> Tensor:
        kept = assign(self._state.centers, centers, validate_shape=False)
        if self._state.updated is not self._state.centers:
            kept = assign(self._state.updated, kept, validate_shape=False)
        return kept

    def _chains(self) -> Tensor:
        """A center for each so many points of the first input, each far from those before it. How many are missing now."""
        points, length = self._inputs[0], self._of._chain_length
        chains = cast(shape(points)[0] / length, dtypes.int32)
        count = maximum(minimum(self._missing, chains), 1)

        def first() -> Tensor:
            return self._normalized(reshape(points[0], [1, -1]))

        def step(i: Tensor, _: Tensor) -> tuple[Tensor, Tensor]:
            def further() -> Tensor:
                subset = points[i * length : (i + 1) * length]
                _, distances = nearest_neighbors(subset, self._state.centers, 1)
                at = kmc2_chain_initialization(squeeze(distances), self._of._op_seed)
                return concat([self._state.centers, self._normalized(reshape(subset[at], [1, -1]))], 0)

            kept = self._keep(cond(equal(self._chosen, 0), first, further))
            return i + 1, self._wanted - shape(kept)[0]

        missing: Tensor = while_loop(lambda i, _: i < count, step, [0, 0])[1]
        return missing


def _near(part: Any, make: Callable[[], Any]) -> Any:
    with colocate_with(part, ignore_existing=True):
        return make()


def _move(part: Any, indices: Tensor, state: _State) -> Any:
    """Each center x of n points moves to the mean of these and the new k ones: x += (sum of new - k x) / (n + k)."""
    with colocate_with(part, ignore_existing=True):
        own, place = unique(reshape(indices, [-1]))
        number = size(own)
        with colocate_with(state.counts, ignore_existing=True):
            old_counts = gather(state.counts, own)
        with colocate_with(state.updated, ignore_existing=True):
            old_centers = gather(state.updated, own)
        new_counts = unsorted_segment_sum(ones_like(place, dtype=state.counts.dtype), place, number)
        sums = unsorted_segment_sum(part, place, number)
        dims = concat([reshape(number, [1]), ones(reshape(rank(part) - 1, [1]), dtypes.int32)], 0)
        change = sums - cast(reshape(new_counts, dims), part.dtype) * old_centers
        change = change * reshape(reciprocal(cast(old_counts + new_counts, part.dtype)), dims)
    with control_dependencies([old_counts]):  # where TensorFlow leaves it open which count a change goes by
        return group(scatter_add(state.counts, own, new_counts), scatter_add(state.updated, own, change))
