"""`tensorflow.python.util.example_parser_configuration`: what a parsing node reads, as a message. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.formats.protos.example_parser import ExampleParserConfiguration
from tfexp.formats.tensor import make_tensor_proto
from tfexp.graph.operation import Operation


def extract_example_parser_configuration(parse_example_op: Operation, sess: Any) -> ExampleParserConfiguration:
    """The features of a ParseExample or ParseExampleV2 node, with the names of the tensors that they are.

    Its keys and defaults are computed by the session. ValueError for another node.
    """
    if parse_example_op.type not in ("ParseExample", "ParseExampleV2"):
        raise ValueError(f"Operation '{parse_example_op.type}' has no attr named 'Nsparse'.")
    sparse_keys, dense_keys, defaults = sess.run(_inputs(parse_example_op))
    sparse_types, dense_types = (parse_example_op.get_attr(name) for name in ("sparse_types", "Tdense"))
    shapes = parse_example_op.get_attr("dense_shapes")
    outputs = [output.name for output in parse_example_op.outputs]
    count = len(sparse_types)

    configuration = ExampleParserConfiguration()
    for i, (key, dtype) in enumerate(zip(sparse_keys, sparse_types, strict=True)):
        feature = configuration.feature_map[key.decode()].var_len_feature
        feature.dtype = dtype.as_datatype_enum
        feature.indices_output_tensor_name = outputs[i]
        feature.values_output_tensor_name = outputs[count + i]
        feature.shapes_output_tensor_name = outputs[2 * count + i]
    dense = zip(dense_keys, dense_types, shapes, defaults, outputs[3 * count :], strict=False)
    for key, dtype, shape, default, output in dense:
        fixed = configuration.feature_map[key.decode()].fixed_len_feature
        fixed.dtype = dtype.as_datatype_enum
        fixed.shape.CopyFrom(shape)
        fixed.default_value.CopyFrom(make_tensor_proto(default, dtype))
        fixed.values_output_tensor_name = output
    return configuration


def _inputs(op: Operation) -> list[Any]:
    """[keys of sparse features, keys of dense ones, defaults of those]: the first version has an input for each key."""
    dense = len(op.get_attr("Tdense"))
    inputs = op.inputs
    if op.type == "ParseExampleV2":
        return [inputs[2], inputs[3], list(inputs[5 : 5 + dense])]
    sparse = op.get_attr("Nsparse")
    return [list(inputs[2 : 2 + sparse]), list(inputs[2 + sparse :][:dense]), list(inputs[2 + sparse + dense :])]
