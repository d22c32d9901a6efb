"""The nodes of a profile: what the graph tells of them, and what traced steps measured.

A step may have run nodes that the graph does not have: what the planner made of several, or what came from elsewhere. They
are nodes of the profile, too, called and typed as the trace says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.shape import TensorShape
from tfexp.graph.collections import GraphKeys
from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.statistics import statistics_rule
from tfexp.ops.flops import FlopsRule, KnownShapes
from tfexp.profiler.measures import Measures, mean, total
from tfexp.profiler.options import TRAINABLE_VARIABLES

# What the tracer writes: `name = Type(input, ^control)`.
_LABELLED_TYPE = re.compile(r".*? = (?P<type>[^( ]+)\(", re.DOTALL)

Shapes = dict[tuple[str, int], TensorShape]


@dataclass(eq=False)
class Node:
    """A node, in the steps that it was traced in. `inputs` are the nodes before it, those of control edges last."""

    name: str
    type: str
    inputs: tuple[str, ...] = ()
    input_shapes: tuple[TensorShape, ...] = ()
    shape: TensorShape | None = None
    origin: str = ""
    float_ops: int = 0
    types: set[str] = field(default_factory=set)
    device: str = ""
    runs: dict[int, Measures] = field(default_factory=dict)
    channels_last: bool = False
    """Whether it takes images whose channels are their last dimension."""

    @property
    def parameters(self) -> int:
        known = self.shape is not None and self.shape.is_fully_defined()
        return int(self.shape.num_elements() or 0) if known and self.shape is not None else 0

    @property
    def all_types(self) -> set[str]:
        """What it is accounted as: its op type, the device that ran it, and what it was given besides."""
        return {self.type, *self.types, *([self.device] if self.device else [])}

    def measures(self, step: int) -> Measures:
        """In that step; for -1 the mean of those in which it ran. Float operations are done as often as it runs."""
        if step >= 0:
            ran = self.runs.get(step, Measures())
        else:
            ran = mean(list(self.runs.values())) if self.runs else Measures()
        float_ops = self.float_ops * max(1, ran.run_count)
        return replace(ran, definition_count=1, parameters=self.parameters, float_ops=float_ops)


class Nodes:
    """The nodes of a graph, by name, and the steps that were added."""

    def __init__(self, graph: Graph | None, op_log: Any = None):
        self._graph = graph
        self._op_log = op_log
        self.by_name: dict[str, Node] = {}
        self.steps: set[int] = set()
        self.time_lines: dict[int, Any] = {}
        """StepStats of each step."""
        self._shapes: Shapes = {}
        self._read_graph()

    def __iter__(self) -> Any:
        return iter(self.by_name.values())

    def add_step(self, step: int, run_meta: Any) -> None:
        """What was traced in a step (RunMetadata). Shapes that the graph does not tell are those of the step."""
        self.steps.add(step)
        self.time_lines[step] = run_meta.step_stats
        for stats in _every(run_meta):
            for output in stats.output:
                seen = TensorShape(output.tensor_description.shape)
                self._shapes.setdefault((_node_name(stats), output.slot), seen)
        self._read_graph()
        ran: dict[str, list[Measures]] = {}
        for device in run_meta.step_stats.dev_stats:
            if device.device == _TRACER:
                continue
            for stats in device.node_stats:
                if stats.all_start_micros:  # otherwise it was scheduled and never ran
                    name = _node_name(stats)
                    self._ran_on(name, device.device, stats)
                    ran.setdefault(name, []).append(_measured(device.device, stats))
        for name, parts in ran.items():
            # An accelerator's stream tells how long a node ran there, its device's threads that it ran.
            often = sum(part.run_count for part in parts) or 1
            self.by_name[name].runs[step] = replace(total(parts), run_count=often)

    def check_step(self, step: int) -> None:
        if step >= 0 and step not in self.steps:
            have = ", ".join(map(str, sorted(self.steps))) or "none"
            raise InvalidArgumentError(None, None, f"The profile has no step {step}: of its steps it has {have}.")

    def busy(self) -> dict[str, float]:
        """Of accelerators with streams, in the last step: the part of the time from first op to last in which one ran."""
        spans: dict[str, list[tuple[int, int]]] = {}
        for device in self.time_lines[max(self.steps)].dev_stats:
            if _is_stream(device.device):
                name = _spelt(device.device.partition("/stream:")[0])
                for stats in device.node_stats:
                    began = stats.all_start_micros
                    spans.setdefault(name, []).append((began, began + max(1, stats.op_end_rel_micros)))
        return {name: _covered(parts) for name, parts in spans.items() if parts}

    def _ran_on(self, name: str, device: str, stats: Any) -> None:
        node = self.by_name.get(name)
        if node is None:
            label = _LABELLED_TYPE.match(stats.timeline_label)
            node = self.by_name[name] = Node(name, label["type"] if label else name)
        if not node.device and not _is_stream(device):
            node.device = _spelt(device)

    def _read_graph(self) -> None:
        """Nodes for what the graph has, with all that is known by now of its shapes."""
        if self._graph is None:
            return
        trainable = {_variable_op(v) for v in self._graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)}
        for op in self._graph.get_operations():
            node = self.by_name.setdefault(op.name, Node(op.name, op.type))
            before = sorted(op.control_inputs, key=lambda control: control.name)
            node.inputs = (*(t.op.name for t in op.inputs), *(control.name for control in before))
            shapes = [self._shape_of(t) for t in op.inputs]
            shapes += [self._shape_of(c.outputs[0]) if c.outputs else TensorShape(None) for c in before]
            node.input_shapes = tuple(shapes)
            declared = op.attrs.get("shape")
            node.shape = declared if isinstance(declared, TensorShape) and declared.rank is not None else None
            node.origin = op.origin
            node.channels_last = op.attrs.get("data_format") == "NHWC"
            node.float_ops = self._float_ops(op)
            if op.name in trainable:
                node.types.add(TRAINABLE_VARIABLES)
        for entry in self._op_log.log_entries if self._op_log is not None else ():
            if entry.name in self.by_name:
                node = self.by_name[entry.name]
                node.float_ops = entry.float_ops or node.float_ops
                node.types.update(entry.types)

    def _shape_of(self, tensor: Any) -> TensorShape:
        """The graph's, or where this is not all known the one that a step had, if it fits."""
        seen = self._shapes.get((tensor.op.name, tensor.value_index))
        if tensor.shape.is_fully_defined() or seen is None or not tensor.shape.is_compatible_with(seen):
            return tensor.shape
        return seen

    def _float_ops(self, op: Operation) -> int:
        """As its statistics say; 0 without any, or as long as the shapes that they need are not known."""
        rule = statistics_rule(op.type, "flops")
        if rule is None:
            return 0
        try:
            if isinstance(rule, FlopsRule):
                inputs, outputs = [self._shape_of(t) for t in op.inputs], [self._shape_of(t) for t in op.outputs]
                return rule.flops(KnownShapes(op, inputs, outputs))
            return int(rule(self._graph, op.node_def).value or 0)
        except ValueError:
            return 0


