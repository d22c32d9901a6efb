"""The backend of sessions without a target: plans and runs everything in this process.

A step gets better the more often it runs. The first run with given shapes interprets the pruned graph as it is; the second
makes the optimised plan for these shapes and interprets it, holding every callable to its contract; from the third on
generated code runs. A signature that comes with ever new shapes gets one plan that does not depend on them.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from tensorboard.compat.proto import config_pb2

from tfexp.core.shape import TensorShape
from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.plan.passes import make_plan
from tfexp.plan.place import Devices
from tfexp.plan.plan import Plan
from tfexp.runtime.backend import register_backend
from tfexp.runtime.compiled import Compiled
from tfexp.runtime.device_list import DeviceAttributes
from tfexp.runtime.executor import Interpreter
from tfexp.runtime.plan_cache import PlanCache
from tfexp.runtime.resources import Resources
from tfexp.runtime.step import ActiveSteps, StepState, current
from tfexp.runtime.trace import Tracer, record_graphs

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"

# Shapes of one signature that get a plan of their own; with more, a plan for all shapes serves the rest.
_MAX_SPECIALISED = 16
# Compiled plans of one session (each holds buffers).
_MAX_PLANS = 256
# Shapes of one signature that are remembered at all.
_MAX_SHAPES = 4096

Shapes = tuple[tuple[int, ...], ...]
Runner = Callable[[Sequence[Any]], Sequence[Any]]

_open: weakref.WeakSet[LocalBackend] = weakref.WeakSet()


class LocalBackend:
    """One local session's resources, plans and running steps."""

    def __init__(self, target: str, graph: Graph, config: config_pb2.ConfigProto | None):
        self.graph = graph
        self.config = config or config_pb2.ConfigProto()
        self.resources = Resources()
        self.active = ActiveSteps()
        self.devices = Devices((CPU,), soft=self.config.allow_soft_placement)
        self.plans = PlanCache(_MAX_PLANS)
        _open.add(self)

    def prepare(self, fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor]) -> LocalStep:
        return LocalStep(self, fetches, targets, feeds)

    def list_devices(self) -> list[DeviceAttributes]:
        return [DeviceAttributes(name) for name in self.devices.names]

    def close(self) -> None:
        self.active.close()
        self.plans.clear()
        self.resources.clear()


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
        self._lock = threading.Lock()
        self._first: Interpreter | None = None
        self._seen: dict[Shapes, int] = {}
        self._specialised = 0
        self._generic: Runner | None = None

    def run(self, values: Sequence[Any], shapes: Shapes, options: Any, run_metadata: Any) -> Sequence[Any]:
        """Run with these values, whose shapes are known to be allowed."""
        if options is not None or run_metadata is not None:
            return self._run_watched(values, shapes, options, run_metadata)
        runner = self.ready.get(shapes)
        return self._next_runner(shapes)(values) if runner is None else runner(values)

    def _next_runner(self, shapes: Shapes) -> Runner:
        with self._lock:
            runner = self.ready.get(shapes)
            if runner is not None:
                return runner
            count = self._seen.pop(shapes, 0)
            if len(self._seen) >= _MAX_SHAPES:
                self._seen.pop(next(iter(self._seen)))
            self._seen[shapes] = count + 1
            if count == 0 and self._generic is None:
                return self._guarded(self._interpreter().run)
            if self._specialised >= _MAX_SPECIALISED or (count == 0 and self._generic is not None):
                return self._for_all_shapes(shapes)
            if count > 0:
                return self._for_these_shapes(shapes)
            return self._guarded(self._interpreter().run)

    def _interpreter(self) -> Interpreter:
        if self._first is None:
            self._first = Interpreter(self.plan(None, optimise=False), self._backend.resources)
        return self._first

    def _for_these_shapes(self, shapes: Shapes) -> Runner:
        plan = self.plan(shapes, optimise=True)
        self._specialised += 1
        return self._install(plan, shapes)

    def _for_all_shapes(self, shapes: Shapes) -> Runner:
        if self._generic is None:
            self._generic = self._guarded(Compiled(self.plan(None, optimise=True), self._backend.resources))
        if len(self.ready) >= _MAX_SHAPES:
            self.ready = {s: r for s, r in self.ready.items() if r is not self._generic}
        self.ready[shapes] = self._generic
        return self._generic

    def _install(self, plan: Plan, shapes: Shapes) -> Runner:
        """Let generated code run these shapes from the next time on; this time the plan is interpreted."""
        runner = self._guarded(Compiled(plan, self._backend.resources))
        self.ready[shapes] = runner
        self._backend.plans.add(lambda: self._evict(shapes), runner)
        return self._guarded(Interpreter(plan, self._backend.resources).run)

    def _evict(self, shapes: Shapes) -> None:
        with self._lock:
            if self.ready.pop(shapes, None) is not None:
                self._specialised -= 1
                self._seen.pop(shapes, None)
'''
