"""Boosted trees: `tf.estimator.BoostedTreesClassifier` and its kin. Source: TF 1.15.

Trees are grown layer by layer, each layer by the gradients of the loss at what all layers before it say. Source: Friedman:
"Greedy function approximation: a gradient boosting machine" (2001).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.errors import NotFoundError
from tfexp.estimator.canned.tree_features import TreeFeatures
from tfexp.estimator.canned.tree_growing import TreeSettings
from tfexp.estimator.canned.tree_model import Closed, logits_of, trees_spec
from tfexp.estimator.canned.tree_resources import Ensemble, Quantiles
from tfexp.estimator.estimator import Estimator
from tfexp.estimator.heads.classification import BinaryClassHead
from tfexp.estimator.heads.head import Head, SingleHead
from tfexp.estimator.heads.labels import dense_labels
from tfexp.estimator.heads.regression import LogisticRegressionHead, RegressionHead
from tfexp.estimator.modes import ModeKeys
from tfexp.estimator.run_config import RunConfig
from tfexp.estimator.spec import EstimatorSpec
from tfexp.feature_column.column import Features
from tfexp.formats.protos.boosted_trees import DebugOutput
from tfexp.formats.protos.boosted_trees import TreeEnsemble as EnsembleProto
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import size
from tfexp.ops.boosted_trees import example_debug_outputs
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_unary import sigmoid
from tfexp.ops.losses import Reduction
from tfexp.train.session_hooks import SessionRunHook

_DEBUG_OUTPUT = "_serialized_debug_outputs_proto"
_SERIALIZED = "boosted_trees:0_serialized"  # the variable of a checkpoint

# Stands for an argument that is there for more classes or dimensions than trees have by now.
ONLY = object()


class BoostedTreesEstimator(Estimator):
    """Boosted trees with any `tf.estimator.Head` of one logit.

    Feature columns are numbers (divided into about `1 / quantile_sketch_epsilon` buckets each), bucketized columns and
    indicators. A layer is grown every `n_batches_per_layer` batches, until there are `n_trees` of `max_depth` layers. What
    leaves say is multiplied by `learning_rate`. A split costs `tree_complexity`, with a `pruning_mode` of pre or post, and
    needs hessians of `min_node_weight`. With `center_bias` trees begin with what is best for all examples. ValueError for
    settings or columns that cannot be.
    """

    def __init__(
        self,
        feature_columns: Iterable[Any],
        n_batches_per_layer: int,
        head: Head,
        model_dir: str | None = None,
        weight_column: Any = None,
        n_trees: int = 100,
        max_depth: int = 6,
        learning_rate: float = 0.1,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        tree_complexity: float = 0.0,
        min_node_weight: float = 0.0,
        config: RunConfig | None = None,
        center_bias: bool = False,
        pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01,
    ):
        settings = TreeSettings(
            n_trees,
            max_depth,
            learning_rate,
            l1_regularization,
            l2_regularization,
            tree_complexity,
            min_node_weight,
            center_bias,
            pruning_mode,
            quantile_sketch_epsilon,
        )
        self._grow_as(feature_columns, n_batches_per_layer, head, model_dir, weight_column, config, settings)

    def _grow_as(
        self,
        feature_columns: Iterable[Any],
        n_batches_per_layer: Any,
        head: Head,
        model_dir: str | None,
        weight_column: Any,
        config: RunConfig | None,
        settings: TreeSettings,
        in_memory: bool = False,
        closed_form: Closed | None = None,
    ) -> None:
        if head.logits_dimension != 1:
            raise ValueError(f"Trees have one logit. Given a head with {head.logits_dimension}: {head}")
        if in_memory and n_batches_per_layer != 1:
            raise ValueError(f"With train_in_memory, n_batches_per_layer must be 1. Given: {n_batches_per_layer}")
        self._columns, self._head, self._settings = TreeFeatures(feature_columns), head, settings

        def model_fn(features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
            return trees_spec(
                features,
                labels,
                mode,
                head,
                self._columns,
                settings,
                n_batches_per_layer,
                config,
                closed_form,
                weight_column,
                in_memory,
            )

        super().__init__(model_fn, model_dir, config)

    def experimental_feature_importances(self, normalize: bool = False) -> dict[str, np.float64]:
        """What splits by each feature column gained, the most important first; with `normalize`, as parts of 1.

        ValueError without a training; AssertionError to normalize where nothing was gained, or less than nothing by one.
        """
        try:
            serialized = self.get_variable_value(_SERIALIZED)
        except NotFoundError as error:
            raise ValueError(f"There are no trees in {self.model_dir}: train them first") from error
        proto = EnsembleProto.FromString(bytes(serialized.item() if hasattr(serialized, "item") else serialized))
        if not proto.trees:
            raise ValueError(
                "Found empty serialized string for TreeEnsemble. You should only call this method after training."
            )
        gains = np.zeros(len(self._columns.names))
        for tree, weight in zip(proto.trees, proto.tree_weights, strict=True):
            for node in tree.nodes:
                if node.WhichOneof("node") == "bucketized_split":
                    gains[node.bucketized_split.feature_id] += weight * node.metadata.gain
        if normalize:
            if (gains < 0).any():
                raise AssertionError(f"feature_importances must be non-negative. Given: {gains}")
            if not gains.sum() > 0:
                raise AssertionError("Trees are all empty or contain only a root node.")
            gains = gains / gains.sum()
        return self._by_column(gains)

    def experimental_predict_with_explanations(
        self,
        input_fn: Callable[..., Any],
        predict_keys: Iterable[str] | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        checkpoint_path: str | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Yields predictions with `bias`, what examples have in common, and `dfc`: what each column adds to that.

        Source: Palczewska et al.: "Interpreting random forest classification models using a feature contribution method"
        (2013). ValueError unless the trees were made with `center_bias`, and for regression with a link function.
        """
        if not self._settings.center_bias:
            raise ValueError(
                "center_bias must be enabled during estimator instantiation when using "
                "experimental_predict_with_explanations."
            )
        is_class = isinstance(self._head, BinaryClassHead | LogisticRegressionHead)
        if not is_class and type(self._head) is not RegressionHead:
            raise ValueError(f"Predictions of {type(self._head).__name__} cannot be explained.")
        keys = None if predict_keys is None else [*predict_keys, _DEBUG_OUTPUT]
        explained = Estimator(self._explanations, self.model_dir, self.config)
        return self._explained(explained.predict(input_fn, keys, hooks, checkpoint_path), is_class)

    def _explanations(self, features: Any, labels: Any, mode: str) -> EstimatorSpec:
        """The model, with how each example came to its logit."""
        made, columns = Features(features), self._columns
        with name_scope("boosted_trees") as scope:
            ensemble = Ensemble(scope)
            quantiles = Quantiles(self._settings.quantile_sketch_epsilon, columns.floats) if columns.floats else None
            logits = logits_of(ensemble, columns, quantiles, made, self._head.logits_dimension)
            spec = self._head.create_estimator_spec(features, ModeKeys.PREDICT, logits)
            buckets = columns.buckets(made, [] if quantiles is None else quantiles.boundaries)
            spec.predictions[_DEBUG_OUTPUT] = example_debug_outputs(ensemble.handle, buckets, logits_dimension=1)
            return spec

    def _explained(self, predictions: Iterator[Any], is_class: bool) -> Iterator[dict[str, Any]]:
        for prediction in predictions:
            path = DebugOutput.FromString(prediction.pop(_DEBUG_OUTPUT))
            logits = np.array(path.logits_path, np.float64)
            reached = 1 / (1 + np.exp(-logits)) if is_class else logits
            added = np.bincount(path.feature_ids, np.diff(reached), len(self._columns.names))
            yield {**prediction, "bias": reached[0], "dfc": self._by_column(added)}

    def _by_column(self, of_features: Any) -> dict[str, np.float64]:
        """The sum over the features of each column, the largest first."""
        sums: dict[str, np.float64] = {}
        for name, value in zip(self._columns.names, of_features, strict=True):
            sums[name] = sums.get(name, np.float64(0)) + value
        return dict(sorted(sums.items(), key=lambda item: -abs(item[1])))


