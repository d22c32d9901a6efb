"""The messages of `tensorflow.WorkerService`: what a session's master, and other workers, say to a task.

`status_code` is an enum on TensorFlow's side; on the wire both are one varint.
"""

from __future__ import annotations

from google.protobuf import any_pb2
from tensorboard.compat.proto import config_pb2, cost_graph_pb2, debug_pb2, graph_pb2, step_stats_pb2, tensor_pb2

from tfexp.formats.protos import devices, schema

_types = schema.define(
    "worker_service",
    """
    message GetStatusRequest
    message GetStatusResponse
      device_attributes 1 repeated DeviceAttributes
    message CreateWorkerSessionRequest
      session_handle 1 string
      server_def 2 ServerDef
      isolate_session_state 3 bool
      cluster_device_attributes 4 repeated DeviceAttributes
      master_task 5 string
      master_incarnation 6 int64
    message CreateWorkerSessionResponse
    message DeleteWorkerSessionRequest
      session_handle 1 string
    message DeleteWorkerSessionResponse
    message RegisterGraphRequest
      session_handle 1 string
      graph_def 2 GraphDef
      has_control_flow 3 bool
      graph_options 4 GraphOptions
      debug_options 5 DebugOptions
      create_worker_session_called 6 bool
      collective_graph_key 7 int64
      config_proto 8 ConfigProto
    message RegisterGraphResponse
      graph_handle 1 string
    message DeregisterGraphRequest
      graph_handle 1 string
      session_handle 2 string
      create_worker_session_called 3 bool
    message DeregisterGraphResponse
    message CleanupAllRequest
      container 1 repeated string
    message CleanupAllResponse
    message ExecutorOpts
      record_costs 1 bool
      record_timeline 3 bool
      record_partition_graphs 4 bool
      report_tensor_allocations_upon_oom 5 bool
    message RunGraphRequest
      graph_handle 1 string
      step_id 2 int64
      send 3 repeated NamedTensorProto
      recv_key 4 repeated string
      exec_opts 5 ExecutorOpts
      is_partial 6 bool
      is_last_partial_run 7 bool
      session_handle 8 string
      store_errors_in_response_body 9 bool
      create_worker_session_called 10 bool
      request_id 11 int64
    message RunGraphResponse
      recv 1 repeated NamedTensorProto
      step_stats 2 StepStats
      cost_graph 3 CostGraphDef
      partition_graph 4 repeated GraphDef
      status_code 5 int32
      status_error_message 6 string
    message CleanupGraphRequest
      step_id 1 int64
    message CleanupGraphResponse
    message RecvTensorRequest
      step_id 1 int64
      rendezvous_key 2 string
      dma_ok 3 bool
      client_locality 4 DeviceLocality
      server_locality 5 DeviceLocality
      transport_options 6 Any
      request_id 7 int64
    message CompleteGroupRequest
      group_key 1 int32
      group_size 2 int32
      device_type 3 string
      collective_type 5 int32
      device_attributes 6 DeviceAttributes
    message CompleteGroupResponse
      group_key 1 int32
      group_size 2 int32
      device_type 3 string
      num_tasks 4 int32
      communicator_key 7 bytes
      device_attributes 8 repeated DeviceAttributes
    message RecvTensorResponse
      tensor 1 TensorProto
      is_dead 2 bool
      send_start_micros 3 int64
      transport_options 4 Any
      require_ack 5 bool
    message MarkRecvFinishedRequest
      request_id 1 int64
    message MarkRecvFinishedResponse
    message LoggingRequest
      enable_rpc_logging 1 bool
      clear 2 bool
      fetch_step_id 3 repeated int64
      disable_rpc_logging 4 bool
    message LoggingResponse
    message TracingRequest
    message TracingResponse
    """,
    imports=(
        any_pb2,
        config_pb2,
        cost_graph_pb2,
        debug_pb2,
        graph_pb2,
        step_stats_pb2,
        tensor_pb2,
        devices,
    ),
)
GetStatusRequest = _types["GetStatusRequest"]
GetStatusResponse = _types["GetStatusResponse"]
CreateWorkerSessionRequest = _types["CreateWorkerSessionRequest"]
CreateWorkerSessionResponse = _types["CreateWorkerSessionResponse"]
DeleteWorkerSessionRequest = _types["DeleteWorkerSessionRequest"]
DeleteWorkerSessionResponse = _types["DeleteWorkerSessionResponse"]
RegisterGraphRequest = _types["RegisterGraphRequest"]
RegisterGraphResponse = _types["RegisterGraphResponse"]
DeregisterGraphRequest = _types["DeregisterGraphRequest"]
DeregisterGraphResponse = _types["DeregisterGraphResponse"]
CleanupAllRequest = _types["CleanupAllRequest"]
CleanupAllResponse = _types["CleanupAllResponse"]
ExecutorOpts = _types["ExecutorOpts"]
RunGraphRequest = _types["RunGraphRequest"]
RunGraphResponse = _types["RunGraphResponse"]
CleanupGraphRequest = _types["CleanupGraphRequest"]
CleanupGraphResponse = _types["CleanupGraphResponse"]
RecvTensorRequest = _types["RecvTensorRequest"]
RecvTensorResponse = _types["RecvTensorResponse"]
CompleteGroupRequest = _types["CompleteGroupRequest"]
CompleteGroupResponse = _types["CompleteGroupResponse"]
MarkRecvFinishedRequest = _types["MarkRecvFinishedRequest"]
MarkRecvFinishedResponse = _types["MarkRecvFinishedResponse"]
LoggingRequest = _types["LoggingRequest"]
LoggingResponse = _types["LoggingResponse"]
TracingRequest = _types["TracingRequest"]
TracingResponse = _types["TracingResponse"]
