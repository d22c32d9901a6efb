"""The interpreter: a plan run node by node, with checks. Slow, but it sees everything; traces come from here."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from tfexp.core import workers
from tfexp.core.errors import InvalidArgumentError, OpError
from tfexp.core.kernel import DEAD, Ref, aligned_empty
from tfexp.core.op import group_inputs
from tfexp.core.waiting import NOTHING, Waiting
from tfexp.plan.plan import Keep, Plan, Section, Step
from tfexp.runtime import cpu
from tfexp.runtime.contract import check_outputs
from tfexp.runtime.failures import as_op_error, as_step_error, uninitialized
from tfexp.runtime.flow import Flow, Started
from tfexp.runtime.loops import PartRunner, bind_loop
from tfexp.runtime.own_thread import in_own_thread
from tfexp.runtime.resources import AnyResources
from tfexp.runtime.step import NodeContext, StepState, current

PartCompiler = Callable[[Plan], PartRunner]

# As long as this many take, generating code takes about, too.
_INTERPRETED_ROUNDS = 32


class Trace(Protocol):
    """Who wants to know what ran."""

    def node(self, step: Step, began: float, ended: float, inputs: Sequence[Any], outputs: Sequence[Any]) -> None: ...


def bind_kernel(
    step: Step, resources: AnyResources, bind_part: Callable[[Plan], PartRunner], in_thread: bool
) -> Callable[..., Any]:
    """The step's kernel with its context and attributes: `f(*grouped inputs)`; `bind_part` is for the parts of loops.

    `in_thread`: a loop, or a node that may block, is to run in a thread of its own, because others can run meanwhile.
    """
    if step.loop is not None:
        loop = bind_loop(step.loop, bind_part)
        return in_own_thread(loop, step, "the loop") if in_thread else loop
    library = step.origin.graph._functions if step.origin is not None else {}
    context = NodeContext(step.name, step.device, resources, library)
    function = step.kernel.function
    attrs = step.kernel.declared(step.attrs)
    if attrs:
        kernel = lambda *inputs: function(context, *inputs, **attrs)  # noqa: E731
    else:
        kernel = lambda *inputs: function(context, *inputs)  # noqa: E731
    return in_own_thread(kernel, step, "the function of") if in_thread and step.own_thread else kernel


def make_scratch(step: Step) -> list[np.ndarray]:
    """New work arrays for the step's call."""
    return [aligned_empty(shape, dtype) for shape, dtype in step.call.scratch] if step.call is not None else []


class BoundStep:
    """A plan's step made callable: `compute(flat inputs) -> result`, of which `outputs` makes the flat outputs."""

    __slots__ = ("checked", "compute", "step")

    def __init__(self, step: Step, resources: AnyResources, compile_part: PartCompiler | None = None):
        self.step = step
        self.compute = _with_flat_inputs(step, resources, lambda plan: _part_runner(plan, resources, compile_part))
        self.checked = False

    def outputs(self, result: Any) -> Sequence[Any]:
        op = self.step.op
        if op.has_single_output:
            return (result,)
        return result if op.outputs else ()


def _with_flat_inputs(step: Step, resources: AnyResources, bind_part: PartCompiler) -> Callable[[list[Any]], Any]:
    # Here nodes that come earlier in the plan may be left over.
    kernel = bind_kernel(step, resources, bind_part, step.parks or step.own_thread)
    if step.copies:
        return lambda inputs: kernel(*inputs).copy()
    if step.call is None:
        return lambda inputs: kernel(*group_inputs(step.op, inputs, step.attrs))
    function = step.call.function

    def directly(inputs: list[Any]) -> Any:
        try:
            return function(*inputs, *make_scratch(step))
        except OpError:
            raise
        except Exception:
            # Direct callables leave checks to NumPy. The kernel has TensorFlow's words for what is wrong.
            if not step.writes:
                kernel(*group_inputs(step.op, inputs, step.attrs))
            raise

    return directly


def _part_runner(plan: Plan, resources: AnyResources, compile_part: PartCompiler | None) -> PartRunner:
    """Runs a part of a loop: interpreted at first, and by generated code once it has gone round often enough to pay."""
    interpreted = Interpreter(plan, resources, compile_part).run_part
    if compile_part is None:
        return interpreted
    compiled: PartRunner | None = None
    rounds = 0

    def run(fed: Sequence[Any]) -> Sequence[Any]:
        nonlocal compiled, rounds
        if compiled is not None:
            return compiled(fed)
        rounds += 1
        if rounds > _INTERPRETED_ROUNDS:
            compiled = compile_part(plan)
        return interpreted(fed)

    return run


