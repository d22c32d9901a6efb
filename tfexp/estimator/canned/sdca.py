"""Linear models by stochastic dual coordinate ascent: `tf.estimator.experimental.LinearSDCA`. Source: TF 1.15.

Examples are known again by their ids: the dual variable of each is kept in a table. Weights are kept twice: as the ascent
makes them, and for predictions, where l1 takes from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tfexp.core import dtypes
from tfexp.estimator.heads.classification import BinaryClassHead
from tfexp.estimator.heads.head import Head
from tfexp.estimator.heads.labels import row_weights
from tfexp.estimator.heads.regression import RegressionHead
from tfexp.estimator.modes import ModeKeys
from tfexp.estimator.spec import EstimatorSpec
from tfexp.feature_column.column import CategoricalColumn, DenseColumn, Features
from tfexp.graph.dependencies import group
from tfexp.graph.scopes import colocate_with, control_dependencies, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import reshape, shape
from tfexp.ops.array_fill import ones, zeros_like
from tfexp.ops.array_gather import gather
from tfexp.ops.array_join import concat
from tfexp.ops.array_mask import boolean_mask
from tfexp.ops.array_split import split
from tfexp.ops.array_unique import unique
from tfexp.ops.cast import cast
from tfexp.ops.comparison import greater_equal, less
from tfexp.ops.elementwise_binary import add_n, maximum
from tfexp.ops.elementwise_unary import abs as abs_
from tfexp.ops.elementwise_unary import sign, square
from tfexp.ops.embedding import embedding_lookup
from tfexp.ops.logical import logical_and
from tfexp.ops.lookup import MutableDenseHashTable
from tfexp.ops.reduce import reduce_max, reduce_sum
from tfexp.ops.scatter import scatter_add
from tfexp.ops.sdca import sdca_fprint, sdca_optimizer_v2
from tfexp.ops.segment import unsorted_segment_min, unsorted_segment_sum
from tfexp.ops.state import assign, assign_add
from tfexp.ops.summary import scalar
from tfexp.ops.variable_base import Variable
from tfexp.train.global_step import get_global_step
from tfexp.train.session_hooks import SessionRunArgs, SessionRunContext, SessionRunHook

# What sdca_fprint never gives.
_EMPTY, _DELETED = [0, 0], [1, 1]


class LinearSDCA:
    """An optimizer for `LinearClassifier` of two classes and `LinearRegressor` of one number: dual coordinate ascent.

    `example_id_column` names the feature with the ids of examples, strings [batch]. `num_loss_partitions` is the number of
    workers. `symmetric_l2_regularization` must be above 0, and is best above 1; ValueError for numbers below. With
    `adaptive`, examples of more use have more turns. One table keeps the state, whatever `num_table_shards` is.
    """

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
        self._attributes = {"num_loss_partitions": num_loss_partitions, "adaptive": adaptive}

    def spec(
        self, head: Head, features: Any, labels: Any, mode: str, logits: Tensor, variables: Mapping[Any, Any]
    ) -> EstimatorSpec:
        """What a linear model with such logits and variables, of columns and of "bias", does in a mode. ValueError for a
        head or column of a kind that it is not for."""
        loss_type = _loss_type(head)
        if mode != ModeKeys.TRAIN:
            return head.create_estimator_spec(features, mode, logits, labels)
        batch = _batch(features, labels, variables, head._weight_column, self._id_column)  # type: ignore[attr-defined]
        ascent = _Ascent(batch, self._l1, self._l2)
        train_op = ascent.step(loss_type=loss_type, **self._attributes)
        spec = head.create_estimator_spec(features, mode, logits, labels, train_op_fn=lambda _: train_op)
        return spec._replace(training_chief_hooks=(*spec.training_chief_hooks, _TakeWeights(ascent, train_op)))


def _loss_type(head: Head) -> str:
    if isinstance(head, BinaryClassHead):
        return "logistic_loss"
    if type(head) is RegressionHead and head.logits_dimension == 1:
        return "squared_loss"
    raise ValueError(f"LinearSDCA is for two classes or one number. Unsupported head type: {type(head).__name__}")


class _Sparse(NamedTuple):
    """Of each entry the example, the id and the value; and the weights of ids, in their parts."""

    examples: Tensor
    ids: Tensor
    values: Tensor
    weights: list[Any]


class _Dense(NamedTuple):
    """[batch, width], and the weights in their parts."""

    values: Tensor
    weights: list[Any]


class _Batch(NamedTuple):
    sparse: list[_Sparse]
    dense: list[_Dense]
    ids: Any
    labels: Tensor
    weights: Tensor

    @property
    def features(self) -> list[Any]:
        return [*self.sparse, *self.dense]


def _batch(features: Any, labels: Any, variables: Mapping[Any, Any], weight_column: Any, id_column: str) -> _Batch:
    rows: Any = shape(labels)
    made = Features(features)
    sparse, dense = [], []
    for column in sorted((one for one in variables if one != "bias"), key=lambda one: one.name):
        parts = _parts(variables[column][0])
        if isinstance(column, CategoricalColumn):
            sparse.append(_Sparse(*_entries(column.ids(made)), parts))
        elif isinstance(column, DenseColumn) and len(column.variable_shape) == 1:
            dense.append(_Dense(column.dense(made), parts))
        else:
            raise ValueError(f"LinearSDCA takes categorical columns and vectors. Given: {column}")
    dense.append(_Dense(ones([rows[0], 1]), _parts(variables["bias"][0])))
    given = row_weights(features, weight_column)
    weights = ones([rows[0]]) if given is None else reshape(given, [-1])
    return _Batch(sparse, dense, features[id_column], cast(reshape(labels, [-1]), dtypes.float32), weights)


def _parts(variable: Any) -> list[Any]:
    return [variable] if isinstance(variable, Variable) else list(variable)


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


class _Ascent:
    """The state of the ascent, and a step of it."""

    def __init__(self, batch: _Batch, l1: float, l2: float):
        self._batch, self._l1, self._l2 = batch, l1, l2
        self._unshrunk = [[_twin(part) for part in feature.weights] for feature in batch.features]
        with name_scope(""):  # checkpoints have it by that name, wherever the model is
            self._table = MutableDenseHashTable(
                dtypes.int64, dtypes.float32, [0.0] * 4, _EMPTY, _DELETED, name="ShardedMutableHashTable-1-of-1"
            )
        scalar("approximate_duality_gap", self._gap())
        scalar("examples_seen", self._table.size())

    def step(self, **attributes: Any) -> Any:
        """Takes a turn for each example of the batch, and counts the step."""
        batch, kept = self._batch, self._unshrunk
        with name_scope("sdca/minimize"):
            keys = sdca_fprint(reshape(batch.ids, [-1]))
            present = [unique(feature.ids)[0] for feature in batch.sparse]
            state, sparse_changes, dense_changes = sdca_optimizer_v2(
                [feature.examples for feature in batch.sparse],
                [feature.ids for feature in batch.sparse],
                [feature.values for feature in batch.sparse],
                [feature.values for feature in batch.dense],
                batch.weights,
                batch.labels,
                present,
                [_rows(parts, ids) for parts, ids in zip(kept, present, strict=False)],
                [_whole(parts) for parts in kept[len(batch.sparse) :]],
                self._table.lookup(keys),
                l1=self._l1,
                l2=self._l2,
                num_inner_iterations=1,
                **attributes,
            )
            with control_dependencies([state]):
                updates = [self._table.insert(keys, state)]
                for parts, ids, change in zip(kept, present, sparse_changes, strict=False):
                    updates += _add_rows(parts, ids, change)
                for parts, change in zip(kept[len(batch.sparse) :], dense_changes, strict=True):
                    changes = split(change, [_length(part) for part in parts])
                    updates += [assign_add(part, one) for part, one in zip(parts, changes, strict=True)]
            with control_dependencies(updates):
                return assign_add(get_global_step(), 1).op

    def take_weights(self, train_op: Any) -> Any:
        """After that, gives the model the weights, less what l1 takes of them."""
        with control_dependencies([train_op]):
            updates = []
            for weight, unshrunk in self._pairs():
                with colocate_with(weight):
                    value = unshrunk.read_value()
                    if self._l1 > 0:
                        value = sign(value) * maximum(0.0, abs_(value) - self._l1 / self._l2)
                updates.append(assign(weight, value))
            return group(*updates)

    def _pairs(self) -> Iterator[tuple[Any, Any]]:
        for feature, parts in zip(self._batch.features, self._unshrunk, strict=True):
            yield from zip(feature.weights, parts, strict=True)

    def _gap(self) -> Tensor:
        """How far the loss is from the best at most, for each unit of weight: nan before there were any examples."""
        with name_scope("sdca/approximate_duality_gap"):
            _, states = self._table.export()
            sums = reduce_sum(cast(states, dtypes.float64), 0)
            weights = [cast(part, dtypes.float64) for feature in self._batch.features for part in feature.weights]
            l1 = self._l1 * add_n([reduce_sum(abs_(one)) for one in weights])
            l2 = self._l2 * add_n([reduce_sum(square(one)) for one in weights])
            gap: Tensor = (sums[1] + sums[2] + l1 + l2) / sums[3]
            return gap


def _twin(part: Any) -> Variable:
    with colocate_with(part):
        return Variable(zeros_like(part.initialized_value()), name=f"{part.op.name}_unshrunk")


def _length(part: Any) -> int:
    return int(part.shape.as_list()[0])


def _whole(parts: Sequence[Any]) -> Any:
    return parts[0] if len(parts) == 1 else concat(parts, 0)


def _rows(parts: Sequence[Any], ids: Tensor) -> Tensor:
    return gather(parts[0], ids) if len(parts) == 1 else embedding_lookup(list(parts), ids, partition_strategy="div")


def _add_rows(parts: Sequence[Any], ids: Tensor, change: Tensor) -> list[Any]:
    if len(parts) == 1:
        return [scatter_add(parts[0], ids, change)]
    updates = []
    ends = np.cumsum([_length(part) for part in parts]).tolist()
    for part, end in zip(parts, ends, strict=True):
        start = end - _length(part)
        own = logical_and(greater_equal(ids, start), less(ids, end))
        updates.append(scatter_add(part, boolean_mask(ids, own) - start, boolean_mask(change, own)))
    return updates


class _TakeWeights(SessionRunHook):
    """Has the chief give the model its weights at each step."""

    def __init__(self, ascent: _Ascent, train_op: Any):
        self._ascent, self._train_op = ascent, train_op

    def begin(self) -> None:
        self._update = self._ascent.take_weights(self._train_op)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._update)
