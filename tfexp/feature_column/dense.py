"""Categorical columns made dense: indicators and embeddings. Source: TF 1.15."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tfexp.core import dtypes
from tfexp.feature_column.categorical import WeightedCategoricalColumn
from tfexp.feature_column.column import CategoricalColumn, DenseColumn, Features
from tfexp.feature_column.numeric import BucketizedColumn
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_fill import one_hot
from tfexp.ops.embedding_sparse import safe_embedding_lookup_sparse
from tfexp.ops.initializers import truncated_normal_initializer
from tfexp.ops.reduce import reduce_sum
from tfexp.ops.sparse import sparse_slice, sparse_tensor_to_dense
from tfexp.ops.sparse_values import sparse_merge
from tfexp.ops.variable_scope import get_variable
from tfexp.train.init_from_checkpoint import init_from_checkpoint


class _Indicator(NamedTuple):
    categorical_column: Any


class IndicatorColumn(_Indicator, DenseColumn):
    """How often each id is there: [batch, num_buckets]; of weighted ids the sum of their weights."""

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"{self.categorical_column.name}_indicator"

    @property
    def is_sequence(self) -> bool:
        return bool(self.categorical_column.is_sequence)

    @property
    def variable_shape(self) -> tuple[int, ...]:
        return (1, self.categorical_column.num_buckets)

    def spec(self) -> dict[str, Any]:
        return self.categorical_column.spec()  # type: ignore[no-any-return]

    def transformed(self, features: Features) -> Any:
        found = self.categorical_column.ids(features)
        size = self.categorical_column.num_buckets
        if found.weights is not None:
            weighted = sparse_merge(sp_ids=found.ids, sp_values=found.weights, vocab_size=size)
            # Ids of -1, which stand for nothing, fall off.
            weighted = sparse_slice(weighted, [0, 0], weighted.dense_shape)
            return sparse_tensor_to_dense(weighted)
        dense = sparse_tensor_to_dense(found.ids, default_value=-1)
        return reduce_sum(one_hot(dense, depth=size, on_value=1.0, off_value=0.0), axis=[-2])

    def dense(self, features: Features, trainable: bool = True) -> Tensor:
        return features.get(self)  # type: ignore[no-any-return]


def indicator_column(categorical_column: Any) -> IndicatorColumn:
    """A categorical column as counts of its ids. ValueError for other columns. `tf.feature_column.indicator_column`."""
    if not isinstance(categorical_column, (CategoricalColumn, BucketizedColumn)):
        raise ValueError(f"Unsupported input type. Input must be a CategoricalColumn. Given: {categorical_column}")
    return IndicatorColumn(categorical_column)


class _Embedding(NamedTuple):
    categorical_column: Any
    dimension: int
    combiner: str
    initializer: Callable[..., Any]
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None
    max_norm: float | None
    trainable: bool


class EmbeddingColumn(_Embedding, DenseColumn):
    """Rows of a table that is learnt, combined: [batch, dimension]."""

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"{self.categorical_column.name}_embedding"

    @property
    def is_sequence(self) -> bool:
        return bool(self.categorical_column.is_sequence)

    @property
    def variable_shape(self) -> tuple[int, ...]:
        return (self.dimension,)

    def spec(self) -> dict[str, Any]:
        return self.categorical_column.spec()  # type: ignore[no-any-return]

    def transformed(self, features: Features) -> Any:
        return self.categorical_column.ids(features)

    def dense(self, features: Features, trainable: bool = True) -> Tensor:
        return self.looked_up(features, self.table(trainable))

    def table(self, trainable: bool) -> Any:
        """The variable `embedding_weights`, made in the current scope; from a checkpoint where the column says so."""
        shape = (self.categorical_column.num_buckets, self.dimension)
        table = get_variable(
            "embedding_weights",
            shape=shape,
            dtype=dtypes.float32,
            initializer=self.initializer,
            trainable=self.trainable and trainable,
        )
        if self.ckpt_to_load_from is not None:
            init_from_checkpoint(self.ckpt_to_load_from, {str(self.tensor_name_in_ckpt): table})
        return table

    def looked_up(self, features: Features, table: Any) -> Tensor:
        found = features.get(self)
        return safe_embedding_lookup_sparse(
            embedding_weights=table,
            sparse_ids=found.ids,
            sparse_weights=found.weights,
            combiner=self.combiner,
            name=f"{self.name}_weights",
            max_norm=self.max_norm,
        )


def _checked(
    dimension: int | None, ckpt_to_load_from: str | None, tensor_name_in_ckpt: str | None, initializer: Any, name: str
) -> Callable[..., Any]:
    if dimension is None or dimension < 1:
        raise ValueError(f"Invalid dimension {dimension}.")
    if (ckpt_to_load_from is None) != (tensor_name_in_ckpt is None):
        raise ValueError("Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.")
    if initializer is not None and not callable(initializer):
        raise ValueError(f"initializer must be callable if specified. Embedding of column_name: {name}")
    return initializer or truncated_normal_initializer(mean=0.0, stddev=1 / math.sqrt(dimension))


def embedding_column(
    categorical_column: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> EmbeddingColumn:
    """A categorical column as vectors that are learnt; several ids of a row by `combiner`: mean, sqrtn or sum.

    ValueError for a dimension below 1. Source: `tf.feature_column.embedding_column`.
    """
    initializer = _checked(dimension, ckpt_to_load_from, tensor_name_in_ckpt, initializer, categorical_column.name)
    return EmbeddingColumn(
        categorical_column, dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable
    )


class SharedEmbeddingColumn(EmbeddingColumn):
    """One of several embeddings that have one table; `collection` says which, per graph."""

    collection: str

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"{self.categorical_column.name}_shared_embedding"

    @property
    def scope_name(self) -> str:
        return self.collection

    def table(self, trainable: bool) -> Any:
        """The variable that the first of them made in this graph."""
        graph = get_default_graph()
        made = graph.get_collection_ref(self.collection)
        if not made:
            made.append(super().table(trainable))
        return made[0]


def _kind(column: Any) -> type:
    return type(column.categorical_column if isinstance(column, WeightedCategoricalColumn) else column)


def shared_embedding_columns(
    categorical_columns: Sequence[Any],
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    shared_embedding_collection_name: str | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> list[SharedEmbeddingColumn]:
    """`embedding_column`s of columns of one kind, with as many buckets each, all of one table. ValueError for others.

    Source: `tf.feature_column.shared_embedding_columns`.
    """
    ordered = sorted(categorical_columns, key=lambda column: column.name)
    names = ", ".join(column.name for column in ordered)
    initializer = _checked(dimension, ckpt_to_load_from, tensor_name_in_ckpt, initializer, names)
    for column in ordered[1:]:
        if _kind(column) is not _kind(ordered[0]):
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same type, or be "
                f"weighted_categorical_column of the same type. Given column: {ordered[0]} of type: {type(ordered[0])} does "
                f"not match given column: {column} of type: {type(column)}"
            )
        if column.num_buckets != ordered[0].num_buckets:
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same number of buckets. Given "
                f"column: {ordered[0]} with buckets: {ordered[0].num_buckets} does not match column: {column} with buckets: "
                f"{column.num_buckets}"
            )
    name = shared_embedding_collection_name or "_".join(column.name for column in ordered) + "_shared_embedding"
    made = []
    for column in categorical_columns:
        one = SharedEmbeddingColumn(
            column, dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable
        )
        one.collection = name
        made.append(one)
    return made
