"""Linear models of feature columns: `tf.estimator.LinearClassifier` and its kin. Source: TF 1.15."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfexp.estimator.canned.features import as_columns, check_features
from tfexp.estimator.canned.heads import classifier_head, regressor_head
from tfexp.estimator.canned.optimizers import optimizer_of
from tfexp.estimator.canned.sdca import LinearSDCA
from tfexp.estimator.estimator import Estimator
from tfexp.estimator.heads.head import Head
from tfexp.estimator.run_config import RunConfig
from tfexp.estimator.spec import EstimatorSpec
from tfexp.feature_column.model import linear_in_scope
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import reshape
from tfexp.ops.array_join import concat
from tfexp.ops.losses import Reduction
from tfexp.ops.nn_norm import zero_fraction
from tfexp.ops.partitioned_variables import min_max_variable_partitioner
from tfexp.ops.summary import histogram, scalar
from tfexp.ops.variable_scope import variable_scope

LogitFunction = Callable[[Mapping[str, Any]], Tensor]

# Variables are cut for parameter servers from this size on, in bytes.
_MIN_SLICE = 64 << 20


def linear_logit_fn_builder(units: int, feature_columns: Any, sparse_combiner: str = "sum") -> LogitFunction:
    """A function from features to logits `[batch, units]`, with summaries of the bias and of how many weights are zero."""

    def linear_logit_fn(features: Mapping[str, Any]) -> Tensor:
        return _logits_and_variables(features, feature_columns, units, sparse_combiner)[0]

    return linear_logit_fn


def _logits_and_variables(
    features: Mapping[str, Any], feature_columns: Any, units: int, sparse_combiner: str
) -> tuple[Tensor, dict[Any, Any]]:
    """The logits, and the variables of each column and of "bias"."""
    variables: dict[Any, Any] = {}
    # Nodes are where a layer of that name in a model of that name would have them.
    with variable_scope(None, default_name="linear_model"), name_scope("linear_model"), name_scope("linear_model"):
        logits = linear_in_scope(features, feature_columns, units, sparse_combiner, None, True, variables)
    bias = reshape(variables["bias"][0], [-1])
    if units > 1:
        histogram("bias", bias)
    else:
        scalar("bias", bias[0])
    weights = [reshape(one, [-1]) for column, own in variables.items() if column != "bias" for one in own]
    scalar("fraction_of_zero_weights", zero_fraction(concat(weights, 0)))
    return logits, variables


def default_learning_rate(feature_columns: Sequence[Any], at_most: float) -> float:
    """Smaller the more columns there are."""
    return min(at_most, 1.0 / math.sqrt(max(1, len(feature_columns))))


class LinearEstimator(Estimator):
    """A linear model with any `tf.estimator.Head`.

    `optimizer` is one, its name (Adagrad, Adam, Ftrl, RMSProp, SGD), a function that makes one, or a
    `tf.estimator.experimental.LinearSDCA`. `partitioner` cuts variables; `sparse_combiner` (sum, mean, sqrtn) says how
    several ids of a row count.
    """

    def __init__(
        self,
        head: Head,
        feature_columns: Any,
        model_dir: str | None = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        partitioner: Any = None,
        sparse_combiner: str = "sum",
        warm_start_from: Any = None,
    ):
        columns = as_columns(feature_columns)
        ascent = optimizer if isinstance(optimizer, LinearSDCA) else None
        if ascent is not None and sparse_combiner != "sum":
            raise ValueError('sparse_combiner must be "sum" when optimizer is a LinearSDCA object.')

        def model_fn(features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
            check_features(features, type(self).__name__)
            cut = partitioner or min_max_variable_partitioner(config.num_ps_replicas, min_slice_size=_MIN_SLICE)
            with variable_scope("linear", values=tuple(features.values()), partitioner=cut):
                logits, variables = _logits_and_variables(features, columns, head.logits_dimension, sparse_combiner)
                if ascent is not None:
                    return ascent.spec(head, features, labels, mode, logits, variables)
                trained = optimizer_of(optimizer, default_learning_rate(columns, at_most=0.2))
                return head.create_estimator_spec(features, mode, logits, labels, optimizer=trained)

        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class LinearClassifier(LinearEstimator):
    """A linear model for `n_classes` classes, by numbers or by the words of `label_vocabulary`.

    `weight_column` is a feature with the weights of examples. By default the losses of a batch are summed.
    """

    def __init__(
        self,
        feature_columns: Any,
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        partitioner: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        sparse_combiner: str = "sum",
    ):
        head = classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(head, feature_columns, model_dir, optimizer, config, partitioner, sparse_combiner, warm_start_from)


class LinearRegressor(LinearEstimator):
    """A linear model for `label_dimension` numbers. `weight_column` is a feature with the weights of examples."""

    def __init__(
        self,
        feature_columns: Any,
        model_dir: str | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        partitioner: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        sparse_combiner: str = "sum",
    ):
        head = regressor_head(label_dimension, weight_column, loss_reduction)
        super().__init__(head, feature_columns, model_dir, optimizer, config, partitioner, sparse_combiner, warm_start_from)
