"""`Input`: where a model begins. Source: `tf.keras.Input`, `tf.keras.layers.InputLayer`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.graph.eager_tensor import EagerTensor
from tfexp.keras import backend
from tfexp.keras.engine.base_layer import Layer
from tfexp.keras.engine.node import Node, shape_of


class InputLayer(Layer):
    """A placeholder, or a tensor of the program, as a layer.

    input_shape: without the batch, whose size is `batch_size`. sparse, ragged: it takes a SparseTensor, a RaggedTensor.
    """

    def __init__(
        self,
        input_shape: Any = None,
        batch_size: int | None = None,
        dtype: Any = None,
        input_tensor: Any = None,
        sparse: bool = False,
        name: str | None = None,
        ragged: bool = False,
        **kwargs: Any,
    ):
        batch_input_shape = kwargs.pop("batch_input_shape", None)
        if kwargs:
            raise ValueError(f"Unrecognized keyword arguments: {kwargs.keys()}")
        if sparse and ragged:
            raise ValueError("Cannot set both sparse and ragged to True in a Keras input.")
        if input_shape is not None and batch_input_shape is not None:
            raise ValueError(
                "Only provide the input_shape OR batch_input_shape argument to InputLayer, not both at the same time."
            )
        if batch_input_shape is not None:
            batch_size, input_shape = batch_input_shape[0], tuple(batch_input_shape[1:])
        if isinstance(input_tensor, EagerTensor):
            raise ValueError(
                "You should not pass an EagerTensor to `Input`. For example, instead of creating an InputLayer, you should "
                "instantiate your model and directly call it on your input."
            )
        if dtype is None:
            dtype = backend.floatx() if input_tensor is None else input_tensor.dtype.base_dtype.name
        elif input_tensor is not None and input_tensor.dtype.base_dtype != dtypes.as_dtype(dtype):
            raise ValueError(f"`input_tensor.dtype` differs from `dtype`: {input_tensor.dtype.base_dtype.name} vs. {dtype}")
        super().__init__(dtype=dtype, name=name or f"input_{backend.get_uid('input')}")
        self.built = True
        self.sparse, self.ragged, self.batch_size = sparse, ragged, batch_size
        self.supports_masking = True
        self.is_placeholder = input_tensor is None
        if input_tensor is None:
            if isinstance(input_shape, int):
                input_shape = (input_shape,)
            known = tuple(input_shape) if input_shape is not None else None
            self._batch_input_shape = None if known is None else (batch_size, *known)
            input_tensor = backend.placeholder(
                self._batch_input_shape, dtype=self.dtype, sparse=sparse, name=self.name, ragged=ragged
            )
        else:
            self._batch_input_shape = shape_of(input_tensor)
        input_tensor._keras_mask = None
        Node(self, [input_tensor], [input_tensor], reads=False)

    def get_config(self) -> dict[str, Any]:
        return {
            "batch_input_shape": self._batch_input_shape,
            "dtype": self.dtype,
            "sparse": self.sparse,
            "ragged": self.ragged,
            "name": self.name,
        }


def Input(
    shape: Any = None,
    batch_size: int | None = None,
    name: str | None = None,
    dtype: Any = None,
    sparse: bool = False,
    tensor: Any = None,
    ragged: bool = False,
    **kwargs: Any,
) -> Any:
    """A tensor to build a model from: a placeholder for batches of examples of `shape`, or a layer's view of `tensor`.

    `batch_shape` says the shape with the batch. ValueError unless a shape or a tensor is given.
    """
    batch_shape = kwargs.pop("batch_input_shape", kwargs.pop("batch_shape", None))
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments: {kwargs.keys()}")
    if shape is not None and batch_shape is not None:
        raise ValueError("Only provide the `shape` OR `batch_input_shape` argument to Input, not both at the same time.")
    if batch_shape is None and shape is None and tensor is None:
        raise ValueError(
            "Please provide to Input either a `shape` or a `tensor` argument. Note that `shape` does not include the batch "
            "dimension."
        )
    given = (
        {"batch_input_shape": batch_shape} if batch_shape is not None else {"input_shape": shape, "batch_size": batch_size}
    )
    layer = InputLayer(name=name, dtype=dtype, sparse=sparse, ragged=ragged, input_tensor=tensor, **given)
    return layer._inbound_nodes[0].output_tensors[0]
