"""What shape inference knows of a tensor, and of what a handle stands for. Source: cpp_shape_inference.proto."""

from __future__ import annotations

from tensorboard.compat.proto import tensor_shape_pb2, types_pb2

from tfexp.formats.protos import schema

_types = schema.define(
    "cpp_shape_inference",
    """
    message CppShapeInferenceResult
    message CppShapeInferenceResult.HandleShapeAndType
      shape 1 TensorShapeProto
      dtype 2 DataType
    message CppShapeInferenceResult.HandleData
      is_set 1 bool
      shape_and_type 2 repeated CppShapeInferenceResult.HandleShapeAndType
    message CppShapeInferenceResult
      shape 1 TensorShapeProto
      handle_data 4 CppShapeInferenceResult.HandleData
    message CppShapeInferenceInputsNeeded
      input_tensors_needed 1 repeated int32
      input_tensors_as_shapes_needed 2 repeated int32
    """,
    imports=(tensor_shape_pb2, types_pb2),
)
CppShapeInferenceResult = _types["CppShapeInferenceResult"]
CppShapeInferenceInputsNeeded = _types["CppShapeInferenceInputsNeeded"]
