"""What a device can do, and what ops cost on it. Source: device_properties.proto, op_performance_data.proto."""

from __future__ import annotations

from tensorboard.compat.proto import attr_value_pb2, tensor_pb2, tensor_shape_pb2, types_pb2

from tfexp.formats.protos import schema

_types = schema.define(
    "device_properties",
    """
    message DeviceProperties
      type 1 string
      vendor 2 string
      model 3 string
      frequency 4 int64
      num_cores 5 int64
      environment 6 map string string
      num_registers 7 int64
      l1_cache_size 8 int64
      l2_cache_size 9 int64
      l3_cache_size 10 int64
      shared_memory_size_per_multiprocessor 11 int64
      memory_size 12 int64
      bandwidth 13 int64
    message NamedDevice
      name 1 string
      properties 2 DeviceProperties
    message SessionInfo
      intra_op_parallelism 1 int64
    message OpInfo
    message OpInfo.TensorProperties
      dtype 1 DataType
      shape 2 TensorShapeProto
      value 3 TensorProto
    message OpInfo
      op 1 string
      attr 2 map string AttrValue
      inputs 3 repeated OpInfo.TensorProperties
      outputs 5 repeated OpInfo.TensorProperties
      device 4 DeviceProperties
      session_info 6 SessionInfo
    message NormalDistribution
      mu 1 double
      sigma 2 double
    message LogNormalDistribution
      mu 1 double
      sigma 2 double
    message OpPerformance
    message OpPerformance.OpMemory
      output_memory 1 repeated int64
      temp_memory 2 int64
      persistent_memory 4 int64
      device_temp_memory 3 int64
      device_persistent_memory 5 int64
    message OpPerformance
      op 1 OpInfo
      session_info 12 SessionInfo
      node 5 string
      temporary_memory_size 2 int64
      compute_cost 3 int64
      compute_time 6 int64
      memory_time 7 int64
      compute_efficiency 4 double
      memory_efficiency 8 double
      execution_time_normal 10 NormalDistribution oneof execution_time
      execution_time_log_normal 11 LogNormalDistribution oneof execution_time
      op_memory 9 OpPerformance.OpMemory
    message OpPerformanceList
      op_performance 1 repeated OpPerformance
    """,
    imports=(
        attr_value_pb2,
        tensor_pb2,
        tensor_shape_pb2,
        types_pb2,
    ),
)
DeviceProperties = _types["DeviceProperties"]
NamedDevice = _types["NamedDevice"]
SessionInfo = _types["SessionInfo"]
OpInfo = _types["OpInfo"]
NormalDistribution = _types["NormalDistribution"]
LogNormalDistribution = _types["LogNormalDistribution"]
OpPerformance = _types["OpPerformance"]
OpPerformanceList = _types["OpPerformanceList"]
