"""`tf.contrib.factorization.KMeansClustering`: as `tf.estimator.experimental.KMeans`, before it moved there. TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tfexp.estimator.canned import kmeans
from tfexp.estimator.run_config import RunConfig


class KMeansClustering(kmeans.KMeansClustering):
    """Its seed is that of the ops themselves, whatever the graph's is, and `transform` gives squared distances."""

    def __init__(
        self,
        num_clusters: int,
        model_dir: str | None = None,
        initial_clusters: Any = kmeans.KMeansClustering.RANDOM_INIT,
        distance_metric: str = kmeans.KMeansClustering.SQUARED_EUCLIDEAN_DISTANCE,
        random_seed: int | None = 0,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None,
        config: RunConfig | None = None,
        feature_columns: Any = None,
    ):
        super().__init__(
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
            feature_columns,
        )

    def _op_seed(self, seed: int | None) -> int | None:
        return seed

    def transform(self, input_fn: Callable[..., Any]) -> Iterator[Any]:
        """Of each point, its distances (squared, unless they are cosines) to all centers."""
        return self._each(input_fn, self.ALL_DISTANCES)
