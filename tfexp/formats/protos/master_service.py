"""The messages of `tensorflow.MasterService`: what a client says to the master of its session."""

from __future__ import annotations

from tensorboard.compat.proto import config_pb2, graph_pb2, tensor_pb2

from tfexp.formats.protos import devices, schema

_types = schema.define(
    "master_service",
    """
    message CreateSessionRequest
      graph_def 1 GraphDef
      config 2 ConfigProto
      target 3 string
    message CreateSessionResponse
      session_handle 1 string
      graph_version 2 int64
    message ExtendSessionRequest
      session_handle 1 string
      graph_def 2 GraphDef
      current_graph_version 3 int64
    message ExtendSessionResponse
      new_graph_version 4 int64
    message RunStepRequest
      session_handle 1 string
      feed 2 repeated NamedTensorProto
      fetch 3 repeated string
      target 4 repeated string
      options 5 RunOptions
      partial_run_handle 6 string
      store_errors_in_response_body 7 bool
      request_id 8 int64
    message RunStepResponse
      tensor 1 repeated NamedTensorProto
      metadata 2 RunMetadata
      status_code 3 int32
      status_error_message 4 string
    message PartialRunSetupRequest
      session_handle 1 string
      feed 2 repeated string
      fetch 3 repeated string
      target 4 repeated string
      request_id 5 int64
    message PartialRunSetupResponse
      partial_run_handle 1 string
    message CloseSessionRequest
      session_handle 1 string
    message CloseSessionResponse
    message ResetRequest
      container 1 repeated string
      device_filters 2 repeated string
    message ResetResponse
    message ListDevicesRequest
      session_handle 1 string
    message ListDevicesResponse
      local_device 1 repeated DeviceAttributes
      remote_device 2 repeated DeviceAttributes
    message MakeCallableRequest
      session_handle 1 string
      options 2 CallableOptions
      request_id 3 int64
    message MakeCallableResponse
      handle 1 int64
    message RunCallableRequest
      session_handle 1 string
      handle 2 int64
      feed 3 repeated TensorProto
      request_id 4 int64
    message RunCallableResponse
      fetch 1 repeated TensorProto
      metadata 2 RunMetadata
    message ReleaseCallableRequest
      session_handle 1 string
      handle 2 int64
    message ReleaseCallableResponse
    """,
    imports=(config_pb2, graph_pb2, tensor_pb2, devices),
)
CreateSessionRequest = _types["CreateSessionRequest"]
CreateSessionResponse = _types["CreateSessionResponse"]
ExtendSessionRequest = _types["ExtendSessionRequest"]
ExtendSessionResponse = _types["ExtendSessionResponse"]
RunStepRequest = _types["RunStepRequest"]
RunStepResponse = _types["RunStepResponse"]
PartialRunSetupRequest = _types["PartialRunSetupRequest"]
PartialRunSetupResponse = _types["PartialRunSetupResponse"]
CloseSessionRequest = _types["CloseSessionRequest"]
CloseSessionResponse = _types["CloseSessionResponse"]
ResetRequest = _types["ResetRequest"]
ResetResponse = _types["ResetResponse"]
ListDevicesRequest = _types["ListDevicesRequest"]
ListDevicesResponse = _types["ListDevicesResponse"]
MakeCallableRequest = _types["MakeCallableRequest"]
MakeCallableResponse = _types["MakeCallableResponse"]
RunCallableRequest = _types["RunCallableRequest"]
RunCallableResponse = _types["RunCallableResponse"]
ReleaseCallableRequest = _types["ReleaseCallableRequest"]
ReleaseCallableResponse = _types["ReleaseCallableResponse"]
