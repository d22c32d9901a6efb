"""`tf.feature_column.input_layer`, `linear_model` and `make_parse_example_spec`. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.feature_column.column import CategoricalColumn, DenseColumn, Features, check_batch_sizes
from tfexp.feature_column.dense import EmbeddingColumn, SharedEmbeddingColumn
from tfexp.feature_column.numeric import BucketizedColumn
from tfexp.graph.collections import GraphKeys
from tfexp.graph.scopes import add_to_collections
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import reshape, shape
from tfexp.ops.array_join import concat
from tfexp.ops.elementwise_binary import add_n
from tfexp.ops.embedding_sparse import safe_embedding_lookup_sparse
from tfexp.ops.initializers import zeros_initializer
from tfexp.ops.matmul import matmul
from tfexp.ops.nn_bias import bias_add
from tfexp.ops.partitioned_variable import PartitionedVariable
from tfexp.ops.variable_scope import get_variable, variable_scope


def ordered(feature_columns: Any) -> list[Any]:
    """The columns, one or any iterable, by name. ValueError for none, a dict, two of one name, what is no column."""
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    is_one = isinstance(feature_columns, (DenseColumn, CategoricalColumn)) or not isinstance(feature_columns, Iterable)
    columns = [feature_columns] if is_one else list(feature_columns)
    if not columns:
        raise ValueError("feature_columns must not be empty.")
    names: dict[str, Any] = {}
    for column in columns:
        if not isinstance(column, (DenseColumn, CategoricalColumn)):
            raise ValueError(f"Items of feature_columns must be a _FeatureColumn. Given (type {type(column)}): {column}.")
        if column.name in names:
            raise ValueError(f"Duplicate feature column name found for columns: {column} and {names[column.name]}. ")
        names[column.name] = column
    return sorted(columns, key=lambda column: column.name)


def _without_time(columns: list[Any]) -> list[Any]:
    """The columns. ValueError for one of sequences."""
    for column in columns:
        if column.is_sequence:
            raise ValueError(
                f"Column {column.name} is one of sequences. Take one that is not in its place, or take it with "
                f"tf.contrib.feature_column.sequence_input_layer. Given (type {type(column).__name__}): {column}"
            )
    return columns


def input_layer(
    features: Mapping[str, Any],
    feature_columns: Any,
    weight_collections: Sequence[str] | None = None,
    trainable: bool = True,
    cols_to_vars: dict[Any, Any] | None = None,
    cols_to_output_tensors: dict[Any, Any] | None = None,
) -> Tensor:
    """[batch, width]: all dense columns side by side, in the order of their names.

    Embeddings are variables `input_layer/NAME/embedding_weights`. `cols_to_vars` and `cols_to_output_tensors`, if given,
    are filled. ValueError for categorical columns, which an embedding or indicator makes dense.
    Source: `tf.feature_column.input_layer`.
    """
    columns = _without_time(ordered(feature_columns))
    for column in columns:
        if not isinstance(column, DenseColumn):
            raise ValueError(
                "Items of feature_columns must be a _DenseColumn. You can wrap a categorical column with an "
                f"embedding_column or indicator_column. Given: {column}"
            )
    made = Features(features)
    outputs = []
    with variable_scope(None, default_name="input_layer", values=list(features.values())):
        for column in columns:
            scope = column.scope_name if isinstance(column, SharedEmbeddingColumn) else column.name
            with variable_scope(None, default_name=scope):
                if isinstance(column, EmbeddingColumn):
                    table = column.table(trainable)
                    keep(table, weight_collections)
                    tensor, own = column.looked_up(made, table), [table]
                else:
                    tensor, own = column.dense(made, trainable), []
                width = int(np.prod(column.variable_shape, dtype=np.int64))
                flat = reshape(tensor, (shape(tensor)[0], width))  # type: ignore[index]
            outputs.append(flat)
            if cols_to_vars is not None:
                cols_to_vars[column] = own
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = flat
        check_batch_sizes(columns, outputs)
        return concat(outputs, 1)


def keep(variable: Any, collections: Sequence[str] | None) -> None:
    """Adds a variable, or the parts of a partitioned one, to the model's, and to the collections that were asked for."""
    wanted = dict.fromkeys([*(collections or []), GraphKeys.MODEL_VARIABLES])
    for part in variable if isinstance(variable, PartitionedVariable) else [variable]:
        add_to_collections([name for name in wanted if name != GraphKeys.GLOBAL_VARIABLES], part)


def linear_model(
    features: Mapping[str, Any],
    feature_columns: Any,
    units: int = 1,
    sparse_combiner: str = "sum",
    weight_collections: Sequence[str] | None = None,
    trainable: bool = True,
    cols_to_vars: dict[Any, Any] | None = None,
) -> Tensor:
    """[batch, units]: the sum over columns of their values times weights, and a bias; all begin at 0.

    Variables are `linear_model/NAME/weights` [width or buckets, units] and `linear_model/bias_weights`. Several ids of a row
    are combined by `sparse_combiner`: sum, mean or sqrtn. Source: `tf.feature_column.linear_model`.
    """
    columns = _without_time(ordered(feature_columns))
    made = Features(features)
    outputs = []
    with variable_scope(None, default_name="linear_model", values=list(features.values())):
        for column in columns:
            with variable_scope(None, default_name=column.name):
                weighed, weights = _weighed(column, made, units, sparse_combiner, trainable)
                keep(weights, weight_collections)
            outputs.append(weighed)
            if cols_to_vars is not None:
                cols_to_vars[column] = [weights]
        check_batch_sizes(columns, outputs)
        total = add_n(outputs, name="weighted_sum_no_bias")
        bias = get_variable("bias_weights", shape=[units], initializer=zeros_initializer(), trainable=trainable)
        keep(bias, weight_collections)
        if cols_to_vars is not None:
            cols_to_vars["bias"] = [bias]
        return bias_add(total, bias, name="weighted_sum")


def _weighed(column: Any, made: Features, units: int, combiner: str, trainable: bool) -> tuple[Any, Any]:
    """(a column times its weights, the weights)."""
    if isinstance(column, (CategoricalColumn, BucketizedColumn)):
        found = column.ids(made)
        weights = get_variable(
            "weights", (column.num_buckets, units), dtypes.float32, initializer=zeros_initializer(), trainable=trainable
        )
        result = safe_embedding_lookup_sparse(
            weights, found.ids, sparse_weights=found.weights, combiner=combiner, name="weighted_sum"
        )
        return result, weights
    tensor = column.dense(made, trainable)
    width = int(np.prod(column.variable_shape, dtype=np.int64))
    flat = reshape(tensor, (shape(tensor)[0], width))  # type: ignore[index]
    weights = get_variable("weights", [width, units], initializer=zeros_initializer(), trainable=trainable)
    return matmul(flat, weights, name="weighted_sum"), weights


def make_parse_example_spec(feature_columns: Any) -> dict[str, Any]:
    """The features that `tf.parse_example` has to read for these columns. ValueError where two of them disagree.

    Source: `tf.feature_column.make_parse_example_spec`.
    """
    spec: dict[str, Any] = {}
    for column in feature_columns:
        if not isinstance(column, (DenseColumn, CategoricalColumn)):
            raise ValueError(f"All feature_columns must be _FeatureColumn instances. Given: {column}")
        for key, value in column.spec().items():
            if key in spec and spec[key] != value:
                raise ValueError(
                    f"feature_columns contain different parse_spec for key {key}. Given {value} and {spec[key]}"
                )
            spec[key] = value
    return spec
