"""`tf.parse_single_sequence_example`, `tf.io.parse_sequence_example`. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor
from tfexp.ops.parse_sequence import parse_sequence_example_v2_op
from tfexp.ops.parsing import FixedLenFeature, FixedLenSequenceFeature, Spec, VarLenFeature, keys_array, scalar_text

Found = dict[str, Any]


def parse_sequence_example(
    serialized: Any,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_names: Any = None,
    name: str | None = None,
) -> tuple[Found, Found, Found]:
    """(context, sequences, lengths of the dense sequences) of a vector of serialized SequenceExamples, by key.

    context_features: FixedLenFeatures and VarLenFeatures; sequence_features: FixedLenSequenceFeatures, as [batch, longest,
    *shape] filled up with zeros, and VarLenFeatures, as SparseTensors [batch, step, value]. `example_names` stand in errors.
    ValueError for features that cannot be; InvalidArgumentError at run time, naming key and step, for values that do not
    fit. Source: `tf.io.parse_sequence_example`.
    """
    if not (context_features or sequence_features):
        raise ValueError(
            "Both `context_features` and `sequence_features` argument are None, but at least one should have values."
        )
    context, sequences = _specs(context_features, sequence_features)
    with name_scope(name, "ParseSequenceExample", [serialized, example_names]):
        return _parse(serialized, context, sequences, example_names, name)


def parse_single_sequence_example(
    serialized: Any,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_name: Any = None,
    name: str | None = None,
) -> tuple[Found, Found]:
    """(context, sequences) of one serialized SequenceExample, a scalar: as `parse_sequence_example`, without a batch.

    Source: `tf.io.parse_single_sequence_example`.
    """
    if not (context_features or sequence_features):
        raise ValueError("Missing features.")
    context, sequences = _specs(context_features, sequence_features)
    with name_scope(name, "ParseSingleSequenceExample", [serialized, example_name]):
        with name_scope(name, "ParseSingleExample", [serialized]):
            text = scalar_text(serialized)
        found = _parse(text, context, sequences, example_name, name)
    return found[:2]


def _specs(context: Mapping[str, Any] | None, sequences: Mapping[str, Any] | None) -> tuple[Spec, Spec]:
    of_context = Spec.of(context or {}, (VarLenFeature, FixedLenFeature))
    of_lists = Spec.of(sequences or {}, (VarLenFeature, FixedLenSequenceFeature))
    for key in of_lists.defaults:
        raise ValueError(f"Value feature_list.dense_defaults[{key}] must be None")
    return of_context, of_lists


def _parse(serialized: Any, context: Spec, sequences: Spec, names: Any, name: str | None) -> tuple[Found, Found, Found]:
    with name_scope(name, "ParseSequenceExample", [serialized, names]):
        strings = convert_to_tensor(serialized, dtypes.string, name="serialized")
        outputs = parse_sequence_example_v2_op(
            strings,
            keys_array([]) if names is None else names,
            keys_array(context.sparse_keys),
            keys_array(context.dense_keys),
            keys_array([]),
            keys_array(sequences.sparse_keys),
            keys_array(sequences.dense_keys),
            keys_array([]),
            np.array([sequences.missing_allowed[key] for key in sequences.dense_keys], np.bool_),
            context.default_tensors(),
            Ncontext_sparse=len(context.sparse_keys),
            context_sparse_types=context.sparse_types,
            context_ragged_value_types=[],
            context_ragged_split_types=[],
            context_dense_shapes=context.dense_shapes,
            Nfeature_list_sparse=len(sequences.sparse_keys),
            Nfeature_list_dense=len(sequences.dense_keys),
            feature_list_dense_types=sequences.dense_types,
            feature_list_sparse_types=sequences.sparse_types,
            feature_list_ragged_value_types=[],
            feature_list_ragged_split_types=[],
            feature_list_dense_shapes=sequences.dense_shapes,
            name=name,
        )
    indices, values, shapes, dense, _, _, list_indices, list_values, list_shapes, list_dense, lengths = outputs[:11]
    return (
        _by_key(context, (indices, values, shapes), dense),
        _by_key(sequences, (list_indices, list_values, list_shapes), list_dense),
        dict(zip(sequences.dense_keys, lengths, strict=True)),
    )


def _by_key(spec: Spec, sparse: tuple[list[Tensor], ...], dense: list[Tensor]) -> Found:
    tensors = [SparseTensor(*parts) for parts in zip(*sparse, strict=True)]
    return dict(zip([*spec.sparse_keys, *spec.dense_keys], [*tensors, *dense], strict=True))
