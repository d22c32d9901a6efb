"""What libraries take from `tensorflow.python.ops.metrics_impl` to make metrics of their own. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.graph.replica_modes import across_replicas
from tfexp.metrics import streaming
from tfexp.ops.array_identity import identity


def metric_variable(shape: Any, dtype: Any, validate_shape: bool = True, name: str | None = None) -> Any:
    """A local variable of zeros in which batches add up."""
    return streaming.metric_variable(shape, dtype, name, validate_shape)


def _aggregate_variable(v: Any, collections: Any) -> Any:
    """The value of such a variable, of all replicas, kept in the collections."""
    value, _ = streaming.published(across_replicas(identity, v), None, collections, None)
    return value
