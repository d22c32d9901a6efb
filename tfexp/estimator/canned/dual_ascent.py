"""The steps of stochastic dual coordinate ascent, and what they keep. Source: TF 1.15.

Examples are known again by their ids: the dual variable of each is kept in a table. Weights are kept twice: as the ascent
makes them, and for predictions, where l1 takes from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from tfexp.core import dtypes
from tfexp.graph.dependencies import group
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import colocate_with, control_dependencies, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import reshape
from tfexp.ops.array_fill import zeros_like
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
from tfexp.ops.reduce import reduce_sum
from tfexp.ops.scatter import scatter_add
from tfexp.ops.sdca import sdca_fprint, sdca_optimizer_v2
from tfexp.ops.state import assign, assign_add
from tfexp.ops.summary import scalar
from tfexp.ops.variable_base import Variable

# What sdca_fprint never gives.
_EMPTY, _DELETED = [0, 0], [1, 1]


class Sparse(NamedTuple):
    """Of each entry the example, the id and the value (None: all 1); and the weights of ids, in their parts."""

    examples: Tensor
    ids: Tensor
    values: Tensor | None
    weights: list[Any]


class Dense(NamedTuple):
    """[batch, width], and the weights in their parts."""

    values: Tensor
    weights: list[Any]


class Batch(NamedTuple):
    """The features of examples; their ids, strings; labels and weights, float32 [batch]."""

    sparse: list[Sparse]
    dense: list[Dense]
    ids: Any
    labels: Tensor
    weights: Tensor

    @property
    def features(self) -> list[Any]:
        return [*self.sparse, *self.dense]


def parts_of(variable: Any) -> list[Any]:
    """The variables that a variable, a list of its parts, or a PartitionedVariable is made of."""
    return [variable] if isinstance(variable, Variable) else list(variable)


class DualAscent:
    """The state of the ascent, and a step of it. `kept_as`: what the names of the weights that it keeps end with."""

    def __init__(self, batch: Batch, l1: float, l2: float, kept_as: str):
        self._batch, self._l1, self._l2 = batch, l1, l2
        self._unshrunk = [[_twin(part, kept_as) for part in feature.weights] for feature in batch.features]
        with name_scope(""):  # checkpoints have it by that name, wherever the model is
            self._table = MutableDenseHashTable(
                dtypes.int64, dtypes.float32, [0.0] * 4, _EMPTY, _DELETED, name="ShardedMutableHashTable-1-of-1"
            )
        scalar("approximate_duality_gap", self.gap())
        scalar("examples_seen", self._table.size())

    def step(self, global_step: Any, name: str | None = None, **attributes: Any) -> Operation:
        """Takes a turn for each example of the batch, and counts the step if there is a `global_step`.

        The attributes are those of the op: the loss, how many partitions, whether adaptive.
        """
        batch, kept = self._batch, self._unshrunk
        with name_scope(name, "sdca/minimize"):
            keys = sdca_fprint(reshape(batch.ids, [-1]))
            present = [unique(feature.ids)[0] for feature in batch.sparse]
            state, sparse_changes, dense_changes = sdca_optimizer_v2(
                [feature.examples for feature in batch.sparse],
                [feature.ids for feature in batch.sparse],
                [feature.values for feature in batch.sparse if feature.values is not None],
                [feature.values for feature in batch.dense],
                batch.weights,
                batch.labels,
                present,
                [_rows(parts, ids) for parts, ids in zip(kept, present, strict=False)],
                [whole(parts) for parts in kept[len(batch.sparse) :]],
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
            if global_step is None:
                return group(*updates)
            with control_dependencies(updates):
                return assign_add(global_step, 1, name=name).op

    def take_weights(self, train_op: Any) -> Operation:
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

    def gap(self) -> Tensor:
        """How far the loss is from the best at most, for each unit of weight: nan before there were any examples."""
        with name_scope("sdca/approximate_duality_gap"):
            _, states = self._table.export()
            sums = reduce_sum(cast(states, dtypes.float64), 0)
            l1, l2 = self.norms()
            gap: Tensor = (sums[1] + sums[2] + self._l1 * l1 + self._l2 * l2) / sums[3]
            return gap

    def norms(self) -> tuple[Tensor, Tensor]:
        """Of the model's weights the sums of sizes and of squares, float64."""
        weights = [cast(part, dtypes.float64) for feature in self._batch.features for part in feature.weights]
        return add_n([reduce_sum(abs_(one)) for one in weights]), add_n([reduce_sum(square(one)) for one in weights])


def _twin(part: Any, kept_as: str) -> Variable:
    with colocate_with(part):
        return Variable(zeros_like(part.initialized_value()), name=f"{part.op.name}{kept_as}")


def _length(part: Any) -> int:
    return int(part.shape.as_list()[0])


def whole(parts: Sequence[Any]) -> Any:
    """Weights that may be cut along their first axis."""
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
