"""A registered graph that can run: its `_Recv` nodes are fed, what its `_Send` nodes take is fetched."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from tensorboard.compat.proto import config_pb2, graph_pb2, step_stats_pb2, tensor_pb2

from tfexp.core import dtypes
from tfexp.core.errors import InvalidArgumentError, UnimplementedError
from tfexp.core.text import as_str_any
from tfexp.distributed.messages import Value, as_array, declared
from tfexp.distributed.session_graph import WireGraph, add_nodes
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.plan.cohesion import frames_of
from tfexp.plan.primitives import ENTERS
from tfexp.plan.stages import HELD
from tfexp.runtime import functions as _functions  # noqa: F401 (binds the functions that kernels call)
from tfexp.runtime.cpu import configure
from tfexp.runtime.local import LocalBackend
from tfexp.runtime.partial_run import PartialStep
from tfexp.runtime.resources import SessionResources
from tfexp.runtime.step import StepState, current
from tfexp.runtime.trace import Tracer

_RECEIVERS = ("_Recv", "_HostRecv")
_SENDERS = ("_Send", "_HostSend")
_HANDLES = (dtypes.resource, dtypes.variant)


class GraphProgram:
    """One graph on one task. Runs may go on at the same time."""

    def __init__(
        self,
        graph_def: graph_pb2.GraphDef,
        config: config_pb2.ConfigProto | None,
        resources: SessionResources,
        devices: tuple[str, ...],
    ):
        self._graph = WireGraph()
        add_nodes(self._graph, graph_def)
        ops = self._graph._operations
        _check_borders(ops)
        received = {_key(op): op._outputs[0] for op in ops if op.type in _RECEIVERS}
        sent = {_key(op): op._inputs[0] for op in ops if op.type in _SENDERS}
        ends = [op for op in ops if op.type not in _RECEIVERS + _SENDERS and not _has_readers(op)]
        self.receives = tuple(received)
        self.sends = tuple(sent)
        self._fed = tuple(received.values())
        # A value that comes in and goes out as it is never gets to the plan.
        self._through = {key: self.receives[self._fed.index(t)] for key, t in sent.items() if t in self._fed}
        self._computed = tuple(key for key in sent if key not in self._through)
        self._fetches = tuple(sent[key] for key in self._computed)
        self._targets = tuple(ends)
        self._resources = resources
        self._held = {_key(op) for op in ops if op.type in _RECEIVERS + _SENDERS and op._attrs.get(HELD)}
        self._backend = LocalBackend(self._graph, config, resources, devices)
        configure(self._backend.config.intra_op_parallelism_threads)
        self._step = self._backend.prepare(self._fetches, self._targets, self._fed)
        self._elements: list[list[Tensor | Operation]] = []
        self._keys: list[list[str]] = []
        self.needs = self._find_parts()

    def _find_parts(self) -> tuple[frozenset[str], ...]:
        """Group what is to be computed by what it waits for."""
        key_of = dict(zip((t.op for t in self._fed), self.receives, strict=True))
        waits: dict[Operation, frozenset[str]] = {}
        for op in self._graph._operations:  # inputs first
            if op in key_of:
                waits[op] = frozenset([key_of[op]])
                continue
            before = [*(t.op for t in op._inputs), *op._control_inputs]
            waits[op] = frozenset().union(*(waits.get(b, frozenset()) for b in before))
        groups: dict[frozenset[str], tuple[list[Tensor | Operation], list[str]]] = {}
        for key, tensor in zip(self._computed, self._fetches, strict=True):
            elements, keys = groups.setdefault(waits[tensor.op], ([], []))
            keys.append(key)
            if tensor not in elements:
                elements.append(tensor)
        for op in self._targets:
            groups.setdefault(waits[op], ([], []))[0].append(op)
        for key, source in self._through.items():
            groups.setdefault(frozenset([source]), ([], []))[1].append(key)
        self._elements = [elements for elements, _ in groups.values()]
        self._keys = [keys for _, keys in groups.values()]
        return tuple(groups)

    def run(self, fed: dict[str, Value], state: StepState, trace: bool, number: int = 0) -> tuple[dict[str, Any], Any]:
        """Everything at once, in step `number`: what is to be sent, by key, and the step's statistics if asked for."""
        arrays = [self.fed(tensor, key, fed[key]) for key, tensor in zip(self.receives, self._fed, strict=True)]
        shapes = tuple([getattr(array, "shape", ()) for array in arrays])
        metadata = config_pb2.RunMetadata() if trace else None
        options = config_pb2.RunOptions(trace_level=config_pb2.RunOptions.FULL_TRACE) if trace else None
        ready = None if trace else self._step.ready.get(shapes)
        outer, current.step = current.step, state
        try:
            values = self._step.run(arrays, shapes, options, metadata) if ready is None else ready(arrays)
        finally:
            current.step = outer
        sent = {key: self.sent(key, t, v, number) for key, t, v in zip(self._computed, self._fetches, values, strict=True)}
        sent.update({key: fed[source] for key, source in self._through.items()})
        return sent, None if metadata is None else metadata.step_stats

    def fed(self, tensor: Tensor, key: str, value: Value) -> Any:
        """What came by this key, as the plan takes it."""
        if key in self._held:
            return self._resources.held(bytes(as_array(value).item()).decode())
        return _fed_array(tensor, key, value)

    def sent(self, key: str, tensor: Tensor, value: Any, number: int) -> Any:
        """What goes by this key in step `number`."""
        if key in self._held:
            return np.array(self._resources.hold(number, value).encode(), object)
        return _sent_array(tensor, value)

    def begin(self, number: int = 0) -> PartialProgram:
        return PartialProgram(self, number)

    def close(self) -> None:
        self._backend.close()


