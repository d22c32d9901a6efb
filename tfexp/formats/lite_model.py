"""The models that TensorFlow Lite's files keep: tensors, and operators on them in the order in which they run."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tfexp.formats.flatbuffer import decode, encode
from tfexp.formats.lite_schema import FILE_IDENTIFIER, OPERATORS, VERSION

# NumPy's types of tensors of TF 1.15's runtime.
KNOWN_TYPES = frozenset({"float32", "float16", "int32", "uint8", "int64", "bool", "int16", "complex64", "int8"})


@dataclass(frozen=True)
class Quantization:
    """real = scale * (stored - zero_point), with one scale, or one for each slice along `dimension`."""

    scale: np.ndarray
    zero_point: np.ndarray
    dimension: int = 0

    def along(self, rank: int) -> tuple[np.ndarray, np.ndarray]:
        """Scale and zero point in a shape that broadcasts against a tensor of this rank."""
        if self.scale.size == 1:
            return self.scale.reshape(()), self.zero_point.reshape(())
        shape = [-1 if axis == self.dimension else 1 for axis in range(rank)]
        return self.scale.reshape(shape), self.zero_point.reshape(shape)


@dataclass
class LiteTensor:
    """A tensor of a model; `data` where it is a constant."""

    name: str
    shape: tuple[int, ...]
    type: str
    data: np.ndarray | None = None
    quantization: Quantization | None = None
    is_variable: bool = False

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's type of its elements."""
        return dtype_of(self.type)


@dataclass
class LiteOperator:
    """One step: the op's name, the numbers of its tensors (-1 for an input that is left out), its options."""

    op: str
    inputs: list[int]
    outputs: list[int]
    options: dict[str, Any] = field(default_factory=dict)
    version: int = 1
    custom: str | None = None  # the name of an op that is not one of TensorFlow Lite's, whose `op` is CUSTOM


@dataclass
class LiteModel:
    tensors: list[LiteTensor]
    inputs: list[int]
    outputs: list[int]
    operators: list[LiteOperator]
    description: str = ""


def dtype_of(type_name: str) -> np.dtype[Any]:
    """NumPy's type for a TensorType. ValueError where there is none."""
    if type_name == "STRING":
        return np.dtype(np.bytes_)
    try:
        return np.dtype("bool" if type_name == "BOOL" else type_name.lower())
    except TypeError as error:
        raise ValueError(f"Tensors of the type {type_name} are not known here.") from error


def type_of(dtype: Any) -> str:
    """The TensorType for NumPy's type. ValueError where there is none."""
    dtype = np.dtype(dtype)
    if dtype.name not in KNOWN_TYPES:
        raise ValueError(f"TensorFlow Lite has no tensors of {dtype.name}.")
    return dtype.name.upper()


# --- files -------------------------------------------------------------------------------------------------------------


def write_model(model: LiteModel) -> bytes:
    """The model's file. Constants stand in buffers of their own; buffer 0 is empty, and what has no data refers to it."""
    buffers: list[dict[str, Any]] = [{}]
    tensors = [_tensor_fields(tensor, buffers) for tensor in model.tensors]
    codes: dict[tuple[str, int, str | None], int] = {}
    operators = [_operator_fields(step, codes) for step in model.operators]
    fields = {
        "version": VERSION,
        "description": model.description,
        "operator_codes": [_code_fields(*code) for code in codes],
        "subgraphs": [{"tensors": tensors, "inputs": model.inputs, "outputs": model.outputs, "operators": operators}],
        "buffers": buffers,
    }
    return encode("Model", fields, FILE_IDENTIFIER)


def _tensor_fields(tensor: LiteTensor, buffers: list[dict[str, Any]]) -> dict[str, Any]:
    """A tensor's; its constant is added to the buffers."""
    if tensor.data is not None:
        buffers.append({"data": np.frombuffer(tensor.data.tobytes(), np.uint8)})
    return {
        "shape": tensor.shape,
        "type": tensor.type,
        "buffer": 0 if tensor.data is None else len(buffers) - 1,
        "name": tensor.name,
        "quantization": _quantization_fields(tensor.quantization),
        "is_variable": tensor.is_variable,
    }


