"""Boosted trees that are trained at once, on examples that fit into memory.

Source: `tf.contrib.estimator.boosted_trees_{classifier,regressor}_train_in_memory`, TF 1.15.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tfexp.data.dataset import Dataset
from tfexp.estimator.canned.boosted_trees import ONLY, BoostedTreesClassifier, BoostedTreesEstimator, BoostedTreesRegressor
from tfexp.estimator.run_config import RunConfig
from tfexp.train.session_hooks import SessionRunHook


def boosted_trees_classifier_train_in_memory(
    train_input_fn: Callable[[], Any],
    feature_columns: Iterable[Any],
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
    train_hooks: Sequence[SessionRunHook] | None = None,
    center_bias: bool = False,
    pruning_mode: str = "none",
    quantile_sketch_epsilon: float = 0.01,
) -> BoostedTreesEstimator:
    """A `tf.estimator.BoostedTreesClassifier` whose trees have grown: `train_input_fn` gives all examples in one batch."""
    trees = BoostedTreesClassifier(
        feature_columns,
        1,
        model_dir,
        n_classes,
        weight_column,
        label_vocabulary,
        n_trees,
        max_depth,
        learning_rate,
        l1_regularization,
        l2_regularization,
        tree_complexity,
        min_node_weight,
        config,
        center_bias,
        pruning_mode,
        quantile_sketch_epsilon,
        train_in_memory=True,
    )
    return _trained(trees, train_input_fn, train_hooks)


def boosted_trees_regressor_train_in_memory(
    train_input_fn: Callable[[], Any],
    feature_columns: Iterable[Any],
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
    train_hooks: Sequence[SessionRunHook] | None = None,
    center_bias: bool = False,
    pruning_mode: str = "none",
    quantile_sketch_epsilon: float = 0.01,
) -> BoostedTreesEstimator:
    """A `tf.estimator.BoostedTreesRegressor` whose trees have grown: `train_input_fn` gives all examples in one batch."""
    trees = BoostedTreesRegressor(
        feature_columns,
        1,
        model_dir,
        label_dimension,
        weight_column,
        n_trees,
        max_depth,
        learning_rate,
        l1_regularization,
        l2_regularization,
        tree_complexity,
        min_node_weight,
        config,
        center_bias,
        pruning_mode,
        quantile_sketch_epsilon,
        train_in_memory=True,
    )
    return _trained(trees, train_input_fn, train_hooks)


def _trained(
    trees: BoostedTreesEstimator, train_input_fn: Callable[[], Any], hooks: Sequence[SessionRunHook] | None
) -> BoostedTreesEstimator:
    def again_and_again() -> Any:
        given = train_input_fn()
        return given.repeat() if isinstance(given, Dataset) else given

    trees.train(again_and_again, hooks=hooks)
    return trees
