"""The graph of mixtures of Gaussians, fitted by expectation and maximization: `tf.contrib.factorization.gmm`. TF 1.15."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.graph.control_flow import cond
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import group, no_op
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.ops.argmax import argmax
from tfexp.ops.array import expand_dims, shape, squeeze
from tfexp.ops.array_identity import identity
from tfexp.ops.array_join import concat
from tfexp.ops.array_order import transpose
from tfexp.ops.array_tile import tile
from tfexp.ops.cast import cast
from tfexp.ops.check_compare import assert_less_equal
from tfexp.ops.diagonal import eye, matrix_diag_part
from tfexp.ops.elementwise_binary import add_n
from tfexp.ops.elementwise_unary import exp, log, square
from tfexp.ops.embedding import embedding_lookup
from tfexp.ops.linalg import cholesky, matrix_triangular_solve
from tfexp.ops.matmul import matmul
from tfexp.ops.random import random_uniform
from tfexp.ops.reduce import reduce_mean, reduce_sum
from tfexp.ops.reduce_composite import reduce_logsumexp
from tfexp.ops.state import assign
from tfexp.ops.tensor_products import tensordot
from tfexp.ops.variable_base import Variable

FULL_COVARIANCE = "full"
DIAG_COVARIANCE = "diag"

_LEAST_VARIANCE = 1e-3  # is added to all variances, so that covariances have inverses
_ALMOST_NONE = float(np.finfo(float).eps)  # is added to the weight of a cluster that may have no points


class GmmAlgorithm:
    """A mixture of `num_classes` Gaussians of `data`, a list of float32 [points, dimensions].

    initial_means: [num_classes, dimensions], or None for points drawn at random. params: what training changes, some of
    "w" (weights), "m" (means) and "c" (covariances). covariance_type: "full", or "diag" for variances alone; ValueError
    for another.
    """

    CLUSTERS_WEIGHT = "alphas"
    CLUSTERS_VARIABLE = "clusters"
    CLUSTERS_COVS_VARIABLE = "clusters_covs"

    def __init__(
        self,
        data: Sequence[Any],
        num_classes: int,
        initial_means: Any = None,
        params: str = "wmc",
        covariance_type: str = FULL_COVARIANCE,
        random_seed: int | None = 0,
    ):
        if covariance_type not in (FULL_COVARIANCE, DIAG_COVARIANCE):
            raise ValueError(f"Invalid covariance type: {covariance_type}; choose {FULL_COVARIANCE} or {DIAG_COVARIANCE}")
        self._data = [convert_to_tensor(part, dtypes.float32) for part in data]
        self._count, self._is_full, self._seed = num_classes, covariance_type == FULL_COVARIANCE, random_seed
        nothing = np.zeros([0], np.float32)
        self._means: Any = Variable(nothing, name=self.CLUSTERS_VARIABLE, validate_shape=False)
        self._covariances: Any = Variable(nothing, name=self.CLUSTERS_COVS_VARIABLE, validate_shape=False)
        self._weights: Any = Variable(np.full(num_classes, 1 / num_classes, np.float32), name=self.CLUSTERS_WEIGHT)
        self._initialized: Any = Variable(False, dtype=dtypes.bool, name="initialized")
        self._start = cond(self._initialized, no_op, lambda: self._initialize(initial_means))
        joint = [self._log_joint(part) for part in self._data]
        self._log_likelihoods = [reduce_logsumexp(one, axis=1, keepdims=True) for one in joint]
        self._memberships = [exp(one - total) for one, total in zip(joint, self._log_likelihoods, strict=True)]
        self._train = self._maximization(params)

    def init_ops(self) -> Any:
        """Chooses means and covariances from the data, the first time that it is run."""
        return self._start

    def training_ops(self) -> Any:
        """A step: memberships by the mixture as it is, and the mixture that is likeliest by these."""
        return self._train

    def is_initialized(self) -> Any:
        return self._initialized

    def alphas(self) -> Any:
        """The clusters' weights, [num_classes]."""
        return self._weights

    def clusters(self) -> Any:
        """The means, [num_classes, 1, dimensions]."""
        return self._means

    def covariances(self) -> Any:
        """[num_classes, dimensions, dimensions], or of "diag" the variances, [num_classes, dimensions]."""
        return self._covariances

    def assignments(self) -> list[Tensor]:
        """For each of the data, the likeliest cluster of each point."""
        return [argmax(one, 1) for one in self._memberships]

    def scores(self) -> Tensor:
        """The logarithm of each point's likelihood, [points, 1]."""
        return concat(self._log_likelihoods, 0)

    def log_likelihood_op(self) -> Tensor:
        """The logarithm of the sum of all points' likelihoods."""
        return reduce_logsumexp([reduce_logsumexp(one) for one in self._log_likelihoods])

    def _initialize(self, initial_means: Any) -> Any:
        means = self._drawn() if initial_means is None else initial_means
        centred = self._data[0] - reduce_mean(self._data[0], 0, keepdims=True)
        others = cast(shape(centred)[0], dtypes.float32) - 1
        if self._is_full:
            spread = matmul(centred, centred, transpose_a=True) / others + self._least(centred)
        else:
            spread = reduce_sum(square(centred), 0) / others + _LEAST_VARIANCE
        each = tile(expand_dims(spread, 0), [self._count] + [1] * (2 if self._is_full else 1))
        made = [
            assign(self._means, expand_dims(means, 1), validate_shape=False),
            assign(self._covariances, each, validate_shape=False),
        ]
        with control_dependencies(made):
            return group(assign(self._initialized, True))

    def _drawn(self) -> Tensor:
        points = add_n([shape(part)[0] for part in self._data])
        with control_dependencies([assert_less_equal(self._count, points)]):
            limit = cast(points, dtypes.int64)
        at = random_uniform([self._count], minval=0, maxval=limit, seed=self._seed, dtype=dtypes.int64)
        drawn: Tensor = embedding_lookup(self._data, at, partition_strategy="div")
        return drawn

    def _least(self, points: Any) -> Any:
        return _LEAST_VARIANCE * eye(shape(points)[1])

    def _log_joint(self, points: Any) -> Any:
        """log(weight of k * density of k at each point), [points, k]."""
        differences = expand_dims(points, 0) - self._means
        if self._is_full:
            root = cholesky(self._covariances + self._least(points))
            log_determinants = 2 * reduce_sum(log(matrix_diag_part(root)), 1)
            scaled = matrix_triangular_solve(root, transpose(differences, [0, 2, 1]), lower=True)
            distances = reduce_sum(square(scaled), 1)
        else:
            variances = self._covariances + _LEAST_VARIANCE
            log_determinants = reduce_sum(log(variances), 1)
            distances = squeeze(matmul(square(differences), expand_dims(1 / variances, 2)), [2])
        dimensions = cast(shape(points)[1], dtypes.float32)
        return -0.5 * (transpose(distances) + dimensions * math.log(2 * math.pi) + log_determinants) + log(self._weights)

    def _maximization(self, params: str) -> Any:
        changes = []
        with control_dependencies(self._memberships):
            sizes = add_n([reduce_sum(one, 0) for one in self._memberships])
        if "w" in params:
            changes.append(assign(self._weights, sizes / (reduce_sum(sizes) + _ALMOST_NONE)))
        sizes = expand_dims(sizes + _ALMOST_NONE, 1)
        pairs = list(zip(self._memberships, self._data, strict=True))
        means: Any = squeeze(identity(self._means), [1])
        if "m" in params:
            means = add_n([matmul(one, part, transpose_a=True) for one, part in pairs]) / sizes
            changes.append(assign(self._means, expand_dims(means, 1), validate_shape=False))
        if "c" in params:
            if self._is_full:
                seconds = add_n([_second_moments(one, part) for one, part in pairs]) / expand_dims(sizes, 2)
                made = seconds - expand_dims(means, 2) * expand_dims(means, 1) + self._least(self._data[0])
            else:
                seconds = add_n([matmul(one, square(part), transpose_a=True) for one, part in pairs]) / sizes
                made = seconds - square(means) + _LEAST_VARIANCE
            changes.append(assign(self._covariances, made, validate_shape=False))
        return group(*changes)


def _second_moments(memberships: Any, points: Any) -> Any:
    """The sum of w x xᵀ for each cluster, [clusters, dimensions, dimensions]."""
    return tensordot(expand_dims(transpose(memberships), 2) * points, points, [[1], [0]])


def gmm(
    inp: Any,
    initial_clusters: Any,
    num_clusters: int,
    random_seed: int | None,
    covariance_type: str = FULL_COVARIANCE,
    params: str = "wmc",
) -> tuple[Any, ...]:
    """(the logarithm of the sum of the points' likelihoods, that of each point's, [the nearest clusters for each input], an
    op that trains, an op that chooses the first clusters, whether there are any).

    inp: float32 [points, dimensions], or a list of such. initial_clusters: means, or "random". See `GmmAlgorithm`.
    """
    inputs = inp if isinstance(inp, list) else [inp]
    is_random = isinstance(initial_clusters, str) and initial_clusters == "random"
    means = None if is_random else convert_to_tensor(initial_clusters, dtypes.float32)
    made = GmmAlgorithm(inputs, num_clusters, means, params, covariance_type, random_seed)
    return (
        made.log_likelihood_op(),
        made.scores(),
        [made.assignments()],
        made.training_ops(),
        made.init_ops(),
        made.is_initialized(),
    )
