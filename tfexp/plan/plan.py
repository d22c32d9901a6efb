"""The frozen outcome of planning. Values live in numbered slots; nothing here belongs to one session.

What there is one of for each node or value is a named tuple, which takes a fraction of a frozen dataclass's time to make.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from tfexp.core.dtypes import DType
from tfexp.core.kernel import Call, Kernel
from tfexp.core.op import Op
from tfexp.core.shape import TensorShape


class Slot(NamedTuple):
    """What is known of one value: its tensor's name, dtype and shape, and how it is stored."""

    name: str
    dtype: DType
    shape: TensorShape
    constant: np.ndarray | None = None
    buffer: int | None = None  # the number of the buffer that the value is written to, if any
    may_be_dead: bool = False


class Step(NamedTuple):
    """One node: reads slots, runs, writes slots.

    `reads_through`: which inputs are Refs whose buffer is wanted. `needs_value`: the positions of the inputs that are taken
    as Refs and must be initialized. `copied`: those of the arrays that live in a variable which the step updates in place.
    """

    name: str
    op: Op
    attrs: dict[str, Any]
    device: str
    origin: Any
    kernel: Kernel
    call: Call | None
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    reads_through: tuple[bool, ...]
    needs_value: tuple[int, ...] = ()
    copied: tuple[int, ...] = ()
    waits_for_dead: tuple[int, ...] = ()  # steps whose death kills this one, because of a control edge
    may_be_dead: bool = False
    writes: tuple[int, ...] = ()  # slots of the variables' Refs that it may update
    input_names: tuple[str, ...] = ()  # to show, as the next
    controls: tuple[str, ...] = ()
    loop: Loop | None = None  # for a step that stands for a whole loop
    behind: tuple[int, ...] = ()  # the steps that may have to wait and that this one cannot run without
    waits: bool = False  # it may have to wait, itself or within the loop that it stands for
    own_thread: bool = False  # it may block while another such step is to run, which this one must not delay
    parks: bool = False  # it may have to wait, and some later step can run meanwhile
    copies: bool = False  # it reads a variable (`Kernel.reads_variable`), and its result has to be a copy


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop, run by two plans: while the first value of `condition` is true, `body` makes the next variables.

    `condition` is fed the variables and the constants of the loop, `body` these and what else `condition` gives. `results`
    are positions in (variables, what else the condition gives).
    """

    variables: int
    condition: Plan
    body: Plan
    results: tuple[int, ...]


class Keep(Enum):
    """What has to happen to a fetched value so that it is the caller's alone."""

    AS_IT_IS = "as it is"
    COPY = "copied"  # it lives in a variable, a feed, a constant, a buffer, or in another fetch


class Fetch(NamedTuple):
    slot: int
    keep: Keep


class PassRecord(NamedTuple):
    """What a pass left over, for people to look at."""

    name: str
    nodes_before: int
    nodes_after: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Section:
    """Steps that several threads run at the same time: the ranges of the steps that each runs, one after another."""

    strands: tuple[range, ...]

    @property
    def stop(self) -> int:
        return self.strands[-1].stop

    def __len__(self) -> int:
        """How many steps it has."""
        return self.stop - self.strands[0].start

    def positions(self) -> range:
        """Its steps: strand by strand, with nothing between them."""
        return range(self.strands[0].start, self.stop)


@dataclass(frozen=True)
class Plan:
    """One step, ready to be bound to a session and run."""

    slots: tuple[Slot, ...]
    feeds: tuple[int, ...]
    steps: tuple[Step, ...]
    fetches: tuple[Fetch, ...]
    passes: tuple[PassRecord, ...] = ()
    buffers: tuple[int, ...] = ()  # bytes of each
    may_wait: bool = False  # whether a kernel may wait for other steps (queues), so that cancelling must reach it
    fed_shapes: tuple[TensorShape, ...] = field(default=())
    shares: bool = False  # whether a kernel splits its work over the intra-op threads, which BLAS then leaves alone
    parks: bool = False  # whether any step does
    inter_op: int = 1  # steps with a thread of their own that may run at the same time
    sections: tuple[Section, ...] = ()  # in order
    inner: bool = False  # a part of a loop: its fetches go on as they are, Refs and all

    def describe(self) -> str:
        """The plan in words: feeds, passes, steps with shapes and buffers, fetches."""
        lines = [
            f"plan: {len(self.steps)} steps, {len(self.slots)} values, "
            f"{len(self.buffers)} buffers of {sum(self.buffers)} bytes"
        ]
        for slot, shape in zip(self.feeds, self.fed_shapes, strict=True):
            lines.append(f"  feed {self.slots[slot].name} {self.slots[slot].dtype.name} {shape}")
        for record in self.passes:
            lines.append(
                f"  pass {record.name:<12} {record.nodes_before:>6} -> {record.nodes_after:>6} nodes"
                f"  {record.seconds * 1e3:8.2f} ms"
            )
        for step in self.steps:
            lines.append(f"  {self._step_line(step)}")
            if step.loop is not None:
                for part, plan in (("while", step.loop.condition), ("do", step.loop.body)):
                    lines.extend(f"    {part} | {line}" for line in plan.describe().splitlines())
        lines.extend(f"  fetch {self.slots[f.slot].name} ({f.keep.value})" for f in self.fetches)
        return "\n".join(lines)

    def _step_line(self, step: Step) -> str:
        inputs = ", ".join(self.slots[i].name for i in step.inputs)
        outputs = ", ".join(self._value_text(i) for i in step.outputs)
        how = "" if step.call is None else f"  [direct: {getattr(step.call.function, '__name__', 'callable')}]"
        return f"step {step.name} = {step.op.name}({inputs}) -> ({outputs}){how}"

    def _value_text(self, index: int) -> str:
        slot = self.slots[index]
        where = "" if slot.buffer is None else f" in buffer {slot.buffer}"
        return f"{slot.dtype.name}{slot.shape}{where}"

    def __repr__(self) -> str:
        return self.describe()
