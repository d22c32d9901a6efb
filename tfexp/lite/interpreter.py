"""`tf.lite.Interpreter`: runs the models in TensorFlow Lite's files, as graphs. Source: the class, TF 1.15."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.errors import OpError
from tfexp.core.op import get_op
from tfexp.formats.lite_model import KNOWN_TYPES, LiteModel, LiteOperator, read_model, type_of
from tfexp.graph.convert import constant
from tfexp.graph.graph import Graph
from tfexp.graph.tensor import Tensor
from tfexp.lite.meanings import nodes_of
from tfexp.lite.quantized import HYBRID, dequantized, hybrid_product, is_quantized, quantized
from tfexp.runtime.session import Session

# Ops that give integers on as they are, so that quantized ones need no rounding.
_MOVES_ELEMENTS = [
    "BATCH_TO_SPACE_ND",
    "DEPTH_TO_SPACE",
    "EXPAND_DIMS",
    "GATHER",
    "MIRROR_PAD",
    "PACK",
    "RESHAPE",
    "REVERSE_V2",
    "SLICE",
    "SPACE_TO_DEPTH",
    "SPLIT",
    "SPLIT_V",
    "SQUEEZE",
    "STRIDED_SLICE",
    "TILE",
    "TRANSPOSE",
    "UNPACK",
]


class Interpreter:
    """A model that runs on arrays.

    model_path: its file; model_content: the file's bytes. One of them. `experimental_delegates` are for devices that are not
    here. `allocate_tensors` comes before anything is run, and after `resize_tensor_input`.

    ValueError: neither or both of them, a file that cannot be opened, or one that is no model that can be run here.
    """

    def __init__(self, model_path: Any = None, model_content: bytes | None = None, experimental_delegates: Any = None):
        if not model_path and not model_content:
            raise ValueError("`model_path` or `model_content` must be specified.")
        if model_path and model_content:
            raise ValueError("Can't both provide `model_path` and `model_content`")
        if experimental_delegates:
            raise ValueError("experimental_delegates: there are no delegates in tfexp.")
        self._model: LiteModel = read_model(bytes(model_content) if model_content else _content_of(model_path))
        self._shapes = [tensor.shape for tensor in self._model.tensors]
        self._session: Session | None = None
        self._nodes: dict[int, Tensor] = {}
        self._arrays: dict[int, np.ndarray] = {}  # of inputs and outputs
        self._own_references = 0
        self._ran_on: dict[Tensor, np.ndarray] = {}  # the inputs of the last run

    # --- what there is -------------------------------------------------------------------------------------------------

    def get_tensor_details(self) -> list[dict[str, Any]]:
        """Name, index, shape, dtype and (scale, zero point) of each tensor."""
        return [self._details(index) for index in range(len(self._model.tensors))]

    def get_input_details(self) -> list[dict[str, Any]]:
        """The same of the model's inputs, in its order."""
        return [self._details(index) for index in self._model.inputs]

    def get_output_details(self) -> list[dict[str, Any]]:
        """The same of the model's outputs, in its order."""
        return [self._details(index) for index in self._model.outputs]

    def _details(self, index: int) -> dict[str, Any]:
        tensor = self._model.tensors[index]
        scale, zero_point = 0.0, 0
        if tensor.quantization is not None and tensor.quantization.scale.size == 1:
            scale, zero_point = float(tensor.quantization.scale[0]), int(tensor.quantization.zero_point[0])
        return {
            "name": tensor.name,
            "index": index,
            "shape": np.array(self._shapes[index], np.int32),
            "dtype": tensor.dtype.type,
            "quantization": (scale, zero_point),
        }

    # --- what it computes on -------------------------------------------------------------------------------------------

    def resize_tensor_input(self, input_index: int, tensor_size: Any) -> None:
        """Give an input another shape, from the next `allocate_tensors` on. RuntimeError: there is no such tensor."""
        self._check_unheld()
        try:
            self._check_index(input_index)
        except ValueError as error:
            raise RuntimeError(str(error)) from error
        self._shapes[input_index] = tuple(int(size) for size in tensor_size)
        self._session = None

    def allocate_tensors(self) -> None:
        """Make the model ready to run with the inputs' shapes. RuntimeError: an op cannot have such inputs."""
        self._check_unheld()
        if self._session is not None:
            return
        graph = Graph()
        with graph.as_default():
            try:
                self._nodes = self._built()
            except (ValueError, TypeError) as error:
                raise RuntimeError(str(error)) from error
        for index, node in self._nodes.items():
            if node.shape.is_fully_defined():
                self._shapes[index] = tuple(size for size in node.shape.as_list() if size is not None)
        kept = [*self._model.inputs, *self._model.outputs]
        tensors = self._model.tensors
        self._arrays = {index: np.zeros(self._shapes[index], tensors[index].dtype) for index in kept}
        self._own_references = self._references()
        self._ran_on = {}
        self._session = Session(graph=graph)

    def set_tensor(self, tensor_index: int, value: Any) -> None:
        """Copy `value` to an input. ValueError: it has another type or shape, or the tensor is no input."""
        value = np.asarray(value)
        array = self._array_of(tensor_index)
        tensor = self._model.tensors[tensor_index]
        if value.dtype != array.dtype:
            got = type_of(value.dtype) if value.dtype.name in KNOWN_TYPES else "NOTYPE"
            raise ValueError(
                f"Cannot set tensor: Got tensor of type {got} but expected type {tensor.type} for input {tensor_index}, "
                f"name: {tensor.name} "
            )
        if value.ndim != array.ndim:
            raise ValueError(
                f"Cannot set tensor: Dimension mismatch. Got {value.ndim} but expected {array.ndim} for input "
                f"{tensor_index}."
            )
        for axis, (got_size, size) in enumerate(zip(value.shape, array.shape, strict=True)):
            if got_size != size:
                raise ValueError(
                    f"Cannot set tensor: Dimension mismatch. Got {got_size} but expected {size} for dimension {axis} of "
                    f"input {tensor_index}."
                )
        array[...] = value

    def get_tensor(self, tensor_index: int) -> np.ndarray:
        """A copy of a tensor: a constant, an input, or what the last run made. ValueError: there is nothing yet."""
        self._check_index(tensor_index)
        tensor = self._model.tensors[tensor_index]
        if tensor.data is not None:
            return tensor.data.copy()
        if tensor_index in self._arrays:
            return self._arrays[tensor_index].copy()
        if self._session is None or not self._ran_on or tensor_index not in self._nodes:
            raise ValueError(f"Tensor data is null. Run allocate_tensors() first (tensor {tensor_index}, {tensor.name})")
        return self._session.run(self._nodes[tensor_index], self._ran_on)

    def tensor(self, tensor_index: int) -> Callable[[], np.ndarray]:
        """A function that gives an input or output itself, which may be written to. No other array of it may be held."""
        self._array_of(tensor_index)
        return lambda: self._array_of(tensor_index)[...]

    def invoke(self) -> None:
        """Compute the outputs. RuntimeError: tensors are not allocated, are still held, or a step fails."""
        self._check_unheld()
        if self._session is None:
            raise RuntimeError("Invoke called on model that is not ready.")
        # A copy, for what `get_tensor` computes later is to be of this run.
        self._ran_on = {self._nodes[index]: self._arrays[index].copy() for index in self._model.inputs}
        try:
            made = self._session.run([self._nodes[index] for index in self._model.outputs], self._ran_on)
        except OpError as error:
            raise RuntimeError(error.message) from error
        for index, value in zip(self._model.outputs, made, strict=True):
            if value.shape == self._arrays[index].shape:
                self._arrays[index][...] = value
            else:
                self._arrays[index] = np.array(value)
                self._shapes[index] = value.shape

    def run_all(self) -> dict[int, np.ndarray]:
        """Compute all tensors that are no constants, for the inputs as they are: {index: value}."""
        if self._session is None:
            raise RuntimeError("Invoke called on model that is not ready.")
        computed = {index: node for index, node in self._nodes.items() if self._model.tensors[index].data is None}
        fed = {self._nodes[index]: self._arrays[index] for index in self._model.inputs}
        values: dict[int, np.ndarray] = self._session.run(computed, fed)
        return values

    def reset_all_variables(self) -> None:
        """Set what steps remember to zeros; no op that runs here remembers anything."""

    # --- how -----------------------------------------------------------------------------------------------------------

    def _built(self) -> dict[int, Tensor]:
        """The tensors' nodes, in the current graph."""
        nodes: dict[int, Tensor] = {}
        for index, tensor in enumerate(self._model.tensors):
            if tensor.data is not None:
                nodes[index] = constant(tensor.data)
        for index in self._model.inputs:
            dtype = dtypes.as_dtype(self._model.tensors[index].dtype)
            nodes[index] = get_op("Placeholder")(dtype=dtype, shape=self._shapes[index])
        for step in self._model.operators:
            nodes.update(zip(step.outputs, self._outputs_of(step, nodes), strict=True))
        return nodes

    def _outputs_of(self, step: LiteOperator, nodes: dict[int, Tensor]) -> list[Tensor]:
        if step.op == "CUSTOM":
            raise RuntimeError(f"Encountered unresolved custom op: {step.custom}.")
        inputs = [None if index < 0 else nodes[index] for index in step.inputs]
        given = [None if index < 0 else self._model.tensors[index] for index in step.inputs]
        made = [self._model.tensors[index] for index in step.outputs]
        if step.op in _MOVES_ELEMENTS:
            return nodes_of(step.op, inputs, step.options)
        if step.op in HYBRID and is_quantized(given[1]) and not is_quantized(made[0]):
            return hybrid_product(step.op, inputs, step.options, given[1])
        real = [dequantized(node, tensor) for node, tensor in zip(inputs, given, strict=True)]
        if step.op in ("CAST", "DEQUANTIZE"):  # later versions' files leave the types to the tensors
            return [get_op("Cast")(real[0], DstT=dtypes.as_dtype(made[0].dtype))]
        outputs = [real[0]] if step.op == "QUANTIZE" else nodes_of(step.op, real, step.options)
        return [quantized(x, tensor) for x, tensor in zip(outputs, made, strict=True)]

    def _array_of(self, tensor_index: int) -> np.ndarray:
        self._check_index(tensor_index)
        if tensor_index not in self._arrays:
            raise ValueError(f"Tensor {tensor_index} is no input or output whose memory has been allocated.")
        return self._arrays[tensor_index]

    def _check_index(self, tensor_index: int) -> None:
        count = len(self._model.tensors)
        if not 0 <= tensor_index < count:
            raise ValueError(f"Invalid tensor index {tensor_index} exceeds max tensor index {count}")

    def _check_unheld(self) -> None:
        """RuntimeError: a program still holds an array that `tensor` gave it."""
        if self._references() > self._own_references:
            raise RuntimeError(
                "There is at least 1 reference to internal data in the interpreter in the form of a numpy array or slice. "
                "Be sure to only hold the function returned from tensor() if you are using raw data access."
            )

    def _references(self) -> int:
        """How many there are to the most referenced array, those of looking at it included."""
        return max(map(sys.getrefcount, self._arrays.values()), default=0)


def _content_of(path: Any) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise ValueError(f"Could not open '{path}'.") from error