class BoostedTreesClassifier(BoostedTreesEstimator):
    """Boosted trees for two classes, by numbers or by the words of `label_vocabulary`.

    `weight_column` is a feature with the weights of examples. With `train_in_memory`, every batch is all of the examples
    (of a shape that is known), and n_batches_per_layer is 1. ValueError for more than two classes. All else as
    `BoostedTreesEstimator` has it.
    """

    def __init__(
        self,
        feature_columns: Iterable[Any],
        n_batches_per_layer: int,
        model_dir: str | None = None,
        n_classes: Any = ONLY,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        n_trees: int = 100,
        max_depth: int = 6,
        learning_rate: float = 0.1,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        tree_complexity: float = 0.0,
        min_node_weight: float = 0.0,
        config: RunConfig | None = None,
        center_bias: bool = False,
        pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01,
        train_in_memory: bool = False,
    ):
        if n_classes not in (ONLY, 2):
            raise ValueError(f"For now only binary classification is supported. n_classes given as {n_classes}")
        head = BinaryClassHead(
            weight_column, label_vocabulary=label_vocabulary, loss_reduction=Reduction.SUM_OVER_BATCH_SIZE
        )
        settings = TreeSettings(
            n_trees,
            max_depth,
            learning_rate,
            l1_regularization,
            l2_regularization,
            tree_complexity,
            min_node_weight,
            center_bias,
            pruning_mode,
            quantile_sketch_epsilon,
        )
        closed = _logistic if weight_column is None and label_vocabulary is None else None
        self._grow_as(
            *(feature_columns, n_batches_per_layer, _older(head), model_dir, weight_column, config, settings),
            in_memory=train_in_memory,
            closed_form=closed,
        )


