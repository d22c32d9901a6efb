"""`tf.profiler`: Profiler, `profile`, `advise` and `write_op_log`. Source: TF 1.15."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

from tfexp.core.errors import InvalidArgumentError
from tfexp.formats.file_io import GFile
from tfexp.formats.protos.profiler import OpLogProto
from tfexp.graph.graph import Graph
from tfexp.graph.scopes import get_default_graph
from tfexp.profiler import advice, views
from tfexp.profiler.display import shown_list, shown_tree
from tfexp.profiler.nodes import Nodes
from tfexp.profiler.options import Options, ProfileOptionBuilder
from tfexp.profiler.pprof import pprof
from tfexp.profiler.protos import lines_proto, list_proto, profile_proto, tree_proto
from tfexp.profiler.report import explained, framed, list_text, tree_text
from tfexp.profiler.timeline import scope_trace, step_trace

# The views of a run's report, and how deep they go: every op type, but the outer scopes alone.
_REPORTED = {"op": 10000, "scope": 4}
_TREES = {"scope": views.by_scope, "graph": views.by_flow, "code": views.by_line}


class Profiler:
    """Profiles of a graph (the default graph if None) and of steps of it that were traced.

    `op_log` (OpLogProto) adds float operations and types to nodes by name. Options are what ProfileOptionBuilder builds.

        profiler = tf.profiler.Profiler(graph)
        profiler.add_step(step, run_metadata)
        profiler.profile_operations(tf.profiler.ProfileOptionBuilder.time_and_memory())
    """

    def __init__(self, graph: Graph | None = None, op_log: Any = None):
        self._nodes = Nodes(get_default_graph() if graph is None else graph, op_log)

    def add_step(self, step: int, run_meta: Any) -> None:
        """Take in what was traced (RunMetadata) in a step, by the number by which `with_step` asks for it."""
        if not isinstance(step, int) or step < 0:
            raise InvalidArgumentError(None, None, f"A step of a profile is a number from 0 on, not {step!r}.")
        self._nodes.add_step(step, run_meta)

    def profile_name_scope(self, options: Mapping[str, Any]) -> Any:
        """The nodes by name scope: a GraphNodeProto."""
        return _profile(self._nodes, "scope", options)

    def profile_graph(self, options: Mapping[str, Any]) -> Any:
        """The nodes by data flow: a GraphNodeProto."""
        return _profile(self._nodes, "graph", options)

    def profile_python(self, options: Mapping[str, Any]) -> Any:
        """The lines of the program that made the nodes: a MultiGraphNodeProto."""
        return _profile(self._nodes, "code", options)

    def profile_operations(self, options: Mapping[str, Any]) -> Any:
        """The op types: a MultiGraphNodeProto, in which each is the child of the one before it."""
        return _profile(self._nodes, "op", options)

    def advise(self, options: Mapping[str, Any] | None = None) -> Any:
        """What stands out in the steps (an AdviceProto), which is printed, too. `options`: the checkers; None: all."""
        return advice.advise(self._nodes, options)

    def serialize_to_string(self) -> bytes:
        """The nodes and steps as a ProfileProto."""
        return bytes(profile_proto(self._nodes).SerializeToString())


def profile(
    graph: Graph | None = None, run_meta: Any = None, op_log: Any = None, cmd: str = "scope", options: Any = None
) -> Any:
    """One profile of a graph, and of a step of it if `run_meta` has one.

    `cmd` is the view: `scope`, `graph`, `op` or `code`; without `options` the trainable variables' parameters are counted.
    Returns a GraphNodeProto or, for `op` and `code`, a MultiGraphNodeProto. InvalidArgumentError for other views or options.
    """
    profiler = Profiler(graph, op_log)
    if run_meta is not None:
        profiler.add_step(0, run_meta)
    return _profile(profiler._nodes, cmd, options or ProfileOptionBuilder.trainable_variables_parameter())


def advise(graph: Graph | None = None, run_meta: Any = None, options: Any = None) -> Any:
    """As `Profiler.advise`, of one step."""
    profiler = Profiler(graph)
    if run_meta is not None:
        profiler.add_step(0, run_meta)
    return profiler.advise(options or None)


def write_op_log(
    graph: Graph | None, log_dir: str, op_log: Any = None, run_meta: Any = None, add_trace: bool = True
) -> None:
    """Write what is known of the nodes as an OpLogProto, to the file `tfprof_log` in a folder that exists.

    These are float operations (with the shapes of `run_meta`, where the graph does not tell), types, and with `add_trace`
    the lines of the program.
    """
    nodes = Nodes(get_default_graph() if graph is None else graph, op_log)
    if run_meta is not None:
        nodes.add_step(0, run_meta)
    log = OpLogProto()
    strings: dict[str, int] = {"none": 0}
    for node in nodes:
        has_line = add_trace and bool(node.origin)
        if not (node.float_ops or node.types or has_line):
            continue
        entry = log.log_entries.add(name=node.name, float_ops=node.float_ops, types=sorted(node.types))
        if has_line:
            file, _, line = node.origin.rpartition(":")
            number = strings.setdefault(file, len(strings))
            entry.code_def.traces.add(file_id=number, lineno=int(line), func_start_line=-1)
    for text, number in strings.items():
        log.id_to_string[number] = text
    _write(os.path.join(log_dir, "tfprof_log"), log.SerializeToString())


def report(graph: Graph, run_meta: Any) -> str:
    """What a traced step spent time, memory and float operations on, by op type and by the outer name scopes, as text."""
    nodes = Nodes(graph)
    nodes.add_step(0, run_meta)
    columns = ProfileOptionBuilder().select(["cpu_micros", "bytes", "float_ops", "occurrence"])
    columns.order_by("micros").with_min_execution_time(1)
    parts = []
    for view, depth in _REPORTED.items():
        options = Options.of(columns.with_max_depth(depth).build())
        parts.append(explained(view, options, _text(_shown(nodes, view, options), view, options)))
    return "".join(parts)


def _write(path: str, data: bytes) -> None:
    with GFile(path, "wb") as file:
        file.write(data)


def _profile(nodes: Nodes, view: str, entries: Mapping[str, Any]) -> Any:
    options = Options.of(entries)
    if view != "op" and view not in _TREES:
        raise InvalidArgumentError(None, None, f"unknown cmd: {view}: a profile is by scope, graph, op or code.")
    nodes.check_step(options.step)
    root = _shown(nodes, view, options)
    _put_out(nodes, view, options, root)
    return {"op": list_proto, "code": lines_proto}.get(view, tree_proto)(root, options)


def _shown(nodes: Nodes, view: str, options: Options) -> views.Row:
    if view == "op":
        return shown_list(views.by_type(nodes, options), options)
    return shown_tree(_TREES[view](nodes, options), options)


def _text(root: views.Row, view: str, options: Options) -> str:
    return list_text(root, options) if view == "op" else tree_text(root, options)


def _put_out(nodes: Nodes, view: str, options: Options, root: views.Row) -> None:
    kind = options.output_kind
    if kind == "stdout":
        sys.stdout.write(framed(options, explained(view, options, _text(root, view, options))))
    elif kind == "file":
        _write(options.output_file, explained(view, options, _text(root, view, options)).encode())
    elif kind == "timeline":
        if view == "op":
            raise InvalidArgumentError(None, None, "A profile by op has no timeline: make it by scope, graph or code.")
        step, trace = step_trace(nodes, options.step) if view == "graph" else (options.step, scope_trace(root))
        _write(f"{options.output_file}_{step}", trace.encode())
    elif kind == "pprof":
        if view != "code":
            raise InvalidArgumentError(None, None, f"Only a profile by code goes to pprof, and this one is by {view}.")
        _write(options.output_file, pprof(root))
