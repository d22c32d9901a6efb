"""What a master knows of its sessions: their steps, cut and registered, and those under way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tensorboard.compat.proto import config_pb2

from tfexp.distributed import messages as m
from tfexp.distributed.events import Command
from tfexp.distributed.session_graph import SessionGraph
from tfexp.plan.assign import Assignment
from tfexp.plan.dynamic import DynamicPlacer
from tfexp.plan.stages import Edge, Partition
from tfexp.plan.trials import Trials


class Signature(NamedTuple):
    """The feeds, fetches and targets of a step, by name."""

    feeds: tuple[str, ...]
    fetches: tuple[str, ...]
    targets: tuple[str, ...]


@dataclass
class Prepared:
    """One signature, cut and registered. `waiting` are the runs that came before it was."""

    signature: Signature
    partition: Partition
    feeds: tuple[str, ...]  # full names, as in the edges
    fetches: tuple[str, ...]
    targets: tuple[str, ...]
    graphs: list[str]
    missing: int
    waiting: list[Run] = field(default_factory=list)
    arriving: dict[int, list[Edge]] = field(default_factory=dict)  # what each stage gets from the master
    wanted: dict[int, tuple[str, ...]] = field(default_factory=dict)  # what each stage gives to the master
    trials: Trials | None = None  # of the dynamic placer
    rounds: dict[int, tuple[Prepared, Prepared]] = field(default_factory=dict)  # of stages that are loops: condition, body

    def with_rounds(self) -> list[Prepared]:
        """This and all that runs in its loops."""
        return [self, *(part for pair in self.rounds.values() for inner in pair for part in inner.with_rounds())]


@dataclass
class Run:
    """One step under way. `call` is the one that it works for."""

    call: int
    session: Session
    prepared: Prepared
    step: int
    feeds: dict[str, m.Value]
    options: config_pb2.RunOptions
    values: dict[Edge, m.Value] = field(default_factory=dict)
    ended: set[int] = field(default_factory=set)
    asks: dict[int, int] = field(default_factory=dict)  # ask -> stage
    started: set[int] = field(default_factory=set)
    metadata: config_pb2.RunMetadata | None = None
    over: bool = False
    measured: bool = False  # the dynamic placer wants to know what it takes
    loops: dict[int, Run] = field(default_factory=dict)  # the round under way of each stage that is a loop
    then: Callable[[tuple[m.Value, ...]], list[Command]] | None = None  # of a round: what becomes of what it gives
    within: Run | None = None  # of a round: the run with the loop

    def add_stats(self, step_stats: Any) -> None:
        """A part of it has taken what this StepStats says."""
        if self.metadata is None:
            self.metadata = config_pb2.RunMetadata()
        self.metadata.step_stats.MergeFrom(step_stats)

    @property
    def traced(self) -> bool:
        """Whether the client wants to know what it takes."""
        return self.options.trace_level != config_pb2.RunOptions.NO_TRACE


@dataclass
class Session:
    handle: str
    graph: SessionGraph
    config: config_pb2.ConfigProto
    tasks: tuple[str, ...]
    devices: dict[str, tuple[m.Device, ...]] = field(default_factory=dict)
    assignment: Assignment | None = None
    incarnations: dict[str, int] = field(default_factory=dict)
    prepared: dict[Signature, Prepared] = field(default_factory=dict)
    placer: DynamicPlacer | None = None
    trials: dict[Signature, Trials] = field(default_factory=dict)  # of `placer`
    callables: dict[int, tuple[Signature, config_pb2.RunOptions]] = field(default_factory=dict)
    next_callable: int = 1
    runs: dict[int, Run] = field(default_factory=dict)  # by call
    idle: int = 0  # how often time elapsed since somebody used it

    @property
    def busy(self) -> bool:
        """Whether somebody waits for one of its steps."""
        return bool(self.runs)
