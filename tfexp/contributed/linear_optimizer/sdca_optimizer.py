"""Dual coordinate ascent for the linear models of `tf.contrib.learn`. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfexp.contributed.linear_optimizer.sdca_model import KEPT_AS, LEAST_L2, SdcaModel, SparseFeatureColumn
from tfexp.estimator.canned.sdca import LinearSDCA
from tfexp.estimator.heads.labels import checked_weight_column
from tfexp.graph.operation import Operation


class SDCAOptimizer(LinearSDCA):
    """An optimizer for `LinearClassifier` of two classes and `LinearRegressor` of one number: dual coordinate ascent.

    `example_id_column` names the feature with the ids of examples, strings [batch]. `num_loss_partitions` is the number of
    workers. The ascent takes an l2 of 1 for less. With `adaptive`, examples of more use have more turns. `partitioner` cuts
    the weights. One table keeps the state, whatever `num_table_shards` is. ValueError for an l1 or l2 below 0.
    Source: `tf.contrib.linear_optimizer.SDCAOptimizer`.
    """

    _kept_as = KEPT_AS

    def __init__(
        self,
        example_id_column: str,
        num_loss_partitions: int = 1,
        num_table_shards: int | None = None,
        symmetric_l1_regularization: float = 0.0,
        symmetric_l2_regularization: float = 1.0,
        adaptive: bool = True,
        partitioner: Any = None,
    ):
        if symmetric_l2_regularization < 0:
            raise ValueError(f"symmetric_l2_regularization should be non-negative. Found ({symmetric_l2_regularization:f})")
        super().__init__(
            example_id_column,
            num_loss_partitions,
            num_table_shards,
            symmetric_l1_regularization,
            max(symmetric_l2_regularization, LEAST_L2),
            adaptive,
        )
        self.example_id_column, self.num_table_shards = example_id_column, num_table_shards
        self.num_loss_partitions, self.adaptive, self.partitioner = num_loss_partitions, adaptive, partitioner
        self.symmetric_l1_regularization = symmetric_l1_regularization
        self.symmetric_l2_regularization = symmetric_l2_regularization

    def _loss_type(self, head: Any) -> str:
        """That of a head of `tf.contrib.learn`, or of `tf.estimator`."""
        return getattr(head, "ascent_loss", None) or super()._loss_type(head)

    def get_name(self) -> str:
        return "SDCAOptimizer"

    def get_train_step(
        self,
        columns_to_variables: Mapping[Any, Any],
        weight_column_name: str | None,
        loss_type: str,
        features: Mapping[Any, Any],
        targets: Any,
        global_step: Any,
    ) -> tuple[SdcaModel, Operation]:
        """(the model, a step of it) of weights by columns, and features by their names.

        ValueError for a column that is neither categorical nor a vector.
        """
        batch = self._batch(features, targets, columns_to_variables, checked_weight_column(weight_column_name))
        model = SdcaModel(
            {
                "sparse_features": [SparseFeatureColumn(one.examples, one.ids, one.values) for one in batch.sparse],
                "dense_features": [one.values for one in batch.dense],
                "example_labels": batch.labels,
                "example_weights": batch.weights,
                "example_ids": batch.ids,
            },
            {
                "sparse_features_weights": [one.weights for one in batch.sparse],
                "dense_features_weights": [one.weights for one in batch.dense],
            },
            {
                "loss_type": loss_type,
                "symmetric_l1_regularization": self.symmetric_l1_regularization,
                "symmetric_l2_regularization": self.symmetric_l2_regularization,
                "num_loss_partitions": self.num_loss_partitions,
                "adaptive": self.adaptive,
            },
        )
        return model, model.minimize(global_step)
