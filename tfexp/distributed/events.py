"""What goes in and out of the state machines: events, and the commands that they answer with.

A call is a number that whoever drives the machine gives to a request; an ask is a number that the machine gives to a
request of its own. Both may be answered once; what comes later, or twice, or for a number that is no more, is ignored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfexp.core.errors import OpError
from tfexp.distributed.messages import Reply, Request


@dataclass(frozen=True)
class Asked:
    """Somebody made a request."""

    call: int
    request: Request


@dataclass(frozen=True)
class Cancelled:
    """Whoever made the request does not wait any more, or its time is over."""

    call: int
    error: OpError


@dataclass(frozen=True)
class Answered:
    """The machine's own request `ask` was answered."""

    ask: int
    reply: Any


@dataclass(frozen=True)
class Failed:
    """The machine's own request `ask` came to nothing."""

    ask: int
    error: OpError


@dataclass(frozen=True)
class Elapsed:
    """The time has passed after which the machine is told so again; what nobody uses is found by it."""


Event = Asked | Cancelled | Answered | Failed | Elapsed


@dataclass(frozen=True)
class Respond:
    """Answer a call."""

    call: int
    reply: Reply


@dataclass(frozen=True)
class Refuse:
    """Answer a call with an error."""

    call: int
    error: OpError


@dataclass(frozen=True)
class Ask:
    """Make a request to a task (`/job:j/replica:0/task:0`), for the sake of a call (-1: of none). `wait`: until it is up."""

    ask: int
    call: int
    task: str
    request: Request
    wait: bool = False


@dataclass(frozen=True)
class Abandon:
    """Nobody waits for the answer to this ask any more: whatever it does may stop, for this reason."""

    ask: int
    error: OpError


@dataclass(frozen=True)
class SetTimer:
    """Cancel this call when so much time has passed."""

    call: int
    milliseconds: int


@dataclass(frozen=True)
class Load:
    """Make a graph of a session ready to run; answered with the program. `isolated`: a session with resources of its own."""

    ask: int
    call: int
    session: str
    graph_def: Any
    config: Any
    isolated: bool


@dataclass(frozen=True)
class Execute:
    """Compute these parts of a program (None: all), fed by key; answered with what is to be sent, by key."""

    ask: int
    call: int
    program: Any
    run: Any
    fed: dict[str, Any]
    parts: frozenset[int] | None
    trace: bool = False


@dataclass(frozen=True)
class Drop:
    """Drop the resources of these containers (the default one if none is named)."""

    containers: tuple[str, ...]


@dataclass(frozen=True)
class LetGo:
    """Drop what is held for a step (`plan.stages.HELD`)."""

    step: int


@dataclass(frozen=True)
class Unload:
    """Drop a program of a session, which nobody runs."""

    session: str
    program: Any


@dataclass(frozen=True)
class Forget:
    """Drop what belongs to a session alone."""

    session: str


Command = Respond | Refuse | Ask | Abandon | SetTimer | Load | Execute | Drop | LetGo | Unload | Forget