def _operator_fields(step: LiteOperator, codes: dict[tuple[str, int, str | None], int]) -> dict[str, Any]:
    """An operator's; its op has a number in `codes`, from here on if not before."""
    return {
        "opcode_index": codes.setdefault((step.op, step.version, step.custom), len(codes)),
        "inputs": step.inputs,
        "outputs": step.outputs,
        "builtin_options": (OPERATORS[step.op], step.options) if OPERATORS[step.op] else None,
    }


def _code_fields(op: str, version: int, custom: str | None) -> dict[str, Any]:
    number = list(OPERATORS).index(op)
    # Readers of 1.15 know the first of the two numbers only, which is one byte.
    return {"deprecated_builtin_code": number, "builtin_code": number, "version": version, "custom_code": custom}


def _quantization_fields(quantization: Quantization | None) -> dict[str, Any]:
    if quantization is None:
        return {}
    return {
        "scale": quantization.scale,
        "zero_point": quantization.zero_point,
        "quantized_dimension": quantization.dimension,
    }


def read_model(data: bytes) -> LiteModel:
    """A file's model. ValueError: it is not one, it has functions of its own, or ops or types that are not known."""
    if len(data) < 8 or data[4:8] != FILE_IDENTIFIER:
        raise ValueError(
            f"Model provided has model identifier {data[4:8].decode('latin1')!r}, should be {FILE_IDENTIFIER.decode()!r}"
        )
    try:
        model = _model_of(decode("Model", data))
    except (IndexError, TypeError, UnicodeDecodeError, struct.error) as error:  # what flatbuffers says of broken files
        raise ValueError(f"The model is not a valid Flatbuffer buffer: {error}") from error
    numbers = [*model.inputs, *model.outputs, *(n for step in model.operators for n in (*step.inputs, *step.outputs))]
    if wrong := [number for number in numbers if not -1 <= number < len(model.tensors)]:
        raise ValueError(f"The model is not a valid Flatbuffer buffer: it has no tensor {wrong[0]}")
    return model


def _model_of(model: dict[str, Any]) -> LiteModel:
    if len(model["subgraphs"]) != 1:
        raise ValueError(f"Only models with 1 subgraph can be run here; this one has {len(model['subgraphs'])}.")
    graph = model["subgraphs"][0]
    buffers = [buffer["data"] for buffer in model["buffers"]]
    codes = [_op_name(code) for code in model["operator_codes"]]
    return LiteModel(
        tensors=[_tensor(fields, buffers[fields["buffer"]]) for fields in graph["tensors"]],
        inputs=_numbers(graph["inputs"]),
        outputs=_numbers(graph["outputs"]),
        operators=[
            LiteOperator(
                op=codes[fields["opcode_index"]],
                inputs=_numbers(fields["inputs"]),
                outputs=_numbers(fields["outputs"]),
                options=fields["builtin_options"][1] if fields["builtin_options"] else {},
                version=model["operator_codes"][fields["opcode_index"]]["version"],
                custom=model["operator_codes"][fields["opcode_index"]]["custom_code"],
            )
            for fields in graph["operators"] or ()
        ],
        description=model["description"] or "",
    )


def _numbers(vector: Any) -> list[int]:
    return [] if vector is None else [int(number) for number in vector]


def _op_name(code: dict[str, Any]) -> str:
    number = max(code["deprecated_builtin_code"], code["builtin_code"])
    if number >= len(OPERATORS):
        raise ValueError(f"Didn't find op for builtin opcode {number} version {code['version']}")
    return list(OPERATORS)[number]


def _tensor(fields: dict[str, Any], raw: np.ndarray | None) -> LiteTensor:
    shape = tuple(_numbers(fields["shape"]))
    tensor = LiteTensor(fields["name"] or "", shape, fields["type"], is_variable=fields["is_variable"])
    dtype = tensor.dtype
    if raw is not None and tensor.type != "STRING" and (raw.size or 0 in shape):
        tensor.data = np.frombuffer(raw.tobytes(), dtype).reshape(shape)
    found = fields["quantization"]
    if found is not None and found["scale"] is not None and len(found["scale"]):
        scale = np.array(found["scale"], np.float32)
        zero_point = np.array(found["zero_point"], np.int64) if found["zero_point"] is not None else np.zeros(1, np.int64)
        tensor.quantization = Quantization(scale, zero_point, found["quantized_dimension"])
    return tensor
