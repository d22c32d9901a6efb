"""Features and labels as a forest takes them: one matrix of floats, and a text that says which columns it has."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.ops.array_join import concat
from tfexp.ops.cast import cast
from tfexp.ops.sparse import sparse_tensor_to_dense

_FLOAT = 0  # the kind of all columns: there are no categorical ones


@dataclass
class DataSpec:
    """Of each dense column (name, size)."""

    dense: list[tuple[str, Any]] = field(default_factory=list)

    def SerializeToString(self) -> str:
        columns = "".join(f"{{name: {name} original_type: {_FLOAT} size: {size}}}" for name, size in self.dense)
        total = sum(int(size) for _, size in self.dense)
        return f"dense_features_size: {total} dense: [{columns}] sparse: []"


def features_and_spec(data: Any) -> tuple[Any, DataSpec]:
    """`data` is a tensor [examples, features] or a dict of such, in the order of their names.

    Raises NotImplementedError for sparse or categorical features.
    """
    spec = DataSpec()
    parts = sorted(data.items()) if isinstance(data, dict) else [("dense_features", data)]
    found = []
    for name, value in parts:
        if isinstance(value, SparseTensor):
            raise NotImplementedError(f"Forests have no sparse features, and {name!r} is one")
        tensor = convert_to_tensor(value)
        if not tensor.dtype.is_floating:
            raise NotImplementedError(f"Forests have features of floats, and {name!r} is of {tensor.dtype.name}")
        static = tensor.get_shape().as_list()
        spec.dense.append((str(name), 1 if len(static) == 1 else static[1]))
        found.append(tensor)
    return (concat(found, 1) if isinstance(data, dict) else found[0]), spec


def labels_of(labels: Any) -> Any:
    """As floats; of sparse labels, what is not there is -1."""
    if isinstance(labels, dict):
        return cast(concat([_dense(labels[name]) for name in sorted(labels)], 1), dtypes.float32)
    return cast(_dense(labels), dtypes.float32)


def _dense(labels: Any) -> Any:
    return sparse_tensor_to_dense(labels, default_value=-1) if isinstance(labels, SparseTensor) else labels
