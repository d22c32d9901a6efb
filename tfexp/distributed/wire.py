"""TensorFlow's messages and the values of `messages`, each from the other: one `Method` for each method of the services."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import DecodeError, Message

from tfexp.core.errors import InternalError, InvalidArgumentError
from tfexp.distributed import large_tensors
from tfexp.distributed import messages as m
from tfexp.distributed.messages import as_proto
from tfexp.distributed.status import as_error
from tfexp.formats.protos import devices as dv
from tfexp.formats.protos import master_service as ms
from tfexp.formats.protos import worker_service as ws
from tfexp.plan.stages import task_of
from tfexp.runtime.collectives import Formed, Member

MASTER, WORKER = "tensorflow.MasterService", "tensorflow.WorkerService"


@dataclass(frozen=True)
class Method:
    """How one method travels. `errors_in_body`: its response has room for a status, which the request asks for."""

    service: str
    name: str
    request: type[Any]
    response: type[Any]
    encode: Callable[[Any], Message]
    decode: Callable[[Any], m.Request]
    encode_reply: Callable[[Any, Any], Message]
    decode_reply: Callable[[Any, Any], m.Reply]
    errors_in_body: bool = False

    @property
    def path(self) -> str:
        return f"/{self.service}/{self.name}"

    def request_bytes(self, request: m.Request) -> bytes:
        arrays: list[Any] = []
        small = self.encode(large_tensors.detached(request, arrays)).SerializeToString()
        return large_tensors.joined(self.request.DESCRIPTOR.name, small, arrays)

    def read_request(self, data: bytes) -> tuple[m.Request, bool]:
        """The request, and whether its errors go into the body. InvalidArgumentError for bytes that are none."""
        small, arrays = large_tensors.split(self.request.DESCRIPTOR.name, data)
        try:
            message = self.request.FromString(small)
        except DecodeError:
            raise InvalidArgumentError(
                None, None, f"The request is no {self.request.DESCRIPTOR.name} ({len(data)} bytes)"
            ) from None
        in_body = self.errors_in_body and bool(message.store_errors_in_response_body)
        return large_tensors.attached(self.decode(message), arrays), in_body

    def reply_bytes(self, reply: m.Reply, request: m.Request) -> bytes:
        arrays: list[Any] = []
        small = self.encode_reply(large_tensors.detached(reply, arrays), request).SerializeToString()
        return large_tensors.joined(self.response.DESCRIPTOR.name, small, arrays)

    def read_reply(self, data: bytes, request: m.Request) -> m.Reply:
        """The reply; raises the error that it carries. InternalError for bytes that are none."""
        small, arrays = large_tensors.split(self.response.DESCRIPTOR.name, data)
        try:
            message = self.response.FromString(small)
        except DecodeError:
            raise InternalError(
                None, None, f"The answer is no {self.response.DESCRIPTOR.name} ({len(data)} bytes)"
            ) from None
        reply: m.Reply = large_tensors.attached(self.decode_reply(message, request), arrays)
        return reply


def check_status(response: Any) -> None:
    """Raise the error that a response's body carries, if it does."""
    if response.status_code:
        raise as_error(response.status_code, response.status_error_message)


def _named(values: Any) -> list[Any]:
    return [dv.NamedTensorProto(name=name, tensor=as_proto(value)) for name, value in values]


def _device_to(device: m.Device) -> Message:
    return dv.DeviceAttributes(
        name=device.name,
        device_type=device.kind,
        memory_limit=device.memory_limit,
        incarnation=device.incarnation,
        locality=dv.DeviceLocality(),
        physical_device_desc=device.description,
        xla_global_id=-1,
    )


def _devices_from(protos: Any) -> tuple[m.Device, ...]:
    return tuple(m.Device(d.name, d.device_type, d.memory_limit, d.incarnation, d.physical_device_desc) for d in protos)


def _done(_: Any, __: Any) -> m.Done:
    return m.Done()


def _nothing(response: type[Any]) -> Callable[[Any, Any], Message]:
    return lambda reply, request: response()


# --- MasterService ---------------------------------------------------------------------------------------------------


def _run_step_to(r: m.RunStep) -> Message:
    return ms.RunStepRequest(
        session_handle=r.session,
        feed=_named(r.feeds),
        fetch=r.fetches,
        target=r.targets,
        options=r.options,
        store_errors_in_response_body=True,
    )


