"""Linear models by stochastic dual coordinate ascent: `tf.estimator.experimental.LinearSDCA`. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfexp.core import dtypes
from tfexp.estimator.canned.dual_ascent import Batch, Dense, DualAscent, Sparse, parts_of
from tfexp.estimator.canned.heads import OlderRegressionHead
from tfexp.estimator.heads.classification import BinaryClassHead
from tfexp.estimator.heads.head import Head
from tfexp.estimator.heads.labels import row_weights
from tfexp.estimator.heads.regression import RegressionHead
from tfexp.estimator.modes import ModeKeys
from tfexp.estimator.spec import EstimatorSpec
from tfexp.feature_column.column import CategoricalColumn, DenseColumn, Features
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import reshape, shape
from tfexp.ops.array_fill import ones
from tfexp.ops.array_mask import boolean_mask
from tfexp.ops.array_unique import unique
from tfexp.ops.cast import cast
from tfexp.ops.comparison import greater_equal
from tfexp.ops.reduce import reduce_max
from tfexp.ops.segment import unsorted_segment_min, unsorted_segment_sum
from tfexp.train.global_step import get_global_step
from tfexp.train.session_hooks import SessionRunArgs, SessionRunContext, SessionRunHook


class LinearSDCA:
    """An optimizer for `LinearClassifier` of two classes and `LinearRegressor` of one number: dual coordinate ascent.

    `example_id_column` names the feature with the ids of examples, strings [batch]. `num_loss_partitions` is the number of
    workers. `symmetric_l2_regularization` must be above 0, and is best above 1; ValueError for numbers below. With
    `adaptive`, examples of more use have more turns. One table keeps the state, whatever `num_table_shards` is.
    """

    _kept_as = "_unshrunk"

    def __init__(
        self,
        example_id_column: str,
        num_loss_partitions: int = 1,
        num_table_shards: int | None = None,
        symmetric_l1_regularization: float = 0.0,
        symmetric_l2_regularization: float = 1.0,
        adaptive: bool = False,
    ):
        if symmetric_l2_regularization <= 0:
            raise ValueError(f"symmetric_l2_regularization should be positive: {symmetric_l2_regularization}")
        if symmetric_l1_regularization < 0:
            raise ValueError(f"symmetric_l1_regularization should be non-negative: {symmetric_l1_regularization}")
        self._id_column = example_id_column
        self._l1, self._l2 = symmetric_l1_regularization, symmetric_l2_regularization
        self._attributes: dict[str, Any] = {"num_loss_partitions": num_loss_partitions, "adaptive": adaptive}

    def spec(
        self, head: Head, features: Any, labels: Any, mode: str, logits: Tensor, variables: Mapping[Any, Any]
    ) -> EstimatorSpec:
        """What a linear model with such logits and variables, of columns and of "bias", does in a mode. ValueError for a
        head or column of a kind that it is not for."""
        loss_type = self._loss_type(head)
        if mode != ModeKeys.TRAIN:
            return head.create_estimator_spec(features, mode, logits, labels)
        batch = self._batch(features, labels, variables, head._weight_column)  # type: ignore[attr-defined]
        ascent = DualAscent(batch, self._l1, self._l2, self._kept_as)
        train_op = ascent.step(get_global_step(), loss_type=loss_type, **self._attributes)
        spec = head.create_estimator_spec(features, mode, logits, labels, train_op_fn=lambda _: train_op)
        return spec._replace(training_chief_hooks=(*spec.training_chief_hooks, _TakeWeights(ascent, train_op)))

    def _loss_type(self, head: Head) -> str:
        if isinstance(head, BinaryClassHead):
            return "logistic_loss"
        if type(head) in (RegressionHead, OlderRegressionHead) and head.logits_dimension == 1:
            return "squared_loss"
        kinds = "two classes or one number"
        raise ValueError(f"{type(self).__name__} is for {kinds}. Unsupported head type: {type(head).__name__}")

    def _batch(self, features: Any, labels: Any, variables: Mapping[Any, Any], weight_column: Any) -> Batch:
        rows: Any = shape(labels)
        made = Features(features)
        sparse, dense = [], []
        for column in sorted((one for one in variables if one != "bias"), key=lambda one: one.name):
            parts = parts_of(variables[column][0])
            if isinstance(column, CategoricalColumn):
                sparse.append(Sparse(*_entries(column.ids(made)), parts))
            elif isinstance(column, DenseColumn) and len(column.variable_shape) == 1:
                dense.append(Dense(column.dense(made), parts))
            else:
                raise ValueError(f"{type(self).__name__} takes categorical columns and vectors. Given: {column}")
        if "bias" in variables:
            dense.append(Dense(ones([rows[0], 1]), parts_of(variables["bias"][0])))
        given = row_weights(features, weight_column)
        weights = ones([rows[0]]) if given is None else reshape(given, [-1])
        return Batch(sparse, dense, features[self._id_column], cast(reshape(labels, [-1]), dtypes.float32), weights)


def _entries(found: Any) -> tuple[Tensor, Tensor, Tensor]:
    """(examples, ids, values): each id of an example once, with the sum of its values; without those that are below 0."""
    examples, ids = found.ids.indices[:, 0], cast(reshape(found.ids.values, [-1]), dtypes.int64)
    values = ones(shape(ids)) if found.weights is None else found.weights.values
    known = greater_equal(ids, 0)
    examples, ids, values = (boolean_mask(part, known) for part in (examples, ids, values))
    width = reduce_max(ids) + 1
    pairs, place = unique(examples * width + ids)
    count: Any = shape(pairs)
    own = unsorted_segment_min(examples, place, count[0])
    return own, pairs - own * width, unsorted_segment_sum(values, place, count[0])


class _TakeWeights(SessionRunHook):
    """Has the chief give the model its weights at each step."""

    def __init__(self, ascent: DualAscent, train_op: Any):
        self._ascent, self._train_op = ascent, train_op

    def begin(self) -> None:
        self._update = self._ascent.take_weights(self._train_op)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._update)
