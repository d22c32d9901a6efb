"""Categorical columns made dense: indicators and embeddings. Source: TF 1.15."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.feature_column.categorical import WeightedCategoricalColumn
from tfexp.feature_column.column import CategoricalColumn, DenseColumn, Features
from tfexp.feature_column.sequence import DenseAndLengths, sequence_lengths
from tfexp.feature_column.serialization import in_configs
from tfexp.graph.scopes import executing_eagerly, get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_fill import one_hot
from tfexp.ops.array_gather import scatter_nd
from tfexp.ops.embedding_sparse import safe_embedding_lookup_sparse
from tfexp.ops.initializers import truncated_normal_initializer
from tfexp.ops.reduce import reduce_sum
from tfexp.ops.sparse import sparse_slice, sparse_tensor_to_dense
from tfexp.ops.sparse_values import sparse_merge
from tfexp.ops.variable_scope import get_variable
from tfexp.train.assignment_maps import init_from_checkpoint


class OfCategorical(DenseColumn):
    """What is made of a categorical column, which may be one of sequences."""

    TensorSequenceLengthPair: ClassVar[type[DenseAndLengths]] = DenseAndLengths
    _kind: ClassVar[str]
    categorical_column: Any

    @property
    def is_sequence(self) -> bool:
        return bool(self.categorical_column.is_sequence)

    def spec(self) -> dict[str, Any]:
        return self.categorical_column.spec()  # type: ignore[no-any-return]

    def check_without_time(self, layer: str, of_sequences: str) -> None:
        if self.is_sequence:
            prefix = "_" if layer == "input_layer" else ""
            raise ValueError(
                f"In {self._kind}: {self.name}. categorical_column must not be of type {prefix}SequenceCategoricalColumn. "
                f"Suggested fix A: If you wish to use {layer}, use a non-sequence categorical_column_with_*. Suggested fix "
                f"B: If you wish to create sequence input, use {of_sequences} instead of {layer}. Given (type "
                f"{type(self.categorical_column)}): {self.categorical_column}"
            )

    def lengths(self, features: Features) -> Tensor:
        """int64 [batch]: how long each example's sequence is."""
        return sequence_lengths(self.categorical_column.ids(features).ids)

    def with_state(self, features: Features, state_manager: Any) -> Tensor:
        """The column as a tensor, of the variables that `create_state` made."""
        return self.dense(features)

    def get_dense_tensor(self, transformation_cache: Features, state_manager: Any = None) -> Tensor:
        self.check_without_time("DenseFeatures", "SequenceFeatures")
        return self.with_state(transformation_cache, state_manager)

    def get_sequence_dense_tensor(self, transformation_cache: Features, state_manager: Any = None) -> DenseAndLengths:
        return self._with_lengths(self.with_state, transformation_cache, state_manager)

    def _get_dense_tensor(self, inputs: Features, weight_collections: Any = None, trainable: bool | None = None) -> Tensor:
        self.check_without_time("input_layer", "sequence_input_layer")
        return self.dense(inputs, trainable is not False)

    def _get_sequence_dense_tensor(
        self, inputs: Features, weight_collections: Any = None, trainable: bool | None = None
    ) -> DenseAndLengths:
        return self._with_lengths(self.dense, inputs, trainable is not False)

    def _with_lengths(self, dense: Callable[..., Tensor], features: Features, how: Any) -> DenseAndLengths:
        if not self.is_sequence:
            raise ValueError(
                f"In {self._kind}: {self.name}. categorical_column must be of type SequenceCategoricalColumn to use "
                "SequenceFeatures. Suggested fix: Use one of sequence_categorical_column_with_*. Given (type "
                f"{type(self.categorical_column)}): {self.categorical_column}"
            )
        return DenseAndLengths(dense(features, how), self.lengths(features))


class _Indicator(NamedTuple):
    categorical_column: Any


@in_configs
class IndicatorColumn(_Indicator, OfCategorical):
    """How often each id is there: [batch, num_buckets]; of weighted ids the sum of their weights."""

    _kind = "indicator_column"

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"{self.categorical_column.name}_indicator"

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape([1, self.categorical_column.num_buckets])

    def transformed(self, features: Features) -> Any:
        found = self.categorical_column.ids(features)
        size = self.categorical_column.num_buckets
        if found.weights is not None:
            weighted = sparse_merge(sp_ids=found.ids, sp_values=found.weights, vocab_size=size)
            # Ids of -1, which stand for nothing, fall off.
            weighted = sparse_slice(weighted, [0, 0], weighted.dense_shape)
            return scatter_nd(weighted.indices, weighted.values, weighted.dense_shape)
        dense = sparse_tensor_to_dense(found.ids, default_value=-1)
        return reduce_sum(one_hot(dense, depth=size, on_value=1.0, off_value=0.0), axis=[-2])

    def dense(self, features: Features, trainable: bool = True) -> Tensor:
        return features.get(self)  # type: ignore[no-any-return]