def _variable_op(variable: Any) -> str:
    return str(variable.op.name)


def _every(run_meta: Any) -> Iterable[Any]:
    return (stats for device in run_meta.step_stats.dev_stats for stats in device.node_stats)


def _node_name(stats: Any) -> str:
    return str(stats.node_name.partition(":")[0])


# Where TensorFlow's tracer tells once more, by its own clock, what ran on the devices.
_TRACER = "/host:CPU"


def _is_stream(device: str) -> bool:
    return "/stream:" in device


def _covered(spans: list[tuple[int, int]]) -> float:
    """Which part of the time from the first beginning to the last end is in one of the spans at least."""
    covered, reached = 0, min(began for began, _ in spans)
    first = reached
    for began, ended in sorted(spans):
        covered += max(0, ended - max(began, reached))
        reached = max(reached, ended)
    return covered / (reached - first)


def _spelt(device: str) -> str:
    """A device's name as profiles write it: `/job:worker/replica:0/task:0/device:cpu:0`."""
    head, separator, last = device.rpartition("/device:")
    return f"{head}{separator}{last.lower()}" if separator else device


def _measured(device: str, stats: Any) -> Measures:
    """What one run of a node on one device took; a run takes a microsecond at least."""
    micros = max(1, stats.op_end_rel_micros)
    if _is_stream(device):
        return Measures(exec_micros=micros, accelerator_exec_micros=micros)
    memory, kept = stats.memory, stats.memory_stats
    scratch = kept.temp_memory_size + kept.persistent_memory_size
    return Measures(
        run_count=1,
        exec_micros=micros,
        cpu_exec_micros=micros,
        requested_bytes=sum(part.total_bytes for part in memory) + scratch,
        peak_bytes=sum(part.peak_bytes for part in memory) + scratch,
        residual_bytes=sum(part.live_bytes for part in memory) + kept.persistent_memory_size,
        output_bytes=sum(out.tensor_description.allocation_description.allocated_bytes for out in stats.output),
    )
