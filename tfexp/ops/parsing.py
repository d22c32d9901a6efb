"""`tf.parse_example`, `tf.parse_single_example`, and what says which features there are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType, as_dtype
from tfexp.core.shape import TensorShape, as_shape
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.scopes import name_scope
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import rank, reshape
from tfexp.ops.check import Assert
from tfexp.ops.comparison import equal
from tfexp.ops.parse_example import parse_example_v2_op
from tfexp.ops.sparse_values import sparse_merge


class FixedLenFeature(NamedTuple):
    """A feature of that shape, the same in every example; without a default it is required.

    Source: `tf.FixedLenFeature`.
    """

    shape: Any
    dtype: Any
    default_value: Any = None


class VarLenFeature(NamedTuple):
    """A feature of any number of values, as a SparseTensor. Source: `tf.VarLenFeature`."""

    dtype: Any


class FixedLenSequenceFeature(NamedTuple):
    """A feature of any number of parts of that shape, filled up with the default. Source: `tf.FixedLenSequenceFeature`."""

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None


class SparseFeature(NamedTuple):
    """A SparseTensor of which two or more features have the values and their indices along dimensions of `size`.

    `index_key` is a key, or one for each dimension with a list of sizes. Source: `tf.SparseFeature`.
    """

    index_key: Any
    value_key: str
    dtype: Any
    size: Any
    already_sorted: bool = False


@dataclass
class Spec:
    """Features by kind, each kind in the order of its keys."""

    sparse_keys: list[str] = field(default_factory=list)
    sparse_types: list[DType] = field(default_factory=list)
    dense_keys: list[str] = field(default_factory=list)
    dense_types: list[DType] = field(default_factory=list)
    dense_shapes: list[TensorShape] = field(default_factory=list)
    defaults: dict[str, Any] = field(default_factory=dict)
    missing_allowed: dict[str, bool] = field(default_factory=dict)

    @classmethod
    def of(cls, features: Mapping[str, Any], kinds: Any) -> Spec:
        """ValueError for a feature that is not of one of the `kinds` (classes), or lacks its shape or type."""
        spec = cls()
        for key in sorted(features):
            feature: Any = features[key]
            if not isinstance(feature, kinds):
                raise ValueError(f"Invalid feature {key}:{feature}.")
            if isinstance(feature, SparseFeature):
                spec._add_parts(key, feature)
                continue
            if not feature.dtype:
                raise ValueError(f"Missing type for feature {key}. Received feature={feature}")
            if isinstance(feature, VarLenFeature):
                spec._add_sparse(key, as_dtype(feature.dtype))
            else:
                spec._add_dense(key, feature)
        return spec

    def _add_sparse(self, key: str, dtype: DType) -> None:
        """A key may be asked for several times. ValueError for two types."""
        if key not in self.sparse_keys:
            self.sparse_keys.append(key)
            self.sparse_types.append(dtype)
            return
        known = self.sparse_types[self.sparse_keys.index(key)]
        if known != dtype:
            raise ValueError(f"Conflicting type {known} vs {dtype} for feature {key}.")

    def _add_parts(self, key: str, feature: SparseFeature) -> None:
        for what in ("index_key", "value_key", "dtype"):
            if not getattr(feature, what):
                shown = "type" if what == "dtype" else what
                raise ValueError(f"Missing {shown} for SparseFeature {key}. Received feature={feature}.")
        for index_key in index_keys(feature):
            self._add_sparse(index_key, dtypes.int64)
        self._add_sparse(feature.value_key, as_dtype(feature.dtype))

    def _add_dense(self, key: str, feature: Any) -> None:
        if feature.shape is None:
            raise ValueError(f"Missing shape for feature {key}. Received feature={feature}.")
        shape = as_shape(feature.shape)
        if isinstance(feature, FixedLenFeature) and shape.rank and shape.as_list()[0] is None:
            raise ValueError(
                f"First dimension of shape for feature {key} unknown. Consider using FixedLenSequenceFeature. "
                f"Received feature={feature}."
            )
        self.dense_keys.append(key)
        self.dense_types.append(as_dtype(feature.dtype))
        self.dense_shapes.append(shape)
        if feature.default_value is not None:
            self.defaults[key] = feature.default_value
        if isinstance(feature, FixedLenSequenceFeature):
            self.missing_allowed[key] = feature.allow_missing

    def default_tensors(self) -> list[Tensor]:
        """The defaults as nodes; a vector of nothing where there is none."""
        return [
            self._default(key, dtype, shape)
            for key, dtype, shape in zip(self.dense_keys, self.dense_types, self.dense_shapes, strict=True)
        ]

    def _default(self, key: str, dtype: DType, shape: TensorShape) -> Tensor:
        given = self.defaults.get(key)
        if shape.rank and shape.as_list()[0] is None:
            if given is None:
                return constant("" if dtype is dtypes.string else 0, dtype)
            return reshape(convert_to_tensor(given, dtype, name=f"padding_{_in_names(key)}"), [])
        if given is None:
            return constant([], dtype)
        return reshape(convert_to_tensor(given, dtype, name=f"key_{_in_names(key)}"), shape)


def index_keys(feature: SparseFeature) -> list[str]:
    return [feature.index_key] if isinstance(feature.index_key, str) else list(feature.index_key)


def _in_names(key: str) -> str:
    """A key as it may stand in the name of a node."""
    return re.sub(r"[^A-Za-z0-9_.\-/]", "_", key)


def keys_array(keys: list[str]) -> Any:
    """Keys as a vector of texts, also where there are none."""
    return np.array(keys, object)


_EXAMPLE_KINDS = (VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature)


def feature_spec(features: Mapping[str, Any] | None) -> Spec:
    """What `parse_example` does with these features. ValueError for features that cannot be."""
    if not features:
        raise ValueError(f"Missing: features was {features}.")
    spec = Spec.of(features, _EXAMPLE_KINDS)
    if not all(spec.missing_allowed.values()):
        raise ValueError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.")
    return Spec.of(
        {
            key: FixedLenSequenceFeature([None, *as_shape(feature.shape).as_list()], *feature[1:])
            if isinstance(feature, FixedLenSequenceFeature)
            else feature
            for key, feature in features.items()
        },
        _EXAMPLE_KINDS,
    )


def parse_example(
    serialized: Any, features: Mapping[str, Any], name: str | None = None, example_names: Any = None
) -> dict[str, Any]:
    """The features of a vector of serialized Examples, by key: tensors with a first axis for the examples, SparseTensors.

    `example_names` stand in errors. ValueError for features that cannot be; InvalidArgumentError at run time, naming
    example and key, for one that is missing, of another type, or of a wrong number of values. Source: `tf.parse_example`.
    """
    return put_together(features, _parse(serialized, feature_spec(features), name, example_names))


def put_together(features: Mapping[str, Any], parsed: dict[str, Any]) -> dict[str, Any]:
    """What was parsed, with SparseFeatures in place of what they are made of."""
    for key in sorted(features):
        feature: Any = features[key]
        if isinstance(feature, SparseFeature):
            ids: Any = [parsed[index_key] for index_key in index_keys(feature)]
            if isinstance(feature.index_key, str):
                ids = ids[0]
            merged = sparse_merge(ids, parsed[feature.value_key], feature.size, already_sorted=feature.already_sorted)
            parsed[key] = merged
    return {key: value for key, value in parsed.items() if key in features}


def _parse(serialized: Any, spec: Spec, name: str | None, names: Any) -> dict[str, Any]:
    with name_scope(name, "ParseExample", [serialized, names]):
        strings = convert_to_tensor(serialized, dtypes.string, name="serialized")
        defaults = spec.default_tensors()
        outputs = parse_example_v2_op(
            strings,
            keys_array([]) if names is None else names,
            keys_array(spec.sparse_keys),
            keys_array(spec.dense_keys),
            keys_array([]),
            defaults,
            num_sparse=len(spec.sparse_keys),
            sparse_types=spec.sparse_types,
            ragged_value_types=[],
            ragged_split_types=[],
            dense_shapes=spec.dense_shapes,
            name=name,
        )
        indices, values, shapes, dense = outputs[:4]
        sparse = [SparseTensor(*parts) for parts in zip(indices, values, shapes, strict=True)]
    return dict(zip([*spec.sparse_keys, *spec.dense_keys], [*sparse, *dense], strict=True))


def parse_single_example(
    serialized: Any, features: Mapping[str, Any], name: str | None = None, example_names: Any = None
) -> dict[str, Any]:
    """As `parse_example`, of one serialized Example, a scalar. Source: `tf.parse_single_example`."""
    spec = feature_spec(features)
    with name_scope(name, "ParseSingleExample", [serialized, example_names]):
        return put_together(features, _parse(scalar_text(serialized), spec, name, example_names))


def scalar_text(serialized: Any) -> Tensor:
    """`serialized` as a scalar; ValueError, or InvalidArgumentError where only the run knows, for what is none."""
    string = convert_to_tensor(serialized, dtypes.string, name="serialized")
    if string.shape.rank is None:
        scalar = Assert(equal(rank(string), 0), ["Input serialized must be a scalar"], name="SerializedIsScalar")
        string = with_dependencies([scalar], string, name="serializedDependencies")
        string.set_shape([])
    elif string.shape.rank:
        raise ValueError("Input serialized must be a scalar")
    return string
