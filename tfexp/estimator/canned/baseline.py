"""Models that ignore the features, to compare others with: `tf.estimator.BaselineClassifier` and its kin. TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfexp.estimator.canned.features import check_features
from tfexp.estimator.canned.heads import classifier_head, regressor_head
from tfexp.estimator.canned.optimizers import optimizer_of
from tfexp.estimator.estimator import Estimator
from tfexp.estimator.heads.head import Head
from tfexp.estimator.modes import ModeKeys
from tfexp.estimator.run_config import RunConfig
from tfexp.estimator.spec import EstimatorSpec
from tfexp.graph.sparse_tensor import is_sparse
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import shape
from tfexp.ops.array_fill import ones
from tfexp.ops.elementwise_binary import mul
from tfexp.ops.initializers import zeros_initializer
from tfexp.ops.losses import Reduction
from tfexp.ops.variable_scope import get_variable, variable_scope

_LEARNING_RATE = 0.3


def _logits(features: Mapping[str, Any], units: int) -> Tensor:
    """[batch, units]: the bias, for each example."""
    if not features:
        raise ValueError("The features say how large a batch is: there must be one at least.")
    first = next(iter(features.values()))
    rows: Any = first.dense_shape[0] if is_sparse(first) else shape(first)[0]  # type: ignore[index]
    bias = get_variable("bias", initializer=zeros_initializer(), shape=[units])
    return mul(ones([rows, units]), bias)


class BaselineEstimator(Estimator):
    """One number for each logit, whatever the features are, with any `tf.estimator.Head`."""

    def __init__(self, head: Head, model_dir: str | None = None, optimizer: Any = "Ftrl", config: RunConfig | None = None):
        def model_fn(features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
            check_features(features, type(self).__name__)
            with variable_scope("baseline", values=tuple(features.values())):
                logits = _logits(features, head.logits_dimension)
            trained = optimizer_of(optimizer, _LEARNING_RATE) if mode == ModeKeys.TRAIN else None
            return head.create_estimator_spec(features, mode, logits, labels, optimizer=trained)

        super().__init__(model_fn, model_dir, config)


class BaselineClassifier(BaselineEstimator):
    """Learns how frequent each of `n_classes` classes is."""

    def __init__(
        self,
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        loss_reduction: str = Reduction.SUM,
    ):
        head = classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(head, model_dir, optimizer, config)


class BaselineRegressor(BaselineEstimator):
    """Learns the mean of `label_dimension` numbers."""

    def __init__(
        self,
        model_dir: str | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        loss_reduction: str = Reduction.SUM,
    ):
        super().__init__(regressor_head(label_dimension, weight_column, loss_reduction), model_dir, optimizer, config)
