"""What tensors are asked beneath their public faces, by TensorFlow's tests and by libraries written for 1.15.

Source: `ops.Tensor`, `ops.EagerTensor` and `pywrap_tensorflow` of TF 1.15.
"""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import constant
from tfexp.graph.eager_tensor import EagerTensor
from tfexp.graph.tensor import Tensor
from tfexp.runtime.eager import eager_mode


def _shape_as_list(tensor: Tensor) -> list[int | None] | None:
    return None if tensor.shape.rank is None else tensor.shape.as_list()


Tensor._USE_EQUALITY = False  # type: ignore[attr-defined]
Tensor._rank = lambda tensor: tensor.shape.rank  # type: ignore[attr-defined]
Tensor._shape_as_list = _shape_as_list  # type: ignore[attr-defined]
EagerTensor._numpy = EagerTensor.numpy  # type: ignore[attr-defined]
EagerTensor._num_elements = lambda tensor: tensor.shape.num_elements()  # type: ignore[attr-defined]
EagerTensor._datatype_enum = lambda tensor: tensor.dtype.as_datatype_enum  # type: ignore[attr-defined]


def TFE_Py_TensorShapeSlice(tensors: Any, slice_dim: int) -> Tensor:
    """The size of that dimension in each of the tensors, int32.

    TypeError for what are no eager tensors, ValueError for a negative dimension, IndexError for one that a tensor lacks.
    """
    if not isinstance(tensors, (list, tuple)):
        raise TypeError(f'tensors argument must be a list or a tuple. Got "{type(tensors).__name__}"')
    for number, tensor in enumerate(tensors):
        if not isinstance(tensor, EagerTensor):
            raise TypeError(f'Expected a list of EagerTensors but element {number} has type "{type(tensor).__name__}"')
    if slice_dim < 0:
        raise ValueError(f"Slice dimension must be non-negative. Got {slice_dim}")
    for number, tensor in enumerate(tensors):
        if slice_dim >= len(tensor.shape):
            raise IndexError(
                f"Slice dimension ({slice_dim}) must be smaller than rank of all tensors, but tensor at index {number} has "
                f"rank {len(tensor.shape)}"
            )
    with eager_mode():
        return constant([tensor.shape.as_list()[slice_dim] for tensor in tensors], dtypes.int32)
