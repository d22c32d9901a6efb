"""The rows of the table of stand-ins (`places`) for `tensorflow.core`, the messages."""

from __future__ import annotations

# Messages that tensorboard does not ship are ours. By the module's last part.
MESSAGES = {
    "boosted_trees_pb2": "tfexp.formats.protos.boosted_trees",
    "checkpoint_state_pb2": "tfexp.formats.protos.checkpoint_state",
    "control_flow_pb2": "tfexp.formats.protos.control_flow",
    "cpp_shape_inference_pb2": "tfexp.formats.protos.shape_inference",
    "config_pb2": "tensorboard.compat.proto.config_pb2 tensorboard.compat.proto.rpc_options_pb2",
    "device_attributes_pb2": "tfexp.formats.protos.devices",
    "device_properties_pb2": "tfexp.formats.protos.device_properties",
    "error_codes_pb2": "tfexp.formats.protos.queue_runner:Code=Code tfexp.core.errors",
    "example_parser_configuration_pb2": "tfexp.formats.protos.example_parser",
    "example_pb2": "tfexp.formats.protos.example",
    "feature_pb2": "tfexp.formats.protos.example",
    "kernel_def_pb2": "tfexp.formats.protos.kernels",
    "named_tensor_pb2": "tfexp.formats.protos.devices",
    "op_performance_data_pb2": "tfexp.formats.protos.device_properties",
    "queue_runner_pb2": "tfexp.formats.protos.queue_runner",
    "reader_base_pb2": "tfexp.formats.protos.reader_state",
    "saved_model_pb2": "tfexp.formats.protos.saved_model",
    "saved_tensor_slice_pb2": "tfexp.formats.protos.tensor_bundle",
    "tensor_bundle_pb2": "tfexp.formats.protos.tensor_bundle",
    "tensor_slice_pb2": "tfexp.formats.protos.tensor_bundle",
    "tensorflow_server_pb2": "tfexp.formats.protos.devices tensorboard.compat.proto.cluster_pb2",
    "test_log_pb2": "tfexp.formats.protos.benchmark_log",
    "tfprof_options_pb2": "tfexp.formats.protos.profiler_options",
    "tfprof_output_pb2": "tfexp.formats.protos.profiler",
    "topology_pb2": "tfexp.formats.protos.topology",
}
