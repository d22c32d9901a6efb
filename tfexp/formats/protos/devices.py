"""Devices and servers as messages: DeviceAttributes, ServerDef, NamedTensorProto."""

from __future__ import annotations

from tensorboard.compat.proto import cluster_pb2, config_pb2, tensor_pb2

from tfexp.formats.protos import schema

_types = schema.define(
    "devices",
    """
    message InterconnectLink
      device_id 1 int32
      type 2 string
      strength 3 int32
    message LocalLinks
      link 1 repeated InterconnectLink
    message DeviceLocality
      bus_id 1 int32
      numa_node 2 int32
      links 3 LocalLinks
    message DeviceAttributes
      name 1 string
      device_type 2 string
      memory_limit 4 int64
      locality 5 DeviceLocality
      incarnation 6 fixed64
      physical_device_desc 7 string
      xla_global_id 8 int64
    message TaskDeviceFilters
      device_filters 1 repeated string
    message JobDeviceFilters
      name 1 string
      tasks 2 map int32 TaskDeviceFilters
    message ClusterDeviceFilters
      jobs 1 repeated JobDeviceFilters
    message ServerDef
      cluster 1 ClusterDef
      job_name 2 string
      replica 8 int32
      task_index 3 int32
      default_session_config 4 ConfigProto
      protocol 5 string
      port 6 int32
      cluster_device_filters 7 ClusterDeviceFilters
    message NamedTensorProto
      name 1 string
      tensor 2 TensorProto
    """,
    imports=(cluster_pb2, config_pb2, tensor_pb2),
)
DeviceLocality = _types["DeviceLocality"]
DeviceAttributes = _types["DeviceAttributes"]
ServerDef = _types["ServerDef"]
NamedTensorProto = _types["NamedTensorProto"]
# What other definitions import, as from a generated module.
DESCRIPTOR = NamedTensorProto.DESCRIPTOR.file
