"""Straight-line Python for a plan. Names are letters and numbers of slots and steps: no text of the graph gets in.

x<slot>  a feed (parameter)            f<step>  the step's callable      D  DEAD
c<slot>  a constant                    s<step>_<n>  its scratch arrays   U  raises 'uninitialized'
h<slot>  a handle (Ref, queue)         b<slot>  a buffer of that shape   G  hands a fetch out, whatever it is
v<slot>  a computed value (local)      t<slot>  a Ref's array (local)    d<step>  whether a step is dead (local)
r        what a step gave that may have to wait (local)                  W  the class Waiting; P  stops the code there
w<step>  a strand that begins with the step: a function that takes the values it reads and returns those that others read
F        runs strands, one by each thread
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tfexp.core import dtypes
from tfexp.core.kernel import Call
from tfexp.core.op import group_inputs
from tfexp.plan.plan import Fetch, Keep, Plan, Section, Step

# Values that are let go of early, rather than at the end of the step, when they are (or may be) larger than this.
_LARGE = 1 << 14


@dataclass(frozen=True)
class Source:
    """Generated text, and which step each of its lines (counted from 1) belongs to; -1 where none."""

    text: str
    step_of_line: tuple[int, ...]

    def __repr__(self) -> str:
        return self.text


def generate(plan: Plan) -> Source:
    """The source of `run(x…)`, which returns the tuple of fetched values."""
    return _Writer(plan).write()


def is_handle(step: Step) -> bool:
    """Whether the step is run once when the plan is bound, and its outputs are names from then on."""
    return step.kernel.handle and not step.may_be_dead


def _takes_out_by_position(call: Call) -> bool:
    """A ufunc's output as positional argument is quicker than by name; NumPy wants these two called by name."""
    return isinstance(call.function, np.ufunc) and call.function not in (np.maximum, np.minimum)


