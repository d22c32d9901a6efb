"""How the values of replicas become one: `tf.distribute.ReduceOp`, `tf.distribute.get_loss_reduction`. Source: TF 1.15."""

from __future__ import annotations

import enum
from typing import Any

from tfexp.graph.replica_modes import averages_losses
from tfexp.ops.variable_base import VariableAggregation


class ReduceOp(enum.Enum):
    """The sum of the replicas' values, or their mean."""

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation: VariableAggregation) -> ReduceOp:
        """How values for a variable with this aggregation are combined. ValueError for one without, or with one value."""
        if aggregation not in (VariableAggregation.SUM, VariableAggregation.MEAN):
            raise ValueError(
                f"Could not convert from `tf.VariableAggregation` {aggregation} to `tf.distribute.ReduceOp` type"
            )
        return ReduceOp(aggregation.name)

    @staticmethod
    def of(given: Any) -> ReduceOp:
        """`given`, by name or as a `VariableAggregation` too. ValueError for what is neither sum nor mean."""
        if isinstance(given, ReduceOp):
            return given
        name = str(getattr(given, "name", given)).upper()
        try:
            return ReduceOp(name)
        except ValueError:
            raise ValueError(f"{given!r} is not a valid ReduceOp: it must be ReduceOp.SUM or ReduceOp.MEAN") from None


def get_loss_reduction() -> ReduceOp:
    """How the replicas' losses make up the whole one: what the last `tf.losses` in this graph was asked for.

    Only an Estimator's training looks at losses so; elsewhere each replica's loss is its share of the sum: `ReduceOp.SUM`.
    """
    return ReduceOp.MEAN if averages_losses() else ReduceOp.SUM
