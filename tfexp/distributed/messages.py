"""What clients ask of masters and masters of workers, as values: the events of the state machines in `master` and `worker`.

One class for each method of TensorFlow's two services. Tensors are arrays or TensorProtos, whichever they came as: a
value that is only passed on is never taken apart. `wire` translates to and from the protocol's messages.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from tensorboard.compat.proto import config_pb2, graph_pb2, tensor_pb2

from tfexp.core.dtypes import DType
from tfexp.core.errors import OpError, ResourceExhaustedError
from tfexp.formats.tensor import array_to_wire, make_ndarray
from tfexp.runtime.collectives import Formed, Member

# Elements that a tensor may have whose values are not all there.
_MAX_REPEATED = 1 << 28

Value: TypeAlias = np.ndarray | np.generic | tensor_pb2.TensorProto


def as_array(value: Value) -> Any:
    """The value as an array that may be read-only; TypeError or ValueError for a TensorProto that makes no sense.

    ResourceExhaustedError where a few bytes would become more memory than any sender means: one value, repeated.
    """
    if not isinstance(value, tensor_pb2.TensorProto):
        return value
    if not value.tensor_content and math.prod(dim.size for dim in value.tensor_shape.dim) > _MAX_REPEATED:
        dims = [dim.size for dim in value.tensor_shape.dim]
        raise ResourceExhaustedError(None, None, f"A tensor of shape {dims} came without its values")
    return make_ndarray(value, writable=False)


def as_proto(value: Value) -> tensor_pb2.TensorProto:
    return value if isinstance(value, tensor_pb2.TensorProto) else array_to_wire(np.asarray(value))


def declared(value: Value, dtype: DType) -> Value:
    """The value as its tensor's dtype has it: of quantized types, an array of integers does not tell which it is."""
    if not dtype.is_quantized or isinstance(value, tensor_pb2.TensorProto):
        return value
    return array_to_wire(np.asarray(value), dtype)


@dataclass(frozen=True)
class Device:
    """A device of a task. `incarnation` changes when its process does; `description` says what serves it."""

    name: str
    kind: str
    memory_limit: int
    incarnation: int
    description: str = ""


@dataclass(frozen=True)
class Done:
    """The answer that says no more than that."""


# --- MasterService ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CreateSession:
    graph_def: graph_pb2.GraphDef
    config: config_pb2.ConfigProto
    target: str = ""


@dataclass(frozen=True)
class SessionCreated:
    session: str
    graph_version: int = 0


@dataclass(frozen=True)
class ExtendSession:
    """`graph_def` holds the new nodes alone; `version` is the one that they were made for."""

    session: str
    graph_def: graph_pb2.GraphDef
    version: int


@dataclass(frozen=True)
class SessionExtended:
    graph_version: int


@dataclass(frozen=True)
class RunStep:
    session: str
    feeds: tuple[tuple[str, Value], ...]
    fetches: tuple[str, ...]
    targets: tuple[str, ...]
    options: config_pb2.RunOptions | None = None


@dataclass(frozen=True)
class StepRun:
    """The values of the fetches, in order."""

    values: tuple[Value, ...]
    metadata: config_pb2.RunMetadata | None = None


@dataclass(frozen=True)
class CloseSession:
    session: str


@dataclass(frozen=True)
class Reset:
    """Drop these containers everywhere (the default one if none is named) and close the master's sessions."""

    containers: tuple[str, ...]
    device_filters: tuple[str, ...] = ()


@dataclass(frozen=True)
class ListDevices:
    session: str


@dataclass(frozen=True)
class DevicesListed:
    local: tuple[Device, ...]
    remote: tuple[Device, ...]


@dataclass(frozen=True)
class MakeCallable:
    session: str
    options: config_pb2.CallableOptions


@dataclass(frozen=True)
class CallableMade:
    handle: int


@dataclass(frozen=True)
class RunCallable:
    session: str
    handle: int
    feeds: tuple[Value, ...]


@dataclass(frozen=True)
class ReleaseCallable:
    session: str
    handle: int


# --- WorkerService ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GetStatus:
    pass


@dataclass(frozen=True)
class Status:
    devices: tuple[Device, ...]


@dataclass(frozen=True)
class CreateWorkerSession:
    """`job` and `task` are who the master thinks it speaks to; `cluster` is its view, `{}` when it did not say.

    `incarnations`: of the devices of the tasks without which the session is of no use.
    """

    session: str
    job: str
    task: int
    cluster: dict[str, dict[int, str]]
    master_task: str = ""
    master_incarnation: int = 0
    isolate: bool = False
    incarnations: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class DeleteWorkerSession:
    session: str


@dataclass(frozen=True)
class RegisterGraph:
    session: str
    graph_def: graph_pb2.GraphDef
    config: config_pb2.ConfigProto | None = None


@dataclass(frozen=True)
class GraphRegistered:
    graph: str


@dataclass(frozen=True)
class DeregisterGraph:
    session: str
    graph: str


@dataclass(frozen=True)
class RunGraph:
    """Run a registered graph as part of a step. `sends` come along, by key; the values of `wanted` keys come back."""

    session: str
    graph: str
    step: int
    sends: dict[str, Value] = field(default_factory=dict)
    wanted: tuple[str, ...] = ()
    trace: bool = False
    partial: bool = False


@dataclass(frozen=True)
class GraphRun:
    values: dict[str, Value]
    step_stats: Any = None


@dataclass(frozen=True)
class CleanupGraph:
    step: int


@dataclass(frozen=True)
class CleanupAll:
    containers: tuple[str, ...]


@dataclass(frozen=True)
class RecvTensor:
    step: int
    key: str


@dataclass(frozen=True)
class TensorReceived:
    value: Value | None
    is_dead: bool = False


@dataclass(frozen=True)
class CompleteGroup:
    """Join a group of devices at its leader; answered with what has formed when `size` of them have."""

    key: int
    size: int
    member: Member


# --- what a task's own kernels ask of its worker ---------------------------------------------------------------------


@dataclass(frozen=True)
class JoinGroup:
    leader: str
    request: CompleteGroup


@dataclass(frozen=True)
class Post:
    """Have a value there for whoever fetches it. To a group, its number is what a step's is to its graphs."""

    step: int
    key: str
    value: Value


@dataclass(frozen=True)
class Fetch:
    """Take what another device has posted, or will post."""

    step: int
    key: str


@dataclass(frozen=True)
class LeaveGroup:
    """No more is posted here: the others get AbortedError for what they wait for. `keeps`: what was can still be fetched."""

    group_key: int
    step: int
    error: OpError
    keeps: bool


@dataclass(frozen=True)
class AwaitTaken:
    """Answered when everything has been fetched that was posted here."""


Request = (
    CreateSession
    | ExtendSession
    | RunStep
    | CloseSession
    | Reset
    | ListDevices
    | MakeCallable
    | RunCallable
    | ReleaseCallable
    | GetStatus
    | CreateWorkerSession
    | DeleteWorkerSession
    | RegisterGraph
    | DeregisterGraph
    | RunGraph
    | CleanupGraph
    | CleanupAll
    | RecvTensor
    | CompleteGroup
    | JoinGroup
    | Post
    | Fetch
    | LeaveGroup
    | AwaitTaken
)
Reply = (
    Done
    | SessionCreated
    | SessionExtended
    | StepRun
    | DevicesListed
    | CallableMade
    | Status
    | GraphRegistered
    | GraphRun
    | TensorReceived
    | Formed
)
