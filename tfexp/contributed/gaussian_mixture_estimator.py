"""`tf.contrib.factorization.GMM`: an estimator of mixtures of Gaussians. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tfexp.contributed.gaussian_mixture import FULL_COVARIANCE, GmmAlgorithm, gmm
from tfexp.contributed.learn.estimators import Estimator
from tfexp.contributed.learn.model_fn_ops import ModelFnOps
from tfexp.contributed.variables import local_variable
from tfexp.estimator.canned.kmeans import FirstClustersHook
from tfexp.graph.dependencies import with_dependencies
from tfexp.ops.array_join import concat
from tfexp.ops.state import assign, assign_add
from tfexp.train.global_step import get_global_step


class GMM(Estimator):
    """A mixture of `num_clusters` Gaussians of float32 [points, dimensions], or of a dict of such, side by side by names.

    params, initial_clusters, covariance_type: see `GmmAlgorithm`. Its input functions give no labels (ValueError).
    """

    SCORES = "scores"
    LOG_LIKELIHOOD = "loss"
    ASSIGNMENTS = "assignments"

    def __init__(
        self,
        num_clusters: int,
        model_dir: str | None = None,
        random_seed: int | None = 0,
        params: str = "wmc",
        initial_clusters: Any = "random",
        covariance_type: str = FULL_COVARIANCE,
        config: Any = None,
    ):
        def model(features: Any, labels: Any, mode: str, config: Any) -> ModelFnOps:
            if labels is not None:
                raise ValueError("tf.contrib.factorization.GMM: clusters are found without labels; the input gives some")
            loss, scores, [assignments], train, start, is_started = gmm(
                _side_by_side(features), initial_clusters, num_clusters, random_seed, covariance_type, params
            )
            last = local_variable(np.zeros([0, 1], np.float32), validate_shape=False, name="last_scores")
            return ModelFnOps(
                mode,
                {self.ASSIGNMENTS: assignments[0]},
                loss,
                with_dependencies([train, assign_add(get_global_step(), 1)], loss),
                {self.SCORES: (last, assign(last, scores, validate_shape=False))},
                training_hooks=[FirstClustersHook(start, is_started, config.is_chief)],
            )

        super().__init__(model, model_dir, config)

    def predict_assignments(
        self,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        outputs: Sequence[str] | None = None,
    ) -> Iterator[Any]:
        """The likeliest cluster of each point."""
        return (found[self.ASSIGNMENTS] for found in self.predict(None, input_fn, batch_size, outputs))

    def score(
        self, input_fn: Callable[[], Any] | None = None, batch_size: int | None = None, steps: int | None = None
    ) -> Any:
        """The logarithm of the sum of the likelihoods of the last batch's points."""
        scores = self.evaluate(input_fn=input_fn, batch_size=batch_size, steps=steps)[self.SCORES]
        return np.logaddexp.reduce(scores, axis=None)

    def weights(self) -> np.ndarray:
        """The clusters' weights, [num_clusters], of the newest checkpoint."""
        return self.get_variable_value(GmmAlgorithm.CLUSTERS_WEIGHT)

    def clusters(self) -> np.ndarray:
        """Their means, [num_clusters, dimensions]."""
        return np.squeeze(self.get_variable_value(GmmAlgorithm.CLUSTERS_VARIABLE), 1)

    def covariances(self) -> np.ndarray:
        """Their covariances, [num_clusters, dimensions, dimensions], or of "diag" the variances."""
        return self.get_variable_value(GmmAlgorithm.CLUSTERS_COVS_VARIABLE)


def _side_by_side(features: Any) -> Any:
    return concat([features[name] for name in sorted(features)], 1) if isinstance(features, Mapping) else features
