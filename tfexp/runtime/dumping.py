"""Steps that are watched: every value that `RunOptions.debug_options` ask for goes to files. Source: tfdbg of TF 1.15.

A watched step runs the plan of all nodes, with nothing folded or fused. A loop is one node there, whose parts are watched
too: the nodes that only carry values around it (Enter, Merge, Switch, NextIteration) do not run and have nothing to show.
The nodes of functions are not the graph's, whose names they may have: those of a While are not watched.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from tensorboard.compat.proto import graph_pb2, node_def_pb2

from tfexp.core.dtypes import DType
from tfexp.core.errors import UnimplementedError
from tfexp.core.kernel import DEAD, Ref
from tfexp.formats import debug_dump
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.plan.plan import Plan, Step
from tfexp.plan.prune import needed_operations
from tfexp.runtime.debug_ops import DebugOp, debug_op
from tfexp.runtime.device_list import CPU

_SCHEME = "file://"
_ALL = "*"  # as a node's name: what runs and is not named, which is the feeds

Output = tuple[str, int]


class _Watch(NamedTuple):
    """One debug op at one output."""

    debug_op: str
    dtype: DType
    function: DebugOp
    folders: tuple[str, ...]


class Dump:
    """A `Trace` that dumps what comes out of the nodes of one run."""

    def __init__(
        self,
        options: Any,
        plan: Plan,
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
        feeds: Sequence[Tensor],
        runs: tuple[int, int],
    ):
        """`options`: DebugOptions. `runs`: how many-th watched run of the session this is, and of these fetches and feeds.

        UnimplementedError for other places than files.
        """
        self._options, self._plan, self._runs = options, plan, runs
        self._fetches, self._targets = fetches, targets
        in_order = sorted(feeds, key=lambda tensor: tensor.name)
        self._feeds = {t: f"_arg_{t.op.name}_{t._value_index}_{in_order.index(t)}" for t in feeds}
        self._lock = threading.Lock()
        self._latest = 0
        needed = needed_operations(fetches, targets, feeds)
        self._operations = dict.fromkeys(sorted(needed, key=lambda op: op._id))
        plans = list(_with_loops(plan, {op.name for op in self._operations}))
        self._outputs = {id(step): [_output(p.slots[i].name) for i in step.outputs] for p in plans for step in p.steps}
        self._constants = [(_output(s.name), s.constant) for p in plans for s in p.slots if s.constant is not None]
        self._devices = {step.name: step.device for p in plans for step in p.steps}
        self._watches = self._find_watches(plans)

    def begin(self, fed: Sequence[Any]) -> None:
        """Dump what is known before anything runs: the graph, constants, and the fed values."""
        self._write_graphs()
        for output, value in self._constants:
            self._dump(output, value)
        for name, value in zip(self._feeds.values(), fed, strict=True):
            self._dump((name, 0), value)

    def node(self, step: Step, began: float, ended: float, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        named = self._outputs.get(id(step))
        if named is None:  # a function's
            return
        for output, value in zip(named, outputs, strict=True):
            self._dump(output, value)

    def _find_watches(self, plans: Iterable[Plan]) -> dict[Output, list[_Watch]]:
        """What is wanted of the outputs that this run can show."""
        wanted = defaultdict(list)
        for option in self._options.debug_tensor_watch_opts:
            wanted[option.node_name, option.output_slot].append(option)
        shown = {output for outputs in self._outputs.values() for output in outputs} | {o for o, _ in self._constants}
        dtypes = {_output(slot.name): slot.dtype for plan in plans for slot in plan.slots}
        watches: dict[Output, list[_Watch]] = {}
        for output in shown:
            watches[output] = _watches(wanted[output], dtypes[output])
        for tensor, name in self._feeds.items():
            options = wanted[_ALL, -1] + wanted[tensor.op.name, tensor._value_index]
            watches[name, 0] = _watches(options[:1], tensor.dtype)  # who watches a whole graph means a feed twice
        return {output: found for output, found in watches.items() if found}

    def _dump(self, output: Output, value: Any) -> None:
        watches = self._watches.get(output, ())
        if value is DEAD or not watches:
            return
        array = value.value if isinstance(value, Ref) else value
        device = self._device(output[0])
        with self._lock:
            for watch in watches:
                proto = debug_dump.as_dumped(watch.function(array), watch.dtype)
                now = self._now()
                for folder in watch.folders:
                    debug_dump.write_value(folder, device, output, watch.debug_op, now, proto)

    def _now(self) -> int:
        """Microseconds since 1970, later than the last time: no two files of a step have one name."""
        self._latest = max(self._latest + 1, int(time.time() * 1e6))
        return self._latest

    def _device(self, node: str) -> str:
        return self._devices.get(node, CPU)

    def _write_graphs(self) -> None:
        graphs: dict[str, graph_pb2.GraphDef] = defaultdict(graph_pb2.GraphDef)
        for node in self._nodes():
            node.device = self._device(node.name)
            graphs[node.device].node.append(node)
        for (name, slot), watches in sorted(self._watches.items()):
            _add_debug_nodes(graphs[self._device(name)], name, slot, watches)
        session_run, step_run = self._runs
        metadata = {
            "global_step": self._options.global_step,
            "session_run_index": session_run,
            "executor_step_index": step_run,
            "input_names": sorted(tensor.name for tensor in self._feeds),
            "output_names": sorted(tensor.name for tensor in self._fetches),
            "target_nodes": sorted(op.name for op in self._targets),
        }
        for folder in {f for watches in self._watches.values() for watch in watches for f in watch.folders}:
            debug_dump.write_core_metadata(folder, self._now(), session_run, metadata)
            for device, graph in graphs.items():
                debug_dump.write_graph(folder, device, self._now(), graph)

    def _nodes(self) -> Iterator[node_def_pb2.NodeDef]:
        """The nodes of the step, which read what is fed from `_Arg`s."""
        for op in self._operations:
            node = op.node_def
            del node.input[:]
            node.input.extend(self._feeds.get(tensor, tensor.name.removesuffix(":0")) for tensor in op._inputs)
            node.input.extend(f"^{control.name}" for control in op._control_inputs if control in self._operations)
            yield node
        for tensor, name in self._feeds.items():
            argument = node_def_pb2.NodeDef(name=name, op="_Arg")
            argument.attr["T"].type = tensor.dtype.base_dtype.as_datatype_enum
            yield argument


def _with_loops(plan: Plan, nodes: Collection[str]) -> Iterator[Plan]:
    """A plan and the parts of its loops, but of those that are one of the graph's `nodes`: their parts are functions."""
    yield plan
    for step in plan.steps:
        if step.loop is not None and step.name not in nodes:
            yield from _with_loops(step.loop.condition, nodes)
            yield from _with_loops(step.loop.body, nodes)


