"""`tensorflow.python.data.util`: `structure`, `sparse`, `convert`, `random_seed` and `traverse`. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.shape import TensorShape, as_shape
from tfexp.data import structure
from tfexp.data.seeds import seed_tensors as get_seed  # noqa: F401
from tfexp.data.sparse import SPARSE
from tfexp.data.specs import component_structure, spec_structure
from tfexp.data.structure import (
    as_tensor,
    as_values,
    component_of,
    components_of,
    flatten,
    flatten_up_to,
    map_leaves,
    normalized,
    pack_as,
    slices_tensor,
)
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.sparse_tensor import SparseTensor, is_sparse
from tfexp.graph.tensor import Tensor
from tfexp.graph.type_spec import TensorSpec
from tfexp.ops.array import expand_dims

# --- structures of TypeSpecs -------------------------------------------------------------------------------------------


def type_spec_from_value(element: Any, use_fallback: bool = True) -> Any:
    """What a structure of values is. TypeError for a value that no element of a data set can have."""
    return spec_structure(pack_as(element, [_component(leaf) for leaf in flatten(element)]))


def _component(leaf: Any) -> structure.Component:
    return component_of(leaf if structure.kind_of(leaf) is not None else convert_to_tensor(leaf))


def normalize_tensors(tensors: Any) -> Any:
    """The structure with tensors, or values of a kind, for its leaves."""
    return pack_as(tensors, normalized(tensors)[0])


normalize_element = normalize_tensors


def get_flat_tensor_types(element_spec: Any) -> list[DType]:
    """The dtypes of the tensors that stand for an element between nodes."""
    return [component.node_dtype for component in flatten(component_structure(element_spec))]


def get_flat_tensor_shapes(element_spec: Any) -> list[TensorShape]:
    """The shapes of the tensors that stand for an element between nodes."""
    return [component.node_shape for component in flatten(component_structure(element_spec))]


def get_flat_tensor_specs(element_spec: Any) -> list[TensorSpec]:
    """The specs of the tensors that stand for an element between nodes."""
    shapes, types = get_flat_tensor_shapes(element_spec), get_flat_tensor_types(element_spec)
    return [TensorSpec(shape, dtype) for shape, dtype in zip(shapes, types, strict=True)]


def are_compatible(spec1: Any, spec2: Any) -> bool:
    """Whether an element may be of both."""
    try:
        structure_of_second = flatten_up_to(spec1, spec2)
    except (TypeError, ValueError):
        return False
    return all(one.is_compatible_with(other) for one, other in zip(flatten(spec1), structure_of_second, strict=True))


def convert_legacy_structure(output_types: Any, output_shapes: Any, output_classes: Any) -> Any:
    """The structure of TypeSpecs that says what these three say."""
    return spec_structure(components_of(output_types, output_shapes, output_classes))


def to_tensor_list(element_spec: Any, element: Any) -> list[Tensor]:
    """The tensors that stand for an element. ValueError where it is no such element."""
    return [as_tensor(leaf) for leaf in _checked(element_spec, element)]


def to_batched_tensor_list(element_spec: Any, element: Any) -> list[Tensor]:
    """The tensors whose rows stand for the slices of a batch. ValueError where there are none."""
    leaves = _checked(element_spec, element)
    if any(leaf.shape.rank == 0 for leaf in leaves):
        raise ValueError("Unbatching a tensor is only supported for rank >= 1")
    return [slices_tensor(leaf) for leaf in leaves]


def _checked(element_spec: Any, element: Any) -> list[Any]:
    leaves, found = normalized(element)
    if not are_compatible(element_spec, spec_structure(found)):
        raise ValueError(f"{element!r} is not convertible to a value of the structure {element_spec!r}")
    return leaves


def from_tensor_list(element_spec: Any, tensor_list: Sequence[Tensor]) -> Any:
    """The element that these tensors stand for. ValueError for others."""
    flat = flatten(component_structure(element_spec))
    if len(flat) != len(tensor_list):
        raise ValueError(f"Expected {len(flat)} tensors but got {len(tensor_list)}.")
    for tensor, component in zip(tensor_list, flat, strict=True):
        if tensor.dtype != component.node_dtype or not component.node_shape.is_compatible_with(tensor.shape):
            raise ValueError(
                f"{tensor!r} stands for no value of dtype {component.dtype.name} and shape {component.shape}: the tensor "
                f"must be of dtype {component.node_dtype.name} and shape {component.node_shape}"
            )
    return from_compatible_tensor_list(element_spec, tensor_list)


def from_compatible_tensor_list(element_spec: Any, tensor_list: Sequence[Tensor]) -> Any:
    """As `from_tensor_list`, of tensors that are known to be right."""
    return as_values(tensor_list, component_structure(element_spec))


# --- sparse tensors ----------------------------------------------------------------------------------------------------


def any_sparse(classes: Any) -> bool:
    """Whether SparseTensor is among the classes."""
    return any(value_class is SparseTensor for value_class in flatten(classes))


def get_classes(tensors: Any) -> Any:
    """The class of each component: SparseTensor or Tensor."""
    return map_leaves(lambda leaf: SparseTensor if is_sparse(leaf) else Tensor, tensors)


def as_dense_types(types: Any, classes: Any) -> Any:
    """The dtypes between nodes."""
    return map_leaves(lambda kind, cls: dtypes.variant if cls is SparseTensor else kind, types, classes)


def as_dense_shapes(shapes: Any, classes: Any) -> Any:
    """The shapes between nodes."""
    return map_leaves(lambda shape, cls: TensorShape(None) if cls is SparseTensor else shape, shapes, classes)


def serialize_sparse_tensors(tensors: Any) -> Any:
    """The structure with a variant for each SparseTensor."""
    return map_leaves(lambda leaf: as_tensor(leaf) if is_sparse(leaf) else leaf, tensors)


def serialize_many_sparse_tensors(tensors: Any) -> Any:
    """The same of batches: a row of the variant for each element."""
    return map_leaves(lambda leaf: slices_tensor(leaf) if is_sparse(leaf) else leaf, tensors)


def deserialize_sparse_tensors(tensors: Any, types: Any, shapes: Any, classes: Any) -> Any:
    """What `serialize_sparse_tensors` was given."""

    def restored(tensor: Any, dtype: DType, shape: TensorShape, value_class: type) -> Any:
        if value_class is not SparseTensor:
            return tensor
        return SPARSE.from_tensor(tensor, structure.Component(dtype, shape, None, SPARSE))

    return map_leaves(restored, tensors, types, shapes, classes)


# --- arguments, and the graph around -----------------------------------------------------------------------------------


def optional_param_to_tensor(
    argument_name: str, argument_value: Any, argument_default: Any = 0, argument_dtype: Any = dtypes.int64
) -> Tensor:
    """An argument as a tensor; None is its default."""
    value = argument_default if argument_value is None else argument_value
    return convert_to_tensor(value, dtype=argument_dtype, name=argument_name)


def partial_shape_to_tensor(shape_like: Any) -> Tensor:
    """A shape as an int64 vector, unknown sizes as -1. ValueError, TypeError for a tensor that is none."""
    if isinstance(shape_like, Tensor):
        if shape_like.shape.rank == 0:
            return expand_dims(shape_like, 0)
        if shape_like.shape.rank not in (1, None):
            raise ValueError(
                f"The given shape {shape_like} must be a 1-D tensor of tf.int64 values, but the shape was "
                f"{shape_like.shape}."
            )
        if shape_like.dtype != dtypes.int64:
            raise TypeError(
                f"The given shape {shape_like} must be a 1-D tensor of tf.int64 values, but the element type was "
                f"{shape_like.dtype.name}."
            )
        return shape_like
    sizes = [shape_like] if isinstance(shape_like, (int, np.integer)) else shape_like
    known = sizes if isinstance(sizes, TensorShape) else [None if size is None or size == -1 else size for size in sizes]
    return constant([-1 if size is None else size for size in as_shape(known).as_list()], dtype=dtypes.int64)


def obtain_all_variant_tensor_ops(dataset: Any) -> list[Operation]:
    """The operations that a data set comes from, its own first: those that make a variant."""
    found, pending = [], [dataset._variant_tensor.op]
    while pending:
        op = pending.pop(0)
        if op in found:
            continue
        found.append(op)
        pending += [tensor.op for tensor in op.inputs if tensor.dtype == dtypes.variant]
    return found
