"""Generated code, bound to a session: what runs from a step's second time on.

The code is generated when it first runs, once for a plan. Each of the runs that go on at the same time has a frame of its
own: globals with its own buffers, and a context in which NumPy keeps quiet about inf and nan.
"""

from __future__ import annotations

import contextvars
import functools
import time
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfexp.core import workers
from tfexp.core.errors import ResourceExhaustedError
from tfexp.core.kernel import DEAD, Ref, aligned_empty
from tfexp.core.waiting import Waiting
from tfexp.plan.codegen import Source, generate, is_handle
from tfexp.plan.memory import in_words
from tfexp.plan.plan import Plan, Step
from tfexp.runtime.cpu import flush_denormals, restore_denormals
from tfexp.runtime.executor import Interpreter, bind_kernel, hand_out, make_scratch
from tfexp.runtime.failures import as_op_error, as_step_error, uninitialized
from tfexp.runtime.flow import Started
from tfexp.runtime.loops import PartRunner
from tfexp.runtime.resources import AnyResources
from tfexp.runtime.step import current
from tfexp.runtime.waiting import wait_for


class Compiled:
    """A plan's generated code in one session. `run` may be called by several threads at once."""

    def __init__(self, plan: Plan, resources: AnyResources):
        self.plan = plan
        self._source: Source | None = None
        self._code: types.CodeType | None = None
        self._codes: frozenset[types.CodeType] = frozenset()  # with those of the strands
        self._resources = resources
        self._generation = -1
        self._shared: dict[str, Any] = {}
        self._frames: list[Callable[..., Any]] = []
        self.used = False  # see PlanCache

    @functools.cached_property
    def interpreter(self) -> Interpreter:
        """The same plan, run node by node, but for loops that go round often."""
        return Interpreter(self.plan, self._resources, self._bind_part)

    def run(self, values: Sequence[np.ndarray]) -> Sequence[Any]:
        """The fetched values for these fed arrays."""
        self.used = True
        if self._generation != self._resources.generation:
            self._bind()
        frames = self._frames  # a container that is cleared meanwhile starts a new list
        try:
            frame = frames.pop()
        except IndexError:
            frame = self._make_frame()
        flush_denormals()
        try:
            fetched: Sequence[Any] = frame(*values)
            return fetched
        except Exception as error:
            failure = self._failure(error)
            if failure is error:
                raise
            raise failure from error
        finally:
            restore_denormals()
            frames.append(frame)

    def run_each(self, rows: Sequence[Sequence[Any]]) -> tuple[list[Sequence[Any]], Exception | None]:
        """The fetched values for each row of fed arrays, up to the first that fails; and that one's error."""
        self.used = True
        if self._generation != self._resources.generation:
            self._bind()
        frames, results = self._frames, list[Sequence[Any]]()
        try:
            frame = frames.pop()
        except IndexError:
            frame = self._make_frame()
        flush_denormals()
        try:
            if isinstance(frame, functools.partial) and isinstance(frame.func, types.BuiltinMethodType):
                frame.func(_each, frame.args[0], rows, results)  # in the frame's context, entered once for all
            else:
                _each(frame, rows, results)
        except Exception as error:
            return results, self._failure(error)
        finally:
            restore_denormals()
            frames.append(frame)
        return results, None

    def _bind(self) -> None:
        """Whatever all frames share: constants, handles, callables of the nodes that have no memory of their own."""
        shared: dict[str, Any] = {"D": DEAD, "U": _raise_uninitialized, "G": self._hand_out, "W": Waiting, "P": Parked}
        shared["F"] = _run_strands
        for i, slot in enumerate(self.plan.slots):
            if slot.constant is not None:
                shared[f"c{i}"] = slot.constant
        for position, step in enumerate(self.plan.steps):
            if step.call is not None:
                function = step.call.function
            else:
                function = bind_kernel(step, self._resources, self._bind_part, step.parks)
            if is_handle(step):
                result = function()
                shared.update((f"h{i}", r) for i, r in zip(step.outputs, [result] if step.op.has_single_output else result))
            else:
                shared[f"f{position}"] = _waiting_itself(function, step) if step.waits and not step.parks else function
        if self._code is None:
            source, namespace = generate(self.plan), dict[str, Any]()
            exec(compile(source.text, "<tfexp plan>", "exec"), namespace)
            self._source, self._code = source, namespace["run"].__code__
            strands = (constant for constant in self._code.co_consts if isinstance(constant, types.CodeType))
            self._codes = frozenset([self._code, *strands])
        generation = self._resources.generation
        self._shared, self._frames, self._generation = shared, [], generation

    def _bind_part(self, plan: Plan) -> PartRunner:
        return compile_plan(plan, self._resources).run

    def _make_arenas(self) -> list[np.ndarray]:
        """New memory for the plan's buffers; ResourceExhaustedError, naming the largest, if there is not enough."""
        try:
            return [aligned_empty((size,), np.uint8) for size in self.plan.buffers]
        except MemoryError:
            users = {slot.buffer: f"{slot.name}: {slot.dtype.name}{slot.shape}" for slot in reversed(self.plan.slots)}
            largest = sorted(enumerate(self.plan.buffers), key=lambda buffer: -buffer[1])[:5]
            named = "".join(f"\n\t{in_words(size)} {users.get(number, '')}" for number, size in largest)
            raise ResourceExhaustedError(
                None, None, f"OOM when allocating the {in_words(sum(self.plan.buffers))} of a step's buffers:{named}"
            ) from None

    def _make_frame(self) -> Callable[..., Any]:
        names = dict(self._shared)
        arenas = self._make_arenas()
        # One array object for all values of a shape in a buffer: for distinct views of the same memory, NumPy would
        # have to find out each time whether they overlap.
        views: dict[Any, np.ndarray] = {}
        for i, slot in enumerate(self.plan.slots):
            if slot.buffer is not None:
                dtype, shape = np.dtype(slot.dtype.as_numpy_dtype), slot.shape
                key = (slot.buffer, shape, dtype)
                if key not in views:
                    memory = arenas[slot.buffer][: (shape.num_elements() or 0) * dtype.itemsize]
                    views[key] = memory.view(dtype).reshape(shape.as_list())  # type: ignore[arg-type]
                names[f"b{i}"] = views[key]
        for position, step in enumerate(self.plan.steps):
            for n, array in enumerate(make_scratch(step)):
                names[f"s{position}_{n}"] = array
        assert self._code is not None
        function = types.FunctionType(self._code, names)
        context = contextvars.copy_context()
        context.run(np.seterr, all="ignore")
        if self.plan.shares and not self.plan.inner:
            return functools.partial(_run_alone, context, function)
        return functools.partial(context.run, function)

    def _hand_out(self, value: Any, number: int) -> Any:
        return hand_out(self.plan, number, value)

    def _failure(self, error: Exception) -> Exception:
        """The error with the node that raised it, which the traceback's line tells."""
        position, trace = -1, error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code in self._codes:
                assert self._source is not None
                position = self._source.step_of_line[trace.tb_lineno - 1]
                local = trace.tb_frame
            trace = trace.tb_next
        if position < 0:
            return error
        step = self.plan.steps[position]
        missing = [ref for i in step.needs_value if isinstance(ref := self._ref(step, i, local), Ref) and ref.value is None]
        # Who keeps the error must not keep the step's values: some are held for as long as somebody has them (mutexes).
        local.clear()
        if missing:
            return as_op_error(uninitialized(missing[0]), step.name, step.origin)
        return as_step_error(error, self.plan, step)

    def _ref(self, step: Step, position: int, frame: types.FrameType) -> Any:
        slot = step.inputs[position]
        return frame.f_locals.get(f"v{slot}", frame.f_globals.get(f"h{slot}"))