def _run_step_from(p: Any) -> m.RunStep:
    return m.RunStep(
        p.session_handle,
        tuple([(f.name, f.tensor) for f in p.feed]),
        tuple(p.fetch),
        tuple(p.target),
        p.options if p.HasField("options") else None,
    )


def _step_run_to(reply: m.StepRun, request: m.RunStep) -> Message:
    response = ms.RunStepResponse(tensor=_named(zip(request.fetches, reply.values, strict=True)))
    if reply.metadata is not None:
        response.metadata.CopyFrom(reply.metadata)
    return response


def _step_run_from(p: Any, request: m.RunStep) -> m.StepRun:
    check_status(p)
    by_name = {t.name: t.tensor for t in p.tensor}
    missing = [name for name in request.fetches if name not in by_name]
    if missing:
        raise InternalError(None, None, f"The server's answer lacks the fetches {', '.join(missing)}")
    return m.StepRun(tuple([by_name[name] for name in request.fetches]), p.metadata if p.HasField("metadata") else None)


def _callable_run_to(reply: m.StepRun, request: Any) -> Message:
    response = ms.RunCallableResponse(fetch=[as_proto(value) for value in reply.values])
    if reply.metadata is not None:
        response.metadata.CopyFrom(reply.metadata)
    return response


_MASTER_METHODS = {
    m.CreateSession: Method(
        MASTER,
        "CreateSession",
        ms.CreateSessionRequest,
        ms.CreateSessionResponse,
        lambda r: ms.CreateSessionRequest(graph_def=r.graph_def, config=r.config, target=r.target),
        lambda p: m.CreateSession(p.graph_def, p.config, p.target),
        lambda r, _: ms.CreateSessionResponse(session_handle=r.session, graph_version=r.graph_version),
        lambda p, _: m.SessionCreated(p.session_handle, p.graph_version),
    ),
    m.ExtendSession: Method(
        MASTER,
        "ExtendSession",
        ms.ExtendSessionRequest,
        ms.ExtendSessionResponse,
        lambda r: ms.ExtendSessionRequest(session_handle=r.session, graph_def=r.graph_def, current_graph_version=r.version),
        lambda p: m.ExtendSession(p.session_handle, p.graph_def, p.current_graph_version),
        lambda r, _: ms.ExtendSessionResponse(new_graph_version=r.graph_version),
        lambda p, _: m.SessionExtended(p.new_graph_version),
    ),
    m.RunStep: Method(
        MASTER,
        "RunStep",
        ms.RunStepRequest,
        ms.RunStepResponse,
        _run_step_to,
        _run_step_from,
        _step_run_to,
        _step_run_from,
        errors_in_body=True,
    ),
    m.CloseSession: Method(
        MASTER,
        "CloseSession",
        ms.CloseSessionRequest,
        ms.CloseSessionResponse,
        lambda r: ms.CloseSessionRequest(session_handle=r.session),
        lambda p: m.CloseSession(p.session_handle),
        _nothing(ms.CloseSessionResponse),
        _done,
    ),
    m.Reset: Method(
        MASTER,
        "Reset",
        ms.ResetRequest,
        ms.ResetResponse,
        lambda r: ms.ResetRequest(container=r.containers, device_filters=r.device_filters),
        lambda p: m.Reset(tuple(p.container), tuple(p.device_filters)),
        _nothing(ms.ResetResponse),
        _done,
    ),
    m.ListDevices: Method(
        MASTER,
        "ListDevices",
        ms.ListDevicesRequest,
        ms.ListDevicesResponse,
        lambda r: ms.ListDevicesRequest(session_handle=r.session),
        lambda p: m.ListDevices(p.session_handle),
        lambda r, _: ms.ListDevicesResponse(local_device=map(_device_to, r.local), remote_device=map(_device_to, r.remote)),
        lambda p, _: m.DevicesListed(_devices_from(p.local_device), _devices_from(p.remote_device)),
    ),
    m.MakeCallable: Method(
        MASTER,
        "MakeCallable",
        ms.MakeCallableRequest,
        ms.MakeCallableResponse,
        lambda r: ms.MakeCallableRequest(session_handle=r.session, options=r.options),
        lambda p: m.MakeCallable(p.session_handle, p.options),
        lambda r, _: ms.MakeCallableResponse(handle=r.handle),
        lambda p, _: m.CallableMade(p.handle),
    ),
    m.RunCallable: Method(
        MASTER,
        "RunCallable",
        ms.RunCallableRequest,
        ms.RunCallableResponse,
        lambda r: ms.RunCallableRequest(session_handle=r.session, handle=r.handle, feed=map(as_proto, r.feeds)),
        lambda p: m.RunCallable(p.session_handle, p.handle, tuple(p.feed)),
        _callable_run_to,
        lambda p, _: m.StepRun(tuple(p.fetch), p.metadata if p.HasField("metadata") else None),
    ),
    m.ReleaseCallable: Method(
        MASTER,
        "ReleaseCallable",
        ms.ReleaseCallableRequest,
        ms.ReleaseCallableResponse,
        lambda r: ms.ReleaseCallableRequest(session_handle=r.session, handle=r.handle),
        lambda p: m.ReleaseCallable(p.session_handle, p.handle),
        _nothing(ms.ReleaseCallableResponse),
        _done,
    ),
}

