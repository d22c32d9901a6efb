"""What becomes of a step that is cut by task: stages, each one request, and the values that go between them."""

from __future__ import annotations

from dataclasses import dataclass, field

from tensorboard.compat.proto import graph_pb2, tensor_pb2

from tfexp.core.device import DeviceName

HELD = "_held"
"""The attribute of a `_Send` of a handle that a loop is to have, and of the `_Recv` of each of its rounds: the task holds
what the handle is of until the step has ended, and what goes to the master and comes back is a name for it."""


@dataclass(frozen=True)
class Edge:
    """A value that crosses a border. `tensor` is its name; `source` the stage that it comes from, -1 for a feed; `target`
    the stage that it goes to, -1 for a fetch.

    Where the rendezvous keys differ, each names a device of its own task at both ends, so that no worker looks for the value
    elsewhere: it comes with the request. Where they are the same, the value stays in its task until it is taken: by another
    stage of that task, or by the receiver's task, which finds in the key whom to ask.
    """

    tensor: str
    source: int
    target: int
    sent_as: str
    received_as: str


@dataclass
class Stage:
    """What one request makes one task do. It may start when the stages in `after` have ended.

    Where there is a `loop`, the master runs it instead, and the stage has no nodes.
    """

    task: str
    graph_def: graph_pb2.GraphDef
    received: list[Edge] = field(default_factory=list)
    sent: list[Edge] = field(default_factory=list)
    after: set[int] = field(default_factory=set)
    loop: Loop | None = None


@dataclass(frozen=True)
class Partition:
    """All stages of a step, in an order in which they could run one by one; and the fetches that are feeds."""

    stages: tuple[Stage, ...]
    edges: tuple[Edge, ...]


@dataclass(frozen=True)
class Round:
    """The condition or the body of a loop, cut into stages: the names of what it is fed and of what it gives."""

    partition: Partition
    feeds: tuple[str, ...]
    fetches: tuple[str, ...]


@dataclass(frozen=True)
class Loop:
    """What is run in rounds: as long as the condition gives true, the body, which gives the variables' next values.

    Both are fed `values`: first the variables', which are so many, then the invariants'. Their first values come by edges,
    or are constants. `exits`: which variable each tensor is that leaves the loop.
    """

    name: str
    variables: int
    values: tuple[Edge | tensor_pb2.TensorProto, ...]
    exits: dict[str, int]
    condition: Round
    body: Round
    holds: bool = False  # whether a value is the name of what a task holds


def task_of(device: str) -> str:
    """The task's part of a full device name."""
    name = DeviceName.parse(device)
    return f"/job:{name.job}/replica:{name.replica or 0}/task:{name.task or 0}"