def _each(function: Callable[..., Any], rows: Sequence[Sequence[Any]], results: list[Sequence[Any]]) -> None:
    for row in rows:
        results.append(function(*row))


def _run_strands(*tasks: tuple[Callable[..., tuple[Any, ...]], tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """What each (strand, values) gives, by as many threads as are free; the first error once all have ended."""
    results: list[tuple[Any, ...]] = [()] * len(tasks)

    def work(part: int, start: int, stop: int) -> None:
        for number in range(start, stop):
            strand, values = tasks[number]
            results[number] = strand(*values)

    workers.share(work, len(tasks))
    return results


def _run_alone(context: contextvars.Context, function: Callable[..., Any], *values: Any) -> Any:
    with workers.alone():
        return context.run(function, *values)


class Parked:
    """Where generated code stopped: a node has to wait and later ones need not. `names` are the code's own."""

    __slots__ = ("names", "position", "waiting")

    def __init__(self, position: int, waiting: Waiting, names: dict[str, Any]):
        self.position = position
        self.waiting = waiting
        self.names = names


class ParkingCompiled(Compiled):
    """For plans in which a node may have to wait while others need not: the interpreter takes over when it has to."""

    def _make_frame(self) -> Callable[..., Any]:
        frame = super()._make_frame()

        def run(*values: Any) -> Any:
            fetched = frame(*values)
            return self._go_on(fetched) if type(fetched) is Parked else fetched

        return run

    def _go_on(self, parked: Parked) -> Sequence[Any]:
        interpreter, plan = self.interpreter, self.plan
        progress = interpreter.begin()
        for i in range(len(plan.slots)):
            for name in (f"v{i}", f"x{i}"):
                if name in parked.names:
                    progress.values[i] = parked.names[name]
            if f"h{i}" in self._shared:
                progress.values[i] = self._shared[f"h{i}"]
        progress.done.update(range(parked.position))
        progress.dead.update(n for n in range(parked.position) if parked.names.get(f"d{n}"))
        began = time.perf_counter()
        started = Started(
            parked.position, parked.waiting, [progress.values[i] for i in plan.steps[parked.position].inputs], began
        )
        interpreter.resume(progress, started, current.step)
        return interpreter.results(progress)


def compile_plan(plan: Plan, resources: AnyResources) -> Compiled:
    """The plan, ready to run in a session with these resources."""
    return (ParkingCompiled if plan.parks else Compiled)(plan, resources)


def _waiting_itself(function: Callable[..., Any], step: Step) -> Callable[..., Any]:
    """The kernel of a node that nothing else can run without: it may as well keep the thread."""

    def run(*inputs: Any) -> Any:
        result = function(*inputs)
        return wait_for(result, step) if isinstance(result, Waiting) else result

    return run


def _raise_uninitialized(ref: Ref) -> None:
    raise uninitialized(ref)