# --- WorkerService ---------------------------------------------------------------------------------------------------


def _create_worker_session_to(r: m.CreateWorkerSession) -> Message:
    server = dv.ServerDef(job_name=r.job, task_index=r.task, protocol="grpc")
    for job, tasks in r.cluster.items():
        entry = server.cluster.job.add(name=job)
        for task, address in tasks.items():
            entry.tasks[task] = address
    incarnation = r.master_incarnation
    return ws.CreateWorkerSessionRequest(
        session_handle=r.session,
        server_def=server,
        isolate_session_state=r.isolate,
        master_task=r.master_task,
        master_incarnation=incarnation - (1 << 64) if incarnation >= 1 << 63 else incarnation,
        cluster_device_attributes=[dv.DeviceAttributes(name=n, incarnation=i) for n, i in r.incarnations.items()],
    )


def _create_worker_session_from(p: Any) -> m.CreateWorkerSession:
    server = p.server_def
    cluster = {job.name: dict(job.tasks) for job in server.cluster.job}
    return m.CreateWorkerSession(
        p.session_handle,
        server.job_name,
        server.task_index,
        cluster,
        p.master_task,
        p.master_incarnation,
        p.isolate_session_state,
        {device.name: device.incarnation for device in p.cluster_device_attributes},
    )


def _run_graph_to(r: m.RunGraph) -> Message:
    return ws.RunGraphRequest(
        session_handle=r.session,
        create_worker_session_called=True,
        graph_handle=r.graph,
        step_id=r.step,
        exec_opts=ws.ExecutorOpts(record_timeline=r.trace),
        send=_named(r.sends.items()),
        recv_key=r.wanted,
        store_errors_in_response_body=True,
    )


def _run_graph_from(p: Any) -> m.RunGraph:
    return m.RunGraph(
        p.session_handle,
        p.graph_handle,
        p.step_id,
        {s.name: s.tensor for s in p.send},
        tuple(p.recv_key),
        p.exec_opts.record_timeline,
        p.is_partial,
    )


def _graph_run_to(r: m.GraphRun, _: Any) -> Message:
    response = ws.RunGraphResponse(recv=_named(r.values.items()))
    if r.step_stats is not None:
        response.step_stats.CopyFrom(r.step_stats)
    return response


def _graph_run_from(p: Any, _: Any) -> m.GraphRun:
    check_status(p)
    stats = p.step_stats if p.HasField("step_stats") else None
    return m.GraphRun({t.name: t.tensor for t in p.recv}, stats)


def _tensor_received_to(r: m.TensorReceived, _: Any) -> Message:
    tensor = None if r.value is None else as_proto(r.value)
    return ws.RecvTensorResponse(tensor=tensor, is_dead=r.is_dead)


def _member_to(member: Member) -> Message:
    return dv.DeviceAttributes(name=member.device, device_type="CPU", incarnation=member.incarnation)


def _formed_to(r: Formed, request: m.CompleteGroup) -> Message:
    return ws.CompleteGroupResponse(
        group_key=request.key,
        group_size=request.size,
        device_type="CPU",
        num_tasks=len({task_of(member.device) for member in r.members}),
        communicator_key=r.number.to_bytes(8, "big"),
        device_attributes=map(_member_to, r.members),
    )


def _formed_from(p: Any, _: Any) -> Formed:
    members = tuple(Member(device.name, device.incarnation) for device in p.device_attributes)
    return Formed(int.from_bytes(p.communicator_key, "big"), members)