class Progress:
    """How far a step has come: the values so far, which steps have run, which turned out dead.

    `readers`: how many steps are still to read each value, and one more for what is fetched or constant. A value that
    nobody is to read any more is let go of. `changed`: for those who wait for other threads' steps, notified of each.
    """

    __slots__ = ("changed", "dead", "done", "readers", "values")

    def __init__(self, values: list[Any], readers: list[int], changed: threading.Condition | None):
        self.values = values
        self.readers = readers
        self.done: set[int] = set()
        self.dead: set[int] = set()
        self.changed = changed


class Interpreter:
    """A plan in one session. `run` may be called by several threads at once.

    `compile_part` makes generated code of a part of a loop that goes round often; without it, all is run node by node.
    """

    def __init__(self, plan: Plan, resources: AnyResources, compile_part: PartCompiler | None = None):
        self.plan = plan
        self._steps = [BoundStep(step, resources, compile_part) for step in plan.steps]
        self._sections = {section.strands[0].start: section for section in plan.sections}
        self._initial = [slot.constant for slot in plan.slots]
        self._readers = [int(slot.constant is not None) for slot in plan.slots]
        for i in (*(i for step in plan.steps for i in step.inputs), *(fetch.slot for fetch in plan.fetches)):
            self._readers[i] += 1

    def run(self, fed: Sequence[np.ndarray], state: StepState | None = None, trace: Trace | None = None) -> list[Any]:
        """The fetched values. Raises OpErrors that name the node; every kernel's first result is held to its contract."""
        progress = self.begin()
        for slot, array in zip(self.plan.feeds, fed, strict=True):
            progress.values[slot] = array
        try:
            self.advance(progress, range(len(self._steps)), state, trace)
        except Exception:
            progress.values.clear()  # who keeps the error must not keep the step's values
            raise
        return self.results(progress)

    def run_part(self, fed: Sequence[Any]) -> list[Any]:
        """The values of a part of a loop, to go on in the loop."""
        progress = self.begin()
        for slot, value in zip(self.plan.feeds, fed, strict=True):
            progress.values[slot] = value
        self.advance(progress, range(len(self._steps)), current.step)
        return self.results(progress)

    def results(self, progress: Progress) -> list[Any]:
        """The fetched values of a step that has run, as whoever asked for them gets them."""
        if not self.plan.inner:
            return [self.fetched(progress, number) for number in range(len(self.plan.fetches))]
        found = [progress.values[fetch.slot] for fetch in self.plan.fetches]
        return [
            value.copy() if fetch.keep is Keep.COPY else value for value, fetch in zip(found, self.plan.fetches, strict=True)
        ]

    def begin(self, changed: threading.Condition | None = None) -> Progress:
        """A step of which nothing has run."""
        return Progress(list(self._initial), list(self._readers), changed)

    def advance(
        self, progress: Progress, positions: Iterable[int], state: StepState | None, trace: Trace | None = None
    ) -> None:
        """Run these steps, in order; when one has to wait, those go first that need not (see `flow`)."""
        running = _Running(self, progress, trace)
        left = list(positions)
        with self._surroundings():
            number = 0
            while number < len(left):
                section = self._sections.get(left[number])
                if section is not None and left[number : number + len(section)] == list(section.positions()):
                    self._advance_strands(running, section, state)
                    number += len(section)
                    continue
                if state is not None:
                    self._named(left[number], state.check)
                started = running.start(left[number])
                if started is not None:
                    Flow(running, left[number:], state).run(started)
                    return
                number += 1

    def _advance_strands(self, running: _Running, section: Section, state: StepState | None) -> None:
        """Run a section's strands, by as many threads as are free; the first error once all have ended."""

        def work(part: int, start: int, stop: int) -> None:
            for strand in section.strands[start:stop]:
                for position in strand:
                    if state is not None:
                        self._named(position, state.check)
                    running.start(position)

        workers.share(work, len(section.strands))

    def resume(self, progress: Progress, started: Started, state: StepState | None) -> None:
        """Run all that is left of a step of which one node has been started and has to wait."""
        positions = [n for n in range(len(self._steps)) if n not in progress.done]
        with self._surroundings():
            Flow(_Running(self, progress, None), positions, state).run(started)

    @contextlib.contextmanager
    def _surroundings(self) -> Iterator[None]:
        """What holds while nodes run: IEEE's results without warnings, and cores that are either BLAS's or the kernels'."""
        alone = workers.alone() if self.plan.shares else contextlib.nullcontext()
        with np.errstate(all="ignore"), cpu.denormals_flushed(), alone:
            yield

    def _named(self, position: int, act: Callable[[], Any]) -> Any:
        """What `act` gives; its errors name the node."""
        try:
            return act()
        except Exception as error:
            step = self._steps[position].step
            raise as_step_error(error, self.plan, step) from error

    def fetched(self, progress: Progress, number: int) -> Any:
        """The value of a fetch, as the caller gets it."""
        return hand_out(self.plan, number, progress.values[self.plan.fetches[number].slot])


