"""What `tf.profiler` returns and keeps: tfprof_output.proto; tfprof_log.proto comes with tensorboard. Source: TensorFlow."""

from __future__ import annotations

from tensorboard.compat.proto import tensor_shape_pb2, tfprof_log_pb2, types_pb2

from tfexp.formats.protos.schema import define

OpLogProto = tfprof_log_pb2.OpLogProto
ProfileProto = tfprof_log_pb2.ProfileProto

_MESSAGES = define(
    "tfprof_output",
    """
    message TFProfTensorProto
      dtype 1 DataType
      value_double 2 repeated double
      value_int64 3 repeated int64
      value_str 4 repeated string
    message GraphNodeProto
      name 1 string
      tensor_value 15 TFProfTensorProto
      run_count 21 int64
      exec_micros 2 int64
      accelerator_exec_micros 17 int64
      cpu_exec_micros 18 int64
      requested_bytes 3 int64
      peak_bytes 24 int64
      residual_bytes 25 int64
      output_bytes 26 int64
      parameters 4 int64
      float_ops 13 int64
      devices 10 repeated string
      total_definition_count 23 int64
      total_run_count 22 int64
      total_exec_micros 6 int64
      total_accelerator_exec_micros 19 int64
      total_cpu_exec_micros 20 int64
      total_requested_bytes 7 int64
      total_peak_bytes 27 int64
      total_residual_bytes 28 int64
      total_output_bytes 29 int64
      total_parameters 8 int64
      total_float_ops 14 int64
      shapes 11 repeated TensorShapeProto
      input_shapes 16 map int32 TensorShapeProto
      children 12 repeated GraphNodeProto
    message MultiGraphNodeProto
      name 1 string
      exec_micros 2 int64
      accelerator_exec_micros 12 int64
      cpu_exec_micros 13 int64
      requested_bytes 3 int64
      peak_bytes 16 int64
      residual_bytes 17 int64
      output_bytes 18 int64
      parameters 4 int64
      float_ops 5 int64
      total_exec_micros 6 int64
      total_accelerator_exec_micros 14 int64
      total_cpu_exec_micros 15 int64
      total_requested_bytes 7 int64
      total_peak_bytes 19 int64
      total_residual_bytes 20 int64
      total_output_bytes 21 int64
      total_parameters 8 int64
      total_float_ops 9 int64
      graph_nodes 10 repeated GraphNodeProto
      children 11 repeated MultiGraphNodeProto
    message AdviceProto
    message AdviceProto.Checker
      reports 2 repeated string
    message AdviceProto
      checkers 1 map string AdviceProto.Checker
    """,
    imports=(tensor_shape_pb2, types_pb2),
)

GraphNodeProto = _MESSAGES["GraphNodeProto"]
MultiGraphNodeProto = _MESSAGES["MultiGraphNodeProto"]
AdviceProto = _MESSAGES["AdviceProto"]
TFProfTensorProto = _MESSAGES["TFProfTensorProto"]
