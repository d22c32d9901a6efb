"""`tf.feature_column.input_layer`, `linear_model` and `make_parse_example_spec`. Source: TF 1.15."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tfexp.feature_column.column import (
    CategoricalColumn,
    DenseColumn,
    FeatureColumn,
    Features,
    SparseIds,
    check_batch_sizes,
)
from tfexp.feature_column.dense import EmbeddingColumn
from tfexp.graph.collections import GraphKeys
from tfexp.graph.scopes import get_collection, get_collection_ref, name_scope
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import reshape, shape
from tfexp.ops.array_join import concat
from tfexp.ops.elementwise_binary import add_n
from tfexp.ops.embedding_sparse import safe_embedding_lookup_sparse
from tfexp.ops.initializers import zeros_initializer
from tfexp.ops.matmul import matmul
from tfexp.ops.nn_bias import bias_add
from tfexp.ops.partitioned_variable import PartitionedVariable
from tfexp.ops.sparse import sparse_reshape
from tfexp.ops.variable_scope import VariableScope, get_variable, variable_scope


def ordered(feature_columns: Any, kind: str = "_FeatureColumn") -> list[Any]:
    """The columns, one or any iterable, by name. ValueError for none, a dict, two of one name, what is no column.

    kind: what messages call a column.
    """
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    is_one = isinstance(feature_columns, FeatureColumn) or not isinstance(feature_columns, Iterable)
    columns = [feature_columns] if is_one else list(feature_columns)
    if not columns:
        raise ValueError("feature_columns must not be empty.")
    names: dict[str, Any] = {}
    for column in columns:
        if not isinstance(column, FeatureColumn):
            raise ValueError(f"Items of feature_columns must be a {kind}. Given (type {type(column)}): {column}.")
        if column.name in names:
            raise ValueError(f"Duplicate feature column name found for columns: {column} and {names[column.name]}. ")
        names[column.name] = column
    return sorted(columns, key=lambda column: column.name)


def check_weighable(column: Any, mark: str = "") -> None:
    """ValueError for a column of neither numbers nor ids, which no linear model has weights for. mark: before the kinds."""
    if not isinstance(column, (DenseColumn, CategoricalColumn)):
        kinds = f"{mark}DenseColumn or {mark}CategoricalColumn"
        raise ValueError(f"Items of feature_columns must be either a {kinds}. Given: {column}")


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
    with variable_scope(None, default_name="input_layer", values=list(features.values())):
        return input_in_scope(features, feature_columns, weight_collections, trainable, cols_to_vars, cols_to_output_tensors)


def input_in_scope(
    features: Mapping[str, Any],
    feature_columns: Any,
    weight_collections: Sequence[str] | None,
    trainable: bool,
    cols_to_vars: dict[Any, Any] | None,
    cols_to_output_tensors: dict[Any, Any] | None = None,
) -> Tensor:
    """`input_layer` in the variable scope that is open."""
    columns = ordered(feature_columns)
    for column in columns:
        if not isinstance(column, DenseColumn):
            raise ValueError(
                "Items of feature_columns must be a _DenseColumn. You can wrap a categorical column with an "
                f"embedding_column or indicator_column. Given: {column}"
            )
        column.check_without_time("input_layer", "sequence_input_layer")
    made = Features(features)
    outputs = []
    for column in columns:
        with variable_scope(None, default_name=column._var_scope_name) as scope:
            tensor = column.dense(made, trainable)
            own = variables_of(scope)
            if isinstance(column, EmbeddingColumn):
                keep(own, weight_collections)
            width = column.variable_shape.num_elements()
            flat = reshape(tensor, (shape(tensor)[0], width))  # type: ignore[index]
        outputs.append(flat)
        if cols_to_vars is not None:
            cols_to_vars[column] = own
        if cols_to_output_tensors is not None:
            cols_to_output_tensors[column] = flat
    check_batch_sizes(columns, outputs)
    return concat(outputs, 1)


def variables_of(scope: VariableScope) -> list[Any]:
    """The variables below a scope, partitioned ones as their parts."""
    return get_collection(GraphKeys.GLOBAL_VARIABLES, re.escape(f"{scope.name}/"))


def _parts(variable: Any) -> list[Any]:
    return list(variable) if isinstance(variable, PartitionedVariable) else [variable]


def keep(variables: Sequence[Any], collections: Sequence[str] | None) -> None:
    """Adds variables to the model's, and to the collections that were asked for, where they are not in them yet."""
    for name in dict.fromkeys([*(collections or []), GraphKeys.MODEL_VARIABLES]):
        kept = get_collection_ref(name)
        kept += [variable for variable in variables if not any(variable is other for other in kept)]


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

    Variables are `linear_model/NAME/weights` [width or buckets, units] and `linear_model/bias_weights`, where NAME counts
    among the scopes around the model: beside another scope `a`, the column `a` is `a_1`. Several ids of a row are combined
    by `sparse_combiner`: sum, mean or sqrtn. Source: `tf.feature_column.linear_model`.
    """
    with variable_scope(None, default_name="linear_model", values=list(features.values())) as scope:
        pass  # TensorFlow's is a layer, whose call opens this scope again
    name = scope.name.rpartition("/")[2]
    names = [_unique_scope(column._var_scope_name) for column in ordered(feature_columns)]
    with variable_scope(scope), name_scope(name):
        return linear_in_scope(
            features, feature_columns, units, sparse_combiner, weight_collections, trainable, cols_to_vars, names
        )


def _unique_scope(prefix: str) -> str:
    """The last part of a scope's name that is new among those in the scope that is open."""
    with variable_scope(None, default_name=prefix) as scope:
        return scope.name.rpartition("/")[2]


