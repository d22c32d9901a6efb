"""A linear model of given weights, trained by dual coordinate ascent. Source: `tf.contrib.linear_optimizer`, TF 1.15."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tfexp.core import dtypes
from tfexp.estimator.canned.dual_ascent import Batch, Dense, DualAscent, Sparse, parts_of, whole
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import expand_dims, reshape
from tfexp.ops.array_gather import gather
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_unary import exp, sigmoid, square
from tfexp.ops.matmul import matmul
from tfexp.ops.nn_activation import relu
from tfexp.ops.nn_cross_entropy import log_poisson_loss, sigmoid_cross_entropy_with_logits
from tfexp.ops.reduce import reduce_sum
from tfexp.ops.sdca_losses import LOSSES
from tfexp.ops.segment import segment_sum

KEPT_AS = "_unshrinked/SDCAOptimizer"
LEAST_L2 = 1.0


class SparseFeatureColumn:
    """The entries of a sparse feature in a batch: the examples and ids, int64 [n], and values, float32 [n] (None: all 1).

    Source: `tf.contrib.linear_optimizer.SparseFeatureColumn`.
    """

    def __init__(self, example_indices: Any, feature_indices: Any, feature_values: Any):
        with name_scope(None, "SparseFeatureColumn", [example_indices, feature_indices]):
            self._examples = convert_to_tensor(example_indices, dtypes.int64, "example_indices")
            self._ids = convert_to_tensor(feature_indices, dtypes.int64, "feature_indices")
        self._values = None
        if feature_values is not None:
            with name_scope(None, "SparseFeatureColumn", [feature_values]):
                self._values = convert_to_tensor(feature_values, dtypes.float32, "feature_values")

    @property
    def example_indices(self) -> Tensor:
        return self._examples

    @property
    def feature_indices(self) -> Tensor:
        return self._ids

    @property
    def feature_values(self) -> Tensor | None:
        return self._values


class SdcaModel:
    """Weights that are variables, and a batch of examples that they are trained on.

    examples: `sparse_features`, a list of SparseFeatureColumns; `dense_features`, a list of float32 [batch, width];
    `example_labels` and `example_weights`, float32 [batch]; `example_ids`, strings [batch], by which examples are known
    again. variables: `sparse_features_weights` (float32 [ids]) and `dense_features_weights` (float32 [width]), a list each
    of variables, or of lists of the parts that a variable is cut in. options: `loss_type` (logistic_loss, squared_loss,
    hinge_loss, smooth_hinge_loss, poisson_loss), `symmetric_l1_regularization`, `symmetric_l2_regularization` (the ascent
    takes 1 for less), and if need be `num_loss_partitions` (1) and `adaptive` (True). One table keeps the state, whatever
    `num_table_shards` is. KeyError for what is missing, ValueError for what is None, no list, no loss or below 0.
    Source: `tf.contrib.linear_optimizer.SdcaModel`.
    """

    def __init__(self, examples: Mapping[str, Any], variables: Mapping[str, Any], options: Mapping[str, Any]):
        if not examples or not variables or not options:
            raise ValueError("examples, variables and options must all be specified.")
        self._loss_type = options["loss_type"]
        if self._loss_type not in LOSSES:
            raise ValueError(f"Unsupported loss_type: {self._loss_type}")
        _check_specified(["example_labels", "example_weights", "example_ids"], examples)
        _check_lists(["sparse_features", "dense_features"], examples)
        _check_lists(["sparse_features_weights", "dense_features_weights"], variables)
        _check_specified(["symmetric_l2_regularization", "symmetric_l1_regularization"], options)
        for name in ("symmetric_l1_regularization", "symmetric_l2_regularization"):
            if options[name] < 0:
                raise ValueError(f"{name} should be non-negative. Found ({options[name]:f})")
        self._l1, self._l2 = options["symmetric_l1_regularization"], options["symmetric_l2_regularization"]
        self._attributes = {
            "loss_type": self._loss_type,
            "num_loss_partitions": options.get("num_loss_partitions", 1),
            "adaptive": options.get("adaptive", True),
        }
        self._sparse_weights = [parts_of(one) for one in variables["sparse_features_weights"]]
        self._dense_weights = [parts_of(one) for one in variables["dense_features_weights"]]
        batch = Batch(
            [
                Sparse(column.example_indices, column.feature_indices, column.feature_values, parts)
                for column, parts in zip(examples["sparse_features"], self._sparse_weights, strict=True)
            ],
            [
                Dense(convert_to_tensor(values), parts)
                for values, parts in zip(examples["dense_features"], self._dense_weights, strict=True)
            ],
            convert_to_tensor(examples["example_ids"]),
            convert_to_tensor(examples["example_labels"]),
            convert_to_tensor(examples["example_weights"]),
        )
        self._ascent = DualAscent(batch, self._l1, max(self._l2, LEAST_L2), KEPT_AS)

    def minimize(self, global_step: Any = None, name: str | None = None) -> Operation:
        """A turn for each example of the batch; counts the step, if there is a `global_step`."""
        return self._ascent.step(global_step, name, **self._attributes)

    def update_weights(self, train_op: Any) -> Operation:
        """After a step gives the variables the weights, less what l1 takes of them; the chief at least must run it."""
        return self._ascent.take_weights(train_op)

    def predictions(self, examples: Mapping[str, Any]) -> Tensor:
        """[batch]: probabilities for the logistic loss, expected counts for Poisson's, for others the weighted sums.

        A sparse feature must have values, and entries of the last example. ValueError for features that are no lists.
        """
        _check_specified(["example_weights"], examples)
        sums = self._weighted_sums(examples)
        if self._loss_type == "logistic_loss":
            with name_scope("sdca/logistic_prediction"):
                return sigmoid(sums)
        if self._loss_type == "poisson_loss":
            with name_scope("sdca/poisson_prediction"):
                return exp(sums)
        return sums

    def approximate_duality_gap(self) -> Tensor:
        """How far the loss of all examples seen is from the best at most, for each unit of their weight, float64; at first
        nan."""
        return self._ascent.gap()

    def unregularized_loss(self, examples: Mapping[str, Any]) -> Tensor:
        """The mean loss of these examples by their weights, float64. As `predictions`."""
        _check_specified(["example_labels", "example_weights"], examples)
        _check_lists(["sparse_features", "dense_features"], examples)
        with name_scope("sdca/unregularized_loss"):
            sums = cast(self._weighted_sums(examples), dtypes.float64)
            labels = cast(examples["example_labels"], dtypes.float64)
            weights = cast(examples["example_weights"], dtypes.float64)
            mean: Tensor = reduce_sum(self._losses(labels, sums) * weights) / reduce_sum(weights)
            return mean

    def regularized_loss(self, examples: Mapping[str, Any]) -> Tensor:
        """The same, with what l1 and l2 (which may be less than 1 here) add for each unit of weight."""
        _check_specified(["example_labels", "example_weights"], examples)
        _check_lists(["sparse_features", "dense_features"], examples)
        with name_scope("sdca/regularized_loss"):
            l1, l2 = self._ascent.norms()
            total: Any = reduce_sum(cast(examples["example_weights"], dtypes.float64))
            loss: Tensor = (self._l1 * l1 + self._l2 * l2 / 2.0) / total + self.unregularized_loss(examples)
            return loss

    def _weighted_sums(self, examples: Mapping[str, Any]) -> Tensor:
        _check_lists(["sparse_features", "dense_features"], examples)
        with name_scope("sdca/prediction"):
            sums: Any = 0.0
            for column, parts in zip(examples["sparse_features"], self._sparse_weights, strict=True):
                entries = gather(whole(parts), column.feature_indices) * column.feature_values
                sums += segment_sum(entries, column.example_indices)
            for values, parts in zip(examples["dense_features"], self._dense_weights, strict=True):
                sums += reshape(matmul(values, expand_dims(whole(parts), -1)), [-1])
            return convert_to_tensor(sums)

    def _losses(self, labels: Any, sums: Any) -> Any:
        """Of each example; of the smooth hinge it is the hinge, as in TensorFlow."""
        if self._loss_type == "logistic_loss":
            return sigmoid_cross_entropy_with_logits(labels=labels, logits=sums)
        if self._loss_type == "poisson_loss":
            return log_poisson_loss(targets=labels, log_input=sums)
        if self._loss_type == "squared_loss":
            return square(labels - sums) / 2.0
        return relu(1.0 - (2.0 * labels - 1.0) * sums)


def _check_specified(names: Iterable[str], given: Mapping[str, Any]) -> None:
    for name in names:
        if given[name] is None:
            raise ValueError(f"{name} must be specified.")


def _check_lists(names: Iterable[str], given: Mapping[str, Any]) -> None:
    for name in names:
        if not isinstance(given[name], list):
            raise ValueError(f"{name} must be a list.")
