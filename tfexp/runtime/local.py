"""The backend of sessions without a target: plans and runs everything in this process.

Every set of fed shapes gets a plan of its own. The first run interprets it, holding every kernel to its contract; from the
second on, and in loops that go round often, generated code runs, which calls the same functions, so that the numbers are
the same. A signature that comes with ever new shapes gets one plan that does not depend on them.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto import config_pb2, step_stats_pb2

from tfexp.core import log, workers
from tfexp.core.errors import CancelledError, OpError
from tfexp.core.shape import TensorShape
from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.plan.assign import Assignment, Places
from tfexp.plan.codegen import Source, generate
from tfexp.plan.measured import makespan
from tfexp.plan.passes import make_plan
from tfexp.plan.plan import Plan
from tfexp.runtime.blas import product_adder
from tfexp.runtime.compiled import Compiled, compile_plan
from tfexp.runtime.cpu import configure, cores, denormals_flushed
from tfexp.runtime.device_list import CPU, DeviceAttributes, local_devices, log_devices, log_placement
from tfexp.runtime.device_memory import memory_limits
from tfexp.runtime.executor import Interpreter
from tfexp.runtime.jit import jit_of, loop_compiler_of
from tfexp.runtime.libraries import libraries_of
from tfexp.runtime.options import tell_unsupported, tell_unsupported_of_run
from tfexp.runtime.partial_run import PartialStep
from tfexp.runtime.placement import dynamic_placer, record_estimate
from tfexp.runtime.plan_cache import PlanCache
from tfexp.runtime.resources import Resources, SessionResources
from tfexp.runtime.step import ActiveSteps, current
from tfexp.runtime.trace import Tracer, record_graphs

if TYPE_CHECKING:
    from tfexp.plan.dynamic import Placement

# Shapes of one signature that get a plan of their own; with more, a plan for all shapes serves the rest.
MAX_SPECIALISED = 16
# Compiled plans of one session: each holds buffers.
MAX_PLANS = 256
# Shapes of one signature that are remembered at all.
_MAX_SHAPES = 4096

Shapes = tuple[tuple[int, ...], ...]
Runner = Callable[[Sequence[Any]], Sequence[Any]]

_open: weakref.WeakSet[LocalBackend] = weakref.WeakSet()


@dataclass(frozen=True)
class Explanation:
    """How feeds of certain shapes are run: the plan with its passes, and the generated source."""

    plan: Plan
    source: Source

    def __repr__(self) -> str:
        return f"{self.plan}\n{self.source.text}"


class LocalBackend:
    """One local session's resources, plans and running steps."""

    def __init__(
        self,
        graph: Graph,
        config: config_pb2.ConfigProto | None,
        resources: Resources | SessionResources | None = None,
        devices: tuple[str, ...] = (CPU,),
    ):
        """`resources`: those of the task, for a session of a server; a session of its own has its own, and ends them."""
        self.graph = graph
        self.config = config or config_pb2.ConfigProto()
        self._owns_resources = resources is None
        self.resources = Resources() if resources is None else resources
        self.active = ActiveSteps()
        logged = log_placement if self.config.log_device_placement else None
        self.assignment = Assignment(devices, self.config.allow_soft_placement, logged)
        self.memory = memory_limits(devices, self.config)
        # A server's session is placed by its master.
        self.placer = dynamic_placer(self.assignment, self.config, self.memory) if self._owns_resources else None
        self.plans = PlanCache(MAX_PLANS)
        self.jit = jit_of(self.config, devices)
        self.loops = loop_compiler_of(self.config)
        self.libraries = libraries_of(self.config)
        wanted = self.config.inter_op_parallelism_threads
        self.threads = min(wanted or workers.threads(), workers.threads())  # that may run a step's nodes
        self.inter_op = wanted or max(2, cores())  # nodes that may block and run at the same time

    def prepare(self, fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor]) -> LocalStep:
        return LocalStep(self, fetches, targets, feeds)

    def begin_partial(self, fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor]) -> PartialStep:
        """A step that runs bit by bit, for workers whose values arrive so."""
        interpreter = Interpreter(LocalStep(self, fetches, targets, feeds).plan(None, optimise=False), self.resources)
        return PartialStep(interpreter, fetches, feeds)

    def list_devices(self) -> list[DeviceAttributes]:
        return [DeviceAttributes(name, self.memory[name]) for name in self.assignment.names]

    def close(self) -> None:
        self.active.close()
        self.plans.clear()
        if self._owns_resources:
            self.resources.clear()

    def forget(self) -> None:
        self.active.close()
        self.plans.clear()
        if self._owns_resources:
            self.resources.forget()

    def guarded(self, runner: Callable[..., Sequence[Any]], timeout_in_ms: int = 0) -> Runner:
        """`runner` as a step that can be cancelled: by its deadline, and by closing the session."""

        def run(values: Sequence[Any]) -> Sequence[Any]:
            state = self.active.begin(timeout_in_ms or self.config.operation_timeout_in_ms)
            outer, current.step = current.step, state
            if outer is not None:
                state.on_sleep = outer.on_sleep
            # A step inside of another one (a server's) ends with it.
            unlink = None if outer is None else outer.on_cancel(lambda: state.cancel(outer.reason or _unknown()))
            try:
                # A step that came to its end has done so, even if its time was over by then: what it took is not lost.
                return runner(values)
            except BaseException as error:
                if state.exchange is not None:
                    state.exchange.fail(CancelledError(None, None, f"its step has failed: {str(error) or repr(error)}"))
                # A kernel that was woken by the cancellation reports what it saw; the reason is the better answer.
                if isinstance(error, Exception) and state.reason is not None and type(error) is not type(state.reason):
                    raise state.reason from error
                raise
            finally:
                current.step = outer
                if unlink is not None:
                    unlink()
                self.active.end(state)

        return run