def linear_in_scope(
    features: Mapping[str, Any],
    feature_columns: Any,
    units: int,
    sparse_combiner: str,
    weight_collections: Sequence[str] | None,
    trainable: bool,
    cols_to_vars: dict[Any, Any] | None,
    names: Sequence[str | None] | None = None,
) -> Tensor:
    """`linear_model` in the variable scope that is open. names: of the scopes of the columns, by default their own."""
    columns = ordered(feature_columns)
    if names is None:
        names = [None] * len(columns)
    for column in columns:
        check_weighable(column, "_")
        if not isinstance(column, CategoricalColumn):
            column.check_without_time("linear_model", "sequence_input_layer")
    made = Features(features)

    def weights_of(size: list[int]) -> Any:
        weights = get_variable("weights", size, initializer=zeros_initializer(), trainable=trainable, use_resource=True)
        keep(_parts(weights), weight_collections)
        return weights

    outputs = []
    for column, name in zip(columns, names, strict=True):
        with variable_scope(name, default_name=column._var_scope_name) as scope:
            outputs.append(weighed(column, made, units, sparse_combiner, weights_of, lambda one: one.dense(made, trainable)))
            own = variables_of(scope)
            keep(own, weight_collections)
        if cols_to_vars is not None:
            cols_to_vars[column] = own
    check_batch_sizes(columns, outputs)
    total = add_n(outputs, name="weighted_sum_no_bias")
    bias = get_variable("bias_weights", [units], initializer=zeros_initializer(), trainable=trainable, use_resource=True)
    keep(_parts(bias), weight_collections)
    if cols_to_vars is not None:
        cols_to_vars["bias"] = _parts(bias)
    return bias_add(total, bias, name="weighted_sum")


def weighed(
    column: Any,
    made: Features,
    units: int,
    combiner: str,
    weights_of: Callable[[list[int]], Any],
    dense: Callable[[Any], Any],
) -> Any:
    """[batch, units]: a column times its weights. weights_of: makes these by their shape; dense: gives a dense column."""
    if isinstance(column, CategoricalColumn):
        found = SparseIds(*(None if part is None else _in_rows(part) for part in column.ids(made)))  # type: ignore[arg-type]
        return safe_embedding_lookup_sparse(
            weights_of([column.num_buckets, units]),
            found.ids,
            sparse_weights=found.weights,
            combiner=combiner,
            name="weighted_sum",
        )
    width = column.variable_shape.num_elements()
    weights, tensor = weights_of([width, units]), dense(column)
    flat = reshape(tensor, (shape(tensor)[0], width))  # type: ignore[index]
    return matmul(flat, weights, name="weighted_sum")


def _in_rows(sparse: SparseTensor) -> SparseTensor:
    """Of each example one row, of all that it has: [batch, n]."""
    return sparse_reshape(sparse, [shape(sparse)[0], -1])  # type: ignore[index]


def make_parse_example_spec(feature_columns: Any) -> dict[str, Any]:
    """The features that `tf.parse_example` has to read for these columns. ValueError where two of them disagree.

    Source: `tf.feature_column.make_parse_example_spec`.
    """
    spec: dict[str, Any] = {}
    for column in feature_columns:
        if not isinstance(column, FeatureColumn):
            raise ValueError(f"All feature_columns must be _FeatureColumn instances. Given: {column}")
        for key, value in column.spec().items():
            if key in spec and spec[key] != value:
                raise ValueError(
                    f"feature_columns contain different parse_spec for key {key}. Given {value} and {spec[key]}"
                )
            spec[key] = value
    return spec