def indicator_column(categorical_column: Any) -> IndicatorColumn:
    """A categorical column as counts of its ids. ValueError for other columns. `tf.feature_column.indicator_column`."""
    if not isinstance(categorical_column, CategoricalColumn):
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


class OfTable(OfCategorical):
    """Rows of a table, for each id one, combined: [batch, columns of the table]."""

    _kind = "embedding_column"
    combiner: str
    max_norm: float | None

    def transformed(self, features: Features) -> Any:
        return features.get(self.categorical_column)

    def looked_up(self, features: Features, table: Any) -> Tensor:
        found = self.categorical_column.ids(features)
        return safe_embedding_lookup_sparse(
            embedding_weights=table,
            sparse_ids=found.ids,
            sparse_weights=found.weights,
            combiner=self.combiner,
            name=f"{self.name}_weights",
            max_norm=self.max_norm,
        )


@in_configs
class EmbeddingColumn(_Embedding, OfTable):
    """Rows of a table that is learnt, combined: [batch, dimension]."""

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"{self.categorical_column.name}_embedding"

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape([self.dimension])

    def create_state(self, state_manager: Any) -> None:
        state_manager.create_variable(
            self,
            name="embedding_weights",
            shape=(self.categorical_column.num_buckets, self.dimension),
            dtype=dtypes.float32,
            trainable=self.trainable,
            use_resource=True,
            initializer=self.initializer,
        )
        if self.ckpt_to_load_from is not None:
            table = state_manager.get_variable(self, "embedding_weights")
            init_from_checkpoint(self.ckpt_to_load_from, {str(self.tensor_name_in_ckpt): table})

    def dense(self, features: Features, trainable: bool = True) -> Tensor:
        return self.looked_up(features, self.table(trainable))

    def with_state(self, features: Features, state_manager: Any) -> Tensor:
        return self.looked_up(features, state_manager.get_variable(self, "embedding_weights"))

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


def checked_embedding(
    dimension: int | None, ckpt_to_load_from: str | None, tensor_name_in_ckpt: str | None, initializer: Any, of: str = ""
) -> Callable[..., Any]:
    """The initializer of an embedding. ValueError for what it cannot be; of: what the message says of it."""
    if dimension is None or dimension < 1:
        raise ValueError(f"Invalid dimension {dimension}.")
    if (ckpt_to_load_from is None) != (tensor_name_in_ckpt is None):
        raise ValueError("Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.")
    if initializer is not None and not callable(initializer):
        raise ValueError(f"initializer must be callable if specified.{of}")
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
    of = f" Embedding of column_name: {categorical_column.name}"
    initializer = checked_embedding(dimension, ckpt_to_load_from, tensor_name_in_ckpt, initializer, of)
    return EmbeddingColumn(
        categorical_column, dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable
    )


class SharedEmbeddingColumn(EmbeddingColumn):
    """One of several embeddings that have one table; `collection` says which, per graph."""

    shared_embedding_collection_name: str
    _is_v2_column = False

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"{self.categorical_column.name}_shared_embedding"

    @property
    def _var_scope_name(self) -> str:
        return self.shared_embedding_collection_name

    def table(self, trainable: bool) -> Any:
        """The variable that the first of them made in this graph."""
        graph = get_default_graph()
        made = graph.get_collection_ref(self.shared_embedding_collection_name)
        if not made:
            made.append(super().table(trainable))
        return made[0]


def _kind(column: Any) -> type:
    return type(column.categorical_column if isinstance(column, WeightedCategoricalColumn) else column)


def name_of_shared(categorical_columns: Sequence[Any], given: str | None) -> str:
    """What the table of several columns is called. ValueError if their kinds differ, RuntimeError in eager execution."""
    if executing_eagerly():
        raise RuntimeError("shared_embedding_columns are not supported when eager execution is enabled.")
    ordered = sorted(categorical_columns, key=lambda column: column.name)
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
    return given or "_".join(column.name for column in ordered) + "_shared_embedding"


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
    initializer = checked_embedding(dimension, ckpt_to_load_from, tensor_name_in_ckpt, initializer)
    name = name_of_shared(categorical_columns, shared_embedding_collection_name)
    made = []
    for column in categorical_columns:
        one = SharedEmbeddingColumn(
            column, dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable
        )
        one.shared_embedding_collection_name = name
        made.append(one)
    return made
