"""Groups of points around centers, with `fit`. Source: `tf.contrib.learn.KMeansClustering`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tfexp.contributed import kmeans_clustering
from tfexp.contributed.learn.estimators import Estimator
from tfexp.estimator.run_config import RunConfig
from tfexp.estimator.spec import EstimatorSpec

_Core = kmeans_clustering.KMeansClustering


class KMeansClustering(Estimator):
    """Finds `num_clusters` centers, and for each point, float32 [points, dimensions], the nearest one.

    The arguments are those of `tf.contrib.factorization.KMeansClustering`. Source: `tf.contrib.learn.KMeansClustering`.
    """

    SQUARED_EUCLIDEAN_DISTANCE, COSINE_DISTANCE = _Core.SQUARED_EUCLIDEAN_DISTANCE, _Core.COSINE_DISTANCE
    RANDOM_INIT, KMEANS_PLUS_PLUS_INIT = _Core.RANDOM_INIT, _Core.KMEANS_PLUS_PLUS_INIT
    SCORES, CLUSTER_IDX, CLUSTERS, ALL_SCORES = "scores", "cluster_idx", "clusters", "all_scores"

    def __init__(
        self,
        num_clusters: int,
        model_dir: str | None = None,
        initial_clusters: Any = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        random_seed: int | None = 0,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None,
        config: RunConfig | None = None,
    ):
        core = _Core(
            num_clusters,
            model_dir,
            initial_clusters,
            distance_metric,
            random_seed,
            use_mini_batch,
            mini_batch_steps_per_iteration,
            kmeans_plus_plus_num_retries,
            relative_tolerance,
            config,
        )

        def model_fn(features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
            """The same with other names."""
            spec = core.model_fn(features, labels, mode, config)
            found = spec.predictions
            made: EstimatorSpec = spec._replace(
                predictions={
                    self.ALL_SCORES: found[_Core.ALL_DISTANCES],
                    self.CLUSTER_IDX: found[_Core.CLUSTER_INDEX],
                },
                eval_metric_ops={self.SCORES: spec.eval_metric_ops[_Core.SCORE]},
            )
            return made

        super().__init__(model_fn, core.model_dir, config)

    def predict_cluster_idx(self, input_fn: Callable[[], Any] | None = None) -> Iterator[Any]:
        """Of each point, the number of the center nearest to it."""
        return (found[self.CLUSTER_IDX] for found in self.predict(input_fn=input_fn, outputs=[self.CLUSTER_IDX]))

    def score(self, input_fn: Callable[[], Any] | None = None, steps: int | None = None) -> Any:
        """The sum of the distances (squared, unless they are cosines) of a batch's points to their centers."""
        return np.sum(self.evaluate(input_fn=input_fn, steps=steps)[self.SCORES])

    def transform(self, input_fn: Callable[[], Any] | None = None, as_iterable: bool = False) -> Any:
        """The distances (squared, unless they are cosines) of all points to all centers: in an array, or by dicts."""
        found = self.predict(input_fn=input_fn, outputs=[self.ALL_SCORES], as_iterable=as_iterable)
        return found if as_iterable else found[self.ALL_SCORES]

    def clusters(self) -> Any:
        """The centers, [num_clusters, dimensions]."""
        return self.get_variable_value(self.CLUSTERS)
