"""Values made of several tensors, in `tensorflow.python.framework`: `ops`, `composite_tensor` and `composite_tensor_utils`.

Source: TF 1.15.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core import nest
from tfexp.graph.convert import IndexedSlices, convert_to_tensor, convert_to_tensor_or_indexed_slices
from tfexp.graph.sparse_tensor import SparseTensorValue
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import shape_internal
from tfexp.ops.array_fill import range as range_
from tfexp.ragged_tensors.value import RaggedTensorValue

_VALUES = (SparseTensorValue, RaggedTensorValue)


def convert_to_tensor_or_composite(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A value made of several tensors as it is, anything else as a tensor."""
    if isinstance(value, IndexedSlices):
        return convert_to_tensor_or_indexed_slices(value, dtype, name)
    return value if isinstance(value, nest.Composite) else convert_to_tensor(value, dtype, name)


def _as_indexed_slices(x: Any, optimize: bool = True) -> Any:
    """A tensor as slices that are all of its rows; slices as they are. TypeError for anything else. `math_ops` has it."""
    if isinstance(x, IndexedSlices):
        return x
    if not isinstance(x, Tensor):
        raise TypeError(f"Not a Tensor or IndexedSlices: {type(x)}")
    shape = shape_internal(x, optimize=optimize)
    return IndexedSlices(x, range_(0, shape[0]), shape)


internal_convert_to_tensor_or_composite = convert_to_tensor_or_composite


def convert_n_to_tensor_or_composite(values: Any, dtype: Any = None, name: str | None = None) -> list[Any]:
    """Each of a sequence by `convert_to_tensor_or_composite`, named `name_0` and so on; None stays.

    TypeError for what is no sequence.
    """
    if not isinstance(values, Sequence):
        raise TypeError("values must be a sequence.")
    return [
        None if value is None else convert_to_tensor_or_composite(value, dtype, None if name is None else f"{name}_{i}")
        for i, value in enumerate(values)
    ]


internal_convert_n_to_tensor_or_composite = convert_n_to_tensor_or_composite


def replace_composites_with_components(structure: Any) -> Any:
    """The structure, with the list of its tensors in place of each value that is made of several."""
    if isinstance(structure, nest.Composite):
        return replace_composites_with_components(list(structure.parts))
    if not nest.is_nested(structure):
        return structure
    return nest.map_structure(
        lambda leaf: replace_composites_with_components(leaf) if isinstance(leaf, nest.Composite) else leaf, structure
    )


def is_composite_or_composite_value(tensor: Any) -> bool:
    """Whether it is made of several tensors, or is what fetching such a value gives."""
    return isinstance(tensor, (nest.Composite, *_VALUES))


def get_shape(tensor: Any) -> Any:
    """The shape of a value made of several tensors, or of one that was fetched."""
    return tensor.dense_shape if isinstance(tensor, SparseTensorValue) else tensor.shape


def append_composite_tensor(target: Any, to_append: Any) -> Any:
    """`to_append` behind `target` along the first dimension: values that were fetched, both sparse or both ragged.

    RuntimeError for values of two kinds, or of another one.
    """
    if type(target) is not type(to_append):
        raise RuntimeError(f"Unable to concatenate {target!r} and {to_append!r}: they are of two kinds")
    if isinstance(target, SparseTensorValue):
        return _append_sparse(target, to_append)
    if isinstance(target, RaggedTensorValue):
        splits = np.concatenate(
            [target.row_splits, np.asarray(to_append.row_splits)[1:] + np.asarray(target.row_splits)[-1]]
        )
        nested = isinstance(target.values, RaggedTensorValue)
        join = append_composite_tensor if nested else lambda one, other: np.concatenate([one, other])
        return RaggedTensorValue(join(target.values, to_append.values), splits)
    raise RuntimeError(f"Attempted to concatenate unsupported object {type(target).__name__}.")


def _append_sparse(target: Any, to_append: Any) -> SparseTensorValue:
    shapes = [np.asarray(value.dense_shape) for value in (target, to_append)]
    if len(shapes[0]) != len(shapes[1]):
        raise RuntimeError(f"Unable to concatenate sparse values of shapes {shapes[0]} and {shapes[1]}: ranks differ")
    shape = np.maximum(*shapes)
    shape[0] = shapes[0][0] + shapes[1][0]
    later = np.array(to_append.indices)
    later[..., 0] += shapes[0][0]
    return SparseTensorValue(
        np.concatenate([target.indices, later]), np.concatenate([target.values, to_append.values]), shape
    )
