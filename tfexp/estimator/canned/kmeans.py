"""Groups of points around centers: `tf.estimator.experimental.KMeans`. Source: TF 1.15."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from tfexp.estimator.canned import kmeans_graph
from tfexp.estimator.estimator import Estimator
from tfexp.estimator.export_outputs import PredictOutput
from tfexp.estimator.run_config import RunConfig
from tfexp.estimator.spec import EstimatorSpec
from tfexp.feature_column.model import input_layer
from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.random_seed import get_seed
from tfexp.metrics.means import mean
from tfexp.ops.array_join import concat
from tfexp.ops.reduce import reduce_sum
from tfexp.ops.state import assign_add
from tfexp.ops.summary import scalar
from tfexp.runtime.session import Session
from tfexp.train.coordinator import Coordinator
from tfexp.train.global_step import get_global_step
from tfexp.train.saved_model_names import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from tfexp.train.session_hooks import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues

_SECONDS_BETWEEN_LOOKS = 1


class KMeansClustering(Estimator):
    """An Estimator that finds `num_clusters` centers, and for each point, float32 [points, dimensions], the nearest one.

    Points are a tensor, or features: of `feature_columns`, or all of them, by the order of their names. `initial_clusters`:
    the centers, a function f(inputs, k) of up to k of them, `RANDOM_INIT` or `KMEANS_PLUS_PLUS_INIT` (from one batch).
    Without `use_mini_batch` each batch must be all of the points; with it, centers move every
    `mini_batch_steps_per_iteration` steps. `relative_tolerance`: the training ends once the loss changes by less than that.
    ValueError for another `initial_clusters` or `distance_metric`.
    """

    SQUARED_EUCLIDEAN_DISTANCE = kmeans_graph.SQUARED_EUCLIDEAN_DISTANCE
    COSINE_DISTANCE = kmeans_graph.COSINE_DISTANCE
    RANDOM_INIT = kmeans_graph.RANDOM_INIT
    KMEANS_PLUS_PLUS_INIT = kmeans_graph.KMEANS_PLUS_PLUS_INIT
    SCORE = "score"
    CLUSTER_INDEX = "cluster_index"
    ALL_DISTANCES = "all_distances"
    CLUSTER_CENTERS_VAR_NAME = kmeans_graph.CLUSTERS_VARIABLE

    def __init__(
        self,
        num_clusters: int,
        model_dir: str | None = None,
        initial_clusters: Any = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        seed: int | None = None,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None,
        config: RunConfig | None = None,
        feature_columns: Any = None,
    ):
        kmeans_graph.check_initial_clusters(initial_clusters, (self.RANDOM_INIT, self.KMEANS_PLUS_PLUS_INIT))
        kmeans_graph.check_distance(distance_metric)
        self._distance_metric = distance_metric

        def model_fn(features: Any, mode: str, config: RunConfig) -> EstimatorSpec:
            distances, nearest, losses, is_started, start, train = kmeans_graph.KMeans(
                _points(features, feature_columns),
                num_clusters,
                initial_clusters,
                distance_metric,
                use_mini_batch,
                mini_batch_steps_per_iteration,
                self._op_seed(seed),
                kmeans_plus_plus_num_retries,
            ).training_graph()
            loss = reduce_sum(losses)
            scalar("loss/raw", loss)
            train_op = with_dependencies([train, assign_add(get_global_step(), 1)], loss)
            hooks: list[SessionRunHook] = [FirstClustersHook(start, is_started, config.is_chief)]
            if relative_tolerance is not None:
                hooks.append(_StopOnceStable(loss, relative_tolerance))
            return EstimatorSpec(
                mode,
                {self.ALL_DISTANCES: distances[0], self.CLUSTER_INDEX: nearest[0]},
                loss,
                train_op,
                {self.SCORE: mean(loss)},
                {
                    self.ALL_DISTANCES: PredictOutput(distances[0]),
                    self.CLUSTER_INDEX: PredictOutput(nearest[0]),
                    DEFAULT_SERVING_SIGNATURE_DEF_KEY: PredictOutput(nearest[0]),
                },
                training_hooks=hooks,
            )

        super().__init__(model_fn, model_dir, config)

    def _op_seed(self, seed: int | None) -> int | None:
        """The seed of the ops that choose the first centers."""
        return get_seed(seed)[0]

    def predict_cluster_index(self, input_fn: Callable[..., Any]) -> Iterator[Any]:
        """Of each point, the number of the center nearest to it."""
        return self._each(input_fn, self.CLUSTER_INDEX)

    def score(self, input_fn: Callable[..., Any]) -> Any:
        """The sum of the distances (squared, unless they are cosines) of the points of the first batch to their centers."""
        return self.evaluate(input_fn, steps=1)[self.SCORE]

    def transform(self, input_fn: Callable[..., Any]) -> Iterator[Any]:
        """Of each point, its distances to all centers (not squared)."""
        is_squared = self._distance_metric == self.SQUARED_EUCLIDEAN_DISTANCE
        return (np.sqrt(row) if is_squared else row for row in self._each(input_fn, self.ALL_DISTANCES))

    def cluster_centers(self) -> Any:
        """The centers, [num_clusters, dimensions], of the newest checkpoint. ValueError where there is none."""
        return self.get_variable_value(self.CLUSTER_CENTERS_VAR_NAME)

    def _each(self, input_fn: Callable[..., Any], key: str) -> Iterator[Any]:
        return (row[key] for row in self.predict(input_fn, [key]))


def _points(features: Any, feature_columns: Any) -> Any:
    if not isinstance(features, Mapping):
        return features
    if feature_columns:
        return input_layer(features, feature_columns)
    return concat([features[name] for name in sorted(features)], 1)


class FirstClustersHook(SessionRunHook):
    """Has the chief choose clusters, from batch after batch, until there are enough; the other workers wait for it."""

    def __init__(self, start: Any, is_started: Any, is_chief: bool):
        self._start, self._is_started, self._is_chief = start, is_started, is_chief

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        while not session.run(self._is_started):
            if self._is_chief:
                session.run(self._start)
            else:
                time.sleep(_SECONDS_BETWEEN_LOOKS)


class _StopOnceStable(SessionRunHook):
    """Ends the training when the loss changes by less than a fraction of it."""

    def __init__(self, loss: Any, tolerance: float):
        self._loss, self._tolerance = loss, tolerance
        self._last: Any = None

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._loss)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        loss, last = run_values.results, self._last
        if last and abs(loss - last) / (1 + abs(last)) < self._tolerance:
            run_context.request_stop()
        self._last = loss