class BoostedTreesRegressor(BoostedTreesEstimator):
    """Boosted trees for a number.

    `weight_column` is a feature with the weights of examples. With `train_in_memory`, every batch is all of the examples
    (of a shape that is known), and n_batches_per_layer is 1. ValueError for more than one dimension. All else as
    `BoostedTreesEstimator` has it.
    """

    def __init__(
        self,
        feature_columns: Iterable[Any],
        n_batches_per_layer: int,
        model_dir: str | None = None,
        label_dimension: Any = ONLY,
        weight_column: Any = None,
        n_trees: int = 100,
        max_depth: int = 6,
        learning_rate: float = 0.1,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        tree_complexity: float = 0.0,
        min_node_weight: float = 0.0,
        config: RunConfig | None = None,
        center_bias: bool = False,
        pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01,
        train_in_memory: bool = False,
    ):
        if label_dimension not in (ONLY, 1):
            raise ValueError(f"For now only 1 dimension regression is supported. label_dimension given as {label_dimension}")
        head = RegressionHead(1, weight_column, Reduction.SUM_OVER_BATCH_SIZE)
        settings = TreeSettings(
            n_trees,
            max_depth,
            learning_rate,
            l1_regularization,
            l2_regularization,
            tree_complexity,
            min_node_weight,
            center_bias,
            pruning_mode,
            quantile_sketch_epsilon,
        )
        self._grow_as(
            *(feature_columns, n_batches_per_layer, _older(head), model_dir, weight_column, config, settings),
            in_memory=train_in_memory,
        )


def _older(head: SingleHead) -> SingleHead:
    head.is_older = True
    return head


def _logistic(logits: Tensor, labels: Any) -> tuple[Tensor, Tensor]:
    """The gradients and hessians of the mean cross entropy."""
    chances = sigmoid(logits)
    each = 1.0 / cast(size(chances), dtypes.float32)
    wanted = cast(dense_labels(labels, logits, 1), dtypes.float32)
    return (chances - wanted) * each, chances * (1.0 - chances) * each