def _unknown() -> OpError:
    return CancelledError(None, None, "The step around this one was cancelled")


class LocalStep:
    """One (fetches, targets, feeds) of a local session, and the plans for it.

    `ready` maps fed shapes to what runs them with nothing left to decide; shapes that are not there go through `run`.
    """

    def __init__(
        self,
        backend: LocalBackend,
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
        feeds: Sequence[Tensor],
    ):
        self.ready: dict[Shapes, Runner] = {}
        self._backend = backend
        self._fetches, self._targets, self._feeds = tuple(fetches), tuple(targets), tuple(feeds)
        self._lock = threading.RLock()  # garbage collection may run the function that ends an iterator while it plans that
        self._specialised: dict[Shapes, Compiled] = {}
        self._generic: Compiled | None = None
        self.placement: Placement | None = None  # the latest, of the dynamic placer
        self._placed_again: set[Shapes] = set()

    def run(self, values: Sequence[Any], shapes: Shapes, options: Any, run_metadata: Any) -> Sequence[Any]:
        """Run with these values, whose shapes are known to be allowed."""
        if options is not None or run_metadata is not None:
            return self._run_watched(values, shapes, options, run_metadata)
        runner = self.ready.get(shapes)
        if runner is None:
            with self._lock:
                runner = self.ready.get(shapes) or self._choose(shapes)
        return runner(values)

    def run_each(self, rows: Sequence[Sequence[Any]], shapes: Shapes) -> tuple[list[Sequence[Any]], Exception | None]:
        """`run` for each row of values, all of these shapes, up to the first that fails; and that one's error."""
        results: list[Sequence[Any]] = []
        for position, row in enumerate(rows):
            compiled = getattr(self.ready.get(shapes), "__self__", None)
            if isinstance(compiled, Compiled):
                found, failure = compiled.run_each(rows[position:])
                return results + found, failure
            try:
                results.append(self.run(row, shapes, None, None))
            except Exception as error:
                return results, error
        return results, None

    def _choose(self, shapes: Shapes) -> Runner:
        """What runs these shapes this time: the interpreter, the first time; generated code from the next time on."""
        first = shapes not in self._specialised and (self._generic is None or len(self._specialised) < MAX_SPECIALISED)
        compiled = self._compiled(shapes)
        if first and self.placement is not None:
            return self._measured(compiled, self.placement, shapes)
        if first or self._backend.config.operation_timeout_in_ms:
            return self._watchable(compiled)
        if len(self.ready) >= _MAX_SHAPES:
            ready = list(self.ready.items())  # another step may evict one of them meanwhile
            self.ready = {known: runner for known, runner in ready if known in self._specialised}
        # Only kernels that may wait for others need to hear that the step is cancelled.
        runner = self._backend.guarded(compiled.run) if compiled.plan.may_wait else compiled.run
        self.ready[shapes] = runner
        return runner

    def _compiled(self, shapes: Shapes) -> Compiled:
        """The plan for these shapes, or for all shapes when too many have one of their own; made if need be."""
        compiled = self._specialised.get(shapes)
        if compiled is not None:
            return compiled
        if len(self._specialised) < MAX_SPECIALISED:
            compiled = compile_plan(self.plan(shapes), self._backend.resources)
            self._specialised[shapes] = compiled
            self._backend.plans.add(compiled, lambda: self._evict(shapes))
            return compiled
        if self._generic is None:
            self._generic = compile_plan(self.plan(None), self._backend.resources)
        return self._generic

    def _evict(self, shapes: Shapes) -> None:
        self._specialised.pop(shapes, None)
        self.ready.pop(shapes, None)

    def _watchable(self, compiled: Compiled, timeout_in_ms: int = 0, tracer: Tracer | None = None) -> Runner:
        """The plan interpreted: it stops at its deadline, can be traced, and holds its kernels to their contract."""
        interpreter = compiled.interpreter
        return self._backend.guarded(lambda values: interpreter.run(values, current.step, tracer), timeout_in_ms)

    def _measured(self, compiled: Compiled, placement: Placement, shapes: Shapes) -> Runner:
        """The plan interpreted once, so that the dynamic placer knows better afterwards."""

        def run(values: Sequence[Any]) -> Sequence[Any]:
            tracer, step_stats = Tracer(self._backend.assignment.names[0]), step_stats_pb2.StepStats()
            fetched = self._watchable(compiled, tracer=tracer)(values)
            tracer.write(step_stats)
            assert self._backend.placer is not None
            self._backend.placer.learn(step_stats, placement)
            log.info("%s; it took %.2f ms", placement.describe(), makespan(step_stats) * 1e3)
            self._place_again(shapes, placement)
            return fetched

        return run

    def _place_again(self, shapes: Shapes, placement: Placement) -> None:
        """Let the step be planned once more, if by what was measured its nodes should be elsewhere."""
        assert self._backend.placer is not None
        fed = [TensorShape(shape) for shape in shapes]
        with self._lock:
            self.placement = self._backend.placer.place(self._fetches, self._targets, self._feeds, fed)
            if self.placement.moved != placement.moved and shapes not in self._placed_again:
                self._placed_again.add(shapes)
                self._evict(shapes)

    def plan(self, shapes: Shapes | None, optimise: bool = True) -> Plan:
        """The plan for feeds of these shapes, or for all that the fed tensors allow."""
        if shapes is None:
            fed = [tensor.get_shape() for tensor in self._feeds]
        else:
            fed = [TensorShape(shape) for shape in shapes]
        if self._backend.config.log_device_placement:
            self._backend.assignment.place(self._backend.graph.get_operations())
        with denormals_flushed():  # constants are folded as the step would compute them
            backend = self._backend
            places: Places = backend.assignment
            if backend.placer is not None:
                self.placement = backend.placer.place(self._fetches, self._targets, self._feeds, fed)
                places = self.placement
                if backend.config.log_device_placement:
                    for op, device in self.placement.moved.items():
                        log_placement(op, device)
            how = (places, optimise, backend.threads, backend.memory, backend.jit, backend.loops, backend.libraries)
            return make_plan(self._fetches, self._targets, self._feeds, fed, *how, product_adder(), self._backend.inter_op)

    def explain(self, shapes: Shapes) -> Explanation:
        compiled = self._specialised.get(shapes)
        plan = self.plan(shapes) if compiled is None else compiled.plan
        return Explanation(plan, generate(plan))

    def _run_watched(self, values: Sequence[Any], shapes: Shapes, options: Any, run_metadata: Any) -> Sequence[Any]:
        """A run with options: interpreted, so that every node can be timed, and stopped at its deadline."""
        tell_unsupported_of_run(options)
        options = options or config_pb2.RunOptions()
        with self._lock:
            compiled = self._compiled(shapes)
        wanted = run_metadata is not None and options.trace_level != config_pb2.RunOptions.NO_TRACE
        tracer = Tracer(self._backend.assignment.names[0]) if wanted else None
        try:
            return self._watchable(compiled, options.timeout_in_ms, tracer)(values)
        finally:
            if run_metadata is not None:
                run_metadata.Clear()
                if tracer is not None:
                    tracer.write(run_metadata.step_stats)
                if self.placement is not None:
                    record_estimate(run_metadata, self.placement)
                if options.output_partition_graphs:
                    record_graphs(run_metadata, self.plan(None, optimise=False), compiled.plan)


def open_session(target: str, graph: Graph, config: config_pb2.ConfigProto | None) -> LocalBackend:
    tell_unsupported(config)
    configure(0 if config is None else config.intra_op_parallelism_threads)
    backend = LocalBackend(graph, config, devices=local_devices(config))
    if backend.config.log_device_placement:
        log_devices(backend.assignment.names)
    _open.add(backend)
    return backend


def reset(target: str, containers: Sequence[str] | None, config: Any) -> None:
    """Close all local sessions, and with them what their containers hold."""
    for backend in list(_open):
        backend.close()
