"""`tf.contrib.feature_column`: the input layer of sequences, and contexts beside them. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.feature_column.column import DenseColumn, Features
from tfexp.feature_column.dense import EmbeddingColumn
from tfexp.feature_column.model import keep, ordered, variables_of
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import expand_dims, reshape, shape
from tfexp.ops.array_join import concat
from tfexp.ops.array_tile import tile
from tfexp.ops.check_compare import assert_equal
from tfexp.ops.variable_scope import variable_scope


def sequence_input_layer(
    features: Mapping[str, Any],
    feature_columns: Any,
    weight_collections: Sequence[str] | None = None,
    trainable: bool = True,
) -> tuple[Tensor, Tensor]:
    """(float32 [batch, time, width], int64 [batch]): all columns of sequences side by side, by name, and their lengths.

    Embeddings are variables `sequence_input_layer/NAME/embedding_weights`. ValueError for columns without a time, or that
    are categorical; InvalidArgumentError of the run where the columns' lengths differ.
    Source: `tf.contrib.feature_column.sequence_input_layer`.
    """
    columns = ordered(feature_columns)
    for column in columns:
        if not (isinstance(column, DenseColumn) and column.is_sequence):
            raise ValueError(
                "All feature_columns must be sequences made dense: sequence_numeric_column, or embedding_column or "
                f"indicator_column of a sequence_categorical_column_with_*. Given (type {type(column).__name__}): {column}"
            )
    made = Features(features)
    outputs, lengths = [], []
    with variable_scope(None, default_name="sequence_input_layer", values=list(features.values())):
        for column in columns:
            with variable_scope(None, default_name=column._var_scope_name) as scope:
                tensor = column.dense(made, trainable)
                if isinstance(column, EmbeddingColumn):
                    keep(variables_of(scope), weight_collections)
                lengths.append(column.lengths(made))
                width = column.variable_shape.num_elements()
                outputs.append(reshape(tensor, concat([shape(tensor)[:2], [width]], 0)))  # type: ignore[index]
        told = "The columns' sequences differ in length."
        checks = [assert_equal(lengths[0], other, message=told) for other in lengths[1:]]
        with_lengths = with_dependencies(checks, lengths[0]) if checks else lengths[0]
        return concat(outputs, -1), with_lengths


def concatenate_context_input(context_input: Any, sequence_input: Any) -> Tensor:
    """[batch, time, width + n]: each step of `sequence_input` [batch, time, width] with its example's context [batch, n].

    Both float32; TypeError for other types, ValueError for other ranks.
    Source: `tf.contrib.feature_column.concatenate_context_input`.
    """
    context, steps = convert_to_tensor(context_input), convert_to_tensor(sequence_input)
    for name, tensor, rank in (("sequence_input", steps, 3), ("context_input", context, 2)):
        if tensor.get_shape().ndims not in (None, rank):
            raise ValueError(f"{name} must have rank {rank}, but has the shape {tensor.get_shape()}")
        if tensor.dtype.base_dtype is not dtypes.float32:
            raise TypeError(f"{name} must have dtype float32; got {tensor.dtype.base_dtype}.")
    times: Any = shape(steps)[1]  # type: ignore[index]
    return concat([steps, tile(expand_dims(context, 1), concat([[1], [times], [1]], 0))], 2)
