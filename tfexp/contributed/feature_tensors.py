"""Tensors of feature columns, under the names that `tf.contrib.layers` gave them. Source: TF 1.15.

The columns are those of `tf.feature_column`, and so are the names of variables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tfexp.contributed.feature_columns import check_feature_columns
from tfexp.feature_column.categorical import CrossedColumn
from tfexp.feature_column.column import FeatureColumn, Features
from tfexp.feature_column.model import input_in_scope, linear_in_scope, make_parse_example_spec
from tfexp.feature_column.numeric import BucketizedColumn
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import reshape, shape
from tfexp.ops.array_identity import placeholder
from tfexp.ops.array_join import stack
from tfexp.ops.parsing import VarLenFeature, parse_example
from tfexp.ops.sparse import sparse_reshape
from tfexp.ops.sparse_placeholder import sparse_placeholder
from tfexp.ops.variable_scope import variable_scope


def create_feature_spec_for_parsing(feature_columns: Iterable[Any]) -> dict[str, Any]:
    """The features that `tf.parse_example` has to read for these columns."""
    return make_parse_example_spec(feature_columns)


def parse_feature_columns_from_examples(
    serialized: Any, feature_columns: Iterable[Any], name: str | None = None, example_names: Any = None
) -> dict[str, Any]:
    """By name, what the columns need of tf.Examples, string [batch]."""
    parsed: dict[str, Any] = parse_example(serialized, make_parse_example_spec(feature_columns), name, example_names)
    return parsed


def make_place_holder_tensors_for_base_features(feature_columns: Iterable[Any]) -> dict[str, Any]:
    """By name, placeholders for the features that the columns need: sparse ones, or [batch, size]."""
    return {
        name: sparse_placeholder(feature.dtype, name=f"Placeholder_{name}")
        if isinstance(feature, VarLenFeature)
        else placeholder(feature.dtype, (None, feature.shape[0]), name=f"Placeholder_{name}")
        for name, feature in make_parse_example_spec(feature_columns).items()
    }


def transform_features(features: Mapping[str, Any], feature_columns: Iterable[Any]) -> dict[Any, Any]:
    """By column, what the columns make of the features before they become inputs of a model, as ids or buckets."""
    columns = list(feature_columns)
    check_feature_columns(columns)
    made = Features(features)
    return {column: made.get(column) for column in sorted(columns, key=lambda column: column.name)}


def input_from_feature_columns(
    columns_to_tensors: Mapping[str, Any],
    feature_columns: Any,
    weight_collections: Sequence[str] | None = None,
    trainable: bool = True,
    scope: Any = None,
    cols_to_outs: dict[Any, Any] | None = None,
) -> Tensor:
    """[batch, width]: as `tf.feature_column.input_layer`; `cols_to_outs`, if given, gets what each column gives."""
    with variable_scope(scope, default_name="input_from_feature_columns", values=list(columns_to_tensors.values())):
        return input_in_scope(columns_to_tensors, feature_columns, weight_collections, trainable, None, cols_to_outs)


def sequence_input_from_feature_columns(
    columns_to_tensors: Mapping[str, Any],
    feature_columns: Any,
    weight_collections: Sequence[str] | None = None,
    trainable: bool = True,
    scope: Any = None,
) -> Tensor:
    """[batch, time, width]: as `input_from_feature_columns` of the examples of each step.

    The features are [batch, time] or [batch, time, size], dense or sparse. ValueError for other ranks, and for bucketized
    and crossed columns.
    """
    columns = list(feature_columns)
    for column in columns:
        _check_sequence_column(column)
    features = {name: columns_to_tensors[name] for name in sorted(make_parse_example_spec(columns))}
    with variable_scope(scope, default_name="sequence_input_from_feature_columns", values=list(features.values())):
        steps = {name: _steps(name, feature) for name, feature in features.items()}
        inputs = input_in_scope(steps, columns, weight_collections, trainable, None)
        first: Any = next(iter(features.values()))
        size: Any = shape(first)
        return reshape(inputs, [size[0], size[1], inputs.get_shape()[1].value])


def _check_sequence_column(column: Any) -> None:
    if isinstance(column, BucketizedColumn | CrossedColumn):
        raise ValueError(f"Column {column.name} is {type(column).__name__}, which is not supported for sequences.")
    for part in column.parents if isinstance(column, FeatureColumn) else ():
        _check_sequence_column(part)


def _steps(name: str, feature: Any) -> Any:
    """The steps of all examples, [batch * time, size]."""
    rank = feature.get_shape().ndims
    if rank not in (2, 3):
        raise ValueError(f"The feature {name} of a sequence is to be [batch, time] or [batch, time, size], not {feature}")
    if isinstance(feature, SparseTensor):
        sizes = feature.dense_shape
        return sparse_reshape(feature, stack([sizes[0] * sizes[1], sizes[2] if rank == 3 else 1]))
    return reshape(feature, [-1, feature.get_shape()[2].value or shape(feature)[2] if rank == 3 else 1])


def weighted_sum_from_feature_columns(
    columns_to_tensors: Mapping[str, Any],
    feature_columns: Any,
    num_outputs: int,
    weight_collections: Sequence[str] | None = None,
    trainable: bool = True,
    scope: Any = None,
) -> tuple[Tensor, dict[Any, list[Any]], Any]:
    """([batch, num_outputs], {column: its weights}, the bias): as `tf.feature_column.linear_model`."""
    variables: dict[Any, Any] = {}
    with variable_scope(scope, default_name="weighted_sum_from_feature_columns", values=list(columns_to_tensors.values())):
        outputs = linear_in_scope(
            columns_to_tensors, feature_columns, num_outputs, "sum", weight_collections, trainable, variables
        )
    [bias] = variables.pop("bias")
    return outputs, variables, bias