class _Running:
    """The nodes of a plan, run one by one (`flow.Runner`)."""

    def __init__(self, interpreter: Interpreter, progress: Progress, trace: Trace | None):
        self.plan = interpreter.plan
        self._interpreter = interpreter
        self._steps = interpreter._steps
        self._progress = progress
        self._trace = trace

    def start(self, position: int) -> Started | None:
        started: Started | None = self._interpreter._named(position, lambda: self._start(position))
        return started

    def resume(self, started: Started) -> Started | None:
        following: Started | None = self._interpreter._named(
            started.position, lambda: self._deliver(started, started.waiting.result())
        )
        return following

    def _start(self, position: int) -> Started | None:
        bound, progress = self._steps[position], self._progress
        step, values = bound.step, progress.values
        inputs = [values[i] for i in step.inputs]
        if step.may_be_dead and _is_dead(step, inputs, progress.dead):
            progress.dead.add(position)
            for i in step.outputs:
                values[i] = DEAD
            self._ended(position)
            return None
        _dereference(step, inputs)
        began = time.perf_counter()
        return self._deliver(Started(position, NOTHING, inputs, began), bound.compute(inputs))

    def _deliver(self, started: Started, result: Any) -> Started | None:
        """Take a kernel's result, unless it is one to come."""
        if isinstance(result, Waiting):
            return Started(started.position, result, started.inputs, started.began)
        bound = self._steps[started.position]
        step, inputs, outputs = bound.step, started.inputs, bound.outputs(result)
        if self._trace is not None:
            self._trace.node(step, started.began, time.perf_counter(), inputs, outputs)
        if not bound.checked:
            check_outputs(self.plan, step, inputs, outputs)
            bound.checked = True
        for i, value in zip(step.outputs, outputs, strict=True):
            self._progress.values[i] = value
        self._ended(started.position)
        return None

    def _ended(self, position: int) -> None:
        progress = self._progress
        progress.done.add(position)
        for i in self.plan.steps[position].inputs:
            progress.readers[i] -= 1  # two strands at once may count one too few: then the value stays till the end
            if not progress.readers[i]:
                progress.values[i] = None
        if progress.changed is not None:
            with progress.changed:
                progress.changed.notify_all()


def _is_dead(step: Step, inputs: list[Any], dead: set[int]) -> bool:
    if step.kernel.takes_dead:
        return all(value is DEAD for value in inputs)
    return any(value is DEAD for value in inputs) or not dead.isdisjoint(step.waits_for_dead)


def _dereference(step: Step, inputs: list[Any]) -> None:
    """Put a Ref's array in its place where the op does not take references; FailedPreconditionError if there is none."""
    for i, through in enumerate(step.reads_through):
        if through and inputs[i] is not DEAD:
            inputs[i] = _array_of(inputs[i])
    for i in step.needs_value:
        if inputs[i] is not DEAD:
            _array_of(inputs[i])
    for i in step.copied:
        if inputs[i] is not DEAD:
            inputs[i] = inputs[i].copy()


def _array_of(ref: Any) -> Any:
    """A Ref's array; other things that travel as references (queue handles) are themselves."""
    if not isinstance(ref, Ref):
        return ref
    if ref.value is None:
        raise uninitialized(ref)
    return ref.value


def hand_out(plan: Plan, number: int, value: Any) -> Any:
    """A fetched value as the caller gets it: its own array, or a scalar."""
    fetch = plan.fetches[number]
    slot = plan.slots[fetch.slot]
    if value is DEAD:
        raise InvalidArgumentError(None, None, f"Retval[{number}] does not have value (tensor {slot.name} was not computed)")
    if isinstance(value, Ref):
        if value.value is None:
            raise as_op_error(uninitialized(value), slot.name.rpartition(":")[0], None)
        value = value.value
    if isinstance(value, np.generic) or not isinstance(value, np.ndarray):
        return value  # a scalar, or a resource handle
    if value.shape == ():
        return value[()]
    return value.copy() if fetch.keep is Keep.COPY else value
