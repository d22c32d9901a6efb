"""What type specs and ragged tensors are asked beneath their public faces: the tensors that stand for a value.

Source: `framework.type_spec`, `framework.tensor_spec`, `framework.sparse_tensor` and `ops.ragged.ragged_tensor`, TF 1.15.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.core import dtypes, nest
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.eager_tensor import EagerTensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.sparse_tensor import SparseTensorSpec
from tfexp.graph.tensor import Tensor
from tfexp.graph.type_spec import BatchableTypeSpec, TensorSpec, TypeSpec
from tfexp.ops.ragged_variant import ragged_tensor_from_variant, ragged_tensor_to_variant
from tfexp.ragged_tensors.tensor import RaggedTensor, RaggedTensorSpec
from tfexp.stand_ins import dataset_structures

# --- specs ---------------------------------------------------------------------------------------------------------------

_STORED = SparseTensorSpec, RaggedTensorSpec  # one variant stands for such a value


def _to_tensor_list(spec: TypeSpec, value: Any) -> list[Tensor]:
    """The tensors that stand for a value of the spec."""
    if isinstance(spec, _STORED):
        return dataset_structures.to_tensor_list(spec, value)
    return nest.flatten(spec._to_components(value), expand_composites=True)


def _from_tensor_list(spec: TypeSpec, tensor_list: Sequence[Tensor]) -> Any:
    """The value that these tensors stand for. ValueError for others."""
    specs = spec._flat_tensor_specs
    if len(specs) != len(tensor_list):
        raise ValueError("Incompatible input: wrong number of tensors")
    for number, (tensor, expected) in enumerate(zip(tensor_list, specs, strict=True)):
        if not expected.is_compatible_with(tensor):
            raise ValueError(f"Incompatible input: tensor {number} ({tensor}) is incompatible with {expected}")
    return _from_compatible_tensor_list(spec, tensor_list)


def _from_compatible_tensor_list(spec: TypeSpec, tensor_list: Sequence[Tensor]) -> Any:
    """As `_from_tensor_list`, of tensors that are known to be right."""
    if isinstance(spec, _STORED):
        return dataset_structures.from_compatible_tensor_list(spec, tensor_list)
    for tensor, expected in zip(tensor_list, spec._flat_tensor_specs, strict=True):
        tensor.set_shape(expected.shape)
    return spec._from_components(nest.pack_sequence_as(spec._component_specs, tensor_list, expand_composites=True))


TypeSpec._to_tensor_list = _to_tensor_list  # type: ignore[attr-defined]
TypeSpec._from_tensor_list = _from_tensor_list  # type: ignore[attr-defined]
TypeSpec._from_compatible_tensor_list = _from_compatible_tensor_list  # type: ignore[attr-defined]
TypeSpec._deserialize = classmethod(lambda cls, serialization: cls(*serialization))  # type: ignore[attr-defined]
BatchableTypeSpec._to_batched_tensor_list = dataset_structures.to_batched_tensor_list  # type: ignore[attr-defined]

_specs: tuple[Any, ...] = (TensorSpec, *_STORED)
for _spec in _specs:
    _spec._to_legacy_output_shapes = lambda spec: spec.shape
    _spec._to_legacy_output_types = lambda spec: spec.dtype
    _spec._to_legacy_output_classes = lambda spec: spec.value_type
# A class does not say how many of the dimensions are ragged.
RaggedTensorSpec._to_legacy_output_classes = lambda spec: spec  # type: ignore[attr-defined]
RaggedTensorSpec._ragged_rank = property(lambda spec: spec.ragged_rank)  # type: ignore[attr-defined]
RaggedTensorSpec._row_splits_dtype = property(lambda spec: spec.row_splits_dtype)  # type: ignore[attr-defined]


# --- ragged tensors ------------------------------------------------------------------------------------------------------


def _to_variant(ragged: RaggedTensor, batched_input: bool = False, name: str | None = None) -> Tensor:
    """A variant that holds it; with `batched_input` a vector of them, one for each row."""
    with name_scope(name, "RaggedToVariant", [ragged]):
        splits = list(ragged.nested_row_splits)
        variant: Tensor = ragged_tensor_to_variant(splits, ragged.flat_values, batched_input=batched_input)
    return variant


def _from_variant(
    variant: Any, dtype: Any, output_ragged_rank: int, input_ragged_rank: int | None = None, name: str | None = None
) -> RaggedTensor:
    """The ragged tensor that variants hold, stacked along their dimensions.

    input_ragged_rank: of what each of them holds, None to find out. ValueError where that does not give
    `output_ragged_rank`.
    """
    variant = convert_to_tensor(variant, dtypes.variant, name="variant")
    rank = variant.shape.rank
    if None not in (rank, input_ragged_rank) and output_ragged_rank != input_ragged_rank + rank:
        raise ValueError(
            f"output_ragged_rank must be equal to input_ragged_rank + variant.shape.ndims, found variant.shape.ndims: "
            f"{rank}, input_ragged_rank: {input_ragged_rank}, output_ragged_rank: {output_ragged_rank}"
        )
    with name_scope(name, "RaggedFromVariant", [variant]):
        splits, values = ragged_tensor_from_variant(
            variant,
            input_ragged_rank=-1 if input_ragged_rank is None else input_ragged_rank,
            output_ragged_rank=output_ragged_rank,
            Tvalues=dtypes.as_dtype(dtype),
            Tsplits=dtypes.int64,
        )
        found: RaggedTensor = RaggedTensor.from_nested_row_splits(values, splits, validate=False)
    return found


RaggedTensor._to_variant = _to_variant  # type: ignore[attr-defined]
RaggedTensor._from_variant = staticmethod(_from_variant)  # type: ignore[attr-defined]
RaggedTensor._is_eager = lambda ragged: isinstance(ragged.flat_values, EagerTensor)  # type: ignore[attr-defined]
