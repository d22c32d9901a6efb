"""How a graph parses tf.Examples. Source: example_parser_configuration.proto."""

from __future__ import annotations

from tensorboard.compat.proto import tensor_pb2, tensor_shape_pb2, types_pb2

from tfexp.formats.protos import schema

_types = schema.define(
    "example_parser_configuration",
    """
    message VarLenFeatureProto
      dtype 1 DataType
      values_output_tensor_name 2 string
      indices_output_tensor_name 3 string
      shapes_output_tensor_name 4 string
    message FixedLenFeatureProto
      dtype 1 DataType
      shape 2 TensorShapeProto
      default_value 3 TensorProto
      values_output_tensor_name 4 string
    message FeatureConfiguration
      fixed_len_feature 1 FixedLenFeatureProto oneof config
      var_len_feature 2 VarLenFeatureProto oneof config
    message ExampleParserConfiguration
      feature_map 1 map string FeatureConfiguration
    """,
    imports=(
        tensor_pb2,
        tensor_shape_pb2,
        types_pb2,
    ),
)
VarLenFeatureProto = _types["VarLenFeatureProto"]
FixedLenFeatureProto = _types["FixedLenFeatureProto"]
FeatureConfiguration = _types["FeatureConfiguration"]
ExampleParserConfiguration = _types["ExampleParserConfiguration"]