_WORKER_METHODS = {
    m.GetStatus: Method(
        WORKER,
        "GetStatus",
        ws.GetStatusRequest,
        ws.GetStatusResponse,
        lambda r: ws.GetStatusRequest(),
        lambda p: m.GetStatus(),
        lambda r, _: ws.GetStatusResponse(device_attributes=map(_device_to, r.devices)),
        lambda p, _: m.Status(_devices_from(p.device_attributes)),
    ),
    m.CreateWorkerSession: Method(
        WORKER,
        "CreateWorkerSession",
        ws.CreateWorkerSessionRequest,
        ws.CreateWorkerSessionResponse,
        _create_worker_session_to,
        _create_worker_session_from,
        _nothing(ws.CreateWorkerSessionResponse),
        _done,
    ),
    m.DeleteWorkerSession: Method(
        WORKER,
        "DeleteWorkerSession",
        ws.DeleteWorkerSessionRequest,
        ws.DeleteWorkerSessionResponse,
        lambda r: ws.DeleteWorkerSessionRequest(session_handle=r.session),
        lambda p: m.DeleteWorkerSession(p.session_handle),
        _nothing(ws.DeleteWorkerSessionResponse),
        _done,
    ),
    m.RegisterGraph: Method(
        WORKER,
        "RegisterGraph",
        ws.RegisterGraphRequest,
        ws.RegisterGraphResponse,
        lambda r: ws.RegisterGraphRequest(
            session_handle=r.session,
            graph_def=r.graph_def,
            config_proto=r.config,
            graph_options=None if r.config is None else r.config.graph_options,
            create_worker_session_called=True,
        ),
        lambda p: m.RegisterGraph(p.session_handle, p.graph_def, p.config_proto),
        lambda r, _: ws.RegisterGraphResponse(graph_handle=r.graph),
        lambda p, _: m.GraphRegistered(p.graph_handle),
    ),
    m.DeregisterGraph: Method(
        WORKER,
        "DeregisterGraph",
        ws.DeregisterGraphRequest,
        ws.DeregisterGraphResponse,
        lambda r: ws.DeregisterGraphRequest(
            session_handle=r.session, graph_handle=r.graph, create_worker_session_called=True
        ),
        lambda p: m.DeregisterGraph(p.session_handle, p.graph_handle),
        _nothing(ws.DeregisterGraphResponse),
        _done,
    ),
    m.RunGraph: Method(
        WORKER,
        "RunGraph",
        ws.RunGraphRequest,
        ws.RunGraphResponse,
        _run_graph_to,
        _run_graph_from,
        _graph_run_to,
        _graph_run_from,
        errors_in_body=True,
    ),
    m.CleanupGraph: Method(
        WORKER,
        "CleanupGraph",
        ws.CleanupGraphRequest,
        ws.CleanupGraphResponse,
        lambda r: ws.CleanupGraphRequest(step_id=r.step),
        lambda p: m.CleanupGraph(p.step_id),
        _nothing(ws.CleanupGraphResponse),
        _done,
    ),
    m.CleanupAll: Method(
        WORKER,
        "CleanupAll",
        ws.CleanupAllRequest,
        ws.CleanupAllResponse,
        lambda r: ws.CleanupAllRequest(container=r.containers),
        lambda p: m.CleanupAll(tuple(p.container)),
        _nothing(ws.CleanupAllResponse),
        _done,
    ),
    m.RecvTensor: Method(
        WORKER,
        "RecvTensor",
        ws.RecvTensorRequest,
        ws.RecvTensorResponse,
        lambda r: ws.RecvTensorRequest(step_id=r.step, rendezvous_key=r.key),
        lambda p: m.RecvTensor(p.step_id, p.rendezvous_key),
        _tensor_received_to,
        lambda p, _: m.TensorReceived(p.tensor if p.HasField("tensor") else None, p.is_dead),
    ),
    m.CompleteGroup: Method(
        WORKER,
        "CompleteGroup",
        ws.CompleteGroupRequest,
        ws.CompleteGroupResponse,
        lambda r: ws.CompleteGroupRequest(
            group_key=r.key, group_size=r.size, device_type="CPU", device_attributes=_member_to(r.member)
        ),
        lambda p: m.CompleteGroup(
            p.group_key, p.group_size, Member(p.device_attributes.name, p.device_attributes.incarnation)
        ),
        _formed_to,
        _formed_from,
    ),
}

METHODS: dict[type[Any], Method] = {**_MASTER_METHODS, **_WORKER_METHODS}