def _output(tensor_name: str) -> Output:
    node, _, slot = tensor_name.rpartition(":")
    return node, int(slot)


def _watches(options: Iterable[Any], dtype: DType) -> list[_Watch]:
    found: list[_Watch] = []
    for option in options:
        folders = tuple(_folder(url) for url in option.debug_urls)
        for number, spec in enumerate(option.debug_ops):
            node = f"__dbg_{option.node_name}:{option.output_slot}_{number}_"
            known = debug_op(spec, dtype, node, option.tolerate_debug_op_creation_failures)
            if known is not None:
                found.append(_Watch(*known, folders))
    return found


def _folder(url: str) -> str:
    if not url.startswith(_SCHEME):
        raise UnimplementedError(None, None, f"Values are dumped to {_SCHEME} URLs only, but a watch has {url}")
    return url.removeprefix(_SCHEME)


def _add_debug_nodes(graph: graph_pb2.GraphDef, name: str, slot: int, watches: Iterable[_Watch]) -> None:
    """The nodes by which readers know what was watched: a copy of the output, and the debug ops that read it."""
    copy = graph.node.add(name=f"__copy_{name}_{slot}", op="Copy", input=[f"{name}:{slot}" if slot else name])
    for number, watch in enumerate(watches):
        node = graph.node.add(name=f"__dbg_{name}:{slot}_{number}_{watch.debug_op}", op=watch.debug_op, input=[copy.name])
        node.attr["tensor_name"].s = f"{name}:{slot}".encode()
        node.attr["debug_urls"].list.s.extend(f"{_SCHEME}{folder}".encode() for folder in watch.folders)