class _Writer:
    def __init__(self, plan: Plan):
        self.plan = plan
        self.lines: list[str] = []
        self.owners: list[int] = []
        self.names = self._names()
        self.arrays: dict[int, str] = {}  # slot of a Ref -> the local that holds its array now
        self.last_use = self._last_uses()
        self.indent = 1

    def _names(self) -> list[str]:
        names = [f"v{i}" if slot.constant is None else f"c{i}" for i, slot in enumerate(self.plan.slots)]
        for i in self.plan.feeds:
            names[i] = f"x{i}"
        for step in self.plan.steps:
            if is_handle(step):
                for i in step.outputs:
                    names[i] = f"h{i}"
        return names

    def _last_uses(self) -> dict[int, int]:
        last: dict[int, int] = {}
        for position, step in enumerate(self.plan.steps):
            for i in step.inputs:
                last[i] = position
        for fetch in self.plan.fetches:
            last[fetch.slot] = len(self.plan.steps)
        return last

    def write(self) -> Source:
        self._line(f"def run({', '.join(self.names[i] for i in self.plan.feeds)}):", -1, indent=0)
        position = 0
        for section in self.plan.sections:
            self._steps(range(position, section.strands[0].start))
            self._section(section)
            position = section.stop
        self._steps(range(position, len(self.plan.steps)))
        values = "".join(f"{self._fetched(number, fetch)}, " for number, fetch in enumerate(self.plan.fetches))
        self._line(f"return ({values})", -1)
        return Source("\n".join(self.lines) + "\n", tuple(self.owners))

    def _line(self, text: str, owner: int, indent: int | None = None) -> None:
        self.lines.append("    " * (self.indent if indent is None else indent) + text)
        self.owners.append(owner)

    def _steps(self, positions: range) -> None:
        for position in positions:
            if not is_handle(self.plan.steps[position]):
                self._step(position, self.plan.steps[position])

    def _section(self, section: Section) -> None:
        """The strands as functions, and the call that runs them all."""
        results, tasks = [], []
        outside, kept = self.arrays, set[int]()  # what the step itself has hold of
        for strand in section.strands:
            steps = [self.plan.steps[position] for position in strand]
            made = {i for step in steps for i in step.outputs}
            taken = dict.fromkeys(i for step in steps for i in step.inputs if i not in made and self._is_local(i))
            given = [i for i in sorted(made) if self.last_use.get(i, -1) >= strand.stop and self._is_local(i)]
            names = ", ".join(self.names[i] for i in taken)
            self._line(f"def w{strand.start}({names}):", -1)
            self.arrays, self.indent = {}, 2
            self._steps(strand)
            self._line(f"return {self._tuple(given)}", -1)
            self.indent = 1
            kept.update(taken, given)
            results.append(self._tuple(given))
            tasks.append(f"(w{strand.start}, {self._tuple(taken)})")
        self._line(f"{', '.join(results)}, = F({', '.join(tasks)})", -1)
        self.arrays = {} if any(self.plan.steps[p].writes for strand in section.strands for p in strand) else outside
        for i in sorted(kept):
            if self.last_use[i] < section.stop and self.names[i].startswith("v") and self._is_large(i):
                self._line(f"{self.names[i]} = None", -1)

    def _is_local(self, slot: int) -> bool:
        return self.names[slot][0] in "vx"

    def _tuple(self, slots: Iterable[int]) -> str:
        return f"({''.join(f'{self.names[i]}, ' for i in slots)})"

    def _step(self, position: int, step: Step) -> None:
        if not step.may_be_dead:
            self._computation(position, step, self.indent)
        else:
            self._line(f"if {self._death(step)}:", position)
            outputs = "".join(f"{self.names[i]} = " for i in step.outputs)
            self._line(f"d{position} = True", position, 2)
            if outputs:
                self._line(f"{outputs}D", position, 2)
            self._line("else:", position)
            self._line(f"d{position} = False", position, 2)
            # What is read in a branch is not there outside of it.
            outside = self.arrays
            self.arrays = dict(outside)
            self._computation(position, step, 2)
            self.arrays = {k: v for k, v in outside.items() if k in self.arrays}
        for i in dict.fromkeys(step.inputs):
            if self.last_use[i] == position and self.names[i].startswith("v") and self._is_large(i):
                self._line(f"{self.names[i]} = None", position)

    def _death(self, step: Step) -> str:
        inputs = [f"{self.names[i]} is D" for i in step.inputs if self.plan.slots[i].may_be_dead]
        if step.kernel.takes_dead:
            return " and ".join(inputs)
        return " or ".join(inputs + [f"d{k}" for k in step.waits_for_dead])

    def _computation(self, position: int, step: Step, indent: int) -> None:
        arguments = [
            self._array_of(slot, position, indent, self._dead_at(step, i)) if through else self.names[slot]
            for i, (slot, through) in enumerate(zip(step.inputs, step.reads_through, strict=True))
        ]
        for i in step.copied:
            copy = f"{arguments[i]}.copy()"
            arguments[i] = f"({arguments[i]} if {arguments[i]} is D else {copy})" if self._dead_at(step, i) else copy
        outputs = step.outputs
        if step.call is None:
            grouped = group_inputs(step.op, arguments, step.attrs)
            arguments = [f"[{', '.join(a)}]" if isinstance(a, list) else a for a in grouped]
        else:
            arguments += [f"s{position}_{n}" for n in range(len(step.call.scratch))]
            if len(outputs) == 1 and self.plan.slots[outputs[0]].buffer is not None:
                keyword = "" if _takes_out_by_position(step.call) else "out="
                arguments.append(f"{keyword}b{outputs[0]}")
        text = f"f{position}({', '.join(arguments)})"
        if step.parks:
            self._line(f"r = {text}", position, indent)
            self._line(f"if isinstance(r, W): return P({position}, r, locals())", position, indent)
            text = "r"
        if any(i in self.last_use for i in outputs):
            single = step.op.has_single_output
            text = "".join(f"{self.names[i]}{'' if single else ', '}" for i in outputs) + f" = {text}"
        self._line(text, position, indent)
        if step.writes:
            # An update may put another array in place of the one that was read.
            self.arrays.clear()

    def _dead_at(self, step: Step, number: int) -> bool:
        """Whether the kernel may be called with this input dead, as Merge is."""
        return step.kernel.takes_dead and self.plan.slots[step.inputs[number]].may_be_dead

    def _array_of(self, slot: int, position: int, indent: int, may_be_dead: bool) -> str:
        if slot not in self.arrays:
            name = self.names[slot]
            value = f"D if {name} is D else {name}.value" if may_be_dead else f"{name}.value"
            self._line(f"t{slot} = {value}", position, indent)
            self._line(f"if t{slot} is None: U({name})", position, indent)
            self.arrays[slot] = f"t{slot}"
        return self.arrays[slot]

    def _is_large(self, slot: int) -> bool:
        info = self.plan.slots[slot]
        if info.buffer is not None or info.dtype._is_ref_dtype:
            return False
        elements = info.shape.num_elements()
        return elements is None or elements * info.dtype.size > _LARGE

    def _fetched(self, number: int, fetch: Fetch) -> str:
        slot, name = self.plan.slots[fetch.slot], self.names[fetch.slot]
        if self.plan.inner:
            return f"{name}.copy()" if fetch.keep is Keep.COPY else name
        if slot.dtype._is_ref_dtype or slot.may_be_dead or not slot.shape.is_fully_defined():
            return f"G({name}, {number})"
        if slot.shape.rank == 0 and slot.dtype not in (dtypes.resource, dtypes.variant):
            return f"{name}[()]"
        return f"{name}.copy()" if fetch.keep is Keep.COPY else name
