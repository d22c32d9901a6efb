"""`tf.train.Server`: one task of a cluster, served by this process. Source: TF 1.15.

A server listens at the host that the cluster names for its task: `localhost` is this machine alone. `bind` says otherwise
(`"0.0.0.0"`: every interface). Whoever is served can run graphs, which read and write files with the rights of this
process: a server that others can reach should have a token or want certificates (`security`), and warns without.
"""

from __future__ import annotations

import atexit
import logging
import math
import os
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto import cluster_pb2, config_pb2

from tfexp.core.errors import InvalidArgumentError, NotFoundError, UnknownError
from tfexp.distributed.cluster import LOOPBACK, ClusterSpec, same_address, task_names
from tfexp.distributed.traffic import Traffic
from tfexp.runtime.backend import register_backend

if TYPE_CHECKING:
    from tfexp.distributed.security import Security
    from tfexp.distributed.transport import Transport

_log = logging.getLogger("tfexp.distributed")


# Seconds that a server which stops leaves its peers for what they are about to fetch.
_FETCHED_WITHIN = 10.0

# The servers of this process, by `host:port`: their own process's sessions need no socket.
_serving: dict[str, Server] = {}


class Server:
    """The task `/job:job_name/task:task_index` of a cluster, which sessions may have as their target.

    `server_or_cluster_def`: a ClusterSpec, a dict, a ClusterDef or a ServerDef, which names job and task too. Without
    `start` it begins to serve at `start()`. Raises ValueError when the task is none of the cluster's or is not said,
    NotFoundError for a protocol other than grpc, UnknownError when its address cannot be listened at. `bind`,
    `security` (default: the environment's) and `session_gc_seconds` are tfexp's own: sessions whose clients died without
    closing them hold their graphs until `Session.reset`, as in TensorFlow, or until nobody has used them for so long
    (default: TFEXP_SESSION_GC_SECONDS, or 0: for ever). A client that comes back gets AbortedError. Variables stay.
    """

    def __init__(
        self,
        server_or_cluster_def: Any,
        job_name: str | None = None,
        task_index: int | None = None,
        protocol: str | None = None,
        config: config_pb2.ConfigProto | None = None,
        start: bool = True,
        *,
        bind: str | None = None,
        security: Security | None = None,
        session_gc_seconds: float | None = None,
    ):
        cluster, job, index, default = _identity(server_or_cluster_def, job_name, task_index)
        if (protocol or "grpc") != "grpc":
            raise NotFoundError(
                None, None, f"No server factory registered for the given ServerDef: protocol {protocol!r}. There is 'grpc'."
            )
        self._job, self._index = job, index
        self._name = f"/job:{job}/replica:0/task:{index}"
        self._cluster = cluster
        if config is not None:
            default.MergeFrom(config)
        self._config = default
        self._stopped = threading.Event()
        self.traffic = Traffic()
        """Bytes that this server's requests to the others, and their answers, took. tfexp's own."""
        host, port = self._host_and_port()
        if bind is None:
            bind = "127.0.0.1" if host in LOOPBACK else host
        from tfexp.distributed.memory import keep_large_buffers
        from tfexp.distributed.security import Security
        from tfexp.distributed.services import GrpcServices
        from tfexp.distributed.task import Task

        keep_large_buffers()  # before there are threads that have memory of their own
        self._tasks = task_names(cluster)
        if session_gc_seconds is None:
            session_gc_seconds = _seconds("TFEXP_SESSION_GC_SECONDS")
        self._task = Task(self._name, self._tasks, self._connect, default, session_gc_seconds)
        self._security = security or Security.from_environment()
        self._warn_if_open(bind)
        self._services = GrpcServices(self._task, f"{bind}:{port}", self._security)
        self._address = f"{host or 'localhost'}:{self._services.port}"
        self._tasks[self._name] = self._address
        self._started = False
        if start:
            self.start()

    def _host_and_port(self) -> tuple[str, str]:
        """Of the task, as the cluster says; UnknownError for what is no port."""
        address = self._cluster.task_address(self._job, self._index)
        host, _, port = address.rpartition(":")
        if not port.isdigit() or int(port) > 65535:
            raise UnknownError(None, None, f'Could not parse port for local server from "{address}" ({self._name})')
        return host, port

    def _warn_if_open(self, bind: str) -> None:
        if bind not in LOOPBACK and self._security.open_to_all:
            _log.warning(
                "%s listens at %s without a token or clients' certificates: whoever can reach the port can run graphs with "
                "the rights of this process (TFEXP_TOKEN, TFEXP_TLS_MUTUAL)",
                self._name,
                bind,
            )

    def _connect(self, address: str) -> Transport:
        name = next((task for task, known in list(self._tasks.items()) if known == address), "")
        return _channel(address, name, self._security, self.traffic)

    @property
    def address(self) -> str:
        """`host:port` as the other tasks write it; the port is bound from the start."""
        return self._address

    def complete(self, cluster: ClusterSpec) -> None:
        """Take the addresses of a cluster whose tasks found their ports by binding them, before `start`. tfexp's own.

        `cluster` says where every task listens by now, this one included; ValueError if this one listens elsewhere.
        """

        said = cluster.task_address(self._job, self._index)
        if said != self._address:
            raise ValueError(f"{self._name} listens at {self._address}, and the cluster says {said}")
        self._cluster = cluster
        self._tasks.update(task_names(cluster))

    def moved(self, cluster: ClusterSpec, job_name: str, task_index: int) -> None:
        """That task is another process now, at the address that `cluster` says. tfexp's own.

        Whatever this server still waits for from the former process ends with UnavailableError.
        """
        self._cluster = cluster
        self._task.moved(f"/job:{job_name}/replica:0/task:{task_index}", cluster.task_address(job_name, task_index))

    def start(self) -> None:
        """Begin to serve. Nothing happens when it does already."""
        if not self._started:
            self._started = True
            self._services.start()
            _serving[self._address] = self

    def join(self) -> None:
        """Wait until the server is stopped: as a rule, for ever."""
        self._stopped.wait()

    def stop(self, grace: float | None = None) -> None:
        """Stop serving; whatever is under way ends with UnavailableError. tfexp's own: TensorFlow's servers only die.

        What other tasks need for collective ops whose result this one has already, they have some seconds to fetch.
        """
        if _serving.get(self._address) is self:
            del _serving[self._address]
        self._end_calls()
        self._services.stop(grace).wait()
        self._stopped.set()

    def _end_calls(self) -> None:
        if self._task.takes_part:
            self._task.await_taken(_FETCHED_WITHIN)
        self._task.close()
        self._services.stop_lanes()

    @property
    def target(self) -> str:
        """What a session takes as its target to have this server as its master: `grpc://host:port`."""
        return f"grpc://{self._address}"

    @property
    def server_def(self) -> Any:
        """The server's ServerDef: cluster, job, task, protocol, default session config."""
        from tfexp.formats.protos.devices import ServerDef

        return ServerDef(
            cluster=self._cluster.as_cluster_def(),
            job_name=self._job,
            task_index=self._index,
            protocol="grpc",
            default_session_config=self._config,
        )

    @staticmethod
    def create_local_server(config: config_pb2.ConfigProto | None = None, start: bool = True) -> Server:
        """A server of a cluster of its own (`/job:local/task:0`), at a free port of this machine."""
        return Server({"local": ["localhost:0"]}, "local", 0, config=config, start=start)