class PartialProgram:
    """A run whose values arrive bit by bit."""

    def __init__(self, program: GraphProgram, number: int):
        self._program, self._number = program, number
        partial = program._backend.begin_partial(list(dict.fromkeys(program._fetches)), program._targets, program._fed)
        self._partial: PartialStep = partial
        self._fed: set[str] = set()
        self._lock = threading.Lock()

    def run(self, parts: frozenset[int], fed: dict[str, Value], state: StepState, trace: bool) -> tuple[dict[str, Any], Any]:
        """Compute these parts, for which everything has arrived; what they send, and their statistics if asked for."""
        program = self._program
        elements = list(dict.fromkeys(e for part in parts for e in program._elements[part]))
        tracer = Tracer(program._backend.assignment.names[0]) if trace else None
        outer, current.step = current.step, state
        try:
            with self._lock:  # what another part is about to feed has been fed when this one runs
                new = {
                    tensor: program.fed(tensor, key, fed[key])
                    for key, tensor in zip(program.receives, program._fed, strict=True)
                    if key in fed and key not in self._fed
                }
                self._fed.update(fed)
                self._partial.feed(new)
            values = dict(zip(elements, self._partial.compute(elements, tracer), strict=True))
        finally:
            current.step = outer
        sent: dict[str, Any] = {}
        tensor_of = dict(zip(program._computed, program._fetches, strict=True))
        for part in parts:
            for key in program._keys[part]:
                source = program._through.get(key)
                if source:
                    sent[key] = fed[source]
                else:
                    sent[key] = program.sent(key, tensor_of[key], values[tensor_of[key]], self._number)
        if tracer is None:
            return sent, None
        step_stats = step_stats_pb2.StepStats()
        tracer.write(step_stats)
        return sent, step_stats


def _check_borders(ops: list[Operation]) -> None:
    """UnimplementedError where another master than ours has cut a loop: its values would cross in every round of it."""
    if not any(op.type in ENTERS for op in ops):
        return
    frames = frames_of(ops, set(), set(ops))
    for op in ops:
        if op.type in _RECEIVERS + _SENDERS and frames[op]:
            name = as_str_any(op._attrs["tensor_name"])
            raise UnimplementedError(
                None,
                None,
                f"{name} crosses to another task in every round of the loop {frames[op][-1]}: only a master of tfexp's can "
                "cut loops for this task. Have the session at one of its servers, or the loop on one task",
            )


def _key(op: Operation) -> str:
    attrs = op._attrs

    def text(name: str) -> str:
        return as_str_any(attrs[name])

    incarnation = int(attrs["send_device_incarnation"]) & 0xFFFFFFFFFFFFFFFF
    return f"{text('send_device')};{incarnation:016x};{text('recv_device')};{text('tensor_name')};0:0"


def _has_readers(op: Operation) -> bool:
    """Whether a node that runs reads the node: then it runs because of that one."""
    readers = [c for t in op._outputs for c in t._consumers] + list(op._control_outputs)
    return any(reader.type not in _RECEIVERS for reader in readers)


def _fed_array(tensor: Tensor, key: str, value: Value) -> Any:
    wanted = tensor.dtype.base_dtype
    if wanted in _HANDLES and not isinstance(value, np.ndarray | np.generic | tensor_pb2.TensorProto):
        return value  # what lives for one step, from an earlier graph of it on this task
    try:
        array = np.asarray(as_array(value), object) if wanted is dtypes.string else np.asarray(as_array(value))
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidArgumentError(None, None, f"The tensor sent as {_name(key)} cannot be read: {error}") from None
    if array.dtype != wanted.as_numpy_dtype:
        raise InvalidArgumentError(
            None, None, f"The tensor sent as {_name(key)} is {array.dtype.name}, but the graph wants {wanted.name}"
        )
    return array


def _name(key: str) -> str:
    parts = key.split(";")
    return parts[3] if len(parts) == 5 else key


def _sent_array(tensor: Tensor, value: Any) -> Any:
    if tensor.dtype.base_dtype is dtypes.string and not isinstance(value, np.ndarray):
        array = np.empty((), object)
        array[()] = value
        return array
    return declared(value, tensor.dtype)