def _identity(
    given: Any, job_name: str | None, task_index: int | None
) -> tuple[ClusterSpec, str, int, config_pb2.ConfigProto]:
    """Cluster, job, task and default config, from a cluster with arguments or from a ServerDef."""
    default = config_pb2.ConfigProto()
    if type(given).__name__ == "ServerDef":
        cluster = ClusterSpec(cluster_pb2.ClusterDef.FromString(given.cluster.SerializeToString()))
        job_name = given.job_name if job_name is None else job_name
        task_index = given.task_index if task_index is None else task_index
        default = config_pb2.ConfigProto.FromString(given.default_session_config.SerializeToString())
    else:
        cluster = ClusterSpec(given)
    if job_name is None:
        if len(cluster.jobs) != 1:
            raise ValueError(f"job_name has to say which of the jobs {', '.join(cluster.jobs)} this server is of")
        job_name = cluster.jobs[0]
    if task_index is None:
        if len(cluster.task_indices(job_name)) != 1:
            raise ValueError(f"task_index has to say which task of job {job_name!r} this server is")
        task_index = cluster.task_indices(job_name)[0]
    cluster.task_address(job_name, task_index)
    return cluster, job_name, task_index, default


def _seconds(variable: str) -> float:
    """What the environment says, 0 if nothing. InvalidArgumentError for what is no time."""
    said = os.environ.get(variable, "") or "0"
    try:
        seconds = float(said)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise InvalidArgumentError(None, None, f"{variable} is {said!r}, not a number of seconds")
    return seconds


def _transport_to(target: str) -> Transport:
    """In-process for a server of this process, gRPC and lanes for any other."""
    address = target.partition("://")[2]
    from tfexp.distributed.security import Security

    serving = dict(_serving)  # other threads start and stop servers meanwhile
    server = next((server for known, server in serving.items() if same_address(known, address)), None)
    if server is not None:
        from tfexp.distributed.transport import InProcess

        return InProcess(server._task)
    # A task of the cluster that a server of this process is of is reached as that one reaches it.
    near = (server._security for server in serving.values() if address in server._tasks.values())
    return _channel(address, "", next(near, None) or Security.from_environment())


def _channel(address: str, name: str, security: Security, traffic: Traffic | None = None) -> Transport:
    from tfexp.distributed.channel import GrpcChannel
    from tfexp.distributed.lane import LaneChannel

    return LaneChannel(GrpcChannel(address, name, security, traffic), security)


def _open_session(target: str, graph: Any, config: config_pb2.ConfigProto | None) -> Any:
    from tfexp.distributed.remote_session import RemoteBackend

    return RemoteBackend(_transport_to(target), target, graph, config)


def _reset(target: str, containers: Sequence[str] | None, config: config_pb2.ConfigProto | None) -> None:
    from tfexp.distributed.messages import Reset

    transport = _transport_to(target)
    try:
        transport.call(Reset(tuple(containers or ()), tuple(config.device_filters) if config is not None else ()))
    finally:
        transport.close()


register_backend("grpc", _open_session, _reset)


def _end_at_exit() -> None:
    """A worker that has done its last step may be quicker than the others, who still fetch what they need for theirs."""
    for server in list(_serving.values()):
        if server._task.takes_part:
            server._end_calls()


atexit.register(_end_at_exit)
